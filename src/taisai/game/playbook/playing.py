"""Playing a playbook: each command decided, each event evolved, each pinned line compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from taisai.game.commands import Command
from taisai.game.events import Event, RoundResettled, RoundSettled
from taisai.game.money import Entry
from taisai.game.play import decide, evolve
from taisai.game.playbook.reading import Pin, Playbook, Step, lines_of, playbook
from taisai.game.playbook.shares import Share, shares
from taisai.game.playbook.telling import NOTHING, event_line, refusal_line, share_line
from taisai.game.playbook.values import PlaybookError
from taisai.game.refusals import Refusal
from taisai.game.table import Table
from taisai.game.terms import Terms
from taisai.rules.book import Rulebook


class Mismatch(NamedTuple):
    """A pinned line that is not what the table answers, or the other way round."""

    line: int
    expected: str
    got: str

    def __str__(self) -> str:
        return f"expected {self.expected!r}, got {self.got!r}"


class Happened(NamedTuple):
    """An event, what it booked, and what a settlement came to."""

    event: Event
    entries: tuple[Entry, ...]
    shares: tuple[Share, ...]


class Played(NamedTuple):
    """A command and all that followed from it."""

    step: Step
    command: Command
    refusal: Refusal | None
    happened: tuple[Happened, ...]
    answer: tuple[str, ...]
    """The answer as a playbook writes it."""
    facts: tuple[str, ...]
    mismatches: tuple[Mismatch, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        """What happened."""
        return tuple(one.event for one in self.happened)


class Play:
    """A playbook being played at its table."""

    def __init__(self, story: Playbook, book: Rulebook) -> None:
        self.story = story
        self.table = Table(book)
        self.now = story.opening.at
        self.opened: tuple[Event, ...] = ()
        """The events of the header: the table opened, its people assigned."""
        self._open()

    def _open(self) -> None:
        commands: list[tuple[int, Command]] = [(self.story.line, self.story.opening)]
        commands += [(line, said.command(self.table, self.now)) for line, said in self.story.people]
        for line, command in commands:
            answer = decide(self.table, command)
            if isinstance(answer, Refusal):
                raise PlaybookError(self.story.name, line, f"the header is refused: {answer}")
            for event in answer:
                evolve(self.table, event)
            self.opened += answer

    def steps(self) -> Iterator[Played]:
        """Command by command."""
        for step in self.story.steps:
            yield self._step(step)

    def terms_of(self, event: RoundSettled | RoundResettled) -> dict[str, Terms]:
        """Layout → the terms under which a round was settled."""
        if isinstance(event, RoundSettled):
            return self.table.in_force[event.terms]
        past = self.table.past(event.round) or self.table.round
        assert past is not None
        return self.table.in_force[past.terms]

    def _step(self, step: Step) -> Played:
        self.now += step.after
        command = step.spoken.command(self.table, self.now)
        answer = decide(self.table, command)
        happened: list[Happened] = []
        lines: list[str] = []
        if isinstance(answer, Refusal):
            lines.append(refusal_line(answer))
        else:
            for event in answer:
                evolve(self.table, event)
                one = Happened(event, tuple(self.table.ledger.latest), shares(self.table, event))
                happened.append(one)
                lines += [event_line(event), *map(share_line, one.shares)]
            lines = lines or [NOTHING]
        facts = [asked.told(self.table) for _, asked in step.facts]
        pins = [pin for pin, _ in step.facts]
        return Played(
            step, command, answer if isinstance(answer, Refusal) else None, tuple(happened), tuple(lines),
            tuple(facts), (*_differ(step.line, step.pins, lines), *_differ(step.line, pins, facts)),
        )  # fmt: skip


def _differ(line: int, pins: tuple[Pin, ...] | list[Pin], got: list[str]) -> Iterator[Mismatch]:
    """Where pinned lines and the answer part, whatever the spaces between words."""
    for place in range(max(len(pins), len(got))):
        pinned = " ".join(pins[place].text.split()) if place < len(pins) else "nothing"
        told = " ".join(got[place].split()) if place < len(got) else "nothing"
        if pinned != told:
            line = pins[place].line if place < len(pins) else line
            yield Mismatch(line, pinned, told)


def rewritten(text: str, book: Rulebook, name: str = "playbook") -> str:
    """The same playbook with every pinned line as the table answers now."""
    story = playbook(text, name)
    played = {one.step.line: one for one in Play(story, book).steps()}
    lines: list[str] = []
    facts: list[str] = []
    for number, line in enumerate(lines_of(text), 1):
        if number in played:
            lines += [line.rstrip(), *(f"  {told}" if told[0] != "*" else f"    {told}"
                                       for told in played[number].answer)]  # fmt: skip
            facts = list(played[number].facts)
        elif line.strip()[:1] == "=":
            lines.append(f"  {facts.pop(0)}")
        elif line.strip()[:1] not in ("+", "!", "*"):
            lines.append(line.rstrip())
    return "\n".join(lines) + "\n"

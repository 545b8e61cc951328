"""Playing a playbook: each command decided, each event evolved, each pinned line compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from msgspec.structs import replace

from taisai.game.messages import Command, Event
from taisai.game.money.ledger import LedgerEntry
from taisai.game.play import decide, evolve
from taisai.game.playbook.answers import NOTHING, Share, event_line, refusal_line, share_line, shares
from taisai.game.playbook.command_lines import PlaybookError
from taisai.game.playbook.parser import DEFAULTS, Pin, Playbook, PlaybookStep, lines_of, playbook
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds.messages import RoundResettled, RoundSettled
from taisai.game.table import Table
from taisai.game.terms.terms import Terms
from taisai.rules.book import Rulebook
from taisai.rules.clauses import Clause

NO_LINE: Final = "nothing"
LIMITS: Final = Clause("house:limits")

Decide = Callable[[Table, Command], tuple[Event, ...] | Refusal]
"""Decides a command at a table; an engine also appends the events to its journal."""


class Mismatch(NamedTuple):
    """A pinned line and an answer of the table that differ."""

    line: int
    expected: str | None
    """None if nothing is pinned yet."""
    got: str

    def __str__(self) -> str:
        if self.expected is None:
            return f"not pinned; the table answered {self.got!r}"
        return f"expected {self.expected!r}, got {self.got!r}"


class BookedEvent(NamedTuple):
    """An event, its ledger entries, and the results of a settlement."""

    event: Event
    entries: tuple[LedgerEntry, ...]
    shares: tuple[Share, ...]


class PlayedCommand(NamedTuple):
    """A command and all that followed from it."""

    step: PlaybookStep
    command: Command
    refusal: Refusal | None
    happened: tuple[BookedEvent, ...]
    answer: tuple[str, ...]
    facts: tuple[str, ...]
    mismatches: tuple[Mismatch, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(booked.event for booked in self.happened)


class Play:
    """A playbook being played at its table."""

    def __init__(self, story: Playbook, book: Rulebook, *, decided: Decide = decide) -> None:
        self.story = story
        self.table = Table(book)
        self._decided = decided
        self.now = story.opening.at
        self.opened: tuple[Event, ...] = ()
        """The events of the header: the table opened, its people assigned."""
        self._open()

    def _open(self) -> None:
        commands: list[tuple[int, Command]] = [(self.story.line, self.story.opening)]
        commands += [(line, person.command(self.table, self.now)) for line, person in self.story.people]
        for line, command in commands:
            answer = self._decided(self.table, command)
            if isinstance(answer, Refusal):
                where = self._line_of(answer) if command is self.story.opening else line
                raise PlaybookError(self.story.name, where, f"the header is refused: {answer}")
            for event in answer:
                evolve(self.table, event)
            self.opened += answer

    def _line_of(self, refusal: Refusal) -> int:
        """The line of the header that causes the refusal; the book's line if it cannot be known."""
        lines, opening = self.story.lines, self.story.opening
        for key in (key for key in lines if key in DEFAULTS):
            if decide(self.table, replace(opening, **{key: DEFAULTS[key]})) != refusal:
                return lines[key]
        if refusal.reason is Reason.NOT_PERMITTED or decide(self.table, replace(opening, by="A")) != refusal:
            return lines["opened by"]
        return lines["limits"] if refusal.clause == LIMITS else lines["book"]

    def steps(self) -> Iterator[PlayedCommand]:
        for step in self.story.steps:
            yield self._step(step)

    def terms_of(self, event: RoundSettled | RoundResettled) -> dict[str, Terms]:
        """Layout → the terms under which a round was settled."""
        if isinstance(event, RoundSettled):
            return self.table.in_force[event.terms]
        past = self.table.past(event.round) or self.table.round
        assert past is not None
        return self.table.in_force[past.terms]

    def _step(self, step: PlaybookStep) -> PlayedCommand:
        self.now += step.after
        command = step.command_line.command(self.table, self.now)
        answer = self._decided(self.table, command)
        happened: list[BookedEvent] = []
        lines: list[str] = []
        if isinstance(answer, Refusal):
            lines.append(refusal_line(answer))
        else:
            for event in answer:
                evolve(self.table, event)
                booked = BookedEvent(event, tuple(self.table.ledger.latest), shares(self.table, event))
                happened.append(booked)
                lines += [event_line(event), *map(share_line, booked.shares)]
            lines = lines or [NOTHING]
        facts = [fact.line(self.table) for _, fact in step.facts]
        pins = [pin for pin, _ in step.facts]
        return PlayedCommand(
            step, command, answer if isinstance(answer, Refusal) else None, tuple(happened), tuple(lines),
            tuple(facts), (*_differing_answer(step, lines), *_differ(step.line, pins, facts)),
        )  # fmt: skip


def _differing_answer(step: PlaybookStep, lines: list[str]) -> Iterator[Mismatch]:
    """Where an answer differs from its pinned lines, and from what it must contain."""
    if step.pins or not step.among:
        yield from _differ(step.line, step.pins, lines)
    for pin in step.among:
        words = pin.text.split()[1:]
        is_unwanted = words[0] == "no"
        wanted = " ".join(words[1:] if is_unwanted else words)
        if any(_is_among(wanted, line) for line in lines) == is_unwanted:
            yield Mismatch(pin.line, f"~ {' '.join(words)}", "; ".join(lines))


def _is_among(wanted: str, line: str) -> bool:
    """Whether a line of an answer begins with these words; 'refused' stands for every refusal."""
    sign, _, said = " ".join(line.split()).partition(" ")
    if sign == "!" and wanted.partition(" ")[0] == "refused":
        said = "refused" + said[said.find(" [") :]
    return re.match(rf"{re.escape(wanted)}(?![^\s,:])", said) is not None


def _differ(line: int, pins: tuple[Pin, ...] | list[Pin], got: list[str]) -> Iterator[Mismatch]:
    """Where pinned lines and the answer differ in more than spaces."""
    for place in range(max(len(pins), len(got))):
        pinned = " ".join(pins[place].text.split()) if place < len(pins) else NO_LINE
        answered = " ".join(got[place].split()) if place < len(got) else NO_LINE
        if pinned != answered:
            line = pins[place].line if place < len(pins) else line
            is_open = not pins or (place < len(pins) and pins[place].is_open)
            yield Mismatch(line, None if is_open else pinned, answered)


class PinnedPlaybook(NamedTuple):
    """A playbook with the table's current answers pinned, and what changed."""

    text: str
    lines: int
    """How many lines are pinned."""
    written: int
    """How many of them are new or changed."""
    struck: int
    """How many pinned lines were removed."""
    refusals: tuple[tuple[int, Refusal], ...]
    """New or changed refusals, each with its line."""


def pinned(text: str, book: Rulebook, name: str = "playbook") -> PinnedPlaybook:
    """Plays a playbook and pins the answers of the table."""
    story = playbook(text, name)
    played = {command.step.line: command for command in Play(story, book).steps()}
    lines: list[str] = []
    facts: list[str] = []
    refusals: list[tuple[int, Refusal]] = []
    for number, line in enumerate(lines_of(text), 1):
        if number in played:
            command = played[number]
            lines.append(line.rstrip())
            if command.step.pins or not command.step.among:
                lines += [f"    {answer}" if answer[0] == "*" else f"  {answer}" for answer in command.answer]
            facts = list(command.facts)
            is_new = any(mismatch.got.startswith("!") for mismatch in command.mismatches)
            if command.refusal is not None and is_new:
                refusals.append((len(lines), command.refusal))
        elif line.strip()[:1] == "=":
            lines.append(f"  {facts.pop(0)}")
        elif line.strip()[:1] not in ("+", "!", "*"):
            lines.append(line.rstrip())
    answers = sum(len(command.answer) + len(command.facts) for command in played.values())
    got = [mismatch.got for command in played.values() for mismatch in command.mismatches]
    struck = got.count(NO_LINE)
    return PinnedPlaybook("\n".join(lines) + "\n", answers, len(got) - struck, struck, tuple(refusals))


def rewritten(text: str, book: Rulebook, name: str = "playbook") -> str:
    """The same playbook with every pinned line as the table answers now."""
    return pinned(text, book, name).text

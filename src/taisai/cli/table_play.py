"""`taisai table play`: a playbook played at its table and retold, clause by clause."""

from __future__ import annotations

import shutil
import sys
import time
from argparse import Namespace
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any, Final

from taisai.cli import asked
from taisai.cli.printing import WIDTH, as_json, dice, line, show, table
from taisai.game.events import ResultCorrected, ResultEntered, RoundResettled, RoundSettled
from taisai.game.playbook import (
    Happened,
    Limited,
    Mismatch,
    Play,
    Playbook,
    PlaybookError,
    Played,
    Share,
    playbook,
)
from taisai.game.playbook.reading import STEP
from taisai.game.playbook.telling import event_line, limits_told
from taisai.rules import Outcome, Rulebook, RulesError, rulebook
from taisai.rules.clauses import HOUSE, Clause
from taisai.rules.errors import printable

MOST_BYTES: Final = 1_000_000  # of one playbook; the longest has a hundredth of it
MOST_PACE: Final = 60  # seconds from one command to the next
CHECK_FAILED: Final = 1
_SPANS: Final = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second"))


def run(arguments: Namespace) -> int:
    """Plays a playbook; 1 where a pinned line is not what the table answers."""
    pace = asked.whole(arguments.pace, "--pace in seconds", such_as="1")
    if not 0 <= pace <= MOST_PACE:
        raise RulesError(f"expected --pace from 0 to {MOST_PACE} seconds, got {pace}")
    story = playbook(text_of(arguments.file), arguments.file)
    play = Play(story, book_of(story))
    if arguments.json:
        return _for_machines(play)
    return _for_people(play, pace)


def text_of(file: str) -> str:
    """The text of a playbook, with or without a byte order mark."""
    try:
        with Path(file).open("rb") as opened:
            raw = opened.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no name of a file"
        raise RulesError(
            f"expected a playbook that can be read, got {printable(repr(file))}: {why}"
        ) from None
    if len(raw) > MOST_BYTES:
        raise RulesError(f"expected a playbook of at most {MOST_BYTES:,} bytes, got more in {file!r}")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = raw[: error.start].count(b"\n") + 1
        raise PlaybookError(file, number, "expected UTF-8, got something else") from None


def book_of(story: Playbook) -> Rulebook:
    """The rulebook that a header names."""
    try:
        return rulebook(story.book)
    except RulesError as error:
        raise PlaybookError(story.name, story.line, str(error)) from None


def _for_machines(play: Play) -> int:
    from msgspec import to_builtins

    def plain(value: object) -> Any:
        if hasattr(value, "_asdict"):
            value = value._asdict()
        if isinstance(value, Mapping):
            return {str(name): plain(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [plain(one) for one in value]
        return to_builtins(value)

    story, steps, wrong = play.story, [], []
    for played in play.steps():
        wrong += [{"line": one.line, "expected": one.expected, "got": one.got} for one in played.mismatches]
        happened = [
            {"event": plain(one.event), "entries": plain(one.entries), "shares": plain(one.shares)}
            for one in played.happened
        ]
        steps.append(
            {
                "line": played.step.line,
                "command": plain(played.command),
                "refusal": plain(played.refusal),
                "happened": happened,
                "phase": str(play.table.phase),
                "facts": list(played.facts),
            }
        )
    as_json(
        {
            "playbook": story.name,
            "rulebook": play.table.book.id,
            "story": " ".join(story.story),
            "opened": plain(play.opened),
            "steps": steps,
            "balances": {str(account): amount for account, amount in play.table.ledger.balances.items()},
            "mismatches": wrong,
        }
    )
    return CHECK_FAILED if wrong else 0


def _for_people(play: Play, pace: int) -> int:
    told = _Retelling(play)
    told.heading()
    wrong: list[Mismatch] = []
    for number, played in enumerate(play.steps()):
        if pace and number:
            sys.stdout.flush()
            time.sleep(pace)
        told.step(played)
        wrong += played.mismatches
    told.ending()
    return _verdict(play.story, wrong)


def _verdict(story: Playbook, found: list[Mismatch]) -> int:
    """What all pinned lines come to; a terminal has shown each mismatch where it happened."""
    wrong = [one for one in found if one.expected is not None]
    unpinned = len(found) - len(wrong)
    if not found:
        line(f"{counted(sum(step.pinned for step in story.steps))}, all as written")
        return 0
    if sys.stdout.isatty():
        last = [f"{story.name}: {_lines_are(len(wrong))} not as pinned"] if wrong else []
    else:
        last = [f"{story.name}:{one.line}: {one}" for one in wrong]
    if unpinned:
        last.append(f"{_lines_are(unpinned)} not pinned: `taisai table pin {story.name}` writes them")
    for text in last:
        sys.stderr.write(f"taisai: {printable(text, 1_000)}\n")
    return CHECK_FAILED


def counted(count: int) -> str:
    """Such as '47 pinned lines'."""
    return f"{count} pinned line{'' if count == 1 else 's'}"


def _lines_are(count: int) -> str:
    """Such as '47 lines are'."""
    return f"{count} line is" if count == 1 else f"{count} lines are"


class _Retelling:
    """Tells a play as it goes on; each clause in full when it first speaks."""

    def __init__(self, play: Play) -> None:
        from rich.console import Console

        self.play, self.book = play, play.table.book
        self.phase = play.table.phase
        self.phases = {one.id: one.label for one in self.book.procedure.phases}
        self.quoted: set[Clause] = set()
        people = sys.stdout.isatty()
        self.drawn = StringIO()
        width = shutil.get_terminal_size().columns if people else WIDTH
        self.console = Console(
            file=self.drawn, force_terminal=people, width=width, markup=False, emoji=False, highlight=False
        )

    def _say(self, text: str, *, style: str = "", indent: int = 0) -> None:
        """Words, broken at the width of the terminal."""
        from rich.padding import Padding
        from rich.text import Text

        self.console.print(Padding(Text(text, style), (0, 0, 0, indent), expand=False))
        for row in self.drawn.getvalue().splitlines():
            line(row.rstrip())
        self.drawn.seek(0)
        self.drawn.truncate()

    def heading(self) -> None:
        """What is played, where, under which terms, by whom."""
        story, terms = self.play.story, self.play.story.opening
        self._say(f"{self.book.title} · {self.book.id}", style="bold")
        if story.story:
            self._say(" ".join(story.story), style="italic")
        line()
        chosen = [f"{name} {value}" for name, value in (terms.settings | terms.offers).items()]
        self._say(
            f"Table {terms.table}, layout {self.play.table.layout}, money in the smallest unit of "
            f"{terms.currency}. Limits {', '.join(limits_told(terms.limits))}."
            + (f" With {', '.join(chosen)}." if chosen else "")
        )
        labels = {rank.id: rank.label for rank in self.book.people.ladder}
        people = (f"{name}, {labels[one.position]}" for name, one in self.play.table.people.items())
        self._say(f"At the table: {'; '.join(people)}.")
        line()

    def step(self, played: Played) -> None:
        """A command and all that followed."""
        step, refusal = played.step, played.refusal
        if step.says:
            line()
            self._say(" ".join(step.says), style="italic")
        if step.after != STEP:
            self._say(f"… {_span(step.after)} later", style="italic")
        self._say(f"{played.command.by}: {step.words}", style="bold cyan")
        if refusal is not None:
            why = f"✗ refused, {refusal.reason}: {refusal.message} ({refusal.clause})"
            self._say(why, style="red", indent=2)
            self._quote(refusal.clause)
        elif not played.happened:
            self._say("· nothing changes: it was done already", indent=2)
        for one in played.happened:
            self._happened(one)
        if self.play.table.phase is not self.phase:
            self.phase = self.play.table.phase
            self._say(f"→ {self.phases[self.phase]}", style="yellow", indent=2)
        for fact in played.facts:
            self._say(fact, style="green", indent=2)
        for wrong in played.mismatches:
            mark, style = ("?", "yellow") if wrong.expected is None else ("≠", "bold red")
            self._say(f"{mark} {self.play.story.name}:{wrong.line}: {wrong}", style=style, indent=2)

    def _happened(self, one: Happened) -> None:
        event = one.event
        name, _, details = event_line(event).removeprefix("+ ").partition(f" [{event.clause}]")
        # The phase is told in people's words once the command is done.
        told = ", ".join(one for one in details.split(", ") if one.split()[:1] != ["phase"]).strip()
        self._say(f"✓ {name.replace('-', ' ')}{f': {told}' if told else ''} ({event.clause})", indent=2)
        self._quote(event.clause)
        if isinstance(event, ResultEntered | ResultCorrected | RoundResettled):
            for row in dice(Outcome.of(*event.faces)).splitlines():
                line(f"    {row}")
        if isinstance(event, RoundSettled | RoundResettled) and one.shares:
            self._shares(event, one.shares)

    def _quote(self, clause: Clause) -> None:
        """The clause in our words, when it first speaks."""
        if clause not in self.quoted:
            self.quoted.add(clause)
            said = self.book.clauses.get(clause)
            self._say(f"{clause}: {said.says if said else HOUSE.get(clause, '')}", style="dim", indent=4)

    def _shares(self, event: RoundSettled | RoundResettled, shares: tuple[Share, ...]) -> None:
        """The settlement, bet by bet, each with its clause and why."""
        terms = self.play.terms_of(event)
        outcome = Outcome.of(*event.faces)
        numbers = ("stake", "returned")
        made = table(
            f"{' '.join(map(str, outcome.faces))}, total {outcome.total}",
            ("seat", "area", *numbers, "clause", "why"),
            right=numbers,
        )
        for share in shares:
            why = terms[share.layout].matrix.explain(share.area, outcome)
            verdict = f"{why.label} wins {why.odds}" if why.odds else f"{why.label} loses. {why.says}"
            clause = str(share.clause)
            if share.limited is Limited.UNDER_ONCE:
                verdict, clause = f"{verdict} ({share.limited})", f"{clause}, {share.limits_clause}"
            elif share.limited is not Limited.NOT:
                verdict, clause = f"{share.limited}: returned", str(share.limits_clause)
            made.add_row(share.seat, share.area, str(share.stake), str(share.returned), clause, verdict)
        show(made)

    def ending(self) -> None:
        """The balances: the table's accounts, and what each seat has."""
        line()
        balances = self.play.table.ledger.balances
        made = table(
            "The books at the end", ("account", "held or due", "owed"), right=("held or due", "owed")
        )
        for account, balance in balances.items():
            if balance:
                made.add_row(account, *((str(balance), "") if account.held else ("", str(balance))))
        made.add_section()
        held = sum(balance for account, balance in balances.items() if account.held)
        owed = sum(balance for account, balance in balances.items() if not account.held)
        made.add_row("in all", str(held), str(owed))
        show(made)
        seats = [seat for seat in self.play.table.seats.values() if seat.purses]
        if seats:
            made = table("Seats", ("seat", "player", "credits", "at risk"), right=("credits", "at risk"))
            for seat in seats:
                credits_ = sum(purse.credits for purse in seat.purses.values())
                made.add_row(seat.name, seat.player, str(credits_), str(seat.at_risk))
            show(made)


def _span(milliseconds: int) -> str:
    """A time such as '25 hours'."""
    for size, name in _SPANS:
        if milliseconds >= 2 * size or size == 1_000:
            count = milliseconds // size
            return f"{count} {name}" if count == 1 else f"{count} {name}s"
    return f"{milliseconds} milliseconds"

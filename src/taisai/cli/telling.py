"""What happened at a table, in words: each event with its clause, each settlement bet by bet."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Final

from taisai.cli.printing import WIDTH, dice, line, show, table
from taisai.game.events import Event, ResultCorrected, ResultEntered, RoundResettled, RoundSettled
from taisai.game.playbook import BookedEvent, LimitEffect, Play, PlayedCommand, Share
from taisai.game.playbook.answers import event_line, limits_told
from taisai.game.playbook.parser import STEP
from taisai.game.terms.terms import Terms
from taisai.rules import Outcome, Rulebook
from taisai.rules.clauses import HOUSE_PROCEDURES, Clause
from taisai.rules.errors import printable

MOST_TEXT: Final = 100_000  # characters of one event; a rulebook stored is none that is told


class Narrator:
    """Tells event after event; each clause in full when it first speaks."""

    def __init__(self, book: Rulebook) -> None:
        from rich.console import Console

        self.book = book
        self.quoted: set[Clause] = set()
        people = sys.stdout.isatty()
        self._drawn = StringIO()
        width = shutil.get_terminal_size().columns if people else WIDTH
        self._console = Console(
            file=self._drawn, force_terminal=people, width=width, markup=False, emoji=False, highlight=False
        )

    def say(self, text: str, *, style: str = "", indent: int = 0) -> None:
        """Words, broken at the width of the terminal; none of them can command it."""
        from rich.padding import Padding
        from rich.text import Text

        text = printable(text, MOST_TEXT)
        self._console.print(Padding(Text(text, style), (0, 0, 0, indent), expand=False))
        for row in self._drawn.getvalue().splitlines():
            line(row.rstrip())
        self._drawn.seek(0)
        self._drawn.truncate()

    def event(self, event: Event, mark: str = "✓") -> None:
        """An event, its clause, and the dice that it speaks of."""
        name, _, details = event_line(event).removeprefix("+ ").partition(f" [{event.clause}]")
        # The phase is told in people's words once the command is done.
        told = ", ".join(one for one in details.split(", ") if one.split()[:1] != ["phase"]).strip()
        self.say(f"{mark} {name.replace('-', ' ')}{f': {told}' if told else ''} ({event.clause})", indent=2)
        self.quote(event.clause)
        if isinstance(event, ResultEntered | ResultCorrected | RoundResettled):
            for row in dice(Outcome.of(*event.faces)).splitlines():
                line(f"    {row}")

    def quote(self, clause: Clause) -> None:
        """The clause in our words, when it first speaks."""
        if clause not in self.quoted:
            self.quoted.add(clause)
            said = self.book.clauses.get(clause)
            self.say(
                f"{clause}: {said.says if said else HOUSE_PROCEDURES.get(clause, '')}", style="dim", indent=4
            )

    def shares(self, outcome: Outcome, shares: Sequence[Share], terms: Mapping[str, Terms]) -> None:
        """A settlement, stake by stake, each with its clause and why."""
        numbers = ("stake", "returned")
        made = table(
            f"{' '.join(map(str, outcome.faces))}, total {outcome.total}",
            ("seat", "area", *numbers, "clause", "why"),
            right=numbers,
        )
        for share in shares:
            verdict = explained(terms[share.layout], share.area, outcome)
            clause = str(share.clause)
            if share.limited is LimitEffect.UNDER_ONCE:
                verdict, clause = f"{verdict} ({share.limited})", f"{clause}, {share.limits_clause}"
            elif share.limited is not LimitEffect.NOT:
                verdict, clause = f"{share.limited}: returned", str(share.limits_clause)
            made.add_row(share.seat, share.area, str(share.stake), str(share.returned), clause, verdict)
        show(made)


def explained(terms: Terms, area: str, outcome: Outcome) -> str:
    """Why an area wins or loses."""
    why = terms.matrix.explain(area, outcome)
    return f"{why.label} wins {why.odds}" if why.odds else f"{why.label} loses. {why.says}"


_SPANS: Final = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second"))


class PlayNarrator(Narrator):
    """Tells a play as it goes on."""

    def __init__(self, play: Play) -> None:
        super().__init__(play.table.book)
        self.play = play
        self.phase = play.table.phase
        self.phases = {one.id: one.label for one in self.book.procedure.phases}

    def heading(self) -> None:
        """What is played, where, under which terms, by whom."""
        story, terms = self.play.story, self.play.story.opening
        self.say(f"{self.book.title} · {self.book.id}", style="bold")
        if story.story:
            self.say(" ".join(story.story), style="italic")
        line()
        chosen = [f"{name} {value}" for name, value in (terms.settings | terms.offers).items()]
        self.say(
            f"Table {terms.table}, layout {self.play.table.layout}, money in the smallest unit of "
            f"{terms.currency}. Limits {', '.join(limits_told(terms.limits))}."
            + (f" With {', '.join(chosen)}." if chosen else "")
        )
        labels = {rank.id: rank.label for rank in self.book.people.ladder}
        people = (f"{name}, {labels[one.position]}" for name, one in self.play.table.people.items())
        self.say(f"At the table: {'; '.join(people)}.")
        line()

    def step(self, played: PlayedCommand) -> None:
        """A command and all that followed."""
        step, refusal = played.step, played.refusal
        if step.says:
            line()
            self.say(" ".join(step.says), style="italic")
        if step.after != STEP:
            self.say(f"… {_span(step.after)} later", style="italic")
        self.say(f"{played.command.by}: {step.words}", style="bold cyan")
        if refusal is not None:
            why = f"✗ refused, {refusal.reason}: {refusal.message} ({refusal.clause})"
            self.say(why, style="red", indent=2)
            self.quote(refusal.clause)
        elif not played.happened:
            self.say("· nothing changes: it was done already", indent=2)
        for one in played.happened:
            self._happened(one)
        if self.play.table.phase is not self.phase:
            self.phase = self.play.table.phase
            self.say(f"→ {self.phases[self.phase]}", style="yellow", indent=2)
        for fact in played.facts:
            self.say(fact, style="green", indent=2)
        for wrong in played.mismatches:
            mark, style = ("?", "yellow") if wrong.expected is None else ("≠", "bold red")
            self.say(f"{mark} {self.play.story.name}:{wrong.line}: {wrong}", style=style, indent=2)

    def _happened(self, one: BookedEvent) -> None:
        event = one.event
        self.event(event)
        if isinstance(event, RoundSettled | RoundResettled) and one.shares:
            self.shares(Outcome.of(*event.faces), one.shares, self.play.terms_of(event))

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

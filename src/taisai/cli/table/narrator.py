"""Retells the events of a table: each event with its clause, each settlement bet by bet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Final

from taisai.cli.printing import dice, drawing_console, line, show, show_table, table
from taisai.game.events import Event, ResultCorrected, ResultEntered, RoundResettled, RoundSettled
from taisai.game.playbook import BookedEvent, LimitEffect, Play, PlayedCommand, Share
from taisai.game.playbook.answers import event_line, limit_texts
from taisai.game.playbook.parser import STEP
from taisai.game.terms.terms import Terms
from taisai.rules import Outcome, Rulebook
from taisai.rules.clauses import HOUSE_PROCEDURES, Clause
from taisai.rules.errors import printable

MOST_TEXT: Final = 100_000  # characters of one event; a stored rulebook is longer, but is not retold


class Narrator:
    """Prints events; the first event by a clause also quotes the clause."""

    def __init__(self, book: Rulebook) -> None:
        self.book = book
        self.quoted: set[Clause] = set()
        self._drawn = StringIO()
        self._console = drawing_console(self._drawn)

    def say(self, text: str, *, style: str = "", indent: int = 0) -> None:
        """Prints text, broken at the width of the terminal, without control characters."""
        from rich.padding import Padding
        from rich.text import Text

        text = printable(text, MOST_TEXT)
        self._console.print(Padding(Text(text, style), (0, 0, 0, indent), expand=False))
        for row in self._drawn.getvalue().splitlines():
            line(row.rstrip())
        self._drawn.seek(0)
        self._drawn.truncate()

    def event(self, event: Event, mark: str = "✓") -> None:
        """Prints an event, its clause, and the dice of a result."""
        name, _, details = event_line(event).removeprefix("+ ").partition(f" [{event.clause}]")
        # The label of the new phase follows after the command.
        parts = [part for part in details.split(", ") if part.split()[:1] != ["phase"]]
        shown = ", ".join(parts).strip()
        self.say(f"{mark} {name.replace('-', ' ')}{f': {shown}' if shown else ''} ({event.clause})", indent=2)
        self.quote(event.clause)
        if isinstance(event, ResultEntered | ResultCorrected | RoundResettled):
            for row in dice(Outcome.of(*event.faces)).splitlines():
                line(f"    {row}")

    def quote(self, clause: Clause) -> None:
        """Prints a clause in our words, the first time that it is used."""
        if clause not in self.quoted:
            self.quoted.add(clause)
            text = self.book.clauses.get(clause)
            says = text.says if text else HOUSE_PROCEDURES.get(clause, "")
            self.say(f"{clause}: {says}", style="dim", indent=4)

    def shares(self, outcome: Outcome, shares: Sequence[Share], terms: Mapping[str, Terms]) -> None:
        """Prints a settlement, stake by stake, each with its clause and the reason."""
        rows = []
        for share in shares:
            verdict = explained(terms[share.layout], share.area, outcome)
            clause = str(share.clause)
            if share.limited is LimitEffect.UNDER_ONCE:
                verdict, clause = f"{verdict} ({share.limited})", f"{clause}, {share.limits_clause}"
            elif share.limited is not LimitEffect.NOT:
                verdict, clause = f"{share.limited}: returned", str(share.limits_clause)
            rows.append((share.seat, share.area, share.stake, share.returned, clause, verdict))
        numbers = ("stake", "returned")
        title = f"{' '.join(map(str, outcome.faces))}, total {outcome.total}"
        show_table(title, ("seat", "area", *numbers, "clause", "why"), rows, right=numbers)


def explained(terms: Terms, area: str, outcome: Outcome) -> str:
    """Why an area wins or loses."""
    why = terms.matrix.explain(area, outcome)
    return f"{why.label} wins {why.odds}" if why.odds else f"{why.label} loses. {why.says}"


_SPANS: Final = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second"))


class PlayNarrator(Narrator):
    """Prints a play, step by step."""

    def __init__(self, play: Play) -> None:
        super().__init__(play.table.book)
        self.play = play
        self.phase = play.table.phase
        self.phases = {phase.id: phase.label for phase in self.book.procedure.phases}

    def heading(self) -> None:
        story, terms = self.play.story, self.play.story.opening
        self.say(f"{self.book.title} · {self.book.id}", style="bold")
        if story.story:
            self.say(" ".join(story.story), style="italic")
        line()
        chosen = [f"{name} {value}" for name, value in (terms.settings | terms.offers).items()]
        self.say(
            f"Table {terms.table}, layout {self.play.table.layout}, money in the smallest unit of "
            f"{terms.currency}. Limits {', '.join(limit_texts(terms.limits))}."
            + (f" With {', '.join(chosen)}." if chosen else "")
        )
        labels = {rank.id: rank.label for rank in self.book.people.ladder}
        people = (f"{name}, {labels[person.position]}" for name, person in self.play.table.people.items())
        self.say(f"At the table: {'; '.join(people)}.")
        line()

    def step(self, played: PlayedCommand) -> None:
        step, refusal = played.step, played.refusal
        if step.comments:
            line()
            self.say(" ".join(step.comments), style="italic")
        if step.after != STEP:
            self.say(f"… {_span(step.after)} later", style="italic")
        self.say(f"{played.command.by}: {step.words}", style="bold cyan")
        if refusal is not None:
            why = f"✗ refused, {refusal.reason}: {refusal.message} ({refusal.clause})"
            self.say(why, style="red", indent=2)
            self.quote(refusal.clause)
        elif not played.happened:
            self.say("· no change: this was done before", indent=2)
        for booked in played.happened:
            self._booked(booked)
        if self.play.table.phase is not self.phase:
            self.phase = self.play.table.phase
            self.say(f"→ {self.phases[self.phase]}", style="yellow", indent=2)
        for fact in played.facts:
            self.say(fact, style="green", indent=2)
        for mismatch in played.mismatches:
            mark, style = ("?", "yellow") if mismatch.expected is None else ("≠", "bold red")
            self.say(f"{mark} {self.play.story.name}:{mismatch.line}: {mismatch}", style=style, indent=2)

    def _booked(self, booked: BookedEvent) -> None:
        event = booked.event
        self.event(event)
        if isinstance(event, RoundSettled | RoundResettled) and booked.shares:
            self.shares(Outcome.of(*event.faces), booked.shares, self.play.terms_of(event))

    def ending(self) -> None:
        """Prints the balances: the table's accounts, and the credits of each seat."""
        line()
        balances = self.play.table.ledger.balances
        filled = table(
            "The books at the end", ("account", "held or due", "owed"), right=("held or due", "owed")
        )
        for account, balance in balances.items():
            if balance:
                filled.add_row(account, *((str(balance), "") if account.held else ("", str(balance))))
        filled.add_section()
        held = sum(balance for account, balance in balances.items() if account.held)
        owed = sum(balance for account, balance in balances.items() if not account.held)
        filled.add_row("total", str(held), str(owed))
        show(filled)
        seats = [seat for seat in self.play.table.seats.values() if seat.purses]
        if seats:
            rows = (
                (seat.name, seat.player, sum(purse.credits for purse in seat.purses.values()), seat.at_risk)
                for seat in seats
            )
            numbers = ("credits", "at risk")
            show_table("Seats", ("seat", "player", *numbers), rows, right=numbers)


def _span(milliseconds: int) -> str:
    """A duration such as '25 hours'."""
    for size, name in _SPANS:
        if milliseconds >= 2 * size or size == 1_000:
            count = milliseconds // size
            return f"{count} {name}" if count == 1 else f"{count} {name}s"
    return f"{milliseconds} milliseconds"

"""A playing retold for people, step by step, clause by clause."""

from __future__ import annotations

from typing import Final

from taisai.cli.printing import line, show, table
from taisai.cli.telling import Telling
from taisai.game.events import RoundResettled, RoundSettled
from taisai.game.playbook import Happened, Play, Played
from taisai.game.playbook.reading import STEP
from taisai.game.playbook.telling import limits_told
from taisai.rules import Outcome

_SPANS: Final = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second"))


class Retelling(Telling):
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

    def step(self, played: Played) -> None:
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

    def _happened(self, one: Happened) -> None:
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

"""The time for bets of a table. It stands still while the round is held."""

from __future__ import annotations

from taisai.game import Table, events
from taisai.game.vocabulary import Hold
from taisai.protocol.views import CountdownView
from taisai.rules.procedure import CLOCK, Recovery
from taisai.rules.vocabulary import Act


class BettingTime:
    """The time for bets of one table, from its events."""

    def __init__(self, window: int) -> None:
        """`window`: how long bets are open, in milliseconds."""
        self.window = window
        self._up_at: int | None = None
        self.round = 0
        """The round that it is for."""
        self._held_since = 0
        self._expired_at: int | None = None
        """The end of the time for bets that a clock has announced as up."""
        self._holds: set[str] = set()
        """Why the round is held: holds, and names of referrals."""

    @classmethod
    def of(cls, table: Table, window: int) -> BettingTime:
        """The time for bets of a table as it is now; a hold counts from the table's latest time."""
        time = cls(window)
        if table.round is not None and table.phase.bets_open:
            time._up_at, time.round = table.round.opened_at + window, table.round.number
        time._held_since = table.latest
        time._holds = {str(hold) for hold in table.holds if hold is not Hold.REFERRAL}
        time._holds |= {
            name
            for name, referral in table.referrals.items()
            if referral.holds and referral.decided_by is None
        }
        return time

    @property
    def up_at(self) -> int | None:
        """When the time is up; None if bets are not open or the round is held."""
        return None if self._holds else self._up_at

    @property
    def is_up(self) -> bool:
        """Whether a clock has announced that the time is up. Bets may still be open."""
        return self.up_at is not None and self.up_at == self._expired_at

    def ring(self, until: int) -> bool:
        """A clock announces that the time until then is up; returns whether that is new."""
        was_up = self.is_up
        # Otherwise bets were opened again, or closed, in the meantime.
        if self.up_at is not None and self.up_at <= until:
            self._expired_at = self.up_at
        return self.is_up and not was_up

    def apply(self, event: object) -> None:
        """Applies an event."""
        match event:
            case events.BetsOpened() | events.BetsReopened():
                self._up_at, self.round = event.at + self.window, event.round
            case events.BetsClosed():
                self._up_at = None
            case events.RoundVoided() | events.RoundConcluded() if event.round == self.round:
                self._up_at = None  # voiding an earlier round does not stop this one's time
                self._holds.clear()
            case events.WithdrawalOffered():
                self._hold(Hold.WITHDRAWAL, event.at)
            case events.WithdrawalClosed():
                self._release(Hold.WITHDRAWAL, event.at)
            case events.Interrupted(action=Recovery.DECLARE):
                self._hold(Hold.DECLARATION, event.at)
            case events.SightDeclared():
                self._release(Hold.DECLARATION, event.at)
            case events.Referred(holds=True):
                self._hold(event.referral, event.at)
            case events.ReferralDecided():
                self._release(event.referral, event.at)
            case _:
                pass

    def _hold(self, what: str, at: int) -> None:
        if not self._holds:
            self._held_since = at
        self._holds.add(what)

    def _release(self, what: str, at: int) -> None:
        if what not in self._holds:
            return
        self._holds.remove(what)
        if not self._holds and self._up_at is not None:
            self._up_at += max(0, at - self._held_since)


def countdown_view(
    table: Table, closes_at: int | None = None, *, window: int = 0, is_up: bool = False
) -> CountdownView:
    """The view of the betting clock. The rulebook determines whether it closes bets."""
    since = None if closes_at is None else closes_at - window
    return CountdownView(closes_at=closes_at, since=since, prompt=not clock_closes(table), is_up=is_up)


def clock_closes(table: Table) -> bool:
    """Whether the betting clock closes bets. Otherwise it prompts the Dealer."""
    return any(
        step.act is Act.CLOSE_BETS and step.by == CLOCK
        for step in table.procedure.steps
        if step.when is None or step.when.holds(table.settings)
    )

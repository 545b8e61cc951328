"""The time for bets: when it is up, as the events of a table tell; while a round waits, it stands still."""

from __future__ import annotations

from taisai.game import Table, events
from taisai.game.vocabulary import Hold
from taisai.protocol.views import CountdownView
from taisai.rules.procedure import CLOCK, Recovery
from taisai.rules.vocabulary import Act


class BettingTime:
    """Of one table. The clock that closes and the views that show it each have their own, fed alike."""

    def __init__(self, window: int) -> None:
        """`window`: milliseconds for which bets are open."""
        self.window = window
        self._up_at: int | None = None
        self.round = 0
        """Whose time it is."""
        self._held_since = 0
        self._rung_at: int | None = None
        """Until when the time was that somebody said was up."""
        self._holds: set[str] = set()
        """What the round waits for: a hold, or a referral by its name."""

    @classmethod
    def of(cls, table: Table, window: int) -> BettingTime:
        """As a table stands that was played before; a hold counts from its latest moment."""
        made = cls(window)
        if table.round is not None and table.phase.bets_open:
            made._up_at, made.round = table.round.opened_at + window, table.round.number
        made._held_since = table.latest
        made._holds = {str(hold) for hold in table.holds if hold is not Hold.REFERRAL}
        made._holds |= {name for name, one in table.referrals.items() if one.holds and one.decided_by is None}
        return made

    @property
    def up_at(self) -> int | None:
        """When it is up; None where bets are not open, or the round waits for something."""
        return None if self._holds else self._up_at

    @property
    def is_up(self) -> bool:
        """Whether somebody with a clock has said that it is up; bets are open all the same."""
        return self.up_at is not None and self.up_at == self._rung_at

    def ring(self, until: int) -> bool:
        """Somebody's clock says that the time until then is up; says whether that is news here."""
        was_up = self.is_up
        if (
            self.up_at is not None and self.up_at <= until
        ):  # else bets were opened again, or closed, meanwhile
            self._rung_at = self.up_at
        return self.is_up and not was_up

    def apply(self, event: object) -> None:
        """What an event does to it."""
        match event:
            case events.BetsOpened() | events.BetsReopened():
                self._up_at, self.round = event.at + self.window, event.round
            case events.BetsClosed():
                self._up_at = None
            case events.RoundVoided() | events.RoundConcluded() if event.round == self.round:
                self._up_at = None  # an earlier one that is void now does not stop the clock of this one
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
    """The betting clock, which is outside; who closes is in the rulebook."""
    since = None if closes_at is None else closes_at - window
    return CountdownView(closes_at=closes_at, since=since, prompt=not clock_closes(table), is_up=is_up)


def clock_closes(table: Table) -> bool:
    """Whether the betting clock closes bets; elsewhere it prompts the Dealer."""
    return any(
        step.act is Act.CLOSE_BETS and step.by == CLOCK
        for step in table.procedure.steps
        if step.when is None or step.when.holds(table.settings)
    )

"""The feeds of a table's seats, each for its own player alone.

Every bet passes here, and every settlement once for each seat. Both are sent without making the seat's view.
Any other change is the difference between two views of the seat.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from msgspec.structs import replace

from taisai.game import Table
from taisai.game import events as e
from taisai.game.commands import Slip
from taisai.protocol.views import CHANGES, LastRound, SeatView, difference
from taisai.server.projections.feed_writer import FeedSnapshot, FeedWriter, seat_feed
from taisai.server.projections.seat import SeatIndex, seat_view

_SeatChanges: Final[Any] = CHANGES[SeatView]
_FIELDS: Final = tuple(name for name in SeatView.__struct_fields__ if name != "bets")
_CHANGE_ALL_SEATS: Final = frozenset(
    {
        e.BetMoved, e.BetReturned, e.BetsReopened, e.ClaimSettled, e.RoundResettled, e.RoundVoided,
        e.SettlementUndone, e.WithdrawalClosed, e.WithdrawalOffered,
    }
)  # fmt: skip
_CHANGE_BETS: Final = frozenset(
    {
        e.BetMoved, e.BetReturned, e.BetTakenBack, e.RoundVoided, e.SeatLeft, e.SettlementUndone,
        e.WithdrawalChosen,
    }
)  # fmt: skip
"""Events after which followers need all bets of a seat again."""


class SeatFeeds:
    """What the followers of each seat have, and what they are sent next."""

    def __init__(self, table: str, writer: FeedWriter, index: SeatIndex) -> None:
        self._table = table
        self._writer = writer
        self._index = index
        self._feeds: dict[str, str] = {}
        self._at_risk: dict[str, int] = {}
        """Seats with bets in the round → the stakes that their followers were told."""
        self._changed: dict[str, None] = {}
        self._settled = self._paid = self._all_changed = self._bets_changed = False

    def feed(self, seat: str) -> str:
        """The feed of a seat."""
        return self._feeds.get(seat) or self._feeds.setdefault(seat, seat_feed(self._table, seat))

    def send_bets(self, table: Table, name: str, bets: list[Slip], to: str | None) -> None:
        """Sends bets that were registered; `to` is the request that this answers."""
        feed = self._feeds.get(name) or self.feed(name)
        if feed not in self._writer:
            return
        seat = table.seats[name]
        at_risk = seat.at_risk
        self._at_risk[name] = at_risk
        self._writer.views.pop(feed, None)
        if seat.colour is None:
            own_credits = seat.purse.credits if seat.purse is not None else 0
            changes = _SeatChanges(credits=own_credits, at_risk=at_risk, placed=tuple(bets))
        else:
            view = seat_view(table, name, self._index)
            changes = _SeatChanges(
                credits=view.credits, at_risk=at_risk, placed=tuple(bets), colour=view.colour,
                in_colour=view.in_colour,
            )  # fmt: skip
        self._writer.send(feed, changes, to=to)

    def apply(self, event: Any) -> None:
        """Notes which seats an event changes. It is no bet."""
        kind = type(event)
        self._index.forget_claims()
        if kind is e.RoundSettled:
            self._settled = True
        elif kind is e.WinnersPaid:
            self._paid = True
        elif kind in _CHANGE_ALL_SEATS:
            self._all_changed = True
        elif isinstance(seat := getattr(event, "seat", None), str):
            self._changed[seat] = None
        if kind in _CHANGE_BETS:
            self._bets_changed = True

    def show(self, table: Table, what: tuple[str, ...]) -> None:
        """Sends what the events since the last call changed."""
        if table.round is None and (self._settled or self._paid):
            self._bets_changed = True  # the round was settled, paid and concluded in one group
        if self._all_changed or self._bets_changed:
            self._changed |= dict.fromkeys(table.seats)
        elif self._settled or self._paid:
            # A seat with two kinds of money is shown by its view: such seats are few.
            self._changed |= {name: None for name in self._at_risk if table.seats[name].colour is not None}
            self._send_settlement(table)
        if self._changed:
            self._show_views(table, self._changed, what)
            self._changed = {}
        if self._paid:
            self._at_risk.clear()
        self._settled = self._paid = self._all_changed = self._bets_changed = False

    def _send_settlement(self, table: Table) -> None:
        """Sends each seat that bet what it got, or that it is paid."""
        round_ = table.round
        if round_ is None or round_.settled is None:
            return
        by_purse = round_.settled.by_purse
        for name, staked in self._at_risk.items():
            if name in self._changed:
                continue
            feed, seat = self._feeds[name], table.seats[name]
            if feed not in self._writer:
                continue
            self._writer.views.pop(feed, None)
            own_credits = payable = returned = 0
            for purse in seat.purses.values():
                own_credits += purse.credits
                payable += purse.payable
                returned += by_purse[purse.index] if purse.index < len(by_purse) else 0
            changes = _SeatChanges(
                credits=own_credits, at_risk=seat.at_risk, payable=payable, net=seat.net, cleared=self._paid,
                last=LastRound(number=round_.number, void=False, staked=staked, returned=returned),
            )  # fmt: skip
            self._writer.send(feed, changes)

    def _show_views(self, table: Table, names: Iterable[str], what: tuple[str, ...]) -> None:
        for name in names:
            feed = self._feeds.get(name) or self.feed(name)
            if feed not in self._writer:
                continue
            whole = seat_view(table, name, self._index)
            before, view = self._writer.views.get(feed), self._keep(name, whole)
            if before is not None and not (self._bets_changed or self._paid):
                changes = difference(before, view)
                if changes is None:
                    continue
            else:
                fields = {field: getattr(view, field) for field in _FIELDS}
                changes = _SeatChanges(**fields, cleared=True, placed=whole.bets)
            self._writer.send(feed, changes, what=what)

    def snapshot(self, table: Table, name: str) -> FeedSnapshot:
        """A seat as it is now; its frames are numbered from here on."""
        whole = seat_view(table, name, self._index)
        self._keep(name, whole)
        return FeedSnapshot(self._writer.follow(self.feed(name)), whole)

    def forget(self, name: str) -> None:
        """Drops what was kept for the followers of a seat."""
        self._feeds.pop(name, None)
        self._at_risk.pop(name, None)

    def _keep(self, name: str, whole: SeatView) -> SeatView:
        """Keeps the view that followers have now, without bets; returns it."""
        view = replace(whole, bets=())
        self._writer.views[self.feed(name)] = view
        self._keep_stakes(name, whole)
        return view

    def _keep_stakes(self, name: str, whole: SeatView) -> None:
        """Keeps what a seat staked, so that the next settlement is sent to it."""
        if whole.bets:
            self._at_risk[name] = whole.at_risk or sum(bet.stake for bet in whole.bets)
        else:
            self._at_risk.pop(name, None)

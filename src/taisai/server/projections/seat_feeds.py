"""The seats of a table, each shown to its own player alone.

Every bet passes here, and every settlement passes here once for each seat; so those two are told by
themselves, without a look at anything else. All other changes are what differs between two views of the seat.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from msgspec.structs import replace

from taisai.game import Table
from taisai.game import events as happened
from taisai.game.commands import Slip
from taisai.protocol.replies import ChangeNotice
from taisai.protocol.views import CHANGES, LastRound, SeatView, difference
from taisai.server.connections.feeds import Frame
from taisai.server.projections import BySeat, seat_view
from taisai.server.projections.feed_names import Numbers, Shown, seat_feed
from taisai.server.replies import encoded

_Changes: Final[Any] = CHANGES[SeatView]
_PARTS: Final = tuple(name for name in SeatView.__struct_fields__ if name != "bets")
_FOR_ALL: Final = frozenset(
    {
        happened.BetMoved, happened.BetReturned, happened.BetsReopened, happened.ClaimSettled,
        happened.RoundResettled, happened.RoundVoided, happened.SettlementUndone,
        happened.WithdrawalClosed, happened.WithdrawalOffered,
    }
)  # fmt: skip
"""Events after which any seat may be another."""
_BETS_GO: Final = frozenset(
    {
        happened.BetMoved, happened.BetReturned, happened.BetTakenBack, happened.RoundVoided,
        happened.SeatLeft, happened.SettlementUndone, happened.WithdrawalChosen,
    }
)  # fmt: skip
"""Events after which other bets lie there than were told."""


class Seats:
    """What the followers of each seat were told, and what they have to be told next."""

    def __init__(self, table: str, numbers: Numbers, by_seat: BySeat) -> None:
        self._table = table
        self._numbers = numbers
        self._by_seat = by_seat
        self._feeds: dict[str, str] = {}
        self._shown: dict[str, SeatView] = {}
        """Seat → what its followers were shown, without bets; gone where they were told more since."""
        self._at_risk: dict[str, int] = {}
        """Seats with bets of the round → what was told to be at risk, which is what they staked."""
        self._touched: dict[str, None] = {}
        self._is_settled = self._is_paid = self._are_all_others = self._are_bets_others = False

    def feed(self, seat: str) -> str:
        """The feed of a seat."""
        return self._feeds.get(seat) or self._feeds.setdefault(seat, seat_feed(self._table, seat))

    def placed(self, table: Table, name: str, bets: list[Slip], re: str | None, frames: list[Frame]) -> None:
        """Bets came; `re` is the ask that this answers."""
        feed = self._feeds.get(name) or self.feed(name)
        number = self._numbers.next(feed)
        if number is None:
            return
        seat = table.seats[name]
        at_risk = seat.at_risk
        self._at_risk[name] = at_risk
        self._shown.pop(name, None)
        if seat.colour is None:
            has = seat.purse.credits if seat.purse is not None else 0
            changes = _Changes(credits=has, at_risk=at_risk, placed=tuple(bets))
        else:
            view = seat_view(table, name, self._by_seat)
            changes = _Changes(
                credits=view.credits, at_risk=at_risk, placed=tuple(bets), colour=view.colour,
                in_colour=view.in_colour,
            )  # fmt: skip
        body = encoded(ChangeNotice(feed=feed, number=number, changes=changes, to=re))
        frames.append(Frame(feed, number, body))

    def heard(self, event: Any) -> None:
        """Something else happened."""
        kind = type(event)
        self._by_seat.forget_claims()
        if kind is happened.RoundSettled:
            self._is_settled = True
        elif kind is happened.WinnersPaid:
            self._is_paid = True
        elif kind in _FOR_ALL:
            self._are_all_others = True
        elif isinstance(seat := getattr(event, "seat", None), str):
            self._touched[seat] = None
        if kind in _BETS_GO:
            self._are_bets_others = True

    def finish(self, table: Table, what: tuple[str, ...], frames: list[Frame]) -> None:
        """The frames of whatever was heard since the last time."""
        if table.round is None and (self._is_settled or self._is_paid):
            self._are_bets_others = True  # it was settled, paid and concluded in one go
        if self._are_all_others or self._are_bets_others:
            self._touched |= dict.fromkeys(table.seats)
        elif self._is_settled or self._is_paid:
            # Whoever has two kinds of money is looked at as a whole: they are few.
            self._touched |= {name: None for name in self._at_risk if table.seats[name].colour is not None}
            self._settled(table, frames)
        if self._touched:
            self._told_by_view(table, self._touched, what, frames)
            self._touched = {}
        if self._is_paid:
            self._at_risk.clear()
        self._is_settled = self._is_paid = self._are_all_others = self._are_bets_others = False

    def _settled(self, table: Table, frames: list[Frame]) -> None:
        """What a settlement, or its payment, comes to for each seat that bet."""
        round_ = table.round
        if round_ is None or round_.settled is None:
            return
        back = round_.settled.by_purse
        number_of, seats, feeds, shown = self._numbers.next, table.seats, self._feeds, self._shown
        for name, staked in self._at_risk.items():
            if name in self._touched:
                continue
            feed, seat = feeds[name], seats[name]
            number = number_of(feed)
            if number is None:
                continue
            shown.pop(name, None)
            has = payable = returned = 0
            for purse in seat.purses.values():
                has += purse.credits
                payable += purse.payable
                returned += back[purse.lane] if purse.lane < len(back) else 0
            changes = _Changes(
                credits=has, at_risk=seat.at_risk, payable=payable, net=seat.net, cleared=self._is_paid,
                last=LastRound(number=round_.number, void=False, staked=staked, returned=returned),
            )  # fmt: skip
            frames.append(
                Frame(feed, number, encoded(ChangeNotice(feed=feed, number=number, changes=changes)))
            )

    def _told_by_view(
        self, table: Table, names: Iterable[str], what: tuple[str, ...], frames: list[Frame]
    ) -> None:
        for name in names:
            feed = self._feeds.get(name) or self.feed(name)
            if feed not in self._numbers:
                continue
            whole = seat_view(table, name, self._by_seat)
            self._stakes(name, whole)
            view = replace(whole, bets=())
            before = self._shown.get(name)
            self._shown[name] = view
            if before is not None and not (self._are_bets_others or self._is_paid):
                changes = difference(before, view)
                if changes is None:
                    continue
            else:
                parts = {part: getattr(view, part) for part in _PARTS}
                changes = _Changes(**parts, cleared=True, placed=whole.bets)
            number = self._numbers.next(feed)
            if number is not None:
                tell = ChangeNotice(feed=feed, number=number, changes=changes, what=what)
                frames.append(Frame(feed, number, encoded(tell)))

    def snapshot(self, table: Table, name: str) -> Shown:
        """A seat as it stands; it counts from here on."""
        whole = seat_view(table, name, self._by_seat)
        self._shown[name] = replace(whole, bets=())
        self._stakes(name, whole)
        return Shown(self._numbers.follow(self.feed(name)), whole)

    def forget(self, name: str) -> None:
        """Nobody follows a seat any more."""
        for known in (self._feeds, self._shown, self._at_risk):
            known.pop(name, None)

    def _stakes(self, name: str, whole: SeatView) -> None:
        """Whether the next settlement concerns a seat, and what it staked."""
        if whole.bets:
            self._at_risk[name] = whole.at_risk or sum(bet.stake for bet in whole.bets)
        else:
            self._at_risk.pop(name, None)

"""The seats of a table: each as its player sees it, and the feeds that show it.

Every bet passes here, and every settlement once for each seat. Both are sent without making the seat's view.
Any other change is the difference between two views of the seat.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

from msgspec.structs import replace

from taisai.game import Table, bet_records
from taisai.game import events as e
from taisai.game.commands import Slip
from taisai.game.events import BetRegistered
from taisai.game.rounds.round import Round
from taisai.game.table import Claim, Seat
from taisai.game.vocabulary import Hold, Means
from taisai.protocol.views import CHANGES, ColourChips, ColourLine, LastRound, SeatView, Words, difference
from taisai.rules.vocabulary import Phase
from taisai.server.projections import texts
from taisai.server.projections.feed_writer import FeedSnapshot, FeedWriter, seat_feed

MOST_ROUNDS: Final = 12
"""Rounds in the index: the current one, the ten that clients may ask for, and one more."""


class _RoundIndex:
    """The ids of a round's bets by seat, in order."""

    __slots__ = ("bets", "ids", "seen")

    def __init__(self, bets: dict[str, BetRegistered]) -> None:
        self.bets = bets
        self.ids: dict[str, list[str]] = {}
        self.seen = 0
        """How many bets are indexed. Bets are never removed from a round, only marked as gone."""

    def catch_up(self) -> None:
        """Adds the bets since the last call."""
        new = len(self.bets) - self.seen
        self.seen += new
        for bet in reversed([*islice(reversed(self.bets.values()), new)]):
            self.ids.setdefault(bet.seat, []).append(bet.id)


class SeatIndex:
    """An index of a table's bets and claims by seat."""

    def __init__(self) -> None:
        self._rounds: OrderedDict[int, _RoundIndex] = OrderedDict()
        self._claims: dict[str, list[Claim]] | None = None

    def all_bets(self, round_: Round, seat: str) -> list[BetRegistered]:
        """All bets of a seat in a round, including those that are gone."""
        known = self._rounds.get(round_.number)
        if known is None or known.bets is not round_.bets:  # a new round, or one read again
            known = self._rounds[round_.number] = _RoundIndex(round_.bets)
            if len(self._rounds) > MOST_ROUNDS:
                self._rounds.popitem(last=False)
        if known.seen != len(known.bets):
            known.catch_up()
        return [known.bets[name] for name in known.ids.get(seat, ())]

    def bets(self, round_: Round, seat: str) -> list[BetRegistered]:
        """The bets of a seat in a round without those that are gone."""
        gone = round_.gone
        return [bet for bet in self.all_bets(round_, seat) if bet.id not in gone]

    def claims(self, table: Table, seat: Seat) -> list[Claim]:
        """The open claims of the player who sits there now."""
        if self._claims is None:
            self._claims = {}
            for claim in table.claims.values():
                self._claims.setdefault(claim.seat, []).append(claim)
        return [
            claim for claim in self._claims.get(seat.name, ()) if seat.taken and claim.session == seat.session
        ]

    def forget_round(self, number: int) -> None:
        """Makes the next call read the bets of a round again: one may be another seat's now."""
        self._rounds.pop(number, None)

    def forget_claims(self) -> None:
        """Makes the next call read the claims again."""
        self._claims = None


LOOK_BACK: Final = 10
"""Latest rounds in which a seat's last bets are searched: those that stay in memory."""
MOST_CLAIMS: Final = 20  # in the view of a seat


def seat_view(table: Table, name: str, index: SeatIndex | None = None) -> SeatView:
    """A seat as its player sees it. Give `index` for many or repeated calls."""
    index = index or SeatIndex()
    seat = table.seats.get(name) or Seat(name)
    round_ = table.round
    on_layout = round_ is not None and round_.phase is not Phase.PAID  # after paying, no bet is left
    own = index.bets(round_, name) if round_ is not None and on_layout and _same_session(round_, seat) else []
    chosen = round_.choices.get(name) if round_ is not None else None
    is_open = Hold.WITHDRAWAL in table.holds
    purses = seat.purses.values()
    return SeatView(
        seat=name, taken=seat.taken, player=seat.player if seat.taken else "", session=seat.session,
        since=seat.since if seat.taken else None, net=seat.net if seat.taken else 0,
        layout=seat.layout or table.layout, credits=sum(purse.credits for purse in purses),
        at_risk=seat.at_risk, payable=sum(purse.payable for purse in purses),
        bets=() if table.phase is Phase.PAID else tuple(Slip(bet.id, bet.area, bet.stake) for bet in own),
        last=_last(table, seat, index) if seat.taken else None,
        withdrawal=is_open and bool(own) and not chosen, withdrew=chosen if is_open else None,
        claims=texts.claim_lines(index.claims(table, seat), MOST_CLAIMS), colour=_colour(seat),
        in_colour=tuple(bet.id for bet in own if bet.means is Means.COLOUR_CHIPS) if seat.colour else (),
    )  # fmt: skip


def _colour(seat: Seat) -> ColourChips | None:
    if not seat.taken or seat.colour is None:
        return None
    purse = seat.purses.get(Means.COLOUR_CHIPS)
    line, left = colour_of(seat.colour), purse.credits if purse else 0
    return ColourChips(colour=line, value=seat.colour_value, credits=left)


def _same_session(round_: Round, seat: Seat) -> bool:
    return seat.taken and round_.sessions.get(seat.name) == seat.session


def _last(table: Table, seat: Seat, index: SeatIndex) -> LastRound | None:
    """The latest settled or void round in which this player bet."""
    round_ = table.round
    if round_ is not None and round_.settled and _same_session(round_, seat):
        last = _last_round(table, round_, index.bets(round_, seat.name))
        if last is not None:
            return last
    newest = len(table.rounds)
    for number in range(newest, max(0, newest - LOOK_BACK), -1):
        past = table.past(number)  # stays in memory: every seat needs the same few
        last = None
        if past is not None and _same_session(past, seat):
            last = _last_round(table, past, index.bets(past, seat.name))
        if last is not None:
            return last
    return None


def _last_round(table: Table, round_: Round, bets: list[BetRegistered]) -> LastRound | None:
    if not bets or not (round_.voided or round_.settled):
        return None
    return LastRound(
        number=round_.number,
        void=round_.voided,
        staked=sum(bet.stake for bet in bets),
        returned=sum(record.returned for record in bet_records(table, round_, bets)),
    )


_PAINTS: Final = (
    ("red", Words("Red", "红"), "#c0392b"),
    ("blue", Words("Blue", "蓝"), "#1d4f91"),
    ("green", Words("Green", "绿"), "#1f8f4e"),
    ("yellow", Words("Yellow", "黄"), "#e5c100"),
    ("orange", Words("Orange", "橙"), "#d9730d"),
    ("purple", Words("Purple", "紫"), "#6c2f8e"),
    ("pink", Words("Pink", "粉"), "#d75a93"),
    ("brown", Words("Brown", "棕"), "#6b4423"),
    ("white", Words("White", "白"), "#f4f1e6"),
    ("grey", Words("Grey", "灰"), "#7f8c8d"),
    ("turquoise", Words("Turquoise", "青"), "#1aa6a6"),
    ("black", Words("Black", "黑"), "#22252a"),
)


def colours(least: int) -> tuple[ColourLine, ...]:
    """At least so many colours: all paints, then the same paints with a mark on the chips."""
    names: list[str] = []
    for number in range(max(least, len(_PAINTS))):
        turn, place = divmod(number, len(_PAINTS))
        names.append(f"{_PAINTS[place][0]}-{turn + 1}" if turn else _PAINTS[place][0])
    return tuple(map(colour_of, names))


def colour_of(name: str) -> ColourLine:
    """A colour by its name. An unknown colour is grey."""
    plain, _, mark = name.partition("-")
    for known, label, paint in _PAINTS:
        if known == plain:
            words = Words(f"{label.en} {mark}", f"{label.zh} {mark}") if mark else label
            return ColourLine(colour=name, label=words, paint=paint, mark=mark)
    return ColourLine(colour=name, label=Words(name, name), paint="#777777", mark="")


_SeatChanges: Final[Any] = CHANGES[SeatView]
_FIELDS: Final = tuple(name for name in SeatView.__struct_fields__ if name != "bets")
_CHANGE_ALL_SEATS: Final = frozenset(
    {
        e.BetMoved, e.BetReturned, e.BetsReopened, e.ClaimSettled, e.RecordCorrected, e.RoundResettled,
        e.RoundVoided, e.SettlementUndone, e.WithdrawalClosed, e.WithdrawalOffered,
    }
)  # fmt: skip
_CHANGE_BETS: Final = frozenset(
    {
        e.BetMoved, e.BetReturned, e.BetTakenBack, e.RecordCorrected, e.RoundVoided, e.SeatLeft,
        e.SettlementUndone, e.WithdrawalChosen,
    }
)  # fmt: skip
"""Events after which followers get all bets of a seat again."""


class SeatFeeds:
    """Sends the changes of each seat to its followers."""

    def __init__(self, table: str, writer: FeedWriter, index: SeatIndex) -> None:
        self._table = table
        self._writer = writer
        self._index = index
        self._feeds: dict[str, str] = {}
        self._at_risk: dict[str, int] = {}
        """Seat with bets in the round → the stakes that its followers have."""
        self._changed: dict[str, None] = {}
        self._settled = self._paid = self._all_changed = self._bets_changed = False

    def feed(self, seat: str) -> str:
        return self._feeds.get(seat) or self._feeds.setdefault(seat, seat_feed(self._table, seat))

    def send_bets(self, table: Table, name: str, bets: list[Slip]) -> None:
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
        self._writer.send(feed, changes)

    def apply(self, event: Any) -> None:
        """Records which seats an event changes. The event is not a bet."""
        kind = type(event)
        self._index.forget_claims()
        if kind is e.RecordCorrected:
            self._index.forget_round(event.round)
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
            # Seats with two kinds of money are few; their whole view is compared.
            self._changed |= {name: None for name in self._at_risk if table.seats[name].colour is not None}
            self._send_settlement(table)
        if self._changed:
            self._show_views(table, self._changed, what)
            self._changed = {}
        if self._paid:
            self._at_risk.clear()
        self._settled = self._paid = self._all_changed = self._bets_changed = False

    def _send_settlement(self, table: Table) -> None:
        """Sends each seat with bets its settlement, or that it is paid."""
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
        """A seat as it is now; its frames are numbered from now on."""
        whole = seat_view(table, name, self._index)
        self._keep(name, whole)
        return FeedSnapshot(self._writer.follow(self.feed(name)), whole)

    def forget(self, name: str) -> None:
        """Drops the state of a seat without followers."""
        self._feeds.pop(name, None)
        self._at_risk.pop(name, None)

    def _keep(self, name: str, whole: SeatView) -> SeatView:
        """Keeps the view that followers have, without bets; returns it."""
        view = replace(whole, bets=())
        self._writer.views[self.feed(name)] = view
        if whole.bets:
            self._at_risk[name] = whole.at_risk or sum(bet.stake for bet in whole.bets)
        else:
            self._at_risk.pop(name, None)
        return view

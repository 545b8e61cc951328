"""A seat as its player sees it, and the bets and claims of each seat."""

from __future__ import annotations

from collections import OrderedDict
from itertools import islice
from typing import Final

from taisai.game import Table, verdicts
from taisai.game.commands import Slip
from taisai.game.events import BetRegistered
from taisai.game.rounds.round import Round
from taisai.game.seating.seats import Seat
from taisai.game.table import Claim
from taisai.game.vocabulary import Hold, Means
from taisai.protocol.views import ColourChips, LastRound, SeatView
from taisai.rules.vocabulary import Phase
from taisai.server.projections.labels import claim_line, colour_of

MOST_ROUNDS: Final = 12
"""Rounds that are remembered: the one in hand, the ten that anybody may recall, and one more."""


class _Laid:
    """The bets of one round: their ids by seat, in the order they came."""

    __slots__ = ("bets", "ids", "seen")

    def __init__(self, bets: dict[str, BetRegistered]) -> None:
        self.bets = bets
        self.ids: dict[str, list[str]] = {}
        self.seen = 0
        """How many of them have been looked at; none is ever taken out, and those that went are marked."""

    def catch_up(self) -> None:
        """Looks at the bets that have come since."""
        new = len(self.bets) - self.seen
        self.seen += new
        for bet in reversed([*islice(reversed(self.bets.values()), new)]):
            self.ids.setdefault(bet.seat, []).append(bet.id)


class SeatIndex:
    """A table's bets and claims by seat, good for as long as the table is played."""

    def __init__(self) -> None:
        """Nothing seen yet."""
        self._rounds: OrderedDict[int, _Laid] = OrderedDict()
        self._claims: dict[str, list[Claim]] | None = None

    def laid(self, round_: Round, seat: str) -> list[BetRegistered]:
        """All bets of a seat in a round, those that went again included."""
        known = self._rounds.get(round_.number)
        if known is None or known.bets is not round_.bets:  # else it is the round that was indexed
            known = self._rounds[round_.number] = _Laid(round_.bets)
            if len(self._rounds) > MOST_ROUNDS:
                self._rounds.popitem(last=False)
        if known.seen != len(known.bets):
            known.catch_up()
        return [known.bets[name] for name in known.ids.get(seat, ())]

    def bets(self, round_: Round, seat: str) -> list[BetRegistered]:
        """The bets of a seat that stood, or stand, in a round."""
        gone = round_.gone
        return [bet for bet in self.laid(round_, seat) if bet.id not in gone]

    def claims(self, table: Table, seat: Seat) -> list[Claim]:
        """The open claims of who sits there now, not of who sat there before."""
        if self._claims is None:
            self._claims = {}
            for claim in table.claims.values():
                self._claims.setdefault(claim.seat, []).append(claim)
        return [one for one in self._claims.get(seat.name, []) if seat.taken and one.session == seat.session]

    def forget_claims(self) -> None:
        """Something has happened after which there may be others."""
        self._claims = None


LOOK_BACK: Final = 10
"""Rounds in which a seat's last one is looked for: those that stay in memory."""
MOST_CLAIMS: Final = 20  # that a seat is shown


def seat_view(table: Table, name: str, index: SeatIndex | None = None) -> SeatView:
    """A seat, taken or not; give `index` where several are shown, or one again and again."""
    index = index or SeatIndex()
    seat = table.seats.get(name) or Seat(name)
    round_ = table.round
    lie = round_ is not None and round_.phase is not Phase.PAID  # when winners are paid, none lies there
    mine = index.bets(round_, name) if round_ is not None and lie and _same_session(round_, seat) else []
    chosen = round_.choices.get(name) if round_ is not None else None
    is_open = Hold.WITHDRAWAL in table.holds
    purses = seat.purses.values()
    return SeatView(
        seat=name,
        taken=seat.taken,
        player=seat.player if seat.taken else "",
        session=seat.session,
        since=seat.since if seat.taken else None,
        net=seat.net if seat.taken else 0,
        layout=seat.layout or table.layout,
        credits=sum(purse.credits for purse in purses),
        at_risk=seat.at_risk,
        payable=sum(purse.payable for purse in purses),
        bets=() if table.phase is Phase.PAID else tuple(Slip(bet.id, bet.area, bet.stake) for bet in mine),
        last=_last(table, seat, index) if seat.taken else None,
        withdrawal=is_open and bool(mine) and not chosen,
        withdrew=chosen if is_open else None,
        claims=tuple(map(claim_line, index.claims(table, seat)[:MOST_CLAIMS])),
        colour=_colour(seat),
        in_colour=tuple(bet.id for bet in mine if bet.means is Means.COLOUR_CHIPS) if seat.colour else (),
    )


def _colour(seat: Seat) -> ColourChips | None:
    if not seat.taken or seat.colour is None:
        return None
    purse = seat.purses.get(Means.COLOUR_CHIPS)
    line, left = colour_of(seat.colour), purse.credits if purse else 0
    return ColourChips(colour=line, value=seat.colour_value, credits=left)


def _same_session(round_: Round, seat: Seat) -> bool:
    return seat.taken and round_.sessions.get(seat.name) == seat.session


def _last(table: Table, seat: Seat, index: SeatIndex) -> LastRound | None:
    """The latest round that this player bet in and that came to something."""
    round_ = table.round
    if round_ is not None and round_.settled and _same_session(round_, seat):
        found = _told(table, round_, index.bets(round_, seat.name))
        if found is not None:
            return found
    newest = len(table.rounds)
    for number in range(newest, max(0, newest - LOOK_BACK), -1):
        past = table.past(number)  # which stays in memory: every seat asks for the same few
        if past and _same_session(past, seat) and (found := _told(table, past, index.bets(past, seat.name))):
            return found
    return None


def _told(table: Table, round_: Round, bets: list[BetRegistered]) -> LastRound | None:
    got = verdicts(table, round_, bets)
    if not got:
        return None
    return LastRound(
        number=round_.number,
        void=round_.voided,
        staked=sum(one.bet.stake for one in got),
        returned=sum(one.returned for one in got),
    )

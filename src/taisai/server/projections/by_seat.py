"""Bets and claims by seat: each is looked at once, however many seats are shown and however often."""

from __future__ import annotations

from collections import OrderedDict
from itertools import islice
from typing import Final

from taisai.game import Table
from taisai.game.events import BetRegistered
from taisai.game.round import Round
from taisai.game.seats import Seat
from taisai.game.table import Claim

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


class BySeat:
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

"""Bets and what they get: whole minor units, winners by clause, refusals as values."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from math import gcd
from typing import TYPE_CHECKING, Final, NamedTuple, NewType

from taisai.rules.areas import AreaId
from taisai.rules.clauses import Clause
from taisai.rules.errors import RulesError, printable
from taisai.rules.outcomes import Outcome

if TYPE_CHECKING:
    from taisai.rules.matrix import Matrix

Money = NewType("Money", int)

GREATEST_SUM: Final = 2**53 - 1
"""The greatest stake, return or total: beyond it a browser could not hold the number exactly."""


class Bet(NamedTuple):
    """A stake on an area, in the smallest money unit."""

    area: AreaId
    stake: Money

    @staticmethod
    def on(area: str, stake: int) -> Bet:
        """A bet from plain values; whether it can be taken is for the matrix to say."""
        return Bet(AreaId(area), Money(stake))


class BetRefusalReason(StrEnum):
    """Why a bet is refused. Lower ranks are reported first; the gaps are for reasons of a table in play."""

    NOT_ON_LAYOUT = "not-on-layout"
    STAKE_NOT_WHOLE = "stake-not-whole"
    STAKE_NOT_POSITIVE = "stake-not-positive"
    BEYOND_GREATEST_SUM = "beyond-greatest-sum"
    WINNINGS_NOT_WHOLE = "winnings-not-whole"

    @property
    def rank(self) -> int:
        """Its place in the order of precedence."""
        return _RANKS[self]


_RANKS: Final = {
    BetRefusalReason.NOT_ON_LAYOUT: 100,
    BetRefusalReason.STAKE_NOT_WHOLE: 200,
    BetRefusalReason.STAKE_NOT_POSITIVE: 300,
    BetRefusalReason.BEYOND_GREATEST_SUM: 400,
    BetRefusalReason.WINNINGS_NOT_WHOLE: 500,
}


class BetRefusal(NamedTuple):
    """A refused bet, or a refused settlement, with the clause."""

    reason: BetRefusalReason
    clause: Clause
    message: str
    bet: int | None = None
    """Which bet of a batch, counted from 0; None where it is the batch as a whole."""

    def __str__(self) -> str:
        return f"{self.message} ({self.reason}, {self.clause})"


class SettledBet(NamedTuple):
    """What became of one bet."""

    area: AreaId
    stake: Money
    won: Money
    """Winnings above the stake; 0 for a loser."""
    returned: Money
    clause: Clause


class Settlement(NamedTuple):
    """What became of all bets of a round."""

    outcome: Outcome
    staked: Money
    returned: Money
    bets: tuple[SettledBet, ...]


def bet_refusal(matrix: Matrix, bet: Bet) -> BetRefusal | None:
    """Why a bet cannot be taken on a layout, if it cannot."""
    if bet.area not in matrix.rows:
        where = f"{matrix.rulebook} layout {matrix.layout}"
        got = f"expected an area of {where}, got {bet.area!r}{_nearest(matrix, bet)}"
        return BetRefusal(BetRefusalReason.NOT_ON_LAYOUT, matrix.layout_clause, got)
    if type(bet.stake) is not int:
        got = f"expected a whole stake on {bet.area}, got {bet.stake!r}"
        return BetRefusal(BetRefusalReason.STAKE_NOT_WHOLE, Clause("house:stakes"), got)
    if bet.stake <= 0:
        got = f"expected a stake above 0 on {bet.area}, got {bet.stake}"
        return BetRefusal(BetRefusalReason.STAKE_NOT_POSITIVE, Clause("house:stakes"), got)
    if bet.stake > GREATEST_SUM:
        return _beyond("stake", bet.stake)
    for win in matrix.wins[matrix.rows[bet.area]]:
        if bet.stake * win.net % matrix.denominator:
            step = matrix.denominator // gcd(win.net, matrix.denominator)
            wanted = f"a stake on {bet.area} in steps of {step}, since it wins {win.odds}"
            got = f"expected {wanted}, got {bet.stake}"
            return BetRefusal(BetRefusalReason.WINNINGS_NOT_WHOLE, Clause("house:whole-money"), got)
    return None


def _nearest(matrix: Matrix, bet: Bet) -> str:
    from difflib import get_close_matches

    near = get_close_matches(str(bet.area)[:40].lower(), matrix.areas, n=3)
    return f"; near it are {', '.join(near)}" if near else ""


def first_refusal(refusals: Iterable[BetRefusal | None]) -> BetRefusal | None:
    """Of several refusals the one with the lowest rank; the earliest of equals."""
    return min((one for one in refusals if one), key=lambda one: one.reason.rank, default=None)


def settle_bets(matrix: Matrix, outcome: Outcome, bets: Iterable[Bet]) -> Settlement | BetRefusal:
    """What each bet gets; or why not all of the bets can be taken, and then none is settled."""
    if not isinstance(outcome, Outcome):
        raise RulesError(f"expected an Outcome such as Outcome.of(2, 3, 5), got {outcome!r}")
    each: list[SettledBet] = []
    refusals: list[BetRefusal | None] = []
    for place, bet in enumerate(bets):
        if not isinstance(bet, Bet):
            raise RulesError(f"expected bets such as Bet.on('small', 100), got {bet!r}")
        refused = bet_refusal(matrix, bet)
        if refused is None:
            each.append(_settled(matrix, outcome, bet))
            if each[-1].returned > GREATEST_SUM:
                refused = _beyond("return", each[-1].returned)
        refusals.append(refused._replace(bet=place) if refused else None)
    staked, returned = sum(bet.stake for bet in each), sum(bet.returned for bet in each)
    for what, amount in (("total staked", staked), ("total returned", returned)):
        if amount > GREATEST_SUM:
            refusals.append(_beyond(what, amount))
    return first_refusal(refusals) or Settlement(outcome, Money(staked), Money(returned), tuple(each))


def _settled(matrix: Matrix, outcome: Outcome, bet: Bet) -> SettledBet:
    row = matrix.rows[bet.area]
    net, clause = matrix.nets[row][outcome.index], matrix.clauses[row][outcome.index]
    if net < 0:
        return SettledBet(bet.area, bet.stake, Money(0), Money(0), clause)
    won = bet.stake * net // matrix.denominator
    return SettledBet(bet.area, bet.stake, Money(won), Money(bet.stake + won), clause)


def _beyond(what: str, amount: int) -> BetRefusal:
    got = f"expected a {what} of at most 2^53 - 1, got {printable(str(amount))}"
    return BetRefusal(BetRefusalReason.BEYOND_GREATEST_SUM, Clause("house:greatest-sum"), got)

"""Bets and what they get: whole minor units, winners by clause, refusals as values."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final, NamedTuple, NewType

from taisai.rules.areas import AreaId
from taisai.rules.clauses import Clause
from taisai.rules.outcomes import Outcome

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


class Reason(StrEnum):
    """Why a bet is refused. Lower ranks are reported first."""

    NOT_ON_LAYOUT = "not-on-layout"
    STAKE_NOT_WHOLE = "stake-not-whole"
    STAKE_NOT_POSITIVE = "stake-not-positive"
    BEYOND_LIMIT = "beyond-limit"
    WINNINGS_NOT_WHOLE = "winnings-not-whole"

    @property
    def rank(self) -> int:
        """Its place in the order of precedence, 1 the first."""
        return list(Reason).index(self) + 1


class Refusal(NamedTuple):
    """A refused bet, or a refused settlement, with the clause."""

    reason: Reason
    clause: Clause
    message: str

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


def first_refusal(refusals: Iterable[Refusal | None]) -> Refusal | None:
    """Of several refusals the one with the lowest rank; the earliest of equals."""
    return min((one for one in refusals if one), key=lambda refusal: refusal.reason.rank, default=None)

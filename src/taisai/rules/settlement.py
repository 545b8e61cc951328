"""Settlement of bets in whole units of the smallest coin."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from math import gcd
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, NewType, Protocol, TypeVar

from taisai.rules.areas import AreaId
from taisai.rules.clauses import Clause
from taisai.rules.errors import RulesError, printable
from taisai.rules.outcomes import Outcome

if TYPE_CHECKING:
    from taisai.rules.matrix import Matrix

Money = NewType("Money", int)

GREATEST_SUM: Final = 2**53 - 1
"""The greatest stake, return or total. A browser cannot hold larger whole numbers exactly."""


class Bet(NamedTuple):
    """A stake on an area, in the smallest money unit."""

    area: AreaId
    stake: Money

    @staticmethod
    def on(area: str, stake: int) -> Bet:
        """A bet from plain values. `Matrix.refusal` checks it."""
        return Bet(AreaId(area), Money(stake))


class BetRefusalReason(StrEnum):
    """Why a bet is refused. If a bet has several faults, the lowest rank is reported."""

    NOT_ON_LAYOUT = "not-on-layout"
    STAKE_NOT_WHOLE = "stake-not-whole"
    STAKE_NOT_POSITIVE = "stake-not-positive"
    BEYOND_GREATEST_SUM = "beyond-greatest-sum"
    WINNINGS_NOT_WHOLE = "winnings-not-whole"

    @property
    def rank(self) -> int:
        """The order of precedence; the game package has reasons with ranks in between."""
        return _RANKS[self]


_RANKS: Final = {reason: 100 * number for number, reason in enumerate(BetRefusalReason, 1)}


class BetRefusal(NamedTuple):
    """Why a bet or a settlement is refused."""

    reason: BetRefusalReason
    clause: Clause
    message: str
    bet: int | None = None
    """The position of the bet in its batch, from 0; None if the whole batch is refused."""

    def __str__(self) -> str:
        return f"{self.message} ({self.reason}, {self.clause})"


class BetState(StrEnum):
    """What became of a bet."""

    OPEN = "open"
    """It stands, and its round is not settled."""
    WON = "won"
    LOST = "lost"
    KEPT_OUT = "kept-out"
    """The limits kept its whole stake out of the settlement and returned it."""
    VOID = "void"
    """Its round is void; the stake was returned."""
    TAKEN_BACK = "taken-back"
    """Its player took it back before the close."""
    WITHDRAWN = "withdrawn"
    """Its player withdrew it when the rules gave that choice."""
    RETURNED = "returned"
    """It was returned by decision."""

    @property
    def is_settled(self) -> bool:
        """Whether the bet is part of the settlement of its round."""
        return self in _SETTLED

    @property
    def left_early(self) -> bool:
        """Whether the bet left the layout before its round was settled."""
        return self in _LEFT_EARLY


_WON: Final = BetState.WON  # names of their own are faster to look up
_LOST: Final = BetState.LOST
_SETTLED: Final = frozenset({_WON, _LOST, BetState.KEPT_OUT})
_LEFT_EARLY: Final = frozenset({BetState.TAKEN_BACK, BetState.WITHDRAWN, BetState.RETURNED})


class AnyBet(Protocol):
    """A stake on an area, whatever else is known of the bet."""

    @property
    def area(self) -> str: ...
    @property
    def stake(self) -> int: ...


AnyBetT = TypeVar("AnyBetT", bound=AnyBet)


class BetRecord(NamedTuple, Generic[AnyBetT]):
    """A bet and what became of it."""

    bet: AnyBetT
    state: BetState
    won: int = 0
    """Winnings without the stake; 0 if the bet loses."""
    returned: int = 0
    """Everything that came back: the stake and winnings of a winner, and what the limits kept out."""
    clause: Clause | None = None
    """The clause by which it won, lost or came back; None while it is open."""
    kept_out: int = 0
    """The part of the stake that the limits kept out of the settlement. It is always returned."""
    kept_out_by: Clause | None = None

    @property
    def area(self) -> str:
        """The area of the bet."""
        return self.bet.area

    @property
    def stake(self) -> int:
        """The stake of the bet."""
        return self.bet.stake


def settled_record(
    bet: AnyBetT, returned: int, clause: Clause, kept_out: int = 0, kept_out_by: Clause | None = None
) -> BetRecord[AnyBetT]:
    """The record of a settled bet; `returned` is what comes back of the part of the stake in play."""
    in_play = bet.stake - kept_out
    won = max(0, returned - in_play)
    state = _WON if won else _LOST if in_play else BetState.KEPT_OUT
    return BetRecord(bet, state, won, returned + kept_out, clause, kept_out, kept_out_by)


class Settlement(NamedTuple):
    """The results of all bets of a round."""

    outcome: Outcome
    staked: Money
    returned: Money
    bets: tuple[BetRecord[Bet], ...]


def bet_refusal(matrix: Matrix, bet: Bet) -> BetRefusal | None:
    if bet.area not in matrix.rows:
        where = f"{matrix.rulebook} layout {matrix.layout}"
        message = f"unknown area {bet.area!r} on {where}{_similar_areas(matrix, bet)}"
        return BetRefusal(BetRefusalReason.NOT_ON_LAYOUT, matrix.layout_clause, message)
    if type(bet.stake) is not int:
        message = f"expected a whole stake on {bet.area}, got {bet.stake!r}"
        return BetRefusal(BetRefusalReason.STAKE_NOT_WHOLE, Clause("house:stakes"), message)
    if bet.stake <= 0:
        message = f"expected a stake above 0 on {bet.area}, got {bet.stake}"
        return BetRefusal(BetRefusalReason.STAKE_NOT_POSITIVE, Clause("house:stakes"), message)
    if bet.stake > GREATEST_SUM:
        return _beyond("stake", bet.stake)
    for win in matrix.wins[matrix.rows[bet.area]]:
        if bet.stake * win.net % matrix.denominator:
            step = matrix.denominator // gcd(win.net, matrix.denominator)
            expected = f"a stake on {bet.area} in steps of {step}, because it wins {win.odds}"
            message = f"expected {expected}, got {bet.stake}"
            return BetRefusal(BetRefusalReason.WINNINGS_NOT_WHOLE, Clause("house:whole-money"), message)
    return None


def _similar_areas(matrix: Matrix, bet: Bet) -> str:
    from difflib import get_close_matches

    similar = get_close_matches(str(bet.area)[:40].lower(), matrix.areas, n=3)
    return f"; similar areas: {', '.join(similar)}" if similar else ""


def first_refusal(refusals: Iterable[BetRefusal | None]) -> BetRefusal | None:
    """The refusal with the lowest rank; of equal ranks, the first."""
    return min(
        (refusal for refusal in refusals if refusal), key=lambda refusal: refusal.reason.rank, default=None
    )


def settle_bets(matrix: Matrix, outcome: Outcome, bets: Iterable[Bet]) -> Settlement | BetRefusal:
    if not isinstance(outcome, Outcome):
        raise RulesError(f"expected an Outcome such as Outcome.of(2, 3, 5), got {outcome!r}")
    settled: list[BetRecord[Bet]] = []
    refusals: list[BetRefusal | None] = []
    for place, bet in enumerate(bets):
        if not isinstance(bet, Bet):
            raise RulesError(f"expected bets such as Bet.on('small', 100), got {bet!r}")
        refusal = bet_refusal(matrix, bet)
        if refusal is None:
            settled.append(_settled(matrix, outcome, bet))
            if settled[-1].returned > GREATEST_SUM:
                refusal = _beyond("return", settled[-1].returned)
        refusals.append(refusal._replace(bet=place) if refusal else None)
    staked = sum(record.bet.stake for record in settled)
    returned = sum(record.returned for record in settled)
    for what, amount in (("total staked", staked), ("total returned", returned)):
        if amount > GREATEST_SUM:
            refusals.append(_beyond(what, amount))
    return first_refusal(refusals) or Settlement(outcome, Money(staked), Money(returned), tuple(settled))


def _settled(matrix: Matrix, outcome: Outcome, bet: Bet) -> BetRecord[Bet]:
    row = matrix.rows[bet.area]
    net, clause = matrix.nets[row][outcome.index], matrix.clauses[row][outcome.index]
    if net < 0:
        return BetRecord(bet, _LOST, 0, 0, clause)
    won = bet.stake * net // matrix.denominator
    return BetRecord(bet, _WON, won, bet.stake + won, clause)


def _beyond(what: str, amount: int) -> BetRefusal:
    message = f"expected a {what} of at most 2^53 - 1, got {printable(str(amount))}"
    return BetRefusal(BetRefusalReason.BEYOND_GREATEST_SUM, Clause("house:greatest-sum"), message)

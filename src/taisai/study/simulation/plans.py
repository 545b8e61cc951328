"""What a simulation plays: sessions with a bankroll, and shoes that are dealt and shuffled."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import comb, gcd, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import DICE, FACES, Outcome
from taisai.study.odds import Mix
from taisai.study.shoe.composition import rounds_dealt
from taisai.study.simulation.draws import Classes, Walk
from taisai.study.staking import START, System

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PLAYING: Final = 0
PLAYED_OUT: Final = 1
RUINED: Final = 2
REACHED: Final = 3
ENDS: Final = {PLAYING: "cut short", PLAYED_OUT: "played out", RUINED: "ruined", REACHED: "target reached"}
ENDLESS: Final = 2**61
"""The bankroll of a player without a bankroll, and the target of a player without a target."""
MOST_SESSIONS: Final = 10_000_000  # the most sessions; the result of each takes 64 bytes
_KINDS: Final = 7


class SessionPlan(NamedTuple):
    """What every session of a simulation plays."""

    classes: Classes
    system: System
    staked: int  # the stake at multiple 1, in minor units
    least: int  # the least multiple that the table accepts
    bankroll: int
    target: int
    rounds: int  # the most rounds of a session

    def jumps(self) -> list[int]:
        """[class × states + state] → the next state."""
        return [state for value in self.classes.values for state in self.system.after(value)]

    def checked(self) -> SessionPlan:
        """Returns the plan. Raises an error if the bankroll is too small, or sums could exceed 64 bits."""
        needed = self.least * self.staked
        if self.bankroll < needed:
            raise RulesError(
                f"expected a bankroll of at least {needed:,}, the first stake, got {self.bankroll:,}"
            )
        if self.target <= self.bankroll:
            raise RulesError(
                f"expected a target above the bankroll of {self.bankroll:,}, got {self.target:,}"
            )
        swing = max(self.system.multiples) * max(map(abs, self.classes.values)) * self.classes.unit
        if swing * self.rounds + min(self.bankroll, ENDLESS) >= 2**62:
            raise RulesError(
                f"expected at most {(2**62 - self.bankroll) // swing:,} rounds in a session that may win or "
                f"lose {swing:,} in a round, got {self.rounds:,}"
            )
        return self


@dataclass(slots=True)
class Figures:
    """The state of some sessions, in arrays that a compiled loop continues."""

    first: int  # the number of the first session, which is the number of its stream
    count: int
    whole: npt.NDArray[np.int64]
    """Rows: bankroll, state, rounds, units staked, highest bankroll, drawdown, how it ended."""
    squares: npt.NDArray[np.float64]  # the sum over rounds of the squared units staked
    words: npt.NDArray[np.uint32] = field(repr=False)  # the state of the streams; empty before the first draw

    @staticmethod
    def begun(plan: SessionPlan, first: int, count: int) -> Figures:
        """The state before the first round."""
        import numpy as np

        whole = np.zeros((_KINDS, count), dtype=np.int64)
        whole[0] = whole[4] = plan.bankroll
        whole[1] = START
        return Figures(first, count, whole, np.zeros(count), np.empty((4, 0), dtype=np.uint32))

    def copied(self) -> Figures:
        """A copy that can be continued independently."""
        return replace(self, whole=self.whole.copy(), squares=self.squares.copy(), words=self.words.copy())

    @property
    def playing(self) -> bool:
        return not self.whole[6].all()

    @property
    def rounds(self) -> int:
        return int(self.whole[2].sum())


SIX: Final = len(FACES)
ROLLS: Final = tuple(Outcome.of(a, b, c).index for a in FACES for b in FACES for c in FACES)
"""[36 × first + 6 × second + third card, from 0] → the index of the outcome."""
MOST_CARDS: Final = 65_535
"""The most cards of a shoe, because draws are mapped to cards by products of 16 bits."""


class SimulatedShoe(NamedTuple):
    """The cards of a shoe and when it is shuffled."""

    each: int
    """Cards of each face in a full shoe."""
    rounds: int
    """Dealt before the next shuffle."""

    @staticmethod
    def of(cards_per_face: int, decks: int, penetration: Fraction | None) -> SimulatedShoe:
        """A shoe that is shuffled after this share of its cards; by default after every round."""
        each = cards_per_face * decks
        if SIX * each > MOST_CARDS:
            raise RulesError(f"expected a shoe of at most {MOST_CARDS:,} cards, got {SIX * each:,}")
        if penetration is None:
            return SimulatedShoe(each, 1)
        return SimulatedShoe(each, rounds_dealt(SIX * each, penetration))


class Betting(NamedTuple):
    """Bets with a multiple for each that depends on the cards left in the shoe."""

    nets: tuple[tuple[int, ...], ...]  # [bet][outcome] in units
    stakes: tuple[int, ...]  # [bet] in units
    unit: int
    waiting: int  # the multiple while the expected value of the bet is 0 or less
    favoured: int  # the multiple while its expected value, computed exactly, is above 0

    @staticmethod
    def of(mix: Mix, *, waiting: int = 1, favoured: int = 1) -> Betting:
        """The bets of a mix. If both multiples are equal, the whole mix is one bet."""
        matrix: Matrix = mix.matrix
        if waiting == favoured:
            nets: tuple[tuple[int, ...], ...] = (tuple(net * waiting for net in mix.nets),)
            stakes: tuple[int, ...] = (mix.staked * waiting,)
            waiting = favoured = 1
        else:
            nets = tuple(
                tuple(stake * net // matrix.denominator for net in matrix.nets[matrix.row(area)])
                for area, stake in mix.stakes.items()
            )
            stakes = tuple(mix.stakes.values())
        unit = gcd(*stakes, *(net for row in nets for net in row))
        return Betting(
            tuple(tuple(net // unit for net in row) for row in nets),
            tuple(stake // unit for stake in stakes),
            unit,
            waiting,
            favoured,
        )

    @property
    def greatest(self) -> int:
        """The greatest stake, win or loss of a round, in units."""
        most = max(self.waiting, self.favoured)
        return most * sum(
            max(stake, *map(abs, row)) for row, stake in zip(self.nets, self.stakes, strict=True)
        )


class Dealt(NamedTuple):
    """The results of some shoes, in units, with the sums for the variance between shoes."""

    shoes: int = 0
    rounds: int = 0
    staked: int = 0
    walk: Walk = Walk()
    net_squared: int = 0
    net_by_staked: int = 0
    staked_squared: int = 0

    def then(self, other: Dealt) -> Dealt:
        """These shoes and the next ones together."""
        return Dealt(
            self.shoes + other.shoes,
            self.rounds + other.rounds,
            self.staked + other.staked,
            self.walk.then(other.walk),
            self.net_squared + other.net_squared,
            self.net_by_staked + other.net_by_staked,
            self.staked_squared + other.staked_squared,
        )

    def standard_error(self) -> float | None:
        """The standard error of the net per unit staked, by the variance between shoes; None for one shoe."""
        if self.shoes < 2 or not self.staked:
            return None
        share = Fraction(self.walk.net, self.staked)
        spread = self.net_squared - 2 * share * self.net_by_staked + share * share * self.staked_squared
        return sqrt(spread * self.shoes / (self.shoes - 1)) / self.staked


def most_shoes(shoe: SimulatedShoe, betting: Betting) -> int:
    """How many shoes one call may deal so that every sum fits into 64 bits."""
    swing = shoe.rounds * betting.greatest
    most = 2**62 // (swing * swing)
    weight = comb(SIX * shoe.each, DICE) * betting.greatest
    if most < 1 or weight >= 2**62:
        raise RulesError(
            "bets too high: sums of their squares would exceed 64 bits; "
            f"one shoe of {shoe.rounds} rounds could win or lose {swing * betting.unit:,}"
        )
    return most

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
"""How a session ends, in words."""
ENDLESS: Final = 2**61
"""The bankroll of a player who has none to lose, and the target of one who has none to reach."""
MOST_SESSIONS: Final = 10_000_000
"""Whose ends are all kept, at 64 bytes each."""
_KINDS: Final = 7


class SessionPlan(NamedTuple):
    """What every session of a simulation plays."""

    classes: Classes
    system: System
    staked: int
    """By the unit of the system, in minor units."""
    least: int
    """The least multiple that the table takes."""
    bankroll: int
    target: int
    rounds: int
    """At most, of one session."""

    def jumps(self) -> list[int]:
        """[class × states + state] the state that follows."""
        return [state for value in self.classes.values for state in self.system.after(value)]

    def checked(self) -> SessionPlan:
        """The plan, if it can be played within 64 bits and its bankroll covers a first round."""
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
    """Where some sessions stand, in arrays; a kernel plays them on."""

    first: int
    """The number of the first of them, which names its stream."""
    count: int
    whole: npt.NDArray[np.int64]
    """Bankroll, state, rounds, units staked, highest, drawdown, how it ended."""
    squares: npt.NDArray[np.float64]
    """The sum of the squares of the units staked, round by round."""
    words: npt.NDArray[np.uint32] = field(repr=False)
    """The streams; empty until the first draw."""

    @staticmethod
    def begun(plan: SessionPlan, first: int, count: int) -> Figures:
        """All at the start."""
        import numpy as np

        whole = np.zeros((_KINDS, count), dtype=np.int64)
        whole[0] = whole[4] = plan.bankroll
        whole[1] = START
        return Figures(first, count, whole, np.zeros(count), np.empty((4, 0), dtype=np.uint32))

    def copied(self) -> Figures:
        """The same, to be played on; these stay where they are."""
        return replace(self, whole=self.whole.copy(), squares=self.squares.copy(), words=self.words.copy())

    @property
    def playing(self) -> bool:
        """Whether any has not ended."""
        return not self.whole[6].all()

    @property
    def rounds(self) -> int:
        """Played in all."""
        return int(self.whole[2].sum())


SIX: Final = len(FACES)
ROLLS: Final = tuple(Outcome.of(a, b, c).index for a in FACES for b in FACES for c in FACES)
"""[36 × first + 6 × second + third card, from 0] the place among the 56 outcomes."""
MOST_CARDS: Final = 65_535
"""In a shoe: a draw is cut into cards by products of 16 bits."""


class SimulatedShoe(NamedTuple):
    """What is dealt and when it is shuffled."""

    each: int
    """Cards of each face in a full shoe."""
    rounds: int
    """Dealt before the next shuffle."""

    @staticmethod
    def of(cards_per_face: int, decks: int, penetration: Fraction | None) -> SimulatedShoe:
        """A shoe of so many decks, dealt to a share of its cards; without one, shuffled after every round."""
        each = cards_per_face * decks
        if SIX * each > MOST_CARDS:
            raise RulesError(f"expected a shoe of at most {MOST_CARDS:,} cards, got {SIX * each:,}")
        if penetration is None:
            return SimulatedShoe(each, 1)
        return SimulatedShoe(each, rounds_dealt(SIX * each, penetration))


class Betting(NamedTuple):
    """Bets that are made or not, each by itself, as the cards left in the shoe have it."""

    nets: tuple[tuple[int, ...], ...]
    """[bet][outcome] in units."""
    stakes: tuple[int, ...]
    """[bet] in units."""
    unit: int
    waiting: int
    """How many times a bet is made when the cards left do not favour it."""
    favoured: int
    """How many times when they do: its expectation is above 0, exactly."""

    @staticmethod
    def of(mix: Mix, *, waiting: int = 1, favoured: int = 1) -> Betting:
        """Flat where both are 1: then the whole mix is one bet."""
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
        """The most that a round can stake, win or lose, in units."""
        most = max(self.waiting, self.favoured)
        return most * sum(
            max(stake, *map(abs, row)) for row, stake in zip(self.nets, self.stakes, strict=True)
        )


class Dealt(NamedTuple):
    """What so many shoes came to, in units; sums over shoes for the spread of a shoe."""

    shoes: int = 0
    rounds: int = 0
    staked: int = 0
    walk: Walk = Walk()
    net_squared: int = 0
    net_by_staked: int = 0
    staked_squared: int = 0

    def then(self, other: Dealt) -> Dealt:
        """These shoes and those after them, as one."""
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
        """Of the net for each unit staked, from how shoes differ; None where there are fewer than two."""
        if self.shoes < 2 or not self.staked:
            return None
        share = Fraction(self.walk.net, self.staked)
        spread = self.net_squared - 2 * share * self.net_by_staked + share * share * self.staked_squared
        return sqrt(spread * self.shoes / (self.shoes - 1)) / self.staked


def most_shoes(shoe: SimulatedShoe, betting: Betting) -> int:
    """How many shoes one call may deal so that every sum fits 64 bits; refuses where not one does."""
    swing = shoe.rounds * betting.greatest
    most = 2**62 // (swing * swing)
    weight = comb(SIX * shoe.each, DICE) * betting.greatest
    if most < 1 or weight >= 2**62:
        raise RulesError(
            f"expected bets that win or lose less in one shoe of {shoe.rounds} rounds, "
            f"got up to {swing * betting.unit:,}"
        )
    return most

"""What a simulation plays: random draws, walks of money, sessions with a bankroll, and shoes.

A stream is a sequence of Chris Doty-Humphrey's generator sfc32 (three words and a counter). It starts from
the seed, the purpose and its own number, so that the digits do not depend on the worker that draws it.

Rounds are in chunks of lanes. Each lane is a stream and a walk; walks are joined in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from itertools import accumulate
from math import comb, gcd, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from taisai.rules.errors import RulesError
from taisai.rules.outcomes import DICE, FACES, Outcome
from taisai.study import needed
from taisai.study.odds import Distribution, Mix
from taisai.study.shoe.composition import rounds_dealt
from taisai.study.staking import START, System

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOST_SEED: Final = 2**64 - 1
WORD: Final = 2**32  # draws are whole numbers below this
WARMING: Final = 15  # draws discarded at the start of a stream, so that its initial bits are mixed


def key(seed: int, purpose: str) -> tuple[int, int, int, int]:
    """The four words from which the streams of a seed and a purpose start."""
    if type(seed) is not int or not 0 <= seed <= MOST_SEED:
        raise RulesError(f"expected a seed from 0 to 2^64 - 1, got {seed!r}")
    digest = sha256(f"taisai simulate {purpose} {seed}".encode("ascii")).digest()
    one, two, three, four = (int.from_bytes(digest[at : at + 8], "little") for at in range(0, 32, 8))
    return one, two, three, four


LANES: Final = 256  # many, so that the compiler can use vector instructions
STEPS: Final = 4096  # rounds of a lane
CHUNK: Final = LANES * STEPS  # rounds of a chunk
SHORT_NET: Final = (2**31 - 1) // STEPS
"""The greatest net of a round for which all sums of a lane fit into 32 bits."""


class Walk(NamedTuple):
    """Some consecutive rounds: their net, the highest and the lowest partial sum, and the drawdown.

    >>> Walk.of([5, -3, -4, 1])
    Walk(net=-1, highest=5, lowest=-2, drawdown=7)
    >>> Walk.of([5, -3]).then(Walk.of([-4, 1])) == Walk.of([5, -3, -4, 1])
    True
    """

    net: int = 0
    highest: int = 0  # 0 or more, because the start counts
    lowest: int = 0
    drawdown: int = 0  # the greatest fall from a high to a later low

    @staticmethod
    def of(nets: list[int]) -> Walk:
        walk = Walk()
        for net in nets:
            walk = walk.then(Walk(net, max(net, 0), min(net, 0), max(-net, 0)))
        return walk

    def then(self, other: Walk) -> Walk:
        return Walk(
            self.net + other.net,
            max(self.highest, self.net + other.highest),
            min(self.lowest, self.net + other.lowest),
            max(self.drawdown, other.drawdown, self.highest - self.net - other.lowest),
        )

    def times(self, unit: int) -> Walk:
        """The same walk in a smaller unit of money."""
        return Walk(*(unit * figure for figure in self))


GREATEST_NET: Final = 2**42  # the greatest net of a round, in its unit: 2^20 rounds still fit into 64 bits
MOST_CASES: Final = 2**28
"""The most equally likely cases: with more, over a sixteenth of all draws could be rejected."""


class Classes(NamedTuple):
    """A distribution prepared for sampling: draws below limits[0] give values[0], and so on.

    Each of the equally likely cases has the same number of draws. The few remaining draws, at or above the
    last limit, are rejected, so that there is no bias.
    """

    values: tuple[int, ...]  # ascending, in units
    limits: tuple[int, ...]
    unit: int

    @staticmethod
    def of(distribution: Distribution) -> Classes:
        shared = gcd(*distribution.weights)
        total = distribution.total // shared
        if total > MOST_CASES:
            raise RulesError(f"expected at most {MOST_CASES:,} equally likely cases, got {total:,}")
        unit = gcd(*distribution.values) or 1
        values = tuple(value // unit for value in distribution.values)
        greatest = max(map(abs, values))
        if greatest > GREATEST_NET:
            raise RulesError(
                f"expected at most {GREATEST_NET * unit:,} won or lost in a round to simulate, "
                f"got {greatest * unit:,}"
            )
        each = (WORD - 1) // total
        limits = tuple(each * reached // shared for reached in accumulate(distribution.weights))
        return Classes(values, limits, unit)


def drawn_counts(distribution: Distribution, rounds: int, key: tuple[int, ...]) -> tuple[int, ...]:
    """[value] how many of the rounds have this value: a sample of the multinomial distribution.

    Each count is binomial, given the earlier ones. Conditional probabilities are rounded to 53 bits, which
    shifts an expected count by less than one round in 10^15.
    """
    with needed("numpy", "study"):
        import numpy as np

    draw = np.random.Generator(np.random.SFC64(np.random.SeedSequence(list(key))))
    counts = []
    weight_left, rounds_left = distribution.total, rounds
    for weight in distribution.weights[:-1]:
        count = int(draw.binomial(rounds_left, weight / weight_left)) if rounds_left else 0
        counts.append(count)
        weight_left -= weight
        rounds_left -= count
    return (*counts, rounds_left)


# ── sessions ─────────────────────────────────────────────────────────────────────────────────────────

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


# ── shoes ────────────────────────────────────────────────────────────────────────────────────────────

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
        matrix = mix.matrix
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
        nets = tuple(tuple(net // unit for net in row) for row in nets)
        return Betting(nets, tuple(stake // unit for stake in stakes), unit, waiting, favoured)

    @property
    def greatest(self) -> int:
        """The greatest stake, win or loss of a round, in units."""
        most = max(self.waiting, self.favoured)
        bets = zip(self.nets, self.stakes, strict=True)
        return most * sum(max(stake, *map(abs, row)) for row, stake in bets)


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
        return Dealt(
            self.shoes + other.shoes, self.rounds + other.rounds, self.staked + other.staked,
            self.walk.then(other.walk), *map(int.__add__, self[4:], other[4:]),
        )  # fmt: skip

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

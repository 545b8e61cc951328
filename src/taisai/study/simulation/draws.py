"""Random draws: streams from a seed, classes of draws, walks of money, and multinomial counts.

A stream is a sequence of Chris Doty-Humphrey's generator sfc32 (three words and a counter). It starts from
the seed, the purpose and its own number, so that the digits do not depend on the worker that draws it.

Rounds are in chunks of lanes. Each lane is a stream and a walk; walks are joined in order.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import accumulate
from math import gcd
from typing import Final, NamedTuple

from taisai.rules.errors import RulesError
from taisai.study import needed
from taisai.study.odds import Distribution

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
        """The walk of rounds with these nets."""
        walk = Walk()
        for net in nets:
            walk = walk.then(Walk(net, max(net, 0), min(net, 0), max(-net, 0)))
        return walk

    def then(self, other: Walk) -> Walk:
        """This walk continued by another."""
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
        """The classes of a distribution."""
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

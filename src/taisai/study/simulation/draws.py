"""Streams: as many independent sequences of random numbers as are wanted, all out of one seed.

Each stream is Chris Doty-Humphrey's sfc32 (three words and a counter), begun from the seed, the purpose and
the stream's own number, so that who draws it, when, and beside whom, changes no digit.

How rounds are laid out: chunks of lanes, every lane a stream and a walk of its own, joined in order.

Walks: where money stood after each round, in four figures that join exactly.

Classes: which draws of 32 bits stand for which net, with no bias at all.

Totals at once: how often each net comes in any number of rounds, drawn as one multinomial.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import accumulate
from math import gcd
from typing import Final, NamedTuple

from taisai.rules.errors import RulesError
from taisai.study import needed
from taisai.study.odds import Law

MOST_SEED: Final = 2**64 - 1
WORD: Final = 2**32
"""A draw is a whole number below this."""
WARMING: Final = 15
"""Draws thrown away before the first, until every bit of the beginning has touched every other."""


def key(seed: int, purpose: str) -> tuple[int, int, int, int]:
    """Four words that begin all streams of a seed and a purpose."""
    if type(seed) is not int or not 0 <= seed <= MOST_SEED:
        raise RulesError(f"expected a seed from 0 to 2^64 - 1, got {seed!r}")
    digest = sha256(f"taisai simulate {purpose} {seed}".encode("ascii")).digest()
    one, two, three, four = (int.from_bytes(digest[at : at + 8], "little") for at in range(0, 32, 8))
    return one, two, three, four


LANES: Final = 256
"""Side by side, so that a processor works on eight at once."""
STEPS: Final = 4096
"""Rounds of a lane."""
CHUNK: Final = LANES * STEPS
"""Rounds of a chunk: the same whoever draws it."""
SHORT_NET: Final = (2**31 - 1) // STEPS
"""The greatest net of a round for which a whole lane fits 32 bits."""


class Walk(NamedTuple):
    """A stretch of rounds: what it came to, how high and how low it stood, and its deepest fall.

    >>> Walk.of([5, -3, -4, 1])
    Walk(net=-1, highest=5, lowest=-2, drawdown=7)
    >>> Walk.of([5, -3]).then(Walk.of([-4, 1])) == Walk.of([5, -3, -4, 1])
    True
    """

    net: int = 0
    highest: int = 0
    """Above the start; 0 if never."""
    lowest: int = 0
    drawdown: int = 0
    """The deepest fall from a height to a later low."""

    @staticmethod
    def of(nets: list[int]) -> Walk:
        """The walk of these rounds."""
        walk = Walk()
        for net in nets:
            walk = walk.then(Walk(net, max(net, 0), min(net, 0), max(-net, 0)))
        return walk

    def then(self, other: Walk) -> Walk:
        """This stretch and the one after it, as one."""
        return Walk(
            self.net + other.net,
            max(self.highest, self.net + other.highest),
            min(self.lowest, self.net + other.lowest),
            max(self.drawdown, other.drawdown, self.highest - self.net - other.lowest),
        )

    def times(self, unit: int) -> Walk:
        """The same walk in smaller units of money."""
        return Walk(*(unit * figure for figure in self))


GREATEST_NET: Final = 2**42
"""Of one round, in its unit: 2^20 rounds of it still fit 64 bits, whatever order they come in."""
MOST_CASES: Final = 2**28
"""Equally likely cases of a law: above it more than one draw in sixteen might be thrown away."""


class Classes(NamedTuple):
    """A law cut for drawing: a draw below limits[0] brings values[0], below limits[1] values[1], and so on.

    Every one of the law's equally likely cases gets the same number of draws; the few draws that are left
    over, at or above the last limit, are thrown away.
    """

    values: tuple[int, ...]
    """In units, ascending."""
    limits: tuple[int, ...]
    unit: int

    @staticmethod
    def of(law: Law) -> Classes:
        """Cuts the 2^32 draws into the classes of a law."""
        shared = gcd(*law.weights)
        total = law.total // shared
        if total > MOST_CASES:
            raise RulesError(f"expected a law of at most {MOST_CASES:,} equally likely cases, got {total:,}")
        unit = gcd(*law.values) or 1
        values = tuple(value // unit for value in law.values)
        greatest = max(map(abs, values))
        if greatest > GREATEST_NET:
            raise RulesError(
                f"expected at most {GREATEST_NET * unit:,} won or lost in a round to simulate, "
                f"got {greatest * unit:,}"
            )
        each = (WORD - 1) // total
        limits = tuple(each * reached // shared for reached in accumulate(law.weights))
        return Classes(values, limits, unit)


def drawn_counts(law: Law, rounds: int, key: tuple[int, ...]) -> tuple[int, ...]:
    """[value of the law] in how many of the rounds it came.

    One binomial a value, each out of the rounds that are left: the exact law of the counts, but for the
    rounding of each conditional probability to 53 bits, which moves a mean by less than one round in 10^15.
    """
    with needed("numpy", "study"):
        import numpy as np

    draw = np.random.Generator(np.random.SFC64(np.random.SeedSequence(list(key))))
    counts = []
    weight_left, rounds_left = law.total, rounds
    for weight in law.weights[:-1]:
        count = int(draw.binomial(rounds_left, weight / weight_left)) if rounds_left else 0
        counts.append(count)
        weight_left -= weight
        rounds_left -= count
    return (*counts, rounds_left)

"""Tolerance bands: where the observed edge of one bet, staked equally each round, lies after so many rounds.

A band is central: at most (1 − level)/2 of all samples lie below it, at most as many above, and neither end
could move inwards. Totals are discrete, so it holds a little more than its level; how much is its share.
Bands of few rounds come from whole numbers, those of many from a wave with a proven error. Where that error
leaves in doubt which of two neighbours is the end, the outer one is: a band never holds less than its level.
Beyond the window that is worth its time it is normal, with the Berry–Esseen bound as its error.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import floor, log10, sqrt
from statistics import NormalDist
from typing import Final, NamedTuple

from taisai.rules.errors import RulesError
from taisai.study.odds import Law
from taisai.study.session.sums import Lattice, Wave, sparse_sum_law, sum_law, window, windowed_wave

BAND_LEVELS: Final = (Fraction(90, 100), Fraction(95, 100), Fraction(99, 100))
"""The shares of all samples that a tolerance band holds at least."""
ROUNDS: Final = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
MOST_ROUNDS: Final = 10**15
MOST_WINDOW: Final = 2**21
"""Points of a transform, which takes a second: a thousand million rounds of any bet of the game."""
MOST_EXACT: Final = 1_000
"""Rounds to which bands come from whole numbers."""
MOST_BYTES: Final = 2**24
"""Memory for those whole numbers, which is a quarter of a second's work."""
MOST_SPARSE: Final = 2**13
"""Totals that may be gone through one by one where they lie too far apart for that."""
WORST_ERROR: Final = 1e-6
"""A wave that is further off is not used."""
BERRY_ESSEEN: Final = 0.4748
"""The least constant proven for sums of equal laws (Shevtsova, 2011)."""
TRUSTED: Final = 0.05
"""A band whose share may be further off than this is marked."""
_U: Final = 2.0**-53


class Method(StrEnum):
    """How a band was reckoned."""

    WHOLE_NUMBERS = "whole-numbers"
    """From the exact law of the total."""
    WAVE = "wave"
    """From the law by FFT, with a proven error."""
    NORMAL = "normal"
    """As if the total were normal, with the Berry–Esseen bound."""


class Band(NamedTuple):
    """Where the observed edge lies, with the probability `level` at least, after so many rounds."""

    rounds: int
    level: Fraction
    low: float
    high: float
    """Both ends belong to the band, and unless it is normal they can come: each to the nearest float."""
    share: float
    """The probability of an observed edge within the band."""
    error: float
    """How far the true share may be from that at most."""
    method: Method

    @property
    def is_rough(self) -> bool:
        """Whether nobody can promise its share within five percentage points."""
        return self.error > TRUSTED

    def percent(self) -> str:
        """For a table, in per cent: to two decimals, or as many as show that the ends differ."""
        wide = 100 * (self.high - self.low)
        places = min(12, max(2, 1 - floor(log10(wide)))) if wide else 2
        return f"{'≈ ' if self.is_rough else ''}{100 * self.low:.{places}f} … {100 * self.high:.{places}f}"


def tolerance_band(law: Law, denominator: int, rounds: int, level: Fraction) -> Band:
    """The band of a bet whose net, in 1/denominator of what is staked, follows this law.

    >>> coin = Law.of([(-1, 1), (1, 1)])
    >>> band = tolerance_band(coin, 1, 100, Fraction(95, 100))
    >>> band.low, band.high, round(band.share, 6), band.method.value
    (-0.2, 0.2, 0.9648, 'whole-numbers')
    """
    if type(rounds) is not int or not 1 <= rounds <= MOST_ROUNDS:
        raise RulesError(f"expected 1 to {MOST_ROUNDS} rounds for a band, got {rounds}")
    if not 0 < level < 1:
        raise RulesError(f"expected a level between 0 and 1 for a band, got {level}")
    lattice = Lattice.of(law)
    levels = BAND_LEVELS if level in BAND_LEVELS else (Fraction(level),)
    ends = _ends(lattice._replace(low=0, step=1), rounds, levels)[levels.index(level)]
    if ends is None:
        return normal_band(law, denominator, rounds, level)
    # What the player wins the house loses: the greatest total is the least edge.
    low, high = (
        float(-Fraction(rounds * lattice.low + lattice.step * place, rounds * denominator))
        for place in (ends.last, ends.first)
    )
    return Band(rounds, level, low, high, ends.share, ends.error, ends.method)


def normal_band(law: Law, denominator: int, rounds: int, level: Fraction) -> Band:
    """The same as if totals were normal: quick at any number of rounds, further off the fewer they are."""
    half = -NormalDist().inv_cdf(float((1 - level) / 2)) * law.deviation / denominator / sqrt(rounds)
    edge = float(-law.mean / denominator)
    error = _berry_esseen(law, rounds)
    return Band(rounds, level, edge - half, edge + half, float(level), error, Method.NORMAL)


class _Ends(NamedTuple):
    """The first and the last place of the total's grid within a band."""

    first: int
    last: int
    share: float
    error: float
    method: Method


@lru_cache(maxsize=4096)
def _ends(lattice: Lattice, rounds: int, levels: tuple[Fraction, ...]) -> tuple[_Ends | None, ...]:
    """Of each level, from one law of the total; None where neither whole numbers nor a wave will do.

    Bets that win equally often and pay differently have one grid, and are reckoned once.
    """
    if not lattice.degree:
        return tuple(_Ends(0, 0, 1.0, 0.0, Method.WHOLE_NUMBERS) for _ in levels)
    tails = [(1 - level) / 2 for level in levels]
    if exact := _exact(lattice, rounds):
        return tuple(ends_of_law(exact, tail) for tail in tails)
    if window(lattice, rounds) > MOST_WINDOW:
        return tuple(None for _ in levels)
    wave = windowed_wave(lattice, rounds)
    # An error of the size of a tail says nothing about where the tail ends.
    return tuple(
        ends_of_wave(wave, tail) if wave.sum_error <= min(WORST_ERROR, float(tail) / 1_000) else None
        for tail in tails
    )


def _exact(lattice: Lattice, rounds: int) -> Law | None:
    """The law of the total in whole numbers where that is quick."""
    if rounds > MOST_EXACT:
        return None
    if lattice.bytes_of_sum(rounds) <= MOST_BYTES:
        return sum_law(lattice, rounds)
    return sparse_sum_law(lattice, rounds, sums) if (sums := lattice.sums(rounds)) <= MOST_SPARSE else None


def ends_of_law(law: Law, tail: Fraction) -> _Ends:
    """The ends that leave at most this tail on either side."""
    most = tail.numerator * law.total

    def end(weights: tuple[int, ...]) -> int:
        """How many values are beyond it."""
        return next(at for at, reached in enumerate(accumulate(weights)) if reached * tail.denominator > most)

    first, last = end(law.weights), len(law.values) - 1 - end(law.weights[::-1])
    share = sum(law.weights[first : last + 1]) / law.total
    return _Ends(law.values[first], law.values[last], share, _U, Method.WHOLE_NUMBERS)


def ends_of_wave(wave: Wave, tail: Fraction) -> _Ends:
    """The same, each end so far out that the wave's error cannot make its tail too great."""
    bound = float(tail) - wave.sum_error
    places = range(wave.low, wave.low + len(wave.probabilities))
    first = places[bisect_right(places, bound, key=lambda place: wave.probability(at_most=place))]
    last = places[bisect_left(places, -bound, key=lambda place: -wave.probability(at_least=place)) - 1]
    share = max(wave.probability(at_least=first, at_most=last), float(1 - 2 * tail))
    return _Ends(first, last, share, wave.sum_error, Method.WAVE)


def _berry_esseen(law: Law, rounds: int) -> float:
    """Twice the bound, since a band has two ends."""
    mean = law.mean
    pairs = zip(law.values, law.weights, strict=True)
    third = sum((weight * abs(value - mean) ** 3 for value, weight in pairs), Fraction(0)) / law.total
    return min(1.0, 2 * BERRY_ESSEEN * float(third) / law.deviation**3 / sqrt(rounds))

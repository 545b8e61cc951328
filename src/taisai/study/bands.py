"""Tolerance bands: the range of the observed edge of a bet after a number of rounds with equal stakes.

A band is central: its ends are the innermost totals with at most (1 − level)/2 of the probability on either
side. Totals are discrete, so the band contains slightly more than its level; the exact amount is its share.
With few rounds, bands come from exact distributions; with many, from an FFT with a proven error bound. If
that bound leaves two candidates for an end, the outer one is taken, so that a band never contains less than
its level. If the FFT would take too long, the band is normal, with the Berry–Esseen bound as its error.
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
from taisai.study.odds import Distribution
from taisai.study.session.sums import (
    FourierDistribution,
    Lattice,
    sparse_sum_distribution,
    sum_distribution,
    window,
    windowed_fft,
)

BAND_LEVELS: Final = (Fraction(90, 100), Fraction(95, 100), Fraction(99, 100))
"""The least probability of an edge within a band."""
ROUNDS: Final = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
MOST_ROUNDS: Final = 10**15
MOST_WINDOW: Final = 2**21
"""The most points of an FFT; they take a second, and suffice for 10^9 rounds of any bet."""
MOST_EXACT: Final = 1_000  # the most rounds for an exact distribution
MOST_BYTES: Final = 2**24  # the most memory of an exact distribution, about a quarter of a second of work
MOST_SPARSE: Final = 2**13  # the most totals of a sparse exact distribution
WORST_ERROR: Final = 1e-6  # a distribution by FFT with a greater error bound is not used
BERRY_ESSEEN: Final = 0.4748  # the best known constant for sums of identical distributions (Shevtsova, 2011)
TRUSTED: Final = 0.05  # a band whose share has a greater error bound is marked
_U: Final = 2.0**-53


class Method(StrEnum):
    """How a band was computed."""

    WHOLE_NUMBERS = "whole-numbers"
    """From the exact distribution of the total."""
    WAVE = "wave"
    """From the distribution by FFT, with an error bound."""
    NORMAL = "normal"
    """By the normal approximation, with the Berry–Esseen bound."""


class Band(NamedTuple):
    """The range that contains the observed edge with probability `level` or more."""

    rounds: int
    level: Fraction
    low: float
    high: float
    """Both ends belong to the band; unless it is normal, both are possible edges."""
    share: float
    """The probability of an observed edge within the band."""
    error: float
    """The error bound of the share."""
    method: Method

    @property
    def is_rough(self) -> bool:
        """Whether the error bound of its share exceeds five percentage points."""
        return self.error > TRUSTED

    def percent(self) -> str:
        """Both ends in per cent, with two decimals or as many as show that they differ."""
        wide = 100 * (self.high - self.low)
        places = min(12, max(2, 1 - floor(log10(wide)))) if wide else 2
        return f"{'≈ ' if self.is_rough else ''}{100 * self.low:.{places}f} … {100 * self.high:.{places}f}"


def tolerance_band(distribution: Distribution, denominator: int, rounds: int, level: Fraction) -> Band:
    """The band of a bet with this distribution of the net, in 1/denominator of the stake.

    >>> coin = Distribution.of([(-1, 1), (1, 1)])
    >>> band = tolerance_band(coin, 1, 100, Fraction(95, 100))
    >>> band.low, band.high, round(band.share, 6), band.method.value
    (-0.2, 0.2, 0.9648, 'whole-numbers')
    """
    if type(rounds) is not int or not 1 <= rounds <= MOST_ROUNDS:
        raise RulesError(f"expected 1 to {MOST_ROUNDS} rounds for a band, got {rounds}")
    if not 0 < level < 1:
        raise RulesError(f"expected a level between 0 and 1 for a band, got {level}")
    lattice = Lattice.of(distribution)
    levels = BAND_LEVELS if level in BAND_LEVELS else (Fraction(level),)
    ends = _ends(lattice._replace(low=0, step=1), rounds, levels)[levels.index(level)]
    if ends is None:
        return normal_band(distribution, denominator, rounds, level)
    # The greatest total of the player is the least edge of the house.
    low, high = (
        float(-Fraction(rounds * lattice.low + lattice.step * place, rounds * denominator))
        for place in (ends.last, ends.first)
    )
    return Band(rounds, level, low, high, ends.share, ends.error, ends.method)


def normal_band(distribution: Distribution, denominator: int, rounds: int, level: Fraction) -> Band:
    """The band by the normal approximation: fast for any number of rounds, less accurate for few."""
    half = -NormalDist().inv_cdf(float((1 - level) / 2)) * distribution.deviation / denominator / sqrt(rounds)
    edge = float(-distribution.mean / denominator)
    error = _berry_esseen(distribution, rounds)
    return Band(rounds, level, edge - half, edge + half, float(level), error, Method.NORMAL)


class _Ends(NamedTuple):
    """The first and the last lattice point of the total within a band."""

    first: int
    last: int
    share: float
    error: float
    method: Method


@lru_cache(maxsize=4096)
def _ends(lattice: Lattice, rounds: int, levels: tuple[Fraction, ...]) -> tuple[_Ends | None, ...]:
    """The ends for each level; None if neither the exact distribution nor the FFT is suitable.

    Bets that differ only in their odds have the same lattice, and are computed once.
    """
    if not lattice.degree:
        return tuple(_Ends(0, 0, 1.0, 0.0, Method.WHOLE_NUMBERS) for _ in levels)
    tails = [(1 - level) / 2 for level in levels]
    if exact := _exact(lattice, rounds):
        return tuple(exact_ends(exact, tail) for tail in tails)
    if window(lattice, rounds) > MOST_WINDOW:
        return tuple(None for _ in levels)
    wave = windowed_fft(lattice, rounds)
    # With an error as large as the tail, the end of the tail is unknown.
    return tuple(
        fft_ends(wave, tail) if wave.sum_error <= min(WORST_ERROR, float(tail) / 1_000) else None
        for tail in tails
    )


def _exact(lattice: Lattice, rounds: int) -> Distribution | None:
    """The exact distribution of the total, if it is fast to compute."""
    if rounds > MOST_EXACT:
        return None
    if lattice.bytes_of_sum(rounds) <= MOST_BYTES:
        return sum_distribution(lattice, rounds)
    sums = lattice.sums(rounds)
    return sparse_sum_distribution(lattice, rounds, sums) if sums <= MOST_SPARSE else None


def exact_ends(distribution: Distribution, tail: Fraction) -> _Ends:
    """The innermost ends with at most this probability on either side."""
    most = tail.numerator * distribution.total

    def outside(weights: tuple[int, ...]) -> int:
        return next(at for at, reached in enumerate(accumulate(weights)) if reached * tail.denominator > most)

    first = outside(distribution.weights)
    last = len(distribution.values) - 1 - outside(distribution.weights[::-1])
    share = sum(distribution.weights[first : last + 1]) / distribution.total
    return _Ends(distribution.values[first], distribution.values[last], share, _U, Method.WHOLE_NUMBERS)


def fft_ends(wave: FourierDistribution, tail: Fraction) -> _Ends:
    """The same by FFT; the error bound is subtracted from the tail, so that no tail is too great."""
    bound = float(tail) - wave.sum_error
    places = range(wave.low, wave.low + len(wave.probabilities))
    first = places[bisect_right(places, bound, key=lambda place: wave.probability(at_most=place))]
    last = places[bisect_left(places, -bound, key=lambda place: -wave.probability(at_least=place)) - 1]
    share = max(wave.probability(at_least=first, at_most=last), float(1 - 2 * tail))
    return _Ends(first, last, share, wave.sum_error, Method.WAVE)


def _berry_esseen(distribution: Distribution, rounds: int) -> float:
    """The bound for both ends together."""
    mean = distribution.mean
    pairs = zip(distribution.values, distribution.weights, strict=True)
    cubes = sum((weight * abs(value - mean) ** 3 for value, weight in pairs), Fraction(0))
    third = float(cubes / distribution.total)
    return min(1.0, 2 * BERRY_ESSEEN * third / distribution.deviation**3 / sqrt(rounds))

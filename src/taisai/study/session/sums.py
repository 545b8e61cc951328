"""Sums of independent, identically distributed rounds: exact convolutions, and an FFT with error bounds.

The exact distribution is a power of a polynomial with integer coefficients.

For very many rounds, the distribution is one power of the characteristic function and one inverse FFT. The
FFT has one bin per lattice point, and enough points for all but 1e-40 of the probability (by the inequalities
of Hoeffding and Bernstein; the rest wraps around and is part of the bound). The characteristic function is
evaluated about the mean where that is accurate, elsewhere with angles reduced in integers. Each bin has a
bound of its rounding error, with u = 2^-53 and every elementary function within 4 units in the last place.
The error of one probability is the mean of the bin errors; of a sum, by Parseval and Cauchy–Schwarz. The
FFT's own rounding is within log₂(M)·16u of the Euclidean norm, twice what Higham proves for powers of two
(Accuracy and Stability of Numerical Algorithms, theorem 24.2).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from heapq import heappop, heappush
from importlib.util import find_spec
from math import ceil, comb, exp, gcd, log, log2, pi, sqrt
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from taisai.rules.errors import RulesError
from taisai.study import needed
from taisai.study.odds import Distribution, checked_share

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Bins = npt.NDArray[np.int64]


WITHOUT_FLINT: Final = "TAISAI_WITHOUT_FLINT"
"""If this environment variable is set, python-flint is not used even if it is installed."""
MOST_TERMS: Final = 7  # with more terms, flint is faster than the recurrence, conversion included
MOST_DENSE: Final = 250
"""Beyond this degree the recurrence is faster, because flint stores all coefficients, also zeros."""


class Lattice(NamedTuple):
    """A distribution on its lattice: values are low + step × exponent; the weights have no common factor."""

    low: int
    step: int
    exponents: tuple[int, ...]  # ascending from 0
    weights: tuple[int, ...]
    total: int

    @staticmethod
    def of(distribution: Distribution) -> Lattice:
        low = distribution.values[0]
        step = reduce(gcd, (value - low for value in distribution.values)) or 1
        shared = reduce(gcd, distribution.weights)
        return Lattice(
            low,
            step,
            tuple((value - low) // step for value in distribution.values),
            tuple(weight // shared for weight in distribution.weights),
            distribution.total // shared,
        )

    @property
    def degree(self) -> int:
        return self.exponents[-1]

    @property
    def mean(self) -> Fraction:
        """Of the exponent."""
        return Fraction(sum(map(int.__mul__, self.exponents, self.weights)), self.total)

    @property
    def variance(self) -> Fraction:
        """Of the exponent."""
        squares = sum(weight * e * e for e, weight in zip(self.exponents, self.weights, strict=True))
        return Fraction(squares, self.total) - self.mean**2

    def points(self, rounds: int) -> int:
        """The number of lattice points in the range of the sum."""
        return rounds * self.degree + 1

    def sums(self, rounds: int) -> int:
        """A bound of the number of different totals."""
        ways = len(self.exponents)
        return min(self.points(rounds), comb(rounds + ways - 1, ways - 1))

    def bytes_of_sum(self, rounds: int) -> int:
        """The approximate memory of the exact distribution of the sum."""
        return self.points(rounds) * self.bytes_of_each(rounds)

    def bytes_of_each(self, rounds: int) -> int:
        """The approximate memory of one of its weights."""
        return rounds * self.total.bit_length() // 8 + 40


def sum_distribution(lattice: Lattice, rounds: int) -> Distribution:
    """The exact distribution of the sum over independent rounds.

    >>> sum_distribution(Lattice.of(Distribution.of([(-100, 1), (100, 1)])), 4)
    Distribution(values=(-400, -200, 0, 200, 400), weights=(1, 4, 6, 4, 1), total=16)
    """
    few = len(lattice.exponents) <= MOST_TERMS or lattice.degree > MOST_DENSE
    power = power_by_recurrence if few or not has_flint() else power_by_flint
    weights = power(lattice.exponents, lattice.weights, rounds)
    low, step = rounds * lattice.low, lattice.step
    values: Sequence[int] = range(low, low + step * len(weights), step)
    if 0 in weights:
        values = [value for value, weight in zip(values, weights, strict=True) if weight]
        weights = [weight for weight in weights if weight]
    return Distribution(tuple(values), tuple(weights), lattice.total**rounds)


def sparse_sum_distribution(lattice: Lattice, rounds: int, most: int) -> Distribution | None:
    """The same for few totals that are far apart; None if there are more than `most`.

    >>> sparse_sum_distribution(Lattice.of(Distribution.of([(0, 1), (1, 2), (10**9, 1)])), 2, 10)
    Distribution(values=(0, 1, 2, 1000000000, 1000000001, 2000000000), weights=(1, 4, 4, 2, 4, 1), total=16)
    """
    first, power = lattice.weights[0], rounds
    pairs = zip(lattice.exponents[1:], lattice.weights[1:], strict=True)
    rest = [(e, w, w * e * (power + 1)) for e, w in pairs]
    weights = {0: first**power}
    waiting = [exponent for exponent, _, _ in rest]  # ascending, as a heap may be
    place = 0
    while waiting:
        if (then := heappop(waiting)) == place:
            continue
        place, gathered = then, 0
        for exponent, weight, once in rest:
            if before := weights.get(place - exponent):
                gathered += (once - weight * place) * before
        if gathered:  # a sum of 0 means that the total needs more rounds
            if len(weights) == most:
                return None
            weights[place] = gathered // (place * first)
            for exponent, _, _ in rest:
                heappush(waiting, place + exponent)
    values = tuple(rounds * lattice.low + lattice.step * place for place in weights)
    return Distribution(values, tuple(weights.values()), lattice.total**rounds)


def power_by_recurrence(exponents: Sequence[int], weights: Sequence[int], power: int) -> list[int]:
    """The coefficients of a power of a polynomial, each from a few earlier ones; exponents start at 0.

    P·(Pⁿ)′ = n·P′·Pⁿ, compared coefficient by coefficient: m·p₀·aₘ = Σ pᵢ·((n + 1)·eᵢ − m)·aₘ₋ₑᵢ.
    """
    first = weights[0]
    coefficients = [0] * (power * exponents[-1] + 1)
    coefficients[0] = first**power
    rest = [(e, w, w * e * (power + 1)) for e, w in zip(exponents[1:], weights[1:], strict=True)]
    for place in range(1, len(coefficients)):
        gathered = 0
        for exponent, weight, once in rest:
            if exponent > place:
                break
            gathered += (once - weight * place) * coefficients[place - exponent]
        coefficients[place] = gathered // (place * first)
    return coefficients


def power_by_flint(exponents: Sequence[int], weights: Sequence[int], power: int) -> list[int]:
    """The same coefficients by python-flint."""
    from flint import fmpz_poly

    dense = [0] * (exponents[-1] + 1)
    for exponent, weight in zip(exponents, weights, strict=True):
        dense[exponent] = weight
    return list(map(int, (fmpz_poly(dense) ** power).coeffs()))


def has_flint() -> bool:
    return WITHOUT_FLINT not in os.environ and find_spec("flint") is not None


MOST_POINTS: Final = 2**26
"""The most lattice points of a sum; an FFT of more would not fit into the memory of a common machine."""
TAIL: Final = 1e-40  # a bound of the probability outside the points of the FFT
_U: Final = 2.0**-53
_CHUNK: Final = 2**16


class FourierDistribution(NamedTuple):
    """A distribution in floating point: the value low + step × index has about this probability."""

    low: int
    step: int
    probabilities: Any
    """An array of float64."""
    error: float
    """The error bound of each probability."""
    sum_error: float
    """The error bound of each sum of probabilities."""

    def values(self) -> range:
        return range(self.low, self.low + self.step * len(self.probabilities), self.step)

    def probability(self, *, at_least: int | None = None, at_most: int | None = None) -> float:
        """The probability of a value within these bounds, both included."""
        size = len(self.probabilities)
        first = 0 if at_least is None else max(0, -(-(at_least - self.low) // self.step))
        last = size - 1 if at_most is None else min(size - 1, (at_most - self.low) // self.step)
        return min(1.0, float(self.probabilities[first : last + 1].sum())) if first <= last else 0.0

    def quantile(self, share: Fraction) -> int:
        """The least value whose cumulative probability is at least this share, within the error."""
        import numpy as np

        share = checked_share(share)
        reached = np.cumsum(self.probabilities)
        place = int(np.searchsorted(reached, float(share) * reached[-1]))
        return self.low + self.step * min(place, len(reached) - 1)


def sum_by_fft(lattice: Lattice, rounds: int) -> FourierDistribution:
    """The distribution of the sum over independent rounds by FFT, with error bounds.

    >>> from taisai.study.odds import Distribution
    >>> wave = sum_by_fft(Lattice.of(Distribution.of([(-100, 1), (100, 1)])), 10_000)
    >>> wave.error < 1e-14, wave.sum_error < 1e-12, round(wave.probability(at_least=1), 12)
    (True, True, 0.49601067693)
    """
    points = lattice.points(rounds)
    if points > MOST_POINTS:
        raise RulesError(
            f"expected a total of at most 2^26 = {MOST_POINTS:,} possible values, got {points:,} "
            f"({rounds:,} rounds of bets with a range of {lattice.degree:,} steps)"
        )
    return windowed_fft(lattice, rounds)


def window(lattice: Lattice, rounds: int) -> int:
    """The points of the FFT; they grow with the square root of the rounds, the range linearly."""
    return int(2 ** max(1, ceil(log2(min(lattice.points(rounds), 2 * _reach(lattice, rounds) + 2)))))


def windowed_fft(lattice: Lattice, rounds: int) -> FourierDistribution:
    """The same for a range of any size; the caller must check `window` before and the error after."""
    with needed("numpy", "study"):
        import numpy as np
    points, size = lattice.points(rounds), window(lattice, rounds)
    centre, reach = round(rounds * lattice.mean), _reach(lattice, rounds)
    start = 0 if size >= points else centre - size // 2
    bins = np.empty(size // 2 + 1, dtype=np.complex128)
    summed = squared = 0.0
    for first in range(0, len(bins), _CHUNK):
        which = np.arange(first, min(first + _CHUNK, len(bins)), dtype=np.int64)
        bins[first : first + _CHUNK], errors = _bins(lattice, rounds, centre, size, which)
        twice = np.where((which == 0) | (which == size // 2), 1.0, 2.0)
        summed += float((twice * errors).sum())
        squared += float((twice * errors * errors).sum())
    around = np.fft.irfft(bins, size)  # index 0 is the centre
    low, high = max(0, centre - reach, start), min(points - 1, centre + reach, start + size - 1)
    probabilities = np.roll(around, centre - start)[low - start : high - start + 1]
    transform = 16 * _U * log2(size) * float(np.sqrt((around * around).sum()))
    np.clip(probabilities, 0.0, 1.0, out=probabilities)
    error = summed / size + transform + TAIL
    together = sqrt(len(probabilities)) * (sqrt(squared / size) + transform) + TAIL + 100 * _U
    lowest = rounds * lattice.low + low * lattice.step
    return FourierDistribution(lowest, lattice.step, probabilities, error, together)


def _reach(lattice: Lattice, rounds: int) -> int:
    """The distance from the mean that the sum exceeds with probability at most TAIL."""
    needed_log, degree = log(2 / TAIL), lattice.degree
    hoeffding = degree * sqrt(rounds * needed_log / 2)
    third = needed_log * degree / 3
    bernstein = third + sqrt(third * third + 2 * needed_log * rounds * float(lattice.variance))
    return ceil(min(hoeffding, bernstein)) + 2


def _bins(lattice: Lattice, rounds: int, centre: int, size: int, which: Bins) -> tuple[Any, Floats]:
    """The characteristic function to the power of the rounds, shifted to the centre, and its errors."""
    import numpy as np

    widest = max(lattice.mean, lattice.degree - lattice.mean)
    angle = which * (2 * pi / size)
    near = angle * float(widest) <= pi
    values = np.zeros(len(which), dtype=np.complex128)
    errors = np.zeros(len(which))
    for part, bins in ((near, _near), (~near, _far)):
        if part.any():
            values[part], errors[part] = bins(lattice, rounds, centre, size, which[part])
    return values, errors


def _near(lattice: Lattice, rounds: int, centre: int, size: int, which: Bins) -> tuple[Any, Floats]:
    """Near 0, about the mean: 1 − φ is small and is computed directly."""
    import numpy as np

    theta = which * (2 * pi / size)
    mean = lattice.mean
    fallen = np.zeros(len(which))
    turned = np.zeros(len(which))
    distance = 0.0
    for exponent, weight in zip(lattice.exponents, lattice.weights, strict=True):
        share, off = weight / lattice.total, float(exponent - mean)
        distance += share * abs(off)
        fallen += share * 2 * np.sin(theta * (off / 2)) ** 2
        turned += share * np.sin(theta * off)
    beyond_one = fallen * fallen + turned * turned - 2 * fallen  # |φ|² − 1
    alive = beyond_one > -0.75  # a modulus below a half to the power of a thousand is negligible
    safe = np.where(alive, 1 + beyond_one, 1.0)
    logarithm = 0.5 * np.log1p(np.where(alive, beyond_one, 0.0))
    argument = -np.arctan2(turned, 1 - fallen)
    beside = float(rounds * mean - centre)
    turn = rounds * argument - theta * beside
    values = np.where(alive, np.exp(rounds * logarithm) * np.exp(1j * turn), 0.0)
    terms = len(lattice.exponents)
    value = ((terms + 27) * fallen + (terms + 14) * theta * distance) / np.sqrt(safe)
    reading = 8 * (2 * fallen + turned * turned) / safe + 10 * (abs(logarithm) + abs(argument))
    exponent_error = _U * (rounds * (2 * value + reading) + 10 * theta)
    return values, _carried(values, exponent_error, rounds)


def _far(lattice: Lattice, rounds: int, centre: int, size: int, which: Bins) -> tuple[Any, Floats]:
    """Away from 0: every angle is first reduced in integers."""
    import numpy as np

    def circle(times: int) -> Any:
        step = which * (times % size) % size  # both factors are below the size, so that no product overflows
        return (step - size * (step > size // 2)) * (2 * pi / size)

    value = np.zeros(len(which), dtype=np.complex128)
    for exponent, weight in zip(lattice.exponents, lattice.weights, strict=True):
        value += weight / lattice.total * np.exp(-1j * circle(exponent))
    radius = np.abs(value)
    alive = radius > 0.5
    safe = np.where(alive, radius, 1.0)
    logarithm, argument = np.log(safe), np.angle(value)
    turn = rounds * argument + circle(centre)
    powers = np.where(alive, np.exp(rounds * logarithm) * np.exp(1j * turn), 0.0)
    terms = len(lattice.exponents)
    rounding = 2 * (terms + 28) / safe + 20 * (1 + abs(logarithm)) + 10 * pi
    return powers, _carried(powers, _U * (rounds * rounding + 40), rounds)


def _carried(values: Any, exponent_error: Floats, rounds: int) -> Floats:
    """The error of exp(z) for this error of z, rounding included."""
    import numpy as np

    grown = np.expm1(np.minimum(exponent_error, 50.0))
    # Two numbers in the unit disc differ by at most 2; omitted bins are below 2^-rounds.
    errors: Floats = np.minimum(np.abs(values) * (grown + 20 * _U), 2.0) + exp(-rounds * log(2))
    return errors

"""Exact sums of equal laws: the powers of a polynomial with whole coefficients."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from heapq import heappop, heappush
from importlib.util import find_spec
from math import comb, gcd
from typing import Final, NamedTuple

from taisai.study.law import Law

WITHOUT_FLINT: Final = "TAISAI_WITHOUT_FLINT"
"""Set in the environment to anything, it leaves python-flint alone even where it is installed."""
MOST_TERMS: Final = 7
"""With more terms than these flint's power and the way back into Python's integers are quicker than ours."""
MOST_DENSE: Final = 250
"""Flint keeps every coefficient, those that are 0 too: beyond this degree our recurrence is quicker."""


class Lattice(NamedTuple):
    """A law on its own grid: values are low + step × exponent, and no number divides all weights."""

    low: int
    step: int
    exponents: tuple[int, ...]
    """Ascending from 0."""
    weights: tuple[int, ...]
    total: int

    @staticmethod
    def of(law: Law) -> Lattice:
        """The grid of a law."""
        low = law.values[0]
        step = reduce(gcd, (value - low for value in law.values)) or 1
        shared = reduce(gcd, law.weights)
        return Lattice(
            low,
            step,
            tuple((value - low) // step for value in law.values),
            tuple(weight // shared for weight in law.weights),
            law.total // shared,
        )

    @property
    def degree(self) -> int:
        """The greatest exponent."""
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
        """How many points the sum over so many rounds spans."""
        return rounds * self.degree + 1

    def sums(self, rounds: int) -> int:
        """No more different totals than this come of so many rounds."""
        ways = len(self.exponents)
        return min(self.points(rounds), comb(rounds + ways - 1, ways - 1))

    def bytes_of_sum(self, rounds: int) -> int:
        """About how much memory the exact sum takes, point by point."""
        return self.points(rounds) * self.bytes_of_each(rounds)

    def bytes_of_each(self, rounds: int) -> int:
        """About how much memory one weight of the exact sum takes, and its place."""
        return rounds * self.total.bit_length() // 8 + 40


def sum_law(lattice: Lattice, rounds: int) -> Law:
    """The exact law of the sum over so many independent rounds.

    >>> sum_law(Lattice.of(Law.of([(-100, 1), (100, 1)])), 4)
    Law(values=(-400, -200, 0, 200, 400), weights=(1, 4, 6, 4, 1), total=16)
    """
    few = len(lattice.exponents) <= MOST_TERMS or lattice.degree > MOST_DENSE
    power = power_by_recurrence if few or not has_flint() else power_by_flint
    weights = power(lattice.exponents, lattice.weights, rounds)
    low, step = rounds * lattice.low, lattice.step
    values: Sequence[int] = range(low, low + step * len(weights), step)
    if 0 in weights:
        values = [value for value, weight in zip(values, weights, strict=True) if weight]
        weights = [weight for weight in weights if weight]
    return Law(tuple(values), tuple(weights), lattice.total**rounds)


def sparse_sum_law(lattice: Lattice, rounds: int, most: int) -> Law | None:
    """The same law point by point, for totals that are few and far between; None where more than `most` come.

    >>> sparse_sum_law(Lattice.of(Law.of([(0, 1), (1, 2), (10**9, 1)])), 2, 10)
    Law(values=(0, 1, 2, 1000000000, 1000000001, 2000000000), weights=(1, 4, 4, 2, 4, 1), total=16)
    """
    first, power = lattice.weights[0], rounds
    pairs = zip(lattice.exponents[1:], lattice.weights[1:], strict=True)
    rest = [(e, w, w * e * (power + 1)) for e, w in pairs]
    found = {0: first**power}
    waiting = [exponent for exponent, _, _ in rest]  # ascending, as a heap may be
    place = 0
    while waiting:
        if (then := heappop(waiting)) == place:
            continue
        place, gathered = then, 0
        for exponent, weight, once in rest:
            if before := found.get(place - exponent):
                gathered += (once - weight * place) * before
        if gathered:  # else the ways to it cancel out: more than so many rounds would lead there
            if len(found) == most:
                return None
            found[place] = gathered // (place * first)
            for exponent, _, _ in rest:
                heappush(waiting, place + exponent)
    values = tuple(rounds * lattice.low + lattice.step * place for place in found)
    return Law(values, tuple(found.values()), lattice.total**rounds)


def power_by_recurrence(exponents: Sequence[int], weights: Sequence[int], power: int) -> list[int]:
    """Every coefficient of the power from a few before it, one exact division each; exponents start at 0.

    P·(Pⁿ)′ = n·P′·Pⁿ, compared coefficient by coefficient: m·p₀·aₘ = Σ pᵢ·((n + 1)·eᵢ − m)·aₘ₋ₑᵢ.
    """
    first = weights[0]
    found = [0] * (power * exponents[-1] + 1)
    found[0] = first**power
    rest = [(e, w, w * e * (power + 1)) for e, w in zip(exponents[1:], weights[1:], strict=True)]
    for place in range(1, len(found)):
        gathered = 0
        for exponent, weight, once in rest:
            if exponent > place:
                break
            gathered += (once - weight * place) * found[place - exponent]
        found[place] = gathered // (place * first)
    return found


def power_by_flint(exponents: Sequence[int], weights: Sequence[int], power: int) -> list[int]:
    """The same coefficients from python-flint."""
    from flint import fmpz_poly

    dense = [0] * (exponents[-1] + 1)
    for exponent, weight in zip(exponents, weights, strict=True):
        dense[exponent] = weight
    return list(map(int, (fmpz_poly(dense) ** power).coeffs()))


def has_flint() -> bool:
    """Whether python-flint is installed and wanted."""
    return WITHOUT_FLINT not in os.environ and find_spec("flint") is not None

"""Laws: exact distributions, whole values with whole weights."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

from taisai.rules.errors import RulesError


class Law(NamedTuple):
    """What may come and how often: values ascending, each with its weight out of the total.

    >>> coin = Law.of([(-100, 1), (100, 1)])
    >>> coin.mean, coin.variance, coin.probability(at_least=0)
    (Fraction(0, 1), Fraction(10000, 1), Fraction(1, 2))
    """

    values: tuple[int, ...]
    weights: tuple[int, ...]
    total: int

    @staticmethod
    def of(weighed: Iterable[tuple[int, int]]) -> Law:
        """The law of these values and weights; the same value may come twice, a weight of 0 drops out."""
        gathered: dict[int, int] = {}
        for value, weight in weighed:
            if weight < 0:
                raise RulesError(f"expected a weight of 0 or more, got {weight} for {value}")
            if weight:
                gathered[value] = gathered.get(value, 0) + weight
        if not gathered:
            raise RulesError("expected at least one value that may come, got none")
        values = tuple(sorted(gathered))
        weights = tuple(gathered[value] for value in values)
        return Law(values, weights, sum(weights))

    @property
    def mean(self) -> Fraction:
        """The expectation."""
        return self.moment(1)

    @property
    def variance(self) -> Fraction:
        """The expected square of the distance from the mean."""
        return self.moment(2) - self.mean**2

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return sqrt(self.variance)

    @property
    def skew(self) -> float:
        """The third standardised moment: positive where rare values are large. 0 where nothing varies."""
        third = self.moment(3) - 3 * self.mean * self.moment(2) + 2 * self.mean**3
        return float(third) / self.deviation**3 if third else 0.0

    def moment(self, power: int) -> Fraction:
        """The expectation of a power of the value, about 0."""
        pairs = zip(self.values, self.weights, strict=True)
        return Fraction(sum(weight * value**power for value, weight in pairs), self.total)

    def probability(self, *, at_least: int | None = None, at_most: int | None = None) -> Fraction:
        """The probability of a value within these bounds, both included."""
        pairs = zip(self.values, self.weights, strict=True)
        within = (
            weight
            for value, weight in pairs
            if (at_least is None or value >= at_least) and (at_most is None or value <= at_most)
        )
        return Fraction(sum(within), self.total)

    def quantile(self, share: Fraction) -> int:
        """The least value such that it or less comes with at least this probability."""
        share = checked_share(share)
        reached = 0
        for value, weight in zip(self.values, self.weights, strict=True):
            reached += weight
            if reached * share.denominator >= share.numerator * self.total:
                return value
        return self.values[-1]


def checked_share(share: object) -> Fraction:
    """A share of all there is, for a quantile."""
    if isinstance(share, bool) or not isinstance(share, (Fraction, int)) or not 0 < share <= 1:
        raise RulesError(
            f"expected a share above 0 and at most 1 as a fraction, such as Fraction(1, 2), got {share!r}"
        )
    return Fraction(share)

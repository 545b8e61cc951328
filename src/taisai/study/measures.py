"""What a bet on an area is like: how often it hits, how it swings, what is normal after so many rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from statistics import NormalDist
from typing import Any, Final, NamedTuple

from taisai.rules.areas import AreaId
from taisai.rules.chance import Chance
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.odds import Odds
from taisai.study.law import Law
from taisai.study.report import Report, Sheet, Told, columns

LEVELS: Final = (Fraction(90, 100), Fraction(95, 100), Fraction(99, 100))
"""The shares of all samples that a tolerance band holds."""
ROUNDS: Final = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
MOST_ROUNDS: Final = 10**15
BERRY_ESSEEN: Final = 0.4748
"""The least constant proven for sums of equal laws (Shevtsova, 2011)."""


class Band(NamedTuple):
    """Where the observed edge lies, with the probability `level`, after so many rounds."""

    rounds: int
    level: Fraction
    low: float
    high: float
    error: float
    """How far the true probability may be from `level` at most: bands are normal, laws are not."""


@dataclass(frozen=True)
class AreaMeasures:
    """One area, per unit staked on it."""

    id: AreaId
    label: str
    odds: tuple[Odds, ...]
    law: Law
    """Of the net, in 1/denominator of the unit."""
    denominator: int
    ways: tuple[int, ...]
    """Of each of its odds: in how many of all cases they are paid."""

    @cached_property
    def win_probability(self) -> Fraction:
        """The probability that the bet wins: the hit frequency."""
        return self.law.probability(at_least=1)

    @cached_property
    def house_edge(self) -> Fraction:
        """What the house keeps of each unit staked, in the mean."""
        return -self.law.mean / self.denominator

    @cached_property
    def variance(self) -> Fraction:
        """Of the net per unit staked."""
        return self.law.variance / self.denominator**2

    @property
    def deviation(self) -> float:
        """The standard deviation of the net per unit staked."""
        return sqrt(self.variance)

    @property
    def skew(self) -> float:
        """Positive where the bet wins seldom and much."""
        return self.law.skew

    @property
    def hits_one_in(self) -> Fraction | None:
        """The bet wins once in so many rounds, in the mean; None where it cannot win."""
        return 1 / self.win_probability if self.win_probability else None

    @property
    def volatility_index(self) -> float:
        """The half-width of the 90 % band of one round: 1.645 standard deviations."""
        return NormalDist().inv_cdf(0.95) * self.deviation

    def band(self, rounds: int, level: Fraction = LEVELS[0]) -> Band:
        """The tolerance band of the observed edge, and how far the normal approximation can be off."""
        if type(rounds) is not int or not 1 <= rounds <= MOST_ROUNDS:
            raise RulesError(f"expected 1 to {MOST_ROUNDS} rounds for a band, got {rounds}")
        if not 0 < level < 1:
            raise RulesError(f"expected a level between 0 and 1 for a band, got {level}")
        half = NormalDist().inv_cdf((1 + float(level)) / 2) * self.deviation / sqrt(rounds)
        edge = float(self.house_edge)
        return Band(rounds, level, edge - half, edge + half, self._error(rounds))

    def _error(self, rounds: int) -> float:
        """Twice the Berry–Esseen bound, since a band has two ends."""
        mean = self.law.mean
        if not self.law.variance:
            return 0.0  # nothing varies, and nothing is approximated
        pairs = zip(self.law.values, self.law.weights, strict=True)
        third = Fraction(sum((weight * abs(value - mean) ** 3 for value, weight in pairs), Fraction(0)))
        return min(
            1.0, 2 * BERRY_ESSEEN * float(third / self.law.total) / self.law.deviation**3 / sqrt(rounds)
        )


@dataclass(frozen=True)
class LayoutMeasures(Told):
    """Every area of a layout."""

    matrix: Matrix
    chance: Chance
    areas: tuple[AreaMeasures, ...]
    rounds: tuple[int, ...] = ROUNDS

    def __getitem__(self, area: str) -> AreaMeasures:
        return self.areas[self.matrix.row(area)]

    def report(self) -> Report:
        """Three tables: what a bet is like, the bands, and what the bands are worth."""
        numbers = ("hits 1 in", "house edge", "std dev", "skew", "volatility")
        like = Sheet(
            f"{self.matrix.rulebook}, layout {self.matrix.layout}: per unit staked",
            columns("area", "", "odds", *numbers, numbers=numbers),
            tuple(
                (
                    str(one.id),
                    one.label,
                    ", ".join(map(str, one.odds)),
                    one_in(one),
                    f"{100 * float(one.house_edge):.3f} %",
                    f"{one.deviation:.3f}",
                    f"{one.skew:.3f}",
                    f"{one.volatility_index:.3f}",
                )
                for one in self.areas
            ),
        )
        heads = tuple(f"{rounds:,}" for rounds in self.rounds)
        bands = tuple(
            Sheet(
                f"Observed edge, {float(level):.0%} band, after so many rounds",
                columns("area", *heads, numbers=heads),
                tuple(
                    (str(one.id), *(_band(one.band(rounds, level)) for rounds in self.rounds))
                    for one in self.areas
                ),
            )
            for level in LEVELS
        )
        note = (
            "Edge and hit frequency are exact. Bands are normal; ≈ marks one whose share may be off by more "
            "than 5 percentage points by the Berry–Esseen bound."
        )
        return Report((like, *bands), (note,))

    def facts(self) -> dict[str, Any]:
        """For machines."""
        return {
            "rulebook": self.matrix.rulebook,
            "layout": self.matrix.layout,
            "areas": [
                {
                    "id": one.id,
                    "odds": [str(odds) for odds in one.odds],
                    "ways": list(one.ways),
                    "win_probability": str(one.win_probability),
                    "hits_one_in": None if one.hits_one_in is None else str(one.hits_one_in),
                    "house_edge": str(one.house_edge),
                    "variance": str(one.variance),
                    "skew": one.skew,
                    "volatility_index": one.volatility_index,
                    "bands": [_band_facts(one.band(n, level)) for level in LEVELS for n in self.rounds],
                }
                for one in self.areas
            ],
        }


def measures(matrix: Matrix, chance: Chance, rounds: Sequence[int] = ROUNDS) -> LayoutMeasures:
    """Everything about every area of a layout, exact where it can be.

    >>> from taisai.rules import rulebook
    >>> book = rulebook("rws-sic-bo-etg-v8")
    >>> small = measures(book.matrix("A"), book.chance())["small"]
    >>> small.house_edge, round(small.deviation, 4), round(small.skew, 4), small.hits_one_in
    (Fraction(1, 36), 0.9996, 0.0556, Fraction(72, 35))
    >>> band = small.band(1_000_000, Fraction(99, 100))
    >>> f"{band.low:.4f} to {band.high:.4f}, give or take {band.error:.4f} of the 99 %"
    '0.0252 to 0.0304, give or take 0.0010 of the 99 %'
    """
    areas = tuple(
        AreaMeasures(
            area.id,
            area.label,
            tuple(win.odds for win in wins),
            Law.of(zip(nets, chance.weights, strict=True)),
            matrix.denominator,
            tuple(sum(chance.weights[place] for place in win.places) for win in wins),
        )
        for area, wins, nets in zip(matrix.labels, matrix.wins, matrix.nets, strict=True)
    )
    return LayoutMeasures(matrix, chance, areas, tuple(rounds))


def one_in(area: AreaMeasures) -> str:
    """How often an area hits, for a table."""
    return "never" if area.hits_one_in is None else f"{float(area.hits_one_in):.3f}"


def _band(band: Band) -> str:
    about = "≈ " if band.error > 0.05 else ""
    return f"{about}{100 * band.low:.2f} … {100 * band.high:.2f} %"


def _band_facts(band: Band) -> dict[str, Any]:
    return {
        "rounds": band.rounds,
        "level": str(band.level),
        "low": band.low,
        "high": band.high,
        "error_at_most": band.error,
    }

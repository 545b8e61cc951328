"""Measures of every area: hit frequency, volatility, tolerance bands; and two pay tables side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from statistics import NormalDist
from typing import Any, Final, NamedTuple

from taisai.rules.areas import AreaId
from taisai.rules.chance import Chance, ChanceKind
from taisai.rules.matrix import Matrix
from taisai.rules.pay import Odds
from taisai.study.bands import BAND_LEVELS, ROUNDS, Band, Method, tolerance_band
from taisai.study.odds import (
    AreaOdds,
    Distribution,
    area_odds,
    chance_facts,
    chance_words,
    fresh_shoe,
    game_words,
)
from taisai.study.report import Describable, ReportColumn, Sheet, StudyReport, columns

NOTE: Final = (
    "Edge and hit frequency are exact. A bet staked equally each round has its observed edge within the band "
    "in at least the stated share of samples (about that share where a band is normal), and beyond either "
    "end in at most half of the rest."
)


@dataclass(frozen=True)
class AreaMeasures:
    """One area, per unit staked on it."""

    id: AreaId
    label: str
    odds: tuple[Odds, ...]
    distribution: Distribution
    """The distribution of the net, in 1/denominator of the unit."""
    denominator: int
    ways: tuple[int, ...]
    """For each of its odds, how many of all cases pay them."""

    @cached_property
    def win_probability(self) -> Fraction:
        """The hit frequency."""
        return self.distribution.probability(at_least=1)

    @cached_property
    def house_edge(self) -> Fraction:
        return -self.distribution.mean / self.denominator

    @cached_property
    def variance(self) -> Fraction:
        return self.distribution.variance / self.denominator**2

    @property
    def deviation(self) -> float:
        return sqrt(self.variance)

    @property
    def skew(self) -> float:
        """The skewness: positive if the bet seldom wins, and wins much."""
        return self.distribution.skew

    @property
    def hits_one_in(self) -> Fraction | None:
        """The expected number of rounds per win; None if the bet cannot win."""
        return 1 / self.win_probability if self.win_probability else None

    @property
    def volatility_index(self) -> float:
        """The half-width of the 90 % band of one round: 1.645 standard deviations."""
        return NormalDist().inv_cdf(0.95) * self.deviation

    def exact_facts(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "odds": [str(odds) for odds in self.odds],
            "ways": list(self.ways),
            "win_probability": str(self.win_probability),
            "hits_one_in": None if self.hits_one_in is None else str(self.hits_one_in),
            "house_edge": str(self.house_edge),
            "variance": str(self.variance),
        }

    def band(self, rounds: int, level: Fraction = BAND_LEVELS[0]) -> Band:
        return tolerance_band(self.distribution, self.denominator, rounds, level)


class Family(NamedTuple):
    """Areas with the same distribution, such as all fifteen pairs; a row in a table of bands."""

    areas: tuple[AreaMeasures, ...]

    @property
    def name(self) -> str:
        """The areas, abbreviated if there are many."""
        ids = [str(area.id) for area in self.areas]
        return ", ".join(ids) if len(ids) <= 4 else f"{ids[0]}, {ids[1]} … {ids[-1]} ({len(ids)})"

    def bands(self, level: Fraction, rounds: Sequence[int]) -> tuple[Band, ...]:
        return tuple(self.areas[0].band(count, level) for count in rounds)


@dataclass(frozen=True)
class LayoutMeasures(Describable):
    matrix: Matrix
    chance: Chance
    areas: tuple[AreaMeasures, ...]
    rounds: tuple[int, ...] = ROUNDS

    def __getitem__(self, area: str) -> AreaMeasures:
        return self.areas[self.matrix.row(area)]

    def report(self) -> StudyReport:
        like = Sheet(
            f"{game_words(self.matrix, self.chance)}: per unit staked",
            columns("area", "", "odds", numbers=("hits 1 in", "house edge", "std dev", "skew", "volatility")),
            tuple(
                (
                    str(area.id),
                    area.label,
                    ", ".join(map(str, area.odds)),
                    one_in(area),
                    f"{100 * float(area.house_edge):.3f} %",
                    f"{area.deviation:.3f}",
                    f"{area.skew:.3f}",
                    f"{area.volatility_index:.3f}",
                )
                for area in self.areas
            ),
        )
        bands = tuple(
            self.band_sheet(f"Observed edge in %, {float(level):.0%} band by rounds", level, self.rounds)
            for level in BAND_LEVELS
        )
        supposed = fresh_shoe(self.chance)
        return StudyReport((like, *bands), (NOTE, self._band_note(), *([supposed] if supposed else [])))

    def _band_note(self) -> str:
        """How the bands were computed, and the error of their shares."""
        rows = [family.bands(level, self.rounds) for family in self.families for level in BAND_LEVELS]
        bands = [band for row in rows for band in row]
        normal = [band.error for band in bands if band.method is Method.NORMAL]
        exact = [band.error for band in bands if band.method is not Method.NORMAL]
        notes = []
        if exact:
            worst = max(exact)
            notes.append(f"No end lies within the exact one, and no share is off by more than {worst:.0e}.")
        if normal:
            notes.append(
                f"{len(normal)} of {len(bands)} bands are normal, the error of their shares is at most "
                f"{100 * max(normal):.2g} percentage points by the Berry–Esseen bound; ≈ marks more than 5."
            )
        return " ".join(notes)

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """The areas grouped by distribution, in the order of the rulebook."""
        found: dict[object, list[AreaMeasures]] = {}
        for area in self.areas:
            found.setdefault((area.distribution, area.odds), []).append(area)
        return tuple(Family(tuple(areas)) for areas in found.values())

    def band_sheet(self, title: str, level: Fraction, rounds: Sequence[int]) -> Sheet:
        """A table of bands, a row for each family."""
        heads = tuple(f"{count:,}" for count in rounds)
        rows = tuple(
            (family.name, *(band.percent() for band in family.bands(level, rounds)))
            for family in self.families
        )
        return Sheet(title, (ReportColumn("areas", is_long=True), *columns(numbers=heads)), rows)

    def facts(self) -> dict[str, Any]:
        return {
            "rulebook": self.matrix.rulebook,
            "layout": self.matrix.layout,
            "chance": chance_facts(self.chance),
            "areas": [
                {
                    **area.exact_facts(),
                    "skew": area.skew if area.distribution.variance else None,
                    "volatility_index": area.volatility_index,
                    "bands": [_band_facts(area.band(n, level)) for level in BAND_LEVELS for n in self.rounds],
                }
                for area in self.areas
            ],
        }


def measures(matrix: Matrix, chance: Chance, rounds: Sequence[int] = ROUNDS) -> LayoutMeasures:
    """The measures of every area of a layout.

    >>> from taisai.rules import rulebook
    >>> book = rulebook("rws-sic-bo-etg-v8")
    >>> small = measures(book.matrix("A"), book.chance())["small"]
    >>> small.house_edge, round(small.deviation, 4), round(small.skew, 4), small.hits_one_in
    (Fraction(1, 36), 0.9996, 0.0556, Fraction(72, 35))
    >>> band = small.band(1_000_000, Fraction(99, 100))
    >>> f"{band.low:.6f} to {band.high:.6f} in {band.share:.6%} of all samples", band.error < 1e-11
    ('0.025202 to 0.030352 in 99.003366% of all samples', True)
    """
    areas = tuple(
        AreaMeasures(
            area.id,
            area.label,
            tuple(win.odds for win in wins),
            Distribution.of(zip(nets, chance.weights, strict=True)),
            matrix.denominator,
            tuple(sum(chance.weights[place] for place in win.places) for win in wins),
        )
        for area, wins, nets in zip(matrix.labels, matrix.wins, matrix.nets, strict=True)
    )
    return LayoutMeasures(matrix, chance, areas, tuple(rounds))


def one_in(area: AreaMeasures) -> str:
    return "never" if area.hits_one_in is None else f"{float(area.hits_one_in):.3f}"


def _band_facts(band: Band) -> dict[str, Any]:
    return {
        "rounds": band.rounds,
        "level": str(band.level),
        "low": band.low,
        "high": band.high,
        "share": band.share,
        "error_at_most": band.error,
        "method": band.method.value,
    }


# ── two pay tables ───────────────────────────────────────────────────────────────────────────────────


class Side(NamedTuple):
    """One of two pay tables, and the chances of the outcomes."""

    matrix: Matrix
    chance: Chance

    @property
    def name(self) -> str:
        return f"{self.matrix.rulebook}/{self.matrix.layout}"

    @property
    def words(self) -> str:
        """The name, and the shoe if there is one."""
        if self.chance.kind is ChanceKind.DICE:
            return self.name
        return f"{self.name}, {chance_words(self.chance)}"


class Pair(NamedTuple):
    """An area of both pay tables, or of one."""

    area: AreaId
    label: str
    left: AreaOdds | None
    right: AreaOdds | None

    @property
    def edge_more(self) -> Fraction | None:
        """The house edge on the right minus the edge on the left."""
        return self.right.house_edge - self.left.house_edge if self.left and self.right else None


@dataclass(frozen=True)
class Comparison(Describable):
    """All areas of two pay tables."""

    left: Side
    right: Side
    pairs: tuple[Pair, ...]

    @property
    def differing(self) -> tuple[Pair, ...]:
        """The areas whose edge differs, or that are only in one pay table."""
        return tuple(pair for pair in self.pairs if pair.edge_more != 0)

    def report(self) -> StudyReport:
        numbers = ("edge left", "edge right", "right keeps more", "deviation left", "deviation right")
        rows = []
        for pair in self.pairs:
            (odds_left, left, deviation_left), (odds, right, deviation) = map(_texts, (pair.left, pair.right))
            more = "" if pair.edge_more is None else f"{100 * float(pair.edge_more):+.3f}"
            rows.append((str(pair.area), odds_left, odds, left, right, more, deviation_left, deviation))
        heads = columns("area", "odds left", "odds right", numbers=numbers)
        note = f"{len(self.differing)} of {len(self.pairs)} areas differ."
        title = f"{self.left.words} (left), {self.right.words} (right)"
        return StudyReport((Sheet(title, heads, tuple(rows)),), (note,))

    def facts(self) -> dict[str, Any]:
        return {
            "left": self.left.name,
            "right": self.right.name,
            "left_chance": chance_facts(self.left.chance),
            "right_chance": chance_facts(self.right.chance),
            "areas": [
                {
                    "id": pair.area,
                    "left": _odds_facts(pair.left),
                    "right": _odds_facts(pair.right),
                    "edge_more": None if pair.edge_more is None else str(pair.edge_more),
                }
                for pair in self.pairs
            ],
        }


def compare(left: Side, right: Side) -> Comparison:
    """Compares two pay tables area by area.

    >>> from taisai.rules import rulebook
    >>> book = rulebook("rws-sic-bo-etg-v8")
    >>> found = compare(Side(book.matrix("A"), book.chance()), Side(book.matrix("C"), book.chance()))
    >>> next(str(pair.edge_more) for pair in found.pairs if pair.area == "total-8")
    '7/144'
    """
    on_left = {odds.id: odds for odds in area_odds(*left)}
    on_right = {odds.id: odds for odds in area_odds(*right)}
    labels = {area.id: area.label for side in (right, left) for area in side.matrix.labels}
    pairs = tuple(
        Pair(area, labels[area], on_left.get(area), on_right.get(area)) for area in {**on_left, **on_right}
    )
    return Comparison(left, right, pairs)


def _texts(area: AreaOdds | None) -> tuple[str, str, str]:
    """Odds, house edge and standard deviation."""
    if area is None:
        return "–", "–", "–"
    odds = ", ".join(map(str, area.odds))
    return odds, f"{100 * float(area.house_edge):.3f} %", f"{sqrt(area.variance):.3f}"


def _odds_facts(area: AreaOdds | None) -> dict[str, Any] | None:
    if area is None:
        return None
    return {
        "odds": [str(odds) for odds in area.odds],
        "win_probability": str(area.win_probability),
        "house_edge": str(area.house_edge),
        "variance": str(area.variance),
    }

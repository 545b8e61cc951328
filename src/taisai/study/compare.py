"""Two pay tables side by side, area by area."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, NamedTuple

from taisai.rules.areas import AreaId
from taisai.rules.chance import Chance, ChanceKind
from taisai.rules.matrix import Matrix
from taisai.study.odds import AreaOdds, area_odds, chance_facts, chance_words
from taisai.study.report import Describable, Sheet, StudyReport, columns


class Side(NamedTuple):
    """One of the two pay tables, with the chances it is played at."""

    matrix: Matrix
    chance: Chance

    @property
    def name(self) -> str:
        """Rulebook and layout."""
        return f"{self.matrix.rulebook}/{self.matrix.layout}"

    @property
    def words(self) -> str:
        """The same, and the shoe where there is one."""
        if self.chance.kind is ChanceKind.DICE:
            return self.name
        return f"{self.name}, {chance_words(self.chance)}"


class Pair(NamedTuple):
    """An area on both sides, or on one."""

    area: AreaId
    label: str
    left: AreaOdds | None
    right: AreaOdds | None

    @property
    def edge_more(self) -> Fraction | None:
        """How much more the house keeps on the right."""
        return self.right.house_edge - self.left.house_edge if self.left and self.right else None


@dataclass(frozen=True)
class Comparison(Describable):
    """Every area that one of two pay tables has."""

    left: Side
    right: Side
    pairs: tuple[Pair, ...]

    @property
    def differing(self) -> tuple[Pair, ...]:
        """Those whose edge differs, or which one side lacks."""
        return tuple(pair for pair in self.pairs if pair.edge_more != 0)

    def report(self) -> StudyReport:
        """All areas, and how many differ."""
        numbers = ("edge left", "edge right", "right keeps more", "deviation left", "deviation right")
        rows = tuple(
            (
                str(pair.area),
                _odds(pair.left),
                _odds(pair.right),
                _percent(pair.left and pair.left.house_edge),
                _percent(pair.right and pair.right.house_edge),
                "" if pair.edge_more is None else f"{100 * float(pair.edge_more):+.3f}",
                _deviation(pair.left),
                _deviation(pair.right),
            )
            for pair in self.pairs
        )
        heads = columns("area", "odds left", "odds right", *numbers, numbers=numbers)
        note = f"{len(self.differing)} of {len(self.pairs)} areas differ."
        return StudyReport(
            (Sheet(f"{self.left.words} (left), {self.right.words} (right)", heads, rows),), (note,)
        )

    def facts(self) -> dict[str, Any]:
        """For machines."""
        return {
            "left": self.left.name,
            "right": self.right.name,
            "left_chance": chance_facts(self.left.chance),
            "right_chance": chance_facts(self.right.chance),
            "areas": [
                {
                    "id": pair.area,
                    "left": _facts(pair.left),
                    "right": _facts(pair.right),
                    "edge_more": None if pair.edge_more is None else str(pair.edge_more),
                }
                for pair in self.pairs
            ],
        }


def compare(left: Side, right: Side) -> Comparison:
    """Two pay tables, area by area.

    >>> from taisai.rules import rulebook
    >>> book = rulebook("rws-sic-bo-etg-v8")
    >>> found = compare(Side(book.matrix("A"), book.chance()), Side(book.matrix("C"), book.chance()))
    >>> next(str(pair.edge_more) for pair in found.pairs if pair.area == "total-8")
    '7/144'
    """
    ours = {one.id: one for one in area_odds(*left)}
    theirs = {one.id: one for one in area_odds(*right)}
    labels = {area.id: area.label for side in (right, left) for area in side.matrix.labels}
    areas = [*ours, *(area for area in theirs if area not in ours)]
    pairs = tuple(Pair(area, labels[area], ours.get(area), theirs.get(area)) for area in areas)
    return Comparison(left, right, pairs)


def _odds(one: AreaOdds | None) -> str:
    return "–" if one is None else ", ".join(map(str, one.odds))


def _percent(edge: Fraction | None) -> str:
    return "–" if edge is None else f"{100 * float(edge):.3f} %"


def _deviation(one: AreaOdds | None) -> str:
    return "–" if one is None else f"{sqrt(one.variance):.3f}"


def _facts(one: AreaOdds | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "odds": [str(odds) for odds in one.odds],
        "win_probability": str(one.win_probability),
        "house_edge": str(one.house_edge),
        "variance": str(one.variance),
    }

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


def _odds(area: AreaOdds | None) -> str:
    return "–" if area is None else ", ".join(map(str, area.odds))


def _percent(edge: Fraction | None) -> str:
    return "–" if edge is None else f"{100 * float(edge):.3f} %"


def _deviation(area: AreaOdds | None) -> str:
    return "–" if area is None else f"{sqrt(area.variance):.3f}"


def _facts(area: AreaOdds | None) -> dict[str, Any] | None:
    if area is None:
        return None
    return {
        "odds": [str(odds) for odds in area.odds],
        "win_probability": str(area.win_probability),
        "house_edge": str(area.house_edge),
        "variance": str(area.variance),
    }

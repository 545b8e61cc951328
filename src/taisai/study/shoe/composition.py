"""One composition, told: every area's odds now, beside those of the full shoe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from taisai.rules.areas import AreaId
from taisai.rules.chance import ChanceKind, ChanceRule
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import FACES
from taisai.study.odds import AreaOdds, area_odds
from taisai.study.report import Report, Sheet, Told, columns
from taisai.study.shoe.odds import chance_left


@dataclass(frozen=True)
class CompositionOdds(Told):
    """What every area is worth with these cards left."""

    matrix: Matrix
    full: tuple[int, ...]
    left: tuple[int, ...]
    odds: tuple[AreaOdds, ...]
    before: tuple[Fraction, ...]
    """[area] the house edge with the full shoe."""

    @property
    def best(self) -> tuple[AreaId, ...]:
        """The areas with the least house edge."""
        least = min(odds.house_edge for odds in self.odds)
        return tuple(odds.id for odds in self.odds if odds.house_edge == least)

    def report(self) -> Report:
        """A row an area."""
        numbers = ("wins with", "house edge", "full shoe", "change")
        rows = tuple(
            (
                odds.id,
                ", ".join(map(str, odds.odds)),
                f"{float(odds.win_probability):.3%}",
                f"{float(odds.house_edge):.3%}",
                f"{float(before):.3%}",
                f"{float(odds.house_edge - before) * 100:+.3f}",
            )
            for odds, before in zip(self.odds, self.before, strict=True)
        )
        cards = f"{sum(self.left)} of {sum(self.full)} cards left ({' '.join(map(str, self.left))})"
        head = columns("area", "odds", *numbers, numbers=numbers)
        sheet = Sheet(f"{self.matrix.rulebook}, layout {self.matrix.layout}, {cards}", head, rows)
        least = min(odds.house_edge for odds in self.odds)
        names = " and ".join(self.best) if len(self.best) < 3 else ", ".join(self.best)
        if least < 0:
            return Report((sheet,), (f"The player has the edge on {names}: {float(-least):.3%}.",))
        return Report((sheet,), (f"No bet is worth making; {names} costs least: {float(least):.3%}.",))

    def facts(self) -> dict[str, Any]:
        """All exact."""
        return {
            "rulebook": self.matrix.rulebook,
            "layout": self.matrix.layout,
            "full": list(self.full),
            "left": list(self.left),
            "best": list(self.best),
            "areas": [
                {
                    "id": odds.id,
                    "win_probability": str(odds.win_probability),
                    "house_edge": str(odds.house_edge),
                    "variance": str(odds.variance),
                    "full_shoe": str(before),
                }
                for odds, before in zip(self.odds, self.before, strict=True)
            ],
        }


def full_shoe(rule: ChanceRule, decks: int | None = None) -> tuple[int, ...]:
    """The cards of each face in a shoe of so many decks, or of as many as the book says."""
    if rule.kind is not ChanceKind.CARDS:
        raise RulesError("expected a game of cards, such as mbs-3-card-sic-bo, got one of dice")
    rule.chance(decks)  # refuses a number of decks that the book does not allow
    return ((rule.decks if decks is None else decks) * rule.cards_per_face,) * len(FACES)


def after_seeing(full: Sequence[int], seen: Sequence[int]) -> tuple[int, ...]:
    """What is left of a shoe when these faces are gone."""
    gone = Counter(seen)
    for face in gone:
        if face not in FACES:
            raise RulesError(f"expected cards of face 1 to 6 seen, got {face!r}")
    for face, held in zip(FACES, full, strict=True):
        if gone[face] > held:
            raise RulesError(f"expected at most {held} cards of face {face} seen, got {gone[face]}")
    return tuple(held - gone[face] for face, held in zip(FACES, full, strict=True))


def composition_odds(
    matrix: Matrix, left: Sequence[int], full: Sequence[int] | None = None
) -> CompositionOdds:
    """Every area's exact odds with so many cards of each face left, beside those of the full shoe.

    >>> from taisai.rules import rulebook
    >>> odds = composition_odds(rulebook("mbs-3-card-sic-bo").matrix(), (48, 48, 48, 48, 45, 42))
    >>> odds.best, f"{float(odds.odds[0].house_edge):.3%}"
    (('small',), '-2.909%')
    """
    left = tuple(left)
    whole = left if full is None else tuple(full)
    before = area_odds(matrix, chance_left(whole))
    return CompositionOdds(
        matrix, whole, left, area_odds(matrix, chance_left(left)), tuple(odds.house_edge for odds in before)
    )

"""The odds of a shoe: with given cards left, and in each round before a card is seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from math import comb, prod
from typing import Any, Final

from taisai.rules.areas import AreaId
from taisai.rules.chance import ChanceKind, ChanceRule
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import DICE, FACES, OUTCOMES
from taisai.study.odds import AreaOdds, area_odds
from taisai.study.report import Describable, Sheet, StudyReport, columns
from taisai.study.shoe.odds import chance_left


def rounds_dealt(cards: int, penetration: Fraction) -> int:
    """How many rounds are dealt before the shuffle: a round begins while less than this share is dealt.

    So it is at a table with that setting.

    >>> rounds_dealt(288, Fraction(1, 2)), rounds_dealt(288, Fraction(1))
    (48, 96)
    """
    if not 0 < penetration <= 1:
        raise RulesError(
            f"expected a penetration above 0 and at most 1, such as 0.75, got {float(penetration):g}"
        )
    whole, rest = divmod(penetration.numerator * cards, DICE * penetration.denominator)
    return max(1, min(whole + (rest > 0), cards // DICE))


@dataclass(frozen=True)
class CompositionOdds(Describable):
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

    def report(self) -> StudyReport:
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
            return StudyReport((sheet,), (f"The player has the edge on {names}: {float(-least):.3%}.",))
        return StudyReport((sheet,), (f"No bet is worth making; {names} costs least: {float(least):.3%}.",))

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


MOST_COMPOSITIONS: Final = 20_000
"""Followed one by one with exact fractions where the cards decide on the shuffle: for small shoes."""
MOST_CARDS: Final = 1_000
"""Beyond it the polynomials of all positions take minutes; six decks have 288 cards."""
Left = tuple[int, ...]


@dataclass(frozen=True)
class PositionEdges(Describable):
    """The house edge of every area in every round of a shoe, before a card of it is seen."""

    matrix: Matrix
    left: Left
    rounds: tuple[tuple[Fraction, ...], ...]
    """[round][area] each reckoned by itself, from all that may have been dealt before it."""

    @property
    def are_alike(self) -> bool:
        """Whether every round has the edges of the first."""
        return len(set(self.rounds)) == 1

    def report(self) -> StudyReport:
        """A row an area: the first round and the last."""
        numbers = ("first round", "last round")
        edges = zip(self.matrix.areas, self.rounds[0], self.rounds[-1], strict=True)
        cards = f"{sum(self.left)} cards ({' '.join(map(str, self.left))})"
        sheet = Sheet(
            f"{self.matrix.rulebook}, layout {self.matrix.layout}, {cards}: house edge before a card is seen",
            columns("area", *numbers, "exactly", numbers=numbers),
            tuple(
                (str(area), f"{float(first):.3%}", f"{float(last):.3%}", str(last))
                for area, first, last in edges
            ),
        )
        count = len(self.rounds)
        alike = f"Each of the {count} rounds has exactly the edges of the first; each was reckoned by itself."
        return StudyReport((sheet,), (alike if self.are_alike else "The rounds differ.",))

    def facts(self) -> dict[str, Any]:
        """All exact."""
        return {
            "rulebook": self.matrix.rulebook,
            "layout": self.matrix.layout,
            "left": list(self.left),
            "alike": self.are_alike,
            "rounds": [
                {str(area): str(edge) for area, edge in zip(self.matrix.areas, edges, strict=True)}
                for edges in self.rounds
            ],
        }


def position_edges(matrix: Matrix, left: Sequence[int]) -> PositionEdges:
    """The house edge of each round before any card is seen, from all that may have gone before.

    The theorem is not used. In how many ways m cards of a face are still there, and k of them come now, is
    C(n, m)·C(m, k): a polynomial in m for each face and k. For each outcome the product of six of them counts
    all compositions at once, and every position is one of its coefficients.

    >>> from taisai.rules import rulebook
    >>> edges = position_edges(rulebook("mbs-3-card-sic-bo").matrix(), (48,) * 6)
    >>> len(edges.rounds), edges.are_alike, edges.rounds[95][0]
    (96, True, Fraction(1081, 41041))
    """
    start = tuple(left)
    chance_left(start)
    cards = sum(start)
    if cards > MOST_CARDS:
        raise RulesError(f"expected a shoe of at most {MOST_CARDS:,} cards, got {cards:,}")
    ways = [
        reduce(
            _times,
            (_comes(count, outcome.faces.count(face)) for face, count in zip(FACES, start, strict=True)),
        )
        for outcome in OUTCOMES
    ]
    rounds = []
    for there in range(cards, DICE - 1, -DICE):
        weights = [some[there] for some in ways]
        whole = sum(weights) * matrix.denominator
        rounds.append(tuple(Fraction(-sum(map(int.__mul__, weights, nets)), whole) for nets in matrix.nets))
    return PositionEdges(matrix, start, tuple(rounds))


def _comes(count: int, now: int) -> list[int]:
    """[m] in how many ways m of so many cards are still there and some of those m come now."""
    return [comb(count, there) * comb(there, now) for there in range(count + 1)]


def _times(one: list[int], other: list[int]) -> list[int]:
    """The product of two polynomials."""
    made = [0] * (len(one) + len(other) - 1)
    for place, factor in enumerate(one):
        if factor:
            for more, times in enumerate(other, place):
                made[more] += factor * times
    return made


def stopped_edges(
    matrix: Matrix, left: Sequence[int], shuffled: Callable[[Left], bool]
) -> tuple[Fraction, ...]:
    """[area] the house edge per round dealt when the cards left decide whether to shuffle after a round.

    That is what one shoe brings in the mean, over how many rounds are dealt from it in the mean.
    """
    start = _small(left)

    @cache
    def ahead(now: Left) -> tuple[Fraction, tuple[Fraction, ...]]:
        """The rounds still to come and what they bring, from a shoe about to be dealt from."""
        chance = chance_left(now)
        rounds = Fraction(1)
        nets = [chance.expected(row, matrix.denominator) for row in matrix.nets]
        for outcome, weight in zip(OUTCOMES, chance.weights, strict=True):
            after = tuple(count - outcome.faces.count(face) for face, count in enumerate(now, 1))
            if weight and sum(after) >= DICE and not shuffled(after):
                share = Fraction(weight, chance.total)
                more, then = ahead(after)
                rounds += share * more
                nets = [net + share * later for net, later in zip(nets, then, strict=True)]
        return rounds, tuple(nets)

    rounds, nets = ahead(start)
    return tuple(-net / rounds for net in nets)


def _small(left: Sequence[int]) -> Left:
    start = tuple(left)
    chance_left(start)
    if (compositions := prod(count + 1 for count in start)) > MOST_COMPOSITIONS:
        raise RulesError(f"expected a shoe of at most {MOST_COMPOSITIONS} compositions, got {compositions}")
    return start

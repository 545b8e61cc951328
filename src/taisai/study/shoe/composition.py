"""Odds of a shoe: for given cards left, with one card less, and for each round before a card is seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from math import comb, prod
from typing import Any, Final

from taisai.rules.areas import AreaId
from taisai.rules.chance import Chance, ChanceKind, ChanceRule
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import DICE, FACES, OUTCOMES
from taisai.study.odds import AreaOdds, area_odds
from taisai.study.report import Describable, Sheet, StudyReport, columns

MOST_COUNT: Final = 10_000
"""The most cards of a face: 100 decks with 100 each, the largest shoe of a rulebook."""


def chance_left(left: Sequence[int]) -> Chance:
    """The chances of three cards from a shoe with these cards of each face left.

    >>> chance = chance_left((1, 1, 1, 0, 0, 0))
    >>> chance.total, [str(o) for o, weight in zip(OUTCOMES, chance.weights) if weight]
    (1, ['123'])
    """
    if len(left) != len(FACES):
        raise RulesError(f"expected 6 counts, one for each face, got {len(left)}")
    for face, count in zip(FACES, left, strict=True):
        if type(count) is not int or not 0 <= count <= MOST_COUNT:
            raise RulesError(f"expected 0 to {MOST_COUNT} cards of face {face} left, got {count!r}")
    if sum(left) < DICE:
        raise RulesError(f"expected at least three cards left in the shoe, got {sum(left)}")
    weights = []
    for outcome in OUTCOMES:
        weight = 1
        for face, times in Counter(outcome.faces).items():
            weight *= comb(left[face - 1], times)
        weights.append(weight)
    return Chance(ChanceKind.CARDS, tuple(weights), comb(sum(left), DICE))


def rounds_dealt(cards: int, penetration: Fraction) -> int:
    """The rounds before the shuffle. As at a table, a round begins while less than this share is dealt.

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
    """The odds of every area for these cards left."""

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
        head = columns("area", "odds", numbers=("wins with", "house edge", "full shoe", "change"))
        sheet = Sheet(f"{self.matrix.rulebook}, layout {self.matrix.layout}, {cards}", head, rows)
        least = min(odds.house_edge for odds in self.odds)
        names = " and ".join(self.best) if len(self.best) < 3 else ", ".join(self.best)
        if least < 0:
            return StudyReport((sheet,), (f"The player has an advantage on {names}: {float(-least):.3%}.",))
        note = f"No bet has a positive expected value; least house edge: {names}, {float(least):.3%}."
        return StudyReport((sheet,), (note,))

    def facts(self) -> dict[str, Any]:
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
    """The cards of each face in a full shoe; by default with the decks of the rulebook."""
    if rule.kind is not ChanceKind.CARDS:
        raise RulesError("expected a rulebook with cards, such as mbs-3-card-sic-bo, got one with dice")
    rule.chance(decks)  # raises an error for an invalid number of decks
    return ((rule.decks if decks is None else decks) * rule.cards_per_face,) * len(FACES)


def after_seeing(full: Sequence[int], seen: Sequence[int]) -> tuple[int, ...]:
    """The cards left after these faces were dealt."""
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
    """The exact odds of every area for the cards left of each face, and those of the full shoe.

    >>> from taisai.rules import rulebook
    >>> odds = composition_odds(rulebook("mbs-3-card-sic-bo").matrix(), (48, 48, 48, 48, 45, 42))
    >>> odds.best, f"{float(odds.odds[0].house_edge):.3%}"
    (('small',), '-2.909%')
    """
    left = tuple(left)
    whole = left if full is None else tuple(full)
    before = area_odds(matrix, chance_left(whole))
    edges = tuple(odds.house_edge for odds in before)
    return CompositionOdds(matrix, whole, left, area_odds(matrix, chance_left(left)), edges)


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of removing one card, of each face, on the house edge of an area."""

    area: AreaId
    edge: Fraction
    """The house edge before the removal."""
    changes: tuple[Fraction, ...]
    """[face] the edge after the removal minus the edge before; negative if the player gains."""


@dataclass(frozen=True)
class Removal(Describable):
    """The effects of removal for all areas of a layout."""

    matrix: Matrix
    left: tuple[int, ...]
    effects: tuple[Effect, ...]

    def of(self, area: str) -> Effect:
        return self.effects[self.matrix.row(area)]

    def report(self) -> StudyReport:
        faces = [f"−{face}" for face in FACES]
        rows = tuple(
            (effect.area, f"{float(effect.edge):.3%}", *(f"{float(c) * 100:+.3f}" for c in effect.changes))
            for effect in self.effects
        )
        head = columns("area", numbers=("house edge", *faces))
        cards = f"{sum(self.left)} cards left ({', '.join(map(str, self.left))})"
        game = f"{self.matrix.rulebook}, layout {self.matrix.layout}"
        title = f"{game}, {cards}; change of the edge, in points, when one card is removed"
        return StudyReport((Sheet(title, head, rows),))

    def facts(self) -> dict[str, Any]:
        return {
            "rulebook": self.matrix.rulebook,
            "layout": self.matrix.layout,
            "left": list(self.left),
            "areas": [
                {"id": e.area, "house_edge": str(e.edge), "changes": [str(change) for change in e.changes]}
                for e in self.effects
            ],
        }


def removal(matrix: Matrix, left: Sequence[int]) -> Removal:
    """The effects of removing one card from a shoe with these cards of each face.

    >>> from taisai.rules import rulebook
    >>> effects = removal(rulebook("mbs-3-card-sic-bo").matrix(), (48,) * 6)
    >>> [f"{float(change):+.4%}" for change in effects.of("small").changes]
    ['+0.6728%', '+0.4364%', '+0.1471%', '-0.1471%', '-0.4364%', '-0.6728%']
    """
    left = tuple(left)
    before = area_odds(matrix, chance_left(left))
    if min(left) < 1 or sum(left) <= DICE:
        raise RulesError(f"expected at least 1 card of every face and 4 cards in total, got {left}")
    after = []
    for face in range(len(FACES)):
        gone = [count - (place == face) for place, count in enumerate(left)]
        after.append(area_odds(matrix, chance_left(gone)))
    effects = (
        Effect(odds.id, odds.house_edge, tuple(then[row].house_edge - odds.house_edge for then in after))
        for row, odds in enumerate(before)
    )
    return Removal(matrix, left, tuple(effects))


MOST_COMPOSITIONS: Final = 20_000  # the most compositions of `stopped_edges`, which visits each of them
MOST_CARDS: Final = 1_000  # with more, the polynomials take minutes; six decks have 288 cards
Left = tuple[int, ...]


@dataclass(frozen=True)
class PositionEdges(Describable):
    """The house edge of every area in every round of a shoe, before any card is seen."""

    matrix: Matrix
    left: Left
    rounds: tuple[tuple[Fraction, ...], ...]
    """[round][area] each computed separately, over all cards that may have been dealt before."""

    @property
    def are_alike(self) -> bool:
        """Whether every round has the edges of the first."""
        return len(set(self.rounds)) == 1

    def report(self) -> StudyReport:
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
        alike = f"All {count} rounds have exactly the same edges; each was computed separately."
        return StudyReport((sheet,), (alike if self.are_alike else "The rounds differ.",))

    def facts(self) -> dict[str, Any]:
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
    """The house edge of each round before any card is seen, over all cards that may have been dealt before.

    It does not use the theorem that all positions are equal. For a face with n cards, m are left and k of
    them come now in C(n, m)·C(m, k) ways: the coefficients in m of a polynomial. For each outcome, the
    product of six such polynomials counts all compositions, and each position is one of its coefficients.

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
            _product,
            (_ways(count, outcome.faces.count(face)) for face, count in zip(FACES, start, strict=True)),
        )
        for outcome in OUTCOMES
    ]
    rounds = []
    for there in range(cards, DICE - 1, -DICE):
        weights = [some[there] for some in ways]
        whole = sum(weights) * matrix.denominator
        rounds.append(tuple(Fraction(-sum(map(int.__mul__, weights, nets)), whole) for nets in matrix.nets))
    return PositionEdges(matrix, start, tuple(rounds))


def _ways(count: int, now: int) -> list[int]:
    """[m] the ways that m of the cards of a face are left and `now` of those come in this round."""
    return [comb(count, there) * comb(there, now) for there in range(count + 1)]


def _product(left: list[int], right: list[int]) -> list[int]:
    product = [0] * (len(left) + len(right) - 1)
    for place, factor in enumerate(left):
        if factor:
            for power, times in enumerate(right, place):
                product[power] += factor * times
    return product


def stopped_edges(
    matrix: Matrix, left: Sequence[int], shuffled: Callable[[Left], bool]
) -> tuple[Fraction, ...]:
    """[area] the house edge per round if the cards left decide after each round whether to shuffle.

    It is the expected loss in one shoe divided by the expected number of rounds.
    """
    start = tuple(left)
    chance_left(start)
    if (compositions := prod(count + 1 for count in start)) > MOST_COMPOSITIONS:
        raise RulesError(f"expected a shoe of at most {MOST_COMPOSITIONS} compositions, got {compositions}")

    @cache
    def ahead(now: Left) -> tuple[Fraction, tuple[Fraction, ...]]:
        """The expected number of rounds from this composition on, and the expected net of each area."""
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

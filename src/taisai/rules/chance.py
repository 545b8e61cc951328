"""Chance: the exact probability of each of the 56 outcomes, for dice or for cards from a shoe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction
from math import comb
from typing import Final, NamedTuple

from taisai.rules.clauses import Clause
from taisai.rules.errors import RulesError
from taisai.rules.outcomes import DICE, FACES, OUTCOMES
from taisai.rules.toml_reader import Section

ROLLS: Final = 216
MAX_DECKS: Final = 100  # a larger number is a typing mistake


class ChanceKind(StrEnum):
    """What the game is played with."""

    DICE = "dice"
    CARDS = "cards"


class Chance(NamedTuple):
    """Exact weights of the 56 outcomes and their sum."""

    kind: ChanceKind
    weights: tuple[int, ...]
    total: int
    decks: int | None = None
    seen: tuple[int, ...] = ()
    """How many cards of each face, 1 to 6, have been seen."""

    def probability(self, places: Sequence[int]) -> Fraction:
        """The probability of the outcomes with these indexes."""
        return Fraction(sum(self.weights[place] for place in places), self.total)

    def expected(self, row: Sequence[int], denominator: int) -> Fraction:
        """The expected net of one matrix row, per unit staked."""
        return Fraction(sum(map(int.__mul__, self.weights, row)), self.total * denominator)


class ChanceRule(NamedTuple):
    """What a rulebook says about its dice or cards."""

    kind: ChanceKind
    clause: Clause
    cards_per_face: int = 0
    least_decks: int = 0
    most_decks: int = 0
    decks: int = 0
    """The default number of decks."""

    def chance(self, decks: int | None = None, seen: Sequence[int] = ()) -> Chance:
        """The chances; with cards, for this many decks after these cards were dealt or seen."""
        if self.kind is ChanceKind.DICE:
            if decks is not None or seen:
                got = f"{len(seen)} cards seen" if decks is None else f"{decks} decks"
                raise RulesError(f"expected no decks and no cards seen in a game of dice, got {got}")
            return Chance(self.kind, tuple(outcome.ways for outcome in OUTCOMES), ROLLS)
        decks = self.decks if decks is None else decks
        if not self.least_decks <= decks <= self.most_decks:
            bounds = f"{self.least_decks} to {self.most_decks} decks"
            raise RulesError(f"expected {bounds} ({self.clause}), got {decks}")
        return self._shoe(decks, Counter(seen))

    def _shoe(self, decks: int, seen: Counter[int]) -> Chance:
        for face in seen:
            if face not in FACES:
                raise RulesError(f"expected cards of face 1 to 6 seen, got {face!r}")
        per_face = decks * self.cards_per_face
        left = {int(face): per_face - seen[face] for face in FACES}
        for face, count in left.items():
            if count < 0:
                raise RulesError(f"expected at most {per_face} cards of face {face} seen, got {seen[face]}")
        if sum(left.values()) < DICE:
            raise RulesError(f"expected at least {DICE} cards left in the shoe, got {sum(left.values())}")
        weights = []
        for outcome in OUTCOMES:
            weight = 1
            for face, count in Counter(outcome.faces).items():
                weight *= comb(left[face], count)
            weights.append(weight)
        total = comb(sum(left.values()), DICE)
        return Chance(self.kind, tuple(weights), total, decks, tuple(seen[face] for face in FACES))


def read_chance(book: Section) -> ChanceRule:
    section = book.table("chance")
    kind = section.choice("kind", ChanceKind)
    clause = section.clause("clause")
    if kind is ChanceKind.DICE:
        section.whole("dice", DICE, DICE)
        return ChanceRule(kind, clause)
    per_face = section.whole("cards_per_face", 1, 100)
    least = section.whole("least_decks", 1, MAX_DECKS)
    most = section.whole("most_decks", least, MAX_DECKS)
    decks = section.whole("decks", least, most)
    return ChanceRule(kind, clause, per_face, least, most, decks)

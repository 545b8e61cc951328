"""Chance is exact: dice against all 216 rolls, a shoe against every ordered draw of three cards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taisai.rules import OUTCOMES, Chance, ChanceKind, Clause, Outcome, RulesError, rulebook
from taisai.rules.chance import ROLLS, ChanceRule

CARDS = rulebook("mbs-3-card-sic-bo")
DICE = rulebook("mbs-sic-bo-v6")


def small_shoe(cards_per_face: int) -> ChanceRule:
    """A shoe small enough to draw from in every order."""
    return ChanceRule(ChanceKind.CARDS, Clause("2.1"), cards_per_face, 1, 3, 1)


def by_drawing(cards: Sequence[int]) -> dict[str, Fraction]:
    """The chance of each outcome, counted over all ordered draws of three."""
    drawn = Counter(str(Outcome.of(*draw)) for draw in permutations(cards, 3))
    return {name: Fraction(count, drawn.total()) for name, count in drawn.items()}


def shares(chance: Chance) -> dict[str, Fraction]:
    """The chance of each outcome that can come."""
    found = {str(o): Fraction(chance.weights[o.index], chance.total) for o in OUTCOMES}
    return {name: share for name, share in found.items() if share}


def sound(chance: Chance) -> bool:
    return len(chance.weights) == 56 and sum(chance.weights) == chance.total and min(chance.weights) >= 0


def test_dice_are_the_216_rolls() -> None:
    chance = DICE.chance()
    rolled = Counter(str(Outcome.of(*roll)) for roll in product(range(1, 7), repeat=3))
    assert shares(chance) == {name: Fraction(count, 216) for name, count in rolled.items()}
    assert chance.total == ROLLS == 216
    assert sound(chance)


@pytest.mark.parametrize("per_face", [1, 2])
def test_a_small_shoe_is_every_ordered_draw(per_face: int) -> None:
    cards = [face for face in range(1, 7) for _ in range(per_face)]
    chance = small_shoe(per_face).chance()
    assert shares(chance) == by_drawing(cards)
    assert sound(chance)


@given(counts=st.lists(st.integers(0, 2), min_size=6, max_size=6).filter(lambda counts: sum(counts) <= 9))
def test_cards_seen_are_gone_from_the_shoe(counts: list[int]) -> None:
    seen = [face for face, count in enumerate(counts, 1) for _ in range(count)]
    left = [face for face, count in enumerate(counts, 1) for _ in range(2 - count)]
    chance = small_shoe(2).chance(seen=seen)
    assert shares(chance) == by_drawing(left)
    assert sound(chance)
    assert chance.seen == tuple(counts)


@given(decks=st.integers(2, 6), seen=st.lists(st.integers(1, 6), max_size=90))
def test_the_shoe_of_the_document_adds_up(decks: int, seen: list[int]) -> None:
    if max(Counter(seen).values(), default=0) <= 8 * decks:
        chance = CARDS.chance(decks=decks, seen=seen)
        assert sound(chance)
        n = 48 * decks - len(seen)
        assert chance.total == n * (n - 1) * (n - 2) // 6
        assert chance == CARDS.chance(decks=decks, seen=sorted(seen))


def test_a_shoe_without_end_is_three_dice() -> None:
    """The more decks, the nearer to dice, triples from below."""
    rule = ChanceRule(ChanceKind.CARDS, Clause("2.1"), 8, 1, 100, 1)
    triples = [place for place, outcome in enumerate(OUTCOMES) if len(set(outcome.faces)) == 1]
    shown = [rule.chance(decks).probability(triples) for decks in (1, 2, 6, 20, 100)]
    assert shown == sorted(shown)
    assert Fraction(1, 36) - shown[-1] < Fraction(1, 1000)
    assert shown[-1] < Fraction(1, 36)


def test_the_document_starts_with_six_decks_unless_said() -> None:
    assert CARDS.chance() == CARDS.chance(decks=6)
    assert CARDS.chance().decks == 6


def test_probability_and_expectation() -> None:
    chance = DICE.chance()
    assert chance.probability(range(56)) == 1
    assert chance.probability([]) == 0
    assert chance.probability([Outcome.of(1, 2, 3).index]) == Fraction(1, 36)
    assert chance.expected([outcome.total for outcome in OUTCOMES], 1) == Fraction(21, 2)
    assert chance.expected([outcome.total for outcome in OUTCOMES], 2) == Fraction(21, 4)


@pytest.mark.parametrize("decks", [-1, 0, 1, 7, 10**30])
def test_fewer_than_two_or_more_than_six_decks_are_refused(decks: int) -> None:
    with pytest.raises(RulesError, match=rf"^expected 2 to 6 decks \(2\.1\), got {decks}$"):
        CARDS.chance(decks=decks)


@pytest.mark.parametrize("decks", [2, 3, 4, 5, 6])
def test_as_many_cards_of_a_face_as_the_shoe_holds_may_be_seen_and_not_one_more(decks: int) -> None:
    for face in range(1, 7):
        chance = CARDS.chance(decks=decks, seen=[face] * 8 * decks)
        assert all(chance.weights[o.index] == 0 for o in OUTCOMES if face in o.faces)
        with pytest.raises(RulesError, match=rf"at most {8 * decks} cards of face {face} seen, got"):
            CARDS.chance(decks=decks, seen=[face] * (8 * decks + 1))


def test_three_cards_must_be_left() -> None:
    all_cards = [face for face in range(1, 7) for _ in range(16)]
    last = CARDS.chance(decks=2, seen=all_cards[:-3])
    assert shares(last) == {"666": Fraction(1)}
    for left in (2, 1, 0):
        with pytest.raises(RulesError, match=rf"at least 3 cards left in the shoe, got {left}$"):
            CARDS.chance(decks=2, seen=all_cards[: len(all_cards) - left])


@pytest.mark.parametrize("face", [0, 7, -1])
def test_a_card_that_is_no_face_cannot_have_been_seen(face: int) -> None:
    with pytest.raises(RulesError, match=rf"^expected cards of face 1 to 6 seen, got {face}$"):
        CARDS.chance(seen=[1, face])


@pytest.mark.parametrize("asked", [{"decks": 6}, {"seen": (1,)}, {"decks": 2, "seen": (1, 1, 6)}])
def test_a_game_of_dice_has_no_shoe(asked: dict[str, object]) -> None:
    with pytest.raises(RulesError, match="no decks and no cards seen in a game of dice"):
        DICE.chance(**asked)  # type: ignore[arg-type]


def test_sabotage_drawing_with_replacement_is_seen() -> None:
    with_replacement = Counter(str(Outcome.of(*draw)) for draw in product(range(1, 7), repeat=3))
    assert by_drawing(range(1, 7)) != {name: Fraction(n, 216) for name, n in with_replacement.items()}
    weights = list(CARDS.chance().weights)
    weights[0] += 1
    assert not sound(CARDS.chance()._replace(weights=tuple(weights)))

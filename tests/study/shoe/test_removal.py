"""Effects of removal: exact, and what must hold of them."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import sqrt

import pytest

from taisai.rules import RulesError
from taisai.study.shoe.composition import removal
from taisai.study.shoe.counting import linear_count
from tests.study.shoe import brute

MATRIX = brute.MATRIX


def test_against_every_deal_without_the_card() -> None:
    found = removal(MATRIX, (3, 2, 2, 1, 2, 2))
    before = brute.edges(MATRIX, (3, 2, 2, 1, 2, 2))
    for face in range(6):
        gone = tuple(count - (place == face) for place, count in enumerate((3, 2, 2, 1, 2, 2)))
        after = brute.edges(MATRIX, gone)
        for row, effect in enumerate(found.effects):
            assert effect.edge == before[row]
            assert effect.changes[face] == after[row] - before[row]


@pytest.mark.parametrize("decks", range(2, 7))
def test_over_all_cards_the_effects_cancel(decks: int) -> None:
    for effect in removal(MATRIX, (8 * decks,) * 6).effects:
        assert sum(effect.changes) == 0
        assert any(effect.changes) is (effect.area != "any-triple")


def test_the_mirror_has_the_mirrored_effects() -> None:
    found = removal(MATRIX, (48,) * 6)
    for one, other in (("small", "big"), ("odd", "even"), ("total-4", "total-17"), ("total-9", "total-12")):
        assert found.of(one).changes == found.of(other).changes[::-1]
    assert found.of("total-4").changes[0] == -3 * found.of("total-4").changes[2]


def test_a_card_must_be_there_to_be_removed() -> None:
    with pytest.raises(RulesError, match="expected at least 1 card of every face and 4 cards in total"):
        removal(MATRIX, (3, 0, 3, 3, 3, 3))


@pytest.mark.parametrize("area", ["small", "total-4", "total-9", "odd"])
@pytest.mark.parametrize("most", [1, 2])
def test_no_other_whole_tags_follow_better(area: str, most: int) -> None:
    found = removal(MATRIX, (16,) * 6)
    gains = [-float(change) for change in found.of(area).changes]
    ours = linear_count(found, area, most)

    def correlation(tags: tuple[int, ...]) -> float:
        both = sum(tag * gain for tag, gain in zip(tags, gains, strict=True))
        squares = sum(tag * tag for tag in tags) * sum(gain * gain for gain in gains)
        return both / sqrt(squares) if squares else 0.0

    balanced = [tags for tags in product(range(-most, most + 1), repeat=6) if sum(tags) == 0]
    assert ours.tags in balanced
    assert ours.correlation == pytest.approx(correlation(ours.tags))
    assert ours.correlation == pytest.approx(max(map(correlation, balanced)))


def test_tags_have_a_limit_and_a_reason() -> None:
    found = removal(MATRIX, (16,) * 6)
    for tag in (0, 5):
        with pytest.raises(RulesError, match=f"expected a greatest tag of 1 to 4, got {tag}"):
            linear_count(found, "small", tag)
    with pytest.raises(RulesError, match="no card changes the house edge of any-triple"):
        linear_count(found, "any-triple")
    with pytest.raises(RulesError, match=r"unknown area .* on mbs-3-card-sic-bo"):
        linear_count(found, "double-1")


def test_the_effects_tell_themselves() -> None:
    found = removal(MATRIX, (48,) * 6)
    assert "+2.734" in str(found)
    assert found.facts()["areas"][0]["changes"][0] == str(found.of("small").changes[0])
    assert Fraction(found.facts()["areas"][0]["house_edge"]) == Fraction(1081, 41041)

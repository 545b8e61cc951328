"""Exact odds against counting: all 216 rolls of the dice, every ordered draw from a shoe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taisai.rules import ChanceKind, Clause, Matrix, Outcome, rulebook, rulebook_ids
from taisai.rules.chance import ChanceRule
from taisai.study.odds import AreaOdds, area_odds

ALL = [(book, layout) for book in rulebook_ids() for layout in rulebook(book).layouts]
CARDS = rulebook("mbs-3-card-sic-bo")
DICE = rulebook("us-sic-bo")
ROLLS = Counter(Outcome.of(*roll) for roll in product(range(1, 7), repeat=3))
Distribution = tuple[Fraction, Fraction, Fraction]


def draws(cards: Iterable[int]) -> Counter[Outcome]:
    """All ordered draws of three cards."""
    return Counter(Outcome.of(*draw) for draw in permutations(cards, 3))


def counted(matrix: Matrix, area: str, shown: Counter[Outcome]) -> Distribution:
    """Probability, edge and variance of an area by the textbook, over outcomes that were counted."""
    nets = [(matrix.net(area, outcome), times) for outcome, times in shown.items()]
    total = shown.total()
    won = sum(times for net, times in nets if net > 0)
    mean = sum((net * times for net, times in nets), Fraction(0)) / total
    variance = sum(((net - mean) ** 2 * times for net, times in nets), Fraction(0)) / total
    return Fraction(won, total), -mean, variance


def law(odds: AreaOdds) -> Distribution:
    return odds.win_probability, odds.house_edge, odds.variance


@pytest.mark.parametrize(("book", "layout"), [key for key in ALL if key[0] != CARDS.id])
def test_every_area_is_what_216_rolls_make_it(book: str, layout: str) -> None:
    matrix = rulebook(book).matrix(layout)
    found = area_odds(matrix, rulebook(book).chance())
    assert [odds.id for odds in found] == list(matrix.areas)
    for odds in found:
        assert law(odds) == counted(matrix, odds.id, ROLLS), odds.id


@pytest.mark.parametrize("settings_", [{"double_on_triple": "no"}, {"double_on_triple": "yes"}])
def test_under_every_setting_and_offer_too(settings_: dict[str, str]) -> None:
    offered = {"triple-1": "180.5 to 1", "single-1": "6 to 5", "small": "1.001 to 1"}
    matrix = DICE.matrix("A", settings=settings_, offered=offered)
    for odds in area_odds(matrix, DICE.chance()):
        assert law(odds) == counted(matrix, odds.id, ROLLS), odds.id


@pytest.mark.parametrize(("book", "layout"), ALL)
@settings(max_examples=4)
@given(gone=st.lists(st.integers(0, 2), min_size=6, max_size=6).filter(lambda gone: sum(gone) <= 9))
def test_every_area_is_what_the_cards_left_in_a_shoe_make_it(book: str, layout: str, gone: list[int]) -> None:
    """A small shoe, on the pay tables of the dice games as well: the mathematics does not care."""
    shoe = ChanceRule(ChanceKind.CARDS, Clause("2.1"), 2, 1, 3, 1)
    seen = [face for face, count in enumerate(gone, 1) for _ in range(count)]
    left = [face for face, count in enumerate(gone, 1) for _ in range(2 - count)]
    matrix = rulebook(book).matrix(layout)
    shown = draws(left)
    for odds in area_odds(matrix, shoe.chance(seen=seen)):
        assert law(odds) == counted(matrix, odds.id, shown), odds.id


def test_the_shoe_of_the_document_card_by_card() -> None:
    left = [face for face in range(1, 7) for _ in range(16)]
    for face in (1, 1, 6):
        left.remove(face)
    matrix = CARDS.matrix("A")
    shown = draws(left)
    for odds in area_odds(matrix, CARDS.chance(decks=2, seen=(1, 1, 6))):
        assert law(odds) == counted(matrix, odds.id, shown), odds.id


def test_known_figures() -> None:
    found = {str(odds.id): odds for odds in area_odds(DICE.matrix("A"), DICE.chance())}
    assert law(found["small"]) == (Fraction(35, 72), Fraction(1, 36), Fraction(1295, 1296))
    assert found["any-triple"].house_edge == Fraction(11, 36)
    assert found["single-1"].house_edge == Fraction(17, 216)
    assert [str(odds) for odds in found["single-1"].odds] == ["1 to 1", "2 to 1", "3 to 1"]


def test_areas_that_share_a_law_do_not_share_their_odds_text() -> None:
    found = {
        str(odds.id): odds for odds in area_odds(DICE.matrix("A", offered={"big": "2 to 2"}), DICE.chance())
    }
    assert law(found["big"]) == law(found["small"])
    assert (str(found["big"].odds[0]), str(found["small"].odds[0])) == ("2 to 2", "1 to 1")


def test_a_bet_that_cannot_win_is_lost_for_certain() -> None:
    seen = [face for face in range(1, 7) for _ in range(16)][:-3]
    for odds in area_odds(CARDS.matrix("A"), CARDS.chance(decks=2, seen=seen)):
        wins = odds.id == "any-triple"
        assert odds.win_probability == int(wins), odds.id
        assert odds.variance == 0
        assert wins or odds.house_edge == 1


def test_sabotage_another_net_or_another_count_is_seen() -> None:
    matrix = DICE.matrix("A")
    generous = DICE.matrix("A", offered={"small": "1.001 to 1"})
    assert counted(matrix, "small", ROLLS) != counted(generous, "small", ROLLS)
    loaded_die = ROLLS.copy()
    loaded_die[Outcome.of(6, 6, 6)] += 1
    assert counted(matrix, "small", ROLLS) != counted(matrix, "small", loaded_die)

"""What Sic Bo at Marina Bay Sands, version 6, calls by what name, and what may be bet on."""

from __future__ import annotations

import pytest

from taisai.rules import Rulebook, rulebook
from tests.clauses.rulebook_queries import (
    areas_called,
    drawn,
    each_of,
    kinds_on,
    totals_go_by_the_sum,
    won_on,
)
from tests.clauses.test_mbs_pay import DOUBLE_SINGLES, FOURS, PAIRS, THREES
from tests.clauses.winning import FACES

KINDS = {
    "small": 1,
    "big": 1,
    "odd": 1,
    "even": 1,
    "triple": 6,
    "double": 6,
    "any-triple": 1,
    "total": 14,
    "pair": 15,
    "three": 20,
    "double-single": 28,
    "single": 6,
    "four": 4,
}


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("mbs-sic-bo-v6")


def test_mbs_1_1_2_the_tumbler_throws_the_dice(book: Rulebook) -> None:
    assert [item.id for item in book.equipment if item.least_tumbles] == ["tumbler"]
    assert book.chance_rule.kind == "dice"


def test_mbs_3_4_a_bet_wins_when_the_dice_agree_with_its_area(book: Rulebook) -> None:
    for layout in ("A", "B"):
        assert won_on(book, layout, 1, 2, 3) == {
            *("small", "even", "total-6", "three-123", "four-1234"),
            *("single-1", "single-2", "single-3", "pair-12", "pair-13", "pair-23"),
        }
        assert won_on(book, layout, 5, 4, 5) == {
            *("big", "even", "total-14", "double-5", "double-single-554"),
            *("single-4", "single-5", "pair-45"),
        }
        assert won_on(book, layout, 2, 2, 2) == {
            *("any-triple", "triple-2", "double-2", "single-2", "total-6"),
        }


def test_mbs_3_5_any_area_may_be_bet_on_and_all_together(book: Rulebook) -> None:
    for layout in ("A", "B"):
        assert kinds_on(book, layout) == KINDS
        assert won_on(book, layout, 6, 6, 6) == {"any-triple", "triple-6", "double-6", "single-6"}


def test_mbs_3_5_1_small(book: Rulebook) -> None:
    assert areas_called(book, "Small") == {"small"}


def test_mbs_3_5_2_big(book: Rulebook) -> None:
    assert areas_called(book, "Big") == {"big"}


def test_mbs_3_5_3_odd(book: Rulebook) -> None:
    assert areas_called(book, "Odd") == {"odd"}


def test_mbs_3_5_4_even(book: Rulebook) -> None:
    assert areas_called(book, "Even") == {"even"}


def test_mbs_3_5_5_specific_triple(book: Rulebook) -> None:
    assert areas_called(book, "Specific Triple") == each_of("triple", FACES)


def test_mbs_3_5_6_specific_double(book: Rulebook) -> None:
    assert areas_called(book, "Specific Double") == each_of("double", FACES)


def test_mbs_3_5_7_any_triple(book: Rulebook) -> None:
    assert areas_called(book, "Any Triple") == {"any-triple"}


def test_mbs_3_5_8_total(book: Rulebook) -> None:
    assert areas_called(book, "Total") == {f"total-{total}" for total in range(4, 18)}


def test_mbs_3_5_9_two_dice_combination(book: Rulebook) -> None:
    assert areas_called(book, "Two Dice Combination") == each_of("pair", PAIRS)


def test_mbs_3_5_10_three_single_dice_combination(book: Rulebook) -> None:
    assert areas_called(book, "Three Single Dice Combination") == each_of("three", THREES)


def test_mbs_3_5_11_double_with_single(book: Rulebook) -> None:
    assert areas_called(book, "Double with Single") == each_of("double-single", DOUBLE_SINGLES)


def test_mbs_3_5_12_single_dice(book: Rulebook) -> None:
    assert areas_called(book, "Single Dice") == each_of("single", FACES)


def test_mbs_3_5_13_three_from_four(book: Rulebook) -> None:
    assert areas_called(book, "Three from Four") == each_of("four", FOURS)


def test_mbs_3_6_the_dots_on_the_upward_faces_decide(book: Rulebook) -> None:
    totals_go_by_the_sum(book)


def test_mbs_appendix_a_shows_the_areas_in_part(book: Rulebook) -> None:
    assert [layout.id for layout in book.layouts.values() if layout.clause == "Appendix A"] == ["A"]
    assert len(drawn(book, "A", "document")) == 9
    assert {"big", "small", "totals"} <= drawn(book, "A", "document")


def test_mbs_appendix_b_is_lost_and_drawn_by_us(book: Rulebook) -> None:
    assert [layout.id for layout in book.layouts.values() if layout.clause == "Appendix B"] == ["B"]
    assert drawn(book, "B", "document") == set()
    assert kinds_on(book, "B") == KINDS

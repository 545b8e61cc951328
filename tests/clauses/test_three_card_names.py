"""What 3 Card Sic Bo at Marina Bay Sands calls by what name, and its two lost drawings."""

from __future__ import annotations

import pytest

from taisai.rules import Irregularity, Rulebook, rulebook
from tests.clauses.rulebook_queries import areas_called, drawn, kinds_on, totals_go_by_the_sum

KINDS = {"small": 1, "big": 1, "odd": 1, "even": 1, "any-triple": 1, "total": 14}


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("mbs-3-card-sic-bo")


def test_three_card_3_3_a_card_counts_as_many_points_as_it_shows(book: Rulebook) -> None:
    totals_go_by_the_sum(book)


def test_three_card_3_6_1_small(book: Rulebook) -> None:
    assert areas_called(book, "Small") == {"small"}


def test_three_card_3_6_2_big(book: Rulebook) -> None:
    assert areas_called(book, "Big") == {"big"}


def test_three_card_3_6_3_odd(book: Rulebook) -> None:
    assert areas_called(book, "Odd") == {"odd"}


def test_three_card_3_6_4_even(book: Rulebook) -> None:
    assert areas_called(book, "Even") == {"even"}


def test_three_card_3_6_5_any_triple(book: Rulebook) -> None:
    assert areas_called(book, "Any Triple") == {"any-triple"}


def test_three_card_3_6_6_three_card_total(book: Rulebook) -> None:
    assert areas_called(book, "Three Card Total") == {f"total-{total}" for total in range(4, 18)}


def lost_and_drawn_by_us(book: Rulebook, diagram: str, layout: str) -> None:
    assert [one.id for one in book.layouts.values() if one.clause == diagram] == [layout]
    assert drawn(book, layout, "document") == set()
    assert kinds_on(book, layout) == KINDS


def test_three_card_diagram_a_is_lost_and_drawn_by_us(book: Rulebook) -> None:
    lost_and_drawn_by_us(book, "Diagram A", "A")


def test_three_card_diagram_b_is_lost_and_drawn_by_us(book: Rulebook) -> None:
    lost_and_drawn_by_us(book, "Diagram B", "B")


def test_three_card_5_2_foreign_card_has_two_rules_and_no_third(book: Rulebook) -> None:
    cells = book.irregularities.cells
    assert {cells[Irregularity.FOREIGN_CARD, phase].clause for phase in book.irregularities.phases} == {
        "5.2.1",
        "5.2.2",
    }

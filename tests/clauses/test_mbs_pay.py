"""What Sic Bo at Marina Bay Sands, version 6, pays, clause by clause; figures typed in from the document."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import pytest

from taisai.rules import (
    Rulebook,
    rulebook,
)
from taisai.rules.chance import ChanceKind
from tests.clauses.conduct_queries import (
    equipment_by,
)
from tests.clauses.rulebook_queries import (
    bands_of,
    cells_of,
    drawn,
    errata,
    loses_by,
    not_on_layout,
    paid_by,
    pays,
    readings,
)
from tests.clauses.winning import (
    FACES,
    OUTCOME_NAMES,
    TRIPLES,
    Paid,
    all_alike,
    all_three,
    both_show,
    by_count,
    for_each,
    just_these,
    sums_but_no_triple,
    three_of_four,
    totals,
    two_or_three,
)

PAIRS: Final = "12 13 14 15 16 23 24 25 26 34 35 36 45 46 56"
THREES: Final = "126 135 234 256 346 123 136 145 235 356 124 146 236 245 456 125 134 156 246 345"
DOUBLE_SINGLES: Final = (
    "113 114 115 116 221 223 224 225 226 331 332 334 335 336 "
    "441 442 443 445 446 551 552 553 554 556 661 662 663 664"
)
FOURS: Final = "1234 2345 2356 3456"


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("mbs-sic-bo-v6")


# Pay: both layouts have the one set of tables


def paid_on_both(book: Rulebook, clause: str, expected: dict[str, Paid]) -> None:
    for layout in ("A", "B"):
        matrix = book.matrix(layout)
        pays(matrix, clause, expected)
        assert paid_by(matrix, clause) == set(expected)


def lost_on_both(book: Rulebook, clause: str, expected: dict[str, Paid]) -> None:
    for layout in ("A", "B"):
        loses_by(book.matrix(layout), clause, expected)


def test_mbs_4_1_1_named_areas_triples_and_doubles(book: Rulebook) -> None:
    expected: dict[str, Paid] = {
        "small": sums_but_no_triple(4, 10, 1, "1"),
        "big": sums_but_no_triple(11, 17, 1, "1"),
        "odd": sums_but_no_triple(5, 17, 2, "1"),
        "even": sums_but_no_triple(4, 16, 2, "1"),
        "any-triple": all_alike("31"),
        **for_each("triple", FACES, all_three, "180"),
        **for_each("double", FACES, two_or_three, "11"),
    }
    assert len(expected) == 17
    paid_on_both(book, "4.1.1", expected)


def test_mbs_4_1_2_totals(book: Rulebook) -> None:
    expected = totals(
        {
            (4, 17): "62",
            (5, 16): "31",
            (6, 15): "18",
            (7, 14): "12",
            (8, 13): "8",
            (9, 12): "7",
            (10, 11): "6",
        }
    )
    assert len(expected) == 14
    paid_on_both(book, "4.1.2", expected)
    assert set(expected["total-6"]) == {"114", "123", "222"}


def test_mbs_4_1_2_no_bet_on_3_or_18(book: Rulebook) -> None:
    not_on_layout(book, "A B", ["total-3", "total-18"])


def test_mbs_4_1_3_pairs(book: Rulebook) -> None:
    expected = for_each("pair", PAIRS, both_show, "6")
    assert len(expected) == 15
    paid_on_both(book, "4.1.3", expected)


def test_mbs_4_1_4_three_numbers(book: Rulebook) -> None:
    expected = for_each("three", THREES, just_these, "30")
    assert len(expected) == 20
    paid_on_both(book, "4.1.4", expected)


def test_mbs_4_1_5_double_with_single(book: Rulebook) -> None:
    expected = for_each("double-single", DOUBLE_SINGLES, just_these, "50")
    assert len(expected) == 28
    paid_on_both(book, "4.1.5", expected)


def test_mbs_4_1_5_neither_112_nor_665_is_on_a_layout(book: Rulebook) -> None:
    not_on_layout(book, "A B", ["double-single-112", "double-single-665"])


def test_mbs_4_1_6_single_number(book: Rulebook) -> None:
    paid_on_both(book, "4.1.6", for_each("single", FACES, by_count, "1", "2", "12"))


def test_mbs_4_1_7_three_of_four_numbers(book: Rulebook) -> None:
    expected = for_each("four", FOURS, three_of_four, "7")
    assert set(expected["four-1234"]) == {"123", "124", "134", "234"}
    paid_on_both(book, "4.1.7", expected)


def test_mbs_4_1_nothing_else_takes_bets(book: Rulebook) -> None:
    for layout in ("A", "B"):
        assert len(book.matrix(layout).areas) == 104
        assert book.matrix(layout).denominator == 1
    assert [table.clause for table in book.pay_tables.values()] == ["4.1"]


# Losing, and what each area is about


def test_mbs_3_5_1_1_small(book: Rulebook) -> None:
    lost_on_both(book, "3.5.1.1", {"small": sums_but_no_triple(4, 10, 1, "1")})


def test_mbs_3_5_2_1_big(book: Rulebook) -> None:
    lost_on_both(book, "3.5.2.1", {"big": sums_but_no_triple(11, 17, 1, "1")})


def test_mbs_3_5_3_1_odd(book: Rulebook) -> None:
    lost_on_both(book, "3.5.3.1", {"odd": sums_but_no_triple(5, 17, 2, "1")})


def test_mbs_3_5_4_1_even(book: Rulebook) -> None:
    lost_on_both(book, "3.5.4.1", {"even": sums_but_no_triple(4, 16, 2, "1")})


def test_mbs_3_5_5_1_specific_triples(book: Rulebook) -> None:
    lost_on_both(book, "3.5.5.1", for_each("triple", FACES, all_three, "180"))


def test_mbs_3_5_6_1_a_double_wins_on_two_dice_or_three(book: Rulebook) -> None:
    lost_on_both(book, "3.5.6.1", for_each("double", FACES, two_or_three, "11"))


def test_mbs_3_5_7_1_any_triple(book: Rulebook) -> None:
    lost_on_both(book, "3.5.7.1", {"any-triple": all_alike("31")})


def test_mbs_3_5_8_1_a_total_wins_on_itself_alone(book: Rulebook) -> None:
    lost_on_both(book, "3.5.8.1", totals({(low, 21 - low): "1" for low in range(4, 11)}))


def test_mbs_3_5_9_1_pairs(book: Rulebook) -> None:
    expected = for_each("pair", PAIRS, both_show, "6")
    lost_on_both(book, "3.5.9.1", expected)
    assert {outcome for paid in expected.values() for outcome in paid}.isdisjoint(TRIPLES)


def test_mbs_3_5_10_1_three_numbers(book: Rulebook) -> None:
    lost_on_both(book, "3.5.10.1", for_each("three", THREES, just_these, "30"))


def test_mbs_3_5_11_1_double_with_single(book: Rulebook) -> None:
    lost_on_both(book, "3.5.11.1", for_each("double-single", DOUBLE_SINGLES, just_these, "50"))


def test_mbs_3_5_12_1_single_number(book: Rulebook) -> None:
    lost_on_both(book, "3.5.12.1", for_each("single", FACES, by_count, "1", "2", "12"))


def test_mbs_3_5_13_1_three_of_four_numbers_all_different(book: Rulebook) -> None:
    lost_on_both(book, "3.5.13.1", for_each("four", FOURS, three_of_four, "7"))


# Dice and layouts


def test_mbs_2_2_three_dice(book: Rulebook) -> None:
    chance = book.chance()
    assert chance.kind is ChanceKind.DICE
    assert (chance.total, len(chance.weights)) == (216, 56)
    assert [chance.weights[OUTCOME_NAMES.index(outcome)] for outcome in ("111", "112", "123")] == [1, 3, 6]
    assert chance.probability(range(56)) == Fraction(1)
    assert book.chance_rule.clause == "2.2"
    assert equipment_by(book, "2.2") == ["dice"]


def test_mbs_2_1_layouts_a_and_b_have_the_same_areas(book: Rulebook) -> None:
    assert [(layout.id, layout.clause) for layout in book.layouts.values()] == [
        ("A", "Appendix A"),
        ("B", "Appendix B"),
    ]
    assert book.matrix("A").nets == book.matrix("B").nets


def test_mbs_2_1_only_what_the_drawing_of_a_shows_is_called_the_documents(book: Rulebook) -> None:
    assert drawn(book, "A", "document") == {
        "doubles-with-single",
        "doubles-with-single-odds",
        "three-numbers",
        "three-numbers-odds",
        "big",
        "small",
        "totals",
        "pair-odds",
        "four-numbers",
    }
    assert drawn(book, "B", "document") == set()


def test_mbs_2_1_rows_of_the_drawing(book: Rulebook) -> None:
    def row(kind: str, *numbers: str) -> list[str]:
        return [" ".join(n if n == "-" else f"{kind}-{n}" for n in line.split()) for line in numbers]

    for layout in ("A", "B"):
        assert cells_of(book, layout, "doubles-with-single") == row(
            "double-single",
            "- 113 114 115 116",
            "221 223 224 225 226",
            "331 332 334 335 336",
            "441 442 443 445 446",
            "551 552 553 554 556",
            "661 662 663 664 -",
        )
        assert cells_of(book, layout, "three-numbers") == row(
            "three",
            "126 135 234 256 346",
            "123 136 145 235 356",
            "124 146 236 245 456",
            "125 134 156 246 345",
        )
        assert cells_of(book, layout, "totals") == row("total", "17 16 15 14 13 12 11 10 9 8 7 6 5 4")
        assert cells_of(book, layout, "four-numbers") == row("four", "3456 2356 2345 1234")
        assert cells_of(book, layout, "doubles-with-single-odds") == ["(double-single-113)"]
        assert cells_of(book, layout, "three-numbers-odds") == ["(three-126)"]
        assert cells_of(book, layout, "pair-odds") == ["(pair-12)"]
        strip = ["(single-1 on 1) (single-1 on 2) (single-1 on 3)"]
        assert cells_of(book, layout, "single-odds") == strip


def test_mbs_2_1_right_of_the_combinations_of_three(book: Rulebook) -> None:
    for layout in ("A", "B"):
        assert bands_of(book, layout, from_column=7) == [
            "even triples odd",
            "big doubles-left any-triple doubles-right small",
            "totals",
            "pair-odds pairs",
            "four-numbers",
            "singles",
            "single-odds",
        ]


# The document itself


def test_mbs_readings_are_marked_as_such(book: Rulebook) -> None:
    assert readings(book) == sorted(
        [
            "2.1 Appendix B",
            "3.5.8.1 4.1.2",
            "3.5.13.1 4.1.7",
            "5.1 5.2 5.3 5.4 5.5",
            "3.8 3.9 5.2 [tumble]",
            "5.13.1",
            "5.10 [under_minimum_memory]",
            "5.10 5.11",
            "5.11",
            "5.13 5.13.1 5.13.2",
            "5.13.1 5.13.2",
            "5.2 5.13.1 5.13.2",
            "5.2 5.9",
            "5.8 5.9 5.13.2",
            "5.4 5.8",
            "5.8",
            "5.1 3.8",
            "3.8 5.2",
            "5.1 5.2 5.3 5.4 5.5 6.1",
            "3.6 6.3",
            "3.12 5.6 5.7",
            "3.11 3.12",
            "5.10 5.12",
            "5.13",
        ]
    )


def test_mbs_errata_are_the_noise_of_appendix_a(book: Rulebook) -> None:
    assert errata(book) == sorted(
        [
            "Appendix A: PAV87 → 7 to 1",
            "Appendix A: ]7, 7 7, 41, 3 → 15, 14, 13",
            "Appendix A: 71 → 7",
            "Appendix A: 1 42, 1 1223 8, 1 100 21 → 62, 31, 18, 12, 8, 7, 6 to 1, mirrored",
            "Appendix A: 8 30 → 30 to 1",
            "Appendix A: 1 TO I → 1 to 1",
            "Appendix A: N TWO DICE → 2 to 1 on two dice",
            "Appendix A: (noise)",
            "Appendix B: (nothing)",
        ]
    )


def test_mbs_clauses_are_those_of_the_document(book: Rulebook) -> None:
    kinds = [number for n in range(1, 14) for number in (f"3.5.{n}", f"3.5.{n}.1")]
    assert list(book.clauses) == [
        *("1", "1.1", "1.1.1", "1.1.2", "1.1.3", "2", "2.1", "2.2"),
        *("3", "3.1", "3.2", "3.3", "3.4", "3.5", *kinds),
        *(f"3.{n}" for n in range(6, 13)),
        *("4", "4.1", *(f"4.1.{n}" for n in range(1, 8))),
        *("5", *(f"5.{n}" for n in range(1, 14)), "5.13.1", "5.13.2"),
        *("6", "6.1", "6.2", "6.3", "Appendix A", "Appendix B"),
    ]
    assert (book.version, str(book.effective)) == ("6", "2020-02-11")

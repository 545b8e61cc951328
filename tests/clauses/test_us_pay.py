"""What sic bo under the American rules pays, clause by clause; figures typed in from the document."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import pytest

from taisai.rules import (
    Odds,
    Rulebook,
    RulesError,
    rulebook,
)
from tests.clauses.rulebook_queries import (
    errata,
    loses_by,
    not_on_layout,
    one_die_establishes,
    readings,
    setting,
    won_in,
)
from tests.clauses.winning import (
    FACES,
    TRIPLES,
    Paid,
    all_alike,
    all_three,
    both_show,
    by_count,
    for_each,
    just_two,
    sums_but_no_triple,
    sums_to,
    two_or_three,
)

PAIRS: Final = "12 13 14 15 16 23 24 25 26 34 35 36 45 46 56"


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("us-sic-bo")


def least_odds() -> dict[str, Paid]:
    """What 4(b) and 4(c) order, area by area: the least that may be offered, and what is by default."""
    return {
        **for_each("triple", FACES, all_three, "150"),
        **for_each("double", FACES, two_or_three, "8"),
        "any-triple": all_alike("24"),
        "total-4": sums_to(4, "50"),
        "total-5": sums_to(5, "18"),
        "total-6": sums_to(6, "14"),
        "total-7": sums_to(7, "12"),
        "total-8": sums_to(8, "8"),
        "total-9": sums_to(9, "6"),
        "total-10": sums_to(10, "6"),
        "total-11": sums_to(11, "6"),
        "total-12": sums_to(12, "6"),
        "total-13": sums_to(13, "8"),
        "total-14": sums_to(14, "12"),
        "total-15": sums_to(15, "14"),
        "total-16": sums_to(16, "18"),
        "total-17": sums_to(17, "50"),
        **for_each("pair", PAIRS, both_show, "5"),
        "small": sums_but_no_triple(4, 10, 1, "1"),
        "big": sums_but_no_triple(11, 17, 1, "1"),
        **for_each("single", FACES, by_count, "1", "2", "3"),
    }


def clause_of(area: str, odds: Fraction) -> str:
    """One of a kind goes by 4(c) on two and three dice; everything else goes by 4(b)."""
    return "4(c)" if area.startswith("single") and odds > 1 else "4(b)"


# Pay


def test_us_4_b_floors_are_what_is_offered_by_default(book: Rulebook) -> None:
    expected, matrix = least_odds(), book.matrix("A")
    assert len(expected) == 50
    assert set(matrix.areas) == set(expected)
    for area, paid in expected.items():
        wanted = {outcome: (odds, clause_of(area, odds)) for outcome, odds in paid.items()}
        assert won_in(matrix, area) == wanted, area
    assert [table.clause for table in book.pay_tables.values()] == ["4(b)"]


def floor_of(area: str, paid: Paid) -> Fraction:
    """The figure of 4(b): of one of a kind, that on one die."""
    return min(paid.values()) if area.startswith("single") else next(iter(paid.values()))


def test_us_4_b_nothing_under_a_floor_may_be_offered(book: Rulebook) -> None:
    for area, paid in least_odds().items():
        floor = floor_of(area, paid)
        under = f"{floor.numerator - 1}.999 to 1"
        with pytest.raises(RulesError, match="at least"):
            book.matrix("A", offered={area: under})
        assert book.matrix("A", offered={area: f"{floor} to 1"}).nets == book.matrix("A").nets


def test_us_4_b_what_is_offered_above_a_floor_is_paid(book: Rulebook) -> None:
    usual = book.matrix("A")
    for area, paid in least_odds().items():
        floor = floor_of(area, paid)
        more = book.matrix("A", offered={area: f"{floor + 1} to 1"})
        assert more.digest != usual.digest
        for other, expected in least_odds().items():
            wanted = {
                outcome: (
                    odds + 1 if other == area and clause_of(area, odds) == "4(b)" else odds,
                    clause_of(other, odds),
                )
                for outcome, odds in expected.items()
            }
            assert won_in(more, other) == wanted, (area, other)


def test_us_4_b_one_of_a_kind_is_misprinted(book: Rulebook) -> None:
    assert "4(b): 1 to 10 → 1 to 1" in errata(book)
    for number in FACES.split():
        with pytest.raises(RulesError, match="at least 1 to 1"):
            book.matrix("A", offered={f"single-{number}": "1 to 10"})


def test_us_4_b_two_of_a_kind_to_the_letter_is_a_setting(book: Rulebook) -> None:
    strict, usual = book.matrix("A", settings={"double_on_triple": "no"}), book.matrix("A")
    expected = least_odds() | for_each("double", FACES, just_two, "8")
    for area, paid in expected.items():
        wanted = {outcome: (odds, clause_of(area, odds)) for outcome, odds in paid.items()}
        assert won_in(strict, area) == wanted, area
    assert strict.digest != usual.digest
    assert book.matrix("A", settings={"double_on_triple": "yes"}).digest == usual.digest


def test_us_4_c_one_of_a_kind_on_two_dice_and_three(book: Rulebook) -> None:
    matrix = book.matrix("A")
    for number in FACES.split():
        fixed = {
            outcome: (odds, "4(c)")
            for outcome, odds in by_count(int(number), "1", "2", "3").items()
            if outcome.count(number) > 1
        }
        paid = won_in(matrix, f"single-{number}")
        assert {outcome: cell for outcome, cell in paid.items() if cell[1] == "4(c)"} == fixed
    # Always about the number bet on: two fives are nothing to a bet on 1.
    assert won_in(matrix, "single-1")["155"] == (Fraction(1), "4(b)")


def test_us_4_c_its_odds_are_fixed(book: Rulebook) -> None:
    (table,) = book.pay_tables.values()
    lines = [line for line in table.lines if line.clause == "4(c)"]
    assert [(str(line.odds), line.floor, len(line.areas)) for line in lines] == [
        ("2 to 1", None, 6),
        ("3 to 1", None, 6),
    ]
    for line in lines:
        for other in ("1 to 1", "2.5 to 1", "4 to 1"):
            with pytest.raises(RulesError, match=r"fixed by 4\(c\)"):
                line.offered(Odds.parse(other))
        assert line.offered(line.odds) == line.odds


def test_us_4_a_no_colon_and_no_for(book: Rulebook) -> None:
    for text in ("150:1", "150 for 1"):
        with pytest.raises(RulesError, match="expected odds like"):
            book.matrix("A", offered={"triple-1": text})
    for line in next(iter(book.pay_tables.values())).lines:
        assert " to " in str(line.odds)


# What wins and loses each bet


def lost(book: Rulebook, clause: str, expected: dict[str, Paid]) -> None:
    loses_by(book.matrix("A"), clause, expected)


def test_us_2_a_1_three_of_a_kind(book: Rulebook) -> None:
    lost(book, "2(a)(1)", for_each("triple", FACES, all_three, "150"))


def test_us_2_a_2_two_of_a_kind_wins_on_three_as_well(book: Rulebook) -> None:
    lost(book, "2(a)(2)", for_each("double", FACES, two_or_three, "8"))
    assert setting(book, "double_on_triple") == ("payoff", ("yes", "no"), "yes")
    loses_by(
        book.matrix("A", settings={"double_on_triple": "no"}),
        "2(a)(2)",
        for_each("double", FACES, just_two, "8"),
    )


def test_us_2_a_3_any_three_of_a_kind(book: Rulebook) -> None:
    lost(book, "2(a)(3)", {"any-triple": all_alike("24")})


def test_us_2_a_4_totals(book: Rulebook) -> None:
    lost(book, "2(a)(4)", {f"total-{total}": sums_to(total, "1") for total in range(4, 18)})
    not_on_layout(book, "A", ["total-3", "total-18"])


def test_us_2_a_5_two_dice_combination(book: Rulebook) -> None:
    expected = for_each("pair", PAIRS, both_show, "5")
    assert len(expected) == 15
    lost(book, "2(a)(5)", expected)
    assert {outcome for paid in expected.values() for outcome in paid}.isdisjoint(TRIPLES)


def test_us_2_a_6_small(book: Rulebook) -> None:
    lost(book, "2(a)(6)", {"small": sums_but_no_triple(4, 10, 1, "1")})


def test_us_2_a_7_big_loses_on_any_other_total(book: Rulebook) -> None:
    lost(book, "2(a)(7)", {"big": sums_but_no_triple(11, 17, 1, "1")})
    assert "2(a)(7): any" in errata(book)


def test_us_2_a_8_one_of_a_kind(book: Rulebook) -> None:
    lost(book, "2(a)(8)", for_each("single", FACES, by_count, "1", "2", "3"))


def test_us_2_a_no_other_bets(book: Rulebook) -> None:
    not_on_layout(book, "A", ["odd", "even", "three-126", "double-single-113", "four-1234"])


def test_us_2_a_one_known_die_decides_some_bet(book: Rulebook) -> None:
    one_die_establishes(book)


# The document itself


def test_us_readings_are_marked_as_such(book: Rulebook) -> None:
    assert readings(book) == sorted(
        [
            *("", "", ""),
            *("1", "1", "1 5(c)"),
            "2(a)(2) [double_on_triple]",
            "4(c) 2(a)(8)",
            *("4(b)", "4(b) 4(c) 5(f)"),
            *("6(a)", "6(a) 6(b)", "6(a) 6(b)", "6(a) 5(c) [no_roll]", "6(a) 5(c) 3(c) 5(d)(1)"),
            *("5(c) 3(c)", "3(c) 5(c)"),
            "3(c)",
            *("2(a) 5(e)", "5(e) 2(a)"),
            *("6(c)", "6(c)", "6(d)"),
            *("6(b)", "6(b)", "6(b) 6(c)", "6(b) 6(c)"),
            "5(a) 5(b) 6(b) [higher_may_act]",
            *("5(a)(1)", "5(a)(2) 5(b)", "5(b)"),
            *("5(d)(1)", "5(d)(1) 5(e)"),
            "5(e)",
            *("5(f) 4(b)", "5(f) 5(d)(1)"),
            "4(a)",
            "3(a) 5(e)",
        ]
    )


def test_us_errata_are_two_misprints(book: Rulebook) -> None:
    assert errata(book) == ["2(a)(7): any", "4(b): 1 to 10 → 1 to 1"]


def test_us_clauses_are_those_of_the_document(book: Rulebook) -> None:
    assert list(book.clauses) == [
        *("1", "2", "2(a)", *(f"2(a)({n})" for n in range(1, 9))),
        *("3", "3(a)", "3(b)", "3(c)", "4", "4(a)", "4(b)", "4(c)"),
        *("5", "5(a)", "5(a)(1)", "5(a)(2)", "5(b)", "5(c)", "5(d)", "5(d)(1)", "5(d)(2)"),
        *("5(e)", "5(f)", "5(g)", "6", "6(a)", "6(b)", "6(c)", "6(d)"),
    ]
    assert (book.version, book.effective) == (None, None)

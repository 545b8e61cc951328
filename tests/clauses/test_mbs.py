"""Sic Bo at Marina Bay Sands, version 6, clause by clause; figures typed in from the document."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import pytest

from taisai.rules import Rulebook, rulebook
from taisai.rules.chance import ChanceKind
from taisai.rules.procedure import Bets, Chance
from tests.clauses.asked import (
    asks_whether_seen,
    cells_of,
    drawn,
    equipment_by,
    errata,
    foreseen,
    ladder,
    loses_by,
    may_act,
    not_on_layout,
    one_die_establishes,
    paid_by,
    pays,
    phases_with,
    readings,
    recovers,
    round_of,
    ruled_by,
    setting,
    steps_by,
    unforeseen,
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

TO_REVEAL: Final = "open open-tumbled closed closed-tumbled deal-pressed"
TO_RESULT: Final = f"{TO_REVEAL} revealed entered"
TO_END: Final = f"{TO_RESULT} settled paid"
ALWAYS: Final = f"between {TO_END}"
AFTERWARDS: Final = "between settled paid"


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


# Procedure


def test_mbs_3_1_the_dealer_opens(book: Rulebook) -> None:
    assert steps_by(book, "3.1") == ["dealer: open-bets, between to open"]


def test_mbs_3_2_bets_are_taken_until_the_close(book: Rulebook) -> None:
    assert phases_with(book, bets=Bets.OPEN) == ["open", "open-tumbled"]


def test_mbs_3_8_at_least_three_tumbles_before_the_close_unless_set_otherwise(book: Rulebook) -> None:
    assert steps_by(book, "3.8") == [
        "dealer: tumble, open to open-tumbled if tumble is before_close once enough-tumbles",
        "dealer: tumble, closed to closed-tumbled if tumble is after_close once enough-tumbles",
    ]
    assert setting(book, "tumble") == ("procedure", ("before_close", "after_close"), "before_close")


def test_mbs_3_9_the_dealer_closes_then_presses_deal(book: Rulebook) -> None:
    assert steps_by(book, "3.9") == [
        "dealer: close-bets, open-tumbled to closed-tumbled if tumble is before_close",
        "dealer: close-bets, open to closed if tumble is after_close",
        "dealer: press-deal, closed-tumbled to deal-pressed",
    ]


def test_mbs_3_10_uncovered_dice_must_lie_flat(book: Rulebook) -> None:
    assert steps_by(book, "3.10") == ["dealer: uncover, deal-pressed to revealed once dice-flat"]
    assert phases_with(book, chance=Chance.CONCEALED) == ["open-tumbled", "closed-tumbled", "deal-pressed"]
    assert phases_with(book, chance=Chance.SHOWN) == ["revealed", "entered", "settled", "paid"]


def test_mbs_3_11_settled_as_the_chips_lie_at_the_reveal(book: Rulebook) -> None:
    assert steps_by(book, "3.11") == ["dealer: settle, entered to settled"]


def test_mbs_1_1_3_a_round_ends_when_announced_and_settled(book: Rulebook) -> None:
    assert steps_by(book, "1.1.3") == [
        "dealer: enter-result, revealed to entered",
        "dealer: collect-and-pay, settled to paid",
        "dealer: conclude, paid to between",
    ]
    assert recovers(book, "1.1.3") == {"settled": "conclude", "paid": "conclude"}


def test_mbs_1_1_3_the_order_of_a_round(book: Rulebook) -> None:
    reveal = ["press-deal", "uncover", "enter-result", "settle", "collect-and-pay", "conclude"]
    assert round_of(book) == ["open-bets", "tumble", "close-bets", *reveal]
    assert round_of(book, tumble="after_close") == ["open-bets", "close-bets", "tumble", *reveal]


def test_mbs_5_13_nothing_to_recover_between_rounds(book: Rulebook) -> None:
    assert recovers(book, "house:recovery") == {"between": "nothing"}
    assert asks_whether_seen(book) == ["open-tumbled", "closed-tumbled", "deal-pressed"]


# Irregularities


def test_mbs_5_1_too_few_tumbles_void_the_round(book: Rulebook) -> None:
    assert ruled_by(book, "5.1") == {("too-few-tumbles", "void", None): TO_RESULT}


def test_mbs_5_2_dice_exposed_before_the_close_void_the_round(book: Rulebook) -> None:
    assert ruled_by(book, "5.2") == {("exposed-early", "void", None): TO_RESULT}


def test_mbs_5_3_die_not_flat_voids_the_round(book: Rulebook) -> None:
    assert ruled_by(book, "5.3") == {
        ("die-not-flat", "void", None): "open-tumbled closed-tumbled deal-pressed revealed entered"
    }


def test_mbs_5_4_damaged_die_voids_this_round(book: Rulebook) -> None:
    assert ruled_by(book, "5.4") == {("die-damaged", "void", None): TO_RESULT}


def test_mbs_5_5_broken_dome_or_dice_void_the_round(book: Rulebook) -> None:
    assert ruled_by(book, "5.5") == {("dome-or-dice-broken", "void", None): TO_RESULT}


def test_mbs_5_6_late_bet_is_refused(book: Rulebook) -> None:
    assert ruled_by(book, "5.6") == {
        ("late-bet", "refuse", None): "closed closed-tumbled deal-pressed revealed entered settled paid"
    }


def test_mbs_5_7_bet_withdrawn_after_the_close_stays_live(book: Rulebook) -> None:
    assert ruled_by(book, "5.7") == {
        ("late-withdrawal", "stays-live", None): "closed closed-tumbled deal-pressed revealed entered"
    }


def test_mbs_3_12_unclear_chips_go_to_the_pit_supervisor(book: Rulebook) -> None:
    assert ruled_by(book, "3.12") == {("chips-unclear", "refer", "pit-supervisor"): "revealed entered"}


def test_mbs_5_8_equipment_failing_after_the_outcome_gives_way_to_the_dice(book: Rulebook) -> None:
    assert ruled_by(book, "5.8") == {
        ("equipment-failure", "settle-by-outcome", None): "revealed entered settled paid",
        ("wrong-result", "settle-by-outcome", None): "entered settled paid",
    }
    assert equipment_by(book, "5.8") == ["lights"]


def test_mbs_5_9_deal_not_pressed_voids_nothing(book: Rulebook) -> None:
    assert ruled_by(book, "5.9") == {
        ("deal-not-pressed", "reset-and-enter", None): "closed-tumbled revealed entered"
    }
    assert equipment_by(book, "5.9") == ["keypad"]


def test_mbs_5_10_under_the_minimum_settled_once_then_returned(book: Rulebook) -> None:
    assert ruled_by(book, "5.10") == {("under-minimum", "settle-once", None): TO_RESULT}
    assert (book.limits.under_minimum, book.limits.under_clause) == ("settle-once", "5.10")
    assert setting(book, "under_minimum_memory") == ("limits", (1, 1000), "1")


def test_mbs_5_11_over_the_maximum_settled_to_the_maximum(book: Rulebook) -> None:
    assert ruled_by(book, "5.11") == {("over-maximum", "settle-to-maximum", None): TO_RESULT}
    assert (book.limits.over_maximum, book.limits.over_clause) == ("settle-to-maximum", "5.11")
    assert book.limits.scope == "player-and-area"


def test_mbs_5_12_earlier_limit_mistakes_stand(book: Rulebook) -> None:
    assert ruled_by(book, "5.12") == {("earlier-limit-mistake", "stands", None): ALWAYS}


def test_mbs_5_13_one_known_die_establishes_an_outcome(book: Rulebook) -> None:
    one_die_establishes(book)


def test_mbs_5_13_1_power_fails_with_no_outcome(book: Rulebook) -> None:
    assert ruled_by(book, "5.13.1") == {("power-failure", "withdraw-option", None): TO_REVEAL}
    assert recovers(book, "5.13.1") == {
        "open": "withdraw-option",
        "closed": "withdraw-option",
        "open-tumbled unseen": "withdraw-option",
        "closed-tumbled unseen": "withdraw-option",
        "deal-pressed unseen": "withdraw-option",
    }


def test_mbs_5_13_2_power_fails_with_an_outcome(book: Rulebook) -> None:
    assert ruled_by(book, "5.13.2") == {("power-failure", "continue", None): "revealed entered settled paid"}
    assert recovers(book, "5.13.2") == {
        "open-tumbled seen": "continue",
        "closed-tumbled seen": "continue",
        "deal-pressed seen": "continue",
        "revealed": "continue",
        "entered": "continue",
    }


def test_mbs_6_1_whatever_else_goes_to_the_gaming_shift_manager(book: Rulebook) -> None:
    left = {
        "too-few-tumbles": AFTERWARDS,
        "exposed-early": AFTERWARDS,
        "die-not-flat": "between open closed settled paid",
        "die-damaged": AFTERWARDS,
        "dome-or-dice-broken": AFTERWARDS,
        "late-bet": "between open open-tumbled",
        "late-withdrawal": "between open open-tumbled settled paid",
        "chips-unclear": f"between {TO_REVEAL} settled paid",
        "equipment-failure": f"between {TO_REVEAL}",
        "automated-shaker-failure": ALWAYS,
        "deal-not-pressed": "between open open-tumbled closed deal-pressed settled paid",
        "under-minimum": AFTERWARDS,
        "over-maximum": AFTERWARDS,
        "power-failure": "between",
        "terminals-down": ALWAYS,
        "foreign-card": ALWAYS,
        "card-count-wrong": ALWAYS,
        "shoe-short": ALWAYS,
        "two-shakers": ALWAYS,
        "other": ALWAYS,
    }
    assert unforeseen(book) == left
    assert ruled_by(book, "6.1") == {
        (event, "refer", "shift-manager"): phases for event, phases in left.items()
    }
    assert "6.1" not in foreseen(book)
    assert book.people.refers_to == "shift-manager"
    assert ladder(book)[3:] == [("shift-manager", "6.1")]


def test_mbs_6_3_a_display_is_information_only(book: Rulebook) -> None:
    assert ruled_by(book, "6.3") == {
        ("wrong-result", "settle-by-outcome", None): f"between {TO_REVEAL} revealed",
        ("display-wrong", "settle-by-outcome", None): ALWAYS,
    }


# People and equipment


def test_mbs_3_7_dealer_pit_supervisor_pit_manager(book: Rulebook) -> None:
    assert ladder(book) == [
        ("dealer", "3.7"),
        ("pit-supervisor", "3.7"),
        ("pit-manager", "3.7"),
        ("shift-manager", "6.1"),
    ]


def test_mbs_6_2_a_higher_position_may_act_for_a_lower(book: Rulebook) -> None:
    ranks = ["dealer", "pit-supervisor", "pit-manager", "shift-manager"]
    for above, holder in enumerate(ranks):
        for below, position in enumerate(ranks):
            assert may_act(book, holder, position) == (above >= below)
    assert book.people.higher_may_act == "yes"
    assert book.people.higher_clause == "6.2"
    assert book.people.second == "pit-supervisor"


def test_mbs_1_1_2_a_tumbler_that_tumbles_three_times(book: Rulebook) -> None:
    assert equipment_by(book, "1.1.2") == ["tumbler, tumbles 3"]


def test_mbs_1_1_1_colour_chips(book: Rulebook) -> None:
    assert equipment_by(book, "1.1.1") == ["colour-chips"]


def test_mbs_3_3_cash_chips(book: Rulebook) -> None:
    assert equipment_by(book, "3.3") == ["cash-chips"]
    assert len(book.equipment) == 6


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

"""Sic bo under the American rules, clause by clause; figures typed in from the document."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import pytest

from taisai.rules import Odds, Rulebook, RulesError, rulebook
from taisai.rules.chance import ChanceKind
from taisai.rules.procedure import Bets, Chance
from tests.clauses.asked import (
    asks_whether_seen,
    drawn,
    equipment_by,
    errata,
    foreseen,
    inspections_by,
    ladder,
    loses_by,
    may_act,
    not_on_layout,
    one_die_establishes,
    phases_with,
    readings,
    recovers,
    round_of,
    ruled_by,
    setting,
    steps_by,
    unforeseen,
    won_in,
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
    just_two,
    sums_but_no_triple,
    sums_to,
    two_or_three,
)

PAIRS: Final = "12 13 14 15 16 23 24 25 26 34 35 36 45 46 56"
TO_REVEAL: Final = "open closed closed-tumbled"
AFTER_REVEAL: Final = "revealed entered settled collected paid"
ALWAYS: Final = f"between {TO_REVEAL} {AFTER_REVEAL}"
OUTSIDE: Final = "house:outside-the-rules"


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


# Dice, shakers, inspections, chips


def test_us_1_three_dice_sealed_for_24_hours_at_most(book: Rulebook) -> None:
    assert equipment_by(book, "1") == ["dice, hours 24"]
    chance = book.chance()
    assert chance.kind is ChanceKind.DICE
    assert (chance.total, sum(chance.weights)) == (216, 216)
    assert [chance.weights[OUTCOME_NAMES.index(outcome)] for outcome in ("111", "112", "123")] == [1, 3, 6]
    assert book.chance_rule.clause == "1"
    assert ladder(book)[:1] == [("dealer", "1")]


def test_us_3_a_chips_and_plaques_on_the_one_layout(book: Rulebook) -> None:
    assert equipment_by(book, "3(a)") == ["chips"]
    assert len(book.equipment) == 5
    assert [(layout.id, layout.clause) for layout in book.layouts.values()] == [("A", "3(a)")]
    assert drawn(book, "A", "document") == set()


def test_us_5_a_the_floorperson_inspects_before_opening(book: Rulebook) -> None:
    opens = "dealer: open-bets, between to open"
    assert steps_by(book, "5(a)") == [
        f"{opens} if shaker is manual once table-inspected and dice-within-life",
        f"{opens} if shaker is automated once table-inspected and shift-inspected and dice-within-life",
    ]
    assert ladder(book)[1:2] == [("floorperson", "5(a)")]


def test_us_5_a_1_the_electrical_device_is_tried_with_three_numbers(book: Rulebook) -> None:
    # One trial keys in three numbers, one for each die.
    assert inspections_by(book, "5(a)(1)") == ["electrical-device: floorperson, before opening, 1 run(s)"]


def test_us_5_a_2_the_automated_shaker_is_run_three_times(book: Rulebook) -> None:
    assert inspections_by(book, "5(a)(2)") == ["automated-shaker: floorperson, before opening, 3 run(s)"]


def test_us_5_b_again_each_shift_by_the_casino_supervisor(book: Rulebook) -> None:
    assert inspections_by(book, "5(b)") == ["automated-shaker: casino-supervisor, before shift, 3 run(s)"]
    assert ladder(book)[2:] == [("casino-supervisor", "5(b)")]


# Procedure


def test_us_5_c_no_more_bets_before_every_shake(book: Rulebook) -> None:
    assert steps_by(book, "5(c)") == ["dealer: close-bets, open to closed"]
    assert phases_with(book, bets=Bets.OPEN) == ["open"]
    assert ruled_by(book, "5(c)") == {
        ("late-bet", "refuse", None): f"closed closed-tumbled {AFTER_REVEAL}",
    }


def test_us_5_d_1_the_manual_shaker_is_covered_and_shaken_three_times(book: Rulebook) -> None:
    assert steps_by(book, "5(d)(1)") == [
        "dealer: tumble, closed to closed-tumbled if shaker is manual once covered"
    ]
    assert equipment_by(book, "5(d)(1)") == [
        "manual-shaker, tumbles 3, without automated-shaker, if shaker is manual"
    ]
    assert ruled_by(book, "5(d)(1)") == {("too-few-tumbles", "refuse", None): "closed closed-tumbled"}
    assert phases_with(book, chance=Chance.CONCEALED) == ["closed-tumbled"]


def test_us_5_d_2_the_automated_shaker_is_activated_and_never_covered(book: Rulebook) -> None:
    assert steps_by(book, "5(d)(2)") == [
        "dealer: activate-shaker, closed to revealed if shaker is automated once dice-flat"
    ]
    assert equipment_by(book, "5(d)(2)") == [
        "automated-shaker, without manual-shaker, if shaker is automated"
    ]
    assert setting(book, "shaker") == ("equipment", ("manual", "automated"), "manual")


def test_us_5_e_uncovered_announced_entered_and_lit(book: Rulebook) -> None:
    assert steps_by(book, "5(e)") == [
        "dealer: uncover, closed-tumbled to revealed if shaker is manual once enough-tumbles and dice-flat",
        "dealer: enter-result, revealed to entered",
    ]
    assert phases_with(book, chance=Chance.SHOWN) == AFTER_REVEAL.split()
    assert equipment_by(book, "5(e)") == ["electrical-device"]
    assert ruled_by(book, "5(e)") == {("wrong-result", "settle-by-outcome", None): ALWAYS}


def test_us_3_c_settled_as_the_chips_lie_when_lit(book: Rulebook) -> None:
    assert steps_by(book, "3(c)") == ["dealer: settle, entered to settled"]
    assert ruled_by(book, "3(c)") == {
        ("late-withdrawal", "stays-live", None): "closed closed-tumbled revealed entered"
    }


def test_us_5_f_all_losers_first_then_the_winners(book: Rulebook) -> None:
    assert steps_by(book, "5(f)") == [
        "dealer: collect, settled to collected",
        "dealer: pay, collected to paid",
    ]


def test_us_5_g_the_lights_are_cleared(book: Rulebook) -> None:
    assert steps_by(book, "5(g)") == ["dealer: clear-lights, paid to between"]
    assert recovers(book, "5(g)") == {"settled": "conclude", "collected": "conclude", "paid": "conclude"}


def test_us_5_g_the_order_of_a_round(book: Rulebook) -> None:
    settling = ["enter-result", "settle", "collect", "pay", "clear-lights"]
    assert round_of(book) == ["open-bets", "close-bets", "tumble", "uncover", *settling]
    assert round_of(book, shaker="automated") == ["open-bets", "close-bets", "activate-shaker", *settling]


def test_us_recovery_before_the_dice_are_known_is_outside_the_rules(book: Rulebook) -> None:
    assert recovers(book, OUTSIDE) == dict.fromkeys(TO_REVEAL.split(), "lock-and-refer")
    assert recovers(book, "house:recovery") == {"between": "nothing"}
    assert asks_whether_seen(book) == []


# Irregularities


def test_us_6_a_die_not_flat_is_no_roll(book: Rulebook) -> None:
    phases = "closed-tumbled revealed entered"
    assert ruled_by(book, "6(a)") == {("die-not-flat", "no-roll", None): phases}
    assert ruled_by(book, "6(a)", no_roll="void") == {("die-not-flat", "void", None): phases}
    assert setting(book, "no_roll") == ("irregularities", ("reroll", "void"), "reroll")


def test_us_6_b_device_failing_after_the_dice_are_known(book: Rulebook) -> None:
    assert ruled_by(book, "6(b)") == {("equipment-failure", "settle-then-shut", None): AFTER_REVEAL}
    assert recovers(book, "6(b)") == {"revealed": "settle-then-shut", "entered": "settle-then-shut"}


def test_us_6_c_automated_shaker_failing_voids_the_round(book: Rulebook) -> None:
    assert ruled_by(book, "6(c)") == {
        ("automated-shaker-failure", "void", None): "closed closed-tumbled revealed entered"
    }


def test_us_6_d_never_two_shakers(book: Rulebook) -> None:
    assert ruled_by(book, "6(d)") == {("two-shakers", "refuse", None): ALWAYS}


def test_us_limits_are_the_houses(book: Rulebook) -> None:
    assert ruled_by(book, "house:limits") == {
        ("under-minimum", "refuse", None): "open",
        ("over-maximum", "refuse", None): "open",
    }
    limits = book.limits
    assert (limits.under_minimum, limits.under_clause) == ("refuse", "house:limits")
    assert (limits.over_maximum, limits.over_clause) == ("refuse", "house:limits")
    assert limits.scope == "player-and-area"


def test_us_whatever_else_is_referred_outside_the_rules(book: Rulebook) -> None:
    closed = f"between closed closed-tumbled {AFTER_REVEAL}"
    left = {
        "too-few-tumbles": f"between open {AFTER_REVEAL}",
        "exposed-early": ALWAYS,
        "die-not-flat": "between open closed settled collected paid",
        "die-damaged": ALWAYS,
        "dome-or-dice-broken": ALWAYS,
        "late-bet": "between open",
        "late-withdrawal": "between open settled collected paid",
        "chips-unclear": ALWAYS,
        "equipment-failure": f"between {TO_REVEAL}",
        "automated-shaker-failure": "between open settled collected paid",
        "deal-not-pressed": ALWAYS,
        "under-minimum": closed,
        "over-maximum": closed,
        "earlier-limit-mistake": ALWAYS,
        "power-failure": ALWAYS,
        "terminals-down": ALWAYS,
        "display-wrong": ALWAYS,
        "foreign-card": ALWAYS,
        "card-count-wrong": ALWAYS,
        "shoe-short": ALWAYS,
        "other": ALWAYS,
    }
    assert unforeseen(book) == left
    assert ruled_by(book, OUTSIDE) == {
        (event, "refer", "casino-supervisor"): phases for event, phases in left.items()
    }
    assert OUTSIDE not in foreseen(book)
    assert book.people.refers_to == "casino-supervisor"


# People


def test_us_ladder_dealer_floorperson_casino_supervisor(book: Rulebook) -> None:
    assert ladder(book) == [("dealer", "1"), ("floorperson", "5(a)"), ("casino-supervisor", "5(b)")]
    assert book.people.second == "casino-supervisor"
    assert (book.people.higher_may_act, book.people.higher_clause) == ("as-set", OUTSIDE)
    assert setting(book, "higher_may_act") == ("people", ("yes", "no"), "yes")
    assert may_act(book, "casino-supervisor", "floorperson")
    assert not may_act(book, "casino-supervisor", "floorperson", higher_may_act="no")


# The document itself


def test_us_readings_are_marked_as_such(book: Rulebook) -> None:
    assert readings(book) == sorted(
        [
            *("", "", ""),
            "2(a)(2) [double_on_triple]",
            "4(c) 2(a)(8)",
            "4(b) 4(c) 5(f)",
            "6(a)",
            "6(a) 5(c) [no_roll]",
            "5(c) 3(c)",
            "3(c)",
            "2(a) 5(e)",
            "6(c)",
            "5(a) 5(b) 6(b) [higher_may_act]",
            "5(d)(1) 5(e)",
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

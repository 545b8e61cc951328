"""3 Card Sic Bo at Marina Bay Sands, clause by clause; figures typed in from the document."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Final

import pytest

from taisai.rules import Rulebook, RulesError, rulebook
from taisai.rules.chance import ChanceKind
from taisai.rules.vocabulary import Visibility
from tests.clauses.conduct_queries import (
    asks_whether_seen,
    changed_once_seen,
    equipment_by,
    foreseen,
    ladder,
    may_act,
    may_place,
    needs_by,
    out_of_order,
    phases_open,
    phases_with,
    positions,
    recovers,
    round_of,
    ruled_by,
    steps_by,
    unforeseen,
    verdict,
)
from tests.clauses.rulebook_queries import (
    drawn,
    errata,
    loses_by,
    not_on_layout,
    one_die_establishes,
    paid_by,
    pays,
    readings,
    setting,
)
from tests.clauses.winning import OUTCOME_NAMES, Paid, all_alike, sums_but_no_triple, totals

TO_RESULT: Final = "open closed revealed entered"
IN_HAND: Final = f"{TO_RESULT} settled"
ALWAYS: Final = f"between {IN_HAND} paid"
OVER: Final = "between paid"
OUTSIDE: Final = "house:outside-the-rules"


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("mbs-3-card-sic-bo")


def named_areas() -> dict[str, Paid]:
    return {
        "small": sums_but_no_triple(4, 10, 1, "1"),
        "big": sums_but_no_triple(11, 17, 1, "1"),
        "odd": sums_but_no_triple(5, 17, 2, "1"),
        "even": sums_but_no_triple(4, 16, 2, "1"),
        "any-triple": all_alike("31"),
    }


def card_totals() -> dict[str, Paid]:
    return totals(
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


# Pay: both layouts have the one set of tables


def paid_on_both(book: Rulebook, clause: str, expected: dict[str, Paid]) -> None:
    for layout in ("A", "B"):
        matrix = book.matrix(layout)
        pays(matrix, clause, expected)
        assert paid_by(matrix, clause) == set(expected)


def test_three_card_4_1_1_named_areas(book: Rulebook) -> None:
    paid_on_both(book, "4.1.1", named_areas())


def test_three_card_4_1_2_totals(book: Rulebook) -> None:
    assert len(card_totals()) == 14
    paid_on_both(book, "4.1.2", card_totals())


def test_three_card_4_1_one_set_of_odds(book: Rulebook) -> None:
    assert [table.clause for table in book.pay_tables.values()] == ["4.1"]
    assert book.matrix("A").nets == book.matrix("B").nets


def test_three_card_3_5_a_bet_that_does_not_match_loses(book: Rulebook) -> None:
    for layout in ("A", "B"):
        loses_by(book.matrix(layout), "3.5", named_areas() | card_totals())


def test_three_card_3_5_one_known_card_decides_some_bet(book: Rulebook) -> None:
    one_die_establishes(book)


def test_three_card_3_6_these_nineteen_areas_and_no_others(book: Rulebook) -> None:
    for layout in ("A", "B"):
        assert set(book.matrix(layout).areas) == {"small", "big", "odd", "even", "any-triple"} | {
            f"total-{total}" for total in range(4, 18)
        }
    not_on_layout(book, "A B", ["triple-1", "double-1", "single-1", "pair-12", "total-3", "total-18"])


def test_three_card_2_3_both_drawings_are_lost(book: Rulebook) -> None:
    assert [(layout.id, layout.clause) for layout in book.layouts.values()] == [
        ("A", "Diagram A"),
        ("B", "Diagram B"),
    ]
    assert drawn(book, "A", "document") == drawn(book, "B", "document") == set()


# Cards


def test_three_card_2_1_two_to_six_decks(book: Rulebook) -> None:
    rule = book.chance_rule
    assert (rule.kind, rule.clause) == (ChanceKind.CARDS, "2.1")
    for decks in (2, 3, 4, 5, 6):
        assert book.chance(decks=decks).total == comb(48 * decks, 3)
    for decks in (0, 1, 7):
        with pytest.raises(RulesError, match="2 to 6 decks"):
            book.chance(decks=decks)
    assert book.chance().decks == 6


def test_three_card_2_2_eight_cards_of_each_face(book: Rulebook) -> None:
    shoe = [face for face in "123456" for _ in range(8 * 2)]
    dealt = dict.fromkeys(OUTCOME_NAMES, 0)
    for cards in combinations(shoe, 3):
        dealt["".join(cards)] += 1
    assert equipment_by(book, "2.2") == ["cards"]
    chance = book.chance(decks=2)
    assert dict(zip(OUTCOME_NAMES, chance.weights, strict=True)) == dealt
    assert chance.probability([OUTCOME_NAMES.index("111")]) == Fraction(16 * 15 * 14, 96 * 95 * 94)


def test_three_card_2_2_cards_seen_are_gone(book: Rulebook) -> None:
    chance = book.chance(decks=2, seen=[1] * 14)
    assert chance.weights[OUTCOME_NAMES.index("111")] == 0
    assert chance.weights[OUTCOME_NAMES.index("112")] == 16
    book.chance(decks=2, seen=[1] * 16)
    with pytest.raises(RulesError, match="at most 16 cards of face 1"):
        book.chance(decks=2, seen=[1] * 17)
    everything_but = [face for face in range(1, 7) for _ in range(16)]
    assert sum(book.chance(decks=2, seen=everything_but[3:]).weights) == 1
    with pytest.raises(RulesError, match="at least 3 cards"):
        book.chance(decks=2, seen=everything_but[2:])


def test_three_card_2_1_the_shuffle_is_the_houses_choice(book: Rulebook) -> None:
    assert setting(book, "penetration") == ("equipment", (1, 100), "50")
    assert setting(book, "burn") == ("equipment", (0, 20), "0")
    assert setting(book, "shuffle") == ("equipment", ("every_round", "penetration"), "every_round")
    assert setting(book, "discard") == ("equipment", ("rack", "shoe"), "rack")


def test_three_card_1_1_1_colour_chips(book: Rulebook) -> None:
    assert equipment_by(book, "1.1.1") == ["colour-chips, for bets with colour-chips"]


def test_three_card_3_4_cash_chips(book: Rulebook) -> None:
    assert equipment_by(book, "3.4") == ["cash-chips, for bets with cash-chips"]
    assert len(book.equipment) == 4


# Procedure


def test_three_card_3_1_the_dealer_opens_if_the_shoe_can_complete_a_round(book: Rulebook) -> None:
    assert steps_by(book, "3.1") == ["dealer: open-bets, between to open once shoe-can-complete"]
    assert ladder(book)[:1] == [("dealer", "3.1")]


def test_three_card_3_2_bets_are_taken_until_the_close(book: Rulebook) -> None:
    assert phases_open(book) == ["open"]


def test_three_card_3_7_the_dealer_closes(book: Rulebook) -> None:
    assert steps_by(book, "3.7") == ["dealer: close-bets, open to closed"]


def test_three_card_3_8_three_cards_face_up(book: Rulebook) -> None:
    assert steps_by(book, "3.8") == ["dealer: deal-cards, closed to revealed"]
    assert phases_with(book, Visibility.CONCEALED) == []
    assert verdict(book, "deal-cards", "between") == "refused, 3.8"
    assert phases_with(book, Visibility.SHOWN) == ["revealed", "entered", "settled", "paid"]


def test_three_card_3_9_the_cards_decide(book: Rulebook) -> None:
    assert steps_by(book, "3.9") == ["dealer: settle, entered to settled"]
    assert verdict(book, "settle", "revealed") == "refused, 3.9"
    assert ruled_by(book, "3.9") == {("wrong-result", "settle-by-outcome", None): ALWAYS}


def test_three_card_1_1_2_a_round_ends_when_announced_and_settled(book: Rulebook) -> None:
    assert steps_by(book, "1.1.2") == [
        "dealer: enter-result, revealed to entered",
        "dealer: collect-and-pay, settled to paid",
        "dealer: conclude, paid to between",
    ]
    assert recovers(book, "1.1.2") == {"settled": "conclude", "paid": "conclude"}


def test_three_card_1_1_2_the_order_of_a_round(book: Rulebook) -> None:
    assert round_of(book) == [
        "open-bets",
        "close-bets",
        "deal-cards",
        "enter-result",
        "settle",
        "collect-and-pay",
        "conclude",
    ]


def test_three_card_recovery_is_outside_the_rules(book: Rulebook) -> None:
    assert recovers(book, OUTSIDE) == dict.fromkeys(TO_RESULT.split(), "lock-and-refer")
    assert recovers(book, "house:recovery") == {"between": "nothing"}
    assert asks_whether_seen(book) == []


def test_three_card_acts_that_another_game_has_are_refused_by_the_house(book: Rulebook) -> None:
    for act in ("tumble", "activate-shaker", "press-deal", "uncover", "collect", "pay", "clear-lights"):
        for phase in ALWAYS.split():
            assert verdict(book, act, phase) == "refused, house:order"


# Irregularities


def test_three_card_5_1_card_exposed_before_the_close_voids_the_round(book: Rulebook) -> None:
    assert ruled_by(book, "5.1") == {("exposed-early", "void", None): IN_HAND}
    assert out_of_order(book, "exposed-early") == ["deal-cards in open: exposed-early"]


def test_three_card_acts_out_of_order_are_one_irregularity_and_no_more(book: Rulebook) -> None:
    assert out_of_order(book) == ["deal-cards in open: exposed-early"]


def test_three_card_5_2_1_foreign_card_voids_the_round(book: Rulebook) -> None:
    assert ruled_by(book, "5.2.1") == {("foreign-card", "void", None): IN_HAND}


def test_three_card_5_2_2_earlier_rounds_stand(book: Rulebook) -> None:
    assert ruled_by(book, "5.2.2") == {("foreign-card", "stands", None): OVER}


def test_three_card_5_3_cards_short_or_in_excess_void_the_round(book: Rulebook) -> None:
    assert ruled_by(book, "5.3") == {("card-count-wrong", "void", None): IN_HAND}


def test_three_card_5_4_shoe_that_cannot_complete_the_round_voids_it(book: Rulebook) -> None:
    assert ruled_by(book, "5.4") == {("shoe-short", "void", None): "open closed revealed"}
    assert needs_by(book, "5.4") == ["open-bets in between: shoe-can-complete, else refused"]
    assert equipment_by(book, "5.4") == ["shoe"]


def test_three_card_5_5_late_bet_is_refused(book: Rulebook) -> None:
    assert ruled_by(book, "5.5") == {("late-bet", "refuse", None): "closed revealed entered settled paid"}
    assert positions(book) == ("close-bets", "5.5")


def test_three_card_5_6_bet_withdrawn_after_the_close_stays_live(book: Rulebook) -> None:
    assert ruled_by(book, "5.6") == {
        ("late-withdrawal", "stays-live", None): "closed revealed entered settled"
    }


def test_three_card_void_bets_are_returned_and_later_rounds_stand_by_the_house(book: Rulebook) -> None:
    assert (book.irregularities.void, book.irregularities.later) == ("house:void", "house:later-rounds")
    assert changed_once_seen(book) == {}


def test_three_card_limits_are_the_houses(book: Rulebook) -> None:
    assert ruled_by(book, "house:limits") == {
        ("under-minimum", "refuse", None): "open",
        ("over-maximum", "refuse", None): "open",
    }
    limits = book.limits
    assert (limits.under_minimum, limits.under_clause) == ("refuse", "house:limits")
    assert (limits.over_maximum, limits.over_clause) == ("refuse", "house:limits")
    assert limits.scope == "player-and-area"
    assert limits.memory is None


def test_three_card_whatever_else_is_referred_outside_the_rules(book: Rulebook) -> None:
    closed = "between closed revealed entered settled paid"
    left = {
        "too-few-tumbles": ALWAYS,
        "exposed-early": OVER,
        "exposed-late": "between open",
        "untumbled-in-view": ALWAYS,
        "dice-over-age": ALWAYS,
        "die-not-flat": ALWAYS,
        "die-damaged": ALWAYS,
        "dome-or-dice-broken": ALWAYS,
        "late-bet": "between open",
        "late-withdrawal": "between open paid",
        "chips-unclear": ALWAYS,
        "equipment-failure": ALWAYS,
        "automated-shaker-failure": ALWAYS,
        "deal-not-pressed": ALWAYS,
        "under-minimum": closed,
        "over-maximum": closed,
        "earlier-limit-mistake": ALWAYS,
        "power-failure": ALWAYS,
        "terminals-down": ALWAYS,
        "display-wrong": ALWAYS,
        "card-count-wrong": OVER,
        "shoe-short": "between entered settled paid",
        "two-shakers": ALWAYS,
        "other": ALWAYS,
    }
    assert unforeseen(book) == left
    assert ruled_by(book, OUTSIDE) == {
        (event, "refer", "shift-manager"): phases for event, phases in left.items()
    }
    assert {OUTSIDE, "house:limits"}.isdisjoint(foreseen(book))


# People


def test_three_card_ladder_is_marked_as_outside_the_rules(book: Rulebook) -> None:
    assert ladder(book) == [
        ("dealer", "3.1"),
        ("pit-supervisor", OUTSIDE),
        ("pit-manager", OUTSIDE),
        ("shift-manager", OUTSIDE),
    ]
    assert book.people.second == "pit-supervisor"
    assert (book.people.higher_may_act, book.people.higher_clause) == ("as-set", OUTSIDE)
    assert setting(book, "higher_may_act") == ("people", ("yes", "no"), "yes")
    assert may_act(book, "pit-manager", "dealer")
    assert not may_act(book, "pit-manager", "dealer", higher_may_act="no")
    assert may_place(book) is None


# The document itself


def test_three_card_readings_are_marked_as_such(book: Rulebook) -> None:
    assert readings(book) == sorted(
        [
            *("", "", "", ""),
            " [higher_may_act]",
            "2.3 Diagram A Diagram B",
            "5.1 5.2.1 5.3 5.4",
            "1.1.1",
            "2.1 2.2 5.4 [shuffle]",
            "2.1 5.4 [discard]",
            "5.3",
            "5.3",
            "5.1",
            "5.1 3.7 3.8",
            "5.1 5.3 5.4",
            "5.2.1 5.2.2",
            "2.1",
            "3.9",
            "5.5 5.6",
            "5.2.2 5.3",
        ]
    )


def test_three_card_errata_are_the_lost_drawings(book: Rulebook) -> None:
    assert errata(book) == [
        "Diagram A: (nothing)",
        "Diagram B: (nothing)",
    ]


def test_three_card_clauses_are_those_of_the_document(book: Rulebook) -> None:
    assert list(book.clauses) == [
        *("1", "1.1", "1.1.1", "1.1.2", "2", "2.1", "2.2", "2.3", "Diagram A", "Diagram B"),
        *("3", *(f"3.{n}" for n in range(1, 7)), *(f"3.6.{n}" for n in range(1, 7)), "3.7", "3.8", "3.9"),
        *("4", "4.1", "4.1.1", "4.1.2"),
        *("5", "5.1", "5.2", "5.2.1", "5.2.2", "5.3", "5.4", "5.5", "5.6"),
    ]
    assert (book.version, str(book.effective)) == (None, "2016-11-15")

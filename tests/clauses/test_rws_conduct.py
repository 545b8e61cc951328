"""How Sic Bo ETG at Resorts World Sentosa, version 8, is run, clause by clause."""

from __future__ import annotations

from typing import Final

import pytest

from taisai.rules import (
    Rulebook,
    rulebook,
)
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
    one_die_establishes,
    setting,
)

TO_REVEAL: Final = "open open-tumbled closed closed-tumbled"
IN_HAND: Final = f"{TO_REVEAL} revealed entered settled"
ALWAYS: Final = f"between {IN_HAND} paid"
OVER: Final = "between paid"


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("rws-sic-bo-etg-v8")


# Procedure


def test_rws_3_2_betting_opens_with_the_notice(book: Rulebook) -> None:
    assert steps_by(book, "3.2") == ["dealer: open-bets, between to open"]


def test_rws_3_5_the_clock_closes_and_later_bets_are_refused(book: Rulebook) -> None:
    assert steps_by(book, "3.5") == [
        "clock: close-bets, open to closed",
        "clock: close-bets, open-tumbled to closed-tumbled",
    ]
    assert phases_open(book) == ["open", "open-tumbled"]
    assert ruled_by(book, "3.5") == {
        ("late-bet", "refuse", None): "closed closed-tumbled revealed entered settled paid"
    }


def test_rws_3_6_covered_and_tumbled_three_times(book: Rulebook) -> None:
    assert steps_by(book, "3.6") == [
        "dealer: tumble, open to open-tumbled once enough-tumbles",
        "dealer: tumble, closed to closed-tumbled once enough-tumbles",
        "dealer: tumble, open-tumbled to open-tumbled once enough-tumbles",
        "dealer: tumble, closed-tumbled to closed-tumbled once enough-tumbles and outcome-open",
    ]
    assert equipment_by(book, "3.6") == ["tumbler, tumbles 3"]
    assert setting(book, "tumble") == ("procedure", ("before_close", "after_close"), "after_close")


def test_rws_3_6_either_order_of_tumble_and_close_is_taken_until_the_dice_are_uncovered(
    book: Rulebook,
) -> None:
    for tumble in ("before_close", "after_close"):
        for phase in ("open", "open-tumbled"):
            assert verdict(book, "tumble", phase, tumble=tumble) == "to open-tumbled, 3.6"
        for phase in ("closed", "closed-tumbled"):
            assert verdict(book, "tumble", phase, tumble=tumble) == "to closed-tumbled, 3.6"
        for phase in ("between", "revealed", "entered", "settled", "paid"):
            assert verdict(book, "tumble", phase, tumble=tumble) == "refused, 3.6"


def test_rws_3_7_uncovered_dice_must_lie_flat(book: Rulebook) -> None:
    assert steps_by(book, "3.7") == ["dealer: uncover, closed-tumbled to revealed"]
    assert phases_with(book, Visibility.CONCEALED) == ["open-tumbled", "closed-tumbled"]
    assert phases_with(book, Visibility.SHOWN) == ["revealed", "entered", "settled", "paid"]
    assert verdict(book, "uncover", "closed") == "refused, 3.7"
    # What is seen on uncovering decides whether there is a result to key in.
    assert needs_by(book, "5.3.2") == ["enter-result in revealed: dice-flat, else die-not-flat"]


def test_rws_3_8_collect_and_pay(book: Rulebook) -> None:
    assert steps_by(book, "3.8") == [
        "dealer: settle, entered to settled",
        "dealer: collect-and-pay, settled to paid",
    ]
    assert verdict(book, "settle", "revealed") == "refused, 3.8"


def test_rws_1_8_a_round_ends_when_all_are_settled(book: Rulebook) -> None:
    assert steps_by(book, "1.8") == ["dealer: conclude, paid to between"]
    assert recovers(book, "1.8") == {"settled": "conclude", "paid": "conclude"}


def test_rws_1_8_the_order_of_a_round(book: Rulebook) -> None:
    reveal = ["uncover", "enter-result", "settle", "collect-and-pay", "conclude"]
    assert round_of(book) == ["open-bets", "close-bets", "tumble", *reveal]
    assert round_of(book, tumble="before_close") == ["open-bets", "tumble", "close-bets", *reveal]


def test_rws_acts_that_another_game_has_are_refused_by_the_house(book: Rulebook) -> None:
    for act in ("activate-shaker", "press-deal", "deal-cards", "collect", "pay", "clear-lights"):
        for phase in ALWAYS.split():
            assert verdict(book, act, phase) == "refused, house:order"


# Irregularities


def test_rws_5_1_one_known_die_establishes_an_outcome(book: Rulebook) -> None:
    one_die_establishes(book)
    assert changed_once_seen(book) == {
        "equipment-failure": TO_REVEAL,
        "power-failure": TO_REVEAL,
    }


def test_rws_5_1_recovery_asks_whether_a_covered_die_was_seen(book: Rulebook) -> None:
    assert asks_whether_seen(book) == ["closed", "closed-tumbled"]
    assert recovers(book, "house:recovery") == {"between": "nothing"}
    assert setting(book, "fail_over_grace") == ("procedure", (0, 60), "0")


def test_rws_5_1_1_interrupted_with_an_outcome_goes_on(book: Rulebook) -> None:
    known = "revealed entered settled paid"
    assert ruled_by(book, "5.1.1") == {
        ("equipment-failure", "continue", None): known,
        ("power-failure", "continue", None): known,
    }
    assert ruled_by(book, "5.1.1", seen=True) == {
        ("equipment-failure", "continue", None): f"closed closed-tumbled {known}",
        ("power-failure", "continue", None): f"closed closed-tumbled {known}",
    }
    assert recovers(book, "5.1.1") == {
        "closed seen": "continue",
        "closed-tumbled seen": "continue",
        "revealed": "continue",
        "entered": "continue",
    }


def test_rws_5_1_2_interrupted_without_outcome_is_void(book: Rulebook) -> None:
    assert ruled_by(book, "5.1.2") == {
        ("equipment-failure", "void", None): TO_REVEAL,
        ("power-failure", "void", None): TO_REVEAL,
    }
    assert ruled_by(book, "5.1.2", seen=True) == {}
    assert recovers(book, "5.1.2") == {
        "open": "void",
        "open-tumbled": "void",
        "closed unseen": "void",
        "closed-tumbled unseen": "void",
    }


def test_rws_5_2_terminals_down_leave_the_round_running(book: Rulebook) -> None:
    assert ruled_by(book, "5.2") == {("terminals-down", "settle-registered", None): f"{IN_HAND} paid"}


def test_rws_5_3_says_nothing_of_an_irregular_round_that_is_paid(book: Rulebook) -> None:
    for event in ("too-few-tumbles", "die-not-flat", "exposed-early"):
        assert unforeseen(book)[event] == OVER


def test_rws_5_3_1_too_few_tumbles_void_the_round(book: Rulebook) -> None:
    assert ruled_by(book, "5.3.1") == {("too-few-tumbles", "void", None): IN_HAND}
    assert needs_by(book, "5.3.1") == [
        f"tumble in {phase}: enough-tumbles, else too-few-tumbles"
        for phase in ("open", "closed", "open-tumbled", "closed-tumbled")
    ]


def test_rws_5_3_2_die_not_flat_voids_the_round(book: Rulebook) -> None:
    assert ruled_by(book, "5.3.2") == {("die-not-flat", "void", None): IN_HAND}
    assert needs_by(book, "5.3.2") == ["enter-result in revealed: dice-flat, else die-not-flat"]


def test_rws_5_3_3_die_exposed_before_the_close_voids_the_round(book: Rulebook) -> None:
    assert ruled_by(book, "5.3.3") == {("exposed-early", "void", None): IN_HAND}
    assert ruled_by(book, "5.3.3", seen=True) == {
        ("exposed-early", "void", None): IN_HAND,
        ("equipment-failure", "void", None): "open open-tumbled",
        ("power-failure", "void", None): "open open-tumbled",
    }
    assert out_of_order(book, "exposed-early") == ["uncover in open-tumbled: exposed-early"]


def test_rws_acts_out_of_order_are_two_irregularities_and_no_more(book: Rulebook) -> None:
    assert out_of_order(book) == [
        "uncover in open: untumbled-in-view",
        "uncover in open-tumbled: exposed-early",
    ]


def test_rws_5_4_damaged_die_voids_all_affected_rounds(book: Rulebook) -> None:
    assert ruled_by(book, "5.4") == {("die-damaged", "void-affected", None): ALWAYS}


def test_rws_5_5_wrong_result_gives_way_to_the_dice_whenever_found(book: Rulebook) -> None:
    assert ruled_by(book, "5.5") == {("wrong-result", "settle-by-outcome", None): ALWAYS}


def test_rws_5_6_a_mistake_found_later_leaves_later_rounds_as_they_were(book: Rulebook) -> None:
    assert book.irregularities.later == "5.6"


def test_rws_5_7_bets_count_as_they_stand_at_the_close(book: Rulebook) -> None:
    assert positions(book) == ("close-bets", "5.7")
    assert ruled_by(book, "5.7") == {
        ("late-withdrawal", "stays-live", None): "closed closed-tumbled revealed entered settled"
    }


def test_rws_5_8_a_display_is_information_only(book: Rulebook) -> None:
    assert ruled_by(book, "5.8") == {("display-wrong", "settle-by-outcome", None): ALWAYS}


def test_rws_5_9_the_bets_of_a_void_round_are_returned(book: Rulebook) -> None:
    assert book.irregularities.void == "5.9"


def test_rws_3_3_outside_the_limits_is_refused_at_entry(book: Rulebook) -> None:
    assert ruled_by(book, "3.3") == {
        ("under-minimum", "refuse", None): "open open-tumbled",
        ("over-maximum", "refuse", None): "open open-tumbled",
    }
    limits = book.limits
    assert (limits.under_minimum, limits.under_clause) == ("refuse", "3.3")
    assert (limits.over_maximum, limits.over_clause) == ("refuse", "3.3")
    assert limits.memory is None
    assert limits.scope == "player-and-area"


def test_rws_5_10_whatever_else_goes_to_the_table_games_shift_manager(book: Rulebook) -> None:
    closed = "between closed closed-tumbled revealed entered settled paid"
    left = {
        "too-few-tumbles": OVER,
        "exposed-early": OVER,
        "die-not-flat": OVER,
        "exposed-late": "between open open-tumbled",
        "untumbled-in-view": "between",
        "dice-over-age": ALWAYS,
        "dome-or-dice-broken": ALWAYS,
        "late-bet": "between open open-tumbled",
        "late-withdrawal": "between open open-tumbled paid",
        "chips-unclear": ALWAYS,
        "equipment-failure": "between",
        "automated-shaker-failure": ALWAYS,
        "deal-not-pressed": ALWAYS,
        "under-minimum": closed,
        "over-maximum": closed,
        "earlier-limit-mistake": ALWAYS,
        "power-failure": "between",
        "terminals-down": "between",
        "foreign-card": ALWAYS,
        "card-count-wrong": ALWAYS,
        "shoe-short": ALWAYS,
        "two-shakers": ALWAYS,
        "other": ALWAYS,
    }
    assert unforeseen(book) == left
    assert ruled_by(book, "5.10") == {
        (event, "refer", "shift-manager"): phases for event, phases in left.items()
    }
    assert "5.10" not in foreseen(book)
    assert ladder(book)[3:] == [("shift-manager", "5.10")]


# People


def test_rws_1_2_the_dealer(book: Rulebook) -> None:
    assert ladder(book)[:1] == [("dealer", "1.5")]  # the clause by which the position is filled
    assert {step.by for step in book.procedure.steps} == {"dealer", "clock"}


def test_rws_1_5_positions_are_filled_by_persons_assigned_to_them(book: Rulebook) -> None:
    assert ladder(book)[1:3] == [("pit-supervisor", "1.5"), ("pit-manager", "1.5")]
    assert book.people.second == "pit-supervisor"
    assert (book.people.higher_may_act, book.people.higher_clause) == ("as-set", "1.5")
    assert setting(book, "higher_may_act") == ("people", ("yes", "no"), "no")
    ranks = ["dealer", "pit-supervisor", "pit-manager", "shift-manager"]
    for above, holder in enumerate(ranks):
        for below, position in enumerate(ranks):
            assert may_act(book, holder, position) == (above == below)
            assert may_act(book, holder, position, higher_may_act="yes") == (above >= below)


def test_rws_nobody_bets_for_a_player(book: Rulebook) -> None:
    assert may_place(book) is None

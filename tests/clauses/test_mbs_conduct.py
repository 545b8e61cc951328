"""How Sic Bo at Marina Bay Sands, version 6, is run, clause by clause."""

from __future__ import annotations

from typing import Final

import pytest

from taisai.rules import (
    Rulebook,
    rulebook,
)
from taisai.rules.vocabulary import Phase, Visibility
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
    ruled_by,
    steps_by,
    unforeseen,
    verdict,
)
from tests.clauses.rulebook_queries import (
    one_die_establishes,
    setting,
)

TO_REVEAL: Final = "open open-tumbled closed closed-tumbled deal-pressed"
SHOWN: Final = "revealed entered settled paid"
IN_HAND: Final = f"{TO_REVEAL} revealed entered settled"
OPEN: Final = "open open-tumbled"
CLOSED: Final = "closed closed-tumbled deal-pressed"
ALWAYS: Final = f"between {IN_HAND} paid"
OVER: Final = "between paid"


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("mbs-sic-bo-v6")


# Procedure


def order_proposed(book: Rulebook, **settings: str) -> list[str]:
    """The acts of one round as the console proposes them under these settings."""
    chosen = book.chosen(settings)
    phase, acts = Phase.BETWEEN, list[str]()
    while not acts or phase is not Phase.BETWEEN:
        steps = [
            step
            for step in book.procedure.steps_from(phase, chosen)
            if step.end is not phase and (step.proposed is None or step.proposed.holds(chosen))
        ]
        assert len(steps) == 1, f"one way on from {phase}"
        acts.append(steps[0].act)
        phase = steps[0].end
    return acts


def test_mbs_3_1_the_dealer_opens(book: Rulebook) -> None:
    assert steps_by(book, "3.1") == ["dealer: open-bets, between to open"]


def test_mbs_3_2_bets_are_taken_until_the_close(book: Rulebook) -> None:
    assert phases_open(book) == ["open", "open-tumbled"]


def test_mbs_3_8_at_least_three_tumbles_whenever_the_dice_are_covered(book: Rulebook) -> None:
    assert steps_by(book, "3.8") == [
        "dealer: tumble, open to open-tumbled once enough-tumbles",
        "dealer: tumble, closed to closed-tumbled once enough-tumbles",
        "dealer: tumble, open-tumbled to open-tumbled once enough-tumbles",
        "dealer: tumble, closed-tumbled to closed-tumbled once enough-tumbles and outcome-open",
        "dealer: tumble, deal-pressed to deal-pressed once enough-tumbles and outcome-open",
    ]
    assert setting(book, "tumble") == ("procedure", ("before_close", "after_close"), "before_close")
    assert equipment_by(book, "3.8") == ["tumbler, tumbles 3"]


def test_mbs_3_8_a_tumble_out_of_its_time_is_refused(book: Rulebook) -> None:
    assert verdict(book, "tumble", "open") == "to open-tumbled, 3.8"
    for choice in ("before_close", "after_close"):
        assert verdict(book, "tumble", "open", tumble=choice) == "to open-tumbled, 3.8"
        assert verdict(book, "tumble", "closed", tumble=choice) == "to closed-tumbled, 3.8"
        for phase in ("between", "revealed", "entered", "settled", "paid"):
            assert verdict(book, "tumble", phase, tumble=choice) == "refused, 3.8"


def test_mbs_3_9_the_dealer_closes_then_presses_deal(book: Rulebook) -> None:
    assert steps_by(book, "3.9") == [
        "dealer: close-bets, open to closed",
        "dealer: close-bets, open-tumbled to closed-tumbled",
        "dealer: press-deal, closed-tumbled to deal-pressed",
    ]
    assert verdict(book, "press-deal", "open-tumbled") == "refused, 3.9"


def test_mbs_3_10_uncovered_dice_must_lie_flat(book: Rulebook) -> None:
    assert steps_by(book, "3.10") == ["dealer: uncover, deal-pressed to revealed"]
    assert phases_with(book, Visibility.CONCEALED) == ["open-tumbled", "closed-tumbled", "deal-pressed"]
    assert phases_with(book, Visibility.SHOWN) == ["revealed", "entered", "settled", "paid"]
    assert verdict(book, "uncover", "closed") == "refused, 3.10"
    # What the dealer sees on uncovering decides whether there is a result to key in.
    assert needs_by(book, "5.3") == ["enter-result in revealed: dice-flat, else die-not-flat"]


def test_mbs_3_11_settled_as_the_chips_lie_at_the_reveal(book: Rulebook) -> None:
    assert steps_by(book, "3.11") == ["dealer: settle, entered to settled"]
    assert positions(book) == ("uncover", "3.11")
    assert verdict(book, "settle", "revealed") == "refused, 3.11"


def test_mbs_1_1_3_a_round_ends_when_announced_and_settled(book: Rulebook) -> None:
    assert steps_by(book, "1.1.3") == [
        "dealer: enter-result, revealed to entered once dice-flat",
        "dealer: collect-and-pay, settled to paid",
        "dealer: conclude, paid to between",
    ]
    assert recovers(book, "1.1.3") == {"settled": "conclude", "paid": "conclude"}


def test_mbs_1_1_3_the_order_of_a_round(book: Rulebook) -> None:
    reveal = ["press-deal", "uncover", "enter-result", "settle", "collect-and-pay", "conclude"]
    assert order_proposed(book) == ["open-bets", "tumble", "close-bets", *reveal]
    assert order_proposed(book, tumble="after_close") == ["open-bets", "close-bets", "tumble", *reveal]


def test_mbs_5_13_nothing_to_recover_between_rounds(book: Rulebook) -> None:
    assert recovers(book, "house:recovery") == {"between": "nothing"}
    assert asks_whether_seen(book) == TO_REVEAL.split()


def test_mbs_acts_that_another_game_has_are_refused_by_the_house(book: Rulebook) -> None:
    for act in ("activate-shaker", "deal-cards", "collect", "pay", "clear-lights"):
        for phase in ALWAYS.split():
            assert verdict(book, act, phase) == "refused, house:order"


# Irregularities


def test_mbs_5_1_too_few_tumbles_void_the_round(book: Rulebook) -> None:
    assert ruled_by(book, "5.1") == {("too-few-tumbles", "void", None): IN_HAND}
    assert needs_by(book, "5.1") == [
        f"tumble in {phase}: enough-tumbles, else too-few-tumbles"
        for phase in ("open", "closed", "open-tumbled", "closed-tumbled", "deal-pressed")
    ]


def test_mbs_5_2_dice_exposed_before_the_close_void_the_round(book: Rulebook) -> None:
    assert ruled_by(book, "5.2") == {
        ("exposed-early", "void", None): IN_HAND,
        ("deal-not-pressed", "void", None): "open-tumbled",
    }
    assert recovers(book, "5.2") == {f"{phase} seen": "void" for phase in OPEN.split()}
    assert out_of_order(book, "exposed-early") == ["uncover in open-tumbled: exposed-early"]


def test_mbs_5_3_die_not_flat_voids_the_round(book: Rulebook) -> None:
    assert ruled_by(book, "5.3") == {("die-not-flat", "void", None): IN_HAND}
    assert needs_by(book, "5.3") == ["enter-result in revealed: dice-flat, else die-not-flat"]


def test_mbs_5_4_damaged_die_voids_this_round(book: Rulebook) -> None:
    assert ruled_by(book, "5.4") == {("die-damaged", "void", None): IN_HAND}


def test_mbs_5_5_broken_dome_or_dice_void_the_round(book: Rulebook) -> None:
    assert ruled_by(book, "5.5") == {("dome-or-dice-broken", "void", None): IN_HAND}


def test_mbs_5_6_late_bet_is_refused(book: Rulebook) -> None:
    assert ruled_by(book, "5.6") == {
        ("late-bet", "refuse", None): "closed closed-tumbled deal-pressed revealed entered settled paid"
    }


def test_mbs_5_7_bet_withdrawn_after_the_close_stays_live(book: Rulebook) -> None:
    assert ruled_by(book, "5.7") == {
        ("late-withdrawal", "stays-live", None): "closed closed-tumbled deal-pressed revealed entered settled"
    }


def test_mbs_3_12_unclear_chips_go_to_the_pit_supervisor(book: Rulebook) -> None:
    assert ruled_by(book, "3.12") == {
        ("chips-unclear", "refer", "pit-supervisor"): f"{CLOSED} revealed entered settled"
    }
    assert ruled_by(book, "house:unclear-chips") == {("chips-unclear", "continue", None): "open open-tumbled"}


def test_mbs_5_8_equipment_failing_after_the_outcome_gives_way_to_the_dice(book: Rulebook) -> None:
    assert ruled_by(book, "5.8") == {
        ("equipment-failure", "settle-by-outcome", None): "revealed entered settled paid",
        ("wrong-result", "settle-by-outcome", None): "entered settled paid",
    }
    assert equipment_by(book, "5.8") == ["lights"]


def test_mbs_5_9_deal_not_pressed_voids_nothing(book: Rulebook) -> None:
    assert ruled_by(book, "5.9") == {
        ("deal-not-pressed", "reset-and-enter", None): "closed-tumbled revealed entered settled"
    }
    assert equipment_by(book, "5.9") == ["keypad"]
    assert out_of_order(book, "deal-not-pressed") == ["uncover in closed-tumbled: deal-not-pressed"]


def test_mbs_5_10_under_the_minimum_settled_once_then_returned(book: Rulebook) -> None:
    assert ruled_by(book, "5.10") == {("under-minimum", "settle-once", None): IN_HAND}
    assert (book.limits.under_minimum, book.limits.under_clause) == ("settle-once", "5.10")
    assert book.limits.memory == "under_minimum_memory"
    assert setting(book, "under_minimum_memory") == ("limits", ("stay", "ever"), "stay")


def test_mbs_5_11_over_the_maximum_settled_to_the_maximum(book: Rulebook) -> None:
    assert ruled_by(book, "5.11") == {("over-maximum", "settle-to-maximum", None): IN_HAND}
    assert (book.limits.over_maximum, book.limits.over_clause) == ("settle-to-maximum", "5.11")
    assert book.limits.scope == "player-and-area"


def test_mbs_5_12_earlier_limit_mistakes_stand(book: Rulebook) -> None:
    assert ruled_by(book, "5.12") == {("earlier-limit-mistake", "stands", None): ALWAYS}


def test_mbs_5_13_one_known_die_establishes_an_outcome(book: Rulebook) -> None:
    one_die_establishes(book)
    assert changed_once_seen(book) == {"equipment-failure": CLOSED, "power-failure": CLOSED}
    assert (book.irregularities.open_seen, book.irregularities.closed_seen) == ("5.2", "5.13.2")


def test_mbs_5_13_1_power_fails_with_no_outcome(book: Rulebook) -> None:
    assert ruled_by(book, "5.13.1") == {("power-failure", "withdraw-option", None): TO_REVEAL}
    assert ruled_by(book, "5.13.1", seen=True) == {("power-failure", "withdraw-option", None): OPEN}
    assert recovers(book, "5.13.1") == {f"{phase} unseen": "withdraw-option" for phase in TO_REVEAL.split()}
    assert recovers(book, "5.2") == {f"{phase} seen": "void" for phase in OPEN.split()}


def test_mbs_5_13_2_power_fails_with_an_outcome(book: Rulebook) -> None:
    known = "revealed entered settled paid"
    assert ruled_by(book, "5.13.2") == {("power-failure", "continue", None): known}
    assert ruled_by(book, "5.13.2", seen=True) == {("power-failure", "continue", None): f"{CLOSED} {known}"}
    assert recovers(book, "5.13.2") == {
        "closed seen": "continue",
        "closed-tumbled seen": "continue",
        "deal-pressed seen": "continue",
        "revealed": "continue",
        "entered": "continue",
    }


def test_mbs_6_1_whatever_else_goes_to_the_gaming_shift_manager(book: Rulebook) -> None:
    left = {
        "too-few-tumbles": OVER,
        "exposed-early": OVER,
        "exposed-late": "between open open-tumbled",
        "untumbled-in-view": "between",
        "dice-over-age": ALWAYS,
        "die-not-flat": OVER,
        "die-damaged": OVER,
        "dome-or-dice-broken": OVER,
        "late-bet": "between open open-tumbled",
        "late-withdrawal": "between open open-tumbled paid",
        "chips-unclear": OVER,
        "equipment-failure": f"between {TO_REVEAL}",
        "automated-shaker-failure": ALWAYS,
        "deal-not-pressed": "between open closed deal-pressed paid",
        "under-minimum": OVER,
        "over-maximum": OVER,
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
    assert ruled_by(book, "house:seen") == {("exposed-late", "continue", None): f"{CLOSED} {SHOWN}"}
    assert ruled_by(book, "house:untumbled") == {
        ("untumbled-in-view", "continue", None): f"{TO_REVEAL} {SHOWN}"
    }
    assert ladder(book)[3:] == [("shift-manager", "6.1")]


def test_mbs_void_bets_are_returned_and_later_rounds_stand_by_the_house(book: Rulebook) -> None:
    assert (book.irregularities.void, book.irregularities.later) == ("house:void", "house:later-rounds")


def test_mbs_acts_out_of_order_are_three_irregularities_and_no_more(book: Rulebook) -> None:
    assert out_of_order(book) == [
        "uncover in open: untumbled-in-view",
        "uncover in open-tumbled: exposed-early",
        "uncover in closed-tumbled: deal-not-pressed",
    ]


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


def test_mbs_3_7_all_three_may_bet_for_a_player_who_asks(book: Rulebook) -> None:
    assert may_place(book) == (["dealer", "pit-manager", "pit-supervisor"], "3.7")


def test_mbs_6_2_a_higher_position_may_act_for_a_lower(book: Rulebook) -> None:
    ranks = ["dealer", "pit-supervisor", "pit-manager", "shift-manager"]
    for above, holder in enumerate(ranks):
        for below, position in enumerate(ranks):
            assert may_act(book, holder, position) == (above >= below)
    assert book.people.higher_may_act == "yes"
    assert book.people.higher_clause == "6.2"
    assert book.people.second == "pit-supervisor"


def test_mbs_1_1_1_colour_chips(book: Rulebook) -> None:
    assert equipment_by(book, "1.1.1") == ["colour-chips, for bets with colour-chips"]


def test_mbs_3_3_cash_chips(book: Rulebook) -> None:
    assert equipment_by(book, "3.3") == ["cash-chips, for bets with cash-chips"]
    assert len(book.equipment) == 6

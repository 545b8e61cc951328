"""How sic bo under the American rules is run, clause by clause."""

from __future__ import annotations

from typing import Final

import pytest

from taisai.rules import (
    Phase,
    Rulebook,
    rulebook,
)
from taisai.rules.chance import ChanceKind
from taisai.rules.vocabulary import Visibility
from tests.clauses.conduct_queries import (
    asks_whether_seen,
    changed_once_seen,
    equipment_by,
    excluded_by,
    foreseen,
    inspections_by,
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
    setting,
)
from tests.clauses.winning import (
    OUTCOME_NAMES,
)

TO_REVEAL: Final = "open closed closed-tumbled"
AFTER_REVEAL: Final = "revealed entered settled collected paid"
ALWAYS: Final = f"between {TO_REVEAL} {AFTER_REVEAL}"
OUTSIDE: Final = "house:outside-the-rules"


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("us-sic-bo")


# Dice, shakers, inspections, chips


def test_us_1_three_dice_sealed_for_24_hours_at_most(book: Rulebook) -> None:
    assert equipment_by(book, "1") == ["dice, hours 24, kept by dealer"]
    assert needs_by(book, "1") == [
        f"{act}: dice-within-life, else refused"
        for act in (
            "open-bets in between", "open-bets in between",
            "tumble in closed", "tumble in closed-tumbled", "activate-shaker in closed",
        )
    ]  # fmt: skip
    chance = book.chance()
    assert chance.kind is ChanceKind.DICE
    assert (chance.total, sum(chance.weights)) == (216, 216)
    assert [chance.weights[OUTCOME_NAMES.index(outcome)] for outcome in ("111", "112", "123")] == [1, 3, 6]
    assert book.chance_rule.clause == "1"
    assert ladder(book)[:1] == [("dealer", "1")]


def test_us_3_a_chips_and_plaques_on_the_one_layout(book: Rulebook) -> None:
    assert equipment_by(book, "3(a)") == ["chips, for bets with cash-chips and plaques"]
    assert len(book.equipment) == 5
    assert [(layout.id, layout.clause) for layout in book.layouts.values()] == [("A", "3(a)")]
    assert drawn(book, "A", "document") == set()


def test_us_5_a_the_floorperson_inspects_before_opening(book: Rulebook) -> None:
    opens = "dealer: open-bets, between to open"
    assert steps_by(book, "5(a)") == [
        f"{opens} if shaker is manual once table-inspected and dice-within-life",
        f"{opens} if shaker is automated once table-inspected and shift-inspected and dice-within-life",
    ]
    assert needs_by(book, "5(a)") == ["open-bets in between: table-inspected, else refused"] * 2
    assert ladder(book)[1:2] == [("floorperson", "5(a)")]


def test_us_5_a_1_the_electrical_device_is_tried_with_three_numbers(book: Rulebook) -> None:
    # One trial keys in three numbers, one for each die.
    assert inspections_by(book, "5(a)(1)") == ["electrical-device: floorperson, before opening, 1 run(s)"]


def test_us_5_a_2_the_automated_shaker_is_run_three_times(book: Rulebook) -> None:
    assert inspections_by(book, "5(a)(2)") == ["automated-shaker: floorperson, before opening, 3 run(s)"]


def test_us_5_b_again_each_shift_by_the_casino_supervisor(book: Rulebook) -> None:
    assert inspections_by(book, "5(b)") == ["automated-shaker: casino-supervisor, before shift, 3 run(s)"]
    assert needs_by(book, "5(b)") == ["open-bets in between: shift-inspected, else refused"]
    assert ladder(book)[2:] == [("casino-supervisor", "5(b)")]


# Procedure


def test_us_5_c_no_more_bets_before_every_shake(book: Rulebook) -> None:
    assert steps_by(book, "5(c)") == ["dealer: close-bets, open to closed"]
    assert phases_open(book) == ["open"]
    # A shake before the call is refused by the clause that orders the call.
    assert verdict(book, "tumble", "open") == "refused, 5(c)"
    assert verdict(book, "activate-shaker", "open", shaker="automated") == "refused, 5(c)"
    assert ruled_by(book, "5(c)") == {
        ("late-bet", "refuse", None): f"closed closed-tumbled {AFTER_REVEAL}",
    }


def test_us_5_d_past_the_close_the_dice_are_mixed_in_one_of_two_ways(book: Rulebook) -> None:
    def ways(**settings: str) -> list[str]:
        return [step.act for step in book.procedure.steps_from(Phase.CLOSED, book.chosen(settings))]

    assert (ways(shaker="manual"), ways(shaker="automated")) == (["tumble"], ["activate-shaker"])


def test_us_5_d_1_the_manual_shaker_is_covered_and_shaken_three_times(book: Rulebook) -> None:
    assert steps_by(book, "5(d)(1)") == [
        "dealer: tumble, closed to closed-tumbled if shaker is manual once dice-within-life",
        "dealer: tumble, closed-tumbled to closed-tumbled if shaker is manual once dice-within-life",
    ]
    assert equipment_by(book, "5(d)(1)") == [
        "manual-shaker, tumbles 3, without automated-shaker, if shaker is manual"
    ]
    assert phases_with(book, Visibility.CONCEALED) == ["closed-tumbled"]
    assert verdict(book, "tumble", "closed", shaker="automated") == "refused, 5(d)(1)"


def test_us_5_d_1_a_shake_too_few_is_made_good_before_the_cover_comes_off(book: Rulebook) -> None:
    assert needs_by(book, "5(d)(1)") == ["uncover in closed-tumbled: enough-tumbles, else refused"]
    assert verdict(book, "tumble", "closed-tumbled") == "to closed-tumbled, 5(d)(1)"
    assert ruled_by(book, "5(d)(1)") == {("too-few-tumbles", "refuse", None): "closed closed-tumbled"}
    # An automated shaker has no count to fall short of.
    assert ruled_by(book, "5(d)(1)", shaker="automated") == {}


def test_us_5_d_2_the_automated_shaker_is_activated_and_never_covered(book: Rulebook) -> None:
    assert steps_by(book, "5(d)(2)") == [
        "dealer: activate-shaker, closed to revealed if shaker is automated once dice-within-life"
    ]
    assert equipment_by(book, "5(d)(2)") == ["automated-shaker, if shaker is automated"]
    assert setting(book, "shaker") == ("procedure", ("manual", "automated"), "manual")
    assert verdict(book, "activate-shaker", "closed") == "refused, 5(d)(2)"


def test_us_5_e_uncovered_announced_entered_and_lit(book: Rulebook) -> None:
    assert steps_by(book, "5(e)") == [
        "dealer: uncover, closed-tumbled to revealed if shaker is manual once enough-tumbles",
        "dealer: enter-result, revealed to entered once dice-flat",
    ]
    assert phases_with(book, Visibility.SHOWN) == AFTER_REVEAL.split()
    assert equipment_by(book, "5(e)") == ["electrical-device"]
    assert ruled_by(book, "5(e)") == {("wrong-result", "settle-by-outcome", None): ALWAYS}
    assert verdict(book, "uncover", "closed") == "refused, 5(e)"


def test_us_3_b_the_dealer_may_place_a_bet_for_a_player(book: Rulebook) -> None:
    assert may_place(book) == (["dealer"], "3(b)")


def test_us_3_c_settled_as_the_chips_lie_when_lit(book: Rulebook) -> None:
    assert steps_by(book, "3(c)") == ["dealer: settle, entered to settled"]
    assert positions(book) == ("enter-result", "3(c)")
    assert ruled_by(book, "3(c)") == {
        ("late-withdrawal", "stays-live", None): "closed closed-tumbled revealed entered settled collected"
    }


def test_us_5_f_all_losers_first_then_the_winners(book: Rulebook) -> None:
    assert steps_by(book, "5(f)") == [
        "dealer: collect, settled to collected",
        "dealer: pay, collected to paid",
    ]
    assert verdict(book, "pay", "settled") == "refused, 5(f)"
    # The dice of the last throw lie in view until the shake.
    assert ruled_by(book, "5(f)") == {("untumbled-in-view", "continue", None): "open closed"}


def test_us_5_g_the_lights_are_cleared(book: Rulebook) -> None:
    assert steps_by(book, "5(g)") == ["dealer: clear-lights, paid to between"]
    assert verdict(book, "clear-lights", "collected") == "refused, 5(g)"
    assert recovers(book, "5(g)") == {"settled": "conclude", "collected": "conclude", "paid": "conclude"}


def test_us_5_g_the_order_of_a_round(book: Rulebook) -> None:
    settling = ["enter-result", "settle", "collect", "pay", "clear-lights"]
    assert round_of(book) == ["open-bets", "close-bets", "tumble", "uncover", *settling]
    assert round_of(book, shaker="automated") == ["open-bets", "close-bets", "activate-shaker", *settling]


def test_us_acts_that_another_game_has_are_refused_by_the_house(book: Rulebook) -> None:
    for act in ("press-deal", "deal-cards", "collect-and-pay", "conclude"):
        for phase in ALWAYS.split():
            assert verdict(book, act, phase) == "refused, house:order"


def test_us_no_act_out_of_order_is_an_irregularity(book: Rulebook) -> None:
    assert out_of_order(book) == []


def test_us_recovery_before_the_dice_are_known_is_outside_the_rules(book: Rulebook) -> None:
    assert recovers(book, OUTSIDE) == dict.fromkeys(TO_REVEAL.split(), "lock-and-refer")
    assert recovers(book, "house:recovery") == {"between": "nothing"}
    assert asks_whether_seen(book) == []


# Irregularities


def test_us_6_a_die_not_flat_is_no_roll(book: Rulebook) -> None:
    phases = "closed-tumbled revealed entered settled collected"
    assert ruled_by(book, "6(a)") == {("die-not-flat", "no-roll", None): phases}
    assert ruled_by(book, "6(a)", no_roll="void") == {("die-not-flat", "void", None): phases}
    assert needs_by(book, "6(a)") == ["enter-result in revealed: dice-flat, else die-not-flat"]
    assert setting(book, "no_roll") == ("irregularities", ("reroll", "void"), "reroll")


def test_us_6_b_device_failing_after_the_dice_are_known(book: Rulebook) -> None:
    assert ruled_by(book, "6(b)") == {
        ("equipment-failure", "settle-then-shut", "casino-supervisor"): AFTER_REVEAL,
        ("power-failure", "settle-then-shut", "casino-supervisor"): AFTER_REVEAL,
    }
    before = "settle-then-shut before casino-supervisor"
    assert recovers(book, "6(b)") == {"revealed": before, "entered": before}


def test_us_6_c_automated_shaker_failing_voids_the_round(book: Rulebook) -> None:
    void = {("automated-shaker-failure", "void", None): "closed revealed"}
    assert ruled_by(book, "6(c)", shaker="automated") == void
    assert ruled_by(book, "6(c)") == {}, "a manual shaker is no such machine"


def test_us_6_d_never_two_shakers(book: Rulebook) -> None:
    assert ruled_by(book, "6(d)") == {("two-shakers", "refuse", None): ALWAYS}
    assert excluded_by(book, "6(d)") == ["manual-shaker not beside automated-shaker"]


def test_us_void_bets_are_returned_and_later_rounds_stand_by_the_house(book: Rulebook) -> None:
    assert (book.irregularities.void, book.irregularities.later) == ("house:void", "house:later-rounds")


def test_us_a_die_seen_under_the_cover_changes_no_ruling(book: Rulebook) -> None:
    assert changed_once_seen(book) == {}


def test_us_limits_are_the_houses(book: Rulebook) -> None:
    assert ruled_by(book, "house:limits") == {
        ("under-minimum", "refuse", None): "open",
        ("over-maximum", "refuse", None): "open",
    }
    limits = book.limits
    assert (limits.under_minimum, limits.under_clause) == ("refuse", "house:limits")
    assert (limits.over_maximum, limits.over_clause) == ("refuse", "house:limits")
    assert limits.scope == "player-and-area"
    assert limits.memory is None


def test_us_whatever_else_is_referred_outside_the_rules(book: Rulebook) -> None:
    closed = f"between closed closed-tumbled {AFTER_REVEAL}"
    left = {
        "too-few-tumbles": f"between open {AFTER_REVEAL}",
        "exposed-early": ALWAYS,
        "die-not-flat": "between open closed paid",
        "dice-over-age": ALWAYS,
        "exposed-late": ALWAYS,
        "untumbled-in-view": f"between closed-tumbled {AFTER_REVEAL}",
        "die-damaged": ALWAYS,
        "dome-or-dice-broken": ALWAYS,
        "late-bet": "between open",
        "late-withdrawal": "between open paid",
        "chips-unclear": ALWAYS,
        "equipment-failure": f"between {TO_REVEAL}",
        "automated-shaker-failure": "between open closed-tumbled entered settled collected paid",
        "deal-not-pressed": ALWAYS,
        "under-minimum": closed,
        "over-maximum": closed,
        "earlier-limit-mistake": ALWAYS,
        "power-failure": f"between {TO_REVEAL}",
        "terminals-down": ALWAYS,
        "display-wrong": ALWAYS,
        "foreign-card": ALWAYS,
        "card-count-wrong": ALWAYS,
        "shoe-short": ALWAYS,
        "other": ALWAYS,
    }
    assert unforeseen(book) == left
    assert ruled_by(book, OUTSIDE) == {
        (event, "refer", "casino-supervisor"): phases
        for event, phases in (left | {"automated-shaker-failure": ALWAYS}).items()
    }
    assert ruled_by(book, OUTSIDE, shaker="automated") == {
        (event, "refer", "casino-supervisor"): phases
        for event, phases in (left | {"too-few-tumbles": ALWAYS}).items()
    }
    assert {OUTSIDE, "house:limits"}.isdisjoint(foreseen(book))


# People


def test_us_ladder_dealer_floorperson_casino_supervisor(book: Rulebook) -> None:
    assert ladder(book) == [("dealer", "1"), ("floorperson", "5(a)"), ("casino-supervisor", "5(b)")]
    assert book.people.second == "casino-supervisor"
    assert (book.people.higher_may_act, book.people.higher_clause) == ("as-set", OUTSIDE)
    assert setting(book, "higher_may_act") == ("people", ("yes", "no"), "no")
    assert not may_act(book, "casino-supervisor", "floorperson")
    assert may_act(book, "casino-supervisor", "floorperson", higher_may_act="yes")

"""Sic Bo at Marina Bay Sands, version 6, played: every irregularity and every stop, clause by clause."""

from __future__ import annotations

from typing import Final

import pytest

from taisai.game.commands import (
    ChooseWithdrawal,
    CloseWithdrawal,
    ConfirmReport,
    ContestReport,
    MoveBet,
    RecordBets,
    ReportIrregularity,
    Slip,
    TakeBack,
)
from taisai.game.events import DiceTumbled, IrregularityRuled, ReportHeld
from taisai.game.money.ledger import Account
from taisai.game.play import Declaration, recover
from taisai.game.vocabulary import Means
from taisai.rules import Irregularity, Rulebook, rulebook
from taisai.rules.procedure import Declared
from tests.game.played_events import acts_by, recoveries_by, ruling_played, rulings_by, told_of_act
from tests.game.playing import FILL, SEAT, at, standing
from tests.game.single_event import only

TO_REVEAL: Final = "open open-tumbled closed closed-tumbled deal-pressed"
KNOWN: Final = "revealed entered settled"
IN_HAND: Final = f"{TO_REVEAL} {KNOWN}"
ALWAYS: Final = f"between {IN_HAND} paid"
OVER: Final = "between paid"
COVERED: Final = "open-tumbled closed-tumbled deal-pressed"
CLOSED: Final = "closed closed-tumbled deal-pressed"
AFTER: Final = "after_close"
STAKED: Final = 1_400
UNCOVERED: Final = {
    "uncover: to revealed": "deal-pressed",
    "uncover: refused out-of-order": f"between closed {KNOWN} paid",
}
"""Uncovering wherever it is neither too early nor without the deal button."""
OPEN: Final = "open open-tumbled"
VOID_BY_OWN_CLAUSE: Final = frozenset(
    {"too-few-tumbles", "exposed-early", "die-not-flat", "die-damaged", "dome-or-dice-broken"}
)


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("mbs-sic-bo-v6")


# Irregularities that void the round


def test_mbs_5_1_too_few_tumbles_void_what_is_in_hand(book: Rulebook) -> None:
    assert rulings_by(book, "5.1") == {"too-few-tumbles: void": IN_HAND}
    for phase in ("open", "open-tumbled", "closed", "closed-tumbled", "deal-pressed"):
        playing = at(book, phase)
        ruled = only(IrregularityRuled, playing.act("tumble", tumbles=2))
        assert (ruled.irregularity, ruled.clause) == ("too-few-tumbles", "5.1")
        assert playing.table.rounds[0].voided


def test_mbs_5_1_after_two_tumbles_every_stake_goes_back(book: Rulebook) -> None:
    playing = at(book, "open")
    playing.act("tumble", tumbles=2)
    assert playing.entries() == [("chips", -STAKED, "house:void"), ("at-risk", -STAKED, "house:void")]
    assert playing.balance(Account.CHIPS) == FILL
    assert playing.table.rounds[0].voided
    assert playing.table.rounds[0].result is None


def test_mbs_5_2_dice_seen_before_the_close_void_what_is_in_hand(book: Rulebook) -> None:
    assert rulings_by(book, "5.2") == {
        "exposed-early: void": IN_HAND,
        "exposed-late: void": OPEN,
        "deal-not-pressed: void": "open-tumbled",  # the cover came off before the call
    }
    assert acts_by(book, "5.2") == {"uncover: void": "open-tumbled"}
    assert acts_by(book, "5.2", tumble=AFTER) == {}
    assert acts_by(book, "3.10") == UNCOVERED


def test_mbs_5_2_a_die_seen_before_the_close_voids_by_whatever_word_it_is_reported(book: Rulebook) -> None:
    for phase in OPEN.split():
        for event in Irregularity:
            expected = "void 5.2"
            if event in VOID_BY_OWN_CLAUSE:
                expected = ruling_played(book, event, phase)
                assert expected.startswith("void 5.")
            assert ruling_played(book, event, phase, seen=True) == expected, (event, phase)


def test_mbs_5_2_one_person_is_enough_to_report_it(book: Rulebook) -> None:
    for event in ("power-failure", "equipment-failure", "exposed-early"):
        playing = at(book, "open-tumbled")
        playing.do(ReportIrregularity, "dan", **playing.reporting(event, seen=True, second=None))
        assert playing.table.rounds[0].voided
        assert playing.balance(Account.CHIPS) == FILL


def test_mbs_5_2_declared_after_a_stop_voids_too(book: Rulebook) -> None:
    assert recoveries_by(book, "5.2") == {"seen: void": OPEN}


def test_mbs_house_seen_dice_seen_after_the_close_change_nothing(book: Rulebook) -> None:
    assert rulings_by(book, "house:seen") == {"exposed-late: noted continue": f"{CLOSED} {KNOWN} paid"}
    assert rulings_by(book, "house:untumbled") == {
        "untumbled-in-view: noted continue": f"{TO_REVEAL} {KNOWN} paid"
    }
    assert acts_by(book, "house:untumbled") == {"uncover: noted continue": "open"}


def test_mbs_5_2_uncovering_too_early_gives_every_stake_back(book: Rulebook) -> None:
    playing = at(book, "open-tumbled")
    ruled = only(IrregularityRuled, playing.act("uncover"))
    assert (ruled.irregularity, ruled.clause) == ("exposed-early", "5.2")
    assert playing.entries() == [("chips", -STAKED, "house:void"), ("at-risk", -STAKED, "house:void")]


def test_mbs_5_3_a_die_not_flat_voids_what_is_in_hand(book: Rulebook) -> None:
    assert rulings_by(book, "5.3") == {"die-not-flat: void": IN_HAND}
    revealed = standing(book, "revealed")
    assert told_of_act(revealed, "enter-result", flat=False, faces=()) == "void 5.3"
    assert told_of_act(revealed, "enter-result", flat=True) == "to entered 1.1.3"


def test_mbs_5_4_a_damaged_die_voids_what_is_in_hand(book: Rulebook) -> None:
    assert rulings_by(book, "5.4") == {"die-damaged: void": IN_HAND}


def test_mbs_5_5_a_broken_dome_voids_what_is_in_hand(book: Rulebook) -> None:
    assert rulings_by(book, "5.5") == {"dome-or-dice-broken: void": IN_HAND}


def test_mbs_void_stakes_go_back_by_the_house_in_every_phase(book: Rulebook) -> None:
    for phase in IN_HAND.split():
        playing = at(book, phase)
        playing.do(ReportIrregularity, "dan", **playing.reporting("dome-or-dice-broken"))
        assert playing.balance(Account.CHIPS) == FILL
        assert {clause for _, _, clause in playing.entries()} == {"house:void"}


# Bets after the close


def test_mbs_5_6_a_late_bet_is_refused_and_an_earlier_stake_stands(book: Rulebook) -> None:
    late = f"{CLOSED} {KNOWN} paid"
    assert rulings_by(book, "5.6") == {"late-bet: noted refuse": late}
    for phase in late.split():
        assert standing(book, phase).bet_refused(odd=100) == "late 5.6"
        assert (
            standing(book, phase).refused(
                RecordBets,
                "dan",
                round=1,
                seat=SEAT,
                means=Means.CASH_CHIPS,
                bets=(Slip("more", "small", 100),),
            )
            == "late 5.6"
        )
        assert standing(book, phase).table.round.bets["1-small"].stake == 1_000  # type: ignore[union-attr]


def test_mbs_5_7_a_bet_withdrawn_late_stays_live(book: Rulebook) -> None:
    late = f"{CLOSED} {KNOWN}"
    assert rulings_by(book, "5.7") == {"late-withdrawal: noted stays-live": late}
    for phase in late.split():
        refused = standing(book, phase).refused(TakeBack, "dan", round=1, seat=SEAT, ids=("1-small",))
        assert refused == "late 5.7"


# What the dice decide whatever the equipment does


def test_mbs_5_8_equipment_gives_way_to_the_dice(book: Rulebook) -> None:
    assert rulings_by(book, "5.8") == {
        "equipment-failure: noted settle-by-outcome": f"{KNOWN} paid",
        "wrong-result: corrected": "entered",
        "wrong-result: resettled": "settled paid",
    }
    once_seen = rulings_by(book, "5.8", seen=True)
    assert once_seen.get("equipment-failure: noted settle-by-outcome") == f"{CLOSED} {KNOWN} paid"


def test_mbs_5_9_deal_not_pressed_leaves_the_outcome_standing(book: Rulebook) -> None:
    assert rulings_by(book, "5.9") == {
        "deal-not-pressed: uncovered": "closed-tumbled",
        "deal-not-pressed: noted reset-and-enter": KNOWN,
    }
    assert acts_by(book, "5.9") == {"uncover: uncovered": "closed-tumbled"}
    assert acts_by(book, "5.9", tumble=AFTER) == {"uncover: uncovered": "closed-tumbled"}
    assert acts_by(book, "3.10") == UNCOVERED


def test_mbs_5_9_the_result_is_keyed_in_and_positions_count(book: Rulebook) -> None:
    playing = at(book, "closed-tumbled")
    playing.act("uncover")
    assert playing.refused(MoveBet, "dan", round=1, id="1-small", area="odd", second="pat") == "late 5.6"
    playing.act("enter-result")
    playing.act("settle")
    assert len(playing.table.rounds) == 0
    assert playing.balance(Account.PAYABLE) == 2_000


def test_mbs_6_3_a_display_decides_nothing(book: Rulebook) -> None:
    assert rulings_by(book, "6.3") == {
        "wrong-result: resettled": "between",
        "wrong-result: refused ruled-out": f"{TO_REVEAL} revealed",  # nothing is keyed in yet
        "display-wrong: noted settle-by-outcome": ALWAYS,
    }


# Limits, as far as they are reported


def test_mbs_5_10_under_the_minimum_is_noted(book: Rulebook) -> None:
    assert rulings_by(book, "5.10") == {"under-minimum: noted settle-once": IN_HAND}


def test_mbs_5_11_over_the_maximum_is_noted(book: Rulebook) -> None:
    assert rulings_by(book, "5.11") == {"over-maximum: noted settle-to-maximum": IN_HAND}


def test_mbs_5_12_an_earlier_limit_mistake_stands(book: Rulebook) -> None:
    assert rulings_by(book, "5.12") == {"earlier-limit-mistake: noted stands": ALWAYS}


# Power, and a stop of the system


def test_mbs_5_13_1_no_outcome_so_players_may_withdraw(book: Rulebook) -> None:
    assert rulings_by(book, "5.13.1") == {"power-failure: withdrawal offered": TO_REVEAL}
    assert rulings_by(book, "5.13.1", seen=True) == {}
    assert recoveries_by(book, "5.13.1") == {"unseen: withdrawal offered": TO_REVEAL}


def test_mbs_5_13_1_with_nothing_on_view_the_report_of_one_opens_the_option(book: Rulebook) -> None:
    for phase in CLOSED.split():
        playing = at(book, phase)
        playing.do(ReportIrregularity, "dan", **playing.reporting("power-failure", second=None))
        assert playing.table.reports == {}
        assert playing.act_refused("uncover") == "on-hold 5.13.1"
        playing.do(ChooseWithdrawal, "dan", seat=SEAT, withdraw=True)
        assert playing.table.seats[SEAT].at_risk == 0


def test_mbs_5_13_2_a_die_seen_by_one_holds_the_round_until_a_second_confirms_it(book: Rulebook) -> None:
    for phase in CLOSED.split():
        playing = at(book, phase)
        alone = playing.reporting("power-failure", seen=True, second=None)
        assert only(ReportHeld, playing.do(ReportIrregularity, "dan", **alone)).seen
        assert playing.act_refused("uncover") == "on-hold house:confirmation"
        assert playing.refused(ConfirmReport, "dan", report="h1") == "second-person house:confirmation"
        contested = playing.fork()
        playing.do(ConfirmReport, "pat", report="h1")
        assert playing.table.held is None
        contested.do(ContestReport, "pat", report="h1", reason="the lights were on")
        assert contested.act_refused("uncover") == "on-hold 6.1"


def test_mbs_6_1_a_failure_of_equipment_goes_to_the_shift_manager_without_a_second_person(
    book: Rulebook,
) -> None:
    for phase in TO_REVEAL.split():
        playing = at(book, phase)
        playing.do(
            ReportIrregularity, "dan", **playing.reporting("equipment-failure", second=None, item="tumbler")
        )
        assert playing.act_refused("uncover") == "on-hold 6.1"
        assert playing.table.reports == {}
    once_seen = rulings_by(book, "6.1", seen=True)
    assert once_seen.get("equipment-failure: referred to shift-manager") == "between"


def test_mbs_5_13_1_all_of_their_bets_or_none_and_then_the_round_goes_on(book: Rulebook) -> None:
    for phase in TO_REVEAL.split():
        playing = at(book, phase)
        playing.do(ReportIrregularity, "dan", **playing.reporting("power-failure"))
        assert playing.act_refused("uncover") == "on-hold 5.13.1"
        stays = playing.fork()
        playing.do(ChooseWithdrawal, "dan", seat=SEAT, withdraw=True)
        assert playing.table.seats[SEAT].at_risk == 0
        assert {clause for _, _, clause in playing.entries()} == {"5.13.1"}
        made = playing.do(CloseWithdrawal, "dan")
        assert [one.clause for one in made] == ["5.13.1", "5.13.1"]
        assert playing.table.round is None  # with nothing left to play for
        stays.do(ChooseWithdrawal, "dan", seat=SEAT, withdraw=False)
        stays.do(CloseWithdrawal, "dan")
        assert (stays.table.phase, stays.table.held) == (phase, None)
        assert stays.table.seats[SEAT].at_risk == STAKED


def test_mbs_5_13_2_an_outcome_that_was_seen_is_not_tumbled_away(book: Rulebook) -> None:
    for phase in ("closed-tumbled", "deal-pressed"):
        playing = at(book, phase)
        assert only(DiceTumbled, playing.fork().act("tumble")).tumbles == 3
        playing.do(ReportIrregularity, "dan", **playing.reporting("power-failure", seen=True))
        assert playing.act_refused("tumble") == "unmet-need 5.13.2"
    late = at(book, "closed", tumble=AFTER)  # the tumble is entered after what it showed
    late.do(ReportIrregularity, "dan", **late.reporting("power-failure", seen=True))
    late.act("tumble")
    assert late.table.phase == "closed-tumbled"


def test_mbs_5_13_2_an_outcome_so_play_goes_on(book: Rulebook) -> None:
    assert rulings_by(book, "5.13.2") == {"power-failure: noted continue": f"{KNOWN} paid"}
    assert rulings_by(book, "5.13.2", seen=True) == {
        "power-failure: noted continue": f"{CLOSED} {KNOWN} paid"
    }
    assert recoveries_by(book, "5.13.2") == {
        "seen: continue": f"{CLOSED} revealed entered",
        "unseen: continue": "revealed entered",
    }


def after_close(rulings: dict[str, str]) -> dict[str, str]:
    """The rulings in the phases in which bets are not open."""
    kept = {name: [one for one in where.split() if one not in OPEN] for name, where in rulings.items()}
    return {name: " ".join(where) for name, where in kept.items() if where}


def test_mbs_5_13_a_die_seen_after_the_close_changes_nothing_else(book: Rulebook) -> None:
    own = ("house:seen", "house:untumbled", "house:unclear-chips")
    for clause in ("3.12", *(f"5.{n}" for n in range(1, 13)), "6.1", "6.3", *own):
        usual = after_close(rulings_by(book, clause))
        if clause == "5.8":
            usual["equipment-failure: noted settle-by-outcome"] = f"{CLOSED} {KNOWN} paid"
        if clause == "6.1":
            usual["equipment-failure: referred to shift-manager"] = "between"
        assert after_close(rulings_by(book, clause, seen=True)) == usual, clause


def test_mbs_5_13_what_was_seen_is_asked_first(book: Rulebook) -> None:
    asked = f"{IN_HAND} paid"
    assert recoveries_by(book, "house:declaration") == {"stopped: declare": asked}
    assert recoveries_by(book, "house:recovery") == {"stopped: nothing": "between"}
    assert recoveries_by(book, "house:declaration", tumble=AFTER) == {
        "stopped: declare": f"open {CLOSED} {KNOWN} paid"
    }


def test_mbs_5_13_the_journal_alone_says_what_follows(book: Rulebook) -> None:
    after = {
        ("open", None): "declare house:declaration",
        ("open", "unseen"): "withdraw-option 5.13.1",
        ("open-tumbled", "seen"): "void 5.2",
        ("closed", "unseen"): "withdraw-option 5.13.1",
        ("deal-pressed", None): "declare house:declaration",
        ("deal-pressed", "unseen"): "withdraw-option 5.13.1",
        ("deal-pressed", "seen"): "continue 5.13.2",
        ("entered", None): "declare house:declaration",
        ("entered", "unseen"): "continue 5.13.2",
        ("paid", None): "declare house:declaration",
        ("paid", "unseen"): "conclude 1.1.3",
    }
    for (phase, declared), expected in after.items():
        said = Declaration(Declared(declared), "dan", "pat") if declared else None
        back = recover(standing(book, phase).log, book, said)
        assert (f"{back.action} {back.clause}", back.refusal) == (expected, None)
        assert back.table.phase == ("between" if back.action == "void" else phase)


def test_mbs_1_1_3_a_round_settled_before_a_stop_is_concluded(book: Rulebook) -> None:
    said = {"seen: conclude": "settled paid", "unseen: conclude": "settled paid"}
    assert recoveries_by(book, "1.1.3") == said  # whatever is declared


# Whatever else


def test_mbs_3_12_unclear_chips_are_for_the_pit_supervisor(book: Rulebook) -> None:
    assert rulings_by(book, "3.12") == {"chips-unclear: referred to pit-supervisor": f"{CLOSED} {KNOWN}"}
    assert rulings_by(book, "house:unclear-chips") == {"chips-unclear: noted continue": OPEN}


def test_mbs_6_1_whatever_no_rule_covers_is_for_the_gaming_shift_manager(book: Rulebook) -> None:
    left = {
        "too-few-tumbles": OVER,
        "exposed-early": OVER,
        "untumbled-in-view": "between",
        "exposed-late": "between",
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
    assert rulings_by(book, "6.1") == {
        f"{event}: referred to shift-manager": where for event, where in left.items()
    }


def test_mbs_irregularities_are_ruled_alike_when_the_dice_tumble_after_the_close(book: Rulebook) -> None:
    for event, phase in (
        ("too-few-tumbles", "open"),
        ("exposed-early", "closed-tumbled"),
        ("other", "revealed"),
    ):
        assert ruling_played(book, event, phase) == ruling_played(book, event, phase, tumble=AFTER)

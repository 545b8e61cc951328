"""Rounds of Sic Bo ETG at Resorts World Sentosa, version 8, played clause by clause: how one goes wrong."""

from __future__ import annotations

from typing import Any, Final

import pytest

from taisai.game.commands import (
    DecideReferral,
    Declare,
    DispenseCredits,
    LeaveSeat,
    PlaceBets,
    Recover,
    ReportIrregularity,
    Slip,
)
from taisai.game.events import DiceTumbled, ReportHeld, RoundResettled, RoundVoided
from taisai.game.money.ledger import Account
from taisai.game.play import Declaration, recover
from taisai.game.vocabulary import RECOVERY, Treatment
from taisai.rules import Rulebook, rulebook
from taisai.rules.procedure import Declared
from tests.game.played_events import acts_by, recoveries_by, recovery_played, rulings_by, told, told_of_act
from tests.game.playing import CREDITS, OTHER_FACES, RWS, SEAT, TERMINAL, Playing, at, standing
from tests.game.single_event import only

TO_REVEAL: Final = "open open-tumbled closed closed-tumbled"
COVERED: Final = "closed closed-tumbled"
KNOWN: Final = "revealed entered settled paid"
IN_HAND: Final = f"{TO_REVEAL} revealed entered settled"
ALWAYS: Final = f"between {TO_REVEAL} {KNOWN}"
OVER: Final = "between paid"


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook(RWS)


def after(playing: Playing, event: str, **fields: Any) -> Playing:
    """The table after a report."""
    playing.do(ReportIrregularity, "dan", **playing.reporting(event, **fields))
    return playing


def two_rounds(book: Rulebook) -> Playing:
    """A table after two rounds in which small won 1,000 and big lost 400."""
    return at(book, "between").to("between")


def after_close(told: dict[str, str]) -> dict[str, str]:
    """The rulings that were recorded, without the phases in which bets are open."""
    phases = {
        what: " ".join(one for one in where.split() if not one.startswith("open"))
        for what, where in told.items()
    }
    return {what: where for what, where in phases.items() if where}


# Interruptions


def test_rws_5_1_a_failure_is_ruled_by_whether_a_die_was_seen(book: Rulebook) -> None:
    for clause in ("5.3.1", "5.3.2", "5.4"):
        assert rulings_by(book, clause, seen=True) == rulings_by(book, clause)
    # After the close a die seen changes nothing but the rulings of 5.1.
    for clause in ("3.5", "5.2", "5.3.3", "5.5", "5.7", "5.8", "5.10"):
        assert after_close(rulings_by(book, clause, seen=True)) == after_close(rulings_by(book, clause))


def test_rws_5_3_3_a_die_seen_before_the_close_voids_the_round_whatever_was_reported(book: Rulebook) -> None:
    void = rulings_by(book, "5.3.3", seen=True)
    for event in ("power-failure", "terminals-down", "display-wrong", "wrong-result", "other"):
        assert void.get(f"{event}: void") == "open open-tumbled"
    assert rulings_by(book, "5.2", seen=True) == {
        "terminals-down: noted settle-registered": f"closed closed-tumbled {KNOWN}"
    }


def test_rws_5_1_after_a_stop_dealer_and_supervisor_declare_what_was_seen(book: Rulebook) -> None:
    assert recoveries_by(book, "house:declaration") == {"stopped: declare": COVERED}
    stopped = at(book, "closed-tumbled")
    stopped.do(Recover, RECOVERY)
    assert stopped.act_refused("uncover") == "on-hold house:declaration"
    seen = {"declared": Declared.SEEN}
    for second in (None, "dan", "zoe"):
        assert stopped.refused(Declare, "dan", second=second, **seen) == "second-person house:declaration"
    assert stopped.refused(Declare, "pat", second="sue", **seen) == "not-permitted house:declaration"
    for second in ("pat", "mia", "sue"):
        assert stopped.tried(Declare, "dan", second=second, **seen) == "done"
    unasked = standing(book, "closed-tumbled").refused(Declare, "dan", second="pat", **seen)
    assert unasked == "out-of-order house:declaration"


def test_rws_5_1_what_is_played_here_is_what_recovery_from_the_journal_does(book: Rulebook) -> None:
    for phase in ("between", "closed", "closed-tumbled", "entered", "paid"):
        playing = standing(book, phase)
        recovered = recover(playing.log, book, at=playing.now)
        assert recovered.events == playing.ask(Recover, RECOVERY)
    log = standing(book, "closed-tumbled").log
    unseen = recover(log, book, Declaration(Declared.UNSEEN, "dan", "pat"))
    assert (unseen.action, unseen.clause, unseen.refusal) == ("void", "5.1.2", None)
    assert unseen.table.past(1) is not None
    alone = recover(log, book, Declaration(Declared.UNSEEN, "dan", "dan"))
    assert (alone.action, alone.refusal and alone.refusal.reason) == ("declare", "second-person")


def test_rws_5_1_a_stop_that_no_player_felt_is_none(book: Rulebook) -> None:
    assert standing(book, "open").ask(Recover, RECOVERY, stopped_for=0) == ()
    assert told(standing(book, "open").ask(Recover, RECOVERY, stopped_for=1)) == "void 5.1.2"
    graced = standing(book, "open", fail_over_grace="2")
    assert graced.ask(Recover, RECOVERY, stopped_for=2_000) == ()
    assert told(graced.ask(Recover, RECOVERY, stopped_for=2_001)) == "void 5.1.2"
    assert graced.refused(Recover, "sue", stopped_for=0) == "not-permitted house:recovery"


def test_rws_5_1_1_with_an_outcome_play_goes_on_to_its_end(book: Rulebook) -> None:
    goes_on = "noted continue"
    assert rulings_by(book, "5.1.1") == {
        f"equipment-failure: {goes_on}": KNOWN,
        f"power-failure: {goes_on}": KNOWN,
    }
    seen = f"{COVERED} {KNOWN}"
    assert rulings_by(book, "5.1.1", seen=True) == {
        f"equipment-failure: {goes_on}": seen,
        f"power-failure: {goes_on}": seen,
    }
    assert recoveries_by(book, "5.1.1") == {
        "seen: continue": COVERED,
        "stopped: continue": "revealed entered",
    }


def test_rws_5_1_1_once_seen_is_seen_for_good(book: Rulebook) -> None:
    playing = at(book, "closed-tumbled")
    playing.do(Recover, RECOVERY)
    playing.do(Declare, "dan", declared=Declared.SEEN, second="pat")
    assert told(playing.ask(Recover, RECOVERY)) == "continue 5.1.1"
    assert told(playing.report("power-failure")) == "noted continue 5.1.1"
    for act in ("uncover", "enter-result", "settle", "collect-and-pay", "conclude"):
        playing.act(act)
    assert playing.credits == CREDITS + 600


def test_rws_5_1_1_an_outcome_that_was_seen_is_not_tumbled_away(book: Rulebook) -> None:
    playing = at(book, "closed-tumbled")
    assert only(DiceTumbled, playing.fork().act("tumble")).tumbles == 3
    playing.do(ReportIrregularity, "dan", **playing.reporting("power-failure", seen=True))
    assert playing.act_refused("tumble") == "unmet-need 5.1.1"
    late = at(book, "closed")  # the tumble is entered after what it showed
    late.do(ReportIrregularity, "dan", **late.reporting("power-failure", seen=True))
    late.act("tumble")
    assert late.table.phase == "closed-tumbled"


def test_rws_5_1_2_without_an_outcome_the_round_is_void(book: Rulebook) -> None:
    assert rulings_by(book, "5.1.2") == {
        "equipment-failure: void": TO_REVEAL,
        "power-failure: void": TO_REVEAL,
    }
    assert rulings_by(book, "5.1.2", seen=True) == {}
    assert recoveries_by(book, "5.1.2") == {"stopped: void": "open open-tumbled", "unseen: void": COVERED}


def test_rws_5_1_2_equipment_that_failed_is_repaired_before_the_next_round(book: Rulebook) -> None:
    playing = after(at(book, "closed"), "equipment-failure", item="game-console")
    assert playing.act_refused("open-bets") == "unmet-need house:equipment"
    unknown = playing.reporting("equipment-failure", item="roof")
    assert playing.refused(ReportIrregularity, "dan", **unknown) == "bad-value house:equipment"


def test_rws_1_8_a_stop_after_the_settlement_leaves_only_the_end(book: Rulebook) -> None:
    assert recoveries_by(book, "1.8") == {"stopped: conclude": "settled paid"}
    assert recovery_played(book, "between") == "nothing house:recovery"
    playing = at(book, "settled")
    playing.do(Recover, RECOVERY)
    playing.act("collect-and-pay")
    playing.act("conclude")
    assert playing.credits == CREDITS + 600


def test_rws_5_2_terminals_that_fail_leave_the_round_running(book: Rulebook) -> None:
    assert rulings_by(book, "5.2") == {"terminals-down: noted settle-registered": f"{TO_REVEAL} {KNOWN}"}


def test_rws_5_2_1_what_was_registered_is_settled_on_a_dead_terminal_too(book: Rulebook) -> None:
    playing = after(at(book, "closed"), "terminals-down")
    for act in ("tumble", "uncover", "enter-result", "settle", "collect-and-pay", "conclude"):
        playing.act(act)
    assert playing.credits == CREDITS + 600
    again = {"round": 1, "seat": SEAT, "bets": (Slip("1-small", "small", 1_000), Slip("1-big", "big", 400))}
    # The acknowledgement was lost: asking once more neither bets again nor is it refused.
    assert playing.ask(PlaceBets, TERMINAL, **again) == ()


def test_rws_5_2_2_what_was_not_registered_stays_with_the_player(book: Rulebook) -> None:
    playing = after(at(book, "closed"), "terminals-down")
    had = playing.credits
    assert playing.bet_refused(odd=100) == "late 3.5"
    for act in ("tumble", "uncover", "enter-result", "settle", "collect-and-pay", "conclude"):
        playing.act(act)
    assert playing.credits == had + 2_000


# Dice


def test_rws_5_3_earlier_rounds_stand_and_an_irregular_one_that_is_paid_is_referred(book: Rulebook) -> None:
    playing = after(at(book, "between").to("closed-tumbled"), "die-not-flat")
    assert [one.voided for one in playing.table.rounds] == [False, True]
    assert playing.credits == CREDITS + 600
    for event in ("too-few-tumbles", "die-not-flat", "exposed-early"):
        later = after(at(book, "between").to("closed"), event, round=1)
        assert (later.table.phase, later.credits) == ("closed", CREDITS + 600 - 1_400)
        assert (later.table.referrals["r1"].to, later.table.referrals["r1"].clause) == (
            "shift-manager",
            "5.10",
        )


def test_rws_5_3_1_too_few_tumbles_void_the_round_whenever_they_are_noticed(book: Rulebook) -> None:
    assert rulings_by(book, "5.3.1") == {"too-few-tumbles: void": IN_HAND}
    for tumbles in (0, 1, 2):
        assert told_of_act(standing(book, "closed"), "tumble", tumbles=tumbles) == "void 5.3.1"
        early = standing(book, "open", tumble="before_close")
        assert told_of_act(early, "tumble", tumbles=tumbles) == "void 5.3.1"
    playing = at(book, "closed")
    events = playing.act("tumble", tumbles=2)
    assert [type(event).__name__ for event in events] == ["DiceTumbled", "IrregularityRuled", "RoundVoided"]
    assert playing.credits == CREDITS


def test_rws_5_3_2_a_die_that_lies_askew_voids_the_round(book: Rulebook) -> None:
    assert rulings_by(book, "5.3.2") == {"die-not-flat: void": IN_HAND}
    keyed = {"flat": False}
    assert told_of_act(standing(book, "revealed"), "enter-result", **keyed) == "void 5.3.2"
    assert told_of_act(standing(book, "revealed"), "enter-result", faces=(), flat=False) == "void 5.3.2"


def test_rws_5_3_3_dice_seen_before_the_close_void_the_round(book: Rulebook) -> None:
    assert rulings_by(book, "5.3.3") == {
        "exposed-early: void": IN_HAND,
        "exposed-late: void": "open open-tumbled",
    }
    assert acts_by(book, "5.3.3") == {"uncover: void": "open-tumbled"}
    # Anywhere else an early hand on the cover is refused and voids nothing.
    assert acts_by(book, "3.7")["uncover: refused out-of-order"] == f"between closed {KNOWN}"
    playing = at(book, "open-tumbled")
    playing.act("uncover")
    assert (playing.table.round, playing.credits) == (None, CREDITS)


def test_rws_5_4_a_damaged_die_voids_the_round_in_hand_and_those_that_are_named(book: Rulebook) -> None:
    playing = two_rounds(book).to("closed")
    beyond = playing.reporting("die-damaged", round=1, through=4)
    assert playing.refused(ReportIrregularity, "dan", **beyond) == "wrong-round 5.4"
    alone = playing.reporting("die-damaged", round=1, through=3, second=None)
    made = playing.do(ReportIrregularity, "dan", **alone)
    assert [event.round for event in made if isinstance(event, RoundVoided)] == [3]
    assert [one.voided for one in playing.table.rounds] == [False, False, True]
    # Which earlier rounds were affected is named by the Table Games Shift Manager (5.10).
    named = {"referral": "r1", "treatment": Treatment.VOID_ROUNDS, "through": 2, "reason": "a chip"}
    assert playing.refused(DecideReferral, "mia", **named) == "not-permitted 5.10"
    made = playing.do(DecideReferral, "sue", **named)
    assert {(event.round, event.clause) for event in made if isinstance(event, RoundVoided)} == {
        (1, "5.4"),
        (2, "5.4"),
    }
    assert playing.credits == CREDITS


def test_rws_5_4_every_report_voids_the_round_in_hand_in_every_phase(book: Rulebook) -> None:
    for phase in IN_HAND.split():
        playing = after(at(book, phase), "die-damaged")
        assert [one.voided for one in playing.table.rounds] == [True]
        assert playing.credits == CREDITS
    assert rulings_by(book, "5.4") == {"die-damaged: affected rounds void": ALWAYS}


def test_rws_5_4_void_once_is_void_for_good(book: Rulebook) -> None:
    playing = two_rounds(book)
    named = playing.reporting("die-damaged", round=1, through=2, second=None)
    assert len(playing.do(ReportIrregularity, "sue", **named)) == 4  # the ruling, the dice, two rounds
    (again,) = playing.do(ReportIrregularity, "sue", **named)
    assert (again.clause, playing.credits) == ("5.4", CREDITS)


def test_rws_5_4_other_dice_come_before_the_next_round(book: Rulebook) -> None:
    playing = after(at(book, "closed"), "die-damaged")
    assert playing.act_refused("open-bets") == "unmet-need house:equipment"


def test_rws_5_4_winnings_that_have_left_become_a_claim_and_no_debt_in_silence(book: Rulebook) -> None:
    playing = at(book, "between")
    playing.do(DispenseCredits, TERMINAL, seat=SEAT, transfer="ticket-1")
    playing.do(LeaveSeat, TERMINAL, seat=SEAT)
    after(playing, "die-damaged")
    (claim,) = playing.table.claims.values()
    assert (claim.amount, claim.of_player) == (600, False)
    assert playing.balance(Account.CLAIMS_ON_PLAYERS) == 600


def test_rws_a_die_seen_after_the_close_and_untumbled_dice_change_nothing(book: Rulebook) -> None:
    noted = {"exposed-late: noted continue": "closed closed-tumbled revealed entered settled paid"}
    assert rulings_by(book, "house:seen") == noted
    assert rulings_by(book, "house:untumbled") == {
        "untumbled-in-view: noted continue": f"{TO_REVEAL} {KNOWN}"
    }
    assert acts_by(book, "house:untumbled") == {"uncover: noted continue": "open"}


# Results and displays


def test_rws_5_5_a_wrong_result_gives_way_to_the_dice(book: Rulebook) -> None:
    assert rulings_by(book, "5.5") == {
        "wrong-result: corrected": "entered",
        "wrong-result: resettled": "between settled paid",
        "wrong-result: refused ruled-out": f"{TO_REVEAL} revealed",
    }
    playing = after(at(book, "entered"), "wrong-result")
    playing.act("settle")
    playing.act("collect-and-pay")
    assert playing.credits == CREDITS - 600  # on 4-5-6 big wins 400 and small loses 1,000


def test_rws_5_5_a_round_long_over_is_settled_again_under_dual_control(book: Rulebook) -> None:
    playing = two_rounds(book)
    alone = playing.reporting("wrong-result", round=1, second=None)
    *_, held = playing.ask(ReportIrregularity, "dan", **alone)
    assert isinstance(held, ReportHeld)
    same = playing.reporting("wrong-result", round=1, faces=(3, 2, 1))
    assert playing.refused(ReportIrregularity, "dan", **same) == "bad-value 5.5"
    events = playing.do(
        ReportIrregularity, "dan", **playing.reporting("wrong-result", round=1, faces=OTHER_FACES)
    )
    (again,) = [event for event in events if isinstance(event, RoundResettled)]
    assert (again.entered, again.faces, again.clause) == ((1, 2, 3), OTHER_FACES, "5.5")
    assert {clause for _, _, clause in playing.entries()} == {"5.5"}
    assert playing.credits == CREDITS


def test_rws_5_6_a_mistake_found_later_touches_no_later_round(book: Rulebook) -> None:
    playing = two_rounds(book).to("closed")
    second = playing.table.past(2)
    assert second is not None
    settled = second.settled
    *_, again = playing.do(ReportIrregularity, "dan", **playing.reporting("wrong-result", round=1))
    assert isinstance(again, RoundResettled)
    assert again.later == "5.6"
    assert playing.table.past(2) is second
    assert (second.settled, second.voided) == (settled, False)
    assert (playing.table.phase, playing.table.seats[SEAT].at_risk) == ("closed", 1_400)
    *_, void = playing.do(ReportIrregularity, "sue", **playing.reporting("die-damaged", round=1, second=None))
    assert isinstance(void, RoundVoided)
    assert (void.later, second.voided) == ("5.6", False)
    *_, last = at(book, "between").do(
        ReportIrregularity, "dan", **standing(book, "between").reporting("wrong-result")
    )
    assert isinstance(last, RoundResettled)
    assert last.later is None


def test_rws_5_7_a_withdrawal_reported_past_the_close_changes_nothing(book: Rulebook) -> None:
    closed = "closed closed-tumbled revealed entered settled"
    assert rulings_by(book, "5.7") == {"late-withdrawal: noted stays-live": closed}


def test_rws_3_5_a_late_bet_reported_is_noted_and_not_taken(book: Rulebook) -> None:
    assert rulings_by(book, "3.5") == {"late-bet: noted refuse": f"closed closed-tumbled {KNOWN}"}


def test_rws_3_3_a_bet_outside_the_limits_reported_is_noted_and_not_taken(book: Rulebook) -> None:
    assert rulings_by(book, "3.3") == {
        "under-minimum: noted refuse": "open open-tumbled",
        "over-maximum: noted refuse": "open open-tumbled",
    }


def test_rws_5_8_a_display_that_is_wrong_moves_no_money(book: Rulebook) -> None:
    assert rulings_by(book, "5.8") == {"display-wrong: noted settle-by-outcome": ALWAYS}


def test_rws_5_9_every_bet_of_a_void_round_goes_back(book: Rulebook) -> None:
    playing = after(at(book, "closed"), "too-few-tumbles")
    back = [("at-risk", -1_400, "5.9"), ("credits", 1_400, "5.9")]
    assert (playing.entries(), playing.credits) == (back, CREDITS)


def test_rws_1_10_a_void_round_has_no_result(book: Rulebook) -> None:
    for phase in ("closed", "entered", "settled"):
        playing = after(at(book, phase), "die-damaged")
        round_ = playing.table.past(1)
        assert round_ is not None
        assert (round_.voided, round_.result, round_.settled) == (True, None, None)
        wrong = playing.reporting("wrong-result", round=1)
        made = playing.do(ReportIrregularity, "dan", **wrong)
        assert [type(event).__name__ for event in made] == ["IrregularityRuled"]

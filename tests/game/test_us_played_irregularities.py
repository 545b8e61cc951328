"""Rounds of sic bo under the American rules, played clause by clause: how one goes wrong, and who decides."""

from __future__ import annotations

from typing import Any, Final

import pytest

from taisai.game.commands import (
    CallAttendant,
    ConfirmReport,
    ContestReport,
    DecideReferral,
    DeclareUnrecorded,
    MoveBet,
    Perform,
    Recover,
    Reopen,
    RepairItem,
    ReportIrregularity,
    TakeBack,
)
from taisai.game.events import IrregularityRuled, ReferralDecided, Referred, RoundResettled, TableShut
from taisai.game.irregularities.referrals import open_referrals
from taisai.game.money.ledger import Account
from taisai.game.play import recover
from taisai.game.vocabulary import RECOVERY, Subject, Treatment
from taisai.rules import Act, Outcome, Rulebook, rulebook
from tests.game.played_events import recoveries_by, ruling_played, rulings_by, told_of_act
from tests.game.playing import FILL, OTHER_FACES, SEAT, US, Playing, at, phases, standing

AUTOMATED: Final = "automated"
OUTSIDE: Final = "house:outside-the-rules"
UNTIL_PAID: Final = "revealed entered settled collected"
AFTER_REVEAL: Final = "revealed entered settled collected paid"
ALWAYS: Final = f"between open closed closed-tumbled {AFTER_REVEAL}"
NEVER_COVERED: Final = f"between open closed {AFTER_REVEAL}"


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook(US)


def after(playing: Playing, event: str, **fields: Any) -> Playing:
    """The table after a report."""
    playing.do(ReportIrregularity, "dan", **playing.reporting(event, **fields))
    return playing


def ruled_on(playing: Playing, event: str) -> list[IrregularityRuled]:
    """The rulings that a report comes to."""
    return [one for one in playing.report(event) if isinstance(one, IrregularityRuled)]


# What the document foresees


def test_us_6_a_a_no_roll_leaves_the_bets_and_opens_them_again(book: Rulebook) -> None:
    reopened = "die-not-flat: bets reopened"  # the clause orders the call; what follows is the house's
    assert rulings_by(book, "house:no-roll") == {reopened: f"closed-tumbled {UNTIL_PAID}"}
    assert rulings_by(book, "house:no-roll", shaker=AUTOMATED) == {reopened: UNTIL_PAID}
    for phase in ("closed-tumbled", *UNTIL_PAID.split()):
        ruled, *_ = ruled_on(standing(book, phase), "die-not-flat")
        assert (ruled.ruling, ruled.clause) == ("no-roll", "6(a)")
    act = told_of_act(standing(book, "revealed"), "enter-result", flat=False)
    assert act == "bets reopened house:no-roll"
    playing = at(book, "revealed")
    playing.act("enter-result", flat=False, faces=())
    playing.bet(small=500)
    assert playing.act_refused("tumble") == "out-of-order 5(c)"  # a fresh close comes first
    playing.act("close-bets")
    playing.act("tumble", tumbles=2)
    assert playing.act_refused("uncover") == "unmet-need 5(d)(1)"  # the shakes before do not count
    playing.act("tumble", tumbles=1)
    for act in ("uncover", "enter-result", "settle"):
        playing.act(act)
    assert playing.table.round is not None
    assert playing.table.round.settled is not None
    assert playing.table.round.settled.won == 1_500


def test_us_6_a_a_house_may_void_a_no_roll_instead(book: Rulebook) -> None:
    void = {"die-not-flat: void": f"closed-tumbled {UNTIL_PAID}"}
    assert rulings_by(book, "6(a)", no_roll="void") == void
    assert told_of_act(standing(book, "revealed", no_roll="void"), "enter-result", flat=False) == "void 6(a)"
    automated = rulings_by(book, "6(a)", no_roll="void", shaker=AUTOMATED)
    assert automated == {"die-not-flat: void": UNTIL_PAID}


def test_us_6_a_past_a_no_roll_bets_are_open_in_every_sense(book: Rulebook) -> None:
    playing = after(at(book, "collected"), "die-not-flat")
    assert playing.balance(Account.AT_RISK) == 1_400  # the losers are put back
    playing.do(MoveBet, "dan", round=1, id="1-big", area="small")
    playing.do(TakeBack, "dan", round=1, seat=SEAT, ids=("1-small",))
    playing.bet(big=500)
    assert playing.balance(Account.AT_RISK) == 900
    playing.act("close-bets")
    assert playing.bet_refused(big=500) == "late 5(c)"


def test_us_6_a_a_no_roll_reported_by_one_holds_a_keyed_result(book: Rulebook) -> None:
    for phase in ("entered", "settled", "collected"):
        playing = after(at(book, phase), "die-not-flat", second=None)
        assert playing.table.phase == phase
        for act in ("settle", "collect", "pay"):
            assert playing.act_refused(act) in ("on-hold house:confirmation", "out-of-order 3(c)")
        for person in ("dan", "flo"):
            refused = playing.refused(ConfirmReport, person, report="h1")
            assert refused == "second-person house:confirmation"
        contested = playing.fork()
        playing.do(ConfirmReport, "sue", report="h1")
        assert (playing.table.phase, playing.table.held) == ("open", None)
        *_, referred = contested.do(ContestReport, "sal", report="h1", reason="it lay flat")
        assert isinstance(referred, Referred)
        assert (referred.to, referred.holds) == ("casino-supervisor", True)
        decision = {"referral": "r1", "treatment": Treatment.RE_OPEN, "reason": "it did not"}
        contested.do(DecideReferral, "sue", **decision, second="sal")
        assert contested.table.phase == "open"
        assert contested.balance(Account.AT_RISK) == 1_400
    for phase in ("closed-tumbled", "revealed"):
        assert after(at(book, phase), "die-not-flat", second=None).table.phase == "open"


def test_us_6_a_two_people_confirm_what_one_has_reported(book: Rulebook) -> None:
    playing = after(at(book, "entered"), "die-not-flat", second=None)
    playing = after(playing, "die-not-flat")
    assert (playing.table.phase, playing.table.held, playing.table.reports) == ("open", None, {})


def test_us_6_b_a_no_roll_with_a_dead_device_is_void_and_the_table_is_shut(book: Rulebook) -> None:
    for shaker in ("manual", AUTOMATED):
        for first, second in (("equipment-failure", "die-not-flat"), ("die-not-flat", "equipment-failure")):
            playing = after(at(book, "revealed", shaker=shaker), first)
            playing = after(playing, second)
            assert (playing.table.round, playing.balance(Account.AT_RISK)) == (None, 0)
            assert playing.balance(Account.CHIPS) == FILL
            assert playing.table.shut is not None
            assert not playing.table.equipment.placed["electrical-device"].working
    by_act = after(at(book, "revealed"), "equipment-failure")
    assert told_of_act(by_act, "enter-result", flat=False) == "void 6(b)"


def test_us_6_b_a_referral_of_the_shaker_outlives_a_dead_device(book: Rulebook) -> None:
    playing = after(at(book, "entered", no_roll="void"), "die-not-flat")
    playing = after(playing, "equipment-failure", item="manual-shaker")
    playing = after(playing, "power-failure")
    assert playing.table.shut is not None
    assert [one.subject for one in open_referrals(playing.table)] == ["equipment-failure"]


def test_us_6_b_a_flat_roll_past_a_no_roll_is_settled_without_the_device(book: Rulebook) -> None:
    for between in ("die-not-flat", "untumbled-in-view", "wrong-result"):
        playing = after(after(at(book, "entered"), "die-not-flat"), between)
        for act in ("close-bets", "tumble", "uncover", "enter-result"):
            playing.act(act)
        playing = after(after(playing, "equipment-failure"), "wrong-result")
        round_ = playing.table.current
        assert (round_.phase, round_.result) == ("entered", Outcome.of(*OTHER_FACES))
        playing.act("settle", second="sue")
        assert playing.table.shut_after is not None


def test_us_6_a_what_is_found_past_a_no_roll_of_the_call_before_it_stops_nobody(book: Rulebook) -> None:
    for found in ("late-bet", "late-withdrawal", "too-few-tumbles"):
        playing = after(after(at(book, "revealed"), "die-not-flat"), found)
        assert (playing.table.phase, playing.table.holds, playing.table.referrals) == ("open", {}, {})
        for act in ("close-bets", "tumble", "uncover"):
            playing.act(act)
        assert told_of_act(playing, "enter-result", flat=False) == "bets reopened house:no-roll"


def test_us_6_b_a_device_repaired_in_the_round_is_not_dead(book: Rulebook) -> None:
    playing = after(at(book, "closed"), "equipment-failure", item="electrical-device")
    decision = {"referral": "r1", "treatment": Treatment.CONTINUE, "reason": "it is being repaired"}
    playing.do(DecideReferral, "sue", **decision)
    playing.do(RepairItem, "sue", item="electrical-device")
    for act in ("tumble", "uncover"):
        playing.act(act)
    assert told_of_act(playing, "enter-result", flat=False) == "bets reopened house:no-roll"
    for failure in ("equipment-failure", "power-failure"):
        playing = after(at(book, "revealed"), failure)
        playing.do(RepairItem, "sue", item="electrical-device")
        assert told_of_act(playing, "enter-result", flat=False) == "bets reopened house:no-roll"


def test_us_6_b_a_device_that_fails_is_settled_without_before_a_casino_supervisor(book: Rulebook) -> None:
    told = "settled before casino-supervisor, then shut"
    witnessed = {f"equipment-failure: {told}": AFTER_REVEAL, f"power-failure: {told}": AFTER_REVEAL}
    assert rulings_by(book, "6(b)") == rulings_by(book, "6(b)", shaker=AUTOMATED) == witnessed
    playing = after(at(book, "entered"), "equipment-failure")
    for act in (Act.SETTLE, Act.COLLECT, Act.PAY):
        for second in (None, "dan", "flo", "zoe"):
            assert playing.refused(Perform, "dan", act=act, second=second) == "second-person 6(b)"
        playing.act(act, second="sue")
    assert playing.balance(Account.CHIPS) == FILL - 600


def test_us_6_b_then_the_table_is_shut_until_the_device_is_repaired(book: Rulebook) -> None:
    playing = after(at(book, "entered"), "equipment-failure")
    for act in ("settle", "collect", "pay"):
        playing.act(act, second="sal")
    *_, shut = playing.act("clear-lights")
    assert isinstance(shut, TableShut)
    assert shut.clause == "6(b)"
    assert playing.act_refused("open-bets") == "table-shut 6(b)"
    again = {"reason": "repaired", "second": "sal"}
    assert playing.refused(Reopen, "sue", **again) == "unmet-need house:shut"
    assert playing.refused(RepairItem, "flo", item="electrical-device") == "not-permitted house:equipment"
    playing.do(RepairItem, "sue", item="electrical-device")
    assert playing.refused(Reopen, "sue", reason="repaired") == "second-person house:shut"
    playing.do(Reopen, "sue", **again)
    assert playing.act_refused("open-bets") == "unmet-need 5(a)(1)"
    playing.inspect()
    assert playing.act("open-bets")


def test_us_6_b_a_stop_once_the_dice_are_known_is_settled_so_too(book: Rulebook) -> None:
    told = "settled before casino-supervisor, then shut"
    stopped = {f"{declared}: {told}": "revealed entered" for declared in ("seen", "unseen")}
    assert recoveries_by(book, "6(b)") == stopped
    assert recoveries_by(book, "6(b)", shaker=AUTOMATED) == stopped
    playing = at(book, "entered")
    playing.do(Recover, RECOVERY)
    assert playing.act_refused("settle") == "on-hold house:declaration"
    playing.do(DeclareUnrecorded, "dan", second="sue")
    assert playing.act_refused("settle") == "second-person 6(b)"
    for act in ("settle", "collect", "pay"):
        playing.act(act, second="sue")
    playing.act("clear-lights")
    assert playing.table.shut is not None


def test_us_6_b_a_second_report_of_the_device_orders_nothing_anew(book: Rulebook) -> None:
    playing = after(at(book, "entered"), "equipment-failure", detail="no lamp burns")
    playing = after(playing, "power-failure", detail="again")
    for act in ("settle", "collect", "pay"):
        playing.act(act, second="sue")
    *_, shut = playing.act("clear-lights")
    assert isinstance(shut, TableShut)
    assert shut.reason == "no lamp burns"


def test_us_6_b_a_no_roll_seen_past_a_stop_with_the_dice_in_view_is_void(book: Rulebook) -> None:
    playing = at(book, "revealed")
    playing.do(Recover, RECOVERY)
    playing.do(DeclareUnrecorded, "dan", second="sue", seen=True)
    assert told_of_act(playing, "enter-result", flat=False) == "void 6(b)"


def test_us_6_c_an_automated_shaker_that_fails_when_activated_voids_the_round(book: Rulebook) -> None:
    void = {"automated-shaker-failure: void": "closed revealed"}
    assert rulings_by(book, "6(c)", shaker=AUTOMATED) == void
    assert rulings_by(book, "6(c)") == {}, "a manual shaker is no such machine"
    playing = after(at(book, "closed", shaker=AUTOMATED), "automated-shaker-failure")
    assert (playing.table.round, playing.balance(Account.CHIPS)) == (None, FILL)
    assert playing.act_refused("open-bets").startswith("unmet-need")


def test_us_6_d_two_shakers_reported_are_noted_and_not_played_with(book: Rulebook) -> None:
    assert rulings_by(book, "6(d)") == {"two-shakers: noted refuse": ALWAYS}
    assert rulings_by(book, "6(d)", shaker=AUTOMATED) == {"two-shakers: noted refuse": NEVER_COVERED}


def test_us_5_c_a_late_bet_reported_is_noted_and_not_taken(book: Rulebook) -> None:
    noted = "late-bet: noted refuse"
    assert rulings_by(book, "5(c)") == {noted: f"closed closed-tumbled {AFTER_REVEAL}"}
    assert rulings_by(book, "5(c)", shaker=AUTOMATED) == {noted: f"closed {AFTER_REVEAL}"}


def test_us_5_f_dice_of_the_last_throw_in_view_change_nothing(book: Rulebook) -> None:
    noted = {"untumbled-in-view: noted continue": "open closed"}
    assert rulings_by(book, "5(f)") == rulings_by(book, "5(f)", shaker=AUTOMATED) == noted
    playing = after(at(book, "open"), "untumbled-in-view")
    assert playing.bet(small=500)


def test_us_3_c_a_withdrawal_reported_past_the_close_changes_nothing(book: Rulebook) -> None:
    noted = "late-withdrawal: noted stays-live"
    past = "revealed entered settled collected"
    assert rulings_by(book, "3(c)") == {noted: f"closed closed-tumbled {past}"}
    assert rulings_by(book, "3(c)", shaker=AUTOMATED) == {noted: f"closed {past}"}


def test_us_5_d_1_too_few_shakes_are_made_good_and_void_nothing(book: Rulebook) -> None:
    assert rulings_by(book, "5(d)(1)") == {"too-few-tumbles: noted refuse": "closed closed-tumbled"}
    assert rulings_by(book, "5(d)(1)", shaker=AUTOMATED) == {}


def test_us_5_e_a_wrong_result_gives_way_to_the_dice(book: Rulebook) -> None:
    assert rulings_by(book, "5(e)") == {
        "wrong-result: corrected": "entered",
        "wrong-result: resettled": "between settled collected paid",
        "wrong-result: refused ruled-out": "open closed closed-tumbled revealed",
    }
    playing = after(at(book, "entered"), "wrong-result")
    (settled,) = playing.act("settle")
    assert (settled.won, settled.collected) == (400, 1_000)  # type: ignore[attr-defined]
    over = at(book, "between")
    alone = over.reporting("wrong-result", second=None)
    held = over.fork()
    held.do(ReportIrregularity, "dan", **alone)
    assert held.balance(Account.CLAIMS_ON_PLAYERS) == 0
    held.do(ConfirmReport, "sue", report="h1")
    assert held.balance(Account.CLAIMS_ON_PLAYERS) == 1_200
    *_, again = over.do(ReportIrregularity, "dan", **over.reporting("wrong-result"))
    assert isinstance(again, RoundResettled)
    # What left the tray is a claim on the player, never a balance below zero.
    assert (again.owed_to_players, again.owed_by_players) == (0, 1_200)
    assert over.balance(Account.CLAIMS_ON_PLAYERS) == 1_200


def test_us_later_rounds_stay_as_they_were_by_the_house(book: Rulebook) -> None:
    for later, cited in (("between", None), ("closed", "house:later-rounds")):
        playing = at(book, "between")
        if later != "between":
            playing.to(later)
        *_, again = playing.do(ReportIrregularity, "dan", **playing.reporting("wrong-result", round=1))
        assert isinstance(again, RoundResettled)
        assert again.later == cited


def test_us_5_g_a_stop_after_the_settlement_leaves_only_the_end(book: Rulebook) -> None:
    concluded = {f"{declared}: conclude": "settled collected paid" for declared in ("seen", "unseen")}
    assert recoveries_by(book, "5(g)") == recoveries_by(book, "5(g)", shaker=AUTOMATED) == concluded
    assert recoveries_by(book, "house:recovery") == {"stopped: nothing": "between"}


def test_us_void_bets_go_back_from_the_tray_by_the_house(book: Rulebook) -> None:
    playing = after(at(book, "closed", shaker=AUTOMATED), "automated-shaker-failure")
    assert {clause for _, _, clause in playing.entries()} == {"house:void"}
    assert playing.balance(Account.CHIPS) == FILL


def test_us_limits_a_bet_outside_them_reported_is_noted_and_not_taken(book: Rulebook) -> None:
    noted = {"under-minimum: noted refuse": "open", "over-maximum: noted refuse": "open"}
    assert rulings_by(book, "house:limits") == noted


def test_us_a_die_seen_under_the_cover_rules_nothing_otherwise(book: Rulebook) -> None:
    for clause in (
        "3(c)",
        "5(c)",
        "5(d)(1)",
        "5(e)",
        "6(a)",
        "6(b)",
        "6(c)",
        "6(d)",
        OUTSIDE,
        "house:limits",
    ):
        assert rulings_by(book, clause, seen=True) == rulings_by(book, clause)


# What it does not foresee


NEVER_FORESEEN: Final = (
    "exposed-early", "exposed-late", "dice-over-age", "die-damaged", "dome-or-dice-broken",
    "chips-unclear", "deal-not-pressed", "earlier-limit-mistake", "terminals-down", "display-wrong",
    "foreign-card", "card-count-wrong", "shoe-short", "other",
)  # fmt: skip


def test_us_whatever_else_happens_waits_for_a_casino_supervisor(book: Rulebook) -> None:
    late = f"between closed closed-tumbled {AFTER_REVEAL}"
    assert rulings_by(book, OUTSIDE) == {
        f"{event}: referred to casino-supervisor": where
        for event, where in {
            "too-few-tumbles": f"between open {AFTER_REVEAL}",
            "die-not-flat": "between open closed paid",
            "untumbled-in-view": f"between closed-tumbled {AFTER_REVEAL}",
            "power-failure": "between open closed closed-tumbled",
            "late-bet": "between open",
            "late-withdrawal": "between open paid",
            "equipment-failure": "between open closed closed-tumbled",
            "automated-shaker-failure": ALWAYS,
            "under-minimum": late,
            "over-maximum": late,
            **dict.fromkeys(NEVER_FORESEEN, ALWAYS),
        }.items()
    }
    # An automated shaker has no count to fall short of.
    for phase in NEVER_COVERED.split():
        told = ruling_played(book, "too-few-tumbles", phase, shaker=AUTOMATED)
        assert told == f"referred to casino-supervisor {OUTSIDE}"


def test_us_what_no_clause_foresees_is_marked_outside_the_rules(book: Rulebook) -> None:
    for phase in phases(US):
        for event in NEVER_FORESEEN:
            answer = standing(book, phase).report(event)
            (referred,) = [one for one in answer if isinstance(one, Referred)]
            assert (referred.outside, referred.to) == (True, "casino-supervisor")
            in_view = phase in AFTER_REVEAL.split()
            assert referred.holds == (in_view if event == "chips-unclear" else phase != "between")


def test_us_a_stop_before_the_dice_are_known_is_locked_and_referred(book: Rulebook) -> None:
    told = "referred to casino-supervisor"
    declared = ("seen", "unseen")
    referred = {f"{how}: {told}": "open closed closed-tumbled" for how in declared}
    assert recoveries_by(book, OUTSIDE) == referred
    automated = {f"{how}: {told}": "open closed" for how in declared}
    assert recoveries_by(book, OUTSIDE, shaker=AUTOMATED) == automated
    playing = at(book, "closed")
    recovered = recover(playing.log, book, at=playing.now)
    assert recovered.events == playing.ask(Recover, RECOVERY)
    playing.do(Recover, RECOVERY)
    assert playing.act_refused("tumble") == "on-hold house:declaration"
    playing.do(DeclareUnrecorded, "dan", second="sue")
    assert playing.table.referrals["r1"].subject is Subject.INTERRUPTION
    assert playing.act_refused("tumble") == f"on-hold {OUTSIDE}"
    playing.do(Recover, RECOVERY)
    playing.do(DeclareUnrecorded, "dan", second="sue")
    assert len(playing.table.referrals) == 1  # what the round waits for is still open


def decided(book: Rulebook, phase: str, treatment: Treatment, **fields: Any) -> Playing:
    """The table after an irregularity that no clause foresees, and what was decided on it."""
    playing = after(at(book, phase), "other")
    decision = {"referral": "r1", "treatment": treatment, "reason": "so it is fair", "second": "sal"} | fields
    first, *_ = playing.do(DecideReferral, "sue", **decision)
    assert isinstance(first, ReferralDecided)
    assert (first.clause, playing.table.held) == (OUTSIDE, None)
    return playing


def test_us_a_referral_holds_the_round_and_nobody_below_decides(book: Rulebook) -> None:
    playing = after(at(book, "closed"), "other")
    assert playing.act_refused("tumble") == f"on-hold {OUTSIDE}"
    decision = {"referral": "r1", "treatment": Treatment.CONTINUE, "reason": "fair"}
    for person in ("dan", "flo"):
        assert playing.refused(DecideReferral, person, **decision) == f"not-permitted {OUTSIDE}"
    for person in ("sal", "sue"):
        assert playing.tried(DecideReferral, person, **decision) == "done"


def test_us_each_decision_has_its_effect(book: Rulebook) -> None:
    assert decided(book, "closed", Treatment.CONTINUE).table.phase == "closed"
    assert decided(book, "between", Treatment.STANDS).table.phase == "between"
    for phase in ("open", "closed", "closed-tumbled", "revealed", "entered", "settled"):
        assert decided(book, phase, Treatment.VOID).balance(Account.CHIPS) == FILL
    assert decided(book, "closed-tumbled", Treatment.RE_OPEN).table.phase == "open"
    assert decided(book, "closed", Treatment.SHUT).table.shut == "so it is fair"
    void = decided(book, "between", Treatment.VOID_ROUNDS, round=1)
    assert void.balance(Account.CLAIMS_ON_PLAYERS) == 600
    again = decided(book, "between", Treatment.SETTLE_BY_OUTCOME, round=1, faces=OTHER_FACES)
    assert again.balance(Account.CLAIMS_ON_PLAYERS) == 1_200
    treated = decided(book, "closed", Treatment.TREAT_BETS, bets={"1-small": None})
    assert treated.balance(Account.AT_RISK) == 400
    moved = {"treatment": Treatment.TREAT_BETS, "bets": {"1-big": "small"}, "reason": "fair", "second": "sal"}
    waiting = after(at(book, "closed"), "other")
    assert waiting.refused(DecideReferral, "sue", referral="r1", **moved) == "late 3(c)"


def test_us_a_player_calls_through_someone_at_the_table(book: Rulebook) -> None:
    playing = at(book, "closed")
    call = {"seat": SEAT, "subject": Subject.CALL}
    assert playing.refused(CallAttendant, "zoe", **call) == "unknown-person house:people"
    playing.do(CallAttendant, "dan", **call)
    assert (playing.table.referrals["r1"].to, playing.table.held) == ("casino-supervisor", None)

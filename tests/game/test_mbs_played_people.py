"""Sic Bo at Marina Bay Sands, version 6, played: people, referrals and equipment, clause by clause."""

from __future__ import annotations

from typing import Any, Final

import pytest

from taisai.game.commands import (
    Assign,
    CloseWithdrawal,
    ConfirmReport,
    DecideReferral,
    Declare,
    Leave,
    Perform,
    PlaceItem,
    RecordBets,
    Recover,
    RemoveItem,
    RepairItem,
    ReportIrregularity,
    Slip,
)
from taisai.game.events import (
    BetRegistered,
    PersonAssigned,
    PersonLeft,
    ReferralDecided,
    Referred,
    RoundSettled,
    RoundVoided,
)
from taisai.game.money.ledger import Account
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import HOUSE, RECOVERY, Means, Treatment
from taisai.rules import Rulebook, rulebook
from taisai.rules.procedure import Declared
from tests.game.items import is_needed
from tests.game.playing import FILL, OTHER_FACES, SEAT, Playing, at, course, opened, standing
from tests.game.single_event import only

KNOWN: Final = ("revealed", "entered", "settled")
IN_HAND: Final = ("open", "open-tumbled", "closed", "closed-tumbled", "deal-pressed", *KNOWN)
REASON: Final = "seen on camera"
STAKED: Final = 1_400


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("mbs-sic-bo-v6")


# Who acts


def round_by(playing: Playing, person: str) -> None:
    """One round, every act of it by the same person."""
    for act, phase in course(playing.book.id, playing.settings):
        _, fields = playing.performing(act)
        playing.do(Perform, person, **fields)
        assert playing.table.phase == phase


def test_mbs_6_2_a_higher_position_deals_too(book: Rulebook) -> None:
    for person in ("dan", "pat", "mia", "sue"):
        round_by(at(book, "between"), person)


def test_mbs_6_2_nobody_acts_who_holds_no_position_here(book: Rulebook) -> None:
    for act, _ in course(book.id, {}):
        _, fields = standing(book, "open").performing(act)
        assert standing(book, "open").refused(Perform, "eve", **fields) == "unknown-person house:people"
        refused = standing(book, "open").refused(Perform, "clock", **fields)
        assert refused.startswith("not-permitted")


def test_mbs_6_2_one_acting_in_a_lower_position_has_no_more_say_than_it(book: Rulebook) -> None:
    playing = at(book, "revealed")
    playing.do(Assign, "sue", person="mia", rank="pit-manager", position="dealer")
    playing.do(ReportIrregularity, "mia", **playing.reporting("chips-unclear"))
    decision = deciding(Treatment.CONTINUE)
    assert playing.refused(DecideReferral, "mia", **decision) == "not-permitted 3.12"


def test_mbs_3_7_dealer_pit_supervisor_and_pit_manager_are_positions(book: Rulebook) -> None:
    playing = at(book, "between")
    for position in ("dealer", "pit-supervisor", "pit-manager"):
        made = playing.do(Assign, HOUSE, person=f"new-{position}", rank=position, position=position)
        assert only(PersonAssigned, made).clause == "3.7"
    assert playing.table.dealer() == "new-dealer"
    assert "dan" not in playing.table.people  # relieved


def test_mbs_3_7_a_supervisor_sends_a_dealer_and_nobody_makes_a_supervisor(book: Rulebook) -> None:
    playing = standing(book, "between")
    for person in ("pat", "mia", "sue"):
        playing.fork().do(Assign, person, person="dora", rank="dealer", position="dealer")
        supervisor = {"person": "zoe", "rank": "pit-supervisor", "position": "pit-supervisor"}
        assert playing.refused(Assign, person, **supervisor) == "not-permitted house:people"
    dealer = {"person": "dora", "rank": "dealer", "position": "dealer"}
    assert playing.refused(Assign, "dan", **dealer) == "not-permitted house:people"


def test_mbs_6_1_the_gaming_shift_manager_is_a_position(book: Rulebook) -> None:
    playing = at(book, "between")
    made = playing.do(Assign, HOUSE, person="zoe", rank="shift-manager", position="shift-manager")
    assert only(PersonAssigned, made).clause == "6.1"


def test_mbs_3_7_a_dealer_in_a_round_leaves_only_when_relieved(book: Rulebook) -> None:
    playing = at(book, "closed-tumbled")
    assert playing.refused(Leave, "dan", person="dan") == "under-live-bets house:people"
    playing.do(Assign, "pat", person="dora", rank="dealer", position="dealer")
    assert playing.refused(Perform, "dan", **playing.performing("press-deal")[1]) == (
        "unknown-person house:people"
    )
    playing.do(Perform, "dora", **playing.performing("press-deal")[1])


def test_whom_the_staff_list_has_no_more_leaves_at_the_houses_word(book: Rulebook) -> None:
    for state in ("between", "closed-tumbled"):
        _all_leave(at(book, state))


def _all_leave(playing: Playing) -> None:
    for person in list(playing.table.people):  # the Dealer and the last one too, whatever is in hand
        left = only(PersonLeft, playing.do(Leave, HOUSE, person=person))
        assert (left.by, left.person, left.clause) == (HOUSE, person, "house:people")
    assert (playing.table.people, playing.table.dealer()) == ({}, None)
    assert playing.refused(Leave, HOUSE, person="dan") == "unknown-person house:people"
    playing.do(Assign, HOUSE, person="dora", rank="dealer", position="dealer")
    assert playing.table.dealer() == "dora"


def at_request(**fields: Any) -> dict[str, Any]:
    bets = (Slip("asked", "odd", 200),)
    usual = {"round": 1, "seat": SEAT, "means": Means.CASH_CHIPS, "bets": bets, "at_request": True}
    return usual | fields


def test_mbs_3_7_all_three_bet_for_a_player_who_asks(book: Rulebook) -> None:
    for phase in ("open", "open-tumbled"):
        for person in ("dan", "pat", "mia"):
            bet = only(BetRegistered, at(book, phase).do(RecordBets, person, **at_request()))
            assert (bet.by, bet.seat, bet.at_request) == (person, SEAT, True)
    assert standing(book, "open").refused(RecordBets, "eve", **at_request()) == "unknown-person house:people"


def test_mbs_3_7_not_after_the_close(book: Rulebook) -> None:
    for phase in ("closed", "closed-tumbled", "deal-pressed"):
        assert standing(book, phase).refused(RecordBets, "dan", **at_request()) == "late 5.6"


def test_mbs_5_13_who_declares_and_who_closes_the_option(book: Rulebook) -> None:
    playing = at(book, "closed-tumbled")
    playing.do(Recover, RECOVERY)
    said: dict[str, Any] = {"declared": Declared.UNSEEN}
    for second in (None, "dan", "eve"):
        refused = playing.refused(Declare, "dan", **said, second=second)
        assert refused == "second-person house:declaration"
    playing.do(Declare, "dan", **said, second="pat")
    assert playing.refused(CloseWithdrawal, "eve") == "unknown-person house:people"
    assert playing.refused(CloseWithdrawal, "dan") == "unmet-need 5.13.1"
    playing.do(CloseWithdrawal, "dan", others_stay=True)
    assert playing.table.phase == "closed-tumbled"


def test_mbs_dual_control_takes_a_pit_supervisor_or_above(book: Rulebook) -> None:
    playing = standing(book, "settled")
    wrong = playing.reporting("wrong-result")
    for by, second in (("pat", "dan"), ("dan", "eve"), ("pat", "pat")):
        alone = playing.fork()
        alone.do(ReportIrregularity, by, **wrong | {"second": second})
        assert alone.act_refused("collect-and-pay") == "on-hold house:confirmation"
        assert alone.tried(ConfirmReport, second, report="h1") != "done"
        alone.do(ConfirmReport, "sue", report="h1")
    for by, second in (("dan", "pat"), ("dan", "mia"), ("dan", "sue"), ("pat", "mia")):
        playing.fork().do(ReportIrregularity, by, **wrong | {"second": second})


# Referrals


def deciding(treatment: Treatment, **fields: Any) -> dict[str, Any]:
    return {"referral": "r1", "treatment": treatment, "reason": REASON} | fields


def referred(book: Rulebook, phase: str, event: str = "other") -> Playing:
    """A round in a phase with something that is referred."""
    playing = at(book, phase)
    playing.do(ReportIrregularity, "dan", **playing.reporting(event))
    return playing


def test_mbs_6_1_the_round_waits_for_the_gaming_shift_manager_alone(book: Rulebook) -> None:
    for phase in IN_HAND:
        playing = referred(book, phase)
        referral = only(Referred, playing.log)
        assert (referral.to, referral.holds, referral.outside) == ("shift-manager", True, False)
        for act, _ in course(book.id, {}):
            assert playing.act_refused(act) == "on-hold 6.1"
        for person in ("dan", "pat", "mia"):
            refused = playing.refused(DecideReferral, person, **deciding(Treatment.CONTINUE))
            assert refused == "not-permitted 6.1"
        without = deciding(Treatment.CONTINUE) | {"reason": ""}
        assert playing.refused(DecideReferral, "sue", **without) == "bad-value house:most"
        decided = only(ReferralDecided, playing.do(DecideReferral, "sue", **deciding(Treatment.CONTINUE)))
        assert decided.clause == "6.1"
        assert (playing.table.held, playing.table.phase) == (None, phase)


def test_mbs_6_1_between_rounds_nothing_waits(book: Rulebook) -> None:
    playing = referred(book, "between")
    assert playing.table.held is None
    playing.act("open-bets")
    playing.do(DecideReferral, "sue", **deciding(Treatment.STANDS))
    assert playing.refused(DecideReferral, "sue", **deciding(Treatment.STANDS)) == "bad-value house:referral"


def test_mbs_6_1_decided_void(book: Rulebook) -> None:
    for phase in IN_HAND:
        playing = referred(book, phase)
        playing.do(DecideReferral, "sue", **deciding(Treatment.VOID, second="pat"))
        assert playing.table.rounds[0].voided
        assert playing.balance(Account.CHIPS) == FILL
        assert playing.log[-1].clause == "6.1"


def test_mbs_6_1_decided_that_earlier_rounds_are_void(book: Rulebook) -> None:
    playing = referred(book, "between")
    made = playing.do(DecideReferral, "sue", **deciding(Treatment.VOID_ROUNDS, round=1))
    assert only(RoundVoided, made).later is None
    assert playing.table.rounds[0].voided
    assert [claim.amount for claim in playing.table.claims.values()] == [600]


def test_mbs_6_1_decided_by_the_dice(book: Rulebook) -> None:
    playing = referred(book, "entered")
    playing.do(DecideReferral, "sue", **deciding(Treatment.SETTLE_BY_OUTCOME, faces=OTHER_FACES))
    settled = only(RoundSettled, playing.act("settle"))
    assert settled.faces == OTHER_FACES


def test_mbs_6_1_decided_that_bets_open_again(book: Rulebook) -> None:
    playing = referred(book, "deal-pressed")
    playing.do(DecideReferral, "sue", **deciding(Treatment.RE_OPEN))
    assert playing.table.phase == "open"
    assert playing.table.seats[SEAT].at_risk == STAKED
    playing.bet(odd=100)
    playing.act("close-bets")
    assert playing.act_refused("press-deal") == "out-of-order 3.9"  # the dice tumble again


def test_mbs_6_1_decided_that_the_table_is_shut(book: Rulebook) -> None:
    playing = referred(book, "closed-tumbled")
    playing.do(DecideReferral, "sue", **deciding(Treatment.SHUT))
    assert playing.table.rounds[0].voided
    assert playing.act_refused("open-bets") == "table-shut 6.1"


def test_mbs_3_12_chips_unclear_after_the_close_wait_for_the_uncovering(book: Rulebook) -> None:
    for phase in ("closed", "closed-tumbled", "deal-pressed"):
        playing = referred(book, phase, "chips-unclear")
        assert only(Referred, playing.log).to == "pit-supervisor"
        assert playing.table.held is None
        early = deciding(Treatment.TREAT_BETS, bets={"1-small": "odd"})
        assert playing.refused(DecideReferral, "pat", **early) == "out-of-order 3.12"
        for act in ("tumble", "press-deal", "uncover", "enter-result"):
            if playing.tried(Perform, "dan", **playing.performing(act)[1]) == "done":
                playing.act(act)
        assert playing.act_refused("settle") == "on-hold 3.12"
        playing.do(DecideReferral, "pat", **deciding(Treatment.CONTINUE))
        playing.act("settle")


def test_mbs_3_12_the_round_waits_for_the_pit_supervisor_or_above(book: Rulebook) -> None:
    for phase in KNOWN:
        for person in ("pat", "mia", "sue"):
            playing = referred(book, phase, "chips-unclear")
            referral = only(Referred, playing.log)
            assert (referral.to, referral.holds, referral.outside) == ("pit-supervisor", True, False)
            assert playing.act_refused("settle") == "on-hold 3.12"
            refused = playing.refused(DecideReferral, "dan", **deciding(Treatment.CONTINUE))
            assert refused == "not-permitted 3.12"
            decided = only(
                ReferralDecided, playing.do(DecideReferral, person, **deciding(Treatment.CONTINUE))
            )
            assert decided.clause == "3.12"


def test_mbs_3_12_chips_are_returned_or_count_elsewhere_as_decided(book: Rulebook) -> None:
    treated = {"1-small": None, "1-big": "total-6"}
    for phase in ("revealed", "entered"):
        playing = referred(book, phase, "chips-unclear")
        playing.do(DecideReferral, "pat", **deciding(Treatment.TREAT_BETS, bets=treated), second="mia")
        assert ("chips", playing.balance(Account.CHIPS)) == ("chips", FILL + 400)
        if phase == "revealed":
            playing.act("enter-result")
        settled = only(RoundSettled, playing.act("settle"))
        assert (settled.staked, settled.won) == (400, 7_200)


def test_mbs_3_12_the_pit_supervisor_decides_alone_and_a_settlement_is_undone_for_it(book: Rulebook) -> None:
    playing = referred(book, "settled", "chips-unclear")
    treat = deciding(Treatment.TREAT_BETS, bets={"1-small": None})
    assert playing.refused(DecideReferral, "dan", **treat) == "not-permitted 3.12"
    playing.do(DecideReferral, "pat", **treat)
    assert playing.table.phase == "entered"
    settled = only(RoundSettled, playing.act("settle"))
    assert (settled.staked, settled.collected, settled.won) == (400, 400, 0)


# Equipment


def replaced(book: Rulebook, event: str) -> None:
    """The dice that were on the table when it happened are not played with again."""
    playing = at(book, "revealed")
    playing.do(ReportIrregularity, "dan", **playing.reporting(event))
    assert playing.act_refused("open-bets") == "unmet-need house:equipment"
    playing.do(RemoveItem, "dan", item="dice")
    assert playing.refused(PlaceItem, "dan", item="dice") == "ruled-out house:equipment"
    playing.do(PlaceItem, "dan", item="dice", serial="D-2")
    playing.act("open-bets")


def test_mbs_5_4_a_damaged_die_is_replaced_before_the_next_round(book: Rulebook) -> None:
    replaced(book, "die-damaged")


def test_mbs_5_5_broken_dice_are_replaced_before_the_next_round(book: Rulebook) -> None:
    replaced(book, "dome-or-dice-broken")


def test_mbs_5_8_lights_that_failed_keep_the_next_round_from_opening(book: Rulebook) -> None:
    playing = at(book, "revealed")
    playing.do(ReportIrregularity, "dan", **playing.reporting("equipment-failure", item="lights"))
    for act in ("enter-result", "settle", "collect-and-pay", "conclude"):
        playing.act(act)
    assert playing.balance(Account.HOUSE_LOST) == 1_000  # paid by the dice all the same
    assert playing.act_refused("open-bets") == "unmet-need house:equipment"
    assert playing.refused(RepairItem, "dan", item="lights") == "not-permitted house:equipment"
    playing.do(RepairItem, "pat", item="lights")
    playing.act("open-bets")


def needed(book: Rulebook, item: str, clause: str) -> None:
    is_needed(book, item, clause, means="3.3", under=({}, {"tumble": "after_close"}))


def test_mbs_2_2_no_round_without_dice(book: Rulebook) -> None:
    needed(book, "dice", "2.2")


def test_mbs_3_8_no_round_without_a_tumbler(book: Rulebook) -> None:
    needed(book, "tumbler", "3.8")


def test_mbs_5_9_no_round_without_a_keypad(book: Rulebook) -> None:
    needed(book, "keypad", "5.9")


def test_mbs_5_8_no_round_without_lights(book: Rulebook) -> None:
    needed(book, "lights", "5.8")


def test_mbs_1_1_1_no_round_without_colour_chips(book: Rulebook) -> None:
    needed(book, "colour-chips", "1.1.1")


def test_mbs_3_3_no_round_without_cash_chips(book: Rulebook) -> None:
    needed(book, "cash-chips", "3.3")


def test_mbs_equipment_is_what_the_document_names(book: Rulebook) -> None:
    on_table = set(opened(book).table.equipment.placed)
    assert on_table == {"tumbler", "dice", "keypad", "lights", "colour-chips", "cash-chips"}
    answer = standing(book, "between").ask(PlaceItem, "dan", item="automated-shaker")
    assert isinstance(answer, Refusal)

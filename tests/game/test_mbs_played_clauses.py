"""Sic Bo at Marina Bay Sands, version 6, played to the money, clause by clause."""

from __future__ import annotations

from typing import Any, Final

import pytest

from taisai.game.commands import (
    ChooseWithdrawal,
    CloseWithdrawal,
    ConfirmReport,
    DecideReferral,
    RecordBets,
    ReportIrregularity,
    Slip,
    TakeBack,
)
from taisai.game.events import BetRegistered, DiceUncovered, RoundVoided
from taisai.game.money.ledger import Account
from taisai.game.vocabulary import Hold, Means, Treatment
from taisai.rules import Rulebook, rulebook
from tests.game.playing import FACES, FILL, OTHER_FACES, SEAT, Playing, at, opened
from tests.game.single_event import only

TO_PAY: Final = ("press-deal", "uncover", "enter-result", "settle", "collect-and-pay", "conclude")
WON_SMALL: Final = FILL - 1_000 + 400
"""The tray after a round that small won and big lost."""
VOID: Final = FILL


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("mbs-sic-bo-v6")


def finish(playing: Playing, faces: tuple[int, int, int] = FACES, skip: int = 0) -> int:
    """Plays a covered and closed round to its end; what the tray holds then."""
    for act in TO_PAY[skip:]:
        playing.act(act, **({"faces": faces} if act == "enter-result" else {}))
    assert playing.table.round is None
    assert (playing.balance(Account.AT_RISK), playing.balance(Account.PAYABLE)) == (0, 0)
    return playing.balance(Account.CHIPS)


def report(playing: Playing, event: str, **fields: Any) -> None:
    playing.do(ReportIrregularity, "dan", **playing.reporting(event, **fields))


# The course of a round


def test_mbs_1_1_3_a_round_ends_when_losers_are_collected_and_winners_paid(book: Rulebook) -> None:
    playing = at(book, "entered")
    for early in ("collect-and-pay", "conclude", "open-bets"):
        assert playing.act_refused(early).startswith("out-of-order")
    playing.act("settle")
    assert playing.act_refused("conclude") == "out-of-order 1.1.3"
    playing.act("collect-and-pay")
    assert playing.balance(Account.CHIPS) == WON_SMALL
    assert playing.act_refused("open-bets") == "out-of-order 3.1"
    playing.act("conclude")
    assert (playing.table.round, len(playing.table.rounds)) == (None, 1)


def test_mbs_3_6_the_dots_on_top_decide_every_bet(book: Rulebook) -> None:
    assert finish(at(book, "closed-tumbled"), FACES) == WON_SMALL
    assert finish(at(book, "closed-tumbled"), OTHER_FACES) == FILL + 1_000 - 400


def test_mbs_3_7_staff_bet_for_a_player_who_answers_for_the_place(book: Rulebook) -> None:
    for person in ("dan", "pat", "mia"):
        playing = at(book, "open-tumbled")
        bet = {"round": 1, "seat": SEAT, "means": Means.CASH_CHIPS, "at_request": True}
        made = playing.do(RecordBets, person, **bet, bets=(Slip("asked", "total-15", 200),))
        event = only(BetRegistered, made)
        assert (event.clause, event.by, event.seat, event.at_request) == ("3.7", person, SEAT, True)
        playing.act("close-bets")
        more = playing.refused(RecordBets, person, **bet, bets=(Slip("more", "odd", 200),))
        assert more == "late 5.6"
        # It lay on 15 and not on 6: it is lost like any other bet of the player.
        assert finish(playing) == WON_SMALL + 200


def test_mbs_3_9_no_deal_button_before_the_call(book: Rulebook) -> None:
    for phase in ("open", "open-tumbled", "closed"):
        assert at(book, phase).act_refused("press-deal") == "out-of-order 3.9"
    playing = at(book, "closed-tumbled")
    assert playing.bet_refused(odd=100) == "late 5.6"
    assert finish(playing) == WON_SMALL


def test_mbs_3_10_a_die_that_leans_gives_no_result_to_settle_by(book: Rulebook) -> None:
    playing = at(book, "deal-pressed")
    playing.act("uncover")
    playing.act("enter-result", flat=False, faces=())
    assert (playing.table.rounds[0].voided, playing.balance(Account.CHIPS)) == (True, VOID)


def test_mbs_3_12_unclear_chips_are_settled_where_the_pit_supervisor_puts_them(book: Rulebook) -> None:
    playing = at(book, "entered")
    report(playing, "chips-unclear")
    playing.do(
        DecideReferral, "pat", referral="r1", treatment=Treatment.TREAT_BETS, reason="most of it",
        bets={"1-small": "big"},
    )  # fmt: skip
    assert finish(playing, skip=3) == FILL + 1_400


# Irregularities


def voided(playing: Playing) -> None:
    """The round is void: no result, every stake back, and it cannot be settled."""
    assert only(RoundVoided, playing.log[-4:]).round == 1
    assert playing.table.rounds[0].result is None
    assert playing.balance(Account.CHIPS) == VOID
    assert playing.act_refused("settle") == "out-of-order 3.11"


def test_mbs_5_1_two_tumbles_are_no_round_whatever_followed(book: Rulebook) -> None:
    playing = at(book, "open-tumbled")
    playing.act("tumble", tumbles=2)
    voided(playing)


def test_mbs_5_2_a_die_seen_before_the_call_is_no_round(book: Rulebook) -> None:
    for event in ("exposed-early", "power-failure", "equipment-failure"):
        playing = at(book, "open-tumbled")
        report(playing, event, seen=True, second=None)
        voided(playing)


def test_mbs_5_3_a_leaning_die_is_no_round_even_when_settled(book: Rulebook) -> None:
    for phase in ("open-tumbled", "revealed", "settled"):
        playing = at(book, phase)
        report(playing, "die-not-flat")
        voided(playing)


def test_mbs_5_4_a_damaged_die_is_no_round(book: Rulebook) -> None:
    playing = at(book, "settled")
    report(playing, "die-damaged")
    voided(playing)


def test_mbs_5_5_a_broken_dome_is_no_round(book: Rulebook) -> None:
    playing = at(book, "closed-tumbled")
    report(playing, "dome-or-dice-broken")
    voided(playing)


def test_mbs_5_6_of_a_late_increase_the_earlier_stake_alone_is_paid(book: Rulebook) -> None:
    playing = at(book, "closed-tumbled")
    assert playing.bet_refused(small=500) == "late 5.6"
    report(playing, "late-bet")
    assert finish(playing) == WON_SMALL


def test_mbs_5_7_a_bet_taken_up_late_is_lost_all_the_same(book: Rulebook) -> None:
    playing = at(book, "closed-tumbled")
    taken = playing.refused(TakeBack, "dan", round=1, seat=SEAT, ids=("1-small", "1-big"))
    assert taken == "late 5.7"
    report(playing, "late-withdrawal")
    assert finish(playing, OTHER_FACES) == FILL + 1_000 - 400


def test_mbs_5_8_dark_lights_stop_nothing_and_the_dice_pay(book: Rulebook) -> None:
    playing = at(book, "entered")
    report(playing, "equipment-failure", item="lights")
    report(playing, "wrong-result", faces=OTHER_FACES)
    assert finish(playing, skip=3) == FILL + 1_000 - 400


def test_mbs_5_9_without_the_deal_button_the_outcome_stands_and_is_paid(book: Rulebook) -> None:
    for reported in (False, True):
        playing = at(book, "closed-tumbled")
        if reported:
            report(playing, "deal-not-pressed")
        else:
            playing.act("uncover")
        assert only(DiceUncovered, playing.log[-2:]).clause == "5.9"
        assert playing.table.round is not None
        assert not playing.table.round.voided
        assert finish(playing, skip=2) == WON_SMALL


def test_mbs_5_9_saves_no_round_that_another_clause_voids(book: Rulebook) -> None:
    for event in ("exposed-early", "die-not-flat", "too-few-tumbles"):
        playing = at(book, "closed-tumbled")
        playing.act("uncover")
        report(playing, event)
        voided(playing)


def test_mbs_5_12_an_earlier_over_payment_moves_no_money(book: Rulebook) -> None:
    playing = at(book, "between")
    before = dict(playing.table.ledger.balances)
    report(playing, "earlier-limit-mistake", round=1)
    assert (playing.table.ledger.balances, playing.table.claims) == (before, {})


def test_mbs_5_13_1_all_bets_or_none_and_nobody_once_a_die_is_seen(book: Rulebook) -> None:
    playing = at(book, "closed-tumbled")
    report(playing, "power-failure")
    assert playing.refused(CloseWithdrawal, "dan") == "unmet-need 5.13.1"
    late = playing.fork()
    playing.do(ChooseWithdrawal, "dan", seat=SEAT, withdraw=True)
    playing.do(CloseWithdrawal, "dan")
    assert (playing.table.round, playing.balance(Account.CHIPS)) == (None, FILL)
    report(late, "exposed-late")
    assert Hold.WITHDRAWAL not in late.table.holds
    assert late.refused(ChooseWithdrawal, "dan", seat=SEAT, withdraw=True) == "out-of-order 5.7"
    assert finish(late) == WON_SMALL


def test_mbs_5_13_1_nobody_withdraws_while_a_sight_is_unconfirmed(book: Rulebook) -> None:
    playing = at(book, "closed-tumbled")
    report(playing, "power-failure")
    report(playing, "power-failure", seen=True, second=None)
    choice = {"seat": SEAT, "withdraw": True}
    assert playing.refused(ChooseWithdrawal, "dan", **choice) == "on-hold house:confirmation"
    playing.do(ConfirmReport, "pat", report="h1")
    assert playing.refused(ChooseWithdrawal, "dan", **choice) == "out-of-order 5.7"


def test_mbs_5_13_2_with_a_die_seen_after_the_call_the_round_is_paid(book: Rulebook) -> None:
    playing = at(book, "closed-tumbled")
    report(playing, "power-failure", seen=True)
    assert playing.table.held is None
    assert finish(playing) == WON_SMALL


def test_mbs_6_3_a_wrong_display_changes_no_payment(book: Rulebook) -> None:
    playing = at(book, "entered")
    report(playing, "display-wrong", faces=OTHER_FACES)
    assert finish(playing, skip=3) == WON_SMALL


def test_mbs_5_10_under_the_minimum_one_time_only(book: Rulebook) -> None:
    playing = opened(book)
    trays = []
    for _ in range(3):
        playing.act("open-bets")
        playing.bet(small=50)
        for act in ("tumble", "close-bets"):
            playing.act(act)
        trays.append(finish(playing))
    assert trays == [FILL - 50] * 3  # paid in the first round, returned in the others

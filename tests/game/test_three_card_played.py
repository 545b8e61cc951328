"""3 Card Sic Bo at Marina Bay Sands, played: acts, irregularities and stops, clause by clause."""

from __future__ import annotations

from typing import Final

import pytest

from taisai.game.commands import (
    DecideReferral,
    DeclareUnrecorded,
    MoveBet,
    Perform,
    RecordBets,
    Recover,
    ReportIrregularity,
    Slip,
    TakeBack,
)
from taisai.game.events import BetRegistered, Referred, ReportHeld, RoundResettled
from taisai.game.money.ledger import Account
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import RECOVERY, Means, Treatment
from taisai.rules import Act, Rulebook, rulebook
from tests.game.played_events import acts_by, recoveries_by, rulings_by, told_of_act
from tests.game.playing import FILL, OTHER_FACES, SEAT, at, opened, phases, standing
from tests.game.single_event import only

TO_RESULT: Final = "open closed revealed entered"
IN_HAND: Final = f"{TO_RESULT} settled"
ALWAYS: Final = f"between {IN_HAND} paid"
OVER: Final = "between paid"
CLOSED: Final = "closed revealed entered settled"
OUTSIDE: Final = "house:outside-the-rules"
STAKED: Final = 1_400


def all_but(*left_out: str) -> str:
    return " ".join(phase for phase in ALWAYS.split() if phase not in left_out)


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("mbs-3-card-sic-bo")


# The course of a round


def test_three_card_3_1_only_the_opening_call_opens_a_round(book: Rulebook) -> None:
    assert acts_by(book, "3.1") == {
        "open-bets: to open": "between",
        "open-bets: refused out-of-order": all_but("between"),
    }
    assert standing(book, "between").bet_refused(odd=100) == "out-of-order 3.1"
    assert only(BetRegistered, at(book, "open").bet(odd=100)).clause == "3.4"


def test_three_card_3_2_bets_are_taken_and_taken_back_until_the_close(book: Rulebook) -> None:
    playing = at(book, "open")
    playing.bet(odd=100)
    playing.do(TakeBack, "dan", round=1, seat=SEAT, ids=("1-odd",))
    assert playing.table.seats[SEAT].at_risk == STAKED
    assert standing(book, "closed").bet_refused(odd=100) == "late 5.5"


def test_three_card_3_7_the_close_once_a_round(book: Rulebook) -> None:
    assert acts_by(book, "3.7") == {
        "close-bets: to closed": "open",
        "close-bets: refused out-of-order": all_but("open"),
    }


def test_three_card_3_8_the_cards_come_after_the_close(book: Rulebook) -> None:
    assert acts_by(book, "3.8") == {
        "deal-cards: to revealed": "closed",
        "deal-cards: refused out-of-order": all_but("open", "closed"),
    }


def test_three_card_3_8_three_cards_leave_the_shoe(book: Rulebook) -> None:
    playing = at(book, "closed")
    before = playing.table.shoe.left
    playing.act("deal-cards")
    assert playing.table.shoe.left == before - 3
    for faces in ((1, 2), (1, 2, 3, 4), (1, 2, 7)):
        assert playing.act_refused("enter-result", faces=faces) == "bad-value house:order"


def test_three_card_3_9_settled_once_the_result_is_keyed_in(book: Rulebook) -> None:
    assert acts_by(book, "3.9") == {
        "settle: to settled": "entered",
        "settle: refused out-of-order": all_but("entered"),
    }
    playing = at(book, "entered")
    playing.act("settle")
    assert playing.entries() == [
        ("at-risk", -STAKED, "3.9"),
        ("house-won", 400, "3.9"),
        ("house-lost", 1_000, "3.9"),
        ("payable", 2_000, "3.9"),
    ]


def test_three_card_1_1_2_announced_collected_paid_and_over(book: Rulebook) -> None:
    assert acts_by(book, "1.1.2") == {
        "enter-result: to entered": "revealed",
        "enter-result: refused out-of-order": all_but("revealed"),
        "collect-and-pay: to paid": "settled",
        "collect-and-pay: refused out-of-order": all_but("settled"),
        "conclude: to between": "paid",
        "conclude: refused out-of-order": all_but("paid"),
    }


def test_three_card_1_1_2_two_rounds_on_end(book: Rulebook) -> None:
    playing = opened(book).to("between").to("between")
    assert [one.number for one in playing.table.rounds] == [1, 2]
    assert playing.balance(Account.CHIPS) == FILL - 2 * 600
    assert playing.balance(Account.HOUSE_WON) == 2 * 400
    assert playing.balance(Account.HOUSE_LOST) == 2 * 1_000


def test_three_card_acts_of_other_games_are_refused_by_the_house(book: Rulebook) -> None:
    others = ("tumble", "activate-shaker", "press-deal", "uncover", "collect", "pay", "clear-lights")
    assert acts_by(book, "house:order") == {f"{act}: refused out-of-order": ALWAYS for act in others}
    assert phases(book.id) == ALWAYS.split()


# Positions


def moved(book: Rulebook, phase: str) -> str:
    answer = standing(book, phase).ask(MoveBet, "dan", round=1, id="1-small", area="odd")
    if isinstance(answer, Refusal):
        return f"{answer.reason} {answer.clause}"
    return f"moved {answer[0].clause}"


def test_three_card_5_5_chips_count_as_they_lie_at_the_close(book: Rulebook) -> None:
    assert moved(book, "open") == "moved 5.5"
    for phase in f"{CLOSED} paid".split():
        assert moved(book, phase) == "late 5.5"


# Irregularities


def test_three_card_5_1_a_card_seen_before_the_close_voids_what_is_in_hand(book: Rulebook) -> None:
    assert rulings_by(book, "5.1") == {"exposed-early: void": IN_HAND, "exposed-late: void": "open"}
    assert acts_by(book, "5.1") == {"deal-cards: void": "open"}
    elsewhere = {
        "deal-cards: to revealed": "closed",
        "deal-cards: refused out-of-order": all_but("open", "closed"),
    }
    assert acts_by(book, "3.8") == elsewhere


def test_three_card_5_1_dealt_too_early_every_stake_goes_back(book: Rulebook) -> None:
    playing = at(book, "open")
    cards = playing.table.shoe.left
    playing.act("deal-cards")
    assert playing.entries() == [("chips", -STAKED, "house:void"), ("at-risk", -STAKED, "house:void")]
    assert playing.balance(Account.CHIPS) == FILL
    assert playing.table.rounds[0].voided
    assert playing.table.shoe.left == cards - 3
    assert playing.act_refused("open-bets") == "unmet-need house:shoe"  # before a shuffle


def test_three_card_5_2_1_a_foreign_card_voids_what_is_in_hand(book: Rulebook) -> None:
    assert rulings_by(book, "5.2.1") == {"foreign-card: void": IN_HAND}


def test_three_card_5_2_2_earlier_results_stand_despite_a_foreign_card(book: Rulebook) -> None:
    assert rulings_by(book, "5.2.2") == {"foreign-card: noted stands": OVER}
    playing = at(book, "between").to("closed")
    paid_out = playing.balance(Account.HOUSE_LOST)
    playing.do(ReportIrregularity, "dan", **playing.reporting("foreign-card"))
    assert [one.voided for one in playing.table.rounds] == [False, True]
    assert playing.balance(Account.HOUSE_LOST) == paid_out == 1_000


def test_three_card_5_3_a_wrong_count_voids_what_is_in_hand(book: Rulebook) -> None:
    assert rulings_by(book, "5.3") == {"card-count-wrong: void": IN_HAND}


def test_three_card_5_4_a_shoe_that_runs_out_voids_what_is_in_hand(book: Rulebook) -> None:
    assert rulings_by(book, "5.4") == {"shoe-short: void": "open closed revealed"}


def test_three_card_void_stakes_go_back_by_the_house_in_every_phase(book: Rulebook) -> None:
    for phase in IN_HAND.split():
        playing = at(book, phase)
        playing.do(ReportIrregularity, "dan", **playing.reporting("foreign-card"))
        assert playing.balance(Account.CHIPS) == FILL
        assert {clause for _, _, clause in playing.entries()} == {"house:void"}


def test_three_card_5_5_a_late_bet_is_refused_and_an_earlier_stake_stands(book: Rulebook) -> None:
    assert rulings_by(book, "5.5") == {"late-bet: noted refuse": f"{CLOSED} paid"}
    more = (Slip("more", "small", 100),)
    for phase in f"{CLOSED} paid".split():
        here = standing(book, phase)
        assert here.bet_refused(odd=100) == "late 5.5"
        fields = {"round": 1, "seat": SEAT, "means": Means.CASH_CHIPS, "bets": more}
        assert here.refused(RecordBets, "dan", **fields) == "late 5.5"
        assert here.table.round is not None
        assert here.table.round.bets["1-small"].stake == 1_000


def test_three_card_5_6_a_bet_withdrawn_late_stays_live(book: Rulebook) -> None:
    assert rulings_by(book, "5.6") == {"late-withdrawal: noted stays-live": CLOSED}
    for phase in CLOSED.split():
        refused = standing(book, phase).refused(TakeBack, "dan", round=1, seat=SEAT, ids=("1-small",))
        assert refused == "late 5.6"


def test_three_card_3_9_the_cards_prevail_over_what_was_keyed(book: Rulebook) -> None:
    assert rulings_by(book, "3.9") == {
        "wrong-result: refused ruled-out": "open closed revealed",  # nothing is keyed in yet
        "wrong-result: corrected": "entered",
        "wrong-result: resettled": "between settled paid",
    }


def test_three_card_3_9_an_earlier_round_is_settled_again_by_its_cards(book: Rulebook) -> None:
    playing = at(book, "between").to("closed")
    fields = playing.reporting("wrong-result", round=1)
    *_, held = playing.ask(ReportIrregularity, "dan", **fields | {"second": None})
    assert isinstance(held, ReportHeld)
    made = playing.do(ReportIrregularity, "dan", **fields)
    assert only(RoundResettled, made).later == "house:later-rounds"
    # Small had been paid 2,000 on 1 2 3; on 4 5 6 it was big that won 800.
    assert playing.entries() == [
        ("house-won", 600, "3.9"),
        ("house-lost", -600, "3.9"),
        ("claims-on-players", 1_200, "3.9"),
    ]
    assert playing.table.rounds[0].result is not None
    assert tuple(playing.table.rounds[0].result.faces) == OTHER_FACES
    assert playing.table.phase == "closed"


def test_three_card_limits_are_reported_while_bets_are_open_only(book: Rulebook) -> None:
    assert rulings_by(book, "house:limits") == {
        "under-minimum: noted refuse": "open",
        "over-maximum: noted refuse": "open",
    }


def test_three_card_whatever_the_document_leaves_out_is_for_the_shift_manager(book: Rulebook) -> None:
    left = {
        "too-few-tumbles": ALWAYS,
        "exposed-early": OVER,
        "exposed-late": "between",
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
        "under-minimum": all_but("open"),
        "over-maximum": all_but("open"),
        "earlier-limit-mistake": ALWAYS,
        "power-failure": ALWAYS,
        "terminals-down": ALWAYS,
        "display-wrong": ALWAYS,
        "card-count-wrong": OVER,
        "shoe-short": "between entered settled paid",
        "two-shakers": ALWAYS,
        "other": ALWAYS,
    }
    assert rulings_by(book, OUTSIDE) == {
        f"{event}: referred to shift-manager": where for event, where in left.items()
    }


def test_three_card_every_referral_is_marked_as_outside_the_rules(book: Rulebook) -> None:
    for phase in ALWAYS.split():
        answer = standing(book, phase).report("other")
        assert not isinstance(answer, Refusal)
        referred = answer[-1]
        assert isinstance(referred, Referred)
        assert referred.outside
        assert referred.holds == (phase != "between")


def test_three_card_5_1_a_card_seen_before_the_close_voids_whatever_was_reported(book: Rulebook) -> None:
    void = rulings_by(book, "5.1", seen=True)
    for event in ("power-failure", "equipment-failure", "wrong-result", "chips-unclear", "other"):
        assert void.get(f"{event}: void") == "open"


def test_three_card_a_card_seen_after_the_close_changes_no_ruling(book: Rulebook) -> None:
    for clause in ("5.2.1", "5.2.2", "5.3", "5.4", "5.5", "5.6"):
        assert rulings_by(book, clause, seen=True) == rulings_by(book, clause), clause
    noted = {"exposed-late: noted continue": "closed revealed entered settled paid"}
    assert rulings_by(book, "house:seen") == noted
    seen = rulings_by(book, OUTSIDE, seen=True)
    for event in ("power-failure", "equipment-failure", "other"):
        assert seen.get(f"{event}: referred to shift-manager") == all_but("open")


# A stop of the system


def test_three_card_1_1_2_a_round_settled_before_a_stop_is_concluded(book: Rulebook) -> None:
    assert recoveries_by(book, "1.1.2") == {
        "seen: conclude": "settled paid",
        "unseen: conclude": "settled paid",
    }


def test_three_card_a_stop_is_declared_and_locks_the_round_until_it_is_decided(book: Rulebook) -> None:
    assert recoveries_by(book, OUTSIDE) == {
        "unseen: referred to shift-manager": TO_RESULT,
        "seen: referred to shift-manager": "closed revealed entered",
    }
    assert recoveries_by(book, "5.1") == {"seen: void": "open"}
    assert recoveries_by(book, "house:recovery") == {"stopped: nothing": "between"}
    assert recoveries_by(book, "house:declaration") == {"stopped: declare": f"{TO_RESULT} settled paid"}


def test_three_card_after_a_stop_known_cards_go_on_by_decision(book: Rulebook) -> None:
    for phase in TO_RESULT.split():
        playing = at(book, phase)
        playing.do(Recover, RECOVERY)
        assert playing.act_refused("settle") == "on-hold house:declaration"
        playing.do(DeclareUnrecorded, "dan", second="pat")
        assert playing.act_refused("settle") == f"on-hold {OUTSIDE}"
        decision = {"referral": "r1", "treatment": Treatment.CONTINUE, "reason": "the cards lie face up"}
        assert playing.refused(DecideReferral, "mia", **decision) == f"not-permitted {OUTSIDE}"
        playing.do(DecideReferral, "sue", **decision)
        assert (playing.table.held, playing.table.phase) == (None, phase)


def test_three_card_a_die_that_is_not_flat_is_nothing_here(book: Rulebook) -> None:
    assert told_of_act(standing(book, "revealed"), "enter-result", flat=False) == "to entered 1.1.2"
    assert standing(book, "revealed").refused(Perform, "dan", act=Act.ENTER_RESULT) == "bad-value house:order"

"""Sic Bo at Marina Bay Sands, version 6, played: the course of a round, clause by clause."""

from __future__ import annotations

from typing import Final

import pytest

from taisai.game.commands import (
    MoveBet,
    Perform,
    TakeBack,
)
from taisai.game.events import BetRegistered
from taisai.game.money.ledger import Account
from taisai.game.refusals import Refusal
from taisai.rules import Act, Rulebook, rulebook
from tests.game.played_events import acts_by, told_of_act
from tests.game.playing import FACES, FILL, SEAT, at, opened, phases, standing
from tests.game.single_event import only

TO_REVEAL: Final = "open open-tumbled closed closed-tumbled deal-pressed"
KNOWN: Final = "revealed entered settled"
IN_HAND: Final = f"{TO_REVEAL} {KNOWN}"
ALWAYS: Final = f"between {IN_HAND} paid"
CLOSED: Final = "closed closed-tumbled deal-pressed"
AFTER: Final = "after_close"
STAKED: Final = 1_400


def all_but(*phases_left_out: str) -> str:
    return " ".join(phase for phase in ALWAYS.split() if phase not in phases_left_out)


def all_but_under_after_close(*phases_left_out: str) -> str:
    return all_but("open-tumbled", *phases_left_out)


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("mbs-sic-bo-v6")


# The course of a round


def test_mbs_3_1_only_the_opening_call_opens_a_round(book: Rulebook) -> None:
    assert acts_by(book, "3.1") == {
        "open-bets: to open": "between",
        "open-bets: refused out-of-order": all_but("between"),
    }


def test_mbs_3_1_no_bet_before_the_opening_call(book: Rulebook) -> None:
    assert standing(book, "between").bet_refused(odd=100) == "out-of-order 3.1"
    assert only(BetRegistered, at(book, "open").bet(even=100)).clause == "3.3"


def test_mbs_3_2_bets_are_taken_and_taken_back_until_the_close(book: Rulebook) -> None:
    for phase in ("open", "open-tumbled"):
        playing = at(book, phase)
        playing.bet(even=100)
        playing.do(TakeBack, "dan", round=1, seat=SEAT, ids=("1-even",))
        assert playing.table.seats[SEAT].at_risk == STAKED
    for phase in CLOSED.split():
        assert standing(book, phase).bet_refused(even=100) == "late 5.6"


def test_mbs_3_8_the_dice_tumble_until_they_are_uncovered(book: Rulebook) -> None:
    assert acts_by(book, "3.8") == {
        "tumble: to open-tumbled": "open open-tumbled",
        "tumble: to closed-tumbled": "closed closed-tumbled",
        "tumble: to deal-pressed": "deal-pressed",
        "tumble: refused out-of-order": f"between {KNOWN} paid",
    }


def test_mbs_3_8_neither_order_is_refused_whichever_the_console_proposes(book: Rulebook) -> None:
    assert acts_by(book, "3.8", tumble=AFTER) == {
        "tumble: to open-tumbled": "open",
        "tumble: to closed-tumbled": "closed closed-tumbled",
        "tumble: to deal-pressed": "deal-pressed",
        "tumble: refused out-of-order": f"between {KNOWN} paid",
    }
    assert acts_by(book, "3.8", under_minimum_memory="ever") == {
        "tumble: to open-tumbled": "open open-tumbled",
        "tumble: to closed-tumbled": "closed-tumbled",
        "tumble: to deal-pressed": "deal-pressed",
        "tumble: refused out-of-order": f"between {KNOWN} paid",
    }
    playing = at(book, "open", tumble=AFTER)
    for _ in range(2):
        assert told_of_act(playing, "tumble") == "to open-tumbled 3.8"
        playing.act("tumble")
    assert told_of_act(playing, "close-bets") == "to closed-tumbled 3.9"


def test_mbs_3_8_three_tumbles_are_enough(book: Rulebook) -> None:
    for tumbles, became in (
        (0, "void 5.1"),
        (2, "void 5.1"),
        (3, "to open-tumbled 3.8"),
        (4, "to open-tumbled 3.8"),
    ):
        assert told_of_act(standing(book, "open"), "tumble", tumbles=tumbles) == became
    assert told_of_act(standing(book, "closed"), "tumble", tumbles=2) == "void 5.1"


def test_mbs_3_9_the_close_then_the_deal_button(book: Rulebook) -> None:
    assert acts_by(book, "3.9") == {
        "close-bets: to closed": "open",  # tumbled or not: the call closes betting
        "close-bets: to closed-tumbled": "open-tumbled",
        "close-bets: refused out-of-order": all_but("open", "open-tumbled"),
        "press-deal: to deal-pressed": "closed-tumbled",
        "press-deal: refused out-of-order": all_but("closed-tumbled"),
    }
    assert acts_by(book, "3.9", tumble=AFTER) == {
        "close-bets: to closed": "open",
        "close-bets: refused out-of-order": all_but_under_after_close("open"),
        "press-deal: to deal-pressed": "closed-tumbled",
        "press-deal: refused out-of-order": all_but_under_after_close("closed-tumbled"),
    }


def test_mbs_3_9_the_close_whatever_else_the_house_chose(book: Rulebook) -> None:
    ever = acts_by(book, "3.9", tumble=AFTER, under_minimum_memory="ever")
    assert ever == acts_by(book, "3.9", tumble=AFTER)


def test_mbs_3_10_the_dice_are_uncovered_once_deal_is_pressed(book: Rulebook) -> None:
    assert acts_by(book, "3.10") == {
        "uncover: to revealed": "deal-pressed",
        "uncover: refused out-of-order": "between closed revealed entered settled paid",
    }
    assert acts_by(book, "3.10", tumble=AFTER) == acts_by(book, "3.10")


def test_mbs_3_11_settled_once_the_result_is_keyed_in(book: Rulebook) -> None:
    assert acts_by(book, "3.11") == {
        "settle: to settled": "entered",
        "settle: refused out-of-order": all_but("entered"),
    }


def test_mbs_1_1_3_announced_collected_paid_and_over(book: Rulebook) -> None:
    assert acts_by(book, "1.1.3") == {
        "enter-result: to entered": "revealed",
        "enter-result: refused out-of-order": all_but("revealed"),
        "collect-and-pay: to paid": "settled",
        "collect-and-pay: refused out-of-order": all_but("settled"),
        "conclude: to between": "paid",
        "conclude: refused out-of-order": all_but("paid"),
    }


def test_mbs_1_1_3_two_rounds_on_end(book: Rulebook) -> None:
    for tumble in ("before_close", AFTER):
        playing = opened(book, tumble=tumble).to("between").to("between")
        assert [one.number for one in playing.table.rounds] == [1, 2]
        assert playing.balance(Account.HOUSE_WON) == 2 * 400
        assert playing.balance(Account.HOUSE_LOST) == 2 * 1_000
        assert playing.balance(Account.CHIPS) == FILL - 2 * 600


def test_mbs_acts_of_other_games_are_refused_by_the_house(book: Rulebook) -> None:
    others = ("activate-shaker", "deal-cards", "collect", "pay", "clear-lights")
    assert acts_by(book, "house:order") == {f"{act}: refused out-of-order": ALWAYS for act in others}


def test_mbs_the_phases_are_all_there_are(book: Rulebook) -> None:
    assert phases(book.id) == ALWAYS.split()
    for phase in phases(book.id):
        assert standing(book, phase).table.phase == phase


# Positions


REST: Final = {"closed": 0, "closed-tumbled": 1, "deal-pressed": 2}
"""Phase → how many of the acts up to the settlement are behind it."""


def moved(book: Rulebook, phase: str, **settings: str) -> str:
    answer = standing(book, phase, **settings).ask(
        MoveBet, "dan", round=1, id="1-small", area="odd", second="pat"
    )
    if isinstance(answer, Refusal):
        return f"{answer.reason} {answer.clause}"
    return f"moved {answer[0].clause}"


def test_mbs_3_11_chips_count_as_they_lie_at_the_reveal(book: Rulebook) -> None:
    for phase in ("open", "open-tumbled"):
        assert moved(book, phase) == "moved 3.11"
    for phase in f"{CLOSED} {KNOWN} paid".split():
        assert moved(book, phase) == "late 5.6"
    for phase in CLOSED.split():
        assert moved(book, phase, tumble=AFTER) == "late 5.6"


def test_mbs_5_7_a_bet_moved_after_the_call_stays_where_it_lay(book: Rulebook) -> None:
    move = {"round": 1, "id": "1-small", "area": "odd"}
    for phase in CLOSED.split():
        playing = at(book, phase)
        for second in (None, "dan", "pat", "sue"):
            assert playing.refused(MoveBet, "dan", **move, second=second) == "late 5.6"
        for act in ("tumble", "press-deal", "uncover", "enter-result", "settle")[REST[phase] :]:
            playing.act(act)
        assert playing.balance(Account.HOUSE_LOST) == 1_000  # small won where it lay


def test_mbs_3_11_settled_by_the_position_at_the_reveal(book: Rulebook) -> None:
    playing = at(book, "open-tumbled")
    playing.do(MoveBet, "dan", round=1, id="1-small", area="total-6")
    for act in ("close-bets", "press-deal", "uncover", "enter-result", "settle"):
        playing.act(act)
    assert playing.entries() == [
        ("at-risk", -STAKED, "3.11"),
        ("house-won", 400, "3.11"),
        ("house-lost", 18_000, "3.11"),
        ("payable", 19_000, "3.11"),
    ]


def test_mbs_2_2_three_dice_numbered_one_to_six(book: Rulebook) -> None:
    revealed = standing(book, "revealed")
    for faces in ((1, 2), (1, 2, 3, 4), (0, 1, 2), (1, 2, 7), ()):
        assert revealed.refused(Perform, "dan", act=Act.ENTER_RESULT, faces=faces) == "bad-value house:order"
    entered = at(book, "entered").table.round
    assert entered is not None
    assert entered.result is not None
    assert tuple(entered.result.faces) == FACES

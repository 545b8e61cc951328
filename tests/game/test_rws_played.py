"""Rounds of Sic Bo ETG at Resorts World Sentosa, version 8, played clause by clause: how one goes right."""

from __future__ import annotations

from typing import Final

import pytest

from taisai.game.commands import (
    BuyCredits,
    DispenseCredits,
    Limits,
    MoveBet,
    Perform,
    PlaceBets,
    RecordBets,
    ShowLayout,
    Slip,
    TakeBack,
    TakeSeat,
)
from taisai.game.events import RoundConcluded, RoundSettled
from taisai.game.money.ledger import Account
from taisai.game.vocabulary import Means
from taisai.rules import Act, Rulebook, rulebook
from tests.game.played_events import acts_by, told_of_act
from tests.game.playing import CREDITS, RWS, SEAT, TERMINAL, at, opened, standing

BEFORE: Final = "before_close"
CLOSED: Final = ("closed", "closed-tumbled", "revealed", "entered", "settled", "paid")
FIRST: Final = "between open open-tumbled closed closed-tumbled"
FIRST_BEFORE: Final = "between open open-tumbled closed-tumbled"
LAST: Final = "revealed entered settled paid"


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook(RWS)


# The course of a round


def test_rws_3_2_bets_are_taken_from_the_notice_on_and_a_round_opens_once(book: Rulebook) -> None:
    later = f"open open-tumbled closed closed-tumbled {LAST}"
    assert acts_by(book, "3.2") == {"open-bets: to open": "between", "open-bets: refused out-of-order": later}
    early = {"round": 2, "seat": SEAT, "bets": (Slip("early", "small", 100),)}
    assert standing(book, "between").refused(PlaceBets, TERMINAL, **early) == "out-of-order 3.2"
    (registered,) = at(book, "open").bet(odd=100)
    assert (registered.clause, registered.by) == ("3.2", TERMINAL)


def test_rws_3_5_the_clock_alone_closes(book: Rulebook) -> None:
    assert acts_by(book, "3.5") == {
        "close-bets: to closed": "open",
        "close-bets: to closed-tumbled": "open-tumbled",
        "close-bets: refused out-of-order": f"between closed closed-tumbled {LAST}",
    }
    assert acts_by(book, "3.5", tumble=BEFORE) == {
        "close-bets: to closed": "open",
        "close-bets: to closed-tumbled": "open-tumbled",
        "close-bets: refused out-of-order": f"between closed-tumbled {LAST}",
    }
    for person in ("dan", "pat", "sue"):
        close = {"act": Act.CLOSE_BETS}
        assert standing(book, "open").refused(Perform, person, **close) == "not-permitted 3.5"


def test_rws_3_5_a_bet_or_an_increase_past_the_close_is_refused(book: Rulebook) -> None:
    for phase in CLOSED:
        playing = standing(book, phase)
        assert playing.bet_refused(odd=100) == "late 3.5"
        assert playing.bet_refused(small=100) == "late 3.5"
        assert playing.credits == standing(book, phase).credits
    assert standing(book, "closed").balance(Account.AT_RISK) == 1_400


def test_rws_3_6_the_dice_are_tumbled_in_either_order_until_they_are_uncovered(book: Rulebook) -> None:
    assert acts_by(book, "3.6") == {
        "tumble: to open-tumbled": "open open-tumbled",
        "tumble: to closed-tumbled": "closed closed-tumbled",
        "tumble: refused out-of-order": f"between {LAST}",
    }
    assert acts_by(book, "3.6", tumble=BEFORE) == {
        "tumble: to open-tumbled": "open open-tumbled",
        "tumble: to closed-tumbled": "closed-tumbled",
        "tumble: refused out-of-order": f"between {LAST}",
    }


def test_rws_3_6_three_tumbles_are_valid_and_so_are_more(book: Rulebook) -> None:
    for tumbles in (3, 4, 1_000):
        playing = at(book, "closed")
        (tumbled,) = playing.act("tumble", tumbles=tumbles)
        assert (tumbled.clause, playing.table.phase) == ("3.6", "closed-tumbled")
    assert told_of_act(standing(book, "closed"), "tumble", tumbles=2) == "void 5.3.1"
    for tumbles in (-1, 1_001):
        assert standing(book, "closed").act_refused("tumble", tumbles=tumbles) == "bad-value house:most"


def test_rws_3_7_the_cover_comes_off_once_tumbled_and_closed(book: Rulebook) -> None:
    assert acts_by(book, "3.7") == {
        "uncover: to revealed": "closed-tumbled",
        "uncover: refused out-of-order": f"between closed {LAST}",
    }
    assert acts_by(book, "3.7", tumble=BEFORE) == {
        "uncover: to revealed": "closed-tumbled",
        "uncover: refused out-of-order": f"between {LAST}",
    }


def test_rws_1_3_the_result_is_keyed_into_the_console(book: Rulebook) -> None:
    assert acts_by(book, "1.3") == {
        "enter-result: to entered": "revealed",
        "enter-result: refused out-of-order": f"{FIRST} entered settled paid",
    }
    assert acts_by(book, "1.3", tumble=BEFORE) == {
        "enter-result: to entered": "revealed",
        "enter-result: refused out-of-order": f"{FIRST_BEFORE} entered settled paid",
    }
    for faces in ((), (1, 2), (0, 1, 2), (1, 2, 7), (1, 2, 3, 4)):
        assert standing(book, "revealed").act_refused("enter-result", faces=faces) == "bad-value house:order"


def test_rws_3_8_losers_are_collected_and_winners_paid(book: Rulebook) -> None:
    assert acts_by(book, "3.8") == {
        "settle: to settled": "entered",
        "settle: refused out-of-order": f"{FIRST} revealed settled paid",
        "collect-and-pay: to paid": "settled",
        "collect-and-pay: refused out-of-order": f"{FIRST} revealed entered paid",
    }
    assert acts_by(book, "3.8", tumble=BEFORE) == {
        "settle: to settled": "entered",
        "settle: refused out-of-order": f"{FIRST_BEFORE} revealed settled paid",
        "collect-and-pay: to paid": "settled",
        "collect-and-pay: refused out-of-order": f"{FIRST_BEFORE} revealed entered paid",
    }
    playing = at(book, "entered")
    (settled,) = playing.act("settle")
    assert isinstance(settled, RoundSettled)
    assert (settled.staked, settled.collected, settled.won, settled.stakes_back) == (1_400, 400, 1_000, 1_000)
    assert {clause for _, _, clause in playing.entries()} == {"3.8"}
    assert playing.credits == CREDITS - 1_400
    playing.act("collect-and-pay")
    assert playing.entries() == [("payable", -2_000, "3.8"), ("credits", 2_000, "3.8")]
    assert playing.credits == CREDITS + 600


def test_rws_1_8_a_round_lasts_until_every_player_is_settled(book: Rulebook) -> None:
    assert acts_by(book, "1.8") == {
        "conclude: to between": "paid",
        "conclude: refused out-of-order": f"{FIRST} revealed entered settled",
    }
    assert acts_by(book, "1.8", tumble=BEFORE) == {
        "conclude: to between": "paid",
        "conclude: refused out-of-order": f"{FIRST_BEFORE} revealed entered settled",
    }
    playing = at(book, "open")
    playing.do(TakeSeat, "T08", seat="8", terminal="T08", layout="A")
    playing.do(BuyCredits, "T08", seat="8", amount=500)
    playing.do(PlaceBets, "T08", round=1, seat="8", bets=(Slip("b", "big", 500),))
    for act in ("close-bets", "tumble", "uncover", "enter-result", "settle"):
        playing.act(act)
    assert told_of_act(playing, "conclude") == "refused out-of-order 1.8"
    playing.act("collect-and-pay")
    assert [seat.at_risk for seat in playing.table.seats.values()] == [0, 0]
    (concluded,) = playing.act("conclude")
    assert isinstance(concluded, RoundConcluded)


def test_rws_acts_of_another_game_are_refused_in_every_phase(book: Rulebook) -> None:
    always = f"{FIRST} {LAST}"
    others = ("activate-shaker", "press-deal", "deal-cards", "collect", "pay", "clear-lights")
    assert acts_by(book, "house:order") == {f"{act}: refused out-of-order": always for act in others}


# Bets and terminals


def test_rws_3_3_outside_the_limits_a_terminal_takes_no_bet(book: Rulebook) -> None:
    for phase in ("open", "open-tumbled"):
        playing = at(book, phase)
        assert playing.bet_refused(odd=99) == "under-minimum 3.3"
        assert playing.bet_refused(odd=50_001) == "over-maximum 3.3"
        # 1,000 lie on small already: limits are per player and area.
        assert playing.bet_refused(small=49_001) == "over-maximum 3.3"
        playing.bet(small=49_000, odd=100)
        playing.bet(odd=1)
        assert playing.table.seats[SEAT].at_risk == 1_400 + 49_000 + 101
        left = {"round": 1, "seat": SEAT, "ids": ("1-odd",)}
        assert playing.refused(TakeBack, TERMINAL, **left) == "under-minimum 3.3"


def test_rws_3_3_a_group_of_areas_may_have_limits_of_its_own(book: Rulebook) -> None:
    limits = Limits(least=100, most=50_000, groups={"triple": (10, 200)})
    playing = opened(book, limits=limits)
    playing.act("open-bets")
    assert playing.bet_refused(triple_1=9) == "under-minimum 3.3"
    assert playing.bet_refused(triple_1=201) == "over-maximum 3.3"
    assert playing.bet(triple_1=200)


def test_rws_3_4_every_bet_comes_from_the_terminal_of_its_seat(book: Rulebook) -> None:
    playing = standing(book, "open")
    bet = {"round": 1, "seat": SEAT, "bets": (Slip("x", "odd", 100),)}
    for by in ("T08", "dan", "sue", "clock"):
        assert playing.refused(PlaceBets, by, **bet) == "not-permitted house:terminals"
    assert playing.refused(TakeSeat, "dan", seat="8", player="ben") == "wrong-means house:terminals"


def test_rws_1_7_bets_are_made_with_credits_bought_and_dispensed_at_the_terminal(book: Rulebook) -> None:
    playing = at(book, "open")
    chips = {"round": 1, "seat": SEAT, "bets": (Slip("x", "odd", 100),)}
    for means in (Means.CASH_CHIPS, Means.PLAQUES, Means.COLOUR_CHIPS, Means.CASH):
        assert playing.refused(RecordBets, "dan", means=means, **chips) == "wrong-means 1.7"
    (bought,) = playing.do(BuyCredits, TERMINAL, seat=SEAT, amount=500)
    assert bought.clause == "1.7"
    assert sorted(playing.entries()) == [("credits", 500, "1.7"), ("drop", 500, "1.7")]
    (dispensed,) = playing.do(DispenseCredits, TERMINAL, seat=SEAT, transfer="ticket-1")
    assert (dispensed.clause, playing.credits) == ("1.7", 0)
    assert playing.bet_refused(odd=100) == "credits-short house:credits"


def test_rws_nobody_lays_a_bet_for_a_player(book: Rulebook) -> None:
    asked = {"round": 1, "seat": SEAT, "bets": (Slip("x", "odd", 100),), "at_request": True}
    for person in ("dan", "pat", "mia", "sue"):
        told = standing(book, "open").refused(RecordBets, person, means=Means.CREDITS, **asked)
        assert told == "not-permitted house:outside-the-rules"


def test_rws_5_7_a_bet_goes_back_before_the_close_and_stays_live_after_it(book: Rulebook) -> None:
    back = {"round": 1, "seat": SEAT, "ids": ("1-small",)}
    for phase in ("open", "open-tumbled"):
        playing = at(book, phase)
        playing.do(TakeBack, TERMINAL, **back)
        assert playing.credits == CREDITS - 400
    for phase in CLOSED[:-1]:
        assert standing(book, phase).refused(TakeBack, TERMINAL, **back) == "late 5.7"
    # Once paid there is nothing to take back, and the document says no more of it.
    assert standing(book, "paid").refused(TakeBack, TERMINAL, **back) == "late 5.10"


def test_rws_5_7_nobody_moves_what_stands_on_a_terminal(book: Rulebook) -> None:
    for phase in ("open", *CLOSED):
        move = {"round": 1, "id": "1-small", "area": "big"}
        assert standing(book, phase).refused(MoveBet, "dan", **move) == "not-permitted house:terminals"


# What is paid


def paid(book: Rulebook, layout: str, faces: tuple[int, int, int], **stakes: int) -> int:
    """What a terminal with a layout gains or loses on stakes, in a round of its own."""
    playing = at(book, "between")
    playing.do(ShowLayout, TERMINAL, seat=SEAT, layout=layout)
    had = playing.credits
    playing.act("open-bets")
    playing.bet(**stakes)
    for act in ("close-bets", "tumble", "uncover"):
        playing.act(act)
    playing.act("enter-result", faces=faces)
    for act in ("settle", "collect-and-pay", "conclude"):
        playing.act(act)
    return playing.credits - had


def test_rws_3_9_on_a_triple_five_kinds_of_bet_win_and_the_others_lose(book: Rulebook) -> None:
    for area in ("small", "big", "odd", "even", "pair_23", "four_1234", "total_7", "triple_3"):
        assert paid(book, "A", (2, 2, 2), **{area: 200}) == -200
    won = {"triple_2": 39_000, "any_triple": 6_400, "double_2": 2_300, "single_2": 2_400, "total_6": 3_800}
    for area, amount in won.items():
        assert paid(book, "A", (2, 2, 2), **{area: 200}) == amount


def test_rws_4_1_two_terminals_settle_one_round_at_the_odds_of_their_layouts(book: Rulebook) -> None:
    for layout, half, double in (("A", 1_700, 2_300), ("B", 1_700, 2_300), ("C", 1_600, 2_200)):
        assert paid(book, layout, (2, 3, 3), total_8=200) == half
        assert paid(book, layout, (2, 3, 3), double_3=200) == double


def test_rws_4_1_a_layout_does_not_change_under_live_bets(book: Rulebook) -> None:
    other = {"seat": SEAT, "layout": "C"}
    for phase in ("open", *CLOSED[:-2]):
        assert standing(book, phase).refused(ShowLayout, TERMINAL, **other) == "under-live-bets house:terms"
    (shown,) = at(book, "between").do(ShowLayout, TERMINAL, **other)
    assert shown.clause == "Appendix C"


def test_rws_4_1_1_layout_a_has_no_three_numbers_and_no_double_with_a_single(book: Rulebook) -> None:
    playing = at(book, "between")
    playing.do(ShowLayout, TERMINAL, seat=SEAT, layout="A")
    playing.act("open-bets")
    assert playing.bet_refused(three_126=100) == "not-on-layout Appendix A"
    assert playing.bet_refused(double_single_113=100) == "not-on-layout Appendix A"


def test_rws_4_1_2_a_stake_that_would_win_half_a_unit_is_refused(book: Rulebook) -> None:
    assert paid(book, "B", (1, 1, 3), double_single_113=100) == 5_000
    assert paid(book, "B", (1, 2, 6), three_126=100) == 3_000
    assert standing(book, "open").bet_refused(total_8=101) == "winnings-not-whole house:whole-money"
    assert standing(book, "open").bet_refused(double_single_112=100) == "not-on-layout Appendix B"


def test_rws_4_1_3_layout_c_pays_whole_odds_on_any_stake(book: Rulebook) -> None:
    assert paid(book, "C", (2, 3, 3), total_8=101) == 808

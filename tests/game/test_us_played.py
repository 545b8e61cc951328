"""Rounds of sic bo under the American rules, played clause by clause: how one goes right."""

from __future__ import annotations

from typing import Final

import pytest

from taisai.game.commands import (
    Assign,
    BuyColour,
    MoveBet,
    OfferOdds,
    Perform,
    PlaceItem,
    RecordBets,
    SetLimits,
    Slip,
    TakeBack,
    TakeSeat,
)
from taisai.game.events import BetRegistered, LightsCleared, RoundSettled
from taisai.game.money.ledger import Account
from taisai.game.terms.messages import Limits
from taisai.game.vocabulary import CHIP_READER, Means
from taisai.rules import Act, Rulebook, rulebook
from tests.game.played_events import acts_by, told_of_act
from tests.game.playing import FILL, SEAT, US, Playing, at, standing

AUTOMATED: Final = "automated"
END: Final = "entered settled collected paid"
LATER: Final = ("closed", "closed-tumbled", "revealed", "entered", "settled", "collected", "paid")


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook(US)


# The course of a round


def test_us_5_a_a_round_opens_once_and_only_between_rounds(book: Rulebook) -> None:
    refused = "open-bets: refused out-of-order"
    assert acts_by(book, "5(a)") == {
        "open-bets: to open": "between",
        refused: f"open closed closed-tumbled revealed {END}",
    }
    assert acts_by(book, "5(a)", shaker=AUTOMATED) == {
        "open-bets: to open": "between",
        refused: f"open closed revealed {END}",
    }
    early = {"round": 2, "seat": SEAT, "bets": (Slip("early", "small", 100),), "means": Means.CASH_CHIPS}
    assert standing(book, "between").refused(RecordBets, "dan", **early) == "out-of-order 5(a)"


def test_us_5_c_the_dealer_closes_before_every_shake(book: Rulebook) -> None:
    assert acts_by(book, "5(c)") == {
        "close-bets: to closed": "open",
        "close-bets: refused out-of-order": f"between closed closed-tumbled revealed {END}",
        # The call comes first, whichever shaker it is.
        "tumble: refused out-of-order": "open",
        "activate-shaker: refused out-of-order": "open",
    }
    assert acts_by(book, "5(c)", shaker=AUTOMATED) == {
        "close-bets: to closed": "open",
        "close-bets: refused out-of-order": f"between closed revealed {END}",
        "tumble: refused out-of-order": "open",
        "activate-shaker: refused out-of-order": "open",
    }
    # The betting clock only prompts the dealer.
    assert standing(book, "open").refused(Perform, "clock", act=Act.CLOSE_BETS) == "not-permitted 5(c)"


def test_us_5_c_chips_laid_past_the_close_are_not_taken(book: Rulebook) -> None:
    for phase in LATER:
        assert standing(book, phase).bet_refused(any_triple=100) == "late 5(c)"
        assert standing(book, phase).bet_refused(small=100) == "late 5(c)"


def test_us_5_d_past_the_close_one_shaker_mixes_the_dice_and_never_the_other(book: Rulebook) -> None:
    assert told_of_act(standing(book, "closed"), "activate-shaker") == "refused out-of-order 5(d)(2)"
    automated = standing(book, "closed", shaker=AUTOMATED)
    assert told_of_act(automated, "tumble") == "refused out-of-order 5(d)(1)"


def test_us_5_d_1_the_manual_shaker_is_shaken_past_the_close(book: Rulebook) -> None:
    assert acts_by(book, "5(d)(1)") == {
        "tumble: to closed-tumbled": "closed closed-tumbled",
        "tumble: refused out-of-order": f"between revealed {END}",
    }
    assert acts_by(book, "5(d)(1)", shaker=AUTOMATED) == {
        "tumble: refused out-of-order": f"between closed revealed {END}",
    }


def test_us_5_d_1_the_cover_stays_on_until_three_shakes_are_done(book: Rulebook) -> None:
    playing = at(book, "closed")
    playing.act("tumble", tumbles=2)
    assert (playing.table.phase, playing.act_refused("uncover")) == ("closed-tumbled", "unmet-need 5(d)(1)")
    playing.act("tumble", tumbles=1)
    assert told_of_act(playing, "uncover") == "to revealed 5(e)"
    for tumbles in (0, 1, 2):
        short = at(book, "closed")
        short.act("tumble", tumbles=tumbles)
        assert short.act_refused("uncover") == "unmet-need 5(d)(1)"
    one_by_one = at(book, "closed")
    for _ in range(3):
        one_by_one.act("tumble", tumbles=1)
    assert told_of_act(one_by_one, "uncover") == "to revealed 5(e)"


def test_us_5_d_1_more_shakes_are_free_whatever_else_is_set(book: Rulebook) -> None:
    for name, value in (("no_roll", "void"), ("double_on_triple", "no"), ("higher_may_act", "yes")):
        shaken = standing(book, "closed-tumbled", **{name: value})
        assert told_of_act(shaken, "tumble", tumbles=1) == "to closed-tumbled 5(d)(1)"


def test_us_5_d_2_the_automated_shaker_shows_its_dice_when_activated(book: Rulebook) -> None:
    assert acts_by(book, "5(d)(2)", shaker=AUTOMATED) == {
        "activate-shaker: to revealed": "closed",
        "activate-shaker: refused out-of-order": f"between revealed {END}",
    }
    assert acts_by(book, "5(d)(2)") == {
        "activate-shaker: refused out-of-order": f"between closed closed-tumbled revealed {END}",
    }


def test_us_5_e_uncover_then_key_in_what_the_dice_show(book: Rulebook) -> None:
    assert acts_by(book, "5(e)") == {
        "uncover: to revealed": "closed-tumbled",
        "uncover: refused out-of-order": f"between open closed revealed {END}",
        "enter-result: to entered": "revealed",
        "enter-result: refused out-of-order": f"between open closed closed-tumbled {END}",
    }
    assert acts_by(book, "5(e)", shaker=AUTOMATED) == {
        "uncover: refused out-of-order": f"between open closed revealed {END}",
        "enter-result: to entered": "revealed",
        "enter-result: refused out-of-order": f"between open closed {END}",
    }
    for faces in ((), (1, 2), (0, 1, 2), (1, 2, 7)):
        assert standing(book, "revealed").act_refused("enter-result", faces=faces) == "bad-value house:order"


def test_us_3_c_settled_once_the_numbers_are_keyed_in_and_lit(book: Rulebook) -> None:
    assert acts_by(book, "3(c)") == {
        "settle: to settled": "entered",
        "settle: refused out-of-order": "between open closed closed-tumbled revealed settled collected paid",
    }
    assert acts_by(book, "3(c)", shaker=AUTOMATED) == {
        "settle: to settled": "entered",
        "settle: refused out-of-order": "between open closed revealed settled collected paid",
    }


def test_us_5_f_all_losers_are_collected_before_a_winner_is_paid(book: Rulebook) -> None:
    assert acts_by(book, "5(f)") == {
        "collect: to collected": "settled",
        "collect: refused out-of-order": "between open closed closed-tumbled revealed entered collected paid",
        "pay: to paid": "collected",
        "pay: refused out-of-order": "between open closed closed-tumbled revealed entered settled paid",
    }
    assert acts_by(book, "5(f)", shaker=AUTOMATED) == {
        "collect: to collected": "settled",
        "collect: refused out-of-order": "between open closed revealed entered collected paid",
        "pay: to paid": "collected",
        "pay: refused out-of-order": "between open closed revealed entered settled paid",
    }
    playing = at(book, "entered")
    (settled,) = playing.act("settle")
    assert isinstance(settled, RoundSettled)
    assert (settled.staked, settled.collected, settled.won, settled.stakes_back) == (1_400, 400, 1_000, 1_000)
    (collected,) = playing.act("collect")
    assert (collected.clause, playing.balance(Account.CHIPS)) == ("5(f)", FILL + 1_400)
    playing.act("pay")
    assert playing.entries() == [("chips", -2_000, "5(f)"), ("payable", -2_000, "5(f)")]
    assert playing.balance(Account.CHIPS) == FILL - 600


def test_us_5_f_winners_are_not_paid_from_an_empty_tray(book: Rulebook) -> None:
    playing = Playing(book, {}).staff()
    playing.do(PlaceItem, "dan", item="dice")
    playing.inspect()
    playing.seat().act("open-bets")
    playing.bet(triple_1=1_000)
    for act in ("close-bets", "tumble", "uncover"):
        playing.act(act)
    playing.act("enter-result", faces=(1, 1, 1))
    playing.act("settle")
    playing.act("collect")
    assert playing.act_refused("pay") == "float-short house:float"


def test_us_5_g_the_lights_are_cleared_once_all_are_paid(book: Rulebook) -> None:
    earlier = "open closed closed-tumbled revealed entered settled collected"
    assert acts_by(book, "5(g)") == {
        "clear-lights: to between": "paid",
        "clear-lights: refused out-of-order": f"between {earlier}",
    }
    assert acts_by(book, "5(g)", shaker=AUTOMATED) == {
        "clear-lights: to between": "paid",
        "clear-lights: refused out-of-order": "between open closed revealed entered settled collected",
    }
    cleared, _ = at(book, "paid").act("clear-lights")
    assert isinstance(cleared, LightsCleared)


def test_us_acts_of_another_game_are_refused_in_every_phase(book: Rulebook) -> None:
    always = f"between open closed closed-tumbled revealed {END}"
    others = ("press-deal", "deal-cards", "collect-and-pay", "conclude")
    assert acts_by(book, "house:order") == {f"{act}: refused out-of-order": always for act in others}


# Bets


def test_us_3_a_chips_and_plaques_are_bets_and_spoken_cash_is_not(book: Rulebook) -> None:
    playing = standing(book, "open")
    bets = {"round": 1, "seat": SEAT, "bets": (Slip("x", "any-triple", 100),)}
    for means in (Means.CASH_CHIPS, Means.PLAQUES):
        assert playing.tried(RecordBets, "dan", means=means, **bets) == "done"
    for means in (Means.CASH, Means.COLOUR_CHIPS):
        assert playing.refused(RecordBets, "dan", means=means, **bets) == "wrong-means 3(a)"
    colour = {"seat": SEAT, "colour": "red", "value": 100, "pieces": 20, "paid_with": Means.CASH}
    assert playing.refused(BuyColour, "dan", **colour) == "wrong-means house:colour-chips"
    at_terminal = {"seat": "8", "terminal": "T08"}
    assert playing.refused(TakeSeat, "T08", **at_terminal) == "wrong-means house:terminals"


def test_us_3_a_a_bet_lies_on_an_area_of_the_layout(book: Rulebook) -> None:
    for area in ("odd", "even", "four_1234", "three_126", "double_single_113", "total_3", "total_18"):
        assert standing(book, "open").bet_refused(**{area: 100}) == "not-on-layout 3(a)"


def test_us_3_b_the_dealer_may_lay_a_bet_for_a_player_who_answers_for_it(book: Rulebook) -> None:
    bets = {"round": 1, "seat": SEAT, "bets": (Slip("x", "any-triple", 100),), "means": Means.CASH_CHIPS}
    strict, loose = standing(book, "open"), standing(book, "open", higher_may_act="yes")
    for person in ("flo", "sue"):
        assert strict.refused(RecordBets, person, at_request=True, **bets) == "not-permitted 3(b)"
        assert loose.tried(RecordBets, person, at_request=True, **bets) == "done"
    assert strict.tried(RecordBets, "flo", **bets) == "done"  # chips that the player laid himself
    playing = at(book, "open")
    (registered,) = playing.do(RecordBets, "dan", at_request=True, **bets)
    assert isinstance(registered, BetRegistered)
    assert (registered.by, registered.seat, registered.at_request) == ("dan", SEAT, True)
    for act in ("close-bets", "tumble", "uncover", "enter-result", "settle"):
        playing.act(act)
    assert playing.table.round is not None
    assert playing.table.round.settled is not None
    assert playing.table.round.settled.collected == 500  # lost like any other


def moved(book: Rulebook, phase: str, **settings: str) -> str:
    move = {"round": 1, "id": "1-big", "area": "small", "second": "sue"}
    answers = [standing(book, phase, **settings).tried(MoveBet, by, **move) for by in ("dan", CHIP_READER)]
    assert answers[0] == answers[1]
    return answers[0]


def test_us_3_c_a_bet_counts_where_it_lies_when_the_areas_light(book: Rulebook) -> None:
    assert moved(book, "open") == moved(book, "open", shaker=AUTOMATED) == "done"
    playing = at(book, "open")
    (move,) = playing.do(MoveBet, "dan", round=1, id="1-big", area="small")
    assert move.clause == "3(c)"
    for act in ("close-bets", "tumble", "uncover", "enter-result", "settle"):
        playing.act(act)
    assert playing.table.round is not None
    assert playing.table.round.settled is not None
    assert playing.table.round.settled.won == 1_400


def test_us_5_c_nobody_moves_a_bet_past_the_close(book: Rulebook) -> None:
    for phase in LATER:
        assert moved(book, phase) == "late 5(c)"
    for phase in ("closed", "revealed", "entered"):
        assert moved(book, phase, shaker=AUTOMATED) == "late 5(c)"
    with_die_in_view = {"round": 1, "id": "1-big", "area": "triple-1", "second": "sal"}
    for person in ("dan", "flo", "sue"):
        assert standing(book, "revealed").refused(MoveBet, person, **with_die_in_view) == "late 5(c)"


def test_us_3_c_a_bet_taken_back_past_the_close_stays_live(book: Rulebook) -> None:
    back = {"round": 1, "seat": SEAT, "ids": ("1-small",)}
    playing = at(book, "open")
    playing.do(TakeBack, "dan", **back)
    assert playing.balance(Account.AT_RISK) == 400
    for phase in LATER[:-1]:
        assert standing(book, phase).refused(TakeBack, "dan", **back) == "late 3(c)"


def test_us_limits_of_the_house_refuse_a_bet_at_entry(book: Rulebook) -> None:
    playing = at(book, "open")
    assert playing.bet_refused(any_triple=99) == "under-minimum house:limits"
    assert playing.bet_refused(any_triple=50_001) == "over-maximum house:limits"
    assert playing.bet_refused(small=49_001) == "over-maximum house:limits"
    assert playing.bet(small=49_000)
    left = {"round": 1, "seat": SEAT, "ids": ("1-small",)}
    assert playing.tried(TakeBack, "dan", **left) == "done"
    other = {"limits": Limits(least=500, most=1_000), "second": "sal"}
    assert playing.refused(SetLimits, "sue", **other) == "under-live-bets house:terms"
    between = at(book, "between")
    between.do(SetLimits, "sue", **other)
    between.act("open-bets")
    assert between.bet_refused(any_triple=499) == "under-minimum house:limits"


# Odds


def won(book: Rulebook, faces: tuple[int, int, int], *, offers: dict[str, str], **stakes: int) -> int:
    """What bets win above their stakes, under the odds that are offered."""
    playing = at(book, "between")
    if offers:
        playing.do(OfferOdds, "sue", offers=offers, second="sal")
    playing.act("open-bets")
    playing.bet(**stakes)
    for act in ("close-bets", "tumble", "uncover"):
        playing.act(act)
    playing.act("enter-result", faces=faces)
    (settled,) = playing.act("settle")
    assert isinstance(settled, RoundSettled)
    return settled.won


def test_us_4_b_the_house_pays_what_it_offers_and_never_less_than_the_floor(book: Rulebook) -> None:
    assert won(book, (1, 1, 1), offers={}, triple_1=100) == 15_000
    assert won(book, (1, 1, 1), offers={"triple-1": "180 to 1"}, triple_1=100) == 18_000
    playing = standing(book, "between")
    low = {"offers": {"triple-1": "149 to 1"}, "second": "sal"}
    assert playing.refused(OfferOdds, "sue", **low) == "bad-value 4(b)"
    assert playing.refused(OfferOdds, "sue", offers={}, second=None) == "second-person house:dual-control"
    assert playing.refused(OfferOdds, "flo", offers={}, second="sal") == "not-permitted house:terms"
    live = {"offers": {"triple-1": "180 to 1"}, "second": "sal"}
    assert standing(book, "open").refused(OfferOdds, "sue", **live) == "under-live-bets house:terms"


def test_us_4_c_one_of_a_kind_pays_two_and_three_to_one_whatever_is_offered(book: Rulebook) -> None:
    offers = {"single-1": "1.5 to 1"}
    for faces, amount in (((1, 2, 3), 150), ((1, 1, 3), 200), ((1, 1, 1), 300)):
        assert won(book, faces, offers=offers, single_1=100) == amount
    assert won(book, (1, 5, 5), offers={}, single_1=100) == 100  # the pair is not of the number bet on


# People


def test_us_1_the_dealer_performs_every_act(book: Rulebook) -> None:
    (assigned,) = at(book, "between").do(Assign, "sue", person="ivy", rank="dealer", position="dealer")
    assert assigned.clause == "1"
    steps = {"between": "open-bets", "open": "close-bets", "closed": "tumble", "closed-tumbled": "uncover"}
    steps |= {"entered": "settle", "settled": "collect", "collected": "pay", "paid": "clear-lights"}
    for phase, act in steps.items():
        assert standing(book, phase).tried(Perform, "dan", act=Act(act), tumbles=3) == "done"
        for person in ("flo", "sue"):
            fields = {"act": Act(act), "tumbles": 3}
            assert standing(book, phase, higher_may_act="yes").tried(Perform, person, **fields) == "done"
            strict = standing(book, phase)
            assert strict.refused(Perform, person, **fields).startswith("not-permitted")
        machine = standing(book, phase).refused(Perform, "clock", act=Act(act), tumbles=3)
        assert machine.startswith("not-permitted")

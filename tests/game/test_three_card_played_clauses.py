"""Clauses of 3 Card Sic Bo at Marina Bay Sands, played one by one."""

from __future__ import annotations

from typing import Final

import pytest

from taisai.game.commands import DeclareUnrecorded, LoadShoe, Recover, ReportIrregularity
from taisai.game.events import ShoeLoaded
from taisai.game.money.ledger import Account
from taisai.game.vocabulary import RECOVERY
from taisai.rules import Rulebook, rulebook
from tests.game.played_events import rulings_by
from tests.game.playing import FILL, THREE_CARD, at, opened
from tests.game.single_event import only
from tests.game.staking import STAKE, table_open, won_by

AREAS: Final = ("small", "big", "odd", "even", "any-triple", *(f"total-{n}" for n in range(4, 18)))
IN_HAND: Final = "open closed revealed entered settled"


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook(THREE_CARD)


def test_three_card_2_1_the_backs_of_each_deck_are_recorded(book: Rulebook) -> None:
    playing = opened(book)
    loaded = only(ShoeLoaded, playing.do(LoadShoe, "dan", decks=2, backs=("blue", "red")))
    assert (loaded.backs, loaded.clause) == (("blue", "red"), "2.1")
    for backs in (("blue",), ("blue", "red", "red")):
        assert playing.refused(LoadShoe, "dan", decks=2, backs=backs) == "bad-value 2.1"


def test_three_card_2_3_the_player_bets_on_the_areas_of_the_layout_and_no_others(book: Rulebook) -> None:
    playing = opened(book)
    playing.act("open-bets")
    for area in AREAS:
        assert playing.bet(**{area.replace("-", "_"): 100})
    for area in ("single-1", "double-1", "triple-1", "pair-12"):
        assert playing.bet_refused(**{area.replace("-", "_"): 100}) == "not-on-layout Diagram A"


def test_three_card_3_6_3_odd_wins_on_odd_totals_and_never_on_a_triple(book: Rulebook) -> None:
    open_table = table_open(book)
    for faces in ("113", "146", "256", "566"):
        assert won_by(open_table, "odd", faces) == STAKE
    for faces in ("112", "123", "266", "111", "333", "555"):
        assert won_by(open_table, "odd", faces) == -STAKE


def test_three_card_3_7_no_bet_follows_the_call_and_the_call_needs_nothing(book: Rulebook) -> None:
    playing = at(book, "open")
    playing.act("close-bets")
    assert playing.bet_refused(odd=100) == "late 5.5"
    assert playing.table.phase == "closed"


def test_three_card_3_8_three_cards_come_face_up_after_the_call(book: Rulebook) -> None:
    playing = at(book, "closed")
    left = playing.table.shoe.left
    playing.act("deal-cards")
    assert (playing.table.phase, playing.table.shoe.left) == ("revealed", left - 3)


def test_three_card_5_1_seen_before_the_call_by_declaration_after_a_stop(book: Rulebook) -> None:
    playing = at(book, "open")
    playing.do(Recover, RECOVERY)
    playing.do(DeclareUnrecorded, "dan", seen=True, early=True, second="pat")
    assert [one.voided for one in playing.table.rounds] == [True]
    assert playing.balance(Account.CHIPS) == FILL


def test_three_card_5_2_a_foreign_card_voids_the_round_in_hand_and_nothing_else(book: Rulebook) -> None:
    for phase in IN_HAND.split():
        playing = at(book, "between").to(phase)
        playing.do(ReportIrregularity, "dan", **playing.reporting("foreign-card"))
        assert [one.voided for one in playing.table.rounds] == [False, True]
    between = at(book, "between")
    between.do(ReportIrregularity, "dan", **between.reporting("foreign-card"))
    assert [one.voided for one in between.table.rounds] == [False]
    assert between.act_refused("open-bets").split()[0] == "unmet-need"  # other decks come first


def test_three_card_5_3_a_wrong_count_voids_the_round_in_hand_only(book: Rulebook) -> None:
    for phase in IN_HAND.split():
        playing = at(book, "between").to(phase)
        playing.do(ReportIrregularity, "dan", **playing.reporting("card-count-wrong"))
        assert [one.voided for one in playing.table.rounds] == [False, True]


def test_three_card_5_4_a_round_that_the_shoe_cannot_complete_is_void(book: Rulebook) -> None:
    for phase in ("open", "closed", "revealed"):
        playing = at(book, phase)
        playing.do(ReportIrregularity, "dan", **playing.reporting("shoe-short", second=None))
        assert [one.voided for one in playing.table.rounds] == [True]


def test_three_card_5_5_a_raise_past_the_call_leaves_the_earlier_stake(book: Rulebook) -> None:
    for phase in ("closed", "revealed", "entered", "settled", "paid"):
        playing = at(book, phase)
        assert playing.bet_refused(small=100) == "late 5.5"
        assert playing.table.round is not None
        assert playing.table.round.bets["1-small"].stake == 1_000
    assert rulings_by(book, "5.5") == {"late-bet: noted refuse": "closed revealed entered settled paid"}


def test_three_card_5_6_a_bet_taken_off_past_the_call_is_won_or_lost(book: Rulebook) -> None:
    playing = at(book, "closed")
    playing.do(ReportIrregularity, "dan", **playing.reporting("late-withdrawal"))
    for act in ("deal-cards", "enter-result", "settle", "collect-and-pay", "conclude"):
        playing.act(act)
    assert playing.balance(Account.HOUSE_LOST) == 1_000
    assert rulings_by(book, "5.6") == {"late-withdrawal: noted stays-live": "closed revealed entered settled"}

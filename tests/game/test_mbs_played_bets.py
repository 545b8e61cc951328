"""Sic Bo at Marina Bay Sands, version 6, played: chips, limits and what is paid, clause by clause."""

from __future__ import annotations

from typing import Any, Final

import pytest

from taisai.game.commands import (
    BeginDay,
    BuyColour,
    CashColour,
    ConfirmReport,
    LeaveSeat,
    Limits,
    PlaceItem,
    RecordBets,
    RemoveItem,
    ReportIrregularity,
    Slip,
    TakeSeat,
)
from taisai.game.events import (
    ColourBought,
    IrregularityRuled,
    LosersCollected,
    RoundResettled,
    RoundSettled,
    WinnersPaid,
)
from taisai.game.money.ledger import Account
from taisai.game.vocabulary import Means
from taisai.rules import Rulebook, rulebook
from tests.game.playing import FACES, OTHER_FACES, SEAT, Playing, at, opened, standing
from tests.game.single_event import only

LOW: Final = Limits(least=100, most=1_000)
TO_SETTLE: Final = ("tumble", "close-bets", "press-deal", "uncover")


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook("mbs-sic-bo-v6")


def settled(playing: Playing, faces: tuple[int, int, int] = FACES) -> tuple[int, int, int, int]:
    """Plays an open round on to its settlement: staked, collected, won, returned."""
    for act in TO_SETTLE:
        playing.act(act)
    playing.act("enter-result", faces=faces)
    event = only(RoundSettled, playing.act("settle"))
    return event.staked, event.collected, event.won, event.stakes_back


def over(playing: Playing) -> None:
    playing.act("collect-and-pay")
    playing.act("conclude")


def round_of(
    playing: Playing, faces: tuple[int, int, int] = FACES, **stakes: int
) -> tuple[int, int, int, int]:
    """A whole round with these stakes of seat 7: staked, collected, won, returned."""
    playing.act("open-bets")
    playing.bet(**stakes)
    came_to = settled(playing, faces)
    over(playing)
    return came_to


def record(playing: Playing, *, means: str = "cash-chips", **slip: Any) -> dict[str, Any]:
    """The fields of one bet on the layout of seat 7 or of a colour."""
    bet = Slip(slip.pop("id", "x"), slip.pop("area", "odd"), slip.pop("stake", 100))
    return {"round": playing.number, "means": Means(means), "bets": (bet,)} | ({"seat": SEAT} | slip)


# Chips


def test_mbs_3_3_cash_chips_or_colour_chips_or_both(book: Rulebook) -> None:
    playing = opened(book)
    playing.do(BuyColour, "dan", seat=SEAT, colour="red", value=100, pieces=20, paid_with=Means.CASH)
    playing.act("open-bets")
    playing.do(RecordBets, "dan", **record(playing, id="cash", area="small", stake=300))
    playing.do(RecordBets, "dan", **record(playing, means="colour-chips", id="red", area="small", stake=2))
    assert settled(playing) == (500, 0, 500, 500)


def test_mbs_3_3_nothing_else_is_bet_with(book: Rulebook) -> None:
    playing = standing(book, "open")
    for means in ("plaques", "cash"):
        assert playing.refused(RecordBets, "dan", **record(playing, means=means)) == "wrong-means 3.3"
    bought = record(playing, means="credits")
    assert playing.refused(RecordBets, "dan", **bought) == "wrong-means house:terminals"
    terminal = {"seat": "8", "terminal": "T08"}
    assert playing.refused(TakeSeat, "T08", **terminal) == "wrong-means house:terminals"


def buying(**fields: Any) -> dict[str, Any]:
    usual = {"seat": SEAT, "colour": "red", "value": 500, "pieces": 10, "paid_with": Means.CASH}
    return usual | fields


def test_mbs_1_1_1_a_value_above_the_minimum_is_shown_by_a_marker(book: Rulebook) -> None:
    playing = standing(book, "open")
    for marker in (None, 100, 501):
        assert playing.refused(BuyColour, "dan", **buying(marker=marker)) == "unmet-need 1.1.1"
    for fields in (buying(marker=500), buying(value=100), buying(value=25)):
        bought = only(ColourBought, playing.fork().do(BuyColour, "dan", **fields))
        assert (bought.clause, bought.marker) == ("1.1.1", fields.get("marker"))


def test_mbs_1_1_1_settled_and_cashed_at_the_value_the_player_set(book: Rulebook) -> None:
    playing = opened(book)
    playing.do(BuyColour, "dan", **buying(marker=500))
    assert playing.refused(BuyColour, "dan", **buying(value=600, marker=600)).startswith("different-content")
    playing.act("open-bets")
    fields = record(playing, means="colour-chips", area="total-6", stake=3, seat=None, colour="red")
    playing.do(RecordBets, "dan", **fields)
    assert settled(playing) == (1_500, 0, 27_000, 1_500)
    over(playing)
    assert playing.table.seats[SEAT].purses[Means.COLOUR_CHIPS].credits == 5_000 + 27_000
    playing.do(CashColour, "dan", seat=SEAT, pieces=64)
    assert playing.entries() == [("chips", -32_000, "1.1.1"), ("credits", -32_000, "1.1.1")]


def test_mbs_1_1_1_no_colour_chips_but_those_bought(book: Rulebook) -> None:
    playing = at(book, "open")
    fields = record(playing, means="colour-chips", stake=1)
    assert playing.refused(RecordBets, "dan", **fields) == "wrong-means house:colour-chips"
    playing.do(BuyColour, "dan", **buying(value=100, pieces=2))
    fields = record(playing, means="colour-chips", stake=3)
    assert playing.refused(RecordBets, "dan", **fields) == "credits-short house:colour-chips"


# Under the minimum


def test_mbs_5_10_a_winner_under_the_minimum_is_paid_once_then_returned(book: Rulebook) -> None:
    playing = opened(book, limits=LOW)
    assert round_of(playing, small=50) == (50, 0, 50, 50)
    assert round_of(playing, small=50) == (50, 0, 0, 50)
    assert round_of(playing, small=100) == (100, 0, 100, 100)
    assert round_of(playing, small=50) == (50, 0, 0, 50)


def test_mbs_5_10_a_loser_under_the_minimum_is_collected_once_then_returned(book: Rulebook) -> None:
    playing = opened(book, limits=LOW)
    assert round_of(playing, big=50, even=20) == (70, 50, 20, 20)
    assert round_of(playing, big=50, even=20) == (70, 0, 0, 70)
    assert round_of(playing, OTHER_FACES, big=50) == (50, 0, 0, 50)


def test_mbs_5_10_each_player_once_and_no_setting_makes_it_twice(book: Rulebook) -> None:
    for memory in ("1", "2", "1000"):
        with pytest.raises(AssertionError, match="expected under_minimum_memory to be one of stay, ever"):
            opened(book, limits=LOW, under_minimum_memory=memory)
    for memory in ("stay", "ever"):
        playing = opened(book, limits=LOW, under_minimum_memory=memory)
        playing.do(TakeSeat, "dan", seat="8", player="bob")
        assert round_of(playing, small=50) == (50, 0, 50, 50)
        playing.act("open-bets")
        playing.bet(small=50)
        playing.do(RecordBets, "dan", **record(playing, seat="8", area="small", stake=60))
        assert settled(playing) == (110, 0, 60, 110)


def test_mbs_5_10_a_new_gaming_day_does_not_end_the_memory(book: Rulebook) -> None:
    playing = opened(book, limits=LOW)
    assert round_of(playing, small=50) == (50, 0, 50, 50)
    playing.do(BeginDay, "pat", day="2026-11-16")
    assert round_of(playing, small=50) == (50, 0, 0, 50)


def second_stay(book: Rulebook, memory: str) -> tuple[int, int, int, int]:
    """What a bet under the minimum comes to after its player left the table and came back."""
    playing = opened(book, limits=LOW, under_minimum_memory=memory)
    assert round_of(playing, small=50) == (50, 0, 50, 50)
    playing.do(LeaveSeat, "dan", seat=SEAT)
    playing.do(TakeSeat, "dan", seat=SEAT, player="ann")
    return round_of(playing, small=50)


def test_mbs_5_10_it_is_remembered_for_the_stay_or_for_good(book: Rulebook) -> None:
    assert second_stay(book, "stay") == (50, 0, 50, 50)
    assert second_stay(book, "ever") == (50, 0, 0, 50)


def test_mbs_5_10_known_for_good_the_player_is_known_at_another_seat_too(book: Rulebook) -> None:
    playing = opened(book, limits=LOW, under_minimum_memory="ever")
    assert round_of(playing, small=50) == (50, 0, 50, 50)
    playing.do(LeaveSeat, "dan", seat=SEAT)
    playing.do(TakeSeat, "dan", seat="8", player="ann")
    playing.do(TakeSeat, "dan", seat=SEAT, player="bob")
    playing.act("open-bets")
    playing.do(RecordBets, "dan", **record(playing, id="ann", seat="8", area="small", stake=50))
    playing.do(RecordBets, "dan", **record(playing, id="bob", area="small", stake=60))
    assert settled(playing) == (110, 0, 60, 110)


def test_mbs_5_10_a_void_round_settled_nothing_so_it_does_not_count(book: Rulebook) -> None:
    playing = opened(book, limits=LOW)
    playing.act("open-bets")
    playing.bet(small=50)
    assert settled(playing) == (50, 0, 50, 50)
    playing.do(ReportIrregularity, "dan", **playing.reporting("die-damaged"))
    playing.do(RemoveItem, "dan", item="dice")
    playing.do(PlaceItem, "dan", item="dice", serial="D-2")
    assert round_of(playing, small=50) == (50, 0, 50, 50)
    assert round_of(playing, small=50) == (50, 0, 0, 50)


def test_mbs_5_10_more_chips_on_the_area_bring_it_up_to_the_minimum(book: Rulebook) -> None:
    playing = opened(book, limits=LOW)
    round_of(playing, small=50)
    playing.act("open-bets")
    playing.bet(small=50)
    playing.do(RecordBets, "dan", **record(playing, area="small", stake=50))
    assert settled(playing) == (100, 0, 100, 100)


# Over the maximum


def test_mbs_5_11_a_winner_is_paid_to_the_maximum_only(book: Rulebook) -> None:
    playing = opened(book, limits=LOW)
    assert round_of(playing, small=1_500) == (1_500, 0, 1_000, 1_500)
    assert round_of(playing, total_6=1_001) == (1_001, 0, 18_000, 1_001)


def test_mbs_5_11_a_loser_is_collected_to_the_maximum_only(book: Rulebook) -> None:
    playing = opened(book, limits=LOW)
    assert round_of(playing, big=1_500, odd=1_000) == (2_500, 2_000, 0, 500)
    assert playing.balance(Account.HOUSE_WON) == 2_000


def test_mbs_5_11_the_maximum_counts_all_of_a_players_chips_on_an_area(book: Rulebook) -> None:
    playing = opened(book, limits=LOW)
    playing.do(TakeSeat, "dan", seat="8", player="bob")
    playing.act("open-bets")
    playing.bet(small=600)
    playing.do(RecordBets, "dan", **record(playing, id="more", area="small", stake=600))
    playing.do(RecordBets, "dan", **record(playing, id="other", seat="8", area="small", stake=600))
    assert settled(playing) == (1_800, 0, 1_600, 1_800)


def test_mbs_5_12_what_was_settled_in_earlier_rounds_is_settled(book: Rulebook) -> None:
    playing = opened(book, limits=LOW)
    round_of(playing, small=50, big=1_500)
    before = dict(playing.table.ledger.balances)
    noted = only(
        IrregularityRuled, playing.do(ReportIrregularity, "dan", **playing.reporting("earlier-limit-mistake"))
    )
    assert noted.clause == "5.12"
    assert playing.table.ledger.balances == before
    assert playing.table.referrals == {}


# What wins and what it is paid


def all_areas(playing: Playing) -> dict[str, int]:
    areas = playing.table.terms[playing.table.layout].rows
    assert len(areas) == 104
    return {area.replace("-", "_"): 100 for area in areas}


def on_every_area(book: Rulebook, faces: tuple[int, int, int]) -> tuple[int, int, int, int]:
    playing = opened(book)
    playing.act("open-bets")
    playing.bet(**all_areas(playing))
    return settled(playing, faces)


def test_mbs_4_1_three_different_numbers(book: Rulebook) -> None:
    # small, even, total 6, pairs 12 13 23, three 123, singles 1 2 3, four 1234
    won = 1 + 1 + 18 + 3 * 6 + 30 + 3 * 1 + 7
    assert on_every_area(book, (1, 2, 3)) == (10_400, 10_400 - 1_100, 100 * won, 1_100)


def test_mbs_4_1_a_double(book: Rulebook) -> None:
    # big, even, double 5, total 16, pair 56, double with single 556, singles 5 and 6
    won = 1 + 1 + 11 + 31 + 6 + 50 + 2 + 1
    assert on_every_area(book, (5, 5, 6)) == (10_400, 10_400 - 800, 100 * won, 800)


def test_mbs_4_1_a_triple(book: Rulebook) -> None:
    # the triple, any triple, double 2, total 6, single 2
    won = 180 + 31 + 11 + 18 + 12
    assert on_every_area(book, (2, 2, 2)) == (10_400, 10_400 - 500, 100 * won, 500)


def test_mbs_3_4_a_bet_that_the_dice_do_not_match_is_collected(book: Rulebook) -> None:
    playing = opened(book)
    assert round_of(playing, OTHER_FACES, small=1_000, big=400) == (1_400, 1_000, 400, 400)
    assert round_of(playing, (6, 6, 6), small=1_000, big=400) == (1_400, 1_400, 0, 0)


def test_mbs_2_1_what_is_on_no_layout_takes_no_bet(book: Rulebook) -> None:
    playing = standing(book, "open")
    for area in ("double_single_112", "double_single_665", "total_3", "total_18", "four_1236"):
        assert playing.bet_refused(**{area: 100}) == "not-on-layout Appendix A"


def test_mbs_1_1_3_paid_out_of_the_tray(book: Rulebook) -> None:
    playing = at(book, "settled")
    made = playing.act("collect-and-pay")
    assert (only(LosersCollected, made).clause, only(WinnersPaid, made).clause) == ("1.1.3", "1.1.3")
    assert playing.entries() == [("chips", -2_000, "1.1.3"), ("payable", -2_000, "1.1.3")]


# The result gives way to the dice


def test_mbs_5_8_a_result_keyed_wrongly_is_put_right_before_the_settlement(book: Rulebook) -> None:
    playing = at(book, "entered")
    alone = playing.fork()
    alone.do(ReportIrregularity, "dan", **playing.reporting("wrong-result", second=None))
    assert alone.act_refused("settle") == "on-hold house:confirmation"
    alone.do(ConfirmReport, "pat", report="h1")
    assert only(RoundSettled, alone.act("settle")).faces == OTHER_FACES
    playing.do(ReportIrregularity, "dan", **playing.reporting("wrong-result"))
    event = only(RoundSettled, playing.act("settle"))
    assert (event.faces, event.won, event.collected) == (OTHER_FACES, 400, 1_000)


def test_mbs_5_8_a_settlement_is_done_again_by_two_people(book: Rulebook) -> None:
    playing = at(book, "settled")
    fields = playing.reporting("wrong-result")
    playing.do(ReportIrregularity, "dan", **fields | {"second": "dan"})
    assert playing.act_refused("collect-and-pay") == "on-hold house:confirmation"
    playing.do(ConfirmReport, "pat", report="h1")
    assert playing.entries() == [
        ("house-won", 600, "5.8"),
        ("house-lost", -600, "5.8"),
        ("payable", -1_200, "5.8"),
    ]


def test_mbs_6_3_an_earlier_round_is_settled_again_by_its_dice(book: Rulebook) -> None:
    playing = at(book, "between").to("closed-tumbled")
    made = playing.do(ReportIrregularity, "dan", **playing.reporting("wrong-result", round=1))
    assert only(RoundResettled, made).later == "house:later-rounds"
    assert playing.entries() == [
        ("house-won", 600, "6.3"),
        ("house-lost", -600, "6.3"),
        ("claims-on-players", 1_200, "6.3"),
    ]
    assert playing.table.phase == "closed-tumbled"
    assert [claim.amount for claim in playing.table.claims.values()] == [1_200]

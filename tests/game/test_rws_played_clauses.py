"""Clauses of Sic Bo ETG at Resorts World Sentosa, version 8, played one by one."""

from __future__ import annotations

from typing import Final

import pytest

from taisai.game.commands import (
    BuyCredits,
    CallAttendant,
    DecideReferral,
    PlaceBets,
    ReportIrregularity,
    ShowLayout,
    Slip,
    TakeSeat,
)
from taisai.game.events import RoundSettled, RoundVoided
from taisai.game.vocabulary import Subject, Treatment
from taisai.rules import Rulebook, rulebook
from tests.game.played_events import rulings_by, told_of_act
from tests.game.playing import CREDITS, RWS, SEAT, TERMINAL, Playing, at, opened, standing

TO_PAID: Final = ("close-bets", "tumble", "uncover", "enter-result", "settle", "collect-and-pay")


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return rulebook(RWS)


def shown(book: Rulebook, layout: str) -> Playing:
    """A table whose terminal shows a layout, with bets open and none made."""
    playing = opened(book)
    playing.do(ShowLayout, TERMINAL, seat=SEAT, layout=layout)
    playing.act("open-bets")
    return playing


def won(book: Rulebook, layout: str, area: str, faces: str) -> int:
    """What 200 on an area win, or lose, when these faces show."""
    playing = shown(book, layout)
    playing.bet(**{area.replace("-", "_"): 200})
    for act in TO_PAID:
        fields = {"faces": tuple(map(int, faces))} if act == "enter-result" else {}
        playing.act(act, **fields)
    return playing.credits - CREDITS


def test_rws_1_8_a_round_begins_with_the_notice_and_ends_with_the_last_player(book: Rulebook) -> None:
    playing = opened(book)
    playing.do(TakeSeat, "T08", seat="8", player="ben", terminal="T08", layout="A")
    playing.do(BuyCredits, "T08", seat="8", amount=1_000)
    early = {"round": 1, "seat": "8", "bets": (Slip("b", "small", 500),)}
    assert playing.refused(PlaceBets, "T08", **early) == "out-of-order 3.2"
    playing.act("open-bets")
    playing.do(PlaceBets, "T08", **early)
    playing.bet(big=200)
    for act in TO_PAID:
        assert playing.act_refused("open-bets") == "out-of-order 3.2"
        assert playing.act_refused("conclude") == "out-of-order 1.8"
        if act == "settle":  # one terminal dies; its player is settled like all others
            playing.do(ReportIrregularity, "dan", **playing.reporting("terminals-down"))
        playing.act(act)
    assert [seat.purse.credits for seat in playing.table.seats.values() if seat.purse] == [
        CREDITS - 200,
        1_500,
    ]
    (concluded,) = playing.act("conclude")
    assert concluded.clause == "1.8"


def test_rws_1_9_the_upward_faces_are_added_up(book: Rulebook) -> None:
    for faces, total in (("112", 4), ("134", 8), ("333", 9), ("346", 13), ("566", 17)):
        assert won(book, "B", f"total-{total}", faces) > 0
        assert won(book, "B", f"total-{total - 1 if total > 4 else 5}", faces) == -200


def test_rws_1_10_a_void_round_has_neither_result_nor_place_among_the_results(book: Rulebook) -> None:
    for phase in ("open-tumbled", "closed-tumbled", "revealed", "entered", "settled"):
        playing = at(book, phase)
        made = playing.do(ReportIrregularity, "dan", **playing.reporting("die-not-flat"))
        assert [event.clause for event in made if isinstance(event, RoundVoided)] == ["5.3.2"]
        round_ = playing.table.past(1)
        assert playing.credits == CREDITS
        assert round_ is not None
        assert (round_.result, round_.settled) == (None, None)


def test_rws_2_1_1_a_player_bets_on_the_display_of_the_terminal(book: Rulebook) -> None:
    odds = {}
    for layout in "ABC":
        playing = shown(book, layout)
        if layout == "A":
            assert playing.bet_refused(three_126=200) == "not-on-layout Appendix A"
        else:
            playing.bet(three_126=200)
        odds[layout] = won(book, layout, "total-4", "112")
    assert odds == {"A": 64 * 200, "B": 64 * 200, "C": 62 * 200}


def test_rws_2_2_1_three_dice_of_six_faces_make_a_result(book: Rulebook) -> None:
    for faces in ((1, 2), (1, 2, 3, 4), (0, 1, 2), (1, 2, 7)):
        assert standing(book, "revealed").act_refused("enter-result", faces=faces) == "bad-value house:order"
    assert told_of_act(standing(book, "revealed"), "enter-result", faces=(1, 6, 6)) == "to entered 1.3"


def test_rws_3_1_numbers_and_combinations_win_as_the_dice_match_them(book: Rulebook) -> None:
    for area, match, other in (
        ("single-4", "124", "123"), ("pair-25", "255", "116"), ("four-1234", "124", "115"),
        ("three-126", "126", "125"), ("double-single-335", "335", "355"), ("double-3", "331", "321"),
        ("total-12", "444", "445"),
    ):  # fmt: skip
        assert won(book, "C", area, match) > 0
        assert won(book, "C", area, other) == -200


def test_rws_3_2_the_notice_opens_betting_and_only_it(book: Rulebook) -> None:
    playing = opened(book)
    bet = {"round": 1, "seat": SEAT, "bets": (Slip("x", "odd", 100),)}
    assert playing.refused(PlaceBets, TERMINAL, **bet) == "out-of-order 3.2"
    playing.act("open-bets")
    assert playing.tried(PlaceBets, TERMINAL, **bet) == "done"


def test_rws_3_5_no_bet_follows_the_closing_notice_tumbled_or_not(book: Rulebook) -> None:
    for phase in ("open", "open-tumbled"):
        playing = at(book, phase)
        playing.act("close-bets")
        assert playing.bet_refused(odd=100) == "late 3.5"
        assert not playing.table.phase.bets_open


def test_rws_3_6_each_activation_is_recorded_and_judged_by_itself(book: Rulebook) -> None:
    for phase in ("open-tumbled", "closed-tumbled"):
        higher = standing(book, phase, higher_may_act="yes")
        assert told_of_act(higher, "tumble") == f"to {phase} 3.6"
    for phase in ("open", "open-tumbled", "closed", "closed-tumbled"):
        again = at(book, phase)
        again.act("tumble", tumbles=4)
        again.act("tumble", tumbles=3)
        assert again.table.round is not None


def test_rws_5_3_1_a_short_activation_voids_whatever_precedes_it(book: Rulebook) -> None:
    for phase in ("open", "open-tumbled", "closed", "closed-tumbled"):
        for tumbles in (0, 1, 2):
            assert told_of_act(standing(book, phase), "tumble", tumbles=tumbles) == "void 5.3.1"


def test_rws_3_8_losers_go_to_the_house_and_winners_are_paid_by_the_table(book: Rulebook) -> None:
    playing = at(book, "entered")
    *_, settled = playing.act("settle")
    assert isinstance(settled, RoundSettled)
    assert (settled.collected, settled.won) == (400, 1_000)
    playing.act("collect-and-pay")
    assert playing.credits == CREDITS + 600


def test_rws_3_9_1_on_a_triple_that_very_triple_wins(book: Rulebook) -> None:
    assert won(book, "A", "triple-2", "222") == 195 * 200
    assert won(book, "C", "triple-2", "222") == 180 * 200
    assert won(book, "A", "triple-3", "222") == -200


def test_rws_3_9_2_on_a_triple_any_triple_wins(book: Rulebook) -> None:
    for face in range(1, 7):
        assert won(book, "A", "any-triple", str(face) * 3) == 32 * 200
    assert won(book, "C", "any-triple", "555") == 31 * 200


def test_rws_3_9_3_on_a_triple_its_double_wins_once(book: Rulebook) -> None:
    assert won(book, "A", "double-2", "222") == won(book, "A", "double-2", "223") == 2_300
    assert won(book, "A", "double-3", "222") == -200


def test_rws_3_9_4_on_a_triple_its_single_wins_on_three_dice(book: Rulebook) -> None:
    assert [won(book, "A", "single-2", faces) for faces in ("234", "223", "222")] == [200, 400, 2_400]
    assert won(book, "A", "single-3", "222") == -200


def test_rws_3_9_5_on_a_triple_its_total_wins_if_it_is_6_9_12_or_15(book: Rulebook) -> None:
    assert [won(book, "A", area, faces) for area, faces in (
        ("total-6", "222"), ("total-9", "333"), ("total-12", "444"), ("total-15", "555")
    )] == [3_800, 1_400, 1_400, 3_800]  # fmt: skip


def test_rws_5_3_2_a_report_by_one_person_takes_effect_or_holds_the_round(book: Rulebook) -> None:
    seen = {}
    for phase in ("open-tumbled", "closed-tumbled", "revealed", "entered", "settled"):
        playing = at(book, phase)
        playing.do(ReportIrregularity, "dan", **playing.reporting("die-not-flat", second=None))
        seen[phase] = (
            "void" if playing.table.round is None else str(playing.table.held and playing.table.held[0])
        )
    assert seen == {
        "open-tumbled": "void", "closed-tumbled": "void", "revealed": "void",
        "entered": "confirmation", "settled": "confirmation",
    }  # fmt: skip


def test_rws_5_7_the_house_does_not_answer_for_what_a_player_entered_in_error(book: Rulebook) -> None:
    for phase in ("closed", "closed-tumbled", "revealed", "entered", "settled"):
        playing = at(book, phase)
        playing.do(CallAttendant, TERMINAL, seat=SEAT, subject=Subject.DISPUTE, round=1)
        asked = {"referral": "r1", "treatment": Treatment.TREAT_BETS, "reason": "so he says"}
        for move in ({"1-small": "big"}, {"1-big": "small"}):
            assert playing.refused(DecideReferral, "sue", bets=move, **asked) == "late 5.7"
    stays = rulings_by(book, "5.7")
    assert stays == {"late-withdrawal: noted stays-live": "closed closed-tumbled revealed entered settled"}


def test_rws_5_9_every_player_of_a_void_round_has_the_stakes_back(book: Rulebook) -> None:
    playing = opened(book)
    playing.do(TakeSeat, "T08", seat="8", player="ben", terminal="T08", layout="A")
    playing.do(BuyCredits, "T08", seat="8", amount=1_000)
    playing.act("open-bets")
    playing.do(PlaceBets, "T08", round=1, seat="8", bets=(Slip("b", "small", 500),))
    playing.bet(big=200, any_triple=300)
    playing.act("close-bets")
    playing.act("tumble", tumbles=1)
    assert [seat.purse.credits for seat in playing.table.seats.values() if seat.purse] == [CREDITS, 1_000]
    assert {clause for _, _, clause in playing.entries()} == {"5.9"}

"""Rounds retold, and what a result would do before it is committed."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest

from taisai.game import bet_records
from taisai.game.commands import DecideReferral, PlaceBets, ReportIrregularity, Slip, TakeBack, TakeReading
from taisai.game.vocabulary import RECOGNISER, Treatment
from taisai.protocol.views import RoundView, RuledBet
from taisai.rules import OUTCOMES, Irregularity, RulesError, rulebook
from taisai.server.projections.history import RoundLog, RoundLogs
from taisai.server.projections.rounds import MOST_BETS, preview, round_view
from tests.game.playing import MBS, RWS, SEAT, TERMINAL, at
from tests.server.projections.played_tables import every_state


def story_of(events: Iterable[object], number: int) -> RoundLog | None:
    """What happened in a round."""
    return RoundLogs.of(events).of_round(number)


def test_every_round_is_retold_as_its_bets_were_settled() -> None:
    told = 0
    for state in every_state(70):
        table = state.table
        numbers = [*range(1, len(table.rounds) + 1), *([table.round.number] if table.round else [])]
        for number in numbers[-2:]:
            story = story_of(state.events, number)
            view = round_view(table, number, log=story)
            assert view is not None
            back = sum(one.stake for one in view.bets if one.state in ("returned", "withdrawn") and one.ruled)
            round_ = table.round if table.round and table.round.number == number else table.past(number)
            assert round_ is not None
            found = bet_records(table, round_, round_.live())
            assert view.totals.staked == sum(bet.stake for bet in round_.live()) + back
            assert view.totals.returned == sum(one.returned for one in found) + back
            assert view.void == round_.voided
            for seat in table.seats:
                mine = round_view(table, number, seat, log=story)
                assert mine is not None
                assert {bet.seat for bet in mine.bets} <= {seat}
                assert [bet for bet in view.bets if bet.seat == seat] == list(mine.bets)
            told += 1
    assert told > 100


def test_a_bet_taken_back_is_recorded_so_and_counts_in_no_total() -> None:
    playing = at(rulebook(RWS), "open")
    playing.do(TakeBack, TERMINAL, round=1, seat=SEAT, ids=("1-big",))
    view = round_view(playing.table, 1)
    assert view is not None
    assert {bet.id: bet.state for bet in view.bets} == {"1-small": "open", "1-big": "taken-back"}
    assert (view.totals.bets, view.totals.staked) == (1, 1_000)


def ruled(bets: dict[str, str | None], phase: str = "closed") -> RoundView:
    """A round of which bets were treated by decision."""
    playing = at(rulebook(RWS), phase)
    playing.do(
        ReportIrregularity,
        "dan",
        event=Irregularity.CHIPS_UNCLEAR,
        round=1,
        detail="chips fell",
        second="sue",
    )
    (referral,) = playing.table.referrals
    playing.do(
        DecideReferral, "sue", referral=referral, treatment=Treatment.TREAT_BETS, reason="they fell",
        bets=bets, second="pat",
    )  # fmt: skip
    view = round_view(playing.table, 1, log=story_of(playing.log, 1))
    assert view is not None
    return view


def test_a_bet_returned_by_decision_lay_there_and_is_shown_with_clause_reason_and_both_people() -> None:
    view = ruled({"1-small": None})
    back = next(bet for bet in view.bets if bet.id == "1-small")
    assert (back.state, back.returned, back.lay) == ("returned", 1_000, True)
    assert back.ruled == RuledBet(how="returned", by="sue", second="pat", reason="they fell")
    assert back.clause in view.says
    assert (view.totals.bets, view.totals.staked, view.totals.returned) == (2, 1_400, 1_000)
    decided = next(one for one in view.incidents if one.what == "referral-decided")
    assert (decided.second, decided.reason) == ("pat", "they fell")


def test_a_bet_moved_by_decision_before_the_close_is_shown_where_it_lies() -> None:
    view = ruled({"1-big": "odd"}, "open")
    moved = next(bet for bet in view.bets if bet.id == "1-big")
    assert (moved.area, moved.state, moved.ruled and moved.ruled.how) == ("odd", "open", "moved")


def test_a_bet_returned_before_the_close_did_not_lie_there() -> None:
    view = ruled({"1-small": None}, "open")
    assert [(bet.id, bet.state, bet.lay) for bet in view.bets] == [
        ("1-big", "open", True),
        ("1-small", "returned", False),
    ]


def test_the_outcome_lights_its_areas_on_every_layout_and_every_clause_is_shown_in_words() -> None:
    view = retold("between")
    book = rulebook(RWS)
    assert view.lit.keys() == set(book.layouts)
    for layout, areas in view.lit.items():
        assert "small" in areas, layout
        assert "big" not in areas, layout
    assert {bet.clause for bet in view.bets} <= view.says.keys()
    assert retold("open").lit == {}


def retold(playing_phase: str) -> RoundView:
    playing = at(rulebook(RWS), playing_phase)
    view = round_view(playing.table, 1, log=story_of(playing.log, 1))
    assert view is not None
    return view


def test_a_settled_round_tells_who_won_by_which_clause() -> None:
    view = retold("between")
    assert (view.faces, view.total, view.phase, view.void, view.entered) == (
        (1, 2, 3),
        6,
        "between",
        False,
        None,
    )
    assert [(bet.area, bet.state, bet.won, bet.returned, bet.clause) for bet in view.bets] == [
        ("small", "won", 1_000, 2_000, "4.1.2"),
        ("big", "lost", 0, 0, "3.8"),
    ]
    assert view.incidents == ()


def test_a_correction_and_a_void_are_shown_with_their_clauses() -> None:
    playing = at(rulebook(RWS), "between")
    playing.do(
        ReportIrregularity, "dan", event=Irregularity.WRONG_RESULT, round=1, faces=(4, 5, 6), second="sue"
    )
    view = round_view(playing.table, 1, log=story_of(playing.log, 1))
    assert view is not None
    assert (view.entered, view.faces) == ((1, 2, 3), (4, 5, 6))
    assert [one.what for one in view.incidents] == ["irregularity-ruled", "round-resettled"]
    playing.do(ReportIrregularity, "dan", event=Irregularity.DIE_DAMAGED, round=1, second="sue")
    void = round_view(playing.table, 1, log=story_of(playing.log, 1))
    assert void is not None
    assert (void.void, void.clause, void.faces) == (True, "5.4", None)
    assert {bet.state for bet in void.bets} == {"void"}
    assert void.totals.returned == 1_400


def test_a_round_that_was_never_played_is_none() -> None:
    playing = at(rulebook(RWS), "open")
    assert round_view(playing.table, 2) is None
    assert round_view(playing.table, 0) is None


def test_so_many_bets_are_shown_and_the_others_counted() -> None:
    playing = at(rulebook(RWS), "open")
    slips = tuple(Slip(f"b{n}", ("odd", "even")[n % 2], 100) for n in range(MOST_BETS - 1))
    for n in range(0, len(slips), 100):
        playing.do(PlaceBets, TERMINAL, round=1, seat=SEAT, bets=slips[n : n + 100])
    view = round_view(playing.table, 1)
    assert view is not None
    assert (len(view.bets), view.left_out, view.totals.bets) == (MOST_BETS, 1, MOST_BETS + 1)


# What a result would do


@pytest.mark.parametrize("book", [MBS, RWS])
def test_a_preview_is_what_the_settlement_then_comes_to(book: str) -> None:
    for outcome in OUTCOMES[::5]:
        playing = at(rulebook(book), "revealed")
        faces = tuple(int(face) for face in outcome.faces)
        view = preview(playing.table, faces)
        playing.act("enter-result", faces=faces)
        (settled,) = playing.act("settle")
        assert (view.staked, view.won, view.collected, view.returned) == (
            settled.staked, settled.won, settled.collected, settled.won + settled.stakes_back,  # type: ignore[attr-defined]
        )  # fmt: skip
        assert view.house.loses == view.won - view.collected
        assert view.lit["A"] == tuple(rulebook(book).matrix("A").illuminated(outcome))


def test_a_preview_changes_nothing_and_says_where_a_device_saw_otherwise() -> None:
    playing = at(rulebook(RWS), "revealed")
    playing.do(TakeReading, RECOGNISER, reading="r1", round=1, device="S1", faces=(1, 2, 3))
    assert preview(playing.table, (3, 2, 1)).differs is False
    assert preview(playing.table, (1, 2, 4)).differs is True
    assert playing.table.round is not None
    assert playing.table.round.result is None


def test_faces_that_make_no_outcome_are_refused() -> None:
    with pytest.raises(RulesError, match="expected a face from 1 to 6, got 7"):
        preview(at(rulebook(RWS), "revealed").table, (1, 2, 7))


def test_a_round_can_be_read_back() -> None:
    view = retold("between")
    assert msgspec.json.decode(msgspec.json.encode(view), type=RoundView) == view

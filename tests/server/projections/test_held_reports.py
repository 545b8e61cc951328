"""Reports that wait for a second person: offered to those who may answer them, shown in the round."""

from __future__ import annotations

import pytest

from taisai.cage import House
from taisai.game.commands import ConfirmReport, ContestReport, ReportIrregularity
from taisai.protocol.views import ReportLine
from taisai.rules import rulebook
from taisai.rules.vocabulary import Irregularity
from taisai.server.projections.console import console_view
from taisai.server.projections.history import RoundLogs
from taisai.server.projections.house_views import pit_view
from taisai.server.projections.offers import offers
from tests.game.playing import MBS, Playing, at

ABOVE = ("pit-supervisor", "pit-manager", "shift-manager")
SHOWS = {"event": Irregularity.WRONG_RESULT, "faces": (5, 6, 6)}


def held(phase: str, **fields: object) -> Playing:
    playing = at(rulebook(MBS), phase)
    playing.do(ReportIrregularity, "dan", **SHOWS, **fields)
    return playing


def test_a_second_person_is_offered_to_confirm_or_contest_a_report_in_play_and_after_the_round() -> None:
    for playing in (held("entered"), held("between", round=1)):
        offered = {offer.command: (offer.preset, offer.by) for offer in offers(playing.table)}
        assert offered["confirm-report"] == ({"report": "h1"}, ABOVE)
        assert offered["contest-report"] == ({"report": "h1"}, ABOVE)


def test_the_round_tells_who_reported_who_confirmed_or_contested_and_why() -> None:
    playing = held("between", round=1)
    playing.do(ConfirmReport, "pat", report="h1")
    log = RoundLogs.of(playing.log).of_round(1)
    assert log is not None
    told = [(one.what, one.by) for one in log.incidents()]
    assert told == [
        ("irregularity-ruled", "dan"), ("report-held", "dan"), ("report-confirmed", "pat"),
        ("round-resettled", "dan"),
    ]  # fmt: skip
    playing = held("entered")
    playing.do(ContestReport, "pat", report="h1", reason="camera 4 shows otherwise")
    log = RoundLogs.of(playing.log).of_round(1)
    assert log is not None
    assert ("report-contested", "pat", "camera 4 shows otherwise") in [
        (one.what, one.by, one.reason) for one in log.incidents()
    ]


# What the second person sees before they confirm


def line_of(playing: Playing) -> ReportLine:
    (line,) = console_view(playing.table, now=playing.now).reports
    return line


def returned(playing: Playing) -> dict[str, int]:
    """Seat → what the last round returns as it is settled now."""
    over = playing.table.past(1) or playing.table.current
    assert over.settled is not None
    sums: dict[str, int] = {}
    for index, amount in enumerate(over.settled.by_purse):
        seat = playing.table.purses[index].seat.name
        sums[seat] = sums.get(seat, 0) + amount
    return sums


@pytest.mark.parametrize("phase", ["settled", "paid", "between"])
def test_the_money_that_a_report_names_is_the_money_that_its_confirmation_moves(phase: str) -> None:
    playing = held(phase, round=1)
    before, line = returned(playing), line_of(playing)
    assert (line.by, line.round, line.faces, line.shown) == ("dan", 1, (1, 2, 3), (5, 6, 6))
    assert line.paid is (phase != "settled")
    assert line.then.en == "Settled by what the dice or cards show"
    playing.do(ConfirmReport, "pat", report="h1")
    after = returned(playing)
    assert before != after
    assert {seat.seat: (seat.now, seat.then) for seat in line.returns} == {
        seat: (before[seat], after[seat]) for seat in after if before[seat] != after[seat]
    }
    assert line.sums is not None
    assert (line.sums.now, line.sums.then) == (sum(before.values()), sum(after.values()))


def test_a_report_that_voids_a_round_names_the_stakes_that_go_back() -> None:
    playing = at(rulebook(MBS), "entered")
    staked = playing.table.current.staked
    playing.do(ReportIrregularity, "dan", event=Irregularity.DIE_NOT_FLAT)
    line = line_of(playing)
    assert line.then.en == "The round is void; all bets are returned"
    assert line.sums is not None
    assert (line.paid, line.sums.then) == (False, staked)


def test_a_report_that_a_die_was_seen_after_the_close_says_that_the_round_continues() -> None:
    playing = at(rulebook(MBS), "closed-tumbled")
    playing.do(ReportIrregularity, "dan", event=Irregularity.POWER_FAILURE, seen=True)
    line = line_of(playing)
    assert (line.seen, line.sums, line.then.en) == (True, None, "The round continues")


def test_the_pit_counts_the_reports_that_wait() -> None:
    playing = held("between", round=1)
    view = pit_view(House(), {"T1": playing.table})
    assert [table.reports for table in view.tables] == [1]
    playing.do(ConfirmReport, "pat", report="h1")
    assert pit_view(House(), {"T1": playing.table}).tables[0].reports == 0


def test_the_round_tells_that_a_question_ended_with_its_void() -> None:
    playing = at(rulebook(MBS), "revealed")
    playing.do(ReportIrregularity, "dan", event=Irregularity.CHIPS_UNCLEAR)
    playing.do(ReportIrregularity, "dan", event=Irregularity.DOME_OR_DICE_BROKEN)
    log = RoundLogs.of(playing.log).of_round(playing.number)
    assert log is not None
    told = [(one.what, one.clause) for one in log.incidents()]
    assert told[-2:] == [("round-voided", "5.5"), ("referral-ended", "5.5")]

"""Reports that wait for a second person: offered to those who may answer them, shown in the round."""

from __future__ import annotations

from taisai.game.commands import ConfirmReport, ContestReport, ReportIrregularity
from taisai.rules import rulebook
from taisai.rules.vocabulary import Irregularity
from taisai.server.projections.history import RoundLogs
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

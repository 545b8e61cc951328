"""Corrections of the record: offered at the console, shown in the round, flagged to the pit, counted."""

from __future__ import annotations

from taisai.game.commands import CorrectRecord
from taisai.game.events import RecordCorrected
from taisai.game.vocabulary import Means, RecordChange
from taisai.rules import Rulebook, rulebook
from taisai.server.projections.history import RoundLogs
from taisai.server.projections.house_views import table_alarm
from taisai.server.projections.offers import offers
from taisai.server.projections.rounds import round_view
from taisai.server.projections.seats import SeatIndex
from taisai.server.projections.takings import Takings, report_view
from tests.game.playing import MBS, RWS, SEAT, Playing, at

WHY = {"reason": "it lay there", "evidence": "camera 4, 21:03:10", "second": "sue"}


def corrected(phase: str = "paid") -> Playing:
    """A round with a stake put right, a bet added, and one that was never there."""
    playing = at(rulebook(MBS), phase)
    playing.do(CorrectRecord, "pat", change=RecordChange.STAKE, id="1-small", stake=2_000, **WHY)
    playing.do(
        CorrectRecord, "pat", change=RecordChange.ADD, id="k1", seat=SEAT, means=Means.CASH_CHIPS, area="odd",
        stake=500, **WHY,
    )  # fmt: skip
    playing.do(CorrectRecord, "pat", change=RecordChange.REMOVE, id="1-big", **WHY)
    return playing


def offered(playing: Playing) -> list[tuple[dict[str, object], tuple[str, ...], bool]]:
    """(preset, positions, whether it asks for a second person) of each offer to correct the record."""
    return [
        (offer.preset, offer.by, any(blank.kind == "second" for blank in offer.blanks))
        for offer in offers(playing.table)
        if offer.command == "correct-record"
    ]


ABOVE = ("pit-supervisor", "pit-manager", "shift-manager")


def test_the_console_offers_a_correction_in_every_phase_with_a_second_person_once_a_die_is_seen() -> None:
    book = rulebook(MBS)
    for phase in ("open", "open-tumbled", "closed-tumbled", "deal-pressed"):
        assert offered(at(book, phase)) == [({"round": 1}, ABOVE, False)]
    for phase in ("revealed", "entered", "settled", "paid"):
        assert offered(at(book, phase)) == [({"round": 1}, ABOVE, True)]
    assert offered(at(book, "between")) == [({}, ABOVE, True)]


def test_nothing_is_offered_where_the_terminals_are_the_record_or_the_edition_names_nobody() -> None:
    def none(book: Rulebook) -> bool:
        return offered(at(book, "open")) == []

    assert none(rulebook(RWS))


def test_the_form_asks_for_all_that_a_correction_needs() -> None:
    (offer,) = (one for one in offers(at(rulebook(MBS), "open").table) if one.command == "correct-record")
    always = {blank.field for blank in offer.blanks if blank.when is None}
    assert always == {"change", "reason", "evidence"}
    asked = {
        change: [f"{blank.field}{'?' if blank.optional else ''}" for blank in offer.blanks
                 if blank.when is not None and blank.is_asked({"change": change})]
        for change in RecordChange
    }  # fmt: skip
    assert asked == {
        "add": ["seat", "means", "area", "stake"], "remove": ["id"], "stake": ["id", "stake"],
        "seat": ["id", "seat"], "area": ["id", "area"], "split": ["id", "stake", "area?", "seat?"],
    }  # fmt: skip
    assert all(blank.label.en and blank.label.zh for blank in offer.blanks)


def test_the_round_tells_what_was_corrected_by_whom_why_and_what_shows_it() -> None:
    playing = corrected()
    log = RoundLogs.of(playing.log).of_round(1)
    view = round_view(playing.table, 1, log=log)
    assert view is not None
    told = [(one.what, one.by, one.second, one.reason) for one in view.incidents]
    assert told == [("record-corrected", "pat", "sue", "it lay there (camera 4, 21:03:10)")] * 3
    assert view.entered is None  # the result was right
    assert (view.totals.bets, view.totals.staked) == (2, 2_500)
    bets = {bet.id: (bet.stake, str(bet.state), bet.lay) for bet in view.bets}
    assert bets["1-small"] == (2_000, "won", True)
    assert bets["k1"][0] == 500
    assert bets["1-big"] == (400, "taken-back", False)
    ruled = {bet.id: bet.ruled.how for bet in view.bets if bet.ruled}
    assert ruled == {"1-small": "corrected", "k1": "corrected"}


def test_a_player_reads_no_reasons_of_staff_and_no_correction_of_another_seat() -> None:
    playing = corrected()
    log = RoundLogs.of(playing.log).of_round(1)
    assert log is not None
    assert [incident.what for incident in log.incidents("8")] == []
    assert len(log.incidents(SEAT)) == 3


def test_a_bet_of_another_seat_is_found_there() -> None:
    playing, index = at(rulebook(MBS), "open"), SeatIndex()
    round_ = playing.table.current
    assert [bet.id for bet in index.bets(round_, SEAT)] == ["1-small", "1-big"]
    from taisai.game.commands import TakeSeat

    playing.do(TakeSeat, "dan", seat="8")
    playing.do(CorrectRecord, "pat", change=RecordChange.SEAT, id="1-big", seat="8", **WHY)
    index.forget_round(1)
    assert [bet.id for bet in index.bets(round_, SEAT)] == ["1-small"]
    assert [bet.id for bet in index.bets(round_, "8")] == ["1-big"]


def test_each_correction_is_an_alarm_in_the_pit_and_is_counted_in_the_report() -> None:
    playing = corrected()
    alarms = [alarm for event in playing.log if (alarm := table_alarm("T1", event))]
    assert len(alarms) == 3
    assert alarms[0].about == "T1"
    assert "pat corrected the record of round 1: the stake was another. it lay there" in alarms[0].says.en
    assert "1" in alarms[0].says.zh
    (line,) = report_view({"T1": Takings.of(playing.log)}).tables
    assert (line.record_corrections, line.handle) == (3, 2_500)


def test_sabotage_takings_that_overlook_corrections_are_found() -> None:
    playing = corrected()
    events = [event for event in playing.log if not isinstance(event, RecordCorrected)]
    (line,) = report_view({"T1": Takings.of(events)}).tables
    assert line.record_corrections == 0

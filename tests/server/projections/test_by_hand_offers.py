"""What the console offers after a stop at a live table, and for what was played by hand."""

from __future__ import annotations

import pytest

from taisai.game.by_hand.messages import BetByHand
from taisai.game.commands import DeclareUnrecorded, EnterRound, EnterSettlement, Recover
from taisai.game.vocabulary import RECOVERY, Means
from taisai.protocol.views import Offer
from taisai.rules import rulebook
from taisai.server.projections.history import History, RoundLogs
from taisai.server.projections.house_views import table_alarm
from taisai.server.projections.offers import offers
from taisai.server.projections.rounds import round_view
from taisai.server.projections.table import table_view
from taisai.server.projections.takings import Takings, report_view
from tests.game.playing import MBS, RWS, SEAT, THREE_CARD, US, Playing, at

EVIDENCE = {"evidence": "camera 4, 21:04", "reason": "the server was down"}


def named(playing: Playing, command: str) -> list[Offer]:
    return [offer for offer in offers(playing.table, playing.now) if offer.command == command]


@pytest.mark.parametrize("book", [MBS, THREE_CARD, US])
def test_a_round_by_hand_is_offered_between_rounds_at_a_live_table(book: str) -> None:
    (offer,) = named(at(rulebook(book), "between"), "enter-round")
    assert [blank.field for blank in offer.blanks] == [
        "bets", "faces", "void", "returned", "evidence", "reason", "second",
    ]  # fmt: skip
    assert f"{SEAT}/cash-chips" in [choice.value for choice in offer.blanks[0].choices]
    assert [choice.value for choice in offer.blanks[3].choices] == [SEAT]
    assert named(at(rulebook(book), "open"), "enter-round") == []
    assert named(at(rulebook(RWS), "between"), "enter-round") == []


@pytest.mark.parametrize("book", [MBS, THREE_CARD, US])
def test_after_a_stop_the_declaration_is_offered_and_then_the_settlement(book: str) -> None:
    playing = at(rulebook(book), "closed")
    second = playing.table.ranks.second
    beside = next(
        name
        for name, person in playing.table.people.items()
        if playing.table.ranks.at_least(person.position, second) and name != playing.table.dealer()
    )
    dealer = playing.table.dealer()
    assert dealer is not None
    playing.do(Recover, RECOVERY)
    assert len(named(playing, "declare-unrecorded")) == 1
    assert [one.command for one in offers(playing.table, playing.now) if one.main] == ["declare"]
    assert named(playing, "perform") == []
    tumbles = 0 if book == THREE_CARD else 3
    playing.do(DeclareUnrecorded, dealer, tumbles=tumbles, faces=(1, 2, 4), settled=True, second=beside)
    (offer,) = named(playing, "enter-settlement")
    fields = [blank.field for blank in offer.blanks]
    assert fields == ["returned", *(["witnessed"] if book == US else []), "evidence", "reason", "second"]
    assert named(playing, "perform") == []
    assert table_view(playing.table, History.of(playing.table)).stoppage.hold == "settlement"
    assert offer.main  # the console names and offers what is due
    playing.do(EnterSettlement, dealer, returned={SEAT: 100}, second=beside, **EVIDENCE)
    assert named(playing, "enter-settlement") == []


def test_what_was_played_by_hand_is_marked_in_round_history_and_report() -> None:
    playing = at(rulebook(MBS), "between")
    logs, takings = RoundLogs(), Takings()
    bet = BetByHand(SEAT, Means.CASH_CHIPS, "small", 1_000)
    answer = playing.do(
        EnterRound, "dan", bets=(bet,), faces=(1, 2, 4), returned={SEAT: 2_000}, second="pat", **EVIDENCE
    )
    for event in answer:
        logs.apply(event)
        takings.apply(event)
    number = len(playing.table.rounds)
    view = round_view(playing.table, number, log=logs.of_round(number))
    assert view is not None
    assert view.by_hand
    assert [incident.what for incident in view.incidents] == ["round-entered", "settlement-entered"]
    assert view.incidents[0].second == "pat"
    alarms = [alarm for event in answer if (alarm := table_alarm("T", event))]
    assert [(alarm.about, bool(alarm.says.zh)) for alarm in alarms] == [("T", True)] * 2
    assert f"dan and pat entered round {number}, which was played by hand" in alarms[0].says.en
    assert f"the settlement of round {number}, which was made by hand" in alarms[1].says.en
    last = History.of(playing.table).last
    assert last is not None
    assert last.by_hand
    assert report_view({"T": takings}, "").tables[0].by_hand == 1

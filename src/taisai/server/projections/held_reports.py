"""Reports that wait for a second person: who reported what, and what follows if they are confirmed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from taisai.game import Refusal, Table
from taisai.game.commands import ConfirmReport
from taisai.game.events import Event, ResultCorrected, RoundResettled, RoundVoided
from taisai.game.irregularities.reports import case_of
from taisai.game.rounds.corrections import unpaid
from taisai.game.rounds.round import Round
from taisai.game.rounds.settlement import settlement, stakes_by_purse
from taisai.game.table import HeldReport
from taisai.protocol.views import ReportLine, SeatReturn
from taisai.rules.outcomes import Outcome
from taisai.server.projections import texts
from taisai.server.projections.candidates import TrialTable, stand_in

MOST_REPORTS: Final = 20  # that are shown; each is tried
MOST_RETURNS: Final = 50  # seats that are shown of one report
_BySeat = dict[str, int]


def report_lines(table: Table, now: int) -> tuple[ReportLine, ...]:
    """The reports that wait, each tried as if it were confirmed."""
    if not table.reports:
        return ()
    stage = TrialTable(table, now)
    return tuple(_line(stage, report) for report in list(table.reports.values())[:MOST_REPORTS])


def _line(stage: TrialTable, report: HeldReport) -> ReportLine:
    table = stage.table
    round_ = _round(table, report.round)
    second = stand_in(stage.positions[-1])
    answer = stage.decided(ConfirmReport, second, {"report": report.id})
    events = () if isinstance(answer, Refusal) else answer
    seats = _returns(table, events)
    sums = SeatReturn(seat="", now=sum(seat.now for seat in seats), then=sum(seat.then for seat in seats))
    return ReportLine(
        id=report.id, label=texts.IRREGULARITIES[report.irregularity], clause=str(report.clause),
        by=report.by, round=report.round, through=report.through, seen=report.seen,
        item=texts.item_label(table, report.item) if report.item in table.equipment.items else None,
        detail=report.detail,
        faces=texts.faces_of(round_.result) if round_ is not None and round_.result else None,
        shown=texts.faces_of(Outcome.of(*report.faces)) if report.faces else None,
        then=texts.RULINGS[case_of(table, report, at=stage.now, second=second).ruled.ruling],
        paid=round_ is not None and round_.settled is not None and not unpaid(table, round_),
        returns=seats[:MOST_RETURNS], sums=sums if seats else None,
    )  # fmt: skip


def _round(table: Table, number: int | None) -> Round | None:
    if number is None or (table.round is not None and table.round.number == number):
        return None if number is None else table.round
    return table.past(number)


def _returns(table: Table, events: tuple[Event, ...]) -> tuple[SeatReturn, ...]:
    """What each seat gets from the rounds that change, before and after, if it differs."""
    now: _BySeat = {}
    then: _BySeat = {}
    for number, outcome in _changes(events):
        round_ = table.round if number is None else _round(table, number)
        if round_ is None:
            continue
        for sums, amounts in ((now, _as_it_stands(table, round_)), (then, _after(table, round_, outcome))):
            for index, amount in amounts.items():
                seat = table.purses[index].seat.name
                sums[seat] = sums.get(seat, 0) + amount
    return tuple(
        SeatReturn(seat=seat, now=now.get(seat, 0), then=then.get(seat, 0))
        for seat in dict.fromkeys((*now, *then))
        if now.get(seat, 0) != then.get(seat, 0)
    )


def _changes(events: tuple[Event, ...]) -> Iterator[tuple[int | None, Outcome | None]]:
    """The rounds that change, and their new outcome; None for a round that is void."""
    for event in events:
        if isinstance(event, RoundVoided):
            yield event.round, None
        elif isinstance(event, RoundResettled):
            yield event.round, Outcome.of(*event.faces)
        elif isinstance(event, ResultCorrected):
            yield None, Outcome.of(*event.faces)


def _as_it_stands(table: Table, round_: Round) -> dict[int, int]:
    """Purse → what it got from a round, or would get; its stakes while there is no result."""
    if round_.settled is not None:
        return dict(enumerate(round_.settled.by_purse))
    return _after(table, round_, round_.result)


def _after(table: Table, round_: Round, outcome: Outcome | None) -> dict[int, int]:
    if outcome is None:
        return stakes_by_purse(table, round_)
    return dict(enumerate(settlement(table, round_, outcome).by_purse))

"""Reports that wait for a second person, who confirms them or contests them."""

from __future__ import annotations

from typing import Final

from taisai.game.checks import at_table, bad_text, listed, refused, two_people
from taisai.game.irregularities import consequences, messages, rulings
from taisai.game.irregularities.consequences import IrregularityCase
from taisai.game.irregularities.rulings import CONFIRMATION
from taisai.game.messages import Events
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds.round import Round
from taisai.game.table import Deciders, Effects, HeldReport, Table
from taisai.game.vocabulary import Hold
from taisai.rules.vocabulary import Irregularity, Phase, Visibility


def confirm(table: Table, command: messages.ConfirmReport) -> Events | Refusal:
    """A second person confirms a report; what the document orders follows."""
    report = _waiting(table, command)
    if isinstance(report, Refusal):
        return report
    case = case_of(table, report, at=command.at, second=command.by)
    follows = () if _has_followed(case) else consequences.consequences(table, case)
    if isinstance(follows, Refusal):
        return follows
    confirmed = messages.ReportConfirmed(at=command.at, by=command.by, clause=CONFIRMATION, report=report.id)
    return (confirmed, *follows)


def _has_followed(case: IrregularityCase) -> bool:
    """Whether the result was put right, as the report asks, while it waited."""
    result = case.round.result if case.round is not None else None
    if case.event is not Irregularity.WRONG_RESULT or result is None:
        return False
    return tuple(result.faces) == tuple(sorted(case.faces))


def contest(table: Table, command: messages.ContestReport) -> Events | Refusal:
    """A second person contests a report; the rank that decides unforeseen cases decides on it."""
    report = _waiting(table, command)
    if isinstance(report, Refusal):
        return report
    if bad := bad_text("a reason", command.reason, least=1):
        return bad
    at, by = command.at, command.by
    contested = messages.ReportContested(
        at=at, by=by, clause=CONFIRMATION, report=report.id, reason=command.reason
    )
    ruled = table.irregularities.ruling_for(Irregularity.OTHER, table.phase, table.settings)
    holds = table.round is not None and report.round == table.round.number
    follows = consequences.referred(
        table, at, by, ruled.clause, subject=report.irregularity, number=report.round,
        to=ruled.to or table.ranks.second, holds=holds, detail=f"{report.id} contested: {command.reason}",
    )  # fmt: skip
    return (contested, *follows)


def _waiting(table: Table, command: messages.ConfirmReport | messages.ContestReport) -> HeldReport | Refusal:
    """The report that waits, if this person may be the second one."""
    if absent := at_table(table, command.by):
        return absent
    report = table.reports.get(command.report)
    if report is None:
        message = f"no report {command.report!r} waits; waiting: {listed(table.reports)}"
        return refused(Reason.BAD_VALUE, CONFIRMATION, message)
    return two_people(table, report.by, command.by, clause=CONFIRMATION) or report


def case_of(table: Table, report: HeldReport, *, at: int, second: str) -> IrregularityCase:
    """The irregularity as it is ruled if a second person confirms the report now."""
    round_ = table.round
    if report.round is not None and (round_ is None or round_.number != report.round):
        round_ = table.past(report.round)
    phase = round_.phase if round_ is not None else Phase.BETWEEN
    is_hidden = round_ is table.round and phase.visibility is not Visibility.SHOWN
    seen = report.seen or (is_hidden and round_ is not None and round_.seen)
    case = IrregularityCase(
        at, report.by, report.irregularity, round_, phase,
        table.irregularities.ruling_for(report.irregularity, phase, table.settings), seen,
        report.through, report.faces, report.item, report.detail, second,
    )  # fmt: skip
    return rulings.judged(table, case)


def on_held(table: Table, event: messages.ReportHeld) -> None:
    """A report waits, and so does the ruling that was recorded with it."""
    table.reports_held += 1
    table.reports[event.report] = HeldReport(
        event.report, event.by, event.irregularity, event.round, event.through, event.seen, event.faces,
        event.item, event.detail, event.clause,
    )  # fmt: skip
    if event.round is not None:
        reported = table.to_change(event.round).irregularities
        reported[-1] = reported[-1]._replace(waits=event.report)
    if table.round is not None and _is_about(table.reports[event.report], table.round.number):
        table.holds[Hold.CONFIRMATION] = event.clause


def _ends(table: Table, report: str) -> None:
    """A report waits no longer, and neither does its round, unless another report waits too."""
    del table.reports[report]
    number = table.round.number if table.round else None
    if number is None or not any(_is_about(other, number) for other in table.reports.values()):
        table.holds.pop(Hold.CONFIRMATION, None)


def _is_about(report: HeldReport, number: int) -> bool:
    return report.round is not None and report.round <= number <= (report.through or report.round)


def _waiting_for(table: Table, report: str) -> tuple[Round | None, int]:
    """The round that a held report is about, and the place of the report in it."""
    number = table.reports[report].round
    if number is None:
        return None, -1
    round_ = table.to_change(number)
    place = next(n for n, reported in enumerate(round_.irregularities) if reported.waits == report)
    return round_, place


def on_confirmed(table: Table, event: messages.ReportConfirmed) -> None:
    """A report is in force from now on."""
    confirmed = table.reports[event.report]
    round_, place = _waiting_for(table, event.report)
    if round_ is not None:
        round_.irregularities[place] = round_.irregularities[place]._replace(waits=None)
    _ends(table, event.report)
    if confirmed.seen:  # that a die was seen no longer depends on the other reports of the round
        for report in table.reports.values():
            if report.round == confirmed.round:
                table.reports[report.id] = report._replace(seen=False)


def on_contested(table: Table, event: messages.ReportContested) -> None:
    """A report ends; that a die was seen is no fact by it, unless another report of the round says so."""
    contested, current = table.reports[event.report], table.round
    round_, place = _waiting_for(table, event.report)
    if round_ is not None:
        del round_.irregularities[place]
    _ends(table, event.report)
    if contested.seen and current is not None and current.number == contested.round:
        current.seen = any(report.seen for report in table.reports.values() if report.round == current.number)


DECIDERS: Final[Deciders] = {messages.ConfirmReport: confirm, messages.ContestReport: contest}

EFFECTS: Final[Effects] = {
    messages.ReportHeld: on_held,
    messages.ReportConfirmed: on_confirmed,
    messages.ReportContested: on_contested,
}

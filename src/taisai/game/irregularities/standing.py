"""What stands in a round when another irregularity is reported, and which of the two prevails."""

from __future__ import annotations

from collections.abc import Iterator

from taisai.game.rounds.round import ReportedIrregularity, Round
from taisai.game.table import Table
from taisai.game.vocabulary import Hold
from taisai.rules.irregularities import VOIDS, Ruling, RulingCell
from taisai.rules.pairs import PairCell, Prevails, RuledEvent
from taisai.rules.vocabulary import Irregularity


def pair_of(table: Table, round_: Round | None, second: RuledEvent) -> PairCell | None:
    """How an irregularity meets what stands in its round; None if nothing stands."""
    pairs = table.irregularities.pairs
    if pairs is None or round_ is None:
        return None
    cells = [pairs.meet(first, second) for first in _standing(table, round_)]
    for prevails in (Prevails.TOGETHER, Prevails.FIRST):
        decided = next((cell for cell in cells if cell.prevails is prevails), None)
        if decided is not None:
            return decided
    return cells[-1] if cells else None


def _standing(table: Table, round_: Round) -> Iterator[RuledEvent]:
    """The irregularities of a round whose rulings are in force, in the order of their reports."""
    reports = [report for report in round_.irregularities if _in_force(table, round_, report)]
    for report in reports:
        cell = RulingCell(report.ruling, report.clause, report.to)
        yield RuledEvent(report.event, report.phase, cell, report.item, report.seen)
    if round_.voided and not any(report.ruling in VOIDS for report in reports):
        # A stop or a decision has voided it.
        yield RuledEvent(
            None, round_.voided_in or round_.phase, RulingCell(Ruling.VOID, table.irregularities.void)
        )


def _in_force(table: Table, round_: Round, report: ReportedIrregularity) -> bool:
    """Whether a ruling holds; a No Roll is forgotten at the next shake, a failed device when repaired."""
    if report.waits is not None:
        return False  # a second person has not confirmed it
    if report.ruling in VOIDS:
        return round_.voided
    if report.ruling is Ruling.WITHDRAW_OPTION:
        return round_ is table.round and Hold.WITHDRAWAL in table.holds
    if report.ruling is Ruling.REFER and report.event is not Irregularity.EQUIPMENT_FAILURE:
        return any(
            referral.round == round_.number
            and referral.subject is report.event
            and referral.decided_by is None
            for referral in table.referrals.values()
        )
    return True

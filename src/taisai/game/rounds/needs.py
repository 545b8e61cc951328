"""Needs: what must be true before an act of the round, as far as it lies with the equipment."""

from __future__ import annotations

from taisai.game.checks import refused
from taisai.game.commands import Perform
from taisai.game.refusals import Reason, Refusal
from taisai.game.table import Table
from taisai.rules.clauses import Clause
from taisai.rules.equipment import InspectedBefore
from taisai.rules.procedure import StepNeed
from taisai.rules.vocabulary import Act, Need


def met(table: Table, command: Perform, need: Need) -> bool:
    """Whether it is so, with what the act itself brings."""
    settings, equipment = table.settings, table.equipment
    match need:
        case Need.TABLE_INSPECTED:
            return not equipment.due(InspectedBefore.OPENING, settings)
        case Need.SHIFT_INSPECTED:
            return not equipment.due(InspectedBefore.SHIFT, settings)
        case Need.DICE_WITHIN_LIFE:
            return equipment.outlived(max(command.at, table.latest), settings) is None
        case Need.SHOE_CAN_COMPLETE:
            return table.shoe.unready(settings) is None
        case Need.ENOUGH_TUMBLES:
            tumbled = table.round.tumbles if table.round else 0
            tumbled += command.tumbles if command.act is Act.TUMBLE else 0
            return tumbled >= equipment.least_tumbles(settings)
        case Need.DICE_FLAT:
            return command.flat


def unmet(table: Table, command: Perform, need: StepNeed) -> Refusal:
    """The refusal of an act whose need is not met: what it needs, by which clause."""
    settings, equipment = table.settings, table.equipment
    clause, expected, got = need.clause, str(need.need), "it is not so"
    if need.need in (Need.TABLE_INSPECTED, Need.SHIFT_INSPECTED):
        before = InspectedBefore.OPENING if need.need is Need.TABLE_INSPECTED else InspectedBefore.SHIFT
        item, inspection = equipment.due(before, settings)[0]
        clause = inspection.clause
        expected, got = f"{item.id} inspected by the {inspection.by} before {before}", "no such inspection"
    elif need.need is Need.DICE_WITHIN_LIFE:
        outlived = equipment.outlived(max(command.at, table.latest), settings)
        assert outlived is not None
        expected = f"{outlived.id} on the table for at most {outlived.hours_on_table} hours"
        got = "longer" if outlived.id in equipment.placed else "none on the table"
    elif need.need is Need.SHOE_CAN_COMPLETE:
        expected, got = str(table.shoe.unready(settings)), f"{table.shoe.left} cards left"
        clause = need.clause if table.shoe.short and table.shoe.decks else Clause("house:shoe")
    elif need.need is Need.ENOUGH_TUMBLES:
        least, done = equipment.least_tumbles(settings), table.round.tumbles if table.round else 0
        expected, got = f"at least {least} tumbles", str(done)
    return refused(Reason.UNMET_NEED, clause, expected, got)

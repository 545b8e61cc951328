"""Where a rulebook says one thing in two places, the places must agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taisai.rules.chance import ChanceKind
from taisai.rules.equipment import InspectedBefore
from taisai.rules.limits import LimitPolicy
from taisai.rules.round import Irregularity, Need

if TYPE_CHECKING:
    from taisai.rules.book import Rulebook
    from taisai.rules.reading import Section


def check_agreement(book: Rulebook, section: Section) -> None:
    """Refuses limits that the irregularities contradict, and needs that no equipment can meet."""
    _limits(book, section)
    _needs(book, section)


def _limits(book: Rulebook, section: Section) -> None:
    limits = book.limits
    opened = next((phase for phase in book.irregularities.phases if phase.bets_open), None)
    if opened is None:
        raise section.table("procedure").refused("phase", "a phase in which bets are open", "none")
    for event, policy, clause, key in (
        (Irregularity.UNDER_MINIMUM, limits.under_minimum, limits.under_clause, "under_minimum"),
        (Irregularity.OVER_MAXIMUM, limits.over_maximum, limits.over_clause, "over_maximum"),
    ):
        cell = book.irregularities.cells[event, opened]
        if (str(cell.ruling), cell.clause) != (str(policy), clause):
            expected = f"what the irregularities rule on {event}, {cell.ruling} by {cell.clause}"
            raise section.table("limits").refused(key, expected, f"{LimitPolicy(policy)} by {clause}")


def _needs(book: Rulebook, section: Section) -> None:
    inspected = {inspection.before for item in book.equipment for inspection in item.inspections}
    met = {
        Need.TABLE_INSPECTED: InspectedBefore.OPENING in inspected,
        Need.SHIFT_INSPECTED: InspectedBefore.SHIFT in inspected,
        Need.DICE_WITHIN_LIFE: any(item.hours_on_table for item in book.equipment),
        Need.ENOUGH_TUMBLES: any(item.least_tumbles for item in book.equipment),
        Need.SHOE_CAN_COMPLETE: book.chance_rule.kind is ChanceKind.CARDS,
        Need.DICE_FLAT: book.chance_rule.kind is ChanceKind.DICE,
    }
    entries = section.table("procedure").tables("step")
    for entry, step in zip(entries, book.procedure.steps, strict=True):
        for need in step.needs:
            if not met[need.need]:
                raise entry.refused(
                    "needs", "something among the equipment or the dice to meet it", repr(str(need.need))
                )

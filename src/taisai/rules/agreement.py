"""Where a rulebook says one thing in two places, the places must agree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from taisai.rules.chance import ChanceKind
from taisai.rules.equipment import InspectedBefore
from taisai.rules.limits import LimitPolicy
from taisai.rules.round import Irregularity, Need

if TYPE_CHECKING:
    from taisai.rules.book import Rulebook
    from taisai.rules.reading import Section


def check_agreement(book: Rulebook, section: Section) -> None:
    """Refuses limits that the irregularities contradict, needs that no equipment can meet, wrong figures."""
    _limits(book, section)
    _needs(book, section)
    _figures(book, section)


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


def _figures(book: Rulebook, section: Section) -> None:
    """What is printed on an area are its numbers, in any order, or the first and the last of them."""
    for entry, layout in zip(section.tables("layout"), book.layouts, strict=True):
        for cell in book.layout(layout).cells():
            if cell.area is None or cell.figures is None:
                continue
            numbers = sorted(book.areas[cell.area].numbers)
            printed = sorted(int(figure) for figure in re.findall(r"[0-9]+", cell.figures))
            is_range = numbers == list(range(numbers[0], numbers[-1] + 1)) and len(numbers) > 2
            if printed != numbers and not (is_range and printed == [numbers[0], numbers[-1]]):
                expected = f"figures of {cell.area!r}, {', '.join(map(str, numbers))}"
                raise entry.refused("block", expected, repr(cell.figures))

"""Checks across the parts of a rulebook: contradictions are errors, unusual rules are warnings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from taisai.rules.chance import Chance, ChanceKind
from taisai.rules.equipment import InspectedBefore, LimitPolicy
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import MIRRORED, OUTCOMES
from taisai.rules.vocabulary import Irregularity, Need

if TYPE_CHECKING:
    from taisai.rules.book import Rulebook
    from taisai.rules.toml_reader import Section


def cross_check(book: Rulebook, section: Section) -> None:
    """Raises an error if limits contradict irregularities, a need has no equipment, or figures differ."""
    _limits(book, section)
    _needs(book, section)
    _figures(book, section)


def _limits(book: Rulebook, section: Section) -> None:
    limits = book.limits
    opened = next((phase for phase in book.irregularities.phases if phase.bets_open), None)
    if opened is None:
        got = f"only {', '.join(book.irregularities.phases)}"
        raise section.table("procedure").error("phase", "a phase in which bets are open", got)
    for event, policy, clause, key in (
        (Irregularity.UNDER_MINIMUM, limits.under_minimum, limits.under_clause, "under_minimum"),
        (Irregularity.OVER_MAXIMUM, limits.over_maximum, limits.over_clause, "over_maximum"),
    ):
        cell = book.irregularities.cells[event, opened]
        if (str(cell.ruling), cell.clause) != (str(policy), clause):
            expected = f"{cell.ruling} by {cell.clause}, as in the irregularities for {event}"
            raise section.table("limits").error(key, expected, f"{LimitPolicy(policy)} by {clause}")


def _needs(book: Rulebook, section: Section) -> None:
    inspected = {inspection.before for item in book.equipment for inspection in item.inspections}
    met = {
        Need.TABLE_INSPECTED: InspectedBefore.OPENING in inspected,
        Need.SHIFT_INSPECTED: InspectedBefore.SHIFT in inspected,
        Need.DICE_WITHIN_LIFE: any(item.hours_on_table for item in book.equipment),
        Need.ENOUGH_TUMBLES: any(item.least_tumbles for item in book.equipment),
        Need.SHOE_CAN_COMPLETE: book.chance_rule.kind is ChanceKind.CARDS,
        Need.DICE_FLAT: book.chance_rule.kind is ChanceKind.DICE,
        Need.OUTCOME_OPEN: book.chance_rule.kind is ChanceKind.DICE,
    }
    entries = section.table("procedure").tables("step")
    for entry, step in zip(entries, book.procedure.steps, strict=True):
        for need in step.needs:
            if not met[need.need]:
                expected = "a need that the equipment or the dice can meet"
                raise entry.error("needs", expected, repr(str(need.need)))


def _figures(book: Rulebook, section: Section) -> None:
    """The printed figures of an area must be its numbers in any order, or the first and the last number."""
    for entry, layout in zip(section.tables("layout"), book.layouts, strict=True):
        for cell in book.layout(layout).cells():
            if cell.area is None or cell.figures is None:
                continue
            numbers = sorted(book.areas[cell.area].numbers)
            printed = sorted(int(figure) for figure in re.findall(r"[0-9]+", cell.figures))
            is_range = numbers == list(range(numbers[0], numbers[-1] + 1)) and len(numbers) > 2
            if printed != numbers and not (is_range and printed == [numbers[0], numbers[-1]]):
                expected = f"the numbers of {cell.area!r}, {', '.join(map(str, numbers))}"
                raise entry.error("block", expected, repr(cell.figures))


def pay_warnings(matrix: Matrix, chances: tuple[Chance, ...]) -> Iterator[str]:
    """Areas with a house edge of 0 or less, and areas whose mirror image is not offered."""
    yield from _edges(matrix, chances)
    yield from _mirrors(matrix)


def _edges(matrix: Matrix, chances: tuple[Chance, ...]) -> Iterator[str]:
    for area, row in zip(matrix.areas, matrix.nets, strict=True):
        for chance in chances:
            edge = -chance.expected(row, matrix.denominator)
            if edge <= 0:
                where = f" with {chance.decks} decks" if chance.decks else ""
                yield f"layout {matrix.layout}, {area}: the house edge is {edge}{where}; it should be above 0"
                break


def _mirrors(matrix: Matrix) -> Iterator[str]:
    """Opposite faces of a die add up to seven; a layout that offers an area usually offers its mirror."""
    winning = {
        frozenset(place for win in ways for place in win.places): n for n, ways in enumerate(matrix.wins)
    }
    for places, row in winning.items():
        if frozenset(MIRRORED[place] for place in places) not in winning:
            where = f"layout {matrix.layout}, {matrix.areas[row]}"
            yield f"{where}: its mirror image {_mirrored(matrix, row)} is not offered"


def _mirrored(matrix: Matrix, row: int) -> str:
    numbers = matrix.labels[row].numbers
    totals = {OUTCOMES[place].total for win in matrix.wins[row] for place in win.places}
    if totals <= set(numbers):
        return "total " + " ".join(str(21 - number) for number in reversed(numbers))
    faces = [7 - number for number in numbers]
    return "".join(map(str, sorted(faces) if len(set(faces)) == len(faces) else faces))

"""The six winning conditions. A rule that needs another condition needs new code here."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from taisai.rules.outcomes import FACES, OUTCOMES


class Condition(StrEnum):
    """When an area with certain numbers wins."""

    TOTAL = "total"
    """The three faces add up to one of the numbers."""
    TOTAL_NOT_TRIPLE = "total-not-triple"
    """As `total`, but a triple does not win."""
    ANY_TRIPLE = "any-triple"
    """All three faces are equal; the area has no numbers."""
    SHOWS = "shows"
    """Each number shows at least as often as the area lists it."""
    EXACTLY = "exactly"
    """The number shows on exactly this many dice."""
    THREE_DIFFERENT = "three-different"
    """The three faces differ, and all are among the numbers."""


# Set algebra over outcome indexes: faster than testing each of the 56 outcomes.
OutcomeIndices = frozenset[int]
_EVERY: Final[OutcomeIndices] = frozenset(outcome.index for outcome in OUTCOMES)
_OF_TOTAL: Final = {t: frozenset(o.index for o in OUTCOMES if o.total == t) for t in range(3, 19)}
_SHOWING: Final = {
    face: tuple(frozenset(o.index for o in OUTCOMES if o.faces.count(face) >= times) for times in range(5))
    for face in FACES
}
"""[face][times] → outcomes where the face shows at least this often; none for four times."""
_TRIPLES: Final = frozenset(o.index for o in OUTCOMES if len(set(o.faces)) == 1)
_ALL_DIFFERENT: Final = frozenset(o.index for o in OUTCOMES if len(set(o.faces)) == 3)


def _shows(numbers: Sequence[int]) -> OutcomeIndices:
    won = _EVERY
    for face in set(numbers):
        won &= _SHOWING[face][numbers.count(face)]  # type: ignore[index]
    return won


def _total(numbers: Sequence[int]) -> OutcomeIndices:
    return frozenset().union(*(_OF_TOTAL[number] for number in numbers))


def _among(numbers: Sequence[int]) -> OutcomeIndices:
    return _EVERY.difference(*(_SHOWING[face][1] for face in FACES if face not in numbers))


def winning_places(condition: Condition, numbers: Sequence[int], dice: int | None = None) -> tuple[int, ...]:
    """The indexes of the outcomes that meet a condition. The condition must fit its numbers.

    >>> [str(OUTCOMES[place]) for place in winning_places(Condition.SHOWS, (1, 1, 3))]
    ['113']
    """
    return tuple(sorted(_places(condition, numbers, dice)))


def _places(condition: Condition, numbers: Sequence[int], dice: int | None) -> OutcomeIndices:
    match condition:
        case Condition.SHOWS:
            return _shows(numbers)
        case Condition.TOTAL:
            return _total(numbers)
        case Condition.TOTAL_NOT_TRIPLE:
            return _total(numbers) - _TRIPLES
        case Condition.ANY_TRIPLE:
            return _TRIPLES
        case Condition.EXACTLY:
            showing = _SHOWING[numbers[0]]  # type: ignore[index]
            return showing[dice or 0] - showing[(dice or 0) + 1]
        case Condition.THREE_DIFFERENT:
            return _ALL_DIFFERENT & _among(numbers)


_FACES_NEEDED: Final = {Condition.SHOWS: (1, 3), Condition.EXACTLY: (1, 3), Condition.THREE_DIFFERENT: (3, 6)}


def condition_fault(condition: Condition, numbers: Sequence[int], dice: int | None) -> tuple[str, str] | None:
    """What was expected and given if a condition does not fit its numbers, else None."""
    got = str(list(numbers))
    if condition is Condition.ANY_TRIPLE:
        return ("no numbers with 'any-triple'", got) if numbers else None
    if condition in _FACES_NEEDED:
        least, most = _FACES_NEEDED[condition]
        if not (least <= len(numbers) <= most and all(1 <= n <= 6 for n in numbers)):
            return f"{least} to {most} faces from 1 to 6 with '{condition}'", got
        if condition is Condition.EXACTLY and len(set(numbers)) != 1:
            return "one face with 'exactly'", got
    elif not numbers or not all(3 <= n <= 18 for n in numbers):
        return f"totals from 3 to 18 with '{condition}'", got
    is_met = winning_places(condition, numbers, dice)
    return None if is_met else ("a condition that at least one outcome meets", got)

"""The results of the last rounds of a table, updated when a round ends or is corrected."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from taisai.game import Table
from taisai.game.rounds.round import Round
from taisai.protocol.views import HistoryView, PastResult, RoadColumn
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import OUTCOMES

MOST: Final = 100
"""Rounds that a display has space for."""
TRIPLE: Final = "triple"
_SIZES: Final = frozenset({"small", "big"})
_PARITIES: Final = frozenset({"odd", "even"})
_ANY_TRIPLE: Final = "any-triple"
_NOTHING: Final = HistoryView()


class RoadMarks(NamedTuple):
    """The marks of an outcome on the two roads; None if the layout has no area for it."""

    size: str | None
    parity: str | None


@lru_cache(maxsize=64)
def marks_of(matrix: Matrix) -> tuple[RoadMarks, ...]:
    """The marks of the 56 outcomes, from the areas that win."""
    areas = frozenset(map(str, matrix.areas))
    return tuple(
        RoadMarks(_mark(won, areas, _SIZES), _mark(won, areas, _PARITIES))
        for won in (frozenset(map(str, matrix.illuminated(outcome))) for outcome in OUTCOMES)
    )


def _mark(won: frozenset[str], areas: frozenset[str], pair: frozenset[str]) -> str | None:
    if not pair <= areas:
        return None
    won_of_pair = won & pair
    if won_of_pair:
        return min(won_of_pair)
    return TRIPLE if _ANY_TRIPLE in won else None


class History:
    """The last rounds of a table that are over."""

    def __init__(self, most: int = MOST) -> None:
        self._rounds: deque[PastResult] = deque(maxlen=most)
        self._known = 0
        """The number of past rounds at the last update."""
        self._view: HistoryView | None = _NOTHING

    @classmethod
    def of(cls, table: Table, most: int = MOST) -> History:
        """The history of a table as it is now."""
        history = cls(most)
        history._known = max(0, len(table.rounds) - most)
        history._catch_up(table)
        return history

    def apply(self, event: object, table: Table) -> bool:
        """Updates after the table evolved by an event; returns whether the history changed."""
        if len(table.rounds) != self._known:
            self._catch_up(table)
            return True
        number = getattr(event, "round", None)
        first = self._rounds[0].number if self._rounds else 0
        if not isinstance(number, int) or not first <= number <= self._known or not first:
            return False
        result = past_result(table, table.rounds.glance(number))
        if result == self._rounds[number - first]:
            return False
        self._rounds[number - first] = result
        self._view = None
        return True

    def _catch_up(self, table: Table) -> None:
        for number in range(self._known + 1, len(table.rounds) + 1):
            self._rounds.append(past_result(table, table.rounds.glance(number)))
        self._known = len(table.rounds)
        self._view = None

    @property
    def last(self) -> PastResult | None:
        """The last round that is over."""
        return self._rounds[-1] if self._rounds else None

    def view(self) -> HistoryView:
        """The view of the last rounds."""
        if self._view is None:
            self._view = _history_view(self._rounds)
        return self._view


def past_result(table: Table, round_: Round) -> PastResult:
    """The result of a past round."""
    result = None if round_.voided else round_.result
    if result is None:
        return PastResult(number=round_.number, void=round_.voided)
    marks = marks_of(table.terms[table.layout].matrix)[result.index]
    a, b, c = result.faces
    return PastResult(
        number=round_.number, faces=(a, b, c), total=result.total, size=marks.size, parity=marks.parity
    )


def _history_view(rounds: Iterable[PastResult]) -> HistoryView:
    results = tuple(rounds)
    totals = [result.total for result in results if result.total is not None]
    return HistoryView(
        results=results,
        sizes=tuple(_road((result.size, result.number) for result in results)),
        parities=tuple(_road((result.parity, result.number) for result in results)),
        totals={total: totals.count(total) for total in range(3, 19)} if totals else {},
        counted=len(totals),
    )


def _road(marks: Iterable[tuple[str | None, int]]) -> Iterator[RoadColumn]:
    """Columns of equal marks; a round without a mark is skipped."""
    marked = ((mark, number) for mark, number in marks if mark is not None)
    for mark, column in groupby(marked, key=lambda pair: pair[0]):
        yield RoadColumn(mark=mark, rounds=tuple(number for _, number in column))

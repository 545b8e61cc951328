"""History: the last rounds of a table, kept as they end and as they are corrected."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from taisai.game import Table
from taisai.game.rounds.round import Round
from taisai.protocol.views import HistoryView, Run, Shown
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import OUTCOMES

MOST: Final = 100
"""Rounds that a board shows: more would not fit on one."""
TRIPLE: Final = "triple"
_SIZES: Final = frozenset({"small", "big"})
_PARITIES: Final = frozenset({"odd", "even"})
_ANY_TRIPLE: Final = "any-triple"
_NOTHING: Final = HistoryView()


class RoadMarks(NamedTuple):
    """How a road marks an outcome; None where the layout has no area for it."""

    size: str | None
    parity: str | None


@lru_cache(maxsize=64)
def marks_of(matrix: Matrix) -> tuple[RoadMarks, ...]:
    """The marks of the 56 outcomes, by what wins on them."""
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
    """The last rounds that are over."""

    def __init__(self, most: int = MOST) -> None:
        """Of a table that has played none."""
        self._rounds: deque[Shown] = deque(maxlen=most)
        self._known = 0
        """Rounds that were over when it was last looked."""
        self._view: HistoryView | None = _NOTHING

    @classmethod
    def of(cls, table: Table, most: int = MOST) -> History:
        """Of a table as it stands."""
        made = cls(most)
        made._known = max(0, len(table.rounds) - most)
        made._catch_up(table)
        return made

    def apply(self, event: object, table: Table) -> bool:
        """What an event changed, once the table has evolved by it; says whether something did."""
        if len(table.rounds) != self._known:
            self._catch_up(table)
            return True
        number = getattr(event, "round", None)
        first = self._rounds[0].number if self._rounds else 0
        if not isinstance(number, int) or not first <= number <= self._known or not first:
            return False
        shown = shown_of(table, table.rounds.glance(number))
        if shown == self._rounds[number - first]:
            return False
        self._rounds[number - first] = shown
        self._view = None
        return True

    def _catch_up(self, table: Table) -> None:
        for number in range(self._known + 1, len(table.rounds) + 1):
            self._rounds.append(shown_of(table, table.rounds.glance(number)))
        self._known = len(table.rounds)
        self._view = None

    @property
    def last(self) -> Shown | None:
        """The last round that is over."""
        return self._rounds[-1] if self._rounds else None

    def view(self) -> HistoryView:
        """As a board shows it."""
        if self._view is None:
            self._view = _viewed(self._rounds)
        return self._view


def shown_of(table: Table, round_: Round) -> Shown:
    """A round as a line of the board."""
    result = None if round_.voided else round_.result
    if result is None:
        return Shown(number=round_.number, void=round_.voided)
    marks = marks_of(table.terms[table.layout].matrix)[result.index]
    a, b, c = result.faces
    return Shown(
        number=round_.number, faces=(a, b, c), total=result.total, size=marks.size, parity=marks.parity
    )


def _viewed(rounds: Iterable[Shown]) -> HistoryView:
    results = tuple(rounds)
    totals = [one.total for one in results if one.total is not None]
    return HistoryView(
        results=results,
        sizes=tuple(_road((one.size, one.number) for one in results)),
        parities=tuple(_road((one.parity, one.number) for one in results)),
        totals={total: totals.count(total) for total in range(3, 19)} if totals else {},
        counted=len(totals),
    )


def _road(marks: Iterable[tuple[str | None, int]]) -> Iterator[Run]:
    """Runs of one mark; a round without a mark is left out and ends no run."""
    marked = ((mark, number) for mark, number in marks if mark is not None)
    for mark, run in groupby(marked, key=lambda one: one[0]):
        yield Run(mark=mark, rounds=tuple(number for _, number in run))

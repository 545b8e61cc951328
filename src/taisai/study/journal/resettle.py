"""An export of bets, in columns, settled anew and balanced: every bet, whatever their number."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from taisai.rules.matrix import Matrix
from taisai.study.missing import needed
from taisai.study.report import Report, Sheet, Told, columns, counted

if TYPE_CHECKING:
    from taisai.study.journal.columnar import Checked, ColumnFile, Wrong

MOST_SHOWN: Final = 20


class TableSums(NamedTuple):
    """What the bets of one table come to."""

    table: str
    bets: int
    staked: int
    returned: int
    due: int


@dataclass(frozen=True)
class Resettled(Told):
    """Every bet of an export checked."""

    source: str
    bets: int
    """All rows, those of rounds in hand as well."""
    still_open: int
    """Those of rounds in hand, which there is nothing to settle of yet."""
    faults: int
    told: tuple[Wrong, ...]
    tables: tuple[TableSums, ...]

    @property
    def is_right(self) -> bool:
        """Whether every bet got what was due, and so every sum balances."""
        return not self.faults and all(one.returned == one.due for one in self.tables)

    def report(self) -> Report:
        """Sums by table, then the faults."""
        numbers = ("bets", "staked", "returned", "house", "due to players", "out by")
        in_hand = f", {self.still_open:,} still open" if self.still_open else ""
        sums = Sheet(
            f"{self.source}: {counted(self.bets - self.still_open, 'bet')} settled anew{in_hand}",
            columns("table", *numbers, numbers=numbers),
            tuple(map(_sums_told, self.tables)),
        )
        if self.is_right:
            return Report((sums,), ("Every bet got what its pay table gives, and every sum balances.",))
        faults = Sheet(
            "At fault",
            columns("row", "table", "area", "dice", "state", "stake", "won", "returned",
                    numbers=("row", "stake", "won", "returned")),
            tuple(
                (f"{one.row:,}", one.table, one.area, one.faces, one.state, *(f"{x:,}" for x in one[5:]))
                for one in self.told[:MOST_SHOWN]
            ),
        )  # fmt: skip
        return Report((sums, faults), (f"{counted(self.faults, 'bet')} did not get what was due.",))

    def facts(self) -> dict[str, Any]:
        """For machines."""
        return {
            "source": self.source,
            "bets": self.bets,
            "open": self.still_open,
            "faults": self.faults,
            "first_faults": [one._asdict() for one in self.told],
            "tables": [one._asdict() for one in self.tables],
            "right": self.is_right,
        }


def resettle(
    file: str, pay_tables: Mapping[str, Matrix], advance: Callable[[int], None] = lambda _done: None
) -> Resettled:
    """Settles every bet of a Parquet export anew, by the pay tables known by their digests."""
    with needed("NumPy and PyArrow", "study"):
        from taisai.study.journal.columnar import MOST_TOLD, ColumnFile
    source = ColumnFile(file, pay_tables)
    bets = still_open = faults = 0
    told: list[Wrong] = []
    sums: dict[str, list[int]] = {}
    for part in chain.from_iterable(_in_order(source)):
        bets += part.bets
        still_open += part.still_open
        faults += part.faults
        told += part.told[: MOST_TOLD - len(told)]
        for table, more in part.sums:
            sums[table] = [one + other for one, other in zip(sums.get(table, [0] * 4), more, strict=True)]
        advance(part.bets)
    tables = tuple(TableSums(table, *found) for table, found in sums.items() if found[0])
    return Resettled(file, bets, still_open, faults, tuple(told), tables)


def _in_order(source: ColumnFile) -> Iterator[list[Checked]]:
    """What the pieces come to, in their order; as many in hand as there are processors, and one more."""
    workers = os.cpu_count() or 1
    pieces = source.pieces()
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[list[Checked]]] = deque(
            pool.submit(source.checked, one) for one in islice(pieces, workers + 1)
        )
        try:
            while waiting:
                yield waiting.popleft().result()
                waiting.extend(pool.submit(source.checked, one) for one in islice(pieces, 1))
        finally:
            for one in waiting:
                one.cancel()


def _sums_told(one: TableSums) -> tuple[str, ...]:
    figures = (one.bets, one.staked, one.returned, one.staked - one.returned, one.due)
    out = f"{one.returned - one.due:+,}" if one.returned != one.due else "0"
    return (one.table, *(f"{figure:,}" for figure in figures), out)

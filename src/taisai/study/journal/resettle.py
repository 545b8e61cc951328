"""Settles every bet of a Parquet export again, in columns, and balances the sums of each table."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice, permutations
from pathlib import Path
from threading import local
from typing import Any, Final, NamedTuple

from taisai.rules.errors import RulesError, printable
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import OUTCOMES
from taisai.study import needed
from taisai.study.report import Describable, Sheet, StudyReport, columns, counted

with needed("NumPy and PyArrow", "study"):
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    from pyarrow import parquet

    from taisai.bulk import resettling
    from taisai.bulk.entry import BulkError
    from taisai.bulk.resettling import NO_STATE, OPEN, RETURNED, SETTLED, Columns, Lookups, PayRows, Places

CODED: Final = ("pay_table", "area", "faces", "state", "table")
FIGURES: Final = ("stake", "kept_out", "won", "returned")
FLAG: Final = "voided"
READ: Final = (*CODED, *FIGURES, FLAG)
STATES: Final = {
    "settled": (SETTLED, NO_STATE, NO_STATE),
    "void": (NO_STATE, RETURNED, NO_STATE),
    "back": (RETURNED, RETURNED, NO_STATE),
    "open": (OPEN, NO_STATE, NO_STATE),
}
"""Word of the column `state` → what it means if the round is not void, is void, or the flag is empty."""
SPELT: Final = {" ".join(map(str, faces)): one.index for one in OUTCOMES for faces in permutations(one.faces)}
"""Three faces in any order, as an export writes them → the index of the outcome."""
AT_ONCE: Final = 1 << 17  # bets that a thread reads at once: a few megabytes
MOST_TOLD: Final = 1_000  # faults that are listed; all are counted

Whole = npt.NDArray[np.int64]


class Piece(NamedTuple):
    """Row groups of the file, their number of rows, and the number of rows before them."""

    groups: tuple[int, ...]
    rows: int
    before: int


class Wrong(NamedTuple):
    """A bet that did not get what was due, as the file states it."""

    row: int
    """The row in the file, from 1."""
    table: str
    area: str
    faces: str
    state: str
    stake: int
    won: int
    returned: int


class ResettlementCheck(NamedTuple):
    """The check of some bets."""

    bets: int
    still_open: int
    sums: list[tuple[str, tuple[int, ...]]]
    """Table → settled bets, staked, returned, due. A table may come twice."""
    faults: int
    told: list[Wrong]  # the first of them


class Coded(NamedTuple):
    """A column of words as codes, and the words; None for an empty cell."""

    codes: resettling.Codes
    words: list[str | None]

    def at(self, row: int) -> str | None:
        word: str | None = self.words[int(self.codes[row])]
        return word


class ColumnFile:
    """A Parquet file of bets, and their pay tables; any thread may check any piece."""

    def __init__(self, path: str, pay_tables: Mapping[str, Matrix]) -> None:
        self._path = path
        self._pay = PayRows.of(tuple(pay_tables.values()))
        self._rows = {
            digest: {str(area): first + row for area, row in matrix.rows.items()}
            for (digest, matrix), first in zip(pay_tables.items(), self._pay.first, strict=True)
        }
        self._opened = local()
        self._expect_columns()

    @property
    def bets(self) -> int:
        return int(self._file.metadata.num_rows)

    def pieces(self) -> Iterator[Piece]:
        """The file in pieces of whole row groups, each of about AT_ONCE bets."""
        groups: list[int] = []
        before = rows = 0
        for group in range(self._file.metadata.num_row_groups):
            more = self._file.metadata.row_group(group).num_rows
            if groups and rows + more > AT_ONCE:
                yield Piece(tuple(groups), rows, before)
                before, rows, groups = before + rows, 0, []
            groups.append(group)
            rows += more
        if groups:
            yield Piece(tuple(groups), rows, before)

    def checked(self, piece: Piece) -> list[ResettlementCheck]:
        """Settles every bet of a piece again, in batches: a row group may have any size."""
        found: list[ResettlementCheck] = []
        before = piece.before
        try:
            how: dict[str, Any] = {"columns": list(READ), "use_threads": False}
            for some in self._file.iter_batches(AT_ONCE, row_groups=piece.groups, **how):
                found.append(self._resettled(some, before))
                before += some.num_rows
        except (OSError, pa.ArrowException) as error:
            raise RulesError(f"cannot read the row groups: {error} ({printable(self._path)})") from None
        return found

    def _resettled(self, some: pa.RecordBatch, before: int) -> ResettlementCheck:
        coded = {name: _coded(some.column(name)) for name in CODED}
        figures = {name: self._figures(some, name) for name in FIGURES}
        codes, tables = [one.codes for one in coded.values()], coded["table"].words
        columns = Columns._make([*codes[:-1], _flags(some.column(FLAG)), codes[-1], *figures.values()])
        lookups = self._lookups(coded)
        try:
            sums, wrong = resettling.resettled(columns, lookups, self._pay, max(1, len(tables)))
        except BulkError as error:  # a code beyond its dictionary: PyArrow does not check
            raise RulesError(f"{error} ({printable(self._path)})") from None
        by_table = zip(*(one.tolist() for one in sums), strict=True)
        named = [(str(table or "(none)"), of) for table, of in zip(tables, by_table, strict=False)]
        told = list(_told(coded, figures, wrong[:MOST_TOLD], before))
        return ResettlementCheck(some.num_rows, _still_open(columns, lookups, wrong), named, len(wrong), told)

    def _figures(self, some: pa.RecordBatch, name: str) -> Whole:
        try:
            array = some.column(name).cast(pa.int64())  # first: NO_MONEY may not fit the column's type
        except pa.ArrowInvalid as error:
            raise RulesError(
                f"expected whole numbers of 64 bits in column {name}, got {error} ({printable(self._path)})"
            ) from None
        if array.null_count:
            array = array.fill_null(resettling.NO_MONEY)
        found: Whole = array.to_numpy(zero_copy_only=False)
        return found

    def _lookups(self, coded: Mapping[str, Coded]) -> Lookups:
        pay_tables, areas = coded["pay_table"].words, coded["area"].words
        if unknown := [str(one) for one in pay_tables if one not in self._rows]:
            raise RulesError(
                f"unknown pay tables {', '.join(map(printable, unknown[:3]))}; give the rulebook with "
                f"--book, and its --set and --offer ({printable(self._path)})"
            )
        known = [self._rows[str(digest)] for digest in pay_tables]
        rows = [[rows_of.get(str(area), resettling.NO_ROW) for area in areas] for rows_of in known]
        outcomes = [SPELT.get(str(one), resettling.NO_OUTCOME) for one in coded["faces"].words]
        states = [STATES.get(str(one), (NO_STATE,) * 3) for one in coded["state"].words]
        return Lookups(
            np.array(rows, dtype=np.uint32).reshape(len(pay_tables), len(areas)),
            np.array(outcomes, dtype=np.uint32),
            np.array(states, dtype=np.uint32).reshape(-1, 3),
        )

    def _expect_columns(self) -> None:
        schema = self._read(parquet.read_schema, memory_map=True)
        if twice := [name for name in READ if schema.names.count(name) > 1]:
            raise RulesError(f"columns occur twice: {', '.join(twice)} ({printable(self._path)})")
        kinds = {field.name: field.type for field in schema}
        fits = [name for name in CODED if name in kinds and _is_text(kinds[name])]
        fits += [name for name in FIGURES if name in kinds and pa.types.is_integer(kinds[name])]
        fits += [FLAG] if FLAG in kinds and pa.types.is_boolean(kinds[FLAG]) else []
        if missing := [name for name in READ if name not in fits]:
            raise RulesError(
                f"missing columns {', '.join(missing)}: expected a file of "
                f"`taisai audit export --format parquet --of bets` ({printable(self._path)})"
            )

    @property
    def _file(self) -> parquet.ParquetFile:
        """The reader of this thread: a reader is not thread-safe."""
        if not hasattr(self._opened, "file"):
            self._opened.file = self._read(
                parquet.ParquetFile, memory_map=True, read_dictionary=list(CODED), pre_buffer=False
            )
        return self._opened.file

    def _read(self, reader: Callable[..., Any], **how: Any) -> Any:
        try:
            if not Path(self._path).is_file():
                raise FileNotFoundError(2, "no such file")
            return reader(self._path, **how)
        except (OSError, pa.ArrowException) as error:
            why = getattr(error, "strerror", None) or "it is not a Parquet file"
            raise RulesError(f"cannot read the Parquet file {printable(repr(self._path))}: {why}") from None


def _is_text(kind: pa.DataType) -> bool:
    within = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(within) or pa.types.is_large_string(within))


def _coded(array: pa.DictionaryArray) -> Coded:
    words, codes = array.dictionary.to_numpy(zero_copy_only=False).tolist(), array.indices
    if array.null_count:
        codes = codes.fill_null(len(words))
        words.append(None)
    places = codes.to_numpy(zero_copy_only=False).astype(np.int32, copy=False).view(np.uint32)
    return Coded(places, words)


def _flags(array: pa.BooleanArray) -> resettling.Flags:
    if array.null_count:
        known = array.cast(pa.uint8()).fill_null(resettling.UNTOLD)
        told: resettling.Flags = known.to_numpy(zero_copy_only=False)
        return told
    first, start = divmod(array.offset, 8)
    if not len(array):
        return np.empty(0, np.uint8)
    packed = np.frombuffer(array.buffers()[1], dtype=np.uint8, offset=first)
    return np.unpackbits(packed, count=start + len(array), bitorder="little")[start:]


def _still_open(columns: Columns, lookups: Lookups, wrong: Places) -> int:
    """The number of open bets without a fault; most files have no open bets."""
    if OPEN not in lookups.states:
        return 0
    is_open = lookups.states[columns.states, columns.voided] == OPEN
    is_open[wrong] = False
    return int(np.count_nonzero(is_open))


def _told(
    coded: Mapping[str, Coded], figures: Mapping[str, Whole], places: Places, before: int
) -> Iterator[Wrong]:
    for at in places.tolist():
        words = [str(coded[name].at(at) or "") for name in ("table", "area", "faces", "state")]
        sums = [int(figures[name][at]) for name in ("stake", "won", "returned")]
        yield Wrong._make([before + at + 1, *words, *sums])


MOST_SHOWN: Final = 20


class TableSums(NamedTuple):
    """The sums of the bets of one table."""

    table: str
    bets: int
    staked: int
    returned: int
    due: int

    def texts(self) -> tuple[str, ...]:
        figures = (self.bets, self.staked, self.returned, self.staked - self.returned, self.due)
        out = f"{self.returned - self.due:+,}" if self.returned != self.due else "0"
        return (self.table, *(f"{figure:,}" for figure in figures), out)


@dataclass(frozen=True)
class Resettled(Describable):
    """The check of all bets of an export."""

    source: str
    bets: int
    """All rows, with the bets of rounds in play."""
    still_open: int
    """Bets of rounds in play, which are not settled."""
    faults: int
    told: tuple[Wrong, ...]
    tables: tuple[TableSums, ...]

    @property
    def is_right(self) -> bool:
        """Whether every bet got what was due."""
        return not self.faults and all(one.returned == one.due for one in self.tables)

    def report(self) -> StudyReport:
        in_hand = f", {self.still_open:,} still open" if self.still_open else ""
        sums = Sheet(
            f"{self.source}: {counted(self.bets - self.still_open, 'bet')} settled again{in_hand}",
            columns("table", numbers=("bets", "staked", "returned", "house", "due to players", "difference")),
            tuple(table.texts() for table in self.tables),
        )
        if self.is_right:
            return StudyReport((sums,), ("Every bet got what its pay table gives, and every sum balances.",))
        faults = Sheet(
            "At fault",
            columns("row", "table", "area", "dice", "state", "stake", "won", "returned",
                    numbers=("row", "stake", "won", "returned")),
            tuple(
                (f"{one.row:,}", one.table, one.area, one.faces, one.state, *(f"{x:,}" for x in one[5:]))
                for one in self.told[:MOST_SHOWN]
            ),
        )  # fmt: skip
        return StudyReport((sums, faults), (f"{counted(self.faults, 'bet')} did not get what was due.",))

    def facts(self) -> dict[str, Any]:
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
    """Settles every bet of a Parquet export again, by pay tables with their digests."""
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


def _in_order(source: ColumnFile) -> Iterator[list[ResettlementCheck]]:
    """The checks of the pieces, in order; as many pieces at once as there are processors, and one more."""
    workers = os.cpu_count() or 1
    pieces = source.pieces()
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[list[ResettlementCheck]]] = deque(
            pool.submit(source.checked, one) for one in islice(pieces, workers + 1)
        )
        try:
            while waiting:
                yield waiting.popleft().result()
                waiting.extend(pool.submit(source.checked, one) for one in islice(pieces, 1))
        finally:
            for one in waiting:
                one.cancel()

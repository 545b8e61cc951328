"""Bets in the columns of a Parquet file: read in pieces, told by codes, settled anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import local
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

from taisai.bulk.resettling import UNKNOWN, Columns, Lookups, PayRows, resettled
from taisai.rules.errors import RulesError, printable
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import Outcome

CODED: Final = ("pay_table", "area", "faces", "state", "table")
FIGURES: Final = ("stake", "kept_out", "won", "returned")
STATES: Final = {"settled": 0, "void": 1, "back": 1, "open": 2}
AT_ONCE: Final = 1 << 18
"""Bets in hand of one thread: some megabytes."""

NO_MONEY: Final = -1
"""Where a cell is empty: right for a bet that is still open, at fault for any other."""

Codes = npt.NDArray[np.int32]
Whole = npt.NDArray[np.int64]


class Piece(NamedTuple):
    """Some row groups of the file, how many rows they have, and how many come before them."""

    groups: tuple[int, ...]
    rows: int
    before: int


class Wrong(NamedTuple):
    """A bet that did not get what was due, as the file has it."""

    row: int
    """Its place in the file, counted from 1."""
    table: str
    area: str
    faces: str
    state: str
    stake: int
    won: int
    returned: int


class Checked(NamedTuple):
    """What a piece came to."""

    bets: int
    sums: dict[str, tuple[int, ...]]
    """By table: bets that count, staked, returned, due."""
    wrong: list[Wrong]


class Coded(NamedTuple):
    """A column of words as codes, and the words; None where a cell is empty."""

    codes: Codes
    words: list[str | None]

    def at(self, row: int) -> str | None:
        """The word in a row."""
        word: str | None = self.words[int(self.codes[row])]
        return word


class ColumnFile:
    """A Parquet file of bets and the pay tables to settle them by; any thread may check any piece."""

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
        """All rows."""
        return int(self._file.metadata.num_rows)

    def pieces(self) -> Iterator[Piece]:
        """The file cut between row groups, each piece of about as many bets as a thread takes in hand."""
        groups: list[int] = []
        before = rows = 0
        for group in range(self._file.metadata.num_row_groups):
            groups.append(group)
            rows += self._file.metadata.row_group(group).num_rows
            if rows >= AT_ONCE:
                yield Piece(tuple(groups), rows, before)
                before, rows, groups = before + rows, 0, []
        if groups:
            yield Piece(tuple(groups), rows, before)

    def checked(self, piece: Piece) -> Checked:
        """Every bet of a piece settled anew."""
        try:
            read = self._file.read_row_groups(piece.groups, columns=[*CODED, *FIGURES], use_threads=False)
        except (OSError, pa.ArrowException) as error:
            raise RulesError(f"expected row groups that can be read, got {error} ({self._path})") from None
        read = read.unify_dictionaries().combine_chunks()
        coded = {name: _coded(read.column(name)) for name in CODED}
        figures = {name: _figures(read.column(name)) for name in FIGURES}
        arrays = (*(coded[name].codes for name in CODED), *(figures[name] for name in FIGURES))
        columns = Columns._make(arrays)
        tables = coded["table"].words
        sums, wrong = resettled(columns, self._lookups(coded), self._pay, max(1, len(tables)))
        by_table = {
            str(table or "(none)"): tuple(int(one[at]) for one in sums) for at, table in enumerate(tables)
        }
        return Checked(piece.rows, by_table, list(_told(coded, figures, wrong, piece.before)))

    def _lookups(self, coded: Mapping[str, Coded]) -> Lookups:
        pay_tables, areas = coded["pay_table"].words, coded["area"].words
        if unknown := [str(one) for one in pay_tables if one not in self._rows]:
            raise RulesError(
                f"expected pay tables that are known, got {', '.join(map(printable, unknown[:3]))}; name the "
                f"rulebook with --book, and --set and --offer where they hold ({printable(self._path)})"
            )
        rows = [
            [self._rows.get(str(digest), {}).get(str(area), UNKNOWN) for area in areas]
            for digest in pay_tables
        ]
        outcomes = [_outcome(one) for one in coded["faces"].words]
        states = [STATES.get(str(one), UNKNOWN) for one in coded["state"].words]
        return Lookups(
            np.array(rows, dtype=np.int32).reshape(len(pay_tables), len(areas)),
            np.array(outcomes, dtype=np.int32),
            np.array(states, dtype=np.int32),
        )

    def _expect_columns(self) -> None:
        schema = self._read(parquet.read_schema, memory_map=True)
        kinds = {name: schema.field(name).type for name in schema.names}
        fits = [name for name in CODED if name in kinds and _is_text(kinds[name])]
        fits += [name for name in FIGURES if name in kinds and pa.types.is_integer(kinds[name])]
        if missing := [name for name in (*CODED, *FIGURES) if name not in fits]:
            raise RulesError(
                "expected the columns of `taisai audit export --format parquet --of bets`, got none like "
                f"{', '.join(missing)} ({printable(self._path)})"
            )

    @property
    def _file(self) -> parquet.ParquetFile:
        """One reader a thread: a reader is not made for several."""
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
            why = getattr(error, "strerror", None) or "it is none"
            raise RulesError(
                f"expected a Parquet file that can be read, got {printable(repr(self._path))}: {why}"
            ) from None


def _is_text(kind: pa.DataType) -> bool:
    within = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(within) or pa.types.is_large_string(within))


def _coded(column: pa.ChunkedArray) -> Coded:
    array = column.chunk(0) if column.num_chunks else pa.array([], pa.string()).dictionary_encode()
    words, codes = array.dictionary.to_pylist(), array.indices
    if array.null_count:
        codes = codes.fill_null(len(words))
        words.append(None)
    return Coded(codes.to_numpy(zero_copy_only=False).astype(np.int32, copy=False), words)


def _figures(column: pa.ChunkedArray) -> Whole:
    array = column.chunk(0) if column.num_chunks else pa.array([], pa.int64())
    if array.null_count:
        array = array.fill_null(NO_MONEY)
    found: Whole = array.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return found


def _outcome(faces: str | None) -> int:
    try:
        return Outcome.of(*map(int, (faces or "").split())).index
    except (ValueError, RulesError):
        return UNKNOWN


def _told(
    coded: Mapping[str, Coded], figures: Mapping[str, Whole], places: npt.NDArray[np.intp], before: int
) -> Iterator[Wrong]:
    for at in places.tolist():
        words = [str(coded[name].at(at) or "") for name in ("table", "area", "faces", "state")]
        sums = [int(figures[name][at]) for name in ("stake", "won", "returned")]
        yield Wrong._make([before + at + 1, *words, *sums])

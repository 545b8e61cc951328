"""Tables as files: CSV for spreadsheets, Parquet for data frames; a batch of rows in memory at a time."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, TYPE_CHECKING, Final, TypeVar

from taisai.audit.exports.columns import Cell, Column, Kind, Row
from taisai.journal.errors import JournalError

if TYPE_CHECKING:  # an extra, and slow to import
    import pyarrow as pa

T = TypeVar("T")

AT_ONCE: Final = 20_000
"""Rows in hand as they came."""
GROUP: Final = 6 * AT_ONCE
"""Rows of one group of a Parquet file: a reader turns to each anew, and many small ones take it longer."""
COMPRESSION: Final = "lz4"
"""A tenth larger than by zstd, and read in two thirds of the time."""
FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet take a text for a formula; a name may begin so, and would then be run."""


def write_csv(columns: Sequence[Column], rows: Iterable[Row], file: IO[bytes]) -> None:
    """The rows as CSV (RFC 4180, UTF-8) under a line of names; a text like a formula after an apostrophe."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
    try:
        written = csv.writer(text, lineterminator="\r\n")  # RFC 4180; also, both are then quoted in a cell
        written.writerow([column.name for column in columns])
        written.writerows(map(_guarded, rows))
    finally:
        text.detach()  # writes the rest out, and leaves the file to whoever opened it


def _guarded(row: Row) -> list[Cell]:
    return [_cell(value) for value in row]


def _cell(value: Cell) -> Cell:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULAS) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def write_parquet(columns: Sequence[Column], rows: Iterable[Row], file: IO[bytes]) -> None:
    """The rows as Parquet, compressed; whole numbers have 64 bits."""
    expect_parquet()
    import pyarrow as pa
    from pyarrow import parquet

    schema = parquet_schema(columns)
    with parquet.ParquetWriter(file, schema, compression=COMPRESSION) as writer:
        made = (_columnar(some, schema) for some in _batches(rows, AT_ONCE))
        for group in _batches(made, GROUP // AT_ONCE):
            writer.write_table(pa.concat_tables(group), row_group_size=GROUP)


def _columnar(some: list[Row], schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    try:
        return pa.table([list(cells) for cells in zip(*some, strict=True)], schema=schema)
    except (pa.ArrowInvalid, OverflowError) as error:
        raise JournalError(f"expected numbers of 64 bits, got greater ones: {error}") from None


def expect_parquet() -> None:
    """Refuses where the library that writes Parquet is not there."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        says = "expected pyarrow to write Parquet, got none: install it with `pip install 'taisai[parquet]'`"
        raise JournalError(says) from None


def parquet_schema(columns: Sequence[Column]) -> pa.Schema:
    """The columns of a file, as Parquet has them."""
    import pyarrow as pa

    kinds = {Kind.WHOLE: pa.int64(), Kind.TEXT: pa.string(), Kind.YES_OR_NO: pa.bool_()}
    fields = (pa.field(one.name, kinds[one.kind], nullable=not one.is_full) for one in columns)
    return pa.schema(fields)


def _batches(things: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(things)
    while some := list(islice(left, size)):
        yield some

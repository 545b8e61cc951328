"""Exports: a journal as lines of JSON, byte for byte what is signed, and tables as CSV or Parquet files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import IO, TYPE_CHECKING, Final, NamedTuple, TypeVar

from taisai.audit.sources import PROGRESS_EVERY, Body, End, Progress, Source, checkpoint_line, end_line
from taisai.journal.errors import DamagedError, JournalError
from taisai.journal.seals.merkle import Frontier, leaf_hash
from taisai.journal.stores.contract import StoredCheckpoint

if TYPE_CHECKING:  # an extra, and slow to import
    import pyarrow as pa

T = TypeVar("T")

# Lines of JSON


def lines(source: Source, progress: Progress | None = None) -> Iterator[bytes]:
    """Every line of an export: the entries, each checkpoint after its last entry, and the end."""
    tree = Frontier()
    for piece in source.pieces():
        if isinstance(piece, Body):
            tree.append(leaf_hash(piece.body))
            yield piece.body + b"\n"
            if progress and not tree.size % PROGRESS_EVERY:
                progress(source.done, source.total)
        elif isinstance(piece, StoredCheckpoint):
            yield checkpoint_line(piece.text) + b"\n"
        elif piece != End(tree.size, tree.root().hex()):
            got = f"{tree.size} with the root {tree.root().hex()[:16]}…"
            expected = f"{piece.size} entries with the root {piece.root[:16]}… before the end of the export"
            raise DamagedError(tree.size, f"expected {expected}, got {got}")
    yield end_line(tree.size, tree.root()) + b"\n"
    if progress:
        progress(source.total, source.total)


# Columns of tables

ExportCell = int | str | bool | None
ExportRow = tuple[ExportCell, ...]


class Kind(StrEnum):
    WHOLE = "integer"
    TEXT = "text"
    YES_OR_NO = "boolean"


class Column(NamedTuple):
    """A column of an exported table. Its name does not change between releases."""

    name: str
    kind: Kind
    says: str
    is_full: bool = False
    """Whether no cell is ever empty; readers are faster then."""


_WHOLE, _TEXT, _FLAG = Kind.WHOLE, Kind.TEXT, Kind.YES_OR_NO

EVENT_COLUMNS: Final = (
    Column("position", _WHOLE, "the entry's place in the journal"),
    Column("stream", _TEXT, "`journal`, `house`, or `table:` and the table's name"),
    Column("version", _WHOLE, "its place in its stream"),
    Column("at", _WHOLE, "when, in milliseconds since 1970"),
    Column("by", _TEXT, "who"),
    Column("clause", _TEXT, "by which clause of the table's rulebook, or `house:…`"),
    Column("command", _TEXT, "the kind of command that was decided, on the first entry of its decision"),
    Column("event", _TEXT, "the kind of event"),
    Column("round", _WHOLE, "the round that the event names; otherwise the current one"),
    Column("seat", _TEXT, "the seat that the event names"),
    Column("player", _TEXT, "the player's name, where a seat was taken"),
    Column("id", _TEXT, "the bet's id, or the rulebook's"),
    Column("means", _TEXT, "what a bet was made with"),
    Column("layout", _TEXT, "the layout"),
    Column("area", _TEXT, "the area"),
    Column("stake", _WHOLE, "the stake of a bet, as all money in the smallest unit of the table's currency"),
    Column("amount", _WHOLE, "money that was bought, dispensed, sent, received, paid in or out"),
    Column("faces", _TEXT, "what the dice or cards show, such as `2 3 5`"),
    Column("staked", _WHOLE, "of a settlement or a void round: all stakes"),
    Column("collected", _WHOLE, "of a settlement: losing stakes"),
    Column("won", _WHOLE, "of a settlement: what winners get above their stakes"),
    Column("stakes_back", _WHOLE, "of a settlement: stakes that came back"),
    Column("owed_to_players", _WHOLE, "of a correction: what became a claim of players"),
    Column("owed_by_players", _WHOLE, "of a correction: what became a claim on players"),
    Column("irregularity", _TEXT, "what went wrong"),
    Column("ruling", _TEXT, "what the rules order"),
    Column("referral", _TEXT, "the id of a referral"),
    Column("treatment", _TEXT, "what was decided on it"),
    Column("reason", _TEXT, "why, in the words of the person who decided"),
    Column("transfer", _TEXT, "the id of a transfer between table and House"),
    Column("ticket", _TEXT, "the id of a ticket: a keyed hash of its number; in older journals the number"),
    Column("second", _TEXT, "the second person, where two are needed"),
    Column("event_json", _TEXT, "the whole event as canonical JSON"),
)

BET_COLUMNS: Final = (
    Column("table", _TEXT, "the table", is_full=True),
    Column("round", _WHOLE, "the round", is_full=True),
    Column("position", _WHOLE, "the entry that registered the bet", is_full=True),
    Column("at", _WHOLE, "when it was registered, in milliseconds since 1970", is_full=True),
    Column("bet", _TEXT, "its id", is_full=True),
    Column("seat", _TEXT, "the seat", is_full=True),
    Column("player", _TEXT, "the player's name, where one was given"),
    Column("means", _TEXT, "what it was made with", is_full=True),
    Column("layout", _TEXT, "the layout", is_full=True),
    Column("area", _TEXT, "the area that it counts on", is_full=True),
    Column("currency", _TEXT, "the table's currency", is_full=True),
    Column("stake", _WHOLE, "the stake, as all money in the smallest unit of the currency", is_full=True),
    Column("state", _TEXT, "`settled`, `void`, `back` (taken back, withdrawn or returned) or `open`",
           is_full=True),
    Column("faces", _TEXT, "what the dice or cards showed, such as `2 3 5`"),
    Column("kept_out", _WHOLE, "how much of the stake the limits kept out of the game"),
    Column("won", _WHOLE, "above the stake"),
    Column("returned", _WHOLE, "the total: stake and winnings of a winner, and what was kept out"),
    Column("clause", _TEXT, "the clause by which it won, lost or went back"),
    Column("voided", _FLAG, "whether its round is void", is_full=True),
    Column("corrected", _FLAG, "whether its round was settled again, or made void after it was settled",
           is_full=True),
    Column("pay_table", _TEXT, "the digest of the pay table in force; `taisai rules matrix --json` prints it",
           is_full=True),
    Column("by_hand", _FLAG, "whether its round was played or settled by hand, and entered afterwards",
           is_full=True),
)  # fmt: skip

COLUMNS: Final = {"events": EVENT_COLUMNS, "bets": BET_COLUMNS}

# Tables as files

AT_ONCE: Final = 20_000
"""Rows in memory before they become columns."""
GROUP: Final = 6 * AT_ONCE
"""Rows in one group of a Parquet file: many small groups are slower to read."""
COMPRESSION: Final = "lz4"
"""A tenth larger than by zstd, and read in two thirds of the time."""
FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet would run a text that begins so as a formula; a player's name may."""


def write_csv(columns: Sequence[Column], rows: Iterable[ExportRow], file: IO[bytes]) -> None:
    """Writes CSV (RFC 4180, UTF-8) with a line of names; a text like a formula gets an apostrophe."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
    try:
        writer = csv.writer(text, lineterminator="\r\n")  # RFC 4180; also, both are then quoted in a cell
        writer.writerow([column.name for column in columns])
        writer.writerows([_cell(value) for value in row] for row in rows)
    finally:
        text.detach()  # flushes, and leaves the file open for the caller


def _cell(value: ExportCell) -> ExportCell:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULAS) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def write_parquet(columns: Sequence[Column], rows: Iterable[ExportRow], file: IO[bytes]) -> None:
    """Writes compressed Parquet; whole numbers have 64 bits."""
    expect_parquet()
    import pyarrow as pa
    from pyarrow import parquet

    schema = parquet_schema(columns)
    with parquet.ParquetWriter(file, schema, compression=COMPRESSION) as writer:
        tables = (_columnar(batch, schema) for batch in _batches(rows, AT_ONCE))
        for group in _batches(tables, GROUP // AT_ONCE):
            writer.write_table(pa.concat_tables(group), row_group_size=GROUP)


def _columnar(rows: list[ExportRow], schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    try:
        return pa.table([list(cells) for cells in zip(*rows, strict=True)], schema=schema)
    except (pa.ArrowInvalid, OverflowError) as error:
        raise JournalError(f"a number does not fit into 64 bits: {error}") from None


def expect_parquet() -> None:
    """Raises an error if pyarrow, which writes Parquet, is not installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        problem = "pyarrow, which writes Parquet, is not installed: run `pip install 'taisai[parquet]'`"
        raise JournalError(problem) from None


def parquet_schema(columns: Sequence[Column]) -> pa.Schema:
    import pyarrow as pa

    kinds = {Kind.WHOLE: pa.int64(), Kind.TEXT: pa.string(), Kind.YES_OR_NO: pa.bool_()}
    return pa.schema(
        pa.field(column.name, kinds[column.kind], nullable=not column.is_full) for column in columns
    )


def _batches(things: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(things)
    while batch := list(islice(left, size)):
        yield batch

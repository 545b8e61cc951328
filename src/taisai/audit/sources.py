"""What an audit reads: a journal in its store, or an export of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeVar

import msgspec

from taisai.journal.codec import MOST_BYTES
from taisai.journal.errors import DamagedError, JournalError
from taisai.journal.stores.contract import Row, StoredCheckpoint
from taisai.journal.stores.database_urls import is_database
from taisai.journal.stores.opening import open_reader
from taisai.rules.errors import printable

_SQLITE: Final = b"SQLite format 3\x00"
_CHECKPOINT: Final = b'{"checkpoint":'
_END: Final = b'{"end":'
_CANONICAL: Final = msgspec.json.Encoder(order="sorted").encode

PROGRESS_EVERY: Final = 1_000  # entries between two calls of a Progress
Progress = Callable[[int, int], None]
"""Called with how much was read, and the total."""


class Body(NamedTuple):
    """The bytes of an entry, and its row in a journal's file."""

    body: bytes
    row: Row | None = None


class End(msgspec.Struct, forbid_unknown_fields=True):
    size: int
    root: str


SourcePiece = Body | StoredCheckpoint | End


class Source(Protocol):
    """Entries in order, each checkpoint after the entry it ends with."""

    name: str

    @property
    def total(self) -> int:
        """How much there is to read, in the unit of `done`."""

    @property
    def done(self) -> int:
        """How much of it has been read."""

    def pieces(self) -> Iterator[SourcePiece]: ...

    def close(self) -> None: ...


def source_of(path: str | Path) -> JournalFile | Export:
    """A journal or an export, according to the first bytes of the file; a URL is a journal in a database."""
    if is_database(path):
        return JournalFile(path)
    try:
        with Path(path).open("rb") as opened:
            beginning = opened.read(len(_SQLITE))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "invalid file name"
        expected = "a journal or an export that can be read"
        raise JournalError(f"expected {expected}, got {printable(repr(str(path)))}: {why}") from None
    return JournalFile(path) if beginning == _SQLITE else Export(path)


class JournalFile:
    """A journal in its own store; its writer may be at work."""

    def __init__(self, path: str | Path) -> None:
        self.reader = open_reader(path)
        self.name = self.reader.path if is_database(path) else str(path)
        self.reader.hold_still()
        last = self.reader.last()
        self.total = last.position if last else 0
        self.done = 0

    def pieces(self) -> Iterator[SourcePiece]:
        """Entries and checkpoints, as they were when the file was opened."""
        checkpoints = self.reader.sealed()
        checkpoint = next(checkpoints, None)
        for row in self.reader.rows():
            yield Body(row.body, row)
            self.done += 1
            while checkpoint is not None and checkpoint.size <= self.done:
                yield checkpoint
                checkpoint = next(checkpoints, None)
        if checkpoint is not None:
            yield checkpoint
        yield from checkpoints

    def close(self) -> None:
        self.reader.close()


class Export:
    """An export, line by line."""

    def __init__(self, path: str | Path) -> None:
        self.name = str(path)
        self.total = Path(path).stat().st_size
        self.done = 0

    def pieces(self) -> Iterator[SourcePiece]:
        """Every line; the last line says how many entries there are, so that a cut file is noticed."""
        position, ended = 1, False
        with Path(self.name).open("rb") as opened:
            while line := opened.readline(MOST_BYTES + 1):  # a longer line comes in parts
                self.done += len(line)
                if ended:
                    raise DamagedError(position, "a line follows the end of the export")
                if not line.endswith(b"\n"):
                    got = "a longer one" if len(line) > MOST_BYTES else "one without its end"
                    raise DamagedError(position, f"expected a line of at most {MOST_BYTES} bytes, got {got}")
                body = line[:-1]
                if body.startswith(_CHECKPOINT):
                    text = _read(body, _CheckpointLine, position).checkpoint
                    yield StoredCheckpoint(position - 1, text)
                elif body.startswith(_END):
                    ended = True
                    yield _read(body, _EndLine, position).end
                else:
                    yield Body(body)
                    position += 1
        if not ended:
            problem = "expected an entry or the last line of the export, got the end of the file"
            raise DamagedError(position, problem)

    def close(self) -> None:
        """The file is open only while it is read."""


class _CheckpointLine(msgspec.Struct, forbid_unknown_fields=True):
    checkpoint: str


class _EndLine(msgspec.Struct, forbid_unknown_fields=True):
    end: End


_Line = TypeVar("_Line", _CheckpointLine, _EndLine)


def _read(body: bytes, kind: type[_Line], position: int) -> _Line:
    """A line with a checkpoint or the end, in canonical JSON."""
    try:
        line = msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        problem = f"expected a checkpoint or the end of the export; {printable(str(error))}"
        raise DamagedError(position, problem) from None
    if _CANONICAL(line) != body:
        raise DamagedError(position, "the line is not in canonical JSON")
    return line


def checkpoint_line(text: str) -> bytes:
    return _CANONICAL(_CheckpointLine(text))


def end_line(size: int, root: bytes) -> bytes:
    return _CANONICAL(_EndLine(End(size, root.hex())))

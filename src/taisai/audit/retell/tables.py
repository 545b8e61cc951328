"""Tables evolved once more by what is written, not by what is decided: to be looked at on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from taisai.audit.replay import JournalReplay
from taisai.audit.sources import TOLD_EVERY, Body, JournalFile, Progress, Source
from taisai.game.table import Table
from taisai.journal.codec import JOURNAL_STREAM, Codec, Entry, table_of
from taisai.journal.errors import DamagedError, JournalError
from taisai.journal.streams import Aggregate, TableStream
from taisai.rules.errors import printable

MOST_NAMED: Final = 20  # tables or seats that an error names

Look = Callable[[Entry, Table], None]
"""Called with an entry of a table's stream, and the table right after it."""


class Replay(JournalReplay):
    """Believes what is written, so that it can be looked at."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look

    def decision(self, aggregate: Aggregate, entries: list[Entry]) -> None:
        """Evolves by every entry, and lets a table be looked at after each."""
        for entry in entries:
            aggregate.evolve(entry.event)
            if isinstance(aggregate, TableStream):
                self._look(entry, aggregate.table)


def entries_of(source: Source, progress: Progress | None = None) -> Iterator[Entry]:
    """Every entry of a file, as it is written."""
    codec, position = Codec(), 0
    for piece in source.pieces():
        if isinstance(piece, Body):
            position += 1
            entry = codec.decode(piece.body, position)
            if entry.position != position:
                raise DamagedError(position, f"expected position {position}, got {entry.position}")
            yield entry
            if progress and not position % TOLD_EVERY:
                progress(source.done, source.total)


def entries_of_table(source: Source, stream: str, progress: Progress | None = None) -> Iterator[Entry]:
    """The entries of a stream, and the journal's own before them; a journal's file is read no further."""
    if not isinstance(source, JournalFile):
        wanted = (JOURNAL_STREAM, stream)
        yield from (entry for entry in entries_of(source, progress) if entry.stream in wanted)
        return
    codec = Codec()
    for name in (JOURNAL_STREAM, stream):
        for number, row in enumerate(source.reader.rows(stream=name), 1):
            entry = codec.decode(row.body, row.position)
            if (entry.position, entry.version) != (row.position, number):
                says = f"expected version {number} of {name}, got version {entry.version}"
                raise DamagedError(row.position, says)
            yield entry
            if progress and not number % TOLD_EVERY:
                progress(row.position, source.total)


def tables_of(source: Source) -> list[str]:
    """The names of all tables."""
    names = (table_of(entry.stream) for entry in entries_of(source))
    return list(dict.fromkeys(name for name in names if name is not None))


def unknown(expected: str, got: str, there: list[str]) -> JournalError:
    """An error that names what there is."""
    named = ", ".join(map(printable, there[:MOST_NAMED])) or "none"
    more = f" and {len(there) - MOST_NAMED} others" if len(there) > MOST_NAMED else ""
    return JournalError(f"expected {expected} ({named}{more}), got {printable(repr(got))}")

"""Reading a journal decision by decision; tables and past rounds that do not fit in memory go to a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Final

import apsw

from taisai.audit.sources import PROGRESS_EVERY, Body, JournalFile, Progress, Source
from taisai.cage.messages import HouseOpened
from taisai.game.commands import OpenTable
from taisai.game.events import RoundConcluded, RoundVoided, TableOpened
from taisai.game.table import Table
from taisai.journal.codec import (
    HOUSE_STREAM,
    JOURNAL_STREAM,
    Codec,
    Entry,
    RulebookStored,
    stream_of,
    table_of,
)
from taisai.journal.errors import DamagedError, JournalError
from taisai.journal.streams import Aggregate, HouseStream, TableStream
from taisai.rules.book import Rulebook, rulebook_from
from taisai.rules.errors import RulesError, printable

TABLES_IN_MEMORY: Final = 50
"""Other tables are in the temporary file until their next entry: a journal may have any number of tables."""
BETS_IN_MEMORY: Final = 50_000
"""Bets of past rounds of a table; beyond it, its past rounds go to the temporary file."""
MOST_BOOKS: Final = 100  # rulebooks of one journal: the package has four, and a house may vary them
MOST_NAMED: Final = 20  # tables or seats that an error names
_ENDS: Final = frozenset({RoundConcluded, RoundVoided})


class ScratchFile:
    """A temporary database for what does not fit in memory. SQLite deletes it when it is closed."""

    def __init__(self) -> None:
        self._connection = apsw.Connection("")
        self._connection.execute("CREATE TABLE kept (stream TEXT, number INTEGER, body BLOB,"
                                 " PRIMARY KEY (stream, number)) WITHOUT ROWID")  # fmt: skip

    def put(self, stream: str, number: int, body: bytes) -> None:
        """Stores bytes, in place of those stored before."""
        self._connection.execute("INSERT OR REPLACE INTO kept VALUES (?1, ?2, ?3)", (stream, number, body))

    def get(self, stream: str, number: int) -> bytes:
        sql = "SELECT body FROM kept WHERE stream = ?1 AND number = ?2"
        body = self._connection.execute(sql, (stream, number)).get
        assert isinstance(body, bytes)
        return body

    def close(self) -> None:
        self._connection.close()


class JournalReplay(ABC):
    """Takes the entries of a journal in order, and gives each decision to a subclass."""

    def __init__(self) -> None:
        self.books: dict[str, Rulebook] = {}
        """Digest → rulebook, of all that the journal stores."""
        self._scratch = ScratchFile()
        self._streams: OrderedDict[str, Aggregate] = OrderedDict()
        """The streams in memory; the one used last is at the end."""
        self._stored: dict[str, str] = {}
        """Stream in the temporary file → the digest of its rulebook."""
        self._bets: dict[str, int] = {}
        """Stream → bets of past rounds in memory."""
        self._pending: list[Entry] = []

    @abstractmethod
    def decision(self, aggregate: Aggregate, entries: list[Entry]) -> None:
        """Handles the entries of one decision; it must evolve the table or the House by them."""

    def take(self, entry: Entry) -> None:
        """Takes the next entry; handles a decision when its last entry is here."""
        if entry.stream == JOURNAL_STREAM:
            self._take_rulebook(entry)
            return
        self._pending.append(entry)
        if entry.more:
            return
        entries, self._pending = self._pending, []
        first = entries[0]
        try:
            aggregate = self.aggregate(first.stream) or self._open(first)
            self.decision(aggregate, entries)
            if isinstance(aggregate, TableStream) and type(entry.event) in _ENDS:
                self._end_round(first.stream, aggregate)
        except DamagedError:
            raise
        except Exception as error:  # a forger can write anything
            problem = f"the decision cannot be replayed: {type(error).__name__}: {error}"
            raise DamagedError(first.position, printable(problem, 1_000)) from error

    def _take_rulebook(self, entry: Entry) -> None:
        event = entry.event
        if not isinstance(event, RulebookStored):
            return
        if event.digest in self.books:
            raise DamagedError(entry.position, f"the rulebook {printable(event.id)} is stored twice")
        if len(self.books) >= MOST_BOOKS:
            problem = f"expected at most {MOST_BOOKS} rulebooks, got {MOST_BOOKS + 1}"
            raise DamagedError(entry.position, problem)
        try:
            book = rulebook_from(event.text, event.id)
        except RulesError as error:
            raise DamagedError(entry.position, f"invalid rulebook: {error}") from None
        if (book.id, book.digest) != (event.id, event.digest):
            expected = f"the rulebook {event.id} {event.digest[:23]}…"
            got = f"{book.id} {book.digest[:23]}…"
            raise DamagedError(entry.position, f"expected {printable(expected)}, got {got}")
        self.books[book.digest] = book

    def _open(self, first: Entry) -> Aggregate:
        """The table or House that the first entry of a stream opens."""
        event = first.event
        if first.stream == HOUSE_STREAM and isinstance(event, HouseOpened):
            aggregate: Aggregate = HouseStream()
        elif isinstance(event, TableOpened) and isinstance(first.asked, OpenTable):
            if first.stream != stream_of(event.table):
                raise DamagedError(first.position, f"expected the table of {first.stream}, got {event.table}")
            if event.digest not in self.books:
                expected = "a rulebook that is stored before this entry"
                raise DamagedError(first.position, f"expected {expected}, got {printable(event.digest)}")
            aggregate = self._table(first.stream, event.digest, None)
        else:
            problem = f"expected the opening of {printable(first.stream)}, got {type(event).__name__}"
            raise DamagedError(first.position, problem)
        self._streams[first.stream] = aggregate
        return aggregate

    def aggregate(self, stream: str) -> Aggregate | None:
        """The table or House of a stream; None if it was not opened."""
        aggregate = self._streams.get(stream)
        if aggregate is None:
            digest = self._stored.pop(stream, None)
            if digest is None:
                return None
            aggregate = self._streams[stream] = self._table(stream, digest, self._scratch.get(stream, 0))
        elif len(self._streams) > 1:
            self._streams.move_to_end(stream)
        if len(self._streams) > TABLES_IN_MEMORY:
            self._store_oldest(but=stream)
        return aggregate

    def _table(self, stream: str, digest: str, written: bytes | None) -> TableStream:
        return TableStream(self.books[digest], lambda number: self._scratch.get(stream, number), written)

    def _store_oldest(self, *, but: str) -> None:
        """Moves the table that was unused for the longest time to the temporary file."""
        for stream, aggregate in self._streams.items():
            if isinstance(aggregate, TableStream) and stream != but:
                self._scratch.put(stream, 0, self._store_rounds(stream, aggregate))
                self._stored[stream] = aggregate.table.book.digest
                self._bets.pop(stream, None)
                del self._streams[stream]
                return

    def _store_rounds(self, stream: str, aggregate: TableStream) -> bytes:
        body, rounds = aggregate.written()
        for number, part in rounds.items():
            self._scratch.put(stream, number, part)
        return body

    def _end_round(self, stream: str, aggregate: TableStream) -> None:
        bets = self._bets.get(stream, 0) + len(aggregate.table.rounds[-1].bets)
        if bets > BETS_IN_MEMORY:
            self._store_rounds(stream, aggregate)
            aggregate.put_away()
            bets = 0
        self._bets[stream] = bets

    def streams(self) -> list[str]:
        """Every stream that was opened."""
        return [*self._streams, *self._stored]

    def close(self) -> None:
        self._scratch.close()


Look = Callable[[Entry, Table], None]
"""Called with an entry of a table's stream, and the table right after it."""


class WrittenReplay(JournalReplay):
    """Evolves the tables by the written events, without deciding anything again."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look

    def decision(self, aggregate: Aggregate, entries: list[Entry]) -> None:
        """Evolves by every entry, and calls `look` after each entry of a table."""
        for entry in entries:
            aggregate.evolve(entry.event)
            if isinstance(aggregate, TableStream):
                self._look(entry, aggregate.table)


def entries_of(source: Source, progress: Progress | None = None) -> Iterator[Entry]:
    codec, position = Codec(), 0
    for piece in source.pieces():
        if isinstance(piece, Body):
            position += 1
            entry = codec.decode(piece.body, position)
            if entry.position != position:
                raise DamagedError(position, f"expected position {position}, got {entry.position}")
            yield entry
            if progress and not position % PROGRESS_EVERY:
                progress(source.done, source.total)


def entries_of_table(source: Source, stream: str, progress: Progress | None = None) -> Iterator[Entry]:
    """The journal's own entries and those of one stream; a journal's file is read by index."""
    if not isinstance(source, JournalFile):
        wanted = (JOURNAL_STREAM, stream)
        yield from (entry for entry in entries_of(source, progress) if entry.stream in wanted)
        return
    codec = Codec()
    for name in (JOURNAL_STREAM, stream):
        for number, row in enumerate(source.reader.rows(stream=name), 1):
            entry = codec.decode(row.body, row.position)
            if (entry.position, entry.version) != (row.position, number):
                problem = f"expected version {number} of {name}, got version {entry.version}"
                raise DamagedError(row.position, problem)
            yield entry
            if progress and not number % PROGRESS_EVERY:
                progress(row.position, source.total)


def tables_of(source: Source) -> list[str]:
    names = (table_of(entry.stream) for entry in entries_of(source))
    return list(dict.fromkeys(name for name in names if name is not None))


def unknown(expected: str, got: str, names: list[str]) -> JournalError:
    """An error that lists the known names."""
    known = ", ".join(map(printable, names[:MOST_NAMED])) or "none"
    more = f" and {len(names) - MOST_NAMED} others" if len(names) > MOST_NAMED else ""
    return JournalError(f"expected {expected} ({known}{more}), got {printable(repr(got))}")

"""Following a journal: its entries taken decision by decision, its tables kept in bounded memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from typing import Final

from taisai.audit.scratch import ScratchFile
from taisai.cage.messages import HouseOpened
from taisai.game.commands import OpenTable
from taisai.game.events import RoundConcluded, RoundVoided, TableOpened
from taisai.journal.codec import HOUSE_STREAM, JOURNAL_STREAM, Entry, RulebookStored, stream_of
from taisai.journal.errors import DamagedError
from taisai.journal.streams import Aggregate, HouseStream, TableStream
from taisai.rules.book import Rulebook, rulebook_from
from taisai.rules.errors import RulesError, printable

TABLES_IN_MEMORY: Final = 50
"""Others are written down and taken up again when their next entry comes: a journal may have any number."""
MOST_BOOKS: Final = 100  # rulebooks of one journal: there are four, and whatever a house makes of them
BETS_IN_MEMORY: Final = 50_000
"""Of rounds that are over; beyond it they are put away."""
_ENDS: Final = frozenset({RoundConcluded, RoundVoided})


class JournalReplay(ABC):
    """Takes entries in order; what is made of a decision is for those who inherit to say."""

    def __init__(self) -> None:
        self.books: dict[str, Rulebook] = {}
        """Digest → rulebook: those that the journal stores."""
        self._shelf = ScratchFile()
        self._streams: OrderedDict[str, Aggregate] = OrderedDict()
        self._away: dict[str, str] = {}
        """Stream on the shelf → the digest of its rulebook."""
        self._bets: dict[str, int] = {}
        """Stream → bets of rounds that are over and in memory."""
        self._pending: list[Entry] = []

    @abstractmethod
    def decision(self, aggregate: Aggregate, entries: list[Entry]) -> None:
        """The entries of one decision: it is for this method to evolve the table or House by them."""

    def take(self, entry: Entry) -> None:
        """The next entry; with the last one of a decision, the whole of it is looked at."""
        if entry.stream == JOURNAL_STREAM:
            self._own(entry)
            return
        self._pending.append(entry)
        if entry.more:
            return
        entries, self._pending = self._pending, []
        first = entries[0]
        try:
            aggregate = self.aggregate(first.stream) or self._opened(first)
            self.decision(aggregate, entries)
            if isinstance(aggregate, TableStream) and type(entry.event) in _ENDS:
                self._round_is_over(first.stream, aggregate)
        except DamagedError:
            raise
        except Exception as error:  # whatever a forger wrote, it is told and not thrown
            says = f"expected a decision that can be taken again, got {type(error).__name__}: {error}"
            raise DamagedError(first.position, printable(says, 1_000)) from error

    def _own(self, entry: Entry) -> None:
        event = entry.event
        if isinstance(event, RulebookStored):
            if event.digest in self.books or len(self.books) >= MOST_BOOKS:
                expected = f"each rulebook once, and at most {MOST_BOOKS}"
                raise DamagedError(entry.position, f"expected {expected}, got {printable(event.id)} again")
            try:
                book = rulebook_from(event.text, event.id)
            except RulesError as error:
                raise DamagedError(
                    entry.position, f"expected a rulebook, got another text: {error}"
                ) from None
            if (book.id, book.digest) != (event.id, event.digest):
                expected = f"the rulebook {event.id} {event.digest[:23]}…"
                got = f"{book.id} {book.digest[:23]}…"
                raise DamagedError(entry.position, f"expected {printable(expected)}, got {got}")
            self.books[book.digest] = book

    def _opened(self, first: Entry) -> Aggregate:
        """A stream's first entry says what it is of."""
        event = first.event
        if first.stream == HOUSE_STREAM and isinstance(event, HouseOpened):
            made: Aggregate = HouseStream()
        elif isinstance(event, TableOpened) and isinstance(first.asked, OpenTable):
            if first.stream != stream_of(event.table):
                raise DamagedError(first.position, f"expected the table of {first.stream}, got {event.table}")
            if event.digest not in self.books:
                says = f"expected a rulebook that the journal stores before, got {printable(event.digest)}"
                raise DamagedError(first.position, says)
            made = self._table(first.stream, event.digest, None)
        else:
            says = f"expected the opening of {printable(first.stream)}, got {type(event).__name__}"
            raise DamagedError(first.position, says)
        self._streams[first.stream] = made
        return made

    # What is in memory, and what is not

    def aggregate(self, stream: str) -> Aggregate | None:
        """The table or House of a stream, if it was opened."""
        made = self._streams.get(stream)
        if made is None:
            digest = self._away.pop(stream, None)
            if digest is None:
                return None
            made = self._streams[stream] = self._table(stream, digest, self._shelf.get(stream, 0))
        elif len(self._streams) > 1:
            self._streams.move_to_end(stream)
        if len(self._streams) > TABLES_IN_MEMORY:
            self._put_table_away(but=stream)
        return made

    def _table(self, stream: str, digest: str, written: bytes | None) -> TableStream:
        return TableStream(self.books[digest], lambda number: self._shelf.get(stream, number), written)

    def _put_table_away(self, *, but: str) -> None:
        """The one that nobody has asked for the longest."""
        for stream, aggregate in self._streams.items():
            if isinstance(aggregate, TableStream) and stream != but:
                body, parts = aggregate.written()
                for number, part in parts.items():
                    self._shelf.put(stream, number, part)
                self._shelf.put(stream, 0, body)
                self._away[stream] = aggregate.table.book.digest
                self._bets.pop(stream, None)
                del self._streams[stream]
                return

    def _round_is_over(self, stream: str, aggregate: TableStream) -> None:
        bets = self._bets.get(stream, 0) + len(aggregate.table.rounds[-1].bets)
        if bets > BETS_IN_MEMORY:
            for number, part in aggregate.written()[1].items():
                self._shelf.put(stream, number, part)
            aggregate.put_away()
            bets = 0
        self._bets[stream] = bets

    def streams(self) -> list[str]:
        """Every stream that was opened."""
        return [*self._streams, *self._away]

    def close(self) -> None:
        """Throws away what was put away."""
        self._shelf.close()

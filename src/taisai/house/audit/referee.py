"""The referee: every command decided again by the stored rulebook, and compared with what was written."""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache
from typing import Any, Final

import apsw
from msgspec import structs

from taisai.game.cage.messages import HouseOpened
from taisai.game.commands import OpenTable
from taisai.game.events import RoundConcluded, RoundVoided, TableOpened
from taisai.game.money import Account
from taisai.game.refusals import Refusal
from taisai.game.table import Table
from taisai.house.aggregates import Aggregate, HouseInBusiness, TableInPlay
from taisai.house.codec import HOUSE, AnyEvent, Entry, stream_of
from taisai.house.errors import DamagedError
from taisai.house.records import STREAM, RulebookStored
from taisai.rules.book import Rulebook, rulebook_from
from taisai.rules.errors import RulesError, printable

TABLES_IN_MEMORY: Final = 50
"""Others are written down and taken up again when their next entry comes: a journal may have any number."""
MOST_BOOKS: Final = 100  # rulebooks of one journal: there are four, and whatever a house makes of them
BETS_IN_MEMORY: Final = 50_000
"""Of rounds that are over; beyond it they are put away."""


@lru_cache(maxsize=16)
def _book(text: str, name: str) -> Rulebook:
    """A rulebook, read once: an auditor who checks many files meets the same few again and again."""
    return rulebook_from(text, name)


class Shelf:
    """A temporary file for what an audit cannot keep in memory; gone when it is."""

    def __init__(self) -> None:
        self._connection = apsw.Connection("")
        self._connection.execute("CREATE TABLE kept (stream TEXT, number INTEGER, body BLOB,"
                                 " PRIMARY KEY (stream, number)) WITHOUT ROWID")  # fmt: skip

    def put(self, stream: str, number: int, body: bytes) -> None:
        """Puts something away, in place of what was there before."""
        self._connection.execute("INSERT OR REPLACE INTO kept VALUES (?1, ?2, ?3)", (stream, number, body))

    def get(self, stream: str, number: int) -> bytes:
        """What was put away."""
        found = self._connection.execute(
            "SELECT body FROM kept WHERE stream = ?1 AND number = ?2", (stream, number)
        ).get
        assert isinstance(found, bytes)
        return found

    def close(self) -> None:
        """Throws everything away."""
        self._connection.close()


class Referee:
    """Decides again, and evolves by what it decided itself."""

    def __init__(self) -> None:
        self.books: dict[str, Rulebook] = {}
        self.events: dict[type[AnyEvent], int] = {}
        """How many events of each kind there were."""
        self.clock_went_back = 0
        self._latest: dict[str, int] = {}
        """Stream → the latest moment that an entry of it names."""
        self.decisions = 0
        """How many commands were decided again."""
        self._shelf = Shelf()
        self._streams: OrderedDict[str, Aggregate] = OrderedDict()
        self._away: dict[str, str] = {}
        """Stream on the shelf → the digest of its rulebook."""
        self._bets: dict[str, int] = {}
        """Stream → bets of rounds that are over and in memory."""
        self._pending: list[Entry] = []

    def take(self, entry: Entry) -> None:
        """The next entry; with the last one of a decision, the whole of it is decided again."""
        kind = type(entry.event)
        self.events[kind] = self.events.get(kind, 0) + 1
        at = entry.event.at
        if at < self._latest.get(entry.stream, 0):
            self.clock_went_back += 1
        else:
            self._latest[entry.stream] = at
        if entry.stream == STREAM:
            self._own(entry)
            return
        self._pending.append(entry)
        if not entry.more:
            entries, self._pending = self._pending, []
            self.decisions += 1
            try:
                self._again(entries)
            except DamagedError:
                raise
            except Exception as error:  # whatever a forger wrote, it is told and not thrown
                says = f"expected a decision that can be taken again, got {type(error).__name__}: {error}"
                raise DamagedError(entries[0].position, printable(says, 1_000)) from error

    def _own(self, entry: Entry) -> None:
        event = entry.event
        if isinstance(event, RulebookStored):
            if event.digest in self.books or len(self.books) >= MOST_BOOKS:
                expected = f"each rulebook once, and at most {MOST_BOOKS}"
                raise DamagedError(entry.position, f"expected {expected}, got {printable(event.id)} again")
            try:
                book = _book(event.text, event.id)
            except RulesError as error:
                raise DamagedError(
                    entry.position, f"expected a rulebook, got another text: {error}"
                ) from None
            if (book.id, book.digest) != (event.id, event.digest):
                expected = f"the rulebook {event.id} {event.digest[:23]}…"
                got = f"{book.id} {book.digest[:23]}…"
                raise DamagedError(entry.position, f"expected {printable(expected)}, got {got}")
            self.books[book.digest] = book

    def _again(self, entries: list[Entry]) -> None:
        first = entries[0]
        stream = first.stream
        aggregate = self.aggregate(stream) or self._opened(first)
        decided = aggregate.decide(first.asked)
        if isinstance(decided, Refusal):
            says = f"expected a command that the rules allow, got one that they refuse: {decided}"
            raise DamagedError(first.position, says)
        written = tuple([one.event for one in entries])
        if decided != written:
            raise _difference(entries, decided)
        for event in decided:
            aggregate.evolve(event)
        if isinstance(aggregate, TableInPlay):
            last = type(decided[-1])
            if last is RoundConcluded or last is RoundVoided:
                self._round_is_over(stream, aggregate, entries[-1].position)

    def _opened(self, first: Entry) -> Aggregate:
        """A stream's first entry says what it is of."""
        event = first.event
        if first.stream == HOUSE and isinstance(event, HouseOpened):
            made: Aggregate = HouseInBusiness()
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
            self._put_table_away()
        return made

    def _table(self, stream: str, digest: str, written: bytes | None) -> TableInPlay:
        return TableInPlay(self.books[digest], lambda number: self._shelf.get(stream, number), written)

    def _put_table_away(self) -> None:
        for stream, aggregate in self._streams.items():
            if isinstance(aggregate, TableInPlay):
                body, parts = aggregate.written()
                for number, part in parts.items():
                    self._shelf.put(stream, number, part)
                self._shelf.put(stream, 0, body)
                self._away[stream] = aggregate.table.book.digest
                self._bets.pop(stream, None)
                del self._streams[stream]
                return

    def _round_is_over(self, stream: str, aggregate: TableInPlay, position: int) -> None:
        table = aggregate.table
        check_books(table, position)
        bets = self._bets.get(stream, 0) + len(table.rounds[-1].bets)
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


def check_books(table: Table, position: int) -> None:
    """What is held is what is owed, and the players' accounts are what their purses hold."""
    balances = table.ledger.balances
    pairs = (
        (table.ledger.difference, 0, "what is held less what is owed"),
        (sum(table.credits), balances[Account.CREDITS], "the players' credits"),
        (sum(table.at_risk), balances[Account.AT_RISK], "the bets on the layout"),
        (sum(table.payable), balances[Account.PAYABLE], "what is to be paid"),
    )
    for got, expected, what in pairs:
        if got != expected:
            raise DamagedError(position, f"expected {what} to be {expected}, got {got}")


def _difference(entries: list[Entry], decided: tuple[AnyEvent, ...]) -> DamagedError:
    """Where what was written parts from what the rules say."""
    for entry, expected in zip(entries, decided, strict=False):
        if entry.event != expected:
            return DamagedError(entry.position, f"expected {_told(expected, entry.event)}")
    expected_count, got = len(decided), len(entries)
    return DamagedError(entries[-1].position, f"expected a decision of {expected_count} entries, got {got}")


def _told(expected: Any, got: Any) -> str:
    if type(expected) is not type(got):
        return f"{_tag(expected)} by the rules, got {_tag(got)}"
    differing = [
        f"{name} {printable(repr(getattr(expected, name)))}, got {printable(repr(getattr(got, name)))}"
        for name in structs.asdict(expected)
        if getattr(expected, name) != getattr(got, name)
    ]
    return f"{_tag(expected)} with {'; '.join(differing)}"


def _tag(event: Any) -> str:
    return str(type(event).__struct_config__.tag)

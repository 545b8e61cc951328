"""What the journal's contract is tried on: stores that can be opened again, and what goes into them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final, Protocol

import apsw
import pytest

from taisai.cage import House, decide_house, evolve_house
from taisai.cage.messages import BringIn, CapitalBrought, HouseCommand
from taisai.game import Refusal, Table, decide, evolve
from taisai.game.commands import OpenTable, Shut
from taisai.game.events import TableShut
from taisai.journal.codec import HOUSE_STREAM, Codec, Entry
from taisai.journal.engine import Answer, Engine, Submission
from taisai.journal.errors import DamagedError
from taisai.journal.journal import Decision, Journal
from taisai.journal.seals.keys import SigningKey
from taisai.journal.seals.merkle import leaf_hash, root_of
from taisai.journal.seals.secret import StorageSecret
from taisai.journal.stores.contract import MemoryStore, Row, Store
from taisai.journal.stores.postgres import PostgresStore
from taisai.journal.stores.sqlite import SqliteStore
from taisai.rules import Rulebook, rulebook
from taisai.rules.clauses import Clause
from tests.game.past_rounds import unlike
from tests.journal.evening import BOOK, NAME, START, Batch
from tests.postgres import OWNER, PostgresServer

KEY: Final = SigningKey.new("first", seed=bytes(range(32)))
NEXT_KEY: Final = SigningKey.new("second", seed=bytes(range(1, 33)))
ID: Final = "5f3a9c0e7d214b68"
SB1: Final = "table:SB1"
SB2: Final = "table:SB2"

# Stores


class MakeStore(Protocol):
    """Opens one and the same store, as often as it is asked to."""

    def __call__(self) -> Store:
        """The store as whoever wrote it last has left it."""

    def close(self) -> None:
        """Lets go of it."""


class InMemory:
    """A store that nothing outlives: to open it again is to look at it again."""

    def __init__(self, _directory: Path) -> None:
        self._store = MemoryStore()

    def __call__(self) -> Store:
        return self._store

    def close(self) -> None:
        """Nothing to let go of."""


class OnDisk:
    """A store in a file, which is closed before it is opened again."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "evening.journal"
        self._store: SqliteStore | None = None

    def __call__(self) -> SqliteStore:
        self.close()
        self._store = SqliteStore(self.path)
        return self._store

    def close(self) -> None:
        """Lets go of the file."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def raw(self, sql: str, *values: Any) -> list[Any]:
        """What a stranger's connection gets, who knows the file and none of our manners."""
        connection = apsw.Connection(str(self.path))
        try:
            return list(connection.execute(sql, values))
        finally:
            connection.close()


class InPostgres:
    """A store in a database, in a journal of its own; the writer before gives its lease back."""

    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        self.name = f"evening-{next(_NUMBERS)}"
        self._store: PostgresStore | None = None

    def __call__(self) -> PostgresStore:
        self.close()
        self._store = PostgresStore(self.server.url(), self.name)
        return self._store

    def close(self) -> None:
        """Lets go of the journal."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def raw(self, sql: str, *values: Any, user: str = OWNER) -> Any:
        """What a stranger's connection gets, who has the rights of a user and none of our manners."""
        return asyncio.run(self.server.execute(sql, *values, user=user))


_NUMBERS: Final = count(1)
LOCAL_STORES: Final[dict[str, Callable[[Path], MakeStore]]] = {"memory": InMemory, "sqlite": OnDisk}
STORES: Final = (*LOCAL_STORES, "postgres")


def made_store(name: str, directory: Path, request: pytest.FixtureRequest) -> MakeStore:
    """A store of a kind; the server of databases starts with the first that needs it."""
    if name == "postgres":
        return InPostgres(request.getfixturevalue("postgres"))
    return LOCAL_STORES[name](directory)


# Journals


SECRET: Final = StorageSecret(bytes(range(64, 96)))


def opened(store: Store, codec: Codec | None = None, *, secret: StorageSecret | None = None) -> Journal:
    """A new journal."""
    return Journal.opened(
        store, journal=ID, key=KEY.public, at=START, by="house", program="taisai test",
        demonstration=False, codec=codec, secret=secret,
    )  # fmt: skip


def shut(number: int, stream: str = SB1, *, expected: int | None = None, times: int = 1) -> Decision:
    """A decision at a table, of as many events as one likes; no table would take it, but a journal does."""
    events = [
        TableShut(at=START + number, by="sue", clause=Clause("house:shut"), reason=f"{number}/{part}")
        for part in range(times)
    ]
    asked = Shut(at=START + number, by="sue", reason=str(number))
    return Decision(stream, events, asked, expected)


def brought(number: int, *, expected: int | None = None) -> Decision:
    """A decision in the House."""
    at, id_ = START + number, f"m{number}"
    event = CapitalBrought(at=at, by="ann", clause=Clause("house:cage"), id=id_, amount=number, second="sue")
    return Decision(
        HOUSE_STREAM, [event], BringIn(at=at, by="ann", id=id_, amount=number, second="sue"), expected
    )


def filled(store: Store, codec: Codec | None = None, *, secret: StorageSecret | None = None) -> Journal:
    """A journal of seven entries, four of one table, one of another, one of the House."""
    journal = opened(store, codec, secret=secret)
    journal.append([shut(1), shut(2, times=2), brought(3)])
    journal.append([shut(4, SB2)])
    journal.append([shut(5)])
    return journal


def rows_of(journal: Journal) -> list[Row]:
    """All that its store holds."""
    return list(journal.store.rows())


def read(entries: Iterator[Entry]) -> tuple[list[Entry], DamagedError | None]:
    """Entries as far as they can be read, and what stopped the reader."""
    seen = []
    try:
        for entry in entries:
            seen.append(entry)  # noqa: PERF402  those before the damage count
    except DamagedError as error:
        return seen, error
    return seen, None


# Engines


def asks(batch: Batch, book: Rulebook | None = None) -> list[Submission]:
    """A batch of an evening as an engine takes it."""
    return [
        Submission(stream, command, (book or rulebook(BOOK)) if isinstance(command, OpenTable) else None)
        for stream, command in batch
    ]


def in_memory(batches: Sequence[Batch]) -> tuple[Table, House]:
    """Table and House after some batches, with no journal anywhere near."""
    table, house = Table(rulebook(BOOK)), House()
    for _, command in (asked for batch in batches for asked in batch):
        if isinstance(command, HouseCommand):
            moved = decide_house(house, command)
            for event in () if isinstance(moved, Refusal) else moved:
                evolve_house(house, event)
        else:
            played = decide(table, command)
            for happened in () if isinstance(played, Refusal) else played:
                evolve(table, happened)
    return table, house


def differences(engine: Engine, batches: Sequence[Batch]) -> list[str]:
    """What an engine has otherwise than some batches make it where nothing is ever kept."""
    table, house = in_memory(batches)
    wrong = unlike(table, engine.table(NAME))
    if engine.house() != house:
        wrong.append("the House")
    rows = list(engine.journal.store.rows())
    if engine.journal.root() != root_of([leaf_hash(row.body) for row in rows]):
        wrong.append("the root")
    return wrong


def play(engine: Engine, batches: Sequence[Batch]) -> list[Answer]:
    """Every answer to some batches, asked as they arrived."""
    return [answer for batch in batches for answer in engine.answer_all(asks(batch))]

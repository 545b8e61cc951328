"""An evening kept in a journal: the engine that is asked, and what the journal must hold after each batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from taisai.audit import verified
from taisai.cage import House, evolve_house
from taisai.game import Refusal, Table, replayed
from taisai.game.commands import OpenTable
from taisai.game.refusals import Reason
from taisai.journal.codec import HOUSE_STREAM, Codec, Entry
from taisai.journal.engine import Answer, Engine, Submission
from taisai.journal.errors import JournalError
from taisai.journal.journal import Journal
from taisai.journal.seals.keys import SigningKey
from taisai.journal.seals.merkle import leaf_hash, root_of
from taisai.journal.seals.secret import StorageSecret
from taisai.journal.stores.contract import MemoryStore, Row, Store, StoredCheckpoint, StoredSnapshot
from taisai.journal.stores.sqlite import SqliteStore
from taisai.rules import Rulebook, rulebook
from taisai.rules.book import rulebook_from
from tests.game.snapshots import snapshot
from tests.journal.evening import BOOK, NAME, START, TABLE_STREAM, Batch, Evening, evening

FILE: Final = "evening.journal"
KEY: Final = SigningKey.new("evening", seed=bytes(range(32)))
SECRET: Final = StorageSecret(bytes(range(32, 64)))
WAL_PAGES: Final = 30  # few, so that the log goes into the file again and again in one evening
SNAPSHOT_EVERY: Final = 25
SEAL_EVERY: Final = 20
"""Batches from one signed checkpoint to the next."""


@lru_cache(maxsize=1)
def book() -> Rulebook:
    """The rulebook of the evening, read once."""
    return rulebook(BOOK)


@lru_cache(maxsize=4)
def read_once(text: str, name: str) -> Rulebook:
    """In the place of a journal's own reader: a thousand journals store the same book."""
    return rulebook_from(text, name)


def on_disk(directory: Path, *, vfs: str | None = None, synchronous: str = "full") -> SqliteStore:
    """The store of an evening."""
    return SqliteStore(directory / FILE, vfs=vfs, synchronous=synchronous, wal_pages=WAL_PAGES)


def keeping(store: Store) -> Engine:
    """An engine over a store, whose journal is opened if it is not."""
    journal = Journal(store, secret=SECRET)
    if not journal.size:
        journal = Journal.opened(
            store, journal="5f3a9c0e7d214b68", key=KEY.public, at=START, by="house", program="taisai test",
            demonstration=False, secret=SECRET,
        )  # fmt: skip
    return Engine(journal, snapshot_every=SNAPSHOT_EVERY)


def asks(batch: Batch) -> list[Submission]:
    """A batch as an engine takes it."""
    return [
        Submission(stream, command, book() if isinstance(command, OpenTable) else None)
        for stream, command in batch
    ]


def play(
    engine: Engine,
    batches: Sequence[Batch],
    answered: Callable[[int, list[Answer]], None] = lambda _number, _answers: None,
    *,
    first: int = 0,
) -> None:
    """Asks batch by batch from the first that is wanted, and signs a checkpoint now and then."""
    for number in range(first, len(batches)):
        answered(number, engine.answer_all(asks(batches[number])))
        if number % SEAL_EVERY == SEAL_EVERY - 1:
            engine.journal.seal(KEY, at=START + number)


class Expected(NamedTuple):
    """What a journal holds of an evening, if nothing ever fails."""

    evening: Evening
    rows: tuple[Row, ...]
    sizes: tuple[int, ...]
    """How many entries there are before the first batch, and after each."""
    sealed: tuple[StoredCheckpoint, ...]
    kept: frozenset[StoredSnapshot]
    """Snapshots."""
    answers: tuple[list[Answer], ...]

    def entries(self, size: int, stream: str) -> list[Entry]:
        """The entries of a stream among the first so many of the journal."""
        codec = Codec()
        return [codec.decode(row.body, row.position) for row in self.rows[:size] if row.stream == stream]

    def table(self, size: int) -> Table:
        """The table that the first so many entries make, by nothing but its own events."""
        events: list[Any] = [entry.event for entry in self.entries(size, TABLE_STREAM)]
        return replayed(book(), events)

    def house(self, size: int) -> House:
        """The House that the first so many entries make."""
        house = House()
        for entry in self.entries(size, HOUSE_STREAM):
            event: Any = entry.event
            evolve_house(house, event)
        return house


@lru_cache(maxsize=32)
def expected(seed: int = 1, *, seats: int = 8, rounds: int = 4) -> Expected:
    """The evening of a seed, kept in memory, where no disk can fail."""
    played, store = evening(seed, seats=seats, rounds=rounds), MemoryStore()
    engine = keeping(store)
    sizes, answers, kept = [engine.journal.size], list[list[Answer]](), set[StoredSnapshot | None]()

    def answered(_: int, given: list[Answer]) -> None:
        sizes.append(engine.journal.size)
        answers.append(given)
        kept.update(store.snapshot(*one) for one in store.snapshots())  # the next takes its place

    play(engine, played.batches, answered)
    return Expected(
        played,
        tuple(store.rows()),
        tuple(sizes),
        tuple(store.checkpoints()),
        frozenset(one for one in kept if one),
        tuple(answers),
    )


def differences(engine: Engine, right: Expected, size: int) -> list[str]:
    """What an engine has otherwise than it should after so many entries: rows, tables, a cent."""
    wrong: list[str] = []
    rows = list(engine.journal.store.rows())
    if rows != list(right.rows[:size]):
        wrong.append(f"expected the first {size} entries as they were written, got {len(rows)}")
    if engine.journal.root() != _root(right.rows[: len(rows)]):
        wrong.append("expected the root of the tree over them, got another")
    if NAME in engine.tables():
        table = engine.table(NAME)
        if snapshot(table) != snapshot(right.table(size)):
            wrong.append("expected the table that they make, got another")
        if table.ledger.difference:
            wrong.append(f"expected balanced books, got a difference of {table.ledger.difference}")
    if engine.house() != right.house(size):
        wrong.append("expected the House that they make, got another")
    return wrong


def _root(rows: Sequence[Row]) -> bytes:
    return root_of([leaf_hash(row.body) for row in rows])


def flaws(directory: Path) -> list[str]:
    """What an audit finds wrong with the journal of an evening."""
    try:
        key = KEY.public if verified(directory / FILE).checkpoints else None
        verified(directory / FILE, key=key)
    except JournalError as error:
        return [str(error)]
    return []


def is_unwritable(answer: Answer) -> bool:
    """Whether a command was refused because the journal cannot be written."""
    return isinstance(answer, Refusal) and answer.reason in {
        Reason.JOURNAL_UNWRITABLE,
        Reason.JOURNAL_IN_DOUBT,
    }

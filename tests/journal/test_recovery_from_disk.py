"""Every playbook kept in a file: after any of its commands, a start makes the table that its events make."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from msgspec.structs import replace

from taisai.game import Refusal, Table, recover, replayed
from taisai.game.commands import Command
from taisai.game.events import Event, SeatTaken
from taisai.journal import journal as journal_module
from taisai.journal.beside import TREE, head_of
from taisai.journal.codec import Codec, stream_of
from taisai.journal.engine import Answer, Engine, Submission
from taisai.journal.journal import Journal
from taisai.journal.seals.merkle import Frontier, leaf_hash
from taisai.journal.stores.contract import Head, Row, StoredSnapshot
from taisai.journal.stores.sqlite import SqliteStore
from taisai.journal.stores.sqlite_reader import SqliteReader
from taisai.rules import Rulebook
from taisai.rules.book import rulebook_from
from tests.game.past_rounds import compiled_once
from tests.game.playbooks import book_of, some_playbooks, told
from tests.game.snapshots import snapshot
from tests.journal.contract import ID, SECRET, opened
from tests.journal.journal_sabotages import around
from tests.tiers import LONG, drawn

pytestmark = pytest.mark.part(name="disk-faults")

LATER: Final = 10**12
"""How much later the House is back, in milliseconds: longer than any playbook takes."""
SNAPSHOT_EVERY: Final = 2
"""Few, so that starts are made from many snapshots, and from one before a correction as from one after."""


@pytest.fixture(scope="module", autouse=True)
def _quickly() -> Iterator[None]:
    """Rulebooks and terms follow from their texts; thousands of starts need not compile them."""
    with compiled_once(), pytest.MonkeyPatch.context() as patched:
        patched.setattr(journal_module, "rulebook_from", cache(rulebook_from))
        yield


# A playbook as an engine is asked it


class Asked(NamedTuple):
    """A command of a playbook, what the game answers it, and all that had happened up to then."""

    ask: Submission
    answer: Answer
    past: tuple[Event, ...]
    """After it."""


def asked(name: str) -> list[Asked]:
    """The commands of a playbook, those of its header first."""
    story, book = told(name).story, book_of(told(name).story.book)
    stream, table = stream_of(story.opening.table), Table(book)
    commands: list[Asked] = []
    past: tuple[Event, ...] = ()

    def add(command: Command, answer: Answer, brings: Rulebook | None = None) -> None:
        nonlocal past
        happened: Any = () if isinstance(answer, Refusal) else answer
        past += happened
        commands.append(Asked(Submission(stream, command, brings), answer, past))

    events = iter(told(name).opened)
    add(story.opening, (next(events),), book)
    table = replayed(book, past)
    for _, said in story.people:
        add(said.command(table, story.opening.at), (next(events),))
    for played in told(name).played:
        add(played.command, played.events if played.refusal is None else played.refusal)
    return commands


# A file as far as it had been written


class KeepsAll(SqliteStore):
    """A store that throws no snapshot away, so that there is one for every prefix."""

    def keep(self, snapshot: StoredSnapshot, parts: Mapping[int, bytes]) -> None:
        """Beside those before."""
        stream, version, body = snapshot
        rows = [(stream, number, version, sha256(one).digest(), one) for number, one in parts.items()]
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?, ?)",
                (stream, version, sha256(body).digest(), body),
            )
            connection.executemany("INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?)", rows)


class Upto:
    """A journal's file as it was when it had so many entries; what is written now is written nowhere."""

    def __init__(self, reader: SqliteReader, size: int) -> None:
        self._reader = reader
        self._size = size
        self.appended: list[Row] = []

    def append(self, rows: Sequence[Row], _head: Head | None = None) -> None:
        """Takes note."""
        self.appended += rows

    def rows(self, *, after: int = 0, stream: str | None = None) -> Iterator[Row]:
        """The rows that were there."""
        rows = self._reader.rows(after=after, stream=stream)
        return (row for row in rows if row.position <= self._size)

    def head(self) -> Head | None:
        """The head that there was."""
        tree, last = Frontier(), ""
        for row in self.rows():
            last = leaf_hash(row.body).hex()
            tree.append(bytes.fromhex(last))
        return head_of(SECRET, ID, tree, last) if tree.size else None

    def last(self) -> Row | None:
        """The last of them."""
        return next(self.rows(after=self._size - 1), None)

    def version(self, stream: str) -> int:
        """How many of a stream there were."""
        return sum(1 for _ in self.rows(stream=stream))

    def streams(self) -> list[str]:
        """The streams that there were."""
        return list(dict.fromkeys(row.stream for row in self.rows()))

    def snapshot(self, stream: str, version: int | None = None) -> StoredSnapshot | None:
        """The latest snapshot that there was."""
        upto = self._size if stream == TREE else self.version(stream)
        kept = [one for name, one in self._reader.snapshots() if name == stream and one <= (version or upto)]
        return self._reader.snapshot(stream, max(kept)) if kept else None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)


class Prefix(NamedTuple):
    """What has been asked so far, and how many entries that made."""

    last: Asked
    size: int


def written(path: Path, name: str, *, snapshot_every: int) -> list[Prefix]:
    """Asks an engine a whole playbook: what was in the file after each command that left something in it."""
    prefixes: list[Prefix] = []
    with closing(KeepsAll(path)) as store:
        engine = Engine(opened(store, secret=SECRET), snapshot_every=snapshot_every)
        for one in asked(name):
            answer = engine.answer_all([one.ask])[0]
            assert answer == one.answer, f"{name}: {one.ask.command}"
            assert engine.journal.version(one.ask.stream) == len(one.past)
            if answer and not isinstance(answer, Refusal):
                prefixes.append(Prefix(one, engine.journal.size))
    return prefixes


ONE_OF: Final = 1 if LONG else 4
"""Of so many prefixes the short tier starts from one."""


def faults_of(path: Path, name: str, *, snapshot_every: int, one_of: int = 1) -> list[str]:
    """What a start from the file makes otherwise than the game alone, at one of so many prefixes."""
    prefixes = written(path, name, snapshot_every=snapshot_every)
    book, table = book_of(told(name).story.book), told(name).story.opening.table
    faults: list[str] = []
    with closing(SqliteReader(path)) as reader:
        first = drawn(f"prefixes of {name}").randrange(one_of)
        for place, (last, size) in list(enumerate(prefixes))[first::one_of]:
            engine = Engine(Journal(Upto(reader, size), secret=SECRET))
            where = f"{name} after command {place}"
            if snapshot(engine.table(table)) != snapshot(replayed(book, last.past)):
                faults.append(f"{where}: another table")
            command: Any = last.ask.command
            at = command.at + LATER
            right = recover(last.past, book, at=at)
            if engine.recover(at=at) != {table: right.events}:
                faults.append(f"{where}: recovery decides otherwise")
            if snapshot(engine.table(table)) != snapshot(right.table):
                faults.append(f"{where}: another table after recovery")
    return faults


@some_playbooks
def test_every_prefix_on_disk_is_the_table_of_its_events_and_recovers_alike(
    tmp_path: Path, name: str
) -> None:
    assert faults_of(tmp_path / "journal", name, snapshot_every=10_000, one_of=ONE_OF) == []


@some_playbooks
def test_so_it_is_where_snapshots_were_kept(tmp_path: Path, name: str) -> None:
    assert faults_of(tmp_path / "journal", name, snapshot_every=SNAPSHOT_EVERY, one_of=ONE_OF) == []


def test_starts_are_made_from_many_snapshots_and_a_corrected_round_is_among_them(tmp_path: Path) -> None:
    path, name = tmp_path / "journal", "rws-wrong-result"
    prefixes = written(path, name, snapshot_every=SNAPSHOT_EVERY)
    stream = prefixes[0].last.ask.stream
    with closing(SqliteReader(path)) as reader:
        used = {Upto(reader, size).snapshot(stream) for _, size in prefixes}
        rounds = {reader.part(stream, 1, version) for _, version in reader.snapshots()}
    assert len(used) > 4
    assert len(rounds - {None}) >= 2


# Sabotage


def _another_player(real: Any, self: Codec, body: bytes, position: int) -> Any:
    place, event = real(self, body, position)
    return place, replace(event, player="Eve") if isinstance(event, SeatTaken) else event


def _as_if_nobody_felt_it(real: Any, self: Engine, *, at: int, stopped_for: int | None = None) -> Any:
    return real(self, at=at, stopped_for=stopped_for or 0)


def _from_the_snapshot_alone(real: Any, self: Engine, *given: Any, after: int = 0, **named: Any) -> None:
    if not after:
        real(self, *given, **named)


SABOTAGES: Final[dict[str, tuple[Any, str, Callable[..., Any], str]]] = {
    "another player is read": (Codec, "decode_event", _another_player, "another table"),
    "a stop counts as one that nobody felt": (
        Engine,
        "recover",
        _as_if_nobody_felt_it,
        "recovery decides otherwise",
    ),
    "what came after a snapshot is lost": (Engine, "_replay", _from_the_snapshot_alone, "another table"),
}


@pytest.mark.parametrize("what", SABOTAGES)
def test_sabotage_of_a_start_is_noticed(tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, wrapper, says = SABOTAGES[what]
    around(owner, name, wrapper)(monkeypatch)
    faults: list[str] = []
    for every in (10_000, SNAPSHOT_EVERY):
        faults += faults_of(tmp_path / str(every), "rws-power-failure", snapshot_every=every)
    assert [fault for fault in faults if fault.endswith(says)]

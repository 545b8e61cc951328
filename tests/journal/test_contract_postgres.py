"""The PostgreSQL database: append-only by rights and triggers, one writer, and no lost answer believed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import asyncpg
import pytest

from taisai.audit.verify import verified
from taisai.journal.engine import Engine
from taisai.journal.errors import ConflictError, DamagedError, FencedError, InDoubtError, JournalError
from taisai.journal.journal import Journal
from taisai.journal.stores.contract import Row, StoredCheckpoint, StoredSnapshot
from taisai.journal.stores.database_urls import without_password
from taisai.journal.stores.postgres import PostgresStore
from taisai.journal.stores.postgres_reader import PostgresReader, prepare
from taisai.journal.streams import RECENT
from tests.journal.contract import KEY, SB1, SB2, SECRET, InPostgres, filled, opened, play, rows_of, shut
from tests.journal.evening import START, TABLE_STREAM, evening
from tests.journal.test_contract_snapshots import CORRECTIONS
from tests.postgres import PostgresServer, postgres_server

# By hand

EVENING = evening(seats=2, rounds=RECENT + 4).batches

OF_JOURNAL = "journal = (SELECT number FROM taisai.journal WHERE name = $$NAME$$)"
COPIED = "SELECT journal, 9, stream, 99, body FROM taisai.entry WHERE position = 1"
BY_HAND = {
    "an entry is changed": f"UPDATE taisai.entry SET body = '{{}}' WHERE position = 3 AND {OF_JOURNAL}",
    "an entry is deleted": f"DELETE FROM taisai.entry WHERE position = 7 AND {OF_JOURNAL}",
    "all entries are deleted": "TRUNCATE taisai.entry",
    "a position is left out": f"INSERT INTO taisai.entry {COPIED} AND {OF_JOURNAL}",
    "an entry is added beside the size": (
        f"INSERT INTO taisai.entry SELECT journal, 8, stream, 99, body FROM taisai.entry"
        f" WHERE position = 1 AND {OF_JOURNAL}"
    ),
    "an entry is changed on conflict": (
        f"INSERT INTO taisai.entry SELECT journal, 7, stream, 99, body FROM taisai.entry WHERE position = 1"
        f" AND {OF_JOURNAL} ON CONFLICT (journal, position) DO UPDATE SET body = '{{}}'"
    ),
    "a stream is renamed": f"UPDATE taisai.stream SET name = 'table:SB9' WHERE number = 2 AND {OF_JOURNAL}",
    "a stream is shortened": f"UPDATE taisai.stream SET version = 1 WHERE number = 2 AND {OF_JOURNAL}",
    "a stream is deleted": f"DELETE FROM taisai.stream WHERE number = 2 AND {OF_JOURNAL}",
    "a checkpoint is changed": f"UPDATE taisai.checkpoint SET text = 'all is well' WHERE {OF_JOURNAL}",
    "a checkpoint is deleted": f"DELETE FROM taisai.checkpoint WHERE {OF_JOURNAL}",
    "a checkpoint goes back": (
        f"INSERT INTO taisai.checkpoint SELECT journal, 2, 3, text FROM taisai.checkpoint WHERE {OF_JOURNAL}"
    ),
    "the newest checkpoint goes back": f"UPDATE taisai.newest SET size = 3 WHERE {OF_JOURNAL}",
    "the newest checkpoint is deleted": f"DELETE FROM taisai.newest WHERE {OF_JOURNAL}",
    "a journal is shortened": "UPDATE taisai.journal SET size = 3 WHERE name = $$NAME$$",
    "a fence goes back": "UPDATE taisai.journal SET fence = 0 WHERE name = $$NAME$$",
    "a journal is deleted": "DELETE FROM taisai.journal WHERE name = $$NAME$$",
}
KEPT = ("journal", "stream", "entry", "checkpoint", "newest")


def contents(made: InPostgres) -> list[Any]:
    """All that is kept for ever."""
    kept = []
    for table in KEPT:
        where = "name = $1" if table == "journal" else OF_JOURNAL.replace("$$NAME$$", "$1")
        columns = "number, name, fence, size" if table == "journal" else "*"
        kept.append(made.raw(f"SELECT {columns} FROM taisai.{table} WHERE {where}", made.name))
    return kept


@pytest.mark.parametrize("name", BY_HAND)
def test_no_program_changes_the_past_whatever_its_rights(in_postgres: InPostgres, name: str) -> None:
    journal = filled(in_postgres())
    journal.seal(KEY, at=START)
    journal.seal_newest(KEY, at=START)
    before = contents(in_postgres)
    with pytest.raises(asyncpg.PostgresError) as refused:
        in_postgres.raw(BY_HAND[name].replace("$$NAME$$", f"'{in_postgres.name}'"))
    assert isinstance(refused.value, asyncpg.RestrictViolationError | asyncpg.UniqueViolationError), (
        refused.value
    )
    assert contents(in_postgres) == before


@pytest.fixture(scope="module")
def roles(postgres: PostgresServer) -> None:
    """A role that may write to journals and one that may read them, as a house would have."""
    asyncio.run(
        postgres.execute("CREATE ROLE floor LOGIN; CREATE ROLE auditor LOGIN; CREATE ROLE stranger LOGIN")
    )
    prepare(postgres.url(), writers=("floor",), readers=("auditor",))


@pytest.mark.usefixtures("roles")
def test_a_writer_writes_through_functions_alone(in_postgres: InPostgres, postgres: PostgresServer) -> None:
    store = PostgresStore(postgres.url(user="floor"), in_postgres.name)
    try:
        journal = filled(store, secret=SECRET)
        journal.store.keep_secret("password:Sue", b"hash")
        assert len(rows_of(journal)) == 7
    finally:
        store.close()
    for statement in (
        "INSERT INTO taisai.entry VALUES (1, 8, 1, 9, '{}')",
        "UPDATE taisai.journal SET owner = 'me'",
        "UPDATE taisai.snapshot SET body = ''",
        "DELETE FROM taisai.vault",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            in_postgres.raw(statement, user="floor")


@pytest.mark.usefixtures("roles")
def test_an_auditor_reads_entries_and_no_secrets(in_postgres: InPostgres, postgres: PostgresServer) -> None:
    journal = filled(in_postgres(), secret=SECRET)
    reader = PostgresReader(postgres.url(user="auditor"), in_postgres.name)
    try:
        assert list(reader.rows()) == rows_of(journal)
        assert (reader.last(), reader.faults()) == (rows_of(journal)[-1], [])
    finally:
        reader.close()
    for statement in ("SELECT * FROM taisai.vault", f"SELECT taisai.take('{in_postgres.name}', 'me', 9)"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            in_postgres.raw(statement, user="auditor")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        in_postgres.raw("SELECT * FROM taisai.entry", user="stranger")


# Opening


def test_a_database_that_was_never_prepared_says_what_to_run(postgres: PostgresServer) -> None:
    asyncio.run(postgres.execute("CREATE DATABASE bare"))
    with pytest.raises(JournalError, match="no journals of Taisai; run `taisai database prepare`"):
        PostgresStore(postgres.url("bare"), "house")
    assert prepare(postgres.url("bare")) == prepare(postgres.url("bare"))
    PostgresStore(postgres.url("bare"), "house").close()
    asyncio.run(postgres.execute("INSERT INTO taisai.version VALUES (999)", database="bare"))
    with pytest.raises(JournalError, match="got version 999; use a newer Taisai"):
        PostgresStore(postgres.url("bare"), "house")
    with pytest.raises(JournalError, match="got version 999, made by a newer Taisai"):
        prepare(postgres.url("bare"))


def test_a_trigger_that_is_off_is_found(postgres: PostgresServer) -> None:
    asyncio.run(postgres.execute("CREATE DATABASE tampered"))
    prepare(postgres.url("tampered"))
    asyncio.run(postgres.execute("ALTER TABLE taisai.entry DISABLE TRIGGER entry_stays", database="tampered"))
    with pytest.raises(DamagedError, match="entry_stays missing or disabled"):
        PostgresStore(postgres.url("tampered"), "house")


@pytest.mark.parametrize("setting", ["synchronous_commit"])
def test_a_database_that_acknowledges_before_its_disk_has_it_is_refused(
    postgres: PostgresServer, setting: str
) -> None:
    asyncio.run(postgres.execute("CREATE ROLE hasty LOGIN"))
    asyncio.run(postgres.execute(f"ALTER ROLE hasty SET {setting} = off"))
    prepare(postgres.url(), writers=("hasty",))
    with pytest.raises(JournalError, match=f"unsafe database: {setting} is off"):
        PostgresStore(postgres.url(user="hasty"), "hasty")


def test_a_server_without_sync_is_refused() -> None:
    problem = "unsafe database: fsync is off; a power failure loses bets"
    with postgres_server({"fsync": "off"}) as server, pytest.raises(JournalError, match=problem):
        PostgresStore(server.url(), "house")


def test_a_server_that_is_not_there_is_told_without_its_password() -> None:
    with pytest.raises(JournalError) as refused:
        PostgresStore("postgresql://floor:hunter2@127.0.0.1:1/house", "house")
    assert "hunter2" not in str(refused.value)
    assert "postgresql://floor@127.0.0.1:1/house" in str(refused.value)
    assert without_password("postgresql:///house?host=/run") == "postgresql:///house?host=/run"
    secret = "postgresql://h:5432/house?host=/run&password=hunter2&sslPassword=hunter2#lotus"
    assert without_password(secret) == "postgresql://h:5432/house?host=/run&password=…&sslPassword=…#lotus"


# One writer


def test_a_second_writer_is_told_who_has_the_journal(
    in_postgres: InPostgres, postgres: PostgresServer
) -> None:
    first = in_postgres()
    with pytest.raises(ConflictError, match=rf"{first.owner} holds its lease for \d\.\d seconds more"):
        PostgresStore(postgres.url(), in_postgres.name)


def test_a_journal_that_was_closed_is_taken_at_once(
    in_postgres: InPostgres, postgres: PostgresServer
) -> None:
    filled(in_postgres())
    in_postgres.close()
    second = PostgresStore(postgres.url(), in_postgres.name)
    assert second.version(SB1) == 4
    second.close()


def silent(postgres: PostgresServer, name: str, lease: float = 0.3) -> PostgresStore:
    """A writer that renews nothing, as one whose process was stopped for a while."""
    store = PostgresStore(postgres.url(), name, lease=lease)
    store._database._loop.call_soon_threadsafe(
        lambda: [task.cancel() for task in asyncio.all_tasks(store._database._loop)]
    )
    return store


def taken_from(postgres: PostgresServer, name: str) -> PostgresStore:
    """The next writer, as soon as the lease of the one before has ended."""
    until = time.monotonic() + 30
    while True:
        try:
            return PostgresStore(postgres.url(), name)
        except ConflictError:
            assert time.monotonic() < until
            time.sleep(0.05)


WRITES = {
    "entries": lambda store: store.append([Row(8, SB1, 5, b"late")]),
    "a checkpoint": lambda store: store.seal(StoredCheckpoint(7, "late")),
    "a snapshot": lambda store: store.keep(StoredSnapshot(SB1, 4, b"late"), {1: b"late"}),
    "a secret": lambda store: store.keep_secret("password:Sue", b"late"),
    "no snapshots": lambda store: store.forget(),
}


@pytest.mark.parametrize("what", WRITES)
def test_a_writer_that_slept_over_its_lease_writes_nothing_more(
    in_postgres: InPostgres, postgres: PostgresServer, what: str
) -> None:
    stale = silent(postgres, in_postgres.name)
    filled(stale)
    successor = taken_from(postgres, in_postgres.name)
    try:
        before = contents(in_postgres)
        for _ in range(2):
            with pytest.raises(FencedError, match=f"fenced: {successor.owner} has taken the journal"):
                WRITES[what](stale)
        with pytest.raises(FencedError):
            stale.expect_writer()
        assert contents(in_postgres) == before
        assert (successor.snapshots(), successor.secrets()) == ([], [])
        Journal(successor).append([shut(8)])  # the successor goes on as if nobody had tried
        assert successor.version(SB1) == 5
    finally:
        stale.close()
        successor.close()


def test_a_lease_is_renewed_while_nothing_is_written(
    in_postgres: InPostgres, postgres: PostgresServer
) -> None:
    store = PostgresStore(postgres.url(), in_postgres.name, lease=1.0)
    try:
        time.sleep(2.5)
        store.expect_writer()
        with pytest.raises(ConflictError):
            PostgresStore(postgres.url(), in_postgres.name)
    finally:
        store.close()


def test_a_writer_that_cannot_renew_says_so_before_anybody_else_writes(
    in_postgres: InPostgres, postgres: PostgresServer
) -> None:
    clock = [100.0]
    store = PostgresStore(postgres.url(), in_postgres.name, lease=60, now=lambda: clock[0])
    try:
        store.expect_writer()
        clock[0] += 60
        with pytest.raises(FencedError, match="the lease could not be renewed in time"):
            store.expect_writer()
        store.append([Row(1, SB2, 1, b"first")])  # the database still knows it as the writer
        store.expect_writer()
    finally:
        store.close()


# A lost answer


def cut(postgres: PostgresServer) -> None:
    """Ends every connection to the server but its own."""
    asyncio.run(
        postgres.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1",
            "taisai",
        )
    )


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    """A server that may be stopped without harm to other tests."""
    with postgres_server() as server:
        yield server


def test_connections_that_break_between_writes_are_made_again(own_server: PostgresServer) -> None:
    store = PostgresStore(own_server.url(), "house")
    try:
        journal = filled(store)
        cut(own_server)
        assert store.version(SB1) == 4
        cut(own_server)
        journal.append([shut(8)])
        cut(own_server)
        store.keep_secret("password:Sue", b"hash")
        assert (store.version(SB1), store.secret("password:Sue")) == (5, b"hash")
        assert [row.position for row in store.rows()] == list(range(1, 9))
    finally:
        store.close()


def test_a_lease_is_renewed_over_a_connection_that_broke_while_nothing_is_written(
    own_server: PostgresServer,
) -> None:
    store = PostgresStore(own_server.url(), "house", lease=1.0)
    try:
        cut(own_server)
        time.sleep(1.5)
        store.expect_writer()
        cut(own_server)
        filled(store)
        assert store.version(SB1) == 4
    finally:
        store.close()


def test_a_writer_that_waits_outlives_a_restart_of_the_database(own_server: PostgresServer) -> None:
    stale = silent(own_server, "house", lease=2.0)
    waiting = ThreadPoolExecutor(1)
    try:
        successor = waiting.submit(PostgresStore, own_server.url(), "house", wait=60)
        time.sleep(0.5)
        own_server.kill()
        time.sleep(0.5)
        own_server.start()
        successor.result(60).close()
    finally:
        stale.close()
        waiting.shutdown()


def test_a_database_that_has_lost_entries_is_told_and_not_written_to(
    in_postgres: InPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A standby that did not have the latest took the place of the database."""
    store = in_postgres()
    journal = filled(store)
    call, again = store._call, store._take_again

    async def losing(_sql: str, _values: Any) -> str:
        monkeypatch.setattr(store, "_call", call)
        raise ConnectionResetError("the line was cut")

    async def behind() -> int:
        return await again() - 2

    monkeypatch.setattr(store, "_call", losing)
    monkeypatch.setattr(store, "_take_again", behind)
    for says in ("the database has lost entries: expected 7, got 5", "open the journal again"):
        with pytest.raises(InDoubtError, match=says):
            journal.append([shut(8)])
    assert len(rows_of(journal)) == 7


def test_threads_that_read_at_once_disturb_neither_each_other_nor_the_writer(in_postgres: InPostgres) -> None:
    store = in_postgres()
    journal = filled(store)

    def reads() -> list[int]:
        return [len(list(store.rows())) for _ in range(30)]

    with ThreadPoolExecutor(3) as threads:
        reading = [threads.submit(reads) for _ in range(3)]
        for number in range(8, 28):
            journal.append([shut(number)])
    for found in reading:
        assert found.result() == sorted(found.result())
    assert len(rows_of(journal)) == 27


@pytest.mark.parametrize("is_written", [True, False], ids=["written", "not-written"])
def test_an_append_whose_answer_is_lost_happens_once(
    in_postgres: InPostgres, monkeypatch: pytest.MonkeyPatch, *, is_written: bool
) -> None:
    store = in_postgres()
    journal = filled(store)
    call = store._call

    async def losing(sql: str, values: Any) -> str:
        monkeypatch.setattr(store, "_call", call)
        if is_written:
            await call(sql, values)
        raise ConnectionResetError("the line was cut")

    monkeypatch.setattr(store, "_call", losing)
    journal.append([shut(8)])
    assert [row[:3] for row in rows_of(journal)][7:] == [(8, SB1, 5)]
    journal.append([shut(9)])
    assert rows_of(Journal(in_postgres()))[-1][:3] == (9, SB1, 6)


def test_while_the_server_is_gone_nothing_is_acknowledged(own_server: PostgresServer) -> None:
    store = PostgresStore(own_server.url(), "house")
    try:
        journal = opened(store)
        own_server.kill()
        with pytest.raises(InDoubtError):
            journal.append([shut(1)])
        own_server.start()
        with pytest.raises(InDoubtError, match="open the journal again"):
            journal.append([shut(1)])
        assert [row.position for row in store.rows()] == [1]
    finally:
        store.close()


# An audit beside the writer


@pytest.mark.parametrize("is_forgotten", [False, True], ids=["replaced", "forgotten"])
def test_an_audit_is_silent_about_snapshots_that_the_writer_replaces_meanwhile(
    in_postgres: InPostgres, monkeypatch: pytest.MonkeyPatch, *, is_forgotten: bool
) -> None:
    engine = Engine(opened(in_postgres(), secret=SECRET), snapshot_every=5)
    play(engine, EVENING)
    hold_still = PostgresReader.hold_still

    def writing(reader: PostgresReader) -> None:
        hold_still(reader)
        play(engine, CORRECTIONS[:1])
        if is_forgotten:
            engine.journal.store.forget()
        else:
            engine.snapshot(TABLE_STREAM)

    monkeypatch.setattr(PostgresReader, "hold_still", writing)
    place = f"{in_postgres.server.url()}#{in_postgres.name}"
    entries = engine.journal.size
    assert verified(place).entries == entries
    assert engine.journal.size > entries


def test_an_audit_finds_a_snapshot_that_somebody_damaged(in_postgres: InPostgres) -> None:
    engine = Engine(opened(in_postgres(), secret=SECRET), snapshot_every=5)
    play(engine, EVENING)
    where = OF_JOURNAL.replace("$$NAME$$", f"'{in_postgres.name}'")
    in_postgres.raw(f"UPDATE taisai.snapshot SET body = 'x' WHERE {where} AND stream = '{TABLE_STREAM}'")
    with pytest.raises(DamagedError, match=f"the snapshot of {TABLE_STREAM} after"):
        verified(f"{in_postgres.server.url()}#{in_postgres.name}")


# What it can say


def test_rows_are_read_in_pages(in_postgres: InPostgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taisai.journal.stores.postgres_reader.PAGE", 2)
    store = in_postgres()
    journal = filled(store)
    assert [row.position for row in store.rows()] == list(range(1, 8))
    assert [row.version for row in store.rows(stream=SB1)] == [1, 2, 3, 4]
    reader = PostgresReader(in_postgres.server.url(), in_postgres.name)
    try:
        reader.hold_still()
        journal.append([shut(8)])
        assert [row.position for row in reader.rows()] == list(range(1, 8))
        assert (reader.version(SB1), store.version(SB1)) == (4, 5)
    finally:
        reader.close()


def test_what_the_tables_say_of_themselves_is_compared(in_postgres: InPostgres) -> None:
    store = in_postgres()
    filled(store)
    assert (store.faults(), store.standbys()) == ([], "none")
    in_postgres.raw(
        "UPDATE taisai.stream SET version = version + 1 WHERE name = 'house' AND "
        + OF_JOURNAL.replace("$$NAME$$", f"'{in_postgres.name}'")
    )
    assert store.faults() == ["the journal has 7 entries, but 7 entries by its own row, 8 by its streams"]

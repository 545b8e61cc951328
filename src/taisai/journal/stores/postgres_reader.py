"""A reader of a journal in a PostgreSQL database. It can run beside the writer."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from hashlib import sha256
from typing import Any, Final, TypeVar

from taisai.journal.errors import DamagedError, JournalError
from taisai.journal.stores.contract import (
    Head,
    NewestCheckpoint,
    Row,
    StoredCheckpoint,
    StoredSnapshot,
    with_newest,
)
from taisai.journal.stores.postgres_connections import ERRORS, Database, error_of, is_lost
from taisai.journal.stores.postgres_schema import GRANTS_TO_READER, GRANTS_TO_WRITER, MIGRATIONS, TRIGGERS

T = TypeVar("T")

PAGE: Final = 2_000  # rows of one query: some hundred kilobytes
UNSAFE: Final = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
"""Settings of the server under which an acknowledged bet can be lost when the power fails."""

SIZE: Final = "SELECT size FROM taisai.journal WHERE number = $1"
_ALL: Final = (
    "SELECT e.position, s.name, e.version, e.body FROM taisai.entry e"
    " JOIN taisai.stream s ON s.journal = e.journal AND s.number = e.stream"
    " WHERE e.journal = $1 AND e.position > $2 AND e.position <= $3 ORDER BY e.position LIMIT $4"
)
_OF_STREAM: Final = (
    "SELECT e.position, s.name, e.version, e.body FROM taisai.entry e"
    " JOIN taisai.stream s ON s.journal = e.journal AND s.number = e.stream"
    " WHERE e.journal = $1 AND s.name = $5 AND e.version > $2 AND e.position <= $3 ORDER BY e.version"
    " LIMIT $4"
)
_ENABLED: Final = (
    "SELECT t.tgname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
    " JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = 'taisai' AND NOT t.tgisinternal AND t.tgenabled IN ('O', 'A')"
)
_NEVER: Final = 2**63 - 1


class PostgresReader:
    """A journal in a PostgreSQL database, opened for reading only."""

    def __init__(self, url: str, name: str) -> None:
        self.name = name
        self._database = Database(url)
        self.path = f"{self._database.place}, journal {name}"
        self._reading_turn = asyncio.Lock()
        self._until = _NEVER
        self._held: list[tuple[str, int]] | None = None
        """The snapshots that there were when the view was frozen."""
        try:
            self._reading = self._asked(self._database.connect())
            self._check()
            self._number = self._found()
        except BaseException:
            self._database.close()
            raise

    def _asked(self, work: Coroutine[Any, Any, T], what: str = "be read") -> T:
        try:
            return self._database.run(work)
        except ERRORS as error:
            raise error_of(error, self.path, what) from None

    def _read(self, sql: str, *values: Any) -> Any:
        """Rows of a query; a reader whose connection broke connects again, once."""
        return self._asked(self._fetch(sql, values))

    async def _fetch(self, sql: str, values: tuple[Any, ...]) -> Any:
        async with self._reading_turn:  # a connection answers one query at a time
            try:
                return await self._reading.fetch(sql, *values)
            except ERRORS as error:
                if not is_lost(error):
                    raise
                await self._database.drop(self._reading)
                self._reading = await self._database.connect()
                return await self._reading.fetch(sql, *values)

    def _check(self) -> None:
        """Refuses a database without journals, or with those of a newer Taisai."""
        if not self._read("SELECT to_regclass('taisai.version') IS NOT NULL AS found")[0]["found"]:
            todo = "run `taisai database prepare` first"
            raise JournalError(f"the database has no journals of Taisai; {todo} ({self._database.place})")
        version = self._read("SELECT max(number) AS number FROM taisai.version")[0]["number"] or 0
        if version != len(MIGRATIONS):
            todo = "run `taisai database prepare`" if version < len(MIGRATIONS) else "use a newer Taisai"
            expected = f"expected journals of version {len(MIGRATIONS)}, got version {version}"
            raise JournalError(f"{expected}; {todo} ({self._database.place})")
        missing = TRIGGERS - {name for (name,) in self._read(_ENABLED)}
        if missing:
            problem = f"the triggers of the journal were tampered with: {', '.join(sorted(missing))}"
            raise DamagedError(0, f"{problem} missing or disabled ({self._database.place})")

    def _found(self) -> int:
        found = self._read("SELECT number FROM taisai.journal WHERE name = $1", self.name)
        if not found:
            raise JournalError(f"the database has no journal {self.name!r} ({self._database.place})")
        return int(found[0]["number"])

    def hold_still(self) -> None:
        """Freezes the view: later entries are not seen."""
        found = self._read(
            "SELECT j.size, s.stream, s.version FROM taisai.journal j"
            " LEFT JOIN taisai.snapshot s ON s.journal = j.number WHERE j.number = $1 ORDER BY s.stream",
            self._number,
        )
        self._until = found[0]["size"]
        self._held = [(stream, version) for _, stream, version in found if stream is not None]

    # Entries

    def rows(self, *, after: int = 0, stream: str | None = None) -> Iterator[Row]:
        """The rows in order, a page at a time: a journal may be larger than memory."""
        sql, more = (_ALL, ()) if stream is None else (_OF_STREAM, (stream,))
        while True:
            page = self._read(sql, self._number, after, self._until, PAGE, *more)
            for position, name, version, body in page:
                yield Row(position, name, version, body)
            if len(page) < PAGE:
                return
            after = page[-1][0 if stream is None else 2]

    def last(self) -> Row | None:
        size = min(self._until, self._read(SIZE, self._number)[0]["size"])
        return next(self.rows(after=max(size - 1, 0)), None)

    def version(self, stream: str) -> int:
        if self._until != _NEVER:
            return max((row.version for row in self.rows(stream=stream)), default=0)
        found = self._read(
            "SELECT version FROM taisai.stream WHERE journal = $1 AND name = $2", self._number, stream
        )
        return found[0]["version"] if found else 0

    def streams(self) -> list[str]:
        found = self._read("SELECT name FROM taisai.stream WHERE journal = $1 ORDER BY number", self._number)
        return [name for (name,) in found]

    def head(self) -> Head | None:
        found = self._read(
            "SELECT head_size, mac FROM taisai.journal WHERE number = $1 AND mac <> ''", self._number
        )
        return next((Head(size, mac) for size, mac in found), None)

    # Checkpoints

    def checkpoints(self) -> list[StoredCheckpoint]:
        return list(with_newest(self._stored("number"), self.newest()))

    def sealed(self) -> Iterator[StoredCheckpoint]:
        """The checkpoints by size, one by one."""
        return with_newest(self._stored("size, number"), self.newest())

    def _stored(self, order: str) -> Iterator[StoredCheckpoint]:
        where = "WHERE journal = $1 AND size <= $2"
        sql = f"SELECT size, text FROM taisai.checkpoint {where} ORDER BY {order}"  # noqa: S608  our own words
        return (StoredCheckpoint(size, text) for size, text in self._read(sql, self._number, self._until))

    def newest(self) -> NewestCheckpoint | None:
        sql = "SELECT size, text, tree FROM taisai.newest WHERE journal = $1 AND size <= $2"
        return next((NewestCheckpoint(*row) for row in self._read(sql, self._number, self._until)), None)

    def backwards(self) -> list[tuple[int, int]]:
        """Both sizes of each checkpoint over fewer entries than the one stored before it."""
        sql = (
            "SELECT before, size FROM (SELECT size, lag(size) OVER (ORDER BY number) AS before"
            " FROM taisai.checkpoint WHERE journal = $1) c WHERE size < before"
        )
        return [(before, size) for before, size in self._read(sql, self._number)]

    # Snapshots

    def snapshots(self) -> list[tuple[str, int]]:
        if self._held is not None:
            return self._held
        sql = "SELECT stream, version FROM taisai.snapshot WHERE journal = $1 ORDER BY stream, version"
        return [(stream, version) for stream, version in self._read(sql, self._number)]

    def snapshot(self, stream: str, version: int | None = None) -> StoredSnapshot | None:
        """The latest snapshot of a stream, or that of a version; None if it is damaged."""
        sql = (
            "SELECT version, digest, body FROM taisai.snapshot"
            " WHERE journal = $1 AND stream = $2 AND ($3::bigint IS NULL OR version = $3)"
        )
        found = self._read(sql, self._number, stream, version)
        return next(
            (StoredSnapshot(stream, at, body) for at, digest, body in found if _is_intact(digest, body)), None
        )

    def is_replaced(self, stream: str, version: int) -> bool:
        """Whether the writer has replaced or deleted a snapshot since the view was frozen."""
        sql = "SELECT FROM taisai.snapshot WHERE journal = $1 AND stream = $2 AND version = $3"
        return not self._read(sql, self._number, stream, version)

    def part(self, stream: str, number: int, version: int) -> bytes | None:
        """The latest part by its number, up to a version; None if it is damaged."""
        sql = (
            "SELECT digest, body FROM taisai.part"
            " WHERE journal = $1 AND stream = $2 AND number = $3 AND version <= $4"
        )
        found = self._read(sql, self._number, stream, number, version)
        return next((body for digest, body in found if _is_intact(digest, body)), None)

    def parts(self, stream: str, version: int) -> list[int]:
        sql = (
            "SELECT number FROM taisai.part WHERE journal = $1 AND stream = $2 AND version <= $3"
            " ORDER BY number"
        )
        return [number for (number,) in self._read(sql, self._number, stream, version)]

    # The database

    def faults(self) -> list[str]:
        """Differences between what the tables say of themselves and what they hold."""
        found = self._read(
            "SELECT j.size, (SELECT count(*) FROM taisai.entry e WHERE e.journal = j.number) AS entries,"
            " (SELECT coalesce(sum(s.version), 0)::bigint FROM taisai.stream s"
            " WHERE s.journal = j.number) AS versions"
            " FROM taisai.journal j WHERE j.number = $1",
            self._number,
        )[0]
        if found["size"] == found["entries"] == found["versions"]:
            return []
        said = f"{found['size']} entries by its own row, {found['versions']} by its streams"
        return [f"the journal has {found['entries']} entries, but {said}"]

    def standbys(self) -> str:
        """Whether another server has every commit: 'synchronous', 'asynchronous', 'none' or 'unknown'."""
        found = self._read(
            "SELECT current_setting('synchronous_standby_names') AS wanted,"
            " (SELECT count(*) FROM pg_stat_replication) AS standbys,"
            " (SELECT count(*) FROM pg_stat_replication"
            " WHERE sync_state IN ('sync', 'quorum')) AS synchronous,"
            " (SELECT count(*) FROM pg_stat_replication WHERE sync_state IS NULL) AS hidden"
        )[0]
        if found["synchronous"]:
            return "synchronous"
        if found["hidden"]:
            return "unknown"
        return "asynchronous" if found["standbys"] else "none"

    def close(self) -> None:
        self._database.close()


def _is_intact(digest: object, body: bytes) -> bool:
    return sha256(body).digest() == digest


def prepare(url: str, *, writers: tuple[str, ...] = (), readers: tuple[str, ...] = ()) -> int:
    """Makes or updates the tables of journals, as the owner of the database; returns their version.

    `writers` and `readers` are roles of the server that then may write and audit.
    """
    database = Database(url)
    try:
        return database.run(_prepare(database, writers, readers))
    except ERRORS as error:
        raise error_of(error, database.place, "be prepared") from None
    finally:
        database.close()


async def _prepare(database: Database, writers: tuple[str, ...], readers: tuple[str, ...]) -> int:
    connection = await database.connect()
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(hashtext('taisai'))")
        await connection.execute("CREATE SCHEMA IF NOT EXISTS taisai")
        await connection.execute("CREATE TABLE IF NOT EXISTS taisai.version (number integer PRIMARY KEY)")
        version = await connection.fetchval("SELECT coalesce(max(number), 0) FROM taisai.version")
        if version > len(MIGRATIONS):
            expected = f"expected journals of version {len(MIGRATIONS)} or older, got version {version}"
            raise JournalError(f"{expected}, made by a newer Taisai ({database.place})")
        for number, statements in enumerate(MIGRATIONS[version:], version + 1):
            await connection.execute(statements)
            await connection.execute("INSERT INTO taisai.version VALUES ($1)", number)
        for grants, roles in ((GRANTS_TO_WRITER, writers), (GRANTS_TO_READER, readers)):
            for role in roles:
                name = await connection.fetchval("SELECT quote_ident($1)", role)
                for grant in grants:
                    await connection.execute(grant.format(role=name))
    return len(MIGRATIONS)

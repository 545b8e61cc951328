"""A reader of a journal's SQLite file. It can run beside the writer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import apsw

from taisai.journal.errors import ConflictError, DamagedError, InDoubtError, JournalError, UnwritableError
from taisai.journal.stores import schema
from taisai.journal.stores.contract import (
    Head,
    NewestCheckpoint,
    Row,
    StoredCheckpoint,
    StoredSnapshot,
    with_newest,
)

BUSY: Final = 5_000  # milliseconds to wait for another connection; a migration takes longest
_ALL: Final = (
    "SELECT position, stream.name, version, body FROM entry LEFT JOIN stream ON stream.id = entry.stream"
    " WHERE position > ?1 ORDER BY position"
)
_OF_STREAM: Final = (
    "SELECT position, ?2, version, body FROM entry"
    " WHERE stream = (SELECT id FROM stream WHERE name = ?2) AND version > ?1 ORDER BY version"
)
_LAST: Final = (
    "SELECT position, stream.name, version, body FROM entry LEFT JOIN stream ON stream.id = entry.stream"
    " ORDER BY position DESC LIMIT 1"
)
_ROW: Final = (int, str, int, bytes)
VERSION: Final = "SELECT max(version) FROM entry WHERE stream = (SELECT id FROM stream WHERE name = ?1)"


class SqliteReader:
    """A journal's file, opened for reading only."""

    def __init__(self, path: str | Path, *, vfs: str | None = None) -> None:
        self.path = str(path)
        self._vfs = vfs
        self._reading = self._opened()
        try:
            with translated_errors("be read", self.path):
                self._reading.pragma("trusted_schema", False)  # noqa: FBT003  the file may be tampered with
                self._reading.pragma("cell_size_check", True)  # noqa: FBT003
                schema.check(self._reading, self.path, is_new_allowed=False)
            self._expect_definition()  # before any other query
        except BaseException:
            self._reading.close()
            raise

    def _opened(self) -> apsw.Connection:
        if self._vfs is None and not Path(self.path).is_file():
            raise JournalError(f"no such file: {self.path!r}")
        try:
            return connect(self.path, apsw.SQLITE_OPEN_READONLY, self._vfs)
        except UnwritableError:  # SQLite needs to write to share a log, but there may be none
            if Path(f"{self.path}-wal").exists():
                raise
            uri = f"file:{quote(self.path)}?immutable=1"
            return connect(uri, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, self._vfs)

    def _expect_definition(self) -> None:
        with translated_errors("be read", self.path):
            self._reading.execute("BEGIN")  # a writer could migrate the file between the two queries
            try:
                version = schema.version_of(self._reading)
                is_unchanged = self.definition() == schema.definition(version)
            finally:
                self._reading.execute("ROLLBACK")
        if not is_unchanged:
            raise DamagedError(0, f"the tables or triggers of the journal were tampered with ({self.path})")

    def hold_still(self) -> None:
        """Freezes the view: later writes are not seen."""
        with translated_errors("be read", self.path):
            self._reading.execute("BEGIN")
            self._reading.execute("SELECT count(*) FROM stream")

    # Entries

    def rows(self, *, after: int = 0, stream: str | None = None) -> Iterator[Row]:
        """The rows in order, one at a time: a journal may be larger than memory."""
        sql, values = (_ALL, (after,)) if stream is None else (_OF_STREAM, (after, stream))
        return map(Row._make, self._read(sql, values, _ROW))

    def last(self) -> Row | None:
        return next(map(Row._make, self._read(_LAST, (), _ROW)), None)

    def version(self, stream: str) -> int:
        return next(self._read(VERSION, (stream,)))[0] or 0

    def streams(self) -> list[str]:
        return [name for (name,) in self._read("SELECT name FROM stream ORDER BY id", (), (str,))]

    def head(self) -> Head | None:
        if schema.version_of(self._reading) < schema.WITH_HEAD:
            return None
        found = self._read("SELECT size, mac FROM head WHERE mac <> X''", (), (int, bytes))
        return next(map(Head._make, found), None)

    # Checkpoints

    def checkpoints(self) -> list[StoredCheckpoint]:
        found = self._read("SELECT size, text FROM checkpoint ORDER BY number", (), (int, str))
        return list(with_newest(map(StoredCheckpoint._make, found), self.newest()))

    def sealed(self) -> Iterator[StoredCheckpoint]:
        """The checkpoints by size, one by one: there may be many."""
        found = self._read("SELECT size, text FROM checkpoint ORDER BY size, number", (), (int, str))
        return with_newest(map(StoredCheckpoint._make, found), self.newest())

    def newest(self) -> NewestCheckpoint | None:
        """The newest checkpoint; None also for a file from before there was one."""
        if schema.version_of(self._reading) < schema.WITH_NEWEST:
            return None
        found = self._read("SELECT size, text, tree FROM newest", (), (int, str, bytes))
        return next(map(NewestCheckpoint._make, found), None)

    def backwards(self) -> list[tuple[int, int]]:
        """Both sizes of each checkpoint over fewer entries than the one stored before it."""
        sql = (
            "SELECT before, size FROM"
            " (SELECT size, lag(size) OVER (ORDER BY number) AS before FROM checkpoint) WHERE size < before"
        )
        return list(self._read(sql, (), (int, int)))

    # Snapshots

    def snapshots(self) -> list[tuple[str, int]]:
        sql = "SELECT stream, version FROM snapshot ORDER BY stream, version"
        return list(self._read(sql, (), (str, int)))

    def snapshot(self, stream: str, version: int | None = None) -> StoredSnapshot | None:
        """The latest snapshot of a stream, or that of a version; None if it is damaged."""
        found = self._read(
            "SELECT version, digest, body FROM snapshot WHERE stream = ?1 AND (?2 IS NULL OR version = ?2)"
            " ORDER BY version DESC LIMIT 1",
            (stream, version),
            (int, bytes, bytes),
        )
        return next(
            (StoredSnapshot(stream, at, body) for at, digest, body in found if _is_intact(digest, body)), None
        )

    def is_replaced(self, stream: str, version: int) -> bool:
        """Whether a snapshot is gone; in a frozen view, none is."""
        return (stream, version) not in self.snapshots()

    def part(self, stream: str, number: int, version: int) -> bytes | None:
        """The latest part by its number, up to a version; None if it is damaged."""
        found = self._read(
            "SELECT digest, body FROM part WHERE stream = ?1 AND number = ?2 AND version <= ?3"
            " ORDER BY version DESC LIMIT 1",
            (stream, number, version),
            (bytes, bytes),
        )
        return next((body for digest, body in found if _is_intact(digest, body)), None)

    def parts(self, stream: str, version: int) -> list[int]:
        found = self._read(
            "SELECT number FROM part WHERE stream = ?1 AND version <= ?2 ORDER BY number",
            (stream, version),
            (int,),
        )
        return [number for (number,) in found]

    # The file

    def definition(self) -> frozenset[str]:
        """The statements that define the file, as it stores them."""
        found = self._read("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL", (), (str,))
        return frozenset(" ".join(sql.split()) for (sql,) in found)

    def faults(self) -> list[str]:
        """The problems that SQLite's integrity check finds."""
        found = [text for (text,) in self._read("PRAGMA integrity_check(10)")]
        return [] if found == ["ok"] else found

    def copy_to(self, path: str | Path) -> None:
        """Copies the file, also while its writer works."""
        with translated_errors("be copied", self.path):
            copy = connect(str(path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, self._vfs)
            try:
                with copy.backup("main", self._reading, "main") as backup:
                    while not backup.done:
                        backup.step(-1)
            finally:
                copy.close()

    def close(self) -> None:
        self._reading.close()

    def _read(
        self, sql: str, values: Sequence[Any] = (), types: tuple[type, ...] | None = None
    ) -> Iterator[Any]:
        """Rows, checked for the types of their columns: a damaged file can return any type."""
        with translated_errors("be read", self.path):
            for row in self._reading.execute(sql, values):
                if types is not None and tuple(map(type, row)) != types:
                    place = row[0] if types is _ROW and type(row[0]) is int else 0
                    raise DamagedError(place, f"damaged row: {_type_names(row)} ({self.path})")
                yield row


def connect(path: str, flags: int, vfs: str | None) -> apsw.Connection:
    """A connection that waits for others at most BUSY milliseconds."""
    with translated_errors("be opened", path):
        connection = apsw.Connection(path, flags=flags, vfs=vfs)
        connection.set_busy_timeout(BUSY)
        connection.pragma("schema_version")  # opens the file: the line above does not
        return connection


@contextmanager
def translated_errors(what: str, file: str) -> Iterator[None]:
    """Turns errors of SQLite into errors of a journal; `what` is what the file cannot do."""
    try:
        yield
    except apsw.Error as error:
        raise error_of(error, file, what) from None
    except UnicodeDecodeError:
        raise DamagedError(0, f"damaged file: it has text that is not UTF-8 ({file})") from None


_DAMAGED: Final = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)
_CONFLICTS: Final = (apsw.ConstraintError, apsw.BusyError, apsw.LockedError)
_NOT_ALLOWED: Final = (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.AuthError)


def error_of(error: apsw.Error, file: str, what: str) -> JournalError:
    if isinstance(error, _DAMAGED):
        return DamagedError(0, f"damaged SQLite file: {error} ({file})")
    if isinstance(error, _CONFLICTS):
        return ConflictError(f"another process is writing to the journal: {error} ({file})")
    if isinstance(error, apsw.FullError):
        return UnwritableError(f"disk full: {error} ({file})")
    problem = f"the journal cannot {what}: {error} ({file})"
    if isinstance(error, _NOT_ALLOWED):
        return UnwritableError(problem)
    if isinstance(error, apsw.IOError):  # it is unknown what reached the disk
        return InDoubtError(problem)
    return JournalError(problem)


def _is_intact(digest: object, body: bytes) -> bool:
    return sha256(body).digest() == digest


def _type_names(row: Sequence[object]) -> str:
    return ", ".join(type(value).__name__ for value in row)

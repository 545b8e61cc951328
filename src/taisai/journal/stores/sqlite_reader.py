"""Reading the SQLite file of a journal, beside its writer or long after."""

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
from taisai.journal.stores.contract import Row, StoredCheckpoint, StoredSnapshot

BUSY: Final = 5_000  # milliseconds to wait for another connection; the longest holder is a migration
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
    """A journal's file, opened to be read and never written."""

    def __init__(self, path: str | Path, *, vfs: str | None = None) -> None:
        self.path = str(path)
        self._vfs = vfs
        self._reading = self._opened()
        try:
            with told("be read", self.path):
                self._reading.pragma("trusted_schema", False)  # noqa: FBT003  what a stranger put there
                self._reading.pragma("cell_size_check", True)  # noqa: FBT003
                schema.check(self._reading, self.path, is_new_allowed=False)
            self._expect_definition()  # before anything of it is asked
        except BaseException:
            self._reading.close()
            raise

    def _opened(self) -> apsw.Connection:
        if self._vfs is None and not Path(self.path).is_file():
            raise JournalError(f"expected a journal, got no file {self.path!r}")
        try:
            return connect(self.path, apsw.SQLITE_OPEN_READONLY, self._vfs)
        except UnwritableError:  # a log cannot be shared where nothing may be written, but there is none
            if Path(f"{self.path}-wal").exists():
                raise
            uri = f"file:{quote(self.path)}?immutable=1"
            return connect(uri, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, self._vfs)

    def _expect_definition(self) -> None:
        with told("be read", self.path):
            self._reading.execute("BEGIN")  # or its writer could bring it up to date between the two
            try:
                version = schema.version_of(self._reading)
                is_as_made = self.definition() == schema.definition(version)
            finally:
                self._reading.execute("ROLLBACK")
        if not is_as_made:
            says = "expected the tables and triggers of a journal, got others: it was tampered with"
            raise DamagedError(0, f"{says} ({self.path})")

    def hold_still(self) -> None:
        """From here on the file is seen as it is now, whatever its writer does."""
        with told("be read", self.path):
            self._reading.execute("BEGIN")
            self._reading.execute("SELECT count(*) FROM stream")

    # Entries

    def rows(self, *, after: int = 0, stream: str | None = None) -> Iterator[Row]:
        """The rows in order, one at a time: a journal need not fit into memory."""
        sql, values = (_ALL, (after,)) if stream is None else (_OF_STREAM, (after, stream))
        return map(Row._make, self._read(sql, values, _ROW))

    def last(self) -> Row | None:
        """The row with the highest position."""
        return next(map(Row._make, self._read(_LAST, (), _ROW)), None)

    def version(self, stream: str) -> int:
        """How many entries a stream has."""
        return next(self._read(VERSION, (stream,)))[0] or 0

    def streams(self) -> list[str]:
        """The streams that there are."""
        return [name for (name,) in self._read("SELECT name FROM stream ORDER BY id", (), (str,))]

    # Checkpoints

    def checkpoints(self) -> list[StoredCheckpoint]:
        """Every checkpoint, in the order they were kept."""
        return list(self.sealed())

    def sealed(self) -> Iterator[StoredCheckpoint]:
        """The same one by one: there may be many."""
        found = self._read("SELECT size, text FROM checkpoint ORDER BY number", (), (int, str))
        return map(StoredCheckpoint._make, found)

    # Snapshots

    def snapshots(self) -> list[tuple[str, int]]:
        """Stream and version of every snapshot."""
        sql = "SELECT stream, version FROM snapshot ORDER BY stream, version"
        return list(self._read(sql, (), (str, int)))

    def snapshot(self, stream: str, version: int | None = None) -> StoredSnapshot | None:
        """The latest snapshot of a stream, or the one of a version, if it is still what was written."""
        found = self._read(
            "SELECT version, digest, body FROM snapshot WHERE stream = ?1 AND (?2 IS NULL OR version = ?2)"
            " ORDER BY version DESC LIMIT 1",
            (stream, version),
            (int, bytes, bytes),
        )
        return next(
            (StoredSnapshot(stream, at, body) for at, digest, body in found if _whole(digest, body)), None
        )

    def part(self, stream: str, number: int, version: int) -> bytes | None:
        """A part as it was kept last, up to a version, if it is still what was written."""
        found = self._read(
            "SELECT digest, body FROM part WHERE stream = ?1 AND number = ?2 AND version <= ?3"
            " ORDER BY version DESC LIMIT 1",
            (stream, number, version),
            (bytes, bytes),
        )
        return next((body for digest, body in found if _whole(digest, body)), None)

    def parts(self, stream: str, version: int) -> list[int]:
        """The numbers of the parts that were kept up to a version."""
        found = self._read(
            "SELECT number FROM part WHERE stream = ?1 AND version <= ?2 ORDER BY number",
            (stream, version),
            (int,),
        )
        return [number for (number,) in found]

    # The file

    def definition(self) -> frozenset[str]:
        """The statements that the file says it was made by."""
        found = self._read("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL", (), (str,))
        return frozenset(" ".join(sql.split()) for (sql,) in found)

    def faults(self) -> list[str]:
        """What SQLite itself finds wrong with its file."""
        found = [text for (text,) in self._read("PRAGMA integrity_check(10)")]
        return [] if found == ["ok"] else found

    def copy_to(self, path: str | Path) -> None:
        """A copy as it is now, while its writer goes on; made whole or not at all."""
        with told("be copied", self.path):
            copy = connect(str(path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, self._vfs)
            try:
                with copy.backup("main", self._reading, "main") as backup:
                    while not backup.done:
                        backup.step(-1)
            finally:
                copy.close()

    def close(self) -> None:
        """Lets go of the file."""
        self._reading.close()

    def _read(
        self, sql: str, values: Sequence[Any] = (), types: tuple[type, ...] | None = None
    ) -> Iterator[Any]:
        """Rows whose columns are of these types: a damaged file can give anything."""
        with told("be read", self.path):
            for row in self._reading.execute(sql, values):
                if types is not None and tuple(map(type, row)) != types:
                    place = row[0] if types is _ROW and type(row[0]) is int else 0
                    raise DamagedError(place, f"expected a whole row, got a damaged one ({self.path})")
                yield row


def connect(path: str, flags: int, vfs: str | None) -> apsw.Connection:
    """A connection that waits for others a while."""
    with told("be opened", path):
        connection = apsw.Connection(path, flags=flags, vfs=vfs)
        connection.set_busy_timeout(BUSY)
        connection.pragma("schema_version")  # opens the file, which the line above only promised
        return connection


@contextmanager
def told(what: str, file: str) -> Iterator[None]:
    """Whatever goes wrong with the file is said in our words."""
    try:
        yield
    except apsw.Error as error:
        raise error_of(error, file, what) from None
    except UnicodeDecodeError:
        raise DamagedError(0, f"expected a whole SQLite file, got text that is none ({file})") from None


_DAMAGED: Final = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)
_IN_THE_WAY: Final = (apsw.ConstraintError, apsw.BusyError, apsw.LockedError)
_NOT_ALLOWED: Final = (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.AuthError)


def error_of(error: apsw.Error, file: str, what: str) -> JournalError:
    """What went wrong with the file."""
    if isinstance(error, _DAMAGED):
        return DamagedError(0, f"expected a whole SQLite file, got a damaged one: {error} ({file})")
    if isinstance(error, _IN_THE_WAY):
        return ConflictError(f"expected to be the only writer, got another in the way: {error} ({file})")
    if isinstance(error, apsw.FullError):
        return UnwritableError(f"expected room on the disk, got none: {error} ({file})")
    says = f"expected a journal that can {what}, got {error} ({file})"
    if isinstance(error, _NOT_ALLOWED):
        return UnwritableError(says)
    if isinstance(error, apsw.IOError):  # nobody knows what of it reached the disk
        return InDoubtError(says)
    return JournalError(says)


def _whole(digest: object, body: bytes) -> bool:
    return sha256(body).digest() == digest

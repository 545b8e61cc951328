"""A store in one SQLite file: write-ahead log, full sync, one writer; readers do not delay it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from ctypes import addressof, c_int
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Final

import apsw

from taisai.journal.errors import ConflictError, FencedError, InDoubtError, JournalError, UnwritableError
from taisai.journal.stores import schema
from taisai.journal.stores.contract import (
    Head,
    NewestCheckpoint,
    Row,
    StoredCheckpoint,
    StoredSnapshot,
    check_forward,
    check_order,
    check_secret,
)
from taisai.journal.stores.sqlite_reader import VERSION, SqliteReader, connect, error_of, translated_errors

_fcntl: ModuleType | None
try:
    import fcntl as _fcntl
except ImportError:  # on Windows a second writer is refused at its first entry
    _fcntl = None

WAL_PAGES: Final = 4_000  # 16 MB, after which the log is copied into the file
SAFE: Final[Mapping[str, tuple[str | int, ...]]] = {"journal_mode": ("wal",), "synchronous": (2, 3)}
"""Settings that keep an acknowledged bet over a power failure. `normal` does not sync every commit."""
_SETTINGS: Final[Mapping[str, bool]] = {
    "fullfsync": True,  # on macOS a plain fsync does not reach the disk
    "checkpoint_fullfsync": True,
    "recursive_triggers": True,  # else REPLACE deletes without firing triggers
    "trusted_schema": False,
    "cell_size_check": True,
}
_INSERT_ROWS: Final = "INSERT INTO entry (position, stream, version, body) VALUES "
_INSERT: Final = {number: _INSERT_ROWS + ", ".join(["(?, ?, ?, ?)"] * number) for number in (128, 16, 1)}
"""Number of entries → the statement that inserts them. Other threads can run between statements."""

_NEXT_FENCE: Final = (
    "INSERT INTO head (number, fence, size, mac) VALUES (1, 1, 0, X'')"
    " ON CONFLICT (number) DO UPDATE SET fence = fence + 1 RETURNING fence"
)
_FENCE: Final = "SELECT fence FROM head"

_LATEST_KEPT: Final = (
    "SELECT max(coalesce((SELECT size FROM newest), 0),"
    " coalesce((SELECT size FROM checkpoint ORDER BY number DESC LIMIT 1), 0))"
)
"""How many entries the newest checkpoint is over, wherever it is kept."""

SUFFIX: Final = "-writer"
_NOT_COMMITTED: Final = (apsw.FullError, apsw.BusyError, apsw.ReadOnlyError, apsw.ConstraintError)
"""Errors after which a commit is certainly not on the disk: its last page was not written."""


class WriterLock:
    """The lock of a journal's only writer. It ends with its process."""

    def __init__(self, path: str) -> None:
        self._descriptor = -1
        if _fcntl is None:
            return
        try:
            self._descriptor = os.open(path + SUFFIX, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise UnwritableError(f"the journal cannot be written: {error.strerror} ({path})") from None
        try:
            _fcntl.flock(self._descriptor, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
        except OSError:
            self.release()
            raise ConflictError(f"another process is writing to the journal ({path})") from None

    def release(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class SqliteStore(SqliteReader):
    """A file that one process at a time opens for writing."""

    def __init__(
        self,
        path: str | Path,
        *,
        vfs: str | None = None,
        synchronous: str = "full",
        wal_pages: int = WAL_PAGES,
    ) -> None:
        self._in_doubt: str | None = None
        path = os.path.realpath(path) if vfs is None and str(path) != ":memory:" else path
        self._lock = WriterLock(str(path))
        try:
            self._writing = connect(str(path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, vfs)
            try:
                _expect_one_name(path)
                with translated_errors("be opened", str(path)):
                    schema.check(self._writing, str(path))
                    self._prepare(str(path), synchronous, wal_pages)
                    schema.migrate(self._writing)
                    self._sync_log()
                    self._fence = int(self._writing.execute(_FENCE).get or 0)
                    self._has_fence = False  # it takes the next number with its first write
                super().__init__(path, vfs=vfs)
                self._ids: dict[str, int] = dict(self._read("SELECT name, id FROM stream"))
            except BaseException:
                self._writing.close()
                raise
        except BaseException:
            self._lock.release()
            raise

    def _opened(self) -> apsw.Connection:
        return connect(self.path, apsw.SQLITE_OPEN_READWRITE, self._vfs)

    def _prepare(self, path: str, synchronous: str, wal_pages: int) -> None:
        """Sets what is safe and checks that it is in force: a file system may not support it."""
        connection = self._writing
        if connection.readonly("main"):
            raise UnwritableError(f"the journal is read-only ({path})")
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", synchronous)
        connection.pragma("wal_autocheckpoint", wal_pages)
        for name, value in _SETTINGS.items():
            connection.pragma(name, value)
        self._ends_with_commit = _ends_with_commit(connection)
        for name, safe in SAFE.items():
            got = connection.pragma(name)
            if got not in safe:
                expected = f"{name} {'full' if name == 'synchronous' else safe[0]}"
                raise JournalError(
                    f"unsafe: a power failure would lose bets; expected {expected}, got {got} ({path})"
                )

    def _sync_log(self) -> None:
        """Syncs what a killed process had written but not synced, since it is read like the rest.

        A checkpoint alone is not enough: it syncs nothing while a reader holds a log that is already copied.
        """
        frames, _ = self._writing.wal_checkpoint()
        if frames > 0:
            self._writing.execute("BEGIN IMMEDIATE")
            self._writing.execute(f"PRAGMA user_version = {schema.version_of(self._writing)}")
            self._writing.execute("COMMIT")

    def append(self, rows: Sequence[Row], head: Head | None = None) -> None:
        """Appends all rows and the new head in one synced transaction, or nothing."""
        with self._transaction() as connection:
            last = connection.execute("SELECT max(position) FROM entry").get
            check_order(
                rows, int(last or 0), lambda stream: int(connection.execute(VERSION, (stream,)).get or 0)
            )
            ids = self._ids
            if any(row.stream not in ids for row in rows):
                ids = ids | self._new_streams(row.stream for row in rows if row.stream not in ids)
            values: list[int | bytes] = []
            for position, stream, version, body in rows:
                values += (position, ids[stream], version, body)
            first = 0
            for size, insert in _INSERT.items():
                step = size * len(Row._fields)
                while first + step <= len(values):
                    connection.execute(insert, values[first : first + step])
                    first += step
            if head is not None:
                connection.execute("UPDATE head SET size = ?1, mac = ?2", head)
        self._ids = ids

    def _new_streams(self, names: Iterator[str]) -> dict[str, int]:
        ids: dict[str, int] = {}
        for name in dict.fromkeys(names):
            self._writing.execute("INSERT INTO stream (name) VALUES (?1)", (name,))
            ids[name] = self._writing.last_insert_rowid()
        return ids

    def seal(self, checkpoint: StoredCheckpoint) -> None:
        with self._transaction() as connection:
            latest = connection.execute("SELECT size FROM checkpoint ORDER BY number DESC LIMIT 1").get
            check_forward(checkpoint, latest or 0)
            connection.execute("INSERT INTO checkpoint (size, text) VALUES (?1, ?2)", checkpoint)

    def keep_newest(self, newest: NewestCheckpoint) -> None:
        with self._transaction() as connection:
            latest = connection.execute(_LATEST_KEPT).get
            check_forward(StoredCheckpoint(newest.size, newest.text), latest or 0)
            connection.execute(
                "INSERT INTO newest (number, size, text, tree) VALUES (1, ?1, ?2, ?3)"
                " ON CONFLICT DO UPDATE SET size = excluded.size, text = excluded.text, tree = excluded.tree",
                newest,
            )

    def keep(self, snapshot: StoredSnapshot, parts: Mapping[int, bytes]) -> None:
        """Keeps a snapshot and the parts that changed, each with its digest, in place of those before."""
        stream, version, body = snapshot
        with self._transaction() as connection:
            connection.execute("DELETE FROM snapshot WHERE stream = ?1", (stream,))
            connection.executemany(
                "DELETE FROM part WHERE stream = ?1 AND number = ?2", [(stream, number) for number in parts]
            )
            connection.execute(
                "INSERT INTO snapshot (stream, version, digest, body) VALUES (?1, ?2, ?3, ?4)",
                (stream, version, sha256(body).digest(), body),
            )
            connection.executemany(
                "INSERT INTO part (stream, number, version, digest, body) VALUES (?1, ?2, ?3, ?4, ?5)",
                [(stream, number, version, sha256(one).digest(), one) for number, one in parts.items()],
            )

    def forget(self) -> None:
        with self._transaction() as connection:
            connection.execute("DELETE FROM snapshot")
            connection.execute("DELETE FROM part")

    # The vault, which a reader cannot open

    def secret(self, name: str) -> bytes | None:
        found = self._read("SELECT body FROM vault WHERE name = ?1", (name,), (bytes,))
        return next((body for (body,) in found), None)

    def secrets(self, prefix: str = "") -> list[str]:
        sql = "SELECT name FROM vault WHERE substr(name, 1, length(?1)) = ?1 ORDER BY name"
        return [name for (name,) in self._read(sql, (prefix,), (str,))]

    def keep_secret(self, name: str, body: bytes | None) -> None:
        """Stores or deletes a secret. The old bytes are overwritten with zeros."""
        check_secret(name, body)
        self._hide()
        with self._transaction() as connection:
            connection.pragma("secure_delete", True)  # noqa: FBT003
            try:
                connection.execute("DELETE FROM vault WHERE name = ?1", (name,))
            finally:  # it would double the cost of snapshots, which are not secret
                connection.pragma("secure_delete", False)  # noqa: FBT003
            if body is not None:
                connection.execute("INSERT INTO vault (name, body) VALUES (?1, ?2)", (name, body))

    def _hide(self) -> None:
        """Makes a file with secrets readable by its owner alone."""
        if self._vfs is None:
            for file in (self.path, f"{self.path}-wal", f"{self.path}-shm"):
                with suppress(OSError):  # not every file system has owners
                    Path(file).chmod(0o600)

    def close(self) -> None:
        """Closes the file and releases its lock."""
        try:
            super().close()
            self._writing.close()
        finally:
            self._lock.release()

    @contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        """One synced transaction. After a failed sync nothing is written until the file is opened again."""
        if self._in_doubt:
            raise InDoubtError(f"an earlier write failed; open the journal again: {self._in_doubt}")
        connection, is_committing = self._writing, False
        try:
            connection.execute("BEGIN IMMEDIATE")
            self._expect_fence(connection)
            if not self._has_fence:
                connection.execute(_NEXT_FENCE)
            yield connection
            is_committing = True
            connection.execute("COMMIT")
            if not self._has_fence:
                self._has_fence, self._fence = True, self._fence + 1
        except BaseException as error:
            self._undo()
            if not isinstance(error, apsw.Error):
                raise
            problem = error_of(error, self.path, "be written")
            if is_committing and not (isinstance(error, _NOT_COMMITTED) and self._ends_with_commit):
                problem = InDoubtError(str(problem))
            if isinstance(problem, InDoubtError):
                self._in_doubt = str(problem)
            raise problem from None

    def expect_writer(self) -> None:
        with translated_errors("be read", self.path):
            self._expect_fence(self._reading)

    def _expect_fence(self, connection: apsw.Connection) -> None:
        """Refuses to go on if another process has written to the file: it has taken a higher number."""
        latest = connection.execute(_FENCE).get or 0
        if latest != self._fence:
            problem = "fenced: another process has written to the journal since it was opened here"
            expected = f"expected writer number {self._fence} in the file, got {latest}"
            raise FencedError(f"{problem}; {expected} ({self.path}). Only one server may run: find the other")

    def _undo(self) -> None:
        try:
            if self._writing.in_transaction:
                self._writing.execute("ROLLBACK")
        except apsw.Error as error:  # the next transaction would be part of this one
            self._in_doubt = str(error)


def _expect_one_name(path: str | Path) -> None:
    """Refuses hard links: lock and log follow the name, so a second name would allow a second writer."""
    with suppress(OSError):
        if Path(path).stat().st_nlink > 1:
            raise ConflictError(f"the journal has hard links; keep one name for it ({path})")


def _ends_with_commit(connection: apsw.Connection) -> bool:
    """Whether the commit record is the last page that a commit writes.

    SQLite writes more pages after it if the file system may damage the neighbours of a written sector.
    """
    answer = c_int(-1)
    connection.file_control("main", apsw.SQLITE_FCNTL_POWERSAFE_OVERWRITE, addressof(answer))
    return answer.value == 1

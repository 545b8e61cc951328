"""A store in one SQLite file: write-ahead log, full sync, one writer; readers never hold it up."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from ctypes import addressof, c_int
from hashlib import sha256
from pathlib import Path
from typing import Final

import apsw

from taisai.journal.errors import ConflictError, InDoubtError, JournalError, UnwritableError
from taisai.journal.stores import schema
from taisai.journal.stores.contract import Row, StoredCheckpoint, StoredSnapshot, check_order, check_secret
from taisai.journal.stores.locking import WriterLock
from taisai.journal.stores.sqlite_reader import VERSION, SqliteReader, connect, error_of, told

WAL_PAGES: Final = 4_000  # the log goes into the file every 16 MB, which a disk writes in a moment
SAFE: Final[Mapping[str, tuple[str | int, ...]]] = {"journal_mode": ("wal",), "synchronous": (2, 3)}
"""What keeps an acknowledged bet over a power failure: full or extra. Normal syncs only now and then."""
_SETTINGS: Final[Mapping[str, bool]] = {
    "fullfsync": True,  # without it a Mac's disk only promises
    "checkpoint_fullfsync": True,
    "recursive_triggers": True,  # what REPLACE deletes is deleted, too
    "trusted_schema": False,
    "cell_size_check": True,
}
_INSERT: Final = {
    many: "INSERT INTO entry (position, stream, version, body) VALUES " + ", ".join(["(?, ?, ?, ?)"] * many)  # noqa: S608
    for many in (128, 16, 1)
}
"""How many entries → a statement for so many: between statements other threads want their turn."""


_SURELY_NOT: Final = (apsw.FullError, apsw.BusyError, apsw.ReadOnlyError, apsw.ConstraintError)
"""Errors of a commit after which it was not done: its last page, which makes it count, was not written."""


class SqliteStore(SqliteReader):
    """One file, opened for writing by one process at a time."""

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
                with told("be opened", str(path)):
                    schema.check(self._writing, str(path))
                    self._prepare(str(path), synchronous, wal_pages)
                    schema.migrate(self._writing)
                    self._make_sure()
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
        """Sets what is safe, then asks whether it is in force: a file system may be unable to."""
        connection = self._writing
        if connection.readonly("main"):
            raise UnwritableError(f"expected a journal that can be written, got a read-only file ({path})")
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
                why = "without which a power failure loses bets"
                raise JournalError(f"expected {expected}, {why}, got {got} ({path})")

    def _make_sure(self) -> None:
        """Syncs what a process that was killed had written: it is read, and answered for, like the rest.

        A checkpoint alone would not do: it syncs nothing while a reader holds a log that is copied already.
        """
        frames, _ = self._writing.wal_checkpoint()
        if frames > 0:
            self._writing.execute("BEGIN IMMEDIATE")
            self._writing.execute(f"PRAGMA user_version = {schema.version_of(self._writing)}")
            self._writing.execute("COMMIT")

    def append(self, rows: Sequence[Row]) -> None:
        """All rows in one synced transaction, or none."""
        with self._transaction() as connection:
            last = connection.execute("SELECT max(position) FROM entry").get
            check_order(rows, int(last or 0), self._version_so_far)
            ids = self._ids
            if any(row.stream not in ids for row in rows):
                ids = ids | self._new_streams(row.stream for row in rows if row.stream not in ids)
            values: list[int | bytes] = []
            for position, stream, version, body in rows:
                values += (position, ids[stream], version, body)
            first = 0
            for many, insert in _INSERT.items():
                step = many * len(Row._fields)
                while first + step <= len(values):
                    connection.execute(insert, values[first : first + step])
                    first += step
        self._ids = ids

    def _version_so_far(self, stream: str) -> int:
        found = self._writing.execute(VERSION, (stream,)).get
        return int(found or 0)

    def _new_streams(self, names: Iterator[str]) -> dict[str, int]:
        made: dict[str, int] = {}
        for name in dict.fromkeys(names):
            self._writing.execute("INSERT INTO stream (name) VALUES (?1)", (name,))
            made[name] = self._writing.last_insert_rowid()
        return made

    def seal(self, checkpoint: StoredCheckpoint) -> None:
        """Keeps a checkpoint."""
        with self._transaction() as connection:
            connection.execute("INSERT INTO checkpoint (size, text) VALUES (?1, ?2)", checkpoint)

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
        """Throws all snapshots away."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM snapshot")
            connection.execute("DELETE FROM part")

    # The vault, to which whoever only reads a journal has no way

    def secret(self, name: str) -> bytes | None:
        """What is kept in the vault under a name."""
        found = self._read("SELECT body FROM vault WHERE name = ?1", (name,), (bytes,))
        return next((body for (body,) in found), None)

    def secrets(self, prefix: str = "") -> list[str]:
        """The names in the vault that begin so."""
        sql = "SELECT name FROM vault WHERE substr(name, 1, length(?1)) = ?1 ORDER BY name"
        return [name for (name,) in self._read(sql, (prefix,), (str,))]

    def keep_secret(self, name: str, body: bytes | None) -> None:
        """Keeps something in the vault, or takes it out; what was there is written over with zeros."""
        check_secret(name, body)
        self._hide()
        with self._transaction() as connection:
            connection.pragma("secure_delete", True)  # noqa: FBT003
            try:
                connection.execute("DELETE FROM vault WHERE name = ?1", (name,))
            finally:  # snapshots are no secret, and would cost twice as much
                connection.pragma("secure_delete", False)  # noqa: FBT003
            if body is not None:
                connection.execute("INSERT INTO vault (name, body) VALUES (?1, ?2)", (name, body))

    def _hide(self) -> None:
        """A file with secrets in it is its owner's alone."""
        if self._vfs is None:
            for file in (self.path, f"{self.path}-wal", f"{self.path}-shm"):
                with suppress(OSError):  # not every file system knows owners
                    Path(file).chmod(0o600)

    def close(self) -> None:
        """Lets go of the file; what is in it is durable already."""
        try:
            super().close()
            self._writing.close()
        finally:
            self._lock.release()

    @contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        """One synced transaction; after a failed sync nothing is written until the file is opened again."""
        if self._in_doubt:
            raise InDoubtError(
                f"expected a journal that was opened again after its disk failed: {self._in_doubt}"
            )
        connection, is_committing = self._writing, False
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            is_committing = True
            connection.execute("COMMIT")
        except BaseException as error:
            self._undo()
            if not isinstance(error, apsw.Error):
                raise
            says = error_of(error, self.path, "be written")
            if is_committing and not (isinstance(error, _SURELY_NOT) and self._ends_with_commit):
                says = InDoubtError(str(says))
            if isinstance(says, InDoubtError):
                self._in_doubt = str(says)
            raise says from None

    def _undo(self) -> None:
        try:
            if self._writing.in_transaction:
                self._writing.execute("ROLLBACK")
        except apsw.Error as error:  # the next transaction would join this one
            self._in_doubt = str(error)


def _expect_one_name(path: str | Path) -> None:
    """Lock and log go by a file's name: under a second one there would be a second writer."""
    with suppress(OSError):
        if Path(path).stat().st_nlink > 1:
            raise ConflictError(f"expected a journal of one name, got one with hard links ({path})")


def _ends_with_commit(connection: apsw.Connection) -> bool:
    """Whether the last page that a commit writes is the one that makes it count.

    SQLite writes more pages after it where it is not told that a write leaves its neighbours alone.
    """
    answer = c_int(-1)
    connection.file_control("main", apsw.SQLITE_FCNTL_POWERSAFE_OVERWRITE, addressof(answer))
    return answer.value == 1

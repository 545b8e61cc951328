"""The tables and triggers of a journal's SQLite file, and the migrations that make them."""

from __future__ import annotations

from typing import Final

import apsw

from taisai.journal.errors import JournalError

APPLICATION: Final = 0x54414953  # "TAIS"
_APPEND_ONLY: Final = """
CREATE TRIGGER {name}_is_not_{changed} BEFORE {change} ON {name}
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END
"""
# REPLACE fires the trigger above only if recursive_triggers is set, which other programs do not set.
_NOT_REPLACED: Final = """
CREATE TRIGGER {name}_is_not_replaced BEFORE INSERT ON {name}
WHEN EXISTS (SELECT 1 FROM {name} WHERE {alike})
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END
"""
# Also for REPLACE, which is an INSERT; `newest` then has the row that it would replace.
_NEWEST_FORWARD: Final = """
CREATE TRIGGER {name} BEFORE {change} ON newest
WHEN NEW.size < (SELECT size FROM newest)
OR NEW.size < (SELECT size FROM checkpoint ORDER BY number DESC LIMIT 1)
BEGIN SELECT RAISE(ABORT, 'a checkpoint is over fewer entries than the one before'); END
"""


def _append_only(name: str) -> tuple[str, str]:
    return (
        _APPEND_ONLY.format(name=name, change="UPDATE", changed="changed").strip(),
        _APPEND_ONLY.format(name=name, change="DELETE", changed="deleted").strip(),
    )


def _not_replaced(name: str, alike: str) -> str:
    return _NOT_REPLACED.format(name=name, alike=alike).strip()


MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        "CREATE TABLE stream (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT",
        """CREATE TABLE entry (position INTEGER PRIMARY KEY, stream INTEGER NOT NULL,
        version INTEGER NOT NULL, body BLOB NOT NULL) STRICT""",
        "CREATE INDEX entry_of_stream ON entry (stream, version)",
        """CREATE TRIGGER entry_leaves_no_gap BEFORE INSERT ON entry
        WHEN NEW.position <> (SELECT coalesce(max(position), 0) + 1 FROM entry)
        BEGIN SELECT RAISE(ABORT, 'the journal has no gaps'); END""",
        *_append_only("stream"),
        _not_replaced("stream", "id = NEW.id OR name = NEW.name"),
        *_append_only("entry"),
    ),
    (
        """CREATE TABLE checkpoint (number INTEGER PRIMARY KEY, size INTEGER NOT NULL, text TEXT NOT NULL)
        STRICT""",
        *_append_only("checkpoint"),
        _not_replaced("checkpoint", "number = NEW.number"),
    ),
    (
        """CREATE TABLE snapshot (stream TEXT NOT NULL, version INTEGER NOT NULL, digest BLOB NOT NULL,
        body BLOB NOT NULL, PRIMARY KEY (stream, version)) STRICT""",
        """CREATE TABLE part (stream TEXT NOT NULL, number INTEGER NOT NULL, version INTEGER NOT NULL,
        digest BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY (stream, number, version)) STRICT""",
    ),
    ("CREATE TABLE vault (name TEXT PRIMARY KEY NOT NULL, body BLOB NOT NULL) STRICT",),
    (
        """CREATE TABLE head (number INTEGER PRIMARY KEY CHECK (number = 1), fence INTEGER NOT NULL,
        size INTEGER NOT NULL, mac BLOB NOT NULL) STRICT""",
        """CREATE TRIGGER checkpoint_goes_forward BEFORE INSERT ON checkpoint
        WHEN NEW.size < (SELECT size FROM checkpoint ORDER BY number DESC LIMIT 1)
        BEGIN SELECT RAISE(ABORT, 'a checkpoint is over fewer entries than the one before'); END""",
    ),
    (
        """CREATE TABLE newest (number INTEGER PRIMARY KEY CHECK (number = 1), size INTEGER NOT NULL,
        text TEXT NOT NULL, tree BLOB NOT NULL) STRICT""",
        _NEWEST_FORWARD.format(name="newest_goes_forward", change="INSERT").strip(),
        _NEWEST_FORWARD.format(name="newest_never_shrinks", change="UPDATE").strip(),
        _append_only("newest")[1],
    ),
)
"""The statements that make version n of the file from version n - 1."""
READABLE: Final = 3
"""The oldest version that can be read without a migration. It only lacks the vault, head and newest."""

WITH_HEAD: Final = 5
"""The first version that has a head."""

WITH_NEWEST: Final = 6
"""The first version that has the newest checkpoint, in one row."""


def version_of(connection: apsw.Connection) -> int:
    """The version of a file: how many migrations it has."""
    return int(connection.pragma("user_version"))


def check(connection: apsw.Connection, file: str, *, is_new_allowed: bool = True) -> None:
    """Refuses a file that is not a journal or that a newer Taisai made; for a reader, also an old one."""
    application, version = connection.pragma("application_id"), version_of(connection)
    newest = len(MIGRATIONS)
    is_empty = not (application or version or connection.execute("SELECT count(*) FROM sqlite_schema").get)
    if application != APPLICATION and not (is_empty and is_new_allowed):
        got = "an empty file" if is_empty else "another kind of SQLite file"
        raise JournalError(f"not a journal of Taisai: {got} ({file})")
    if version > newest:
        got = f"version {version}, made by a newer Taisai"
        raise JournalError(f"expected a journal of version {newest} or older, got {got} ({file})")
    if version < READABLE and not is_new_allowed:
        got = f"version {version}; opening it for writing updates it"
        raise JournalError(f"expected a journal of version {READABLE} or newer, got {got} ({file})")


def migrate(connection: apsw.Connection) -> None:
    """Updates a file to the newest version. Each migration is one transaction."""
    for number, statements in enumerate(MIGRATIONS, 1):
        if version_of(connection) >= number:
            continue
        connection.execute("BEGIN IMMEDIATE")
        try:
            if version_of(connection) < number:  # else another process has just done it
                for statement in statements:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def definition(version: int = len(MIGRATIONS)) -> frozenset[str]:
    """All statements that define a file of a version."""
    return frozenset(" ".join(sql.split()) for statements in MIGRATIONS[:version] for sql in statements)

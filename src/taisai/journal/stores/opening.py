"""Opens a journal wherever it is: in a file, named by its path, or in a PostgreSQL database, named by a URL.

A URL ends with `#` and the name of the journal, because one database holds any number of them.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from taisai.journal.errors import JournalError
from taisai.journal.stores.contract import Reader, Store
from taisai.journal.stores.database_urls import database_journal, is_database, without_password
from taisai.journal.stores.sqlite import SqliteStore
from taisai.journal.stores.sqlite_reader import SqliteReader
from taisai.rules.errors import printable


def open_store(place: str | Path, *, wait: float = 0) -> Store:
    """The store of a journal, opened for writing; it waits so many seconds for the writer before."""
    if not is_database(place):
        return SqliteStore(place)
    url, name = database_journal(str(place))
    _expect_library()
    from taisai.journal.stores.postgres import PostgresStore

    return PostgresStore(url, name, wait=wait)


def open_reader(place: str | Path) -> Reader:
    """The store of a journal, opened for reading."""
    if not is_database(place):
        return SqliteReader(place)
    url, name = database_journal(str(place))
    _expect_library()
    from taisai.journal.stores.postgres_reader import PostgresReader

    return PostgresReader(url, name)


def prepare_database(url: str, *, writers: tuple[str, ...] = (), readers: tuple[str, ...] = ()) -> int:
    """Makes or updates the tables of journals in a database; returns their version."""
    if not is_database(url) or "#" in url:
        expected = "expected the URL of a database, such as 'postgresql:///taisai'"
        raise JournalError(f"{expected}, got {printable(repr(without_password(url)))}")
    _expect_library()
    from taisai.journal.stores.postgres_reader import prepare

    return prepare(url, writers=writers, readers=readers)


def _expect_library() -> None:
    if find_spec("asyncpg") is None:
        raise JournalError(
            "a journal in PostgreSQL needs the library asyncpg: install the extra 'postgres' of taisai"
        )

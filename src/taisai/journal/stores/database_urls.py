"""The URL of a PostgreSQL database, and of a journal in it."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from taisai.journal.errors import JournalError
from taisai.rules.errors import printable

SCHEMES: Final = ("postgresql://", "postgres://")


class DatabaseJournal(NamedTuple):
    """A journal in a database."""

    url: str
    name: str


def is_database(place: str | Path) -> bool:
    """Whether a journal is in a database, not in a file."""
    return isinstance(place, str) and place.startswith(SCHEMES)


def database_journal(place: str) -> DatabaseJournal:
    """The URL of a database and the name of a journal in it."""
    url, mark, name = place.partition("#")
    if not is_database(url) or not mark or not name:
        expected = "expected the URL of a database, '#' and the name of a journal"
        raise JournalError(f"{expected}, such as 'postgresql:///taisai#house', got {printable(repr(place))}")
    return DatabaseJournal(url, name)


def without_password(url: str) -> str:
    """The address of a database without its password, for messages."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    user = f"{parts.username}@" if parts.username else ""
    return urlunsplit(parts._replace(netloc=user + parts.netloc.rpartition("@")[2]))

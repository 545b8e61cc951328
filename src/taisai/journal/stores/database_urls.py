"""The URL of a PostgreSQL database, and of a journal in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from taisai.journal.errors import JournalError
from taisai.rules.errors import printable

SCHEMES: Final = ("postgresql://", "postgres://")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,63}")
_PASSWORD: Final = re.compile(r"(://[^:/?#@]*):[^?]*@")
"""A user's; written without percent signs it may have any sign, and is not shown either."""
_PARAMETER: Final = re.compile(r"(?i)([?&](?:ssl)?password=)[^&#]*")


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
    if not is_database(url) or not mark or not _NAME.fullmatch(name):
        expected = "expected the URL of a database, '#' and the name of a journal (letters, digits, '.', '-')"
        got = printable(repr(without_password(place)))
        raise JournalError(f"{expected}, such as 'postgresql:///taisai#house', got {got}")
    return DatabaseJournal(url, name)


def without_password(url: str) -> str:
    """The address of a database without its passwords, for messages."""
    return _PARAMETER.sub(r"\1…", _PASSWORD.sub(r"\1@", url)).replace("://@", "://", 1)

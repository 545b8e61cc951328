"""Someone who can write a journal's file, and has not the house key."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw


def thieve(path: Path, *statements: tuple[str, tuple[object, ...]]) -> None:
    """Carries out statements behind the triggers' backs, and leaves the file's definition as it was."""
    with closing(apsw.Connection(str(path))) as connection:
        triggers = list(connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"))
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for sql, values in statements:
            connection.execute(sql, values)
        for _, sql in triggers:
            connection.execute(str(sql))

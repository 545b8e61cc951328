"""Where an audit puts what it cannot keep in memory."""

from __future__ import annotations

import apsw


class ScratchFile:
    """A temporary file for what an audit cannot keep in memory; gone when it is."""

    def __init__(self) -> None:
        self._connection = apsw.Connection("")
        self._connection.execute("CREATE TABLE kept (stream TEXT, number INTEGER, body BLOB,"
                                 " PRIMARY KEY (stream, number)) WITHOUT ROWID")  # fmt: skip

    def put(self, stream: str, number: int, body: bytes) -> None:
        """Puts something away, in place of what was there before."""
        self._connection.execute("INSERT OR REPLACE INTO kept VALUES (?1, ?2, ?3)", (stream, number, body))

    def get(self, stream: str, number: int) -> bytes:
        """What was put away."""
        found = self._connection.execute(
            "SELECT body FROM kept WHERE stream = ?1 AND number = ?2", (stream, number)
        ).get
        assert isinstance(found, bytes)
        return found

    def close(self) -> None:
        """Throws everything away."""
        self._connection.close()

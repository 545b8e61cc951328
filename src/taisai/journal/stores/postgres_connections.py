"""Connections to a PostgreSQL database, and what their errors mean for a journal."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from typing import Any, Final, TypeVar

import asyncpg

from taisai.journal.errors import (
    ConflictError,
    DamagedError,
    InDoubtError,
    JournalError,
    UnwritableError,
)
from taisai.journal.stores.database_urls import without_password
from taisai.rules.errors import printable

T = TypeVar("T")

CONNECT_SECONDS: Final = 10.0
QUERY_SECONDS: Final = (
    60.0  # a page of rows takes milliseconds; a database that hangs must not hang us for ever
)


class Database:
    """Connections to one PostgreSQL database, for callers that wait: a thread of its own runs them."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.place = without_password(url)
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="postgresql", daemon=True)
        self._thread.start()
        self._open: list[asyncpg.Connection[Any]] = []

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine returns, which runs in the thread of the connections."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def spawn(self, work: Coroutine[Any, Any, None]) -> Future[None]:
        """Runs a coroutine until it ends, or until the connections are closed."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def connect(self) -> asyncpg.Connection[Any]:
        """One more connection; it is closed with the others."""
        try:
            connection: asyncpg.Connection[Any] = await asyncpg.connect(
                self.url, timeout=CONNECT_SECONDS, command_timeout=QUERY_SECONDS,
                server_settings={"application_name": "taisai", "timezone": "UTC"},
            )  # fmt: skip
        except ValueError:  # its text may quote a part of a password
            expected = "expected the URL of a database, such as 'postgresql://floor@db.example:5432/taisai'"
            raise JournalError(f"{expected}, got {printable(repr(self.place))}") from None
        self._open.append(connection)
        return connection

    async def drop(self, connection: asyncpg.Connection[Any]) -> None:
        """Closes one connection at once, also if the server does not answer."""
        with suppress(ValueError):
            self._open.remove(connection)
        connection.terminate()

    def close(self) -> None:
        """Closes all connections and ends the thread."""
        if self._loop.is_closed():
            return
        with suppress(Exception):  # the server may be gone
            self.run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        mine = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not mine]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for connection in self._open:
            try:
                await connection.close(timeout=1)
            except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
                connection.terminate()


def error_of(error: BaseException, place: str, what: str) -> JournalError:
    """An error of PostgreSQL or of the network as an error of a journal."""
    problem = f"the journal cannot {what}: {_text(error)} ({place})"
    if isinstance(error, asyncpg.DiskFullError):
        return UnwritableError(f"disk full: {_text(error)} ({place})")
    if isinstance(error, asyncpg.UniqueViolationError | asyncpg.RestrictViolationError):
        return ConflictError(f"another process is writing to the journal: {_text(error)} ({place})")
    if isinstance(error, asyncpg.DataCorruptedError | asyncpg.IndexCorruptedError):
        return DamagedError(0, f"damaged database: {_text(error)} ({place})")
    if isinstance(error, asyncpg.InsufficientPrivilegeError | asyncpg.ReadOnlySQLTransactionError):
        return UnwritableError(problem)
    if is_lost(error):
        return InDoubtError(problem)
    return JournalError(problem)


def is_lost(error: BaseException) -> bool:
    """Whether an error leaves it unknown what the server did: the connection broke, or took too long."""
    return isinstance(
        error,
        OSError
        | TimeoutError
        | asyncpg.PostgresConnectionError
        | asyncpg.InterfaceError
        | asyncpg.InternalClientError  # asked in the moment in which the connection breaks
        | asyncpg.OperatorInterventionError
        | asyncpg.CannotConnectNowError,
    )


def _text(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


ERRORS: Final = (
    OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError
)  # fmt: skip
"""What a query may raise."""

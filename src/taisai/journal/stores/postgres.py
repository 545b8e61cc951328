"""A store in a PostgreSQL database: one writer, who holds a lease and repeats its number in every write."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, Final, NamedTuple

from taisai.journal.errors import ConflictError, FencedError, InDoubtError, JournalError
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
from taisai.journal.stores.postgres_connections import ERRORS, error_of, is_lost
from taisai.journal.stores.postgres_reader import SIZE, UNSAFE, PostgresReader

LEASE: Final = 3.0  # seconds; a node that has died is replaced after them
LOOK_AGAIN: Final = 0.2  # seconds, while another process holds the lease
RENEWALS: Final = 3  # of a lease while nothing is written, so that one may fail

_TAKE: Final = "SELECT * FROM taisai.take($1, $2, $3)"


class _Lease(NamedTuple):
    """The right to write to a journal."""

    number: int
    """The journal's number in the database."""
    fence: int
    """Greater than that of every writer before."""


class PostgresStore(PostgresReader):
    """A journal that one process at a time opens for writing."""

    def __init__(
        self,
        url: str,
        name: str,
        *,
        owner: str | None = None,
        lease: float = LEASE,
        wait: float = 0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`owner`: who holds the lease, unique for each process; `lease`: for so many seconds.

        `wait`: for so many seconds it tries again while another process holds the lease.
        """
        self.owner = owner or secrets.token_hex(8)
        self._seconds = lease
        self._wait = wait
        self._now = now
        self._lease_until = 0.0
        self._in_doubt: str | None = None
        self._fenced: str | None = None
        self._lease = _Lease(0, 0)
        self._turn = asyncio.Lock()
        super().__init__(url, name)
        try:
            self._writing = self._asked(self._database.connect())
            self._expect_safe()
        except BaseException:
            self._database.close()
            raise
        self._renewal = self._database.spawn(self._renew_always())

    def _found(self) -> int:
        """Takes the lease, which makes the journal where there is none."""
        until = self._now() + self._wait
        sent = self._now()
        (taken,) = self._read(_TAKE, self.name, self.owner, self._seconds)
        while taken["fence"] is None and sent < until:
            time.sleep(LOOK_AGAIN)
            sent = self._now()
            with suppress(InDoubtError):  # the database restarts, or another server takes its place
                (taken,) = self._read(_TAKE, self.name, self.owner, self._seconds)
        if taken["fence"] is None:
            left = max(taken["seconds_left"], 0)
            problem = f"another process is writing to the journal: {taken['owner']} holds its lease"
            raise ConflictError(f"{problem} for {left:.1f} seconds more ({self.path})")
        self._lease = _Lease(taken["number"], taken["fence"])
        self._lease_until = sent + self._seconds
        return self._lease.number

    def _expect_safe(self) -> None:
        """Refuses a server that acknowledges what is not on its disk."""
        for setting, unsafe in UNSAFE.items():
            (found,) = self._read("SELECT current_setting($1) AS value", setting)
            if found["value"] == unsafe:
                todo = f"set {setting} to on in postgresql.conf, and for the role"
                problem = f"unsafe database: {setting} is {unsafe}; a power failure loses bets"
                raise JournalError(f"{problem}; {todo} ({self.path})")

    # Writing

    def append(self, rows: Sequence[Row], head: Head | None = None) -> None:
        """Appends all rows and the new head in one synced transaction, or nothing."""
        if not rows:
            return
        before = rows[0].position - 1
        names: dict[str, int] = {}
        bases: list[int] = []
        counts: list[int] = []
        places: list[int] = []
        for _, stream, version, _ in rows:
            if stream not in names:
                names[stream] = len(bases) + 1
                bases.append(version - 1)
                counts.append(0)
            place = names[stream]
            counts[place - 1] += 1
            places.append(place)
        by_base = dict(zip(names, bases, strict=True))
        check_order(rows, before, by_base.__getitem__)  # the database compares the first ones
        head_size, mac = head or (None, None)
        values = (
            before, list(names), bases, counts, places,
            [row.version for row in rows], [row.body for row in rows], head_size, mac,
        )  # fmt: skip
        try:
            answer = self._write(
                "SELECT taisai.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)", values, before
            )
        except ConflictError:
            answer = "conflict"
        if answer == "conflict":
            self._expect_order(rows)
            raise ConflictError(f"another process is writing to the journal ({self.path})")

    def _expect_order(self, rows: Sequence[Row]) -> None:
        """Refuses rows out of order, with the place that was expected."""
        size = self._read(SIZE, self._number)[0]["size"]
        check_order(rows, size, self.version)

    def seal(self, checkpoint: StoredCheckpoint) -> None:
        sql = "SELECT size FROM taisai.checkpoint WHERE journal = $1 ORDER BY number DESC LIMIT 1"
        check_forward(checkpoint, next((size for (size,) in self._read(sql, self._number)), 0))
        self._write("SELECT taisai.seal($1, $2, $3, $4, $5)", checkpoint)

    def keep_newest(self, newest: NewestCheckpoint) -> None:
        kept = self.newest()
        sql = "SELECT size FROM taisai.checkpoint WHERE journal = $1 ORDER BY number DESC LIMIT 1"
        latest = next((size for (size,) in self._read(sql, self._number)), 0)
        check_forward(StoredCheckpoint(newest.size, newest.text), max(latest, kept.size if kept else 0))
        self._write("SELECT taisai.keep_newest($1, $2, $3, $4, $5, $6)", newest)

    def keep(self, snapshot: StoredSnapshot, parts: Mapping[int, bytes]) -> None:
        """Keeps a snapshot and the parts that changed, each with its digest, in place of those before."""
        stream, version, body = snapshot
        bodies = list(parts.values())
        digests = [sha256(part).digest() for part in bodies]
        self._write(
            "SELECT taisai.keep_snapshot($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            (stream, version, sha256(body).digest(), body, list(parts), digests, bodies),
        )

    def forget(self) -> None:
        self._write("SELECT taisai.forget_snapshots($1, $2, $3)", ())

    # The vault, which a reader cannot open

    def secret(self, name: str) -> bytes | None:
        found = self._read(
            "SELECT body FROM taisai.vault WHERE journal = $1 AND name = $2", self._number, name
        )
        return next((body for (body,) in found), None)

    def secrets(self, prefix: str = "") -> list[str]:
        sql = "SELECT name FROM taisai.vault WHERE journal = $1 AND starts_with(name, $2) ORDER BY name"
        return [name for (name,) in self._read(sql, self._number, prefix)]

    def keep_secret(self, name: str, body: bytes | None) -> None:
        check_secret(name, body)
        self._write("SELECT taisai.keep_secret($1, $2, $3, $4, $5)", (name, body))

    # The lease

    def expect_writer(self) -> None:
        """Raises FencedError if another process has taken the lease, or if this one could not renew it."""
        if self._fenced is None and self._now() >= self._lease_until:
            problem = "fenced: the lease could not be renewed in time; another process may have taken it"
            raise FencedError(f"{problem} ({self.path})")
        (found,) = self._read("SELECT fence, owner FROM taisai.journal WHERE number = $1", self._number)
        if self._fenced is None and found["fence"] != self._lease.fence:
            self._fence(found["owner"])
        if self._fenced is not None:
            raise FencedError(self._fenced)

    def _fence(self, owner: str | None) -> None:
        problem = f"fenced: {owner or 'another process'} has taken the journal since it was opened here"
        self._fenced = f"{problem} ({self.path})"

    async def _renew_always(self) -> None:
        """Keeps the lease while nothing is written; every write renews it too."""
        while self._fenced is None:
            await asyncio.sleep(self._seconds / RENEWALS)
            with suppress(JournalError, *ERRORS):  # the next one may succeed; until then the lease runs out
                await self._renew()

    async def _renew(self) -> None:
        """Renews the lease, with a new connection where the one before broke."""
        try:
            await self._call("SELECT taisai.held($1, $2, $3)::text", ())
        except ERRORS as error:
            if is_lost(error):
                await self._take_again()

    def close(self) -> None:
        """Gives the lease back, so that the next process need not wait, and closes the connections."""
        self._renewal.cancel()
        with suppress(JournalError, RuntimeError, *ERRORS):
            self._database.run(self._release())
        super().close()

    async def _release(self) -> None:
        async with self._turn:
            await self._writing.execute("SELECT taisai.release($1, $2)", *self._lease)

    # One write

    def _write(self, sql: str, values: Sequence[Any], before: int | None = None) -> str:
        """One call that writes. `before`: the size of the journal before it, to settle a lost answer."""
        if self._in_doubt:
            raise InDoubtError(f"an earlier write failed; open the journal again: {self._in_doubt}")
        if self._fenced is not None:
            raise FencedError(self._fenced)
        try:
            answer = self._database.run(self._call(sql, values))
        except ERRORS as error:
            problem = error_of(error, self.path, "be written")
            if isinstance(problem, InDoubtError):
                answer = self._after_loss(sql, values, problem, before)
            else:
                raise problem from None
        if answer == "fenced":
            self._fence(None)
            with suppress(JournalError):
                (found,) = self._read("SELECT owner FROM taisai.journal WHERE number = $1", self._number)
                self._fence(found["owner"])
            raise FencedError(self._fenced)
        return answer

    async def _call(self, sql: str, values: Sequence[Any]) -> str:
        async with self._turn:
            sent = self._now()
            answer: str = await self._writing.fetchval(sql, *self._lease, self._seconds, *values)
            if answer not in ("fenced", "false"):
                self._lease_until = sent + self._seconds
            return answer

    def _after_loss(self, sql: str, values: Sequence[Any], problem: JournalError, before: int | None) -> str:
        """After a lost answer: connects again under a new number, which ends the lost call, and looks.

        What was appended is seen by the size of the journal. Any other write can be repeated.
        """
        try:
            size = self._database.run(self._take_again())
            if before is not None and size > before:
                return "done"
            if before is not None and size < before:  # a standby that did not have them took its place
                lost = f"the database has lost entries: expected {before:,}, got {size:,} ({self.path})"
                problem = InDoubtError(f"{lost}; go on with the database that has them")
                raise problem
            return self._database.run(self._call(sql, values))
        except (JournalError, *ERRORS) as error:
            if isinstance(error, FencedError):
                raise
            self._in_doubt = str(problem)
            raise problem from None

    async def _take_again(self) -> int:
        """A new connection and the next number; returns the size of the journal.

        The database lets this wait until the lost call has ended.
        """
        async with self._turn:
            await self._database.drop(self._writing)
            self._writing = await self._database.connect()
            sent = self._now()
            taken = await self._writing.fetchrow(_TAKE, self.name, self.owner, self._seconds)
            if taken["fence"] is None:
                self._fence(taken["owner"])
                raise FencedError(self._fenced)
            if taken["fence"] != self._lease.fence + 1:  # somebody else wrote in between
                self._fence("another process")
                raise FencedError(self._fenced)
            self._lease = _Lease(taken["number"], taken["fence"])
            self._lease_until = sent + self._seconds
            size: int = await self._writing.fetchval(SIZE, self._lease.number)
            return size

"""Bets registered durably while a thousand seats wait, each for its answer before it bets again."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Final, Protocol

import apsw

from bench.harness import Bench, Line, Target, in_turns
from bench.journals import BareFile, QueueInLoop, asked, database, directory, fresh, opened, single_bets
from bench.terminals import TABLE
from taisai.audit import verified
from taisai.journal.engine import Answer, Engine, Submission
from taisai.journal.stores.contract import MemoryStore, Row, Store
from taisai.journal.stores.sqlite import SqliteStore
from taisai.server.runtime.command_queue import CommandQueue

SEATS: Final = 1_000
"""Each has one bet in flight."""
BETS: Final = 10_000
SINGLY: Final = 300
"""Rows of a measurement where each is a transaction of its own; its time counts for all bets."""
_TABLE: Final = """
CREATE TABLE entry (position INTEGER PRIMARY KEY, stream TEXT NOT NULL, version INTEGER NOT NULL,
body BLOB NOT NULL) STRICT;
CREATE INDEX entry_of_stream ON entry (stream, version)
"""


def run(*, quick: bool) -> Iterator[Line]:
    """Against SQLite with one transaction a row, the same house without a disk, and the disk alone."""
    with directory() as folder:
        here = Path(folder)
        durable, memory = _Floor(lambda: SqliteStore(fresh(here / "ours"))), _Floor(MemoryStore)
        rows = _checked(durable, memory, here / "ours")
        singly = _Singly(here / "singly", rows[-SINGLY:])
        bare = _Bare(here / "bare", rows)
        ways: dict[str, _Way] = {"ours": durable, "memory": memory, "singly": singly, "bare limit": bare}

        def ready(_turn: int) -> None:
            for way in ways.values():
                way.ready()

        durable.waits.clear()
        times = dict(
            in_turns({name: way.go for name, way in ways.items()}, turns=3 if quick else 9, before=ready)
        )
        for way in ways.values():
            way.close()
    times["singly"] = [seconds * BETS / len(singly.rows) for seconds in times["singly"]]
    bench = Bench(f"{BETS:,} bets registered durably, {SEATS:,} seats waiting", times)
    yield bench.line("SQLite, a transaction a row / ours", of="singly", over="ours", target=Target(15))
    yield bench.line("the same in memory / ours", of="memory", over="ours", target=Target(0.4))
    waits = [
        quantiles(turn, n=100)[98] / (SEATS * seconds / BETS)
        for turn, seconds in zip(durable.waits, times["ours"], strict=True)
    ]
    low, _, high = quantiles(waits, n=4)
    most = Target(3, at_most=True)
    yield Line(bench.name, "wait of 99 in 100 / in flight ÷ throughput", median(waits), low, high, most)
    yield bench.line("bare limit: ours / fdatasync of the same bytes", of="ours", over="bare limit")


class _Way(Protocol):
    """One of the ways to keep the bets of a turn."""

    def ready(self) -> None:
        """Makes a new place for them, outside the clock."""

    def go(self) -> None:
        """Keeps them."""

    def close(self) -> None:
        """Lets go of whatever it holds."""


class _Floor:
    """Seats that bet, wait for the answer and bet again, over whatever store is made for each turn."""

    def __init__(self, make: Callable[[], Store]) -> None:
        self._make = make
        self._engine: Engine | None = None
        self._played = True
        self._asks: list[Submission] = []
        self.waits: list[list[float]] = []
        """Turn by turn, from the submission of each bet to its answer."""

    @property
    def engine(self) -> Engine:
        """Who keeps the table of the turn."""
        assert self._engine is not None
        return self._engine

    def ready(self) -> None:
        """A table with an open round, no bets in it yet, and the bets that will be made."""
        if self._played:
            self.close()
            self._engine = opened(self._make(), seats=SEATS)
            bets = single_bets(self._engine.table(TABLE), bets=BETS, seats=SEATS)
            self._asks = [asked(command) for command in bets]
            self._played = False

    def close(self) -> None:
        """Lets go of the journal."""
        if self._engine:
            self._engine.journal.close()
            self._engine = None

    def go(self) -> None:
        """All bets, from the first that is submitted until the last is answered."""
        queue, waiting = QueueInLoop(self.engine), iter(self._asks)
        done = queue.loop.create_future()
        seats = [_Seat(queue.queue, waiting, done) for _ in range(SEATS)]
        for seat in seats:
            seat.bet()
        queue.loop.run_until_complete(done)
        queue.close()
        self.waits.append([wait for seat in seats for wait in seat.waits])
        assert len(self.waits[-1]) == BETS
        self._played = True


class _Seat:
    """Bets, waits for the answer, and bets again while there is something to bet."""

    def __init__(self, queue: CommandQueue, waiting: Iterator[Submission], done: Future[None]) -> None:
        self._submit, self._waiting, self._done = queue.submit, waiting, done
        self._begun = 0.0
        self.waits: list[float] = []

    def bet(self) -> None:
        """Submits the next bet, if there is one; those that others wait for are answered before the end."""
        ask = next(self._waiting, None)
        if ask is None:
            if not self._done.done():
                self._done.set_result(None)
        else:
            self._begun = perf_counter()
            self._submit(ask, self._answered)

    def _answered(self, answer: Answer | BaseException) -> None:
        if type(answer) is tuple:  # else it does not count, and that is seen in the end
            self.waits.append(perf_counter() - self._begun)
        self.bet()


class _Singly:
    """The same rows in the same table, without its triggers, each a transaction of its own and as safe."""

    def __init__(self, path: Path, rows: Sequence[Row]) -> None:
        self._path, self.rows = path, rows
        self._connection: apsw.Connection | None = None

    def ready(self) -> None:
        """An empty table."""
        self.close()
        self._connection = database(self._path)
        self._connection.execute(_TABLE)

    def close(self) -> None:
        """Lets go of the file."""
        if self._connection:
            self._connection.close()
            self._connection = None

    def go(self) -> None:
        """Row by row."""
        assert self._connection is not None
        for row in self.rows:
            self._connection.execute("INSERT INTO entry VALUES (?1, ?2, ?3, ?4)", row)


class _Bare:
    """The bytes of as many entries as seats wait, appended to a file and synced; then those of the next."""

    def __init__(self, path: Path, rows: Sequence[Row]) -> None:
        self._path = path
        self._file: BareFile | None = None
        bodies = [row.body for row in rows]
        self._groups = [b"".join(bodies[first : first + SEATS]) for first in range(0, len(bodies), SEATS)]

    def ready(self) -> None:
        """An empty file."""
        self.close()
        self._file = BareFile(self._path)

    def close(self) -> None:
        """Lets go of the file."""
        if self._file:
            self._file.close()
            self._file = None

    def go(self) -> None:
        """Group by group."""
        assert self._file is not None
        self._file.write_each(self._groups)


def _checked(durable: _Floor, memory: _Floor, path: Path) -> list[Row]:
    """The rows of all bets, once both floors have registered the same ones and the audit agrees."""
    laid = []
    for floor in (durable, memory):
        floor.ready()
        floor.go()
        round_ = floor.engine.table(TABLE).round
        assert round_ is not None
        laid.append(sorted((id_, bet.area, bet.stake) for id_, bet in round_.bets.items()))
    assert laid[0] == laid[1]
    assert verified(path).bets == len(laid[0]) == BETS
    return list(memory.engine.journal.store.rows())[-BETS:]

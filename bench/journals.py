"""Journals on a real disk, opened and played for so long, for the benches of what must outlive the night."""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any, Final

import apsw
import numpy as np

from bench.mix import mixed
from bench.terminals import AT, BOOK, DEALER, MANAGER, TABLE, opening, perform, terminal
from taisai.game.commands import Command, OpenTable, PlaceBets, ReportIrregularity, Slip, TakeBack
from taisai.game.refusals import Refusal
from taisai.game.table import Table
from taisai.journal.codec import stream_of
from taisai.journal.engine import SNAPSHOT_EVERY, Answer, Engine, Submission
from taisai.journal.journal import Journal
from taisai.journal.seals.keys import SigningKey
from taisai.journal.stores.contract import Store
from taisai.journal.stores.sqlite import SAFE, WAL_PAGES, SqliteStore
from taisai.rules import Matrix, Rulebook, rulebook
from taisai.rules.vocabulary import Act, Irregularity
from taisai.server.connections.feeds import Feeds
from taisai.server.runtime.command_queue import CommandQueue

ON_DISK: Final = Path(__file__).parents[1] / "build"
"""In the checkout: where a system keeps its temporary files in memory, nothing there would be durable."""
STREAM: Final = stream_of(TABLE)
KEY: Final = SigningKey.new("bench", seed=bytes(range(32)))
SEATS: Final = 50
COMMANDS: Final = 130
"""Of players in one round of an evening, each with one to three bets."""
SNAPSHOTS: Final = (2, 5, 10, 20)
"""How many were kept when the evening of the benches is copied: 25,000 to 210,000 entries."""
TAIL: Final = 20
"""Rounds since the last of them, which a start plays again: about five thousand entries."""
TAKEN_BACK_EVERY, VOID_EVERY, CORRECTED_EVERY = 40, 7, 11


@cache
def book() -> Rulebook:
    """The rulebook of the benches, read once."""
    return rulebook(BOOK)


def directory() -> TemporaryDirectory[str]:
    """A folder on the disk, gone when the bench is over."""
    ON_DISK.mkdir(exist_ok=True)
    return TemporaryDirectory(prefix="bench-", dir=ON_DISK)


def opened(store: Store, *, seats: int) -> Engine:
    """A new journal with one table, whose seats all play at terminals and whose first round is open."""
    journal = Journal.opened(
        store, journal="bench", key=KEY, at=AT, by="house", program="bench", demonstration=False
    )
    engine = _engine(journal)
    answer(engine, list(opening(seats=seats)))
    return engine


def _engine(journal: Journal) -> Engine:
    return Engine(journal, snapshot_every=SNAPSHOT_EVERY)


def asked(command: Command) -> Submission:
    """A command as an engine takes it."""
    return Submission(STREAM, command, book() if isinstance(command, OpenTable) else None)


def answer(engine: Engine, commands: Sequence[Command]) -> None:
    """Has commands answered together, none of them by a refusal."""
    for one in engine.answer_all([asked(command) for command in commands]):
        assert not isinstance(one, Refusal), one


def single_bets(table: Table, *, bets: int, seats: int) -> list[PlaceBets]:
    """So many bets of one slip each for the round in hand, by every seat in its turn."""
    assert table.round is not None
    terms = table.seats["0"].terms
    assert terms is not None
    number, areas = table.round.number, terms.matrix.areas
    mix = mixed(terms.matrix, bets=bets, players=seats)
    return [
        PlaceBets(
            at=AT + place, by=terminal(place % seats), round=number, seat=str(place % seats),
            bets=(Slip(f"{number}-{place}", areas[row], stake),),
        )
        for place, (_, row, stake) in enumerate(mix.plain())
    ]  # fmt: skip


# What a journal is measured against


def database(path: Path) -> apsw.Connection:
    """An empty database of SQLite's, as safe as a journal."""
    connection = apsw.Connection(str(fresh(path)))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "full")
    connection.pragma("wal_autocheckpoint", WAL_PAGES)
    assert all(connection.pragma(name) in safe for name, safe in SAFE.items())
    return connection


_sync: Final[Callable[[int], None]] = getattr(os, "fdatasync", os.fsync)  # a Mac has only the latter


class BareFile:
    """A file that knows nothing of what is written into it, and begins again after so many bytes."""

    def __init__(self, path: Path, *, again_after: int | None = None) -> None:
        self._file = os.open(fresh(path), os.O_WRONLY | os.O_CREAT, 0o600)
        self._place, self._again_after = 0, again_after

    def write(self, data: bytes) -> None:
        """Writes, and waits until it is on the disk."""
        os.pwrite(self._file, data, self._place)
        _sync(self._file)
        self._place += len(data)
        if self._again_after and self._place >= self._again_after:
            self._place = 0

    def write_each(self, pieces: Iterable[bytes]) -> None:
        """One piece after the other, each on the disk before the next."""
        for data in pieces:
            self.write(data)

    def close(self) -> None:
        """Lets go of the file."""
        os.close(self._file)


def fresh(path: Path) -> Path:
    """A path at which there is no file, nor anything that SQLite keeps beside one."""
    for found in path.parent.glob(f"{path.name}*"):
        found.unlink()
    return path


# An evening


@cache
def evening(*, snapshots: tuple[int, ...], tail: int) -> tuple[Path, ...]:
    """One evening of mixed play, copied each time that so many snapshots were kept and some rounds more."""
    folder = directory()
    atexit.register(folder.cleanup)  # more than one bench looks at it
    here = Path(folder.name)
    played, copies, rounds, kept = here / "evening", list[Path](), count(1), set[int]()
    for many in snapshots:
        _play(played, rounds, kept, snapshots=many, tail=tail)
        copies.append(here / f"after {many}")
        copyfile(played, copies[-1])
    return tuple(copies)


def _play(path: Path, rounds: Iterator[int], kept: set[int], *, snapshots: int, tail: int) -> None:
    """Goes on with an evening, or begins it, and closes the journal with a signature over all of it."""
    store = SqliteStore(path)
    engine = _engine(Journal(store, key=KEY)) if store.last() else opened(store, seats=SEATS)
    terms = engine.table(TABLE).seats["0"].terms
    assert terms is not None
    left = tail
    while left:
        answer(engine, list(_round(next(rounds), terms.matrix)))
        kept |= {version for stream, version in store.snapshots() if stream == STREAM}
        left -= len(kept) >= snapshots
    engine.journal.seal(KEY, at=AT)
    engine.journal.close()


def _round(number: int, matrix: Matrix) -> Iterator[Command]:
    """A round: settled, void, or settled and found wrong when it was paid."""
    if number > 1:
        yield perform(Act.OPEN_BETS)
    draw = np.random.default_rng(number)
    yield from _bets(number, matrix, draw)
    yield perform(Act.CLOSE_BETS)
    yield perform(Act.TUMBLE, tumbles=3)
    yield perform(Act.UNCOVER)
    if not number % VOID_EVERY:
        yield perform(Act.ENTER_RESULT, flat=False)
        return
    entered, shown = (tuple(faces) for faces in draw.integers(1, 7, (2, 3)).tolist())
    yield perform(Act.ENTER_RESULT, faces=entered)
    for act in (Act.SETTLE, Act.COLLECT_AND_PAY, Act.CONCLUDE):
        yield perform(act)
    if not number % CORRECTED_EVERY and sorted(entered) != sorted(shown):
        wrong = Irregularity.WRONG_RESULT
        yield ReportIrregularity(at=AT, by=DEALER, event=wrong, round=number, faces=shown, second=MANAGER)


def _bets(number: int, matrix: Matrix, draw: np.random.Generator) -> Iterator[Command]:
    """The bets of a round, a few of them taken back."""
    sizes = draw.integers(1, 4, COMMANDS).tolist()
    mix = iter(mixed(matrix, bets=sum(sizes), players=SEATS, seed=number).plain())
    for place, size in enumerate(sizes):
        seat = int(draw.integers(SEATS))
        who, slips = terminal(seat), list[Slip]()
        for slip in range(size):
            _, row, stake = next(mix)
            slips.append(Slip(f"{number}-{place}-{slip}", matrix.areas[row], stake))
        yield PlaceBets(at=AT + place, by=who, round=number, seat=str(seat), bets=tuple(slips))
        if not place % TAKEN_BACK_EVERY:
            yield TakeBack(at=AT + place, by=who, round=number, seat=str(seat), ids=(slips[0].id,))


class _NothingShown:
    """Projections that nobody follows, so that the journal alone is measured."""

    def frames(self, _answered: object) -> tuple[()]:
        """No frames."""
        return ()


class QueueInLoop:
    """A command queue, and a loop that runs while something is waited for."""

    def __init__(self, engine: Engine) -> None:
        self.loop = asyncio.new_event_loop()
        self.queue = self.loop.run_until_complete(self._made(engine))

    async def _made(self, engine: Engine) -> CommandQueue:
        nothing: Any = _NothingShown()
        return CommandQueue(engine, nothing, Feeds("bench"))

    def execute(self, submission: Submission) -> Answer:
        """What a command comes to, durably."""
        return self.loop.run_until_complete(self.queue.execute(submission.stream, submission.command))

    def close(self) -> None:
        """Ends the queue's thread and the loop."""
        self.loop.run_until_complete(self.loop.run_in_executor(None, self.queue.close))
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()

"""One bet alone, from whoever asks until its answer is durable, beside the disk's own time for as much."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median_low
from typing import Final

from bench.harness import Bench, Line, Target, Times, in_turns
from bench.journals import BareFile, QueueInLoop, answer, asked, directory, opened, single_bets
from bench.terminals import TABLE
from taisai.audit import verified
from taisai.game.refusals import Refusal
from taisai.journal.stores.sqlite import WAL_PAGES, SqliteStore

SEATS: Final = 100
AHEAD: Final = 20
"""Bets that go before, to see how much of the log one of them takes."""
SHORT_LOG: Final = 200
"""Pages after which the log begins again; few, so that it soon is in the state that a long one comes to."""
FILLING: Final = 2 * 8 * SHORT_LOG
"""Bets that fill such a log, of which a page holds seven, once and more."""


def run(*, quick: bool) -> Iterator[Line]:
    """Against fdatasync after as many bytes as a bet takes in SQLite's log.

    In a log that grows, as after a start, the file system has blocks to find; in one that has begun again,
    as it does ever after, it has them already.
    """
    turns, most = 31 if quick else 401, Target(3, at_most=True)
    with directory() as folder:
        lone = _Lone(Path(folder) / "growing", bets=AHEAD + turns)
        taken = bytes(median_low([lone.growth() for _ in range(AHEAD)]))
        times = _times(lone, BareFile(Path(folder) / "appended"), taken, turns)
        bench = Bench(f"one lone bet, {len(taken):,} bytes of a log that grows", times)
        yield bench.line("ours / fdatasync of as much, the bare limit", of="ours", over="bare", target=most)

        lone = _Lone(Path(folder) / "begun again", bets=turns, begun_again=True)
        bare = BareFile(Path(folder) / "written over", again_after=SHORT_LOG * len(taken))
        for _ in range(SHORT_LOG):
            bare.write(taken)
        times = _times(lone, bare, taken, turns)
        bench = Bench(f"one lone bet, {len(taken):,} bytes of a log that has begun again", times)
        yield bench.line("ours / fdatasync of as much, the bare limit", of="ours", over="bare", target=most)


def _times(lone: _Lone, bare: BareFile, taken: bytes, turns: int) -> Times:
    """Bet by bet, in turns with the bare limit; then the journal is verified."""
    times = in_turns({"ours": lone.bet, "bare": lambda: bare.write(taken)}, turns=turns)
    bare.close()
    lone.close()
    return times


class _Lone:
    """A queue to which one player at a time submits a bet."""

    def __init__(self, path: Path, *, bets: int, begun_again: bool = False) -> None:
        self._path, self._log = path, path.with_name(f"{path.name}-wal")
        store = SqliteStore(path, wal_pages=SHORT_LOG if begun_again else WAL_PAGES)
        engine = opened(store, seats=SEATS)
        ahead = FILLING if begun_again else 0
        laid = single_bets(engine.table(TABLE), bets=ahead + bets, seats=SEATS)
        if begun_again:
            answer(engine, laid[:ahead])
        self._asks = iter([asked(command) for command in laid[ahead:]])
        self._bets, self._journal, self._queue = len(laid), engine.journal, QueueInLoop(engine)

    def bet(self) -> None:
        """One bet, until it is registered."""
        answered = self._queue.execute(next(self._asks))
        assert not isinstance(answered, Refusal), answered

    def growth(self) -> int:
        """By how many bytes one bet makes the log longer."""
        before = self._log.stat().st_size
        self.bet()
        return self._log.stat().st_size - before

    def close(self) -> None:
        """Lets go of the journal, in which every bet must be."""
        self._queue.close()
        self._journal.close()
        assert verified(self._path).bets == self._bets

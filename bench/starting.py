"""A start after an evening: from the latest snapshot however long the journal, or by every entry of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile
from typing import Final

import apsw

from bench.harness import Bench, Line, Target, in_turns
from bench.journals import TABLE, directory, evening
from taisai.game.snapshot import encode, snapshot_of
from taisai.house.codec import Codec
from taisai.house.journal import Journal
from taisai.house.keeper import Keeper
from taisai.house.sqlite import SqliteStore

SHORT: Final = 2
LONG: Final = 20
"""Snapshots that were kept in the one journal and the other."""
TAIL: Final = 20
"""Rounds since the last of them, which a start plays again: about five thousand entries."""


def run(*, quick: bool) -> Iterator[Line]:
    """A long journal against a short one; then a start without snapshots against decoding every entry."""
    played = evening(short=SHORT, long=LONG, tail=TAIL)
    with directory() as folder:
        forgotten = Path(folder) / "without snapshots"
        copyfile(played.short, forgotten)
        store = SqliteStore(forgotten)
        store.forget()
        store.close()
        short, long, replay = _Start(played.short), _Start(played.long), _Start(forgotten)
        starts = (short, long, replay)
        for start in starts:
            start.go()
        assert short.state() == replay.state()
        assert short.size == replay.size < long.size

        def ready(_turn: int) -> None:
            for start in starts:
                start.close()

        ways = {"short": short.go, "long": long.go, "bare limit": lambda: _one_row(played.long)}
        times = in_turns(ways, turns=5 if quick else 15, before=ready)
        bench = Bench(f"a start from a snapshot, of {short.size:,} and {long.size:,} entries", times)
        longer = Target(1.5, at_most=True)
        yield bench.line("the long journal / the short one", of="long", over="short", target=longer)
        yield bench.line(
            "bare limit: the long one / opening its file, reading a row", of="long", over="bare limit"
        )

        ways = {"replay": replay.go, "decoding": lambda: _decoded(forgotten)}
        times = in_turns(ways, turns=3 if quick else 7, before=ready)
        ready(0)
        bench = Bench(f"a start without snapshots, of {replay.size:,} entries", times)
        most = Target(3, at_most=True)
        yield bench.line("ours / decoding each entry", of="replay", over="decoding", target=most)


class _Start:
    """From a file to a table that can be asked something."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._keeper: Keeper | None = None
        self.size = 0

    def go(self) -> None:
        """Starts."""
        self._keeper = Keeper(Journal(SqliteStore(self._path)))
        self._keeper.table(TABLE)
        self.size = self._keeper.journal.size

    def state(self) -> bytes:
        """Everything that there is at the table."""
        assert self._keeper is not None
        return encode(snapshot_of(self._keeper.table(TABLE)))

    def close(self) -> None:
        """Lets go of the file, if it is open."""
        if self._keeper:
            self._keeper.journal.close()
            self._keeper = None


def _one_row(path: Path) -> bytes:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    body = connection.execute("SELECT body FROM entry ORDER BY position DESC LIMIT 1").get
    connection.close()
    assert isinstance(body, bytes)
    return body


def _decoded(path: Path) -> int:
    store, decode, count = SqliteStore(path), Codec().decode, 0
    for row in store.rows():
        decode(row.body, row.position)
        count += 1
    store.close()
    return count

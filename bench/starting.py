"""A start after an evening: from the latest snapshot however long the journal, or by every entry of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile

import apsw

from bench import journals
from bench.harness import Bench, Line, Target, Work, in_turns
from bench.journals import KEY, directory, evening
from bench.terminals import TABLE
from taisai.game.snapshot import write_table
from taisai.journal.codec import Codec
from taisai.journal.engine import Engine
from taisai.journal.journal import Journal
from taisai.journal.stores.sqlite import SqliteStore


def run(*, quick: bool) -> Iterator[Line]:
    """A long journal against a short one; then tables played again against decoding every entry."""
    first, *_, last = evening(snapshots=journals.SNAPSHOTS, tail=journals.TAIL)
    with directory() as folder:
        forgotten = Path(folder) / "without snapshots"
        copyfile(first, forgotten)
        store = SqliteStore(forgotten)
        store.forget()
        store.close()
        short, long, whole = starts = [_Start(path) for path in (first, last, forgotten)]
        for start in starts:
            start.go()
        assert short.state() == whole.state()
        assert short.size == whole.size < long.size

        def ready(_turn: int) -> None:
            for start in starts:
                start.close()

        ways: dict[str, Work] = {
            "short": short.go,
            "long": long.go,
            "bare limit": lambda: _one_row(last),
        }
        times = in_turns(ways, turns=5 if quick else 15, before=ready)
        bench = Bench(f"a start from a snapshot, of {short.size:,} and {long.size:,} entries", times)
        longer = Target(1.5, at_most=True)
        yield bench.line("the long journal / the short one", of="long", over="short", target=longer)
        yield bench.line(
            "bare limit: the long one / opening its file, reading a row", of="long", over="bare limit"
        )
        yield from _without_snapshots(whole, forgotten, turns=3 if quick else 9)


def _without_snapshots(whole: _Start, path: Path, *, turns: int) -> Iterator[Line]:
    """Every entry played again until the table can be asked something."""
    whole.close()
    store = SqliteStore(path)
    journal = Journal(store, key=KEY)
    played = in_turns(
        {"table": lambda: Engine(journal).table(TABLE), "decoding": lambda: _decoded(store)}, turns=turns
    )
    store.close()
    bench = Bench(f"{whole.size:,} entries played again, without a snapshot", played)
    most = Target(3, at_most=True)
    yield bench.line("the table / decoding each entry", of="table", over="decoding", target=most)


class _Start:
    """From a file to a table that can be asked something."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._engine: Engine | None = None
        self.size = 0

    def go(self) -> None:
        """Starts."""
        self._engine = Engine(Journal(SqliteStore(self._path), key=KEY))
        self._engine.table(TABLE)
        self.size = self._engine.journal.size

    def state(self) -> bytes:
        """Everything that there is at the table."""
        assert self._engine is not None
        return write_table(self._engine.table(TABLE))

    def close(self) -> None:
        """Lets go of the file, if it is open."""
        if self._engine:
            self._engine.journal.close()
            self._engine = None


def _one_row(path: Path) -> bytes:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    body = connection.execute("SELECT body FROM entry ORDER BY position DESC LIMIT 1").get
    connection.close()
    assert isinstance(body, bytes)
    return body


def _decoded(store: SqliteStore) -> None:
    decode = Codec().decode
    for row in store.rows():
        decode(row.body, row.position)

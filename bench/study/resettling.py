"""An export of ten million bets settled anew and balanced, beside DuckDB; TAISAI_BETS=1e8 asks for more."""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from ctypes import c_int64, c_void_p
from multiprocessing import get_context
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

import duckdb
import numpy as np
import pyarrow as pa

from bench.harness import Bench, Line, Target, in_turns
from bench.study.compiled import library
from bench.study.exported import AREAS, FACES, FAULTS, LOOKUPS, MATRIX, NETS, PAY, TABLES, Exported, written
from bench.study.growing import growth
from taisai.bulk.resettling import Columns, resettled
from taisai.study.journal.resettle import AT_ONCE, resettle

KNOWN: Final = {MATRIX.digest: MATRIX}
GIGABYTE: Final = 1_000_000_000
CORES: Final = 2
EVERY: Final = 0.003
"""Seconds between two looks at the memory."""

SETTLED_ANEW: Final = """
select b.*, case when b.state = {settled} then kept_out + ((stake - kept_out) * p.returns) // p.unit
                 else stake end as due,
  case when b.state = {settled} then greatest(due - stake, 0) else 0 end as more,
  returned <> due or won <> more or (voided and b.state = {settled}) as wrong
from {bets} b join pay p on {on}
"""
SUMS: Final = """
select "table", count(*), sum(stake), sum(returned), sum(due), count(*) filter (where wrong)
from ({settled_anew}) group by 1 order by 1
"""
ROWS: Final = "select {place} from ({settled_anew}) where wrong order by 1"

Totals = list[tuple[int, ...]]
"""By table: bets that count, staked, returned, due."""


def run(*, quick: bool) -> Iterator[Line]:
    """Ratios on columns in memory and from the file, rows at fault and sums compared; memory and growth."""
    bets = int(float(os.environ.get("TAISAI_BETS", "1e6" if quick else "1e7")))
    name = f"settling {bets:,} exported bets anew"
    with tempfile.TemporaryDirectory() as folder:
        path, tenth = Path(folder) / "bets.parquet", Path(folder) / "tenth.parquet"
        yield from _ratios(name, written(path, bets), str(path), 3 if quick else 7)
        written(tenth, bets // 10)
        files = {bets // 10: str(tenth), bets: str(path)}
        yield growth(name, lambda size: resettle(files[size], KNOWN), list(files), turns=5, at_most=1.1)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
            peak = apart.submit(memory, str(path)).result() / GIGABYTE
        what = "memory of the process at its peak, as sampled, the file's own pages aside"
        yield Line(name, what, peak, peak, peak, Target(1, at_most=True, unit=" GB"))


def _ratios(name: str, exported: Exported, path: str, turns: int) -> Iterator[Line]:
    columns = exported.columns
    base = duckdb.connect()
    base.register("given", _pay_table())
    base.execute("create table pay as select * from given")
    _hold(base, columns)
    codes = {"on": f"b.area * {len(FACES)} + b.faces = p.cell", "settled": 0}
    words = {"on": "b.area = p.area and b.faces = p.faces", "settled": "'settled'"}
    from_same = SUMS.format(settled_anew=SETTLED_ANEW.format(bets="same", **codes))
    from_held = SUMS.format(settled_anew=SETTLED_ANEW.format(bets="held", **codes))
    from_file = SUMS.format(settled_anew=SETTLED_ANEW.format(bets=f"read_parquet('{path}')", **words))
    numbered = f"read_parquet('{path}', file_row_number=true)"

    def rows_of(place: str, **how: Any) -> list[int]:
        found = base.execute(ROWS.format(place=place, settled_anew=SETTLED_ANEW.format(**how))).fetchall()
        return [int(row[0]) for row in found]

    totals, places = by_parts(columns)
    ours = resettle(path, KNOWN)
    assert places == [one.row - 1 for one in ours.told] == exported.faults
    assert rows_of("place", bets="held", **codes) == exported.faults
    assert rows_of("file_row_number", bets=numbered, **words) == exported.faults
    assert ours.faults == FAULTS
    assert [tuple(one[1:]) for one in ours.tables] == totals
    for asked in (from_same, from_held, from_file):
        theirs = {str(row[0]): row[1:] for row in base.execute(asked).fetchall()}
        in_order = [theirs.get(table) or theirs[str(at)] for at, table in enumerate(TABLES)]
        assert sum(row[4] for row in in_order) == FAULTS
        assert _without_contradictions(in_order, exported) == totals

    ways: dict[str, Callable[[], object]] = {
        "ours, columns": lambda: by_parts(columns),
        "DuckDB, columns": lambda: base.execute(from_same).fetchall(),
        "DuckDB, its own table": lambda: base.execute(from_held).fetchall(),
        "ours, file": lambda: resettle(path, KNOWN),
        "DuckDB, file": lambda: base.execute(from_file).fetchall(),
    }
    bare = by_c(columns)
    if bare is not None:
        ways["C"] = bare
        assert bare() == (totals, FAULTS)
    bench = Bench(name, in_turns(ways, turns=turns))
    yield bench.line("columns: DuckDB / ours", of="DuckDB, columns", over="ours, columns", target=Target(4))
    yield bench.line(
        "columns: DuckDB on a table of its own, loaded before / ours",
        of="DuckDB, its own table",
        over="ours, columns",
    )
    yield bench.line("from Parquet: DuckDB / ours", of="DuckDB, file", over="ours, file", target=Target(2))
    if bare is not None:
        yield bench.line("limit: columns, ours / bare C on two threads", of="ours, columns", over="C")
        yield bench.line("limit: from Parquet, ours / bare C on columns", of="ours, file", over="C")


def _hold(base: duckdb.DuckDBPyConnection, columns: Columns) -> None:
    """The columns that ours gets as they are, and as a table of DuckDB's own, loaded outside the clock."""
    given = {
        "area": columns.areas,
        "faces": columns.faces,
        "state": columns.states,
        "voided": columns.voided.astype(bool),
        "table": columns.tables,
        "stake": columns.stakes,
        "kept_out": columns.kept_out,
        "won": columns.won,
        "returned": columns.returned,
        "place": np.arange(columns.stakes.size),
    }
    base.register("same", pa.table(given))
    base.execute("create table held as select * from same")


def _pay_table() -> pa.Table:
    outcomes, one = len(FACES), MATRIX.denominator
    return pa.table(
        {
            "cell": np.arange(NETS.size, dtype=np.uint32),
            "area": np.repeat(AREAS, outcomes),
            "faces": np.tile(FACES, len(NETS)),
            "returns": np.where(NETS > 0, NETS + one, 0).ravel(),
            "unit": np.full(NETS.size, one, dtype=np.int64),
        }
    )


def _without_contradictions(sums: list[Any], exported: Exported) -> Totals:
    """DuckDB's sums without the bets that contradict themselves: ours has them in none."""
    left = [[int(figure) for figure in row[:4]] for row in sums]
    for at in exported.planted["voided"]:
        table, stake, back = (
            int(one[at])
            for one in (exported.columns.tables, exported.columns.stakes, exported.columns.returned)
        )
        left[table] = [one - less for one, less in zip(left[table], (1, stake, back, back), strict=True)]
    return [tuple(row) for row in left]


def by_parts(columns: Columns) -> tuple[Totals, list[int]]:
    """What the file's checker does once it has codes: parts on all cores. Sums, and places at fault."""
    starts = range(0, columns.stakes.size, AT_ONCE)

    def part(start: int) -> Any:
        return resettled(columns.part(slice(start, start + AT_ONCE)), LOOKUPS, PAY, len(TABLES))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(part, starts))
    sums = [sum(sums[at] for sums, _ in done).tolist() for at in range(4)]
    places = [start + at for start, (_, wrong) in zip(starts, done, strict=True) for at in wrong.tolist()]
    return list(zip(*sums, strict=True)), places


def by_c(columns: Columns) -> Callable[[], tuple[Totals, int]] | None:
    """The bare work in C, half of the bets on each of two threads; faults are counted, not told."""
    made = library("settle.c")
    if made is None:
        return None
    settle = made.settle
    settle.restype = c_int64
    returns = np.ascontiguousarray(PAY.returns[PAY.first[0] :])
    given = [c_void_p(one.ctypes.data) for one in (*columns[1:], returns)]
    size, outcomes, unit = columns.stakes.size, c_int64(returns.shape[1]), c_int64(MATRIX.denominator)

    def half(number: int) -> tuple[Any, int]:
        sums = np.zeros((4, len(TABLES)), dtype=np.int64)
        span = (c_int64(size * number // CORES), c_int64(size * (number + 1) // CORES))
        faults = settle(*span, *given, outcomes, unit, *(c_void_p(one.ctypes.data) for one in sums))
        return sums, int(faults)

    def kernel() -> tuple[Totals, int]:
        with ThreadPoolExecutor(CORES) as pool:
            halves = list(pool.map(half, range(CORES)))
        return list(map(tuple, sum(sums for sums, _ in halves).T.tolist())), sum(n for _, n in halves)

    return kernel


def memory(path: str) -> int:
    """The most anonymous memory that this process held while it settled a file anew, in bytes."""
    is_over, looks = Event(), [_held()]

    def look() -> None:
        while not is_over.wait(EVERY):
            looks.append(_held())

    looking = Thread(target=look)
    looking.start()
    assert resettle(path, KNOWN).faults == FAULTS
    is_over.set()
    looking.join()
    return max(*looks, _held())


def _held() -> int:
    """Anonymous memory where the system tells it, else the peak of everything."""
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return 1024 * int(fields["RssAnon"].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

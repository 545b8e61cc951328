"""An export of ten million bets settled anew and balanced, beside DuckDB; TAISAI_BETS=1e8 asks for more."""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

from bench.harness import Bench, Line, Target, in_turns
from bench.study.growing import growth
from taisai.bulk.resettling import Columns, Lookups, PayRows, resettled
from taisai.house.audit.exports.columns import BETS
from taisai.house.audit.exports.tables import COMPRESSION, parquet_schema
from taisai.rules import OUTCOMES, rulebook
from taisai.study.journal.resettle import resettle

MATRIX: Final = rulebook("rws-sic-bo-etg-v8").matrix("B")
FAULTS: Final = 1_000
TABLES: Final = tuple(f"SB{n}" for n in range(1, 41))
FACES: Final = [" ".join(map(str, outcome.faces)) for outcome in OUTCOMES]
NETS: Final = np.array(MATRIX.nets, dtype=np.int64)
GIGABYTE: Final = 1_000_000_000
AT_ONCE: Final = 1 << 19

QUERY: Final = """
select "table", count(*), sum(stake), sum(returned), sum(due),
  count(*) filter (where returned <> due or won <> more)
from (select b."table" as "table", stake, won, returned,
        case when b.state = {settled} then kept_out + ((stake - kept_out) * p.returns) // p.unit
             else stake end as due,
        case when b.state = {settled} then greatest(due - stake, 0) else 0 end as more
      from {bets} b join pay p on {on})
group by 1 order by 1
"""


def run(*, quick: bool) -> Iterator[Line]:
    """Ratios on columns in memory and from the file, faults and sums compared; then memory and growth."""
    bets = int(float(os.environ.get("TAISAI_BETS", "1e6" if quick else "1e7")))
    name = f"settling {bets:,} exported bets anew"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bets.parquet"
        columns = written(path, bets)
        yield from _ratios(name, columns, str(path), 3 if quick else 7)
        tenth = Path(folder) / "tenth.parquet"
        written(tenth, bets // 10)
        files = {bets // 10: str(tenth), bets: str(path)}
        known = {MATRIX.digest: MATRIX}
        yield growth(name, lambda size: resettle(files[size], known), list(files), turns=5, at_most=1.1)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
            before, after = apart.submit(memory, str(path)).result()
        grown = (after - before) / GIGABYTE
        yield Line(
            name, "memory beyond that of a start", grown, grown, grown, Target(1, at_most=True, unit=" GB")
        )


def written(path: Path, bets: int) -> Columns:
    """Bets as an export has them, settled rightly but for the planted faults; the columns as codes."""
    drawn = np.random.default_rng(7)
    rows = drawn.integers(0, len(MATRIX.areas), bets, dtype=np.int32)
    outcomes = drawn.choice(56, bets, p=[o.ways / 216 for o in OUTCOMES]).astype(np.int32)
    tables = np.sort(drawn.integers(0, len(TABLES), bets, dtype=np.int32))
    stakes = drawn.integers(1, 500, bets) * 20
    net = NETS[rows, outcomes] * stakes // MATRIX.denominator
    won = np.maximum(net, 0)
    returned = np.where(net > 0, stakes + net, 0)
    spoilt = drawn.choice(bets, FAULTS, replace=False)
    returned[spoilt] += 1
    kept = np.zeros(bets, dtype=np.int64)
    states = (drawn.random(bets) < 0.01).astype(np.int32)  # one in a hundred was taken back
    won, returned = np.where(states == 1, 0, won), np.where(states == 1, stakes, returned)
    returned[spoilt] += states[spoilt]  # and is spoilt all the same
    pay_tables = np.zeros(bets, dtype=np.int32)
    columns = Columns(pay_tables, rows, outcomes, states, tables, stakes, kept, won, returned)
    parquet.write_table(_table(columns), path, row_group_size=1 << 17, compression=COMPRESSION)
    return columns


def _table(columns: Columns) -> pa.Table:
    def coded(codes: npt.NDArray[Any], names: list[str]) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(names)).cast(pa.string())

    made = pa.table(
        {
            "table": coded(columns.tables, list(TABLES)),
            "area": coded(columns.areas, [str(area) for area in MATRIX.areas]),
            "pay_table": coded(columns.pay_tables, [MATRIX.digest]),
            "state": coded(columns.states, ["settled", "back"]),
            "faces": coded(columns.faces, FACES),
            "stake": columns.stakes,
            "kept_out": columns.kept_out,
            "won": columns.won,
            "returned": columns.returned,
        }
    )
    return made.cast(parquet_schema([one for name in made.column_names for one in BETS if one.name == name]))


def _ratios(name: str, columns: Columns, path: str, turns: int) -> Iterator[Line]:
    base = duckdb.connect()
    one = MATRIX.denominator
    pay = pa.table(
        {
            "row": np.repeat(np.arange(len(NETS), dtype=np.int32), 56),
            "outcome": np.tile(np.arange(56, dtype=np.int32), len(NETS)),
            "area": np.repeat([str(area) for area in MATRIX.areas], 56),
            "faces": np.tile(FACES, len(NETS)),
            "returns": np.where(NETS > 0, NETS + one, 0).ravel(),
            "unit": np.full(NETS.size, one, dtype=np.int64),
        }
    )
    base.register("given", pay)
    base.execute("create table pay as select * from given")
    names = ("pay_table", "row", "outcome", "state", "table", "stake", "kept_out", "won", "returned")
    base.register("held", pa.table(dict(zip(names, columns, strict=True))))
    on_codes = 'b."row" = p."row" and b.outcome = p.outcome'
    on_words = "b.area = p.area and b.faces = p.faces"
    held = QUERY.format(bets="held", on=on_codes, settled=0)
    filed = QUERY.format(bets=f"read_parquet('{path}')", on=on_words, settled="'settled'")
    rows = PayRows.of((MATRIX,))
    codes = np.arange(104, dtype=np.int32)
    known = Lookups(codes.reshape(1, -1), codes[:56], codes[:2])

    ways = {
        "ours, columns": lambda: _in_parts(columns, known, rows),
        "DuckDB, columns": lambda: base.execute(held).fetchall(),
        "ours, file": lambda: resettle(path, {MATRIX.digest: MATRIX}),
        "DuckDB, file": lambda: base.execute(filed).fetchall(),
    }
    sums, faults = _in_parts(columns, known, rows)
    theirs = base.execute(held).fetchall()
    ours = resettle(path, {MATRIX.digest: MATRIX})
    assert faults == ours.faults == sum(row[5] for row in theirs) == FAULTS
    by_code = [tuple(int(x) for x in row[1:5]) for row in theirs]
    assert by_code == [tuple(int(total[at]) for total in sums) for at in range(len(TABLES))]
    by_name = {row[0]: tuple(int(x) for x in row[1:5]) for row in base.execute(filed).fetchall()}
    assert by_name == {table.table: tuple(table[1:]) for table in ours.tables}

    bench = Bench(name, in_turns(ways, turns=turns))
    yield bench.line("columns: DuckDB / ours", of="DuckDB, columns", over="ours, columns", target=Target(4))
    yield bench.line("from Parquet: DuckDB / ours", of="DuckDB, file", over="ours, file", target=Target(2))


def _in_parts(columns: Columns, known: Lookups, pay: PayRows) -> tuple[list[Any], int]:
    """What the file's checker does once it has codes: parts on all cores."""
    size = columns.stakes.size
    parts = [slice(at, at + AT_ONCE) for at in range(0, size, AT_ONCE)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda of: resettled(columns.part(of), known, pay, len(TABLES)), parts))
    return [sum(part[0][at] for part in done) for at in range(4)], sum(len(wrong) for _, wrong in done)


def memory(path: str) -> tuple[int, int]:
    """The most that this process held, in bytes, before and after; in a process of its own."""
    resettle_nothing = {MATRIX.digest: MATRIX}
    before = _held()
    assert resettle(path, resettle_nothing).faults == FAULTS
    return before, max(before, _held())


def _held() -> int:
    """Anonymous memory where the system tells it, else the peak of everything."""
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return 1024 * int(fields["RssAnon"].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

"""Exports settled anew: every planted fault found and nothing else, by the compiled loop and by NumPy."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from taisai.bulk import BulkError, resettling
from taisai.bulk.kernels import WITHOUT_NUMBA
from taisai.rules import OUTCOMES, Matrix, RulesError, rulebook
from taisai.study.journal import columnar
from taisai.study.journal.resettle import Resettled, resettle

RWS, US = rulebook("rws-sic-bo-etg-v8"), rulebook("us-sic-bo")
PAY = {matrix.digest: matrix for matrix in (RWS.matrix("A"), RWS.matrix("B"), US.matrix())}
STATES = ("settled",) * 7 + ("void", "back", "open")


@pytest.fixture(params=["numba", "numpy"], autouse=True)
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "numpy":
        monkeypatch.setenv(WITHOUT_NUMBA, "1")


def bet(drawn: Random) -> dict[str, Any]:
    """A bet as the export has it, settled slowly: by the fractions of the matrix."""
    matrix = drawn.choice(list(PAY.values()))
    area, outcome, state = drawn.choice(matrix.areas), drawn.choice(OUTCOMES), drawn.choice(STATES)
    stake = 2 * drawn.randint(1, 5000)
    kept = drawn.choice((0, 0, 0, 2 * drawn.randint(0, stake // 2)))
    row = {
        "table": drawn.choice(("SB1", "SB2", "SB3")), "area": area, "pay_table": matrix.digest,
        "state": state, "faces": " ".join(map(str, outcome.faces)), "stake": stake,
    }  # fmt: skip
    if state == "open":
        return {**row, "faces": None, "kept_out": None, "won": None, "returned": None}
    if state != "settled":
        return {**row, "kept_out": 0, "won": 0, "returned": stake}
    net = matrix.net(area, outcome) * (stake - kept)
    back = stake - kept + net if net > 0 else 0
    return {**row, "kept_out": kept, "won": max(0, int(net)), "returned": kept + int(back)}


def saved(folder: Path, rows: list[dict[str, Any]], group: int = 100) -> str:
    path = folder / "bets.parquet"
    kinds = [(name, pa.string()) for name in columnar.CODED] + [
        (name, pa.int64()) for name in columnar.FIGURES
    ]
    parquet.write_table(pa.Table.from_pylist(rows, pa.schema(kinds)), path, row_group_size=group)
    return str(path)


def test_bets_that_got_what_was_due_are_right_and_sum_up(tmp_path: Path) -> None:
    drawn = Random(1)
    rows = [bet(drawn) for _ in range(3000)]
    found = resettle(saved(tmp_path, rows), PAY)
    assert found.is_right, found
    assert (found.bets, found.faults) == (3000, 0)
    for one in found.tables:
        counted = [row for row in rows if row["table"] == one.table and row["state"] != "open"]
        assert one.bets == len(counted)
        assert one.staked == sum(row["stake"] for row in counted)
        assert one.returned == one.due == sum(row["returned"] for row in counted)


def faults() -> Iterator[tuple[str, Any]]:
    yield "one more returned", lambda row: row.update(returned=row["returned"] + 1)
    yield "one less won", lambda row: row.update(won=row["won"] - 1 if row["won"] else 1)
    yield "another stake", lambda row: row.update(stake=row["stake"] + 2)
    yield "kept out more than staked", lambda row: row.update(kept_out=row["stake"] + 2)


@pytest.mark.parametrize("groups", [37, 100_000])
def test_every_planted_fault_is_found_and_no_other(
    tmp_path: Path, groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columnar, "AT_ONCE", 200)
    drawn = Random(2)
    rows = [bet(drawn) for _ in range(4000)]
    spoilt = sorted(drawn.sample([at for at, row in enumerate(rows) if row["state"] != "open"], 200))
    ways = list(faults())
    for n, at in enumerate(spoilt):
        way = ways[n % 4] if rows[at]["state"] == "settled" else ways[n % 2]
        before = dict(rows[at])
        way[1](rows[at])
        assert rows[at] != before
    found = resettle(saved(tmp_path, rows, groups), PAY)
    assert not found.is_right
    # Another stake of a bet that lost is no fault: it lost that too.
    harmless = {at + 1 for at in spoilt if _is_harmless(rows[at])}
    assert {one.row for one in found.told} == {at + 1 for at in spoilt} - harmless
    assert found.faults == len(spoilt) - len(harmless)
    assert len(harmless) < 60
    assert "did not get what was due" in str(found)


def _is_harmless(row: dict[str, Any]) -> bool:
    matrix = PAY[row["pay_table"]]
    if row["state"] != "settled":
        return bool(row["returned"] == row["stake"] and row["won"] == 0)
    outcome = next(o for o in OUTCOMES if " ".join(map(str, o.faces)) == row["faces"])
    playing = row["stake"] - row["kept_out"]
    net = matrix.net(row["area"], outcome) * playing
    due = row["kept_out"] + (playing + net if net > 0 else 0)
    return bool(playing >= 0 and row["returned"] == due and row["won"] == max(0, net))


def test_sums_beyond_64_bits_are_whole(tmp_path: Path) -> None:
    stake = 2**52
    row = {
        "table": "SB1", "area": "small", "pay_table": US.matrix().digest, "state": "settled",
        "faces": "6 6 6", "stake": stake, "kept_out": 0, "won": 0, "returned": 0,
    }  # fmt: skip
    found = resettle(saved(tmp_path, [row] * 5000, 5000), PAY)
    assert found.is_right
    assert found.tables[0].staked == 5000 * stake > 2**63


@pytest.mark.parametrize(
    "change",
    [
        {"area": "tiny"}, {"faces": "2 3"}, {"faces": None}, {"state": "lost"}, {"state": None},
        {"stake": -1}, {"stake": None}, {"returned": 2**60}, {"returned": None}, {"won": None},
        {"kept_out": None},
        {"area": None}, {"state": "open", "stake": -5},
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_at_fault_and_hides_no_other(tmp_path: Path, change: dict[str, Any]) -> None:
    drawn = Random(3)
    rows = [bet(drawn) for _ in range(300)]
    for at in (150, 250):
        while rows[at]["state"] != "settled":
            rows[at] = bet(drawn)
    staked = sum(row["stake"] for at, row in enumerate(rows) if row["state"] != "open" and at != 150)
    rows[150] |= change
    rows[250]["returned"] += 1
    found = resettle(saved(tmp_path, rows), PAY)
    assert [one.row for one in found.told] == [151, 251]
    assert sum(one.staked for one in found.tables) == staked


@pytest.mark.parametrize("digest", ["sha256:no", None])
def test_a_pay_table_that_nobody_knows_is_refused_with_the_remedy(tmp_path: Path, digest: str | None) -> None:
    row = bet(Random(1)) | {"pay_table": digest}
    with pytest.raises(RulesError, match=f"pay tables that are known, got {digest}; name"):
        resettle(saved(tmp_path, [row]), PAY)


def test_another_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.parquet"
    parquet.write_table(pa.table({"x": [1]}), other)
    with pytest.raises(RulesError, match="got none like pay_table, area"):
        resettle(str(other), PAY)
    text = tmp_path / "text.parquet"
    text.write_text("no parquet")
    for path in (text, tmp_path / "nothing.parquet"):
        with pytest.raises(RulesError, match="expected a Parquet file that can be read"):
            resettle(str(path), PAY)


def test_no_bets_balance(tmp_path: Path) -> None:
    found = resettle(saved(tmp_path, []), PAY)
    assert found == Resettled(found.source, 0, 0, (), ())


def test_odds_too_long_for_whole_products_are_refused() -> None:
    matrix: Matrix = US.matrix()

    class Long:
        denominator = 1
        nets = ((10**6,) + (-1,) * 55,)

    assert resettling.PayRows.of((matrix,)).first == (0,)
    with pytest.raises(BulkError, match="expected odds whose returns"):
        resettling.PayRows.of((Long(),))  # type: ignore[arg-type]


def test_the_loop_is_what_numba_compiles() -> None:
    """The plain function gives the same, so that what is compiled can be read and stepped through."""
    drawn = Random(4)
    rows = [bet(drawn) for _ in range(50)]
    codes, no = np.zeros(50, dtype=np.int32), np.zeros(1, dtype=np.int32)
    stakes = np.array([row["stake"] for row in rows], dtype=np.int64)
    pay = resettling.PayRows.of((US.matrix(),))
    lookups = resettling.Lookups(no.reshape(1, 1), no, no)
    columns = resettling.Columns(
        codes, codes, codes, codes, codes, stakes, stakes * 0, stakes * 0, stakes * 0
    )
    sums, wrong = resettling.resettled(columns, lookups, pay, 1)
    plain = resettling.Sums._make(np.zeros(1, dtype=np.int64) for _ in range(4))
    flags = np.empty(50, dtype=bool)
    resettling._loop(*columns, *lookups, pay.returns, pay.units, *plain, flags)
    assert [one.tolist() for one in sums] == [one.tolist() for one in plain]
    assert wrong.tolist() == np.flatnonzero(flags).tolist()

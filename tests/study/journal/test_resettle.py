"""Exports settled again: every planted fault found and nothing else, by the compiled loop and by NumPy."""

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from taisai.bulk import BulkError, resettling
from taisai.bulk.kernels import WITHOUT_NUMBA
from taisai.rules import OUTCOMES, Matrix, RulesError, rulebook
from taisai.study.journal import resettle as resettle_module
from taisai.study.journal.resettle import Resettled, resettle

RWS, US = rulebook("rws-sic-bo-etg-v8"), rulebook("us-sic-bo")
PAY = {matrix.digest: matrix for matrix in (RWS.matrix("A"), RWS.matrix("B"), US.matrix())}
STATES = ("settled",) * 7 + ("void", "back", "open")
OPEN = {"state": "open", "faces": None, "kept_out": None, "won": None, "returned": None}


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
        "voided": state == "void" or (state == "back" and drawn.random() < 0.5),
    }  # fmt: skip
    if state == "open":
        return row | OPEN
    if state != "settled":
        return {**row, "kept_out": 0, "won": 0, "returned": stake}
    net = matrix.net(area, outcome) * (stake - kept)
    back = stake - kept + net if net > 0 else 0
    return {**row, "kept_out": kept, "won": max(0, int(net)), "returned": kept + int(back)}


def saved(folder: Path, rows: list[dict[str, Any]], group: int = 100) -> str:
    path = folder / "bets.parquet"
    kinds = [(name, pa.string()) for name in resettle_module.CODED]
    kinds += [(name, pa.int64()) for name in resettle_module.FIGURES] + [(resettle_module.FLAG, pa.bool_())]
    parquet.write_table(pa.Table.from_pylist(rows, pa.schema(kinds)), path, row_group_size=group)
    return str(path)


def test_bets_that_got_what_was_due_are_right_and_sum_up(tmp_path: Path) -> None:
    drawn = Random(1)
    rows = [bet(drawn) for _ in range(3000)]
    found = resettle(saved(tmp_path, rows), PAY)
    assert found.is_right, found
    in_hand = sum(row["state"] == "open" for row in rows)
    assert (found.bets, found.still_open, found.faults) == (3000, in_hand, 0)
    assert f"{3000 - in_hand:,} bets settled again, {in_hand} still open" in " ".join(str(found).split())
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
    monkeypatch.setattr(resettle_module, "AT_ONCE", 200)
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
        "faces": "6 6 6", "stake": stake, "kept_out": 0, "won": 0, "returned": 0, "voided": False,
    }  # fmt: skip
    found = resettle(saved(tmp_path, [row] * 5000, 5000), PAY)
    assert found.is_right
    assert found.tables[0].staked == 5000 * stake > 2**63


@pytest.mark.parametrize(
    "change",
    [
        {"faces": "2 3"}, {"faces": "１ ２ ３"}, {"faces": "+1 2 0_3"}, {"faces": "1  2 3"},
        {"area": "tiny"}, {"faces": None}, {"state": "lost"}, {"state": None},
        {"stake": -1}, {"stake": None}, {"returned": 2**60}, {"returned": None}, {"won": None},
        {"kept_out": None},
        {"area": None}, {"state": "open", "stake": -5}, {"voided": True}, {"voided": None},
        {"state": "void", "won": 0}, {"state": "open", "voided": True},
        {**OPEN, "won": 5, "returned": 1_000_000}, {**OPEN, "kept_out": 0}, {**OPEN, "won": 0},
        {**OPEN, "returned": 0}, {"stake": 100, "kept_out": 150},
        {"state": "back", "stake": 100, "kept_out": 150, "won": 0, "returned": 100},
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
    assert found.still_open == sum(row["state"] == "open" for row in rows) - (rows[150]["state"] == "open")


@pytest.mark.parametrize("digest", ["sha256:no", None])
def test_a_pay_table_that_nobody_knows_is_refused_with_the_remedy(tmp_path: Path, digest: str | None) -> None:
    row = bet(Random(1)) | {"pay_table": digest}
    with pytest.raises(RulesError, match=f"unknown pay tables {digest}; give the rulebook"):
        resettle(saved(tmp_path, [row]), PAY)


def test_another_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.parquet"
    parquet.write_table(pa.table({"x": [1]}), other)
    with pytest.raises(RulesError, match="missing columns pay_table, area"):
        resettle(str(other), PAY)
    text = tmp_path / "text.parquet"
    text.write_text("no parquet")
    for path in (text, tmp_path / "nothing.parquet"):
        with pytest.raises(RulesError, match="cannot read the Parquet file"):
            resettle(str(path), PAY)


def test_dice_may_stand_in_any_order(tmp_path: Path) -> None:
    row = next(one for one in map(bet, [Random(7)] * 99) if one["state"] == "settled")
    outcome = next(one for one in OUTCOMES if one.ways == 6)
    right = {"won": 0, "returned": 0, "kept_out": 0, "area": "any-triple", "pay_table": US.matrix().digest}
    orders = [" ".join(map(str, faces)) for faces in permutations(outcome.faces)]
    assert resettle(saved(tmp_path, [row | right | {"faces": one} for one in orders]), PAY).is_right
    assert len(resettle_module.SPELT) == 216


@pytest.mark.parametrize("name", ["stake", "area"])
def test_a_column_that_stands_twice_is_refused(tmp_path: Path, name: str) -> None:
    file = saved(tmp_path, [bet(Random(1))])
    found = parquet.read_table(file)
    parquet.write_table(found.append_column("seat", found["area"]).append_column("seat", found["won"]), file)
    assert resettle(file, PAY).is_right  # what is not read may stand as often as it likes
    parquet.write_table(found.append_column(name, found[name]), file)
    with pytest.raises(RulesError, match=f"columns occur twice: {name} \\("):
        resettle(file, PAY)


@pytest.mark.parametrize("kind", [pa.uint64(), pa.uint32(), pa.int16()])
def test_money_may_be_of_any_whole_kind_and_some_cells_empty(tmp_path: Path, kind: pa.DataType) -> None:
    rows = [bet(Random(1)) | {**OPEN, "voided": False, "stake": 100}] * 3
    rows[1] = rows[1] | {"won": 5}
    file = saved(tmp_path, rows)
    found = parquet.read_table(file)
    schema = pa.schema(
        [one.with_type(kind) if one.name in resettle_module.FIGURES else one for one in found.schema]
    )
    parquet.write_table(found.cast(schema), file)
    told = resettle(file, PAY)
    assert ([one.row for one in told.told], told.still_open) == ([2], 2)


@pytest.mark.parametrize("other", [0, None])
def test_money_beyond_64_bits_is_refused(tmp_path: Path, other: int | None) -> None:
    file = saved(tmp_path, [bet(Random(1))] * 2)
    found = parquet.read_table(file)
    most = pa.array([2**63, other], pa.uint64())
    parquet.write_table(found.set_column(found.schema.get_field_index("won"), "won", most), file)
    with pytest.raises(RulesError, match=f"whole numbers of 64 bits in column won, got .*{2**63}") as refused:
        resettle(file, PAY)
    assert len(str(refused.value).splitlines()) == 1


def test_no_bets_balance(tmp_path: Path) -> None:
    found = resettle(saved(tmp_path, []), PAY)
    assert found == Resettled(found.source, 0, 0, 0, (), ())


def test_odds_too_long_for_whole_products_are_refused() -> None:
    matrix: Matrix = US.matrix()

    class Long:
        denominator = 1
        nets = ((10**6,) + (-1,) * 55,)

    assert resettling.PayRows.of((matrix,)).first == (1,)
    with pytest.raises(BulkError, match="expected odds whose returns"):
        resettling.PayRows.of((Long(),))  # type: ignore[arg-type]


def test_each_pay_table_keeps_its_own_denominator() -> None:
    class Sevenths:
        denominator = 7
        nets = ((3,) + (-7,) * 55,)

    pay = resettling.PayRows.of((*PAY.values(), Sevenths()))  # type: ignore[arg-type]
    least = max(matrix.denominator for matrix in PAY.values())
    assert 7 * least * int(pay.returns.max()) > resettling.MOST_FACTOR, "a common one would be too great"
    assert (pay.units[-1], pay.returns[-1][0]) == (7, 10)


@pytest.mark.parametrize("state", ["settled", "void", "back", "open"])
def test_a_state_and_a_flag_that_contradict_each_other_are_a_fault(tmp_path: Path, state: str) -> None:
    drawn = Random(5)
    row = next(one for one in iter(lambda: bet(drawn), None) if one["state"] == state)
    for voided in (False, True):
        found = resettle(saved(tmp_path, [row | {"voided": voided}]), PAY)
        assert found.is_right == (state == "back" or voided == (state == "void"))


def test_a_row_group_of_any_size_is_taken_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Random(6)
    rows = [bet(drawn) for _ in range(1000)]
    rows[777] |= {"state": "lost"}
    file = saved(tmp_path, rows, 1000)
    whole = resettle(file, PAY)
    monkeypatch.setattr(resettle_module, "AT_ONCE", 64 + 3)  # flags are bits: parts must not begin at a byte
    told: list[int] = []
    assert resettle(file, PAY, told.append) == whole
    assert (max(told), sum(told)) == (67, 1000)
    assert [one.row for one in whole.told] == [778]


def test_very_many_words_for_areas_and_dice_cost_no_memory_and_hide_nothing(tmp_path: Path) -> None:
    drawn, words = Random(3), 4000
    rows = [bet(drawn) for _ in range(2 * words)]
    rows[0]["state"] = "settled"
    for n in range(words):
        rows[n] |= {"area": f"nowhere-{n}", "faces": f"{n} dice"}
    assert words * words > resettling.MOST_CELLS
    found = resettle(saved(tmp_path, rows, group=len(rows)), PAY)
    strange = [row["state"] == "settled" for row in rows[:words]]
    assert found.faults == sum(strange)
    assert [one.row for one in found.told] == [at + 1 for at, one in enumerate(strange) if one][
        : len(found.told)
    ]


def test_all_faults_are_counted_and_the_first_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resettle_module, "MOST_TOLD", 7)
    rows = [bet(Random(1)) | {"state": "lost"}] * 50
    found = resettle(saved(tmp_path, rows, 5), PAY)
    assert found.faults == 50
    assert [one.row for one in found.told] == [1, 2, 3, 4, 5, 6, 7]


def test_a_word_beyond_its_dictionary_is_refused(tmp_path: Path) -> None:
    """PyArrow hands out such a place as it is, and a compiled loop would follow it anywhere."""
    row = bet(Random(1)) | {"table": "SB1"}
    tables = [f"SB{1 + n % 3}" for n in range(64)]
    kinds = [pa.field("table", pa.string(), nullable=False)]
    kinds += [pa.field(name, pa.string()) for name in resettle_module.CODED if name != "table"]
    kinds += [pa.field(name, pa.int64()) for name in resettle_module.FIGURES] + [
        pa.field("voided", pa.bool_())
    ]
    made = pa.Table.from_pylist([row | {"table": one} for one in tables], pa.schema(kinds))
    path = tmp_path / "bets.parquet"
    parquet.write_table(made, path, compression="none")
    assert resettle(str(path), PAY).is_right
    places = bytes([0b00100100, 0b01001001, 0b10010010])  # 0 1 2 0 1 2 …, two bits each, as the file has them
    whole = path.read_bytes()
    assert whole.count(places * 5) == 1
    path.write_bytes(whole.replace(places * 5, b"\xff" + (places * 5)[1:]))
    with pytest.raises(
        RulesError, match=r"expected codes below 3 in column tables, got 3 \(.*bets.parquet\)"
    ):
        resettle(str(path), PAY)

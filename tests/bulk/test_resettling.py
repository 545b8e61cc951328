"""Bets settled again: the two loops, what numba makes of them and NumPy alone give the same digits."""

import numpy as np
import pytest

from taisai.bulk import BulkError, resettling
from taisai.bulk.kernels import WITHOUT_NUMBA
from taisai.bulk.resettling import Columns, Lookups, PayRows, resettled
from taisai.rules import rulebook

MATRICES = (rulebook("rws-sic-bo-etg-v8").matrix("B"), rulebook("us-sic-bo").matrix())
PAY = PayRows.of(MATRICES)
AREAS, TABLES = 20, 5
LOOKUPS = Lookups(
    np.array(
        [[first + area if area else resettling.NO_ROW for area in range(AREAS)] for first in PAY.first],
        dtype=np.uint32,
    ),
    np.array([*range(56), resettling.NO_OUTCOME], dtype=np.uint32),
    np.array([(0, 3, 3), (3, 1, 3), (1, 1, 3), (2, 3, 3), (3, 3, 3)], dtype=np.uint32),
)


def drawn(bets: int, seed: int, greatest: int = 5000) -> Columns:
    """Bets of which most are right, and some strange in every way."""
    draw = np.random.default_rng(seed)

    def codes(most: int, common: float = 0.0) -> resettling.Codes:
        found = draw.integers(0, most, bets, dtype=np.uint32)
        found[draw.random(bets) < common] = 0
        return found

    pay_tables, areas, faces = codes(2), codes(AREAS), codes(57)
    states, voided = codes(5, 0.9), draw.choice(3, bets, p=(0.96, 0.03, 0.01)).astype(np.uint8)
    stakes = draw.integers(0, greatest, bets) * 2
    kept = np.where(draw.random(bets) < 0.2, stakes // 4 * 2, 0)
    row = LOOKUPS.rows[pay_tables, areas]
    owed = (stakes - kept) * np.maximum(PAY.returns[row, faces], 0) // PAY.units[row]
    won, returned = np.maximum(owed - (stakes - kept), 0), owed + kept
    for column in (stakes, kept, won, returned):
        strange = draw.random(bets) < 0.02
        column[strange] += draw.choice((-(2**40), -1, 1, 2, 2**54, -(2**63)), np.count_nonzero(strange))
    is_open = LOOKUPS.states[states, voided] == resettling.OPEN
    for column in (kept, won, returned):  # most open bets have no money, as it should be
        column[is_open & (draw.random(bets) < 0.9)] = resettling.NO_MONEY
    tables = np.sort(codes(TABLES)) if seed % 2 else codes(TABLES)
    return Columns(pay_tables, areas, faces, states, voided, tables, stakes, kept, won, returned)


def one_bet(state: int, *money: int) -> Columns:
    """A bet in the first table, on the first area and outcome, with a stake, kept out, won, returned."""
    codes = [np.array([code], dtype=np.uint32) for code in (0, 1, 0, state, 0)]
    figures = [np.array([figure], dtype=np.int64) for figure in money]
    return Columns._make([*codes[:4], np.zeros(1, dtype=np.uint8), codes[4], *figures])


def by(name: str, columns: Columns, monkeypatch: pytest.MonkeyPatch) -> tuple[list[list[int]], list[int]]:
    with monkeypatch.context() as patched:
        if name != "numba":
            patched.setenv(WITHOUT_NUMBA, "1")
        if name == "plain":
            patched.setattr(resettling, "_by_numpy", resettling.one_after_another())
        with np.errstate(over="ignore"):  # strange money; what is compiled says nothing of it either
            sums, wrong = resettled(columns, LOOKUPS, PAY, TABLES)
    return [one.tolist() for one in sums], wrong.tolist()


@pytest.mark.parametrize("seed", range(6))
def test_every_way_gives_the_same_digits(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = drawn(2000, seed)
    compiled = by("numba", columns, monkeypatch)
    assert compiled == by("numpy", columns, monkeypatch) == by("plain", columns, monkeypatch)
    assert 100 < len(compiled[1]) < 1500


@pytest.mark.parametrize("name", ["numba", "numpy", "plain"])
def test_very_many_words_give_the_same_digits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = drawn(2000, 3)
    few = by(name, columns, monkeypatch)
    monkeypatch.setattr(resettling, "MOST_CELLS", 0)
    assert by(name, columns, monkeypatch) == few
    columns.areas[7] = AREAS
    with pytest.raises(BulkError, match=f"expected codes below {AREAS} in column areas, got {AREAS}"):
        by(name, columns, monkeypatch)


@pytest.mark.parametrize("seed", range(2))
def test_sums_beyond_64_bits_are_the_same_too(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = drawn(60_000, seed, greatest=2**51)
    compiled = by("numba", columns, monkeypatch)
    assert compiled == by("numpy", columns, monkeypatch)
    assert max(compiled[0][1]) > 2**63
    few = 500  # whose sums fit
    parts = [by("numba", columns.part(slice(at, at + few)), monkeypatch) for at in range(0, 60_000, few)]
    assert compiled[0] == [
        [sum(part[0][figure][table] for part in parts) for table in range(TABLES)] for figure in range(4)
    ]


@pytest.mark.parametrize("name", ["numba", "numpy", "plain"])
@pytest.mark.parametrize("money", [(-1, -1, -1), (0, -1, -1), (-1, 5, -1), (-1, -1, 0), (-1, 5, 1_000_000)])
def test_an_open_bet_has_no_money(
    name: str, money: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = by(name, one_bet(3, 100, *money), monkeypatch)
    assert found == ([[0] * TABLES] * 4, [] if money == (-1, -1, -1) else [0])


@pytest.mark.parametrize("name", ["numba", "numpy", "plain"])
@pytest.mark.parametrize("state", [0, 2])
def test_more_kept_out_than_staked_is_at_fault_and_in_no_sum(
    name: str, state: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert by(name, one_bet(state, 100, 150, 0, 100), monkeypatch) == ([[0] * TABLES] * 4, [0])
    whole = by(name, one_bet(state, 100, 100, 0, 100), monkeypatch)
    assert whole == ([[many, *[0] * (TABLES - 1)] for many in (1, 100, 100, 100)], [])


@pytest.mark.parametrize("name", ["numba", "numpy", "plain"])
@pytest.mark.parametrize(
    ("column", "many"),
    [("pay_tables", 2), ("areas", AREAS), ("faces", 57), ("states", 5), ("voided", 3), ("tables", TABLES)],
)
def test_codes_beyond_what_is_known_are_refused(
    name: str, column: str, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = drawn(50, 1)
    getattr(columns, column)[7] = many - 1
    by(name, columns, monkeypatch)
    getattr(columns, column)[7] = many
    with pytest.raises(BulkError, match=f"expected codes below {many} in column {column}, got {many}"):
        by(name, columns, monkeypatch)


@pytest.mark.parametrize(("lookup", "many"), [("rows", len(PAY.returns)), ("outcomes", 57)])
def test_lookups_beyond_the_pay_rows_are_refused(lookup: str, many: int) -> None:
    beyond = LOOKUPS._replace(**{lookup: np.full_like(getattr(LOOKUPS, lookup), many)})
    with pytest.raises(BulkError, match=f"expected codes below {many} in {lookup} looked up, got {many}"):
        resettled(drawn(5, 1), beyond, PAY, TABLES)


def test_columns_of_several_lengths_are_refused() -> None:
    columns = drawn(5, 1)
    with pytest.raises(BulkError, match=r"expected columns of equal length, got the lengths \[4, 5\]"):
        resettled(columns._replace(won=columns.won[1:]), LOOKUPS, PAY, TABLES)


def test_no_bets_are_no_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("numba", "numpy", "plain"):
        assert by(name, drawn(0, 1), monkeypatch) == ([[0] * TABLES] * 4, [])

"""With numba and without: the same sums, and numba only where it is worth its loading."""

from __future__ import annotations

import os
import subprocess
import sys
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from taisai.bulk import BetsByArea, kernels
from taisai.bulk import bets as bets_module
from taisai.rules import OUTCOMES
from tests.bulk.tables import PLAYERS, Placed, at_once, extend, multiples, plain_up_to

NAME = "rws-sic-bo-etg-v8/B"


@given(data=st.data())
def test_both_ways_of_adding_give_the_same_totals(data: st.DataObject) -> None:
    seats = data.draw(st.integers(1, 30))
    areas = []
    for _ in range(data.draw(st.integers(0, 4))):
        size = data.draw(st.integers(0, 40))
        players = data.draw(arrays.arrays(np.intp, size, elements=st.integers(0, seats - 1)))
        areas.append((players, data.draw(arrays.arrays(np.int64, size, elements=st.integers(1, 2**40)))))
    multiple = data.draw(st.integers(2, 400))
    expected = [0] * seats
    for players, steps in areas:
        for player, step in zip(players.tolist(), steps.tolist(), strict=True):
            expected[player] += step * multiple
    for add in (kernels.add_by_numpy, kernels.compiled_adder()):
        totals = np.zeros(seats, dtype=np.int64)
        add(totals, areas, multiple)
        assert totals.tolist() == expected


def test_sums_are_exact_to_the_last_unit_at_the_limit() -> None:
    """A float64 total would lose the 1: 2^53 - 1 and its neighbours are where it would show."""
    most = (2**53 - 1) // 2
    for compiled in (False, True):
        with plain_up_to(0):
            kept = at_once(NAME, [Placed(0, "small", most - 1), Placed(0, "small", 1)], compiled=compiled)
            small = next(outcome for outcome in OUTCOMES if kept.house(outcome).returned)
            assert kept.returned_by_player(small)[0] == 2 * most
            assert kept.returned_by_player(small).dtype == np.int64


def test_the_environment_can_leave_numba_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kernels.has_numba()
    monkeypatch.setenv(kernels.WITHOUT_NUMBA, "1")
    assert not kernels.has_numba()
    with patch.object(bets_module, "COMPILED_FROM", 1), plain_up_to(0):
        assert _adder_after_settling(compiled=None) is kernels.add_by_numpy


@pytest.mark.parametrize("compiled", [None, False, True])
def test_numba_is_used_where_it_is_wanted(*, compiled: bool | None) -> None:
    with patch.object(bets_module, "COMPILED_FROM", 2), plain_up_to(0):
        used = _adder_after_settling(compiled=compiled)
    assert (used is kernels.compiled_adder()) is (compiled is not False)


def test_few_bets_do_not_ask_for_numba() -> None:
    with patch.object(bets_module, "COMPILED_FROM", 3), plain_up_to(0):
        assert _adder_after_settling(compiled=None) is kernels.add_by_numpy


def _adder_after_settling(*, compiled: bool | None) -> kernels.Adder:
    kept = BetsByArea(multiples(NAME), players=PLAYERS, compiled=compiled)
    extend(kept, [Placed(0, "small", 100), Placed(1, "big", 100)])
    kept.returned_by_player(OUTCOMES[5])
    return kept._adder


def test_numba_is_not_loaded_before_it_is_needed() -> None:
    code = (
        "import sys\n"
        "from taisai.bulk import BetsByArea, Multiples\n"
        "from taisai.rules import OUTCOMES, rulebook\n"
        "bets = BetsByArea(Multiples.of(rulebook('us-sic-bo').matrix()), players=1)\n"
        "bets.extend([0] * 1000, [0] * 1000, [100] * 1000); bets.returned_by_player(OUTCOMES[0])\n"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_a_folder_for_compiled_code_numba_compiles_all_the_same() -> None:
    code = (
        "import numba, numpy as np, taisai.bulk.kernels as kernels\n"
        "njit = numba.njit\n"
        "def nowhere(*signature, cache=False, **options):\n"
        "    if cache: raise RuntimeError('cannot cache function: no locator available')\n"
        "    return njit(*signature, **options)\n"
        "numba.njit = nowhere\n"
        "totals = np.zeros(1, np.int64)\n"
        "kernels.compiled_adder()(totals, [(np.zeros(2, np.intp), np.ones(2, np.int64))], 7)\n"
        "assert totals[0] == 14"
    )
    environment = {name: value for name, value in os.environ.items() if name != kernels.WITHOUT_NUMBA}
    assert (
        subprocess.run([sys.executable, "-W", "error", "-c", code], check=False, env=environment).returncode
        == 0
    )


def test_sabotage_an_adder_in_floating_point_is_seen() -> None:
    def by_float(
        totals: np.ndarray[tuple[int], np.dtype[np.int64]], areas: kernels.Filed, multiple: int
    ) -> None:
        for players, steps in areas:
            inexact = (steps * multiple).astype(np.float32)
            totals += np.bincount(players, inexact, totals.size).astype(np.int64)

    with patch.object(kernels, "add_by_numpy", by_float), pytest.raises(AssertionError):
        test_sums_are_exact_to_the_last_unit_at_the_limit()

"""The benches of a table in play: small runs, their arithmetic, and wrong settlements that they see."""

from __future__ import annotations

from math import isclose

import pytest

from bench import one_bet, whole_round
from bench.harness import Target
from taisai.game.money import packed_sums
from taisai.game.money.ledger import UnbalancedError
from taisai.game.money.packed_sums import Column, unpacked


@pytest.fixture
def small_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_round, "MOST_BETS", 3_000)
    monkeypatch.setattr(whole_round, "MOST_SEATS", 20)
    monkeypatch.setattr(whole_round, "SWEEP_BYTES", 8)


@pytest.mark.usefixtures("small_round")
def test_a_round_is_settled_again_and_again_on_the_same_bets() -> None:
    lines = list(whole_round.run(quick=True))
    assert [str(line.target) for line in lines if line.target] == ["≥ 0.5×"]
    assert all(line.ratio > 0 for line in lines)


def _to_another_purse(packed: int, count: int) -> Column:
    numbers = unpacked(packed, count)
    numbers.reverse()
    return numbers


@pytest.mark.usefixtures("small_round")
def test_sabotage_money_that_goes_to_another_purse_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_sums, "unpacked", _to_another_purse)
    with pytest.raises((AssertionError, UnbalancedError)):
        list(whole_round.run(quick=True))


def test_one_bet_is_measured_with_fewer_and_more_bets_in_the_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_bet, "LYING", (10, 20, 200))
    lines = list(one_bet.run(quick=True))
    assert [str(line.target) for line in lines if line.target] == ["≥ 0.08×", "≤ 0.1"]


@pytest.mark.parametrize(("growth", "slope"), [(0, 0), (1, 1), (0.5, 0.5)])
def test_the_slope_is_that_of_time_over_bets_on_logarithmic_scales(growth: float, slope: float) -> None:
    times = {str(lying): [7.0 * lying**growth, 3.0 * lying**growth] for lying in one_bet.LYING}
    assert all(isclose(one, slope, abs_tol=1e-9) for one in one_bet._slopes(times))
    assert Target(0.1, at_most=True).met_by(slope) is (slope == 0)

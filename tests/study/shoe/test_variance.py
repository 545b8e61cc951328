"""The variance of a count: against every deal of small shoes, and against sampled shoes of two decks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from taisai.rules.errors import RulesError
from taisai.study import MissingError
from taisai.study.shoe import variance as luck_module
from taisai.study.shoe.counting import counted
from taisai.study.shoe.exposure import exposure
from taisai.study.shoe.variance import ShoeVariance, shoe_variance
from tests.study.shoe import brute

MATRIX = brute.MATRIX
TAGS = (-2, -1, 0, 0, 1, 2)
SMALL_AND_BIG = ("small", "big", Fraction(1))


def found(
    left: tuple[int, ...], tags: tuple[int, ...], bet: tuple[str, str | None, Fraction], rounds: int
) -> ShoeVariance:
    return shoe_variance(MATRIX, left, tags, bet, rounds, deck=6)


@pytest.mark.parametrize("left", [(2, 2, 2, 2, 2, 2), (4, 0, 3, 1, 2, 3), (1, 1, 1, 1, 1, 1)], ids=str)
@pytest.mark.parametrize(
    "tags", [TAGS, (-1, -1, 0, 0, 1, 1), (1, 0, 0, 0, 0, -1), (3, 0, 0, 1, 1, 0)], ids=str
)
@pytest.mark.parametrize(
    ("area", "mirror", "at"),
    [
        ("small", "big", Fraction(1, 2)),
        ("total-10", None, Fraction(1)),
        ("total-4", "total-17", Fraction(3, 2)),
    ],
)
def test_a_shoe_strays_as_every_deal_makes_it(
    left: tuple[int, ...], tags: tuple[int, ...], area: str, mirror: str | None, at: Fraction
) -> None:
    def called(now: tuple[int, ...]) -> str | None:
        count = sum(tag * (was - there) for tag, was, there in zip(tags, left, now, strict=True))
        true = Fraction(6 * count, sum(now))
        return area if true >= at else mirror if true <= -at else None

    for rounds in range(1, sum(left) // 3 + 1):
        mean, square = brute.moments(MATRIX, left, rounds, called)
        strays = found(left, tags, (area, mirror, at), rounds)
        assert strays.mean == pytest.approx(float(mean), abs=1e-11)
        assert abs(strays.variance - float(square - mean * mean)) < strays.error


def test_two_decks_stray_as_sampled_shoes_do() -> None:
    """Shoes are shuffled, counted and bet on round by round, with nothing of ours at all."""
    shoes, rounds, chance = 100_000, 16, np.random.default_rng(20)
    cards = chance.permuted(np.tile(np.repeat(np.arange(6), 16), (shoes, 1)), axis=1)[:, : 3 * rounds]
    won, count = np.zeros(shoes), np.zeros(shoes)
    for k in range(rounds):
        hand = cards[:, 3 * k : 3 * k + 3]
        total, triple = hand.sum(axis=1) + 3, (hand == hand[:, :1]).all(axis=1)
        decks = (96 - 3 * k) / 48
        won += (count >= decks) * np.where((total <= 10) & ~triple, 1, -1)
        won += (count <= -decks) * np.where((total >= 11) & ~triple, 1, -1)
        count += np.array(TAGS)[hand].sum(axis=1)
    sampled = 10 * won.std() / rounds**0.5
    exact = shoe_variance(MATRIX, (16,) * 6, TAGS, SMALL_AND_BIG, rounds)
    assert abs(sampled - exact.deviation) < 4 * sampled / (2 * shoes) ** 0.5 < 0.08
    assert exact.deviation == pytest.approx(7.627, abs=5e-4)  # not 8.39, as if its rounds were independent


def test_the_mean_is_that_of_the_count() -> None:
    exact = shoe_variance(MATRIX, (16,) * 6, TAGS, SMALL_AND_BIG, 20)
    played = counted(MATRIX, (16,) * 6, TAGS).by_threshold(*SMALL_AND_BIG)[:20]
    assert exact.mean == pytest.approx(sum(one.gain for one in played), abs=1e-9)
    assert exact.error < 1e-9


def test_what_is_left_out_moves_it_by_less_than_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cuts a thousand million times as coarse, so that they show beside the rounding."""
    whole = shoe_variance(MATRIX, (8,) * 6, TAGS, SMALL_AND_BIG, 8)
    monkeypatch.setattr(luck_module, "LEAST", 1e-9)
    cut = shoe_variance(MATRIX, (8,) * 6, TAGS, SMALL_AND_BIG, 8)
    assert 1e-9 < abs(cut.variance - whole.variance) < cut.error < 1e-2
    monkeypatch.undo()
    monkeypatch.setattr(luck_module, "NOISE", 0.2)
    fewer = shoe_variance(MATRIX, (8,) * 6, TAGS, SMALL_AND_BIG, 8)
    assert 1e-3 < abs(fewer.variance - whole.variance) < fewer.error
    assert whole.error < 1e-10


def test_a_shoe_of_sixes_does_not_stray() -> None:
    """What is left of a difference of equal numbers is no variance below zero."""
    sure = shoe_variance(MATRIX, (0, 0, 0, 0, 0, 6), TAGS, ("any-triple", None, Fraction(-9)), 2)
    assert sure.mean == 62
    assert sure.deviation < 1e-4


@pytest.mark.parametrize(
    ("left", "tags", "rounds", "says"),
    [
        ((16,) * 6, TAGS, 33, "expected 1 to 32 rounds from 96 cards, got 33"),
        ((16,) * 6, TAGS, 0, "expected 1 to 32 rounds from 96 cards, got 0"),
        ((16,) * 6, TAGS[:5], 16, "expected six whole tags from -9 to 9"),
        ((16,) * 6, (-10, -1, 0, 0, 1, 2), 16, "expected six whole tags from -9 to 9"),
        ((16,) * 5, TAGS, 16, "expected 6 counts"),
        ((167,) * 6, TAGS, 16, "expected at most 1000 cards for a deviation, got 1002"),
        ((2,) * 6, (-3, -2, -1, 1, 2, 3), 2, "expected at most 5 different tags for a deviation, got 6"),
    ],
)
def test_what_cannot_be_computed_is_refused(
    left: tuple[int, ...], tags: tuple[int, ...], rounds: int, says: str
) -> None:
    with pytest.raises(RulesError, match=says):
        shoe_variance(MATRIX, left, tags, SMALL_AND_BIG, rounds)


def test_too_many_figures_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(luck_module, "MOST_CELLS", 2 * 4 * 12**4)
    assert shoe_variance(MATRIX, (8,) * 6, TAGS, SMALL_AND_BIG, 2).rounds == 2
    with pytest.raises(
        RulesError, match=r"expected at most 165888 figures .*\(49 cards with 5 different tags"
    ):
        shoe_variance(MATRIX, (9, 8, 8, 8, 8, 8), TAGS, SMALL_AND_BIG, 2)


def test_without_numba_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(luck_module, "loads_numba", lambda: False)
    with pytest.raises(MissingError, match="a deviation needs numba, which is not installed: run pip"):
        shoe_variance(MATRIX, (8,) * 6, TAGS, SMALL_AND_BIG, 2)


def test_nothing_won_is_never_equal_to_luck() -> None:
    assert ShoeVariance(rounds=4, mean=-0.1, variance=2.0, error=0.0).until_equal is None
    assert ShoeVariance(rounds=4, mean=0.5, variance=2.0, error=0.0).until_equal == 32


def test_exposure_tells_it_when_asked() -> None:
    plain = exposure(MATRIX, (8,) * 6)
    assert plain.facts()["deviation_per_100"] is plain.facts()["rounds_until_equal"] is None
    told = exposure(MATRIX, (8,) * 6, deviation=True)
    facts = told.facts()
    assert told.variance is not None
    assert (facts["variance_per_shoe"], facts["variance_error"]) == (
        told.variance.variance,
        told.variance.error,
    )
    assert plain.facts()["variance_error"] is None
    equal = 100 * (facts["deviation_per_100"] / told.at(told.asked).gain) ** 2
    assert facts["rounds_until_equal"] == pytest.approx(equal)
    assert f"after {equal:,.0f} rounds" in " ".join(str(told).split())

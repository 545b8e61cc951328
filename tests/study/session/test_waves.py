"""Waves against whole numbers: nowhere further off than they say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from taisai.rules import RulesError, rulebook
from taisai.study.odds import Distribution, Mix
from taisai.study.session.sums import MOST_POINTS, FourierDistribution, Lattice, sum_by_fft, sum_distribution

BOOK = rulebook("rws-sic-bo-etg-v8")
ROUNDS = 1_500
MIXES = (
    {"small": 100},
    {"triple-1": 100},
    {"single-1": 100},
    {"small": 100, "triple-1": 10},
    {"total-8": 100, "single-2": 50, "double-3": 20},
)


def lattice_of(bets: dict[str, int]) -> Lattice:
    return Lattice.of(Mix.of(BOOK.matrix("A"), bets).distribution(BOOK.chance()))


def furthest(wave: FourierDistribution, law: Distribution) -> float:
    """The greatest distance of any probability from the exact one, wherever there is one."""
    exact = dict(zip(law.values, law.weights, strict=True))
    places = range(wave.low, wave.low + wave.step * len(wave.probabilities), wave.step)
    inside = [
        abs(exact.pop(value, 0) / law.total - share)
        for value, share in zip(places, wave.probabilities.tolist(), strict=True)
    ]
    return float(max(*inside, *(weight / law.total for weight in exact.values())))


@pytest.mark.parametrize("bets", MIXES)
def test_no_probability_is_off_by_more_than_it_says(bets: dict[str, int]) -> None:
    lattice = lattice_of(bets)
    wave, law = sum_by_fft(lattice, ROUNDS), sum_distribution(lattice, ROUNDS)
    assert furthest(wave, law) <= wave.error < 1e-12
    for bound in (law.quantile(Fraction(1, 1_000)), -1_000, 0, 1, law.quantile(Fraction(999, 1_000))):
        exact = law.probability(at_least=bound)
        assert abs(Fraction(wave.probability(at_least=bound)) - exact) <= Fraction(wave.sum_error)
    assert wave.sum_error < 1e-9
    for share in (Fraction(1, 100), Fraction(1, 2), Fraction(99, 100)):
        assert wave.quantile(share) == law.quantile(share)


def test_sabotage_a_wave_moved_by_one_place_is_noticed() -> None:
    lattice = lattice_of(MIXES[0])
    wave, law = sum_by_fft(lattice, ROUNDS), sum_distribution(lattice, ROUNDS)
    moved = wave._replace(low=wave.low + wave.step)
    assert furthest(moved, law) > 1e6 * wave.error
    a_little = wave._replace(probabilities=wave.probabilities * (1 + 1e-9))
    assert furthest(a_little, law) > wave.error


@pytest.mark.parametrize("rounds", [1, 2, 10, 100, 150])
def test_few_rounds_need_no_window(rounds: int) -> None:
    lattice = lattice_of(MIXES[2])
    wave = sum_by_fft(lattice, rounds)
    assert furthest(wave, sum_distribution(lattice, rounds)) <= wave.error + 2.0**-rounds


def test_the_greatest_support_is_2_to_the_26() -> None:
    coin = Lattice.of(Distribution.of([(-1, 1), (1, 1)]))
    wave = sum_by_fft(coin, MOST_POINTS - 1)
    assert wave.error < 1e-13
    assert abs(float(wave.probabilities.sum()) - 1) <= wave.sum_error
    assert abs(float(np.dot(np.arange(len(wave.probabilities)), wave.probabilities)) * 2 + wave.low) < 1e-4
    with pytest.raises(RulesError, match="expected a total of at most 2\\^26 = 67,108,864 possible values"):
        sum_by_fft(coin, MOST_POINTS)


def test_a_probability_outside_is_nothing() -> None:
    wave = sum_by_fft(lattice_of(MIXES[0]), ROUNDS)
    assert wave.probability(at_least=10**9) == 0
    assert wave.probability(at_most=-(10**9)) == 0
    assert wave.probability() == pytest.approx(1, abs=wave.sum_error)
    with pytest.raises(RulesError, match="expected a probability above 0"):
        wave.quantile(Fraction(0))

"""Tolerance bands against laws counted without any code of the study: comb, plain convolution, flint."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate
from math import comb

import pytest
from flint import fmpz_poly
from hypothesis import given, settings
from hypothesis import strategies as st

from taisai.rules import RulesError, rulebook
from taisai.study import bands
from taisai.study.bands import BAND_LEVELS, MOST_WINDOW, Band, Method, normal_band, tolerance_band
from taisai.study.measures import AreaMeasures, measures
from taisai.study.odds import Distribution
from taisai.study.par import par_sheet
from taisai.study.session.sums import Lattice, window, windowed_fft

BOOK = rulebook("rws-sic-bo-etg-v8")
MEASURES = measures(BOOK.matrix("A"), BOOK.chance())
CARDS = rulebook("mbs-3-card-sic-bo")
CARD_MEASURES = measures(CARDS.matrix(), CARDS.chance())
TWO_VALUED = (MEASURES["small"], MEASURES["total-8"], MEASURES["triple-1"], CARD_MEASURES["total-10"])
SINGLE = MEASURES["single-1"]
EDGE_99 = Fraction(99, 100)


def binomial(wins: int, loses: int, rounds: int) -> list[int]:
    """The weight of each number of wins: comb where that is quick, else one from the other."""
    if rounds <= 1_500:
        return [comb(rounds, n) * wins**n * loses ** (rounds - n) for n in range(rounds + 1)]
    found = [loses**rounds]
    for n in range(rounds):
        found.append(found[-1] * (rounds - n) * wins // ((n + 1) * loses))
    return found


def convolved(law: Distribution, rounds: int) -> list[int]:
    """The weight of each total above the least, one round after the other."""
    found = [1]
    for _ in range(rounds):
        longer = [0] * (len(found) + law.values[-1] - law.values[0])
        for at, before in enumerate(found):
            for value, weight in zip(law.values, law.weights, strict=True):
                longer[at + value - law.values[0]] += before * weight
        found = longer
    return found


class Counted:
    """The law of a total: the weight of each place, as sums from the least on."""

    def __init__(self, weights: list[int]) -> None:
        self.below = list(accumulate(weights, initial=0))
        self.total = self.below[-1]

    def is_band(self, first: int, last: int, level: Fraction) -> bool:
        """By the definition: either tail holds half of the rest at most, and more with the end itself."""
        tail = (1 - level) / 2 * self.total
        above = [self.total - self.below[last + 1], self.total - self.below[last]]
        return self.below[first] <= tail < self.below[first + 1] and above[0] <= tail < above[1]

    def ends(self, level: Fraction) -> tuple[int, int]:
        """The first and the last place of the band."""
        tail = (1 - level) / 2 * self.total
        return bisect_right(self.below, tail) - 1, bisect_left(self.below, self.total - tail) - 1

    def within(self, first: int, last: int) -> int:
        """The weight of the places from one to the other."""
        return self.below[last + 1] - self.below[first]

    def is_share(self, share: float, first: int, last: int, error: float) -> bool:
        """Whether a share is theirs within its error."""
        return abs(Fraction(share) * self.total - self.within(first, last)) <= Fraction(error) * self.total


def matches(band: Band, area: AreaMeasures, law: Counted) -> bool:
    """Whether a band has just the ends and the share that were counted."""
    first, last = law.ends(band.level)
    step = Lattice.of(area.distribution).step
    lost = [-(band.rounds * area.distribution.values[0] + step * place) for place in (last, first)]
    low, high = (float(Fraction(one, band.rounds * area.denominator)) for one in lost)
    return (band.low, band.high) == (low, high) and law.is_share(band.share, first, last, band.error)


@pytest.mark.parametrize("rounds", [1, 2, 10, 400, 1_000, 1_001, 10_000])
@pytest.mark.parametrize("area", TWO_VALUED, ids=lambda area: str(area.id))
def test_bands_of_bets_that_win_or_lose_are_binomial(area: AreaMeasures, rounds: int) -> None:
    loses, wins = Lattice.of(area.distribution).weights
    law = Counted(binomial(wins, loses, rounds))
    for level in (*BAND_LEVELS, Fraction(1, 2), Fraction(9_999, 10_000)):
        band = area.band(rounds, level)
        assert law.is_band(*law.ends(level), level)
        assert matches(band, area, law)
        assert band.method is (Method.WHOLE_NUMBERS if rounds <= 1_000 else Method.WAVE)
        assert level <= Fraction(band.share) + Fraction(band.error)
        assert band.error < 1e-11


@pytest.mark.parametrize("rounds", [1, 7, 60])
def test_bands_of_a_bet_with_several_odds_by_convolution(rounds: int) -> None:
    law = Counted(convolved(SINGLE.distribution, rounds)[:: Lattice.of(SINGLE.distribution).step])
    for level in BAND_LEVELS:
        assert matches(SINGLE.band(rounds, level), SINGLE, law)


@pytest.mark.parametrize("rounds", [1_000, 1_500])
def test_bands_of_a_bet_with_several_odds_by_flint(rounds: int) -> None:
    lattice = Lattice.of(SINGLE.distribution)
    dense = [0] * (lattice.degree + 1)
    for exponent, weight in zip(lattice.exponents, lattice.weights, strict=True):
        dense[exponent] = weight
    law = Counted(list(map(int, (fmpz_poly(dense) ** rounds).coeffs())))
    for level in BAND_LEVELS:
        assert matches(SINGLE.band(rounds, level), SINGLE, law)


laws = st.dictionaries(st.integers(-30, 30), st.integers(1, 20), min_size=1, max_size=5).map(
    lambda found: Distribution.of(found.items())
)
levels = st.fractions(Fraction(1, 100), Fraction(999, 1_000), max_denominator=1_000)


@settings(deadline=None, max_examples=60)
@given(law=laws, rounds=st.integers(1, 40), level=levels)
def test_either_tail_holds_half_of_the_rest_at_most_and_more_with_the_end_itself(
    law: Distribution, rounds: int, level: Fraction
) -> None:
    band = tolerance_band(law, 1, rounds, level)
    # The greatest edge is the least total.
    first, last = (round(-edge * rounds) - rounds * law.values[0] for edge in (band.high, band.low))
    total = Counted(convolved(law, rounds))
    assert total.is_band(first, last, level)
    assert total.within(first, last) >= level * total.total
    assert total.is_share(band.share, first, last, band.error)


@pytest.mark.parametrize("rounds", [45, 150])
def test_waves_and_whole_numbers_end_at_the_same_places(rounds: int) -> None:
    lattice = Lattice.of(SINGLE.distribution)._replace(low=0, step=1)
    law = Counted(convolved(Distribution(lattice.exponents, lattice.weights, lattice.total), rounds))
    wave = windowed_fft(lattice, rounds)
    for level in BAND_LEVELS:
        ends = bands.fft_ends(wave, (1 - level) / 2)
        assert law.is_band(ends.first, ends.last, level)


def test_sabotage_an_end_that_is_one_step_off_is_noticed() -> None:
    small, law = MEASURES["small"], Counted(binomial(35, 37, 400))
    first, last = law.ends(EDGE_99)
    assert law.is_band(first, last, EDGE_99)
    for by in (-1, 1):
        assert not law.is_band(first + by, last, EDGE_99)
        assert not law.is_band(first, last + by, EDGE_99)
    right = small.band(400, EDGE_99)
    assert matches(right, small, law)
    assert not matches(right._replace(low=right.low + 2 / 400), small, law)
    assert not matches(right._replace(high=right.high + 2 / 400), small, law)
    assert not matches(right._replace(share=right.share + 1e-12), small, law)


def test_sabotage_a_wave_moved_by_one_place_and_a_tail_that_is_not_halved_are_noticed() -> None:
    lattice, law = Lattice.of(Distribution.of([(0, 37), (1, 35)])), Counted(binomial(35, 37, 2_500))
    wave = windowed_fft(lattice, 2_500)
    right = bands.fft_ends(wave, (1 - EDGE_99) / 2)
    moved = bands.fft_ends(wave._replace(low=wave.low + 1), (1 - EDGE_99) / 2)
    narrow = bands.fft_ends(wave, 1 - EDGE_99)
    assert law.is_band(right.first, right.last, EDGE_99)
    assert not law.is_band(moved.first, moved.last, EDGE_99)
    assert not law.is_band(narrow.first, narrow.last, EDGE_99)


def test_on_a_knifes_edge_whole_numbers_decide_and_a_wave_takes_the_outer_end() -> None:
    coin = Distribution.of([(0, 1), (1, 1)])
    tail = Fraction(sum(comb(64, n) for n in range(24)), 2**64)  # the probability of 23 or less, to the dot
    exact = tolerance_band(coin, 1, 64, 1 - 2 * tail)
    assert (exact.low, exact.high) == (-40 / 64, -24 / 64)
    ends = bands.fft_ends(windowed_fft(Lattice.of(coin), 64), tail)
    assert (ends.first, ends.last) == (23, 41)
    assert ends.share >= float(1 - 2 * tail)
    wave, more = windowed_fft(Lattice.of(coin), 64), tail + Fraction(1, 10**12)
    decided = bands.fft_ends(wave, more)
    assert (decided.first, decided.last) == (24, 40)
    in_doubt = bands.fft_ends(wave._replace(sum_error=1e-11), more)
    assert (in_doubt.first, in_doubt.last) == (23, 41)


@pytest.mark.parametrize("area", [*TWO_VALUED, SINGLE], ids=lambda area: str(area.id))
def test_exact_and_normal_bands_meet_as_the_rounds_grow(area: AreaMeasures) -> None:
    apart = []
    for rounds in (10_000, 100_000_000):
        exact = area.band(rounds, EDGE_99)
        normal = normal_band(area.distribution, area.denominator, rounds, EDGE_99)
        assert (exact.method, normal.method) == (Method.WAVE, Method.NORMAL)
        assert abs(exact.share - normal.share) <= normal.error
        wide = normal.high - normal.low
        apart.append(max(abs(exact.low - normal.low), abs(exact.high - normal.high)) / wide)
    assert apart[1] < apart[0] / 10
    assert apart[1] < 5e-4


def test_normal_bands_shrink_with_the_root_of_the_rounds_and_say_how_far_they_are_off() -> None:
    triple = MEASURES["triple-1"]
    wide, narrow = (
        normal_band(triple.distribution, triple.denominator, n, EDGE_99) for n in (10_000, 1_000_000)
    )
    assert (wide.high - wide.low) == pytest.approx(10 * (narrow.high - narrow.low))
    assert wide.error == pytest.approx(10 * narrow.error)
    assert wide.is_rough
    assert not narrow.is_rough
    lost = [
        triple.denominator * 10_000 - (triple.distribution.values[1] + triple.denominator) * n
        for n in range(200)
    ]
    within = [wide.low <= one / 10_000 / triple.denominator <= wide.high for one in lost]
    weights = binomial(1, 215, 10_000)
    inside = sum(w for w, is_in in zip(weights, within, strict=False) if is_in)
    assert abs(inside / sum(weights) - 0.99) <= wide.error


def test_beyond_the_greatest_window_a_band_is_normal() -> None:
    lattice = Lattice.of(MEASURES["triple-1"].distribution)
    low, high = 1, 10**15
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if window(lattice, middle) <= MOST_WINDOW else (low, middle)
    last, beyond = (MEASURES["triple-1"].band(n, EDGE_99) for n in (low, high))
    assert (last.method, beyond.method) == (Method.WAVE, Method.NORMAL)
    assert last.error < 1e-8
    assert beyond.error < 1e-4
    assert last.low == pytest.approx(beyond.low, abs=1e-9)


def test_a_thousand_million_rounds_are_not_too_many_for_any_bet_of_the_game() -> None:
    for area in (*MEASURES.areas, *CARD_MEASURES.areas):
        assert window(Lattice.of(area.distribution), 10**9) <= MOST_WINDOW


def test_odds_far_apart_are_gone_through_one_by_one_or_end_in_a_normal_band_that_is_marked() -> None:
    far = Distribution.of([(-1, 150), (1, 60), (10**9, 6)])
    few, many = tolerance_band(far, 1, 50, EDGE_99), tolerance_band(far, 1, 2_000, EDGE_99)
    assert (few.method, many.method) == (Method.WHOLE_NUMBERS, Method.NORMAL)
    rare = tolerance_band(Distribution.of([(-1, 10**6), (1, 10**5), (10**9, 1)]), 1, 2_000, EDGE_99)
    assert (rare.method, rare.is_rough, rare.percent()[0]) == (Method.NORMAL, True, "≈")


def test_a_wave_too_rough_for_a_level_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    coin = Distribution.of([(-1, 1), (1, 1)])
    sure = 1 - Fraction(1, 10**10)  # its tails are hardly more than the error
    assert tolerance_band(coin, 1, 10**6, sure).method is Method.NORMAL
    monkeypatch.setattr(bands, "WORST_ERROR", 1e-13)
    assert tolerance_band(coin, 1, 10**6 + 1, EDGE_99).method is Method.NORMAL


def test_what_never_varies_has_a_band_of_one_point() -> None:
    band = tolerance_band(Distribution.of([(-3, 7)]), 6, 10**15, EDGE_99)
    assert (band.low, band.high, band.share, band.error) == (0.5, 0.5, 1.0, 0.0)
    assert band.percent() == "50.00 … 50.00"


def test_areas_of_one_law_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Lattice, int]] = []
    made: Callable[[Lattice, int], object] = windowed_fft

    def counting(lattice: Lattice, rounds: int) -> object:
        asked.append((lattice, rounds))
        return made(lattice, rounds)

    monkeypatch.setattr(bands, "windowed_fft", counting)
    bands._ends.cache_clear()
    told = measures(BOOK.matrix("B"), BOOK.chance(), [2_000, 3_000]).facts()
    assert len(asked) == len(set(asked)) < len(told["areas"])
    assert all(len(area["bands"]) == 6 for area in told["areas"])


def test_without_numpy_bands_of_few_rounds_and_par_sheets_for_machines_are_still_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    bands._ends.cache_clear()
    small = measures(BOOK.matrix("A"), BOOK.chance())["small"]
    assert small.band(1_000, EDGE_99).method is Method.WHOLE_NUMBERS
    with pytest.raises(RulesError, match=r"numpy is not installed: run pip install 'taisai\[study\]'"):
        small.band(1_001, EDGE_99)
    assert par_sheet(BOOK, "A").facts()["digest"].startswith("sha256:")


def test_figures_narrower_than_two_decimals_get_more() -> None:
    wide, narrow = MEASURES["small"].band(10_000, EDGE_99), MEASURES["small"].band(10**8, EDGE_99)
    assert wide.percent() == f"{100 * wide.low:.2f} … {100 * wide.high:.2f}"
    assert narrow.percent() == f"{100 * narrow.low:.3f} … {100 * narrow.high:.3f}"

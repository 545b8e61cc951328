"""Measures of areas, against sums over all rolls in plain Python."""

from fractions import Fraction
from itertools import combinations, product
from math import sqrt
from statistics import NormalDist

import pytest

from taisai.rules import Outcome, RulesError, rulebook, rulebook_ids
from taisai.study.measures import measures

LAYOUTS = [(book, layout) for book in rulebook_ids() for layout in rulebook(book).layouts]


@pytest.mark.parametrize(("name", "layout"), LAYOUTS)
def test_every_area_of_every_layout_by_counting(name: str, layout: str) -> None:
    book = rulebook(name)
    matrix, chance = book.matrix(layout), book.chance()
    if chance.decks is None:
        draws = [Outcome.of(*faces) for faces in product(range(1, 7), repeat=3)]
        weight = dict.fromkeys(draws, 0)
        for drawn in draws:
            weight[drawn] += 1
    else:  # what a shoe's draws weigh has its own oracle; here it is given
        weight = {Outcome.of(*hand): chance.weights[Outcome.of(*hand).index] for hand in _hands()}
    total = sum(weight.values())
    found = measures(matrix, chance)
    for area in matrix.areas:
        nets = {outcome: matrix.net(area, outcome) for outcome in weight}
        mean = sum(nets[o] * w for o, w in weight.items()) / total
        variance = sum((nets[o] - mean) ** 2 * w for o, w in weight.items()) / total
        third = float(sum((nets[o] - mean) ** 3 * w for o, w in weight.items()) / total)
        won = Fraction(sum(w for o, w in weight.items() if nets[o] > 0), total)
        one = found[area]
        assert (one.win_probability, one.house_edge, one.variance) == (won, -mean, variance)
        assert one.hits_one_in == 1 / won
        assert one.skew == pytest.approx(third / float(variance) ** 1.5, rel=1e-12)
        assert one.volatility_index == pytest.approx(1.6448536269514722 * sqrt(variance))


def _hands() -> set[tuple[int, ...]]:
    return {tuple(sorted(hand)) for hand in combinations([f for f in range(1, 7) for _ in range(3)], 3)}


def test_a_band_holds_the_share_it_promises_within_its_stated_error() -> None:
    book = rulebook("rws-sic-bo-etg-v8")
    small = measures(book.matrix("A"), book.chance())["small"]
    rounds = 400
    band = small.band(rounds, Fraction(95, 100))
    # The number of wins is binomial: count exactly how often the observed edge lies within the band.
    p, share, weight = float(small.win_probability), 0.0, (1 - float(small.win_probability)) ** rounds
    for wins in range(rounds + 1):
        if band.low <= (rounds - 2 * wins) / rounds <= band.high:
            share += weight
        weight *= (rounds - wins) / (wins + 1) * p / (1 - p)
    assert abs(share - 0.95) <= band.error < 0.06


def test_bands_shrink_with_the_root_of_the_rounds_and_grow_with_the_level() -> None:
    book = rulebook("us-sic-bo")
    triple = measures(book.matrix(), book.chance())["triple-1"]
    wide, narrow = triple.band(10_000), triple.band(1_000_000)
    assert (wide.high - wide.low) == pytest.approx(10 * (narrow.high - narrow.low))
    assert wide.error == pytest.approx(10 * narrow.error)
    sure = triple.band(10_000, Fraction(99, 100))
    ratio = NormalDist().inv_cdf(0.995) / NormalDist().inv_cdf(0.95)
    assert (sure.high - sure.low) / (wide.high - wide.low) == pytest.approx(ratio)


@pytest.mark.parametrize("rounds", [0, -1, 10**15 + 1])
def test_bands_have_limits(rounds: int) -> None:
    book = rulebook("us-sic-bo")
    with pytest.raises(RulesError, match="expected 1 to 1000000000000000 rounds"):
        measures(book.matrix(), book.chance())["small"].band(rounds)


@pytest.mark.parametrize("level", [Fraction(0), Fraction(1)])
def test_a_level_is_between_0_and_1(level: Fraction) -> None:
    book = rulebook("us-sic-bo")
    with pytest.raises(RulesError, match="expected a level between 0 and 1"):
        measures(book.matrix(), book.chance())["small"].band(100, level)

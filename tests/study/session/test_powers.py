"""Exact sums against convolution in fractions, icepool, and each other."""

from __future__ import annotations

from fractions import Fraction

import icepool
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taisai.rules import rulebook
from taisai.study.odds import Distribution, Mix
from taisai.study.session import sums
from taisai.study.session.sums import Lattice, power_by_flint, power_by_recurrence, sum_distribution

BOOK = rulebook("rws-sic-bo-etg-v8")
MIXES = (
    {"small": 100},
    {"single-1": 100},
    {"small": 100, "triple-1": 10},
    {"total-8": 100, "single-2": 50, "double-3": 20},
)


def shares(law: Distribution) -> dict[int, Fraction]:
    return {value: Fraction(w, law.total) for value, w in zip(law.values, law.weights, strict=True)}


def convolved(law: Distribution, rounds: int) -> dict[int, Fraction]:
    """The slow way: one round after the other."""
    once, found = shares(law), {0: Fraction(1)}
    for _ in range(rounds):
        after: dict[int, Fraction] = {}
        for total, share in found.items():
            for value, chance in once.items():
                after[total + value] = after.get(total + value, Fraction(0)) + share * chance
        found = after
    return found


@pytest.mark.parametrize("bets", MIXES)
@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_a_sum_is_its_convolution(bets: dict[str, int], rounds: int) -> None:
    law = Mix.of(BOOK.matrix("A"), bets).distribution(BOOK.chance())
    found = sum_distribution(Lattice.of(law), rounds)
    assert shares(found) == convolved(law, rounds)
    assert sum(found.weights) == found.total


@pytest.mark.parametrize("bets", MIXES[:2])
def test_a_sum_is_icepools(bets: dict[str, int]) -> None:
    law = Mix.of(BOOK.matrix("A"), bets).distribution(BOOK.chance())
    theirs = 40 @ icepool.Die(dict(zip(law.values, law.weights, strict=True)))
    expected = {value: Fraction(theirs.quantity(value), theirs.denominator()) for value in theirs}
    assert shares(sum_distribution(Lattice.of(law), 40)) == expected


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.integers(1, 30), st.integers(1, 500), max_size=12),
    st.integers(1, 500),
    st.integers(1, 40),
)
def test_flint_and_the_recurrence_agree(rest: dict[int, int], first: int, power: int) -> None:
    exponents = (0, *sorted(rest))
    weights = (first, *(rest[exponent] for exponent in exponents[1:]))
    assert power_by_flint(exponents, weights, power) == power_by_recurrence(exponents, weights, power)


def test_without_flint_the_law_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    law = Mix.of(BOOK.matrix("A"), MIXES[-1]).distribution(BOOK.chance())
    assert len(law.values) > sums.MOST_TERMS  # flint's own ground
    assert sums.has_flint()
    with_flint = sum_distribution(Lattice.of(law), 60)
    monkeypatch.setenv(sums.WITHOUT_FLINT, "1")
    assert not sums.has_flint()
    assert sum_distribution(Lattice.of(law), 60) == with_flint


def test_a_lattice_divides_what_can_be_divided() -> None:
    lattice = Lattice.of(Distribution.of([(-100, 111), (100, 105)]))
    assert lattice == Lattice(-100, 200, (0, 1), (37, 35), 72)
    assert (lattice.mean, lattice.variance) == (Fraction(35, 72), Fraction(35 * 37, 72 * 72))
    assert Lattice.of(Distribution.of([(5, 4)])) == Lattice(5, 1, (0,), (1,), 1)
    assert sum_distribution(Lattice.of(Distribution.of([(5, 4)])), 9) == Distribution((45,), (1,), 1)

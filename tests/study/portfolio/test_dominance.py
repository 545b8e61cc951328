"""Dominated areas: each certificate checked here again, in fractions, by its definition alone."""

from fractions import Fraction

import pytest

from taisai.rules import OUTCOMES, Matrix, rulebook
from taisai.study.portfolio import Dominated, Undominated, dominance, proven_distribution, proven_mix, solved

LAYOUTS = [("us-sic-bo", "A", ["any-triple"]), ("rws-sic-bo-etg-v8", "A", []), ("mbs-3-card-sic-bo", "A", [])]


@pytest.mark.parametrize(("name", "layout", "dominated"), LAYOUTS)
def test_every_verdict_carries_a_certificate_that_holds(name: str, layout: str, dominated: list[str]) -> None:
    matrix = rulebook(name).matrix(layout)
    found = dominance(matrix)
    assert [one.area for one in found.dominated] == dominated
    assert [one.area for one in found.verdicts] == list(matrix.areas)
    for one in found.verdicts:
        if isinstance(one, Dominated):
            assert_beaten(matrix, one)
        else:
            assert_best_somewhere(matrix, one)


def assert_beaten(matrix: Matrix, one: Dominated) -> None:
    assert one.area not in one.mix
    assert sum(one.mix.values()) == 1
    assert min(one.mix.values()) > 0
    more = {
        outcome: sum(share * matrix.net(area, outcome) for area, share in one.mix.items())
        - matrix.net(one.area, outcome)
        for outcome in OUTCOMES
    }
    assert min(more.values()) == 0 < max(more.values())
    assert {outcome: by for outcome, by in more.items() if by} == one.better_by


def assert_best_somewhere(matrix: Matrix, one: Undominated) -> None:
    assert set(one.distribution) == set(OUTCOMES)
    assert sum(one.distribution.values()) == 1
    assert min(one.distribution.values()) > 0
    means = {
        area: sum(weight * matrix.net(area, outcome) for outcome, weight in one.distribution.items())
        for area in matrix.areas
    }
    assert means[one.area] == max(means.values())


def test_what_proves_nothing_is_not_taken_for_a_proof() -> None:
    """Three areas on two outcomes; the second is beaten by the first, the third is not."""
    nets = [(4, 2), (3, 2), (-1, 9)]
    assert proven_mix(nets, 1, {0: Fraction(1)}) == {0: Fraction(1)}
    assert proven_mix(nets, 1, {0: Fraction(1, 2), 2: Fraction(1, 2)}) is None  # worse on the first outcome
    assert proven_mix(nets, 1, {0: Fraction(2), 2: Fraction(-1)}) is None  # a bet cannot be sold
    assert proven_mix(nets, 1, {0: Fraction(1, 2)}) is None  # not the same stake
    assert proven_mix(nets, 1, {1: Fraction(1)}) is None  # itself
    assert proven_mix([(1, 1), (1, 1)], 0, {1: Fraction(1)}) is None  # equal is not better
    assert proven_distribution(nets, 2, [Fraction(1, 2), Fraction(1, 2)])
    assert not proven_distribution(nets, 1, [Fraction(1, 2), Fraction(1, 2)])
    assert not proven_distribution(nets, 2, [Fraction(0), Fraction(1)])  # every outcome must be possible
    assert not proven_distribution(nets, 0, [Fraction(2), Fraction(-1)])


def test_equations_that_contradict_each_other_have_no_answer() -> None:
    one, two = Fraction(1), Fraction(2)
    assert solved([[one, one], [two, two]], [one, one]) is None
    assert solved([[one, one], [two, two]], [one, two]) == [one, 0]
    assert solved([[two, one], [one, 0 * one]], [one, one]) == [one, -one]

"""Portfolios, against the 216 rolls one by one."""

from fractions import Fraction
from itertools import product

import pytest

from taisai.rules import OUTCOMES, Outcome, rulebook
from taisai.study.portfolio import portfolio

BOOK = rulebook("mbs-sic-bo-v6")
STAKES = {"small": 100, "total-9": 20, "single-3": 50, "any-triple": 10}
MATRIX = BOOK.matrix()
HELD = portfolio(MATRIX, BOOK.chance(), STAKES)
NETS = {(area, o): MATRIX.net(area, o) * stake for area, stake in STAKES.items() for o in OUTCOMES}
ROLLS = [Outcome.of(*faces) for faces in product(range(1, 7), repeat=3)]


def net(area: str, outcome: Outcome) -> Fraction:
    return NETS[area, outcome]


def test_covariances_are_those_of_the_rolls_and_sum_to_the_variance_of_the_whole() -> None:
    means = {area: sum(net(area, roll) for roll in ROLLS) / 216 for area in STAKES}
    for row, one in enumerate(STAKES):
        for column, other in enumerate(STAKES):
            both = sum((net(one, r) - means[one]) * (net(other, r) - means[other]) for r in ROLLS) / 216
            assert HELD.covariance[row][column] == both
    assert sum(cell for line in HELD.covariance for cell in line) == HELD.distribution.variance


def test_the_edge_of_the_whole_is_the_mean_of_the_edges_by_stake() -> None:
    lost = -sum(net(area, roll) for area in STAKES for roll in ROLLS) / 216
    assert HELD.house_edge == lost / sum(STAKES.values())


def test_the_houses_exposure_is_the_players_net_reversed_dearest_first() -> None:
    expected = {outcome: -sum(net(area, outcome) for area in STAKES) for outcome in OUTCOMES}
    assert dict(HELD.exposure) == expected
    assert [paid for _, paid in HELD.exposure] == sorted(expected.values())


def test_a_card_that_is_out_of_the_shoe_makes_no_exposure() -> None:
    cards = rulebook("mbs-3-card-sic-bo")
    seen = [1] * 16
    held = portfolio(cards.matrix(), cards.chance(decks=2, seen=seen), {"total-10": 100})
    assert not [outcome for outcome, _ in held.exposure if 1 in outcome.faces]


@pytest.mark.parametrize(("one", "other"), [("small", "small"), ("small", "total-9")])
def test_correlation_is_covariance_over_deviations(one: str, other: str) -> None:
    a, b = HELD.areas.index(one), HELD.areas.index(other)
    cov = HELD.covariance
    found = HELD.correlation(one, other)
    assert found is not None
    assert found**2 == pytest.approx(float(cov[a][b] ** 2 / cov[a][a] / cov[b][b]))


def test_it_prints_itself_and_tells_machines_the_same() -> None:
    text, page, facts = str(HELD), HELD._repr_html_(), HELD.facts()
    assert "The house on its ten costliest outcomes" in text
    assert page.count("<table ") == 4
    assert facts["house_edge"] == str(HELD.house_edge)
    assert sum(Fraction(one["probability"]) for one in facts["distribution"]) == 1
    assert facts["exposure"]["333"] == dict(HELD.exposure)[Outcome.of(3, 3, 3)]

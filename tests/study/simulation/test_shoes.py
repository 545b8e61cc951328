"""Shoes: dealt without replacement, the same compiled, by NumPy and card by card; and fair."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import stats

from taisai.rules import OUTCOMES, Outcome, rulebook
from taisai.rules.errors import RulesError
from taisai.study.odds import Mix
from taisai.study.simulation import (
    Counting,
    SessionTerms,
    SimulatedShoe,
    compiled_rounds,
    local_workers,
    numpy_kernels,
    simulate,
)
from taisai.study.simulation.plans import Betting, key, most_shoes
from tests.study.simulation import oracle

BOOK = rulebook("mbs-3-card-sic-bo")
MATRIX = BOOK.matrix("A")
MIX = Mix.of(MATRIX, {"small": 100, "total-8": 20, "any-triple": 10})
KEY = key(4, "shoes")
BETTINGS = {
    "flat": Betting.of(MIX),
    "count": Betting.of(MIX, waiting=0, favoured=1),
    "count:8": Betting.of(MIX, waiting=1, favoured=8),
}


def card_by_card(each: int, betting: Betting, number: int, rounds: int) -> tuple[list[int], int]:
    """One shoe from the definition: what every round brings, and all that was staked; in units."""
    draws = oracle.stream(KEY, number)
    left = [each] * 6
    nets, staked = [], 0
    for _ in range(rounds):
        made = []
        for row in betting.nets:
            worth = 0
            if betting.waiting == betting.favoured:
                made.append(betting.waiting)
                continue
            for outcome, net in zip(OUTCOMES, row, strict=True):
                ways = 1
                for face, count in Counter(outcome.faces).items():
                    ways *= comb(left[face - 1], count)
                worth += ways * net
            made.append(betting.favoured if worth > 0 else betting.waiting)
        faces = []
        for _ in range(3):
            total = sum(left)
            while True:
                product = next(draws) * total
                if product % 2**32 >= 2**32 % total:
                    break
            picked, place = product >> 32, 0
            while picked >= left[place]:
                picked -= left[place]
                place += 1
            left[place] -= 1
            faces.append(place + 1)
        place = Outcome.of(*faces).index
        nets.append(sum(times * row[place] for times, row in zip(made, betting.nets, strict=True)))
        staked += sum(times * stake for times, stake in zip(made, betting.stakes, strict=True))
    return nets, staked


@pytest.mark.parametrize("betting", BETTINGS.values(), ids=BETTINGS)
def test_compiled_numpy_and_card_by_card_deal_the_same(betting: Betting) -> None:
    shoe = SimulatedShoe(16, 28)
    compiled = compiled_rounds.deal_shoes(KEY, shoe, betting, first=50, shoes=12, rounds=28)
    assert compiled == numpy_kernels.deal_shoes(KEY, shoe, betting, first=50, shoes=12, rounds=28)
    shoes = [card_by_card(16, betting, number, 28) for number in range(50, 62)]
    assert compiled.walk == oracle.drawdown([net for nets, _ in shoes for net in nets])
    assert compiled.staked == sum(staked for _, staked in shoes)
    assert compiled.net_squared == sum(sum(nets) ** 2 for nets, _ in shoes)
    assert compiled.net_by_staked == sum(sum(nets) * staked for nets, staked in shoes)
    assert compiled.staked_squared == sum(staked**2 for _, staked in shoes)


def test_many_groups_of_shoes_are_the_same_compiled_and_by_numpy() -> None:
    shoe = SimulatedShoe.of(8, 6, Fraction(3, 4))
    for betting in BETTINGS.values():
        args = {"first": 7, "shoes": 700, "rounds": 20}
        assert compiled_rounds.deal_shoes(KEY, shoe, betting, **args) == numpy_kernels.deal_shoes(
            KEY, shoe, betting, **args
        )


def test_a_shoe_dealt_to_the_last_card_deals_every_card_once() -> None:
    """Bet on nothing but how high the cards are: a whole shoe always comes to the same."""
    highs = tuple(outcome.total for outcome in OUTCOMES)
    betting = Betting((highs,), (1,), 1, 1, 1)
    shoe = SimulatedShoe.of(8, 2, Fraction(1))
    found = compiled_rounds.deal_shoes(KEY, shoe, betting, first=0, shoes=300, rounds=shoe.rounds)
    assert found.walk.net == 300 * 16 * (1 + 2 + 3 + 4 + 5 + 6)
    assert found.net_squared == 300 * (16 * 21) ** 2  # every single one


@pytest.mark.parametrize("position", [0, 27])
def test_every_position_in_the_shoe_has_the_law_of_the_first(position: int) -> None:
    counts = np.zeros(56, dtype=np.int64)
    chance = BOOK.chance(decks=2)
    for number in range(900):
        nets, _ = card_by_card(16, Betting((tuple(range(56)),), (1,), 1, 1, 1), number, position + 1)
        counts[nets[-1]] += 1
    expected = counts.sum() * np.array(chance.weights) / chance.total
    few = expected < 5
    seen = np.append(counts[~few], counts[few].sum())
    wanted = np.append(expected[~few], expected[few].sum())
    assert stats.chisquare(seen, wanted).pvalue > 1e-4


def test_a_simulation_of_shoes_is_the_same_for_any_workers_and_near_the_exact_edge() -> None:
    def run(workers: int) -> tuple[object, ...]:
        with local_workers(workers) as some:
            found = simulate(
                MIX,
                BOOK.chance(),
                rounds=300_001,
                seed=4,
                shoe=SimulatedShoe.of(8, 6, Fraction(3, 4)),
                workers=some,
            )
        assert found.rounds == 300_001
        assert found.house_edge_observed is not None
        assert found.standard_error is not None
        assert abs(found.house_edge_observed - float(MIX.edge(BOOK.chance()))) < 4 * found.standard_error
        return found.net, found.staked, found.max_drawdown, found.standard_error

    assert run(1) == run(3)


def test_counting_beats_the_house_where_flat_bets_do_not() -> None:
    shoe = SimulatedShoe.of(8, 6, Fraction(3, 4))
    found = simulate(MIX, BOOK.chance(), rounds=200_000, seed=4, shoe=shoe, terms=SessionTerms(Counting()))
    assert found.net > 0
    assert found.house_edge_observed is not None
    assert found.standard_error is not None
    assert found.house_edge_observed < -4 * found.standard_error


def test_the_standard_error_of_shoes_is_that_of_many_seeds() -> None:
    shoe, scores = SimulatedShoe.of(8, 2, Fraction(3, 4)), []
    edge = float(MIX.edge(BOOK.chance(decks=2)))
    for seed in range(150):
        found = simulate(MIX, BOOK.chance(decks=2), rounds=24 * 40, seed=seed, shoe=shoe)
        assert found.house_edge_observed is not None
        assert found.standard_error is not None
        scores.append((found.house_edge_observed - edge) / found.standard_error)
    assert abs(np.mean(scores)) < 0.35
    assert abs(np.var(scores) - 1) < 0.45


@pytest.mark.parametrize(("percent", "rounds"), [(1, 1), (5, 2), (10, 4), (75, 24), (90, 29), (100, 32)])
def test_a_shoe_is_dealt_as_far_as_at_a_table_with_that_setting(percent: int, rounds: int) -> None:
    """A round begins while less than this share is dealt, as everywhere else."""
    assert SimulatedShoe.of(8, 2, Fraction(percent, 100)) == SimulatedShoe(16, rounds)


def test_a_count_by_its_name_is_that_count() -> None:
    shoe = SimulatedShoe.of(8, 2, Fraction(1, 2))
    for name, counting in (("count", Counting()), ("count:8", Counting(1, 8))):
        by_name, by_value = (
            simulate(MIX, BOOK.chance(), rounds=5_000, seed=1, terms=SessionTerms(strategy), shoe=shoe)
            for strategy in (name, counting)
        )
        assert (by_name.title, by_name.staked, by_name.trail) == (
            by_value.title,
            by_value.staked,
            by_value.trail,
        )


def test_what_no_shoe_can_be_is_refused() -> None:
    chance = BOOK.chance()
    for share in (Fraction(0), Fraction(5, 4), Fraction(-1, 2)):
        with pytest.raises(RulesError, match="expected a penetration"):
            SimulatedShoe.of(8, 6, share)
    with pytest.raises(RulesError, match="at most 65,535 cards"):
        SimulatedShoe.of(1_000, 11, None)
    shoe = SimulatedShoe.of(8, 6, Fraction(1, 2))
    for terms, given, said in (
        (SessionTerms(Counting()), None, "the strategy count needs a shoe with a penetration"),
        (SessionTerms("martingale"), shoe, "flat or count, got martingale"),
        (SessionTerms(bankroll=1_000), shoe, "without bankroll"),
    ):
        with pytest.raises(RulesError, match=said):
            simulate(MIX, chance, rounds=10, seed=1, terms=terms, shoe=given)
    with pytest.raises(RulesError, match="bets too high: sums of their squares would exceed 64 bits"):
        most_shoes(shoe, Betting.of(Mix.of(MATRIX, {"small": 10**9 + 7, "total-8": 1})))

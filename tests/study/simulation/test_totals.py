"""Totals at once: one multinomial, the right law, whatever the number of rounds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from taisai.rules import rulebook
from taisai.rules.errors import RulesError
from taisai.study.odds import Mix
from taisai.study.simulation import SessionTerms, simulate_totals
from taisai.study.simulation.plans import drawn_counts, key
from taisai.study.simulation.run import MOST_ROUNDS

BOOK = rulebook("rws-sic-bo-etg-v8")
DICE = BOOK.chance()
MIX = Mix.of(BOOK.matrix("A"), {"small": 100, "single-2": 50})
LAW = MIX.distribution(DICE)


def test_counts_of_two_rounds_follow_the_exact_law() -> None:
    """Every possible pair of counts, against the product of the chances."""
    seen: dict[tuple[int, ...], int] = {}
    trials = 5_000
    for seed in range(trials):
        counts = drawn_counts(LAW, 2, key(seed, "totals"))
        seen[counts] = seen.get(counts, 0) + 1
    chances = np.array(LAW.weights) / LAW.total
    observed, expected = [], []
    for counts, count in seen.items():
        observed.append(count)
        expected.append(trials * stats.multinomial.pmf(counts, 2, chances))
    kept = np.array(expected) >= 5
    low = [np.array(observed)[~kept].sum(), trials - sum(expected) + np.array(expected)[~kept].sum()]
    seen_all = np.append(np.array(observed)[kept], low[0])
    wanted = np.append(np.array(expected)[kept], low[1])
    if wanted[-1] < 1e-6:
        seen_all, wanted = seen_all[:-1], wanted[:-1]
    assert stats.chisquare(seen_all, wanted * seen_all.sum() / wanted.sum()).pvalue > 1e-4


@pytest.mark.parametrize("rounds", [1_000, 10**9, MOST_ROUNDS])
def test_totals_scatter_by_their_standard_error(rounds: int) -> None:
    scores = []
    for seed in range(300):
        found = simulate_totals(MIX, DICE, rounds=rounds, seed=seed)
        assert found.rounds == rounds
        assert found.house_edge_observed is not None
        assert found.standard_error is not None
        scores.append((found.house_edge_observed - float(MIX.edge(DICE))) / found.standard_error)
    assert stats.kstest(scores, "norm").pvalue > 1e-3


def test_totals_tell_no_speed_and_no_drawdown_and_repeat() -> None:
    found = simulate_totals(MIX, DICE, rounds=10**6, seed=7)
    facts = found.facts()
    assert facts["max_drawdown"] is None
    assert facts["rounds_per_second"] is None
    assert facts == simulate_totals(MIX, DICE, rounds=10**6, seed=7).facts()
    assert facts != simulate_totals(MIX, DICE, rounds=10**6, seed=8).facts()
    assert sum(drawn_counts(LAW, 10**6, key(7, "totals"))) == 10**6
    assert simulate_totals(MIX, DICE, rounds=10**3, seed=7, sessions=1_000).net == found.net


def test_only_a_fixed_mix_has_totals() -> None:
    for terms in (SessionTerms("martingale"), SessionTerms(bankroll=1_000), SessionTerms(target=1_000)):
        with pytest.raises(RulesError, match="totals need fixed bets"):
            simulate_totals(MIX, DICE, rounds=10, seed=1, terms=terms)
    with pytest.raises(RulesError, match="rounds, got"):
        simulate_totals(MIX, DICE, rounds=MOST_ROUNDS + 1, seed=1)

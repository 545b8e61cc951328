"""Rounds of a fixed mix: compiled, by NumPy and one at a time, the same to the last digit; and fair."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from taisai.rules import OUTCOMES, rulebook
from taisai.rules.errors import RulesError
from taisai.study.odds import Distribution, Mix
from taisai.study.simulation import SessionTerms, compiled_rounds, local_workers, numpy_kernels, simulate
from taisai.study.simulation.numpy_kernels import Streams
from taisai.study.simulation.plans import (
    CHUNK,
    GREATEST_NET,
    MOST_CASES,
    MOST_SEED,
    STEPS,
    Classes,
    Walk,
    key,
)
from taisai.study.simulation.run import MOST_ROUNDS
from taisai.study.simulation.workers import MOST_WORKERS
from tests.study.simulation import oracle

BOOK = rulebook("rws-sic-bo-etg-v8")
DICE = BOOK.chance()
SMALL = Mix.of(BOOK.matrix("A"), {"small": 100})
MANY = Mix.of(BOOK.matrix("A"), {"small": 100, "triple-1": 10, "single-2": 34, "total-9": 20})
WASTEFUL = Distribution.of([(-3, 2**27), (5, 2**27 - 6_000_001), (1, 1)])
"""Of which two draws in a hundred are thrown away."""
LAWS = {
    "two nets": SMALL.distribution(DICE),
    "four nets": Mix.of(BOOK.matrix("A"), {"single-1": 100}).distribution(DICE),
    "many nets": MANY.distribution(DICE),
    "long nets": Mix.of(BOOK.matrix("A"), {"small": 10**9 + 7, "triple-1": 10}).distribution(DICE),
    "many long nets": Mix.of(
        BOOK.matrix("A"), {"small": 10**9 + 7, "single-1": 11, "pair-12": 5}
    ).distribution(DICE),
    "wasteful": WASTEFUL,
}
KEY = key(5, "rounds")


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_compiled_numpy_and_plain_python_bring_the_same_rounds(law: Distribution) -> None:
    classes = Classes.of(law)
    rest = 2 * STEPS + 77
    nets: list[int] = []
    for lane in range(3):
        draws = oracle.stream(KEY, 9 * 256 + lane)
        while len(nets) < min(rest, (lane + 1) * STEPS):
            drawn = next(draws)
            value = next((v for v, n in zip(classes.values, classes.limits, strict=True) if drawn < n), None)
            if value is not None:
                nets.append(value)
    expected = oracle.drawdown(nets)
    assert compiled_rounds.walk_rounds(KEY, classes, 9, 0, rest) == expected
    assert numpy_kernels.walk_rounds(KEY, classes, 9, 0, rest) == expected


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_whole_chunks_are_the_same_compiled_and_by_numpy(law: Distribution) -> None:
    classes = Classes.of(law)
    compiled = compiled_rounds.walk_rounds(KEY, classes, 3, 2, 5_000)
    assert compiled == numpy_kernels.walk_rounds(KEY, classes, 3, 2, 5_000)
    parts = [
        compiled_rounds.walk_rounds(KEY, classes, *part) for part in ((3, 1, 0), (4, 1, 0), (5, 0, 5_000))
    ]
    assert compiled == Walk().then(parts[0]).then(parts[1]).then(parts[2])


@given(st.lists(st.integers(-5, 5)), st.integers(0, 40))
def test_walks_join_wherever_they_are_cut(nets: list[int], cut: int) -> None:
    assert Walk.of(nets) == oracle.drawdown(nets)
    assert Walk.of(nets[:cut]).then(Walk.of(nets[cut:])) == Walk.of(nets)


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 1000)), min_size=1, max_size=60))
def test_every_equally_likely_case_gets_the_same_number_of_draws(weighed: list[tuple[int, int]]) -> None:
    law = Distribution.of(weighed)
    classes = Classes.of(law)
    draws = [b - a for a, b in zip((0, *classes.limits), classes.limits, strict=False)]
    assert len({draw * law.total // weight for draw, weight in zip(draws, law.weights, strict=True)}) == 1
    assert all(draw * law.total % weight == 0 for draw, weight in zip(draws, law.weights, strict=True))
    assert 2**32 - classes.limits[-1] <= law.total
    assert [value * classes.unit for value in classes.values] == list(law.values)


def test_one_worker_or_three_and_a_longer_run_begin_alike() -> None:
    def run(workers: int, rounds: int) -> tuple[int, int | None]:
        with local_workers(workers) as some:
            found = simulate(MANY, DICE, rounds=rounds, seed=3, workers=some)
        return found.net, found.max_drawdown

    rounds = 5 * CHUNK + 321
    assert run(1, rounds) == run(3, rounds)
    assert run(1, rounds) != run(1, rounds + 1_000)
    classes = Classes.of(MANY.distribution(DICE))
    walk = numpy_kernels.walk_rounds(key(3, "rounds"), classes, 0, 5, 321).times(classes.unit)
    assert run(2, rounds) == (walk.net, walk.drawdown)


def test_without_numba_the_whole_simulation_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> list[object]:
        flat = simulate(SMALL, DICE, rounds=CHUNK + 5, seed=3)
        terms = SessionTerms("labouchere", bankroll=20_000, maximum=3_000)
        sat = simulate(SMALL, DICE, rounds=300, seed=3, sessions=500, terms=terms)
        return [flat.net, flat.max_drawdown, sat.net, sat.max_drawdown, sat.standard_error, sat.rounds]

    with_numba = run()
    monkeypatch.setenv("TAISAI_WITHOUT_NUMBA", "1")
    assert run() == with_numba


def test_a_stream_is_the_published_sfc32_and_streams_differ() -> None:
    streams = Streams(KEY, 40, 3)
    drawn = np.array([streams.draw() for _ in range(50)]).T.tolist()
    assert drawn == [list(islice(oracle.stream(KEY, number), 50)) for number in (40, 41, 42)]
    assert len({tuple(row) for row in drawn}) == 3
    assert key(1, "rounds") != key(2, "rounds") != key(2, "shoes")


def test_the_56_outcomes_come_as_often_as_three_dice_have_it() -> None:
    law = Distribution.of((outcome.index, outcome.ways) for outcome in OUTCOMES)
    limits = np.array(Classes.of(law).limits, dtype=np.uint32)
    streams = Streams(key(20, "rounds"), 0, 4096)
    counts = np.zeros(57, dtype=np.int64)
    for _ in range(500):
        counts += np.bincount(np.searchsorted(limits, streams.draw(), side="right"), minlength=57)
    expected = counts[:56].sum() * np.array(law.weights) / law.total
    assert 1e-4 < stats.chisquare(counts[:56], expected).pvalue < 1 - 1e-4
    assert stats.chisquare(counts[:56], np.roll(expected, 1)).pvalue < 1e-9  # it can fail


def test_neighbouring_rounds_and_neighbouring_lanes_are_independent() -> None:
    streams = Streams(key(21, "rounds"), 0, 2000)
    dice = np.array([streams.draw() for _ in range(500)]) // np.uint32((2**32 - 1) // 6 + 1)
    for pairs in ((dice[:-1], dice[1:]), (dice[:, :-1], dice[:, 1:])):
        table = np.bincount((pairs[0] * 6 + pairs[1]).ravel(), minlength=36)
        assert stats.chisquare(table).pvalue > 1e-4


def test_nets_of_many_runs_spread_as_the_standard_error_says() -> None:
    scores = []
    for seed in range(200):
        found = simulate(MANY, DICE, rounds=20_000, seed=seed)
        assert found.house_edge_observed is not None
        assert found.standard_error is not None
        assert found.exact_edge is not None
        scores.append((found.house_edge_observed - float(found.exact_edge)) / found.standard_error)
    assert stats.kstest(scores, "norm").pvalue > 1e-3
    assert abs(np.var(scores) - 1) < 0.35


def test_the_figures_of_a_run_hang_together() -> None:
    found = simulate(SMALL, DICE, rounds=1_000, seed=1)
    facts = found.facts()
    assert list(facts) == [
        "rounds", "staked", "returned", "net", "house_edge_observed", "standard_error", "max_drawdown",
        "rounds_per_second",
    ]  # fmt: skip
    assert facts["staked"] == 100_000
    assert facts["net"] == facts["returned"] - facts["staked"]
    assert facts["house_edge_observed"] == -facts["net"] / facts["staked"]
    law = SMALL.distribution(DICE)
    assert facts["standard_error"] == pytest.approx(float(law.variance / 1000) ** 0.5 / 100, rel=1e-12)


def test_a_minimum_raises_a_flat_stake_as_every_system_has_it() -> None:
    plain = simulate(SMALL, DICE, rounds=1_000, seed=1)
    raised = simulate(SMALL, DICE, rounds=1_000, seed=1, terms=SessionTerms(minimum=250))
    assert (raised.staked, raised.net) == (3 * plain.staked, 3 * plain.net)
    assert raised.max_drawdown == 3 * (plain.max_drawdown or 0)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rounds": 0}, "rounds, got 0"),
        ({"rounds": MOST_ROUNDS + 1}, "rounds, got 1000000000000001"),
        ({"seed": -1}, "expected a seed"),
        ({"seed": MOST_SEED + 1}, "expected a seed"),
        ({"sessions": 10_000_001}, "sessions, got"),
        ({"rounds": 10**14, "sessions": 11}, "rounds in all"),
        ({"terms": SessionTerms(bankroll=-5)}, "expected a bankroll from 1"),
        ({"terms": SessionTerms(bankroll=2**53)}, "expected a bankroll from 1"),
        ({"terms": SessionTerms(bankroll=99)}, "expected a bankroll of at least 100"),
        ({"terms": SessionTerms(bankroll=200, target=200)}, "expected a target above the bankroll"),
        ({"terms": SessionTerms("roulette")}, "unknown strategy"),
        ({"terms": SessionTerms("martingale", bankroll=2**53 - 1), "rounds": 10**13}, "rounds in a session"),
    ],
)
def test_what_cannot_be_played_is_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(RulesError, match=said):
        simulate(SMALL, DICE, **{"rounds": 10, "seed": 1, **wrong})  # type: ignore[arg-type]


def test_limits_of_a_law_and_of_workers() -> None:
    assert Classes.of(Distribution.of([(GREATEST_NET, 1), (-1, 1)])).values == (-1, GREATEST_NET)
    with pytest.raises(RulesError, match="won or lost in a round"):
        Classes.of(Distribution.of([(GREATEST_NET + 1, 1), (-1, 1)]))
    assert Classes.of(Distribution.of([(1, MOST_CASES - 1), (-1, 1)])).values == (-1, 1)
    with pytest.raises(RulesError, match="equally likely cases"):
        Classes.of(Distribution.of([(1, MOST_CASES), (-1, 1)]))
    for count in (0, MOST_WORKERS + 1):
        with pytest.raises(RulesError, match="workers, got"), local_workers(count):
            pass

"""Sessions of staking systems: compiled, by NumPy and one at a time; and against exact chances of ruin."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from taisai.rules import rulebook
from taisai.rules.errors import RulesError
from taisai.study.odds import Mix
from taisai.study.session.ends import ends_of
from taisai.study.simulation import (
    SessionTerms,
    compiled_sessions,
    numpy_kernels,
    run,
    simulate,
)
from taisai.study.simulation.compiled_sessions import FEWEST
from taisai.study.simulation.plans import PLAYED_OUT, REACHED, RUINED, Classes, Figures, SessionPlan, key
from taisai.study.staking import Counting, Multiples, System, SystemName, allowed, machine, named, system
from tests.study.simulation import oracle

BOOK = rulebook("rws-sic-bo-etg-v8")
DICE = BOOK.chance()
SMALL = Mix.of(BOOK.matrix("A"), {"small": 100})
LEVEL = Mix.of(BOOK.matrix("A"), {"small": 100, "big": 100, "single-3": 50})
"""Which also comes out level."""
KEY = key(8, "sessions")


def planned(
    mix: Mix, name: str, *, bankroll: int = 1_000, target: int = 1_500, rounds: int = 60
) -> SessionPlan:
    multiples = allowed(mix, minimum=None, maximum=1_600, greatest=max(1, (target - 1) // mix.staked))
    made = system(name, multiples)
    return SessionPlan(
        Classes.of(mix.distribution(DICE)), made, mix.staked, multiples.least, bankroll, target, rounds
    ).checked()


def one_by_one(plan: SessionPlan, number: int) -> tuple[int, int, int, int, int, int]:
    """One session from the definition: bankroll, rounds, units, highest, drawdown, end."""
    draws = oracle.stream(KEY, number)
    money = high = plan.bankroll
    state = rounds = units = fall = 0
    while True:
        drawn = next(draws)
        value = next(
            (v for v, n in zip(plan.classes.values, plan.classes.limits, strict=True) if drawn < n), None
        )
        if value is None:
            continue
        multiple = min(plan.system.multiples[state], money // plan.staked)
        money += multiple * value * plan.classes.unit
        units += multiple
        rounds += 1
        high, state = max(high, money), plan.system.after(value)[state]
        fall = max(fall, high - money)
        if money < plan.least * plan.staked:
            return money, rounds, units, high, fall, RUINED
        if money >= plan.target:
            return money, rounds, units, high, fall, REACHED
        if rounds == plan.rounds:
            return money, rounds, units, high, fall, PLAYED_OUT


@pytest.mark.parametrize("name", SystemName)
@pytest.mark.parametrize(
    "classes",
    [
        Classes((-1, 1), (2**31, 2**32 - 16), 100),
        Classes((-1, 1), (2**30, 2**31), 100),  # every other draw is thrown away
        Classes((-2, 0, 1), (2**30, 2**31, 3 * 2**30), 50),
        Classes((-2, -1, 0, 3), (2**31, 2**31 + 2**29, 3 * 2**30, 2**32 - 1), 50),
    ],
    ids=["two", "thrown away", "three", "four"],
)
def test_abreast_alone_and_by_numpy_are_the_same(
    name: str, classes: Classes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More sessions than lanes, of every length, in slices that end within a batch."""
    plan = planned(SMALL, name, bankroll=1_950, target=4_000, rounds=150)._replace(classes=classes)
    assert compiled_sessions.fits_lanes(plan, 150)
    found = []
    for fewest, ways in ((FEWEST, compiled_sessions), (10**9, compiled_sessions), (FEWEST, numpy_kernels)):
        monkeypatch.setattr(compiled_sessions, "FEWEST", fewest)
        figures = Figures.begun(plan, 5, 400)
        for rounds in (1, 13, 70, 150):
            ways.play_sessions(KEY, plan, figures, rounds)
        found.append(figures)
    assert not found[0].playing
    assert len(np.unique(found[0].whole[2])) > 20
    for other in found[1:]:
        assert np.array_equal(found[0].whole, other.whole)
        assert np.array_equal(found[0].squares, other.squares)


def test_slices_abreast_leave_every_stream_where_it_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(SMALL, "martingale", bankroll=10**6, target=2 * 10**6, rounds=10**6)
    words = []
    for fewest in (FEWEST, 10**9):
        monkeypatch.setattr(compiled_sessions, "FEWEST", fewest)
        figures = Figures.begun(plan, 0, 150)
        compiled_sessions.play_sessions(KEY, plan, figures, 45)
        assert (figures.whole[2] == 45).all()
        words.append(figures.words)
    assert np.array_equal(words[0], words[1])


@pytest.mark.parametrize("money", [*range(95, 106), 6_553_599, 6_553_600, 6_553_700, 2**31 - 2**21])
def test_what_a_bankroll_covers_is_found_without_dividing(money: int) -> None:
    """At the edge of a multiple, beyond the greatest there is, and where a short float is coarse."""
    system_ = System("all", (12_000,), (0,), (0,), (0,))
    plan = SessionPlan(Classes((-1, 1), (2**31, 2**32 - 2), 1), system_, 100, 0, money, money + 10**5, 8)
    assert compiled_sessions.fits_lanes(plan, 8)
    abreast, plain = Figures.begun(plan, 0, 40), Figures.begun(plan, 0, 40)
    compiled_sessions.play_sessions(KEY, plan, abreast, 8)
    numpy_kernels.play_sessions(KEY, plan, plain, 8)
    assert np.array_equal(abreast.whole, plain.whole)


def test_what_does_not_fit_lanes_is_played_alone() -> None:
    plan = planned(SMALL, "martingale")
    assert compiled_sessions.fits_lanes(plan, 60)
    assert not compiled_sessions.fits_lanes(plan._replace(target=2**31), 60)
    assert not compiled_sessions.fits_lanes(plan, 2**31)
    assert not compiled_sessions.fits_lanes(plan._replace(rounds=2**53), 60)
    assert not compiled_sessions.fits_lanes(
        plan._replace(classes=Classes((-2, -1, 0, 1, 2), (1, 2, 3, 4, 5), 1)), 60
    )
    for multiple, expected in ((23_170, True), (23_171, False)):  # eight squares of it
        system_ = System("one", (multiple,), (0,), (0,), (0,))
        assert compiled_sessions.fits_lanes(plan._replace(system=system_), 60) is expected


@pytest.mark.parametrize("mix", [SMALL, LEVEL], ids=["small", "level"])
@pytest.mark.parametrize("name", SystemName)
def test_compiled_numpy_and_plain_python_play_the_same_sessions(name: str, mix: Mix) -> None:
    plan = planned(mix, name)
    compiled, plain = Figures.begun(plan, 30, 200), Figures.begun(plan, 30, 200)
    for rounds in (7, 1_000):  # in slices, too
        compiled_sessions.play_sessions(KEY, plan, compiled, rounds)
    numpy_kernels.play_sessions(KEY, plan, plain, 1_000)
    assert np.array_equal(compiled.whole, plain.whole)
    assert np.array_equal(compiled.squares, plain.squares)
    money, _, rounds_, units, high, fall, ended = compiled.whole.tolist()
    assert list(zip(money, rounds_, units, high, fall, ended, strict=True)) == [
        one_by_one(plan, number) for number in range(30, 230)
    ]
    assert len(set(ended)) > 1


def ruin(plan: SessionPlan) -> dict[int, Fraction]:
    """How a session ends, exactly, by following every bankroll and state through every round."""
    law = SMALL.distribution(DICE)
    chances = {v: Fraction(w, law.total) for v, w in zip(law.values, law.weights, strict=True)}
    alive: dict[tuple[int, int], Fraction] = {(plan.bankroll, 0): Fraction(1)}
    ended: dict[int, Fraction] = defaultdict(Fraction)
    for _ in range(plan.rounds):
        after: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
        for (money, state), chance in alive.items():
            multiple = min(plan.system.multiples[state], money // plan.staked)
            for value, share in chances.items():
                then = money + multiple * value
                if then < plan.least * plan.staked:
                    ended[RUINED] += chance * share
                elif then >= plan.target:
                    ended[REACHED] += chance * share
                else:
                    after[then, plan.system.after(value)[state]] += chance * share
        alive = after
    ended[PLAYED_OUT] = sum(alive.values(), Fraction(0))
    return ended


@pytest.mark.parametrize("name", SystemName)
def test_sessions_end_as_often_as_the_exact_chances_have_it(name: str) -> None:
    plan = planned(SMALL, name, bankroll=1_000, target=2_000, rounds=40)
    sessions = 40_000
    found = simulate(
        SMALL, DICE, rounds=40, seed=8, sessions=sessions,
        terms=SessionTerms(name, bankroll=1_000, target=2_000, maximum=1_600),
    ).sessions  # fmt: skip
    assert found is not None
    for end, chance in ruin(plan).items():
        share = float(np.mean(found.ended == end))
        error = sqrt(chance * (1 - chance) / sessions)
        assert abs(share - float(chance)) <= 4.5 * error + 1e-12, (end, share, float(chance))


@pytest.mark.parametrize("name", SystemName)
def test_the_exact_chances_of_ruin_and_the_simulation_agree(name: str) -> None:
    """Until ruin or target, however long it takes; the machines are shared, what plays them is not."""
    sessions, bankroll, target = 20_000, 2_000, 3_000
    exact = ends_of(SMALL, DICE, bankroll=bankroll, target=target, staking=name, maximum=800)
    terms = SessionTerms(name, bankroll=bankroll, target=target, maximum=800)
    found = simulate(SMALL, DICE, rounds=100_000, seed=9, sessions=sessions, terms=terms)
    assert found.sessions is not None
    assert not (found.sessions.ended == PLAYED_OUT).any()
    share = float(np.mean(found.sessions.ended == RUINED))
    assert abs(share - float(exact.ruin)) < 4 * sqrt(exact.ruin * (1 - exact.ruin) / sessions)
    spread = float(found.sessions.rounds.std()) / sqrt(sessions)
    assert abs(float(found.sessions.rounds.mean()) - exact.mean_rounds) < 4.5 * spread


def test_the_standard_error_holds_for_stakes_that_the_past_decides() -> None:
    scores = []
    for seed in range(150):
        found = simulate(
            SMALL, DICE, rounds=200, seed=seed, sessions=30, terms=SessionTerms("dalembert", maximum=1_000)
        )
        assert found.house_edge_observed is not None
        assert found.standard_error is not None
        scores.append((found.house_edge_observed - 1 / 36) / found.standard_error)
    assert abs(np.mean(scores)) < 0.35
    assert abs(np.var(scores) - 1) < 0.4


def test_a_long_session_is_played_in_slices_and_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = simulate(SMALL, DICE, rounds=5_000, seed=2, terms=SessionTerms("martingale"))
    monkeypatch.setattr(run, "SLICE", 700)
    sliced = simulate(SMALL, DICE, rounds=5_000, seed=2, terms=SessionTerms("martingale"))
    assert sliced.rounds == whole.rounds == 5_000
    assert (sliced.net, sliced.max_drawdown) == (whole.net, whole.max_drawdown)


class Oscar:
    """A system of somebody's own: one more after a win, until three are reached."""

    name, start = "oscar", 1

    def multiple(self, memory: int, /) -> int:
        return memory

    def after(self, memory: int, way: int, /) -> int:
        return memory % 3 + 1 if way > 0 else memory


class Endless:
    """One that never forgets."""

    name, start = "endless", 0

    def multiple(self, _memory: int, /) -> int:
        return 1

    def after(self, memory: int, _way: int, /) -> int:
        return memory + 1


class Idle(Oscar):
    def multiple(self, _memory: int, /) -> int:
        return 0


def test_a_strategy_of_ones_own_becomes_a_machine() -> None:
    made = machine(Oscar(), Multiples(2, 100))
    assert made.multiples == (2, 2, 3)  # the table's minimum raises the first
    assert (made.won, made.level, made.lost) == ((1, 2, 0), (0, 1, 2), (0, 1, 2))
    found = simulate(SMALL, DICE, rounds=100, seed=1, sessions=50, terms=SessionTerms(Oscar(), bankroll=900))
    assert found.sessions is not None
    assert found.staked == int(found.sessions.staked.sum())
    for wrong, said in (
        (Endless(), "strategy endless has more than 65,536 states"),
        (Idle(), "multiple of 1 or more"),
    ):
        with pytest.raises(RulesError, match=said):
            machine(wrong, Multiples(1, 100))


def test_strategies_by_name() -> None:
    assert named("martingale") == "martingale"
    assert named("count") == Counting(0, 1)
    assert named("count:8") == Counting(1, 8)
    for wrong in ("kelly", "count:1", "count:x", "count:100001", ""):
        with pytest.raises(RulesError, match=r"unknown strategy|expected a spread"):
            named(wrong)

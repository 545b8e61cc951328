"""Ctrl-C: what is done so far is a whole beginning, and is told."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Timer
from typing import NamedTuple

import pytest

from taisai.rules import rulebook
from taisai.study.odds import Mix
from taisai.study.simulation import SessionTerms, Simulated, local_workers, run, simulate
from taisai.study.simulation.plans import CHUNK, Classes, SessionPlan, key
from taisai.study.simulation.workers import TaskResult, run_in_order
from taisai.study.staking import FLAT, Multiples, system_of

BOOK = rulebook("rws-sic-bo-etg-v8")
DICE = BOOK.chance()
MIX = Mix.of(BOOK.matrix("A"), {"small": 100})


LONG = 128 * CHUNK
"""In 64 tasks."""


def stopping(after: int) -> Callable[[int], None]:
    """A person who has seen enough after so many parts."""
    seen: list[int] = []

    def tick(rounds: int) -> None:
        seen.append(rounds)
        if len(seen) == after:
            raise KeyboardInterrupt

    return tick


def stopped(rounds: int, after: int, *, terms: SessionTerms = FLAT, sessions: int = 1) -> Simulated:
    with local_workers(2) as workers:
        return simulate(
            MIX, DICE, rounds=rounds, seed=6, terms=terms, sessions=sessions, workers=workers,
            tick=stopping(after),
        )  # fmt: skip


def test_rounds_done_before_ctrl_c_are_those_of_a_shorter_run() -> None:
    found = stopped(LONG, 9)
    assert not found.is_whole
    assert 0 < found.rounds < LONG
    assert found.rounds % CHUNK == 0
    shorter = simulate(MIX, DICE, rounds=found.rounds, seed=6)
    assert (found.net, found.max_drawdown, found.standard_error) == (
        shorter.net,
        shorter.max_drawdown,
        shorter.standard_error,
    )
    assert f"Stopped after {found.rounds:,} of at most {LONG:,} rounds." in str(found)


def test_nothing_done_before_ctrl_c_is_nothing_and_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run.WalkTask, "run", stopping(1))
    found = simulate(MIX, DICE, rounds=LONG, seed=6)
    assert not found.is_whole
    assert (found.rounds, found.net, found.trail) == (0, 0, ((0, 0),))
    assert found.house_edge_observed is None
    assert found.standard_error is None


class Held(NamedTuple):
    """A task that ends when it is let go."""

    rounds: int
    begun: Event
    released: Event

    def run(self) -> TaskResult[Held]:
        self.begun.set()
        assert self.released.wait(60)
        return TaskResult(self.rounds, self)


def held(rounds: int) -> Held:
    return Held(rounds, Event(), Event())


def quick(rounds: int) -> Held:
    task = held(rounds)
    task.released.set()
    return task


@pytest.fixture
def pair() -> Iterator[ThreadPoolExecutor]:
    """Two workers."""
    with ThreadPoolExecutor(2) as executor:
        yield executor


def test_a_part_that_runs_at_ctrl_c_is_waited_for_and_counts(pair: ThreadPoolExecutor) -> None:
    slow, other = held(3), quick(4)

    def tick(rounds: int) -> None:
        if rounds == 4:  # the second part is done, and shown, before the first
            slow.released.set()
            raise KeyboardInterrupt

    parts, is_whole = run_in_order(iter([slow, other]), pair, side_by_side=2, tick=tick)
    assert ([part.result for part in parts], is_whole) == ([slow, other], False)


def test_a_part_that_has_not_begun_at_ctrl_c_is_left(pair: ThreadPoolExecutor) -> None:
    first, slow, slower, waiting = quick(1), held(2), held(3), held(4)

    def tick(rounds: int) -> None:
        if rounds == 1:
            assert slower.begun.wait(60)
            for task in (slow, slower):
                Timer(0.2, task.released.set).start()
            raise KeyboardInterrupt

    parts, is_whole = run_in_order(iter([first, slow, slower, waiting]), pair, side_by_side=4, tick=tick)
    assert ([part.result for part in parts], is_whole) == ([first, slow, slower], False)
    assert not waiting.begun.is_set()


def test_after_a_second_ctrl_c_running_parts_are_left_out(pair: ThreadPoolExecutor) -> None:
    first, stuck = quick(1), held(2)

    def tick(rounds: int) -> None:
        if rounds == 1:
            assert stuck.begun.wait(60)
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            raise KeyboardInterrupt

    def again(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, again)
    try:
        parts, is_whole = run_in_order(iter([first, stuck]), pair, side_by_side=2, tick=tick)
    finally:
        stuck.released.set()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert ([part.result for part in parts], is_whole) == ([first], False)


def test_sessions_that_are_played_on_leave_the_part_before_as_it_was() -> None:
    system = system_of("dalembert", Multiples(1, 100))
    plan = SessionPlan(Classes.of(MIX.distribution(DICE)), system, 100, 1, 10**12, 10**15, 3 * run.SLICE)
    first = run.SessionsTask(key(6, "sessions"), plan, 0, 1).run()
    assert first.further is not None
    before = first.result.copied()
    once, again = first.further.run(), first.further.run()
    assert first.result.rounds == before.rounds == run.SLICE
    assert (first.result.whole == before.whole).all()
    assert (once.result.whole == again.result.whole).all()


def test_sessions_done_before_ctrl_c_are_whole_sessions_from_the_first_on() -> None:
    terms = SessionTerms("martingale", bankroll=3_000)
    found = stopped(1_000, 5, terms=terms, sessions=1_000_000)
    assert found.sessions is not None
    count = len(found.sessions)
    assert 0 < count < 1_000_000
    again = simulate(MIX, DICE, rounds=1_000, seed=6, terms=terms, sessions=count)
    assert (found.net, found.rounds, found.staked) == (again.net, again.rounds, again.staked)


def test_one_long_session_tells_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SLICE", 1_000)
    found = stopped(10**9, 7, terms=SessionTerms("dalembert"))
    assert not found.is_whole
    assert found.rounds == 7_000
    assert found.sessions is not None
    assert found.sessions.ways() == {"cut short": 1}
    shorter = simulate(MIX, DICE, rounds=7_000, seed=6, terms=SessionTerms("dalembert"))
    assert (found.net, found.max_drawdown) == (shorter.net, shorter.max_drawdown)

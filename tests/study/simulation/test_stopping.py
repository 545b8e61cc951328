"""Ctrl-C: what is done so far is a whole beginning, and is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from taisai.rules import rulebook
from taisai.study.mix import Mix
from taisai.study.simulation import Simulated, Terms, local_workers, simulate, tasks
from taisai.study.simulation.lanes import CHUNK
from taisai.study.simulation.terms import FLAT

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


def stopped(rounds: int, after: int, *, terms: Terms = FLAT, sessions: int = 1) -> Simulated:
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


def test_nothing_done_before_ctrl_c_is_nothing_and_not_an_error() -> None:
    found = stopped(LONG, 1)
    assert not found.is_whole
    assert found.rounds in {0, 2 * CHUNK}
    if not found.rounds:
        assert found.house_edge_observed is None
        assert found.standard_error is None


def test_sessions_done_before_ctrl_c_are_whole_sessions_from_the_first_on() -> None:
    terms = Terms("martingale", bankroll=3_000)
    found = stopped(1_000, 5, terms=terms, sessions=1_000_000)
    assert found.sessions is not None
    count = len(found.sessions)
    assert 0 < count < 1_000_000
    again = simulate(MIX, DICE, rounds=1_000, seed=6, terms=terms, sessions=count)
    assert (found.net, found.rounds, found.staked) == (again.net, again.rounds, again.staked)


def test_one_long_session_tells_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "SLICE", 1_000)
    found = stopped(10**9, 7, terms=Terms("dalembert"))
    assert not found.is_whole
    assert found.rounds == 7_000
    assert found.sessions is not None
    assert found.sessions.ways() == {"cut short": 1}
    shorter = simulate(MIX, DICE, rounds=7_000, seed=6, terms=Terms("dalembert"))
    assert (found.net, found.max_drawdown) == (shorter.net, shorter.max_drawdown)

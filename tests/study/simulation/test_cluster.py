"""A real Dask cluster on this machine plays, loses a worker, and brings the same digits."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from taisai.rules import rulebook
from taisai.rules.errors import RulesError
from taisai.study.odds import Mix
from taisai.study.simulation import SessionTerms, Simulated, cluster_workers, local_workers, simulate

pytestmark = pytest.mark.filterwarnings("ignore")  # those of another library about itself

BOOK = rulebook("rws-sic-bo-etg-v8")
MIX = Mix.of(BOOK.matrix("A"), {"small": 100, "triple-1": 10})


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as made:
        yield made


def alone(rounds: int, terms: SessionTerms, sessions: int) -> Simulated:
    with local_workers(1) as one:
        return simulate(
            MIX, BOOK.chance(), rounds=rounds, seed=11, terms=terms, sessions=sessions, workers=one
        )


def figures(result: Simulated) -> dict[str, Any]:
    return {name: value for name, value in result.facts().items() if name != "rounds_per_second"}


def test_a_cluster_brings_the_same_digits_and_again_after_a_worker_is_killed(cluster: Any) -> None:
    rounds = 100_000_000
    killed: list[int] = []

    def kill(_rounds: int) -> None:
        if not killed:
            killed.append(cluster.workers[0].process.process.pid)
            os.kill(killed[0], signal.SIGKILL)

    with cluster_workers(cluster.scheduler_address) as workers:
        sessions = simulate(
            MIX, BOOK.chance(), rounds=100, seed=11, terms=SessionTerms("paroli", bankroll=5_000),
            sessions=2_000, workers=workers,
        )  # fmt: skip
        hit = simulate(MIX, BOOK.chance(), rounds=rounds, seed=11, workers=workers, tick=kill)
    assert killed
    assert figures(sessions) == figures(alone(100, SessionTerms("paroli", bankroll=5_000), 2_000))
    assert figures(hit) == figures(alone(rounds, SessionTerms(), 1))
    assert hit.rounds == rounds


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp://127.0.0.1:1", "no Dask scheduler answers"),
        ("nonsense", "such as tcp://host:8786, got 'nonsense'"),
        ("", "got ''"),
        ("tcp://127.0.0.1:99999", "such as tcp://host:8786"),
        ("tcp://no-such-host.invalid:8786", "no Dask scheduler answers"),
    ],
)
def test_an_address_where_no_scheduler_is_gets_one_line(address: str, said: str) -> None:
    with pytest.raises(RulesError, match=said), cluster_workers(address):
        pass

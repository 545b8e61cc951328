"""Simulating: rounds of a mix as they might come, many at a time, the same digits for the same seed."""

from __future__ import annotations

from math import sqrt
from time import perf_counter
from typing import Final

from taisai.rules.chance import Chance
from taisai.rules.errors import RulesError
from taisai.study import needed
from taisai.study.odds import Mix
from taisai.study.simulation.draws import drawn_counts, key
from taisai.study.simulation.playing import Clock, SimulationRun, Tick, dealt_from, sat, titled, walked
from taisai.study.simulation.result import Simulated
from taisai.study.simulation.sessions import MOST_SESSIONS
from taisai.study.simulation.shoes import SimulatedShoe
from taisai.study.simulation.strategies import FLAT, Counting, SessionTerms, Staking, system_of
from taisai.study.simulation.workers import Workers, local_workers

MOST_ROUNDS: Final = 10**15
"""In one simulation: at a billion a second, eleven days."""


def simulate(
    mix: Mix,
    chance: Chance,
    *,
    rounds: int,
    seed: int,
    terms: SessionTerms = FLAT,
    sessions: int = 1,
    shoe: SimulatedShoe | None = None,
    workers: Workers | None = None,
    tick: Tick = lambda _rounds: None,
    clock: Clock = perf_counter,
    marks: int = 0,
) -> Simulated:
    """Plays so many rounds of a mix, in each of so many sessions, and tells what came of it.

    `chance` is the law of every round; with a `shoe` the cards are dealt from it instead. The trail
    has at least so many `marks`, where there are as many rounds of a mix, or shoes.

    >>> from taisai.rules import rulebook
    >>> book = rulebook("rws-sic-bo-etg-v8")
    >>> mix = Mix.of(book.matrix("A"), {"small": 100})
    >>> found = simulate(mix, book.chance(), rounds=10**6, seed=7)
    >>> found.rounds, found.staked, found.max_drawdown >= -found.net
    (1000000, 100000000, True)
    """
    _checked(rounds, sessions)
    terms = terms.checked()
    key(seed, "")  # refuses a seed that is none
    with needed("numpy", "study"):
        import numpy  # noqa: F401 - better said now than by a worker
    if workers is None:
        with local_workers() as some:
            return simulate(
                mix, chance, rounds=rounds, seed=seed, terms=terms, sessions=sessions, shoe=shoe,
                workers=some, tick=tick, clock=clock, marks=marks,
            )  # fmt: skip
    run = SimulationRun(mix, chance, rounds, seed, workers, tick, clock, marks)
    strategy = terms.strategy
    if shoe is not None or isinstance(strategy, Counting):
        if shoe is None or not (strategy == "flat" or isinstance(strategy, Counting)):
            raise RulesError(
                "expected a shoe with a penetration and the strategy flat or count together, got "
                + ("no penetration" if shoe is None else f"{_name(strategy)} with one")
            )
        if sessions > 1 or not terms.is_endless:
            raise RulesError("expected one player without bankroll and target at a shoe with a penetration")
        return dealt_from(run, terms, shoe)
    system = system_of(strategy, terms.multiples(mix))
    if sessions == 1 and terms.is_endless and len(system.multiples) == 1:
        return walked(run, system.multiples[0])
    return sat(run, terms, system, sessions)


def simulate_totals(
    mix: Mix, chance: Chance, *, rounds: int, seed: int, terms: SessionTerms = FLAT, sessions: int = 1
) -> Simulated:
    """What so many rounds come to in all, drawn at once; how they came about is not.

    >>> from taisai.rules import rulebook
    >>> book = rulebook("rws-sic-bo-etg-v8")
    >>> found = simulate_totals(
    ...     Mix.of(book.matrix("A"), {"small": 100}), book.chance(), rounds=10**15, seed=7
    ... )
    >>> found.rounds, f"{found.house_edge_observed:.6f}", found.max_drawdown
    (1000000000000000, '0.027778', None)
    """
    _checked(rounds, sessions)
    if terms.strategy != "flat" or not terms.is_endless:
        raise RulesError(
            "expected a fixed mix without bankroll and target for totals, got a strategy or a limit"
        )
    multiple = terms.multiples(mix).least
    law = mix.law(chance)
    counts = drawn_counts(law, rounds * sessions, key(seed, "totals"))
    net = multiple * sum(count * value for count, value in zip(counts, law.values, strict=True))
    played = rounds * sessions
    staked = multiple * mix.staked * played
    error = sqrt(law.variance / played) / mix.staked
    return Simulated(
        titled(mix, "flat, totals alone"), seed, played, played, staked, staked + net, error, None, None,
        mix.edge(chance),
    )  # fmt: skip


def _checked(rounds: int, sessions: int) -> None:
    for what, number, most in (("rounds", rounds, MOST_ROUNDS), ("sessions", sessions, MOST_SESSIONS)):
        if type(number) is not int or not 1 <= number <= most:
            raise RulesError(f"expected 1 to {most:,} {what}, got {number!r}")
    if rounds * sessions > MOST_ROUNDS:
        raise RulesError(f"expected at most {MOST_ROUNDS:,} rounds in all, got {rounds * sessions:,}")


def _name(strategy: Staking) -> str:
    return strategy if isinstance(strategy, str) else strategy.name

"""How a player ends: by dynamic programming, against 100,000 sessions played out by a compiled loop.

The simulation is the quickest honest one we could write: one thread like ours, compiled by numba,
xoshiro256++ in registers, one draw and one comparison a round, the system's stakes from a table that fits the
first cache, and nothing kept but three counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from math import log10, sqrt
from typing import Any, Final, NamedTuple

import numpy as np

from bench.harness import Bench, Line, Target, in_turns
from bench.study.growing import growth
from taisai.rules import Chance, Matrix, rulebook
from taisai.study.odds import Mix
from taisai.study.session.ends import Ends, ends_of
from taisai.study.staking import System, allowed, system

BOOK, LAYOUT, BETS = "rws-sic-bo-etg-v8", "A", {"small": 100}
SESSIONS: Final = 100_000
SEED: Final = 20_11_2002
IN_DOUBLES: Final = 1e-9
"""How far off a chain of a thousand rounds in double precision may be; ours has some twenty digits more."""


class Asked(NamedTuple):
    """One question."""

    staking: str
    bankroll: int
    target: int
    maximum: int
    rounds: int


QUESTIONS: Final = (
    Asked("flat", 10_000, 20_000, 5_000, 1_000),
    Asked("martingale", 10_000, 20_000, 5_000, 1_000),
    Asked("paroli", 10_000, 20_000, 5_000, 1_000),
    Asked("dalembert", 10_000, 20_000, 5_000, 1_000),
)
WITHOUT_TARGET: Final = {"dalembert": ", without a target: fifty states where Martingale has seven"}
"""Shown, but seven times the work is not asked to be as quick."""


def run(*, quick: bool) -> Iterator[Line]:
    """How many times longer the simulation takes, and how many digits fewer it has."""
    simulate, chain = _simulator(), _chained()
    for asked in QUESTIONS:
        ends, counted = _ends(asked), _simulated(simulate, asked)
        exact = float(ends.ruin)
        deviation = sqrt(exact * (1 - exact) / SESSIONS)
        assert abs(counted[0] / SESSIONS - exact) < 5 * deviation, (counted, exact)
        assert (
            abs(counted[1] / SESSIONS - float(ends.success))
            < 5 * sqrt(float(ends.success) / SESSIONS) + 5 / SESSIONS
        )
        bare = chain(*_game(asked))
        assert abs(bare[0] - exact) < IN_DOUBLES
        assert abs(bare[1] - float(ends.success)) < IN_DOUBLES
        ways: dict[str, Callable[[], object]] = {
            "chain": lambda asked=asked: chain(*_game(asked)),  # type: ignore[misc]
            "simulation": lambda asked=asked: _simulated(simulate, asked),  # type: ignore[misc]
            "ours": lambda asked=asked: _ends(asked),  # type: ignore[misc]
        }
        times = in_turns(ways, turns=5 if quick else 15)
        name = f"ruin, {asked.staking}, {asked.rounds:,} rounds, {asked.bankroll:,} to {asked.target:,}"
        bench = Bench(name, times)
        yield bench.line(
            f"{SESSIONS:,} sessions by numba / ours{WITHOUT_TARGET.get(asked.staking, '')}",
            of="simulation",
            over="ours",
            target=None if asked.staking in WITHOUT_TARGET else Target(20),
        )
        yield bench.line("limit: ours / the chain in doubles by numba", of="ours", over="chain")
        more = log10(deviation / ends.error)
        yield Line(
            name, "digits of ours beyond the simulation's", more, more, more, Target(10, unit=" digits")
        )
    turns = 3 if quick else 7
    yield growth("ruin, flat, rounds", _flat, (10_000, 100_000), turns=turns, at_most=1.1)


def _flat(rounds: int) -> Ends:
    return _ends(QUESTIONS[0]._replace(rounds=rounds))


@cache
def _rules() -> tuple[Matrix, Chance]:
    """Read and compiled once: reading a rulebook is no part of either way."""
    book = rulebook(BOOK)
    return book.matrix(LAYOUT), book.chance()


def _mix() -> Mix:
    return Mix.of(_rules()[0], BETS)


def _ends(asked: Asked) -> Ends:
    return ends_of(
        _mix(),
        _rules()[1],
        bankroll=asked.bankroll,
        target=asked.target,
        rounds=asked.rounds,
        staking=asked.staking,
        maximum=asked.maximum,
    )


def _simulated(simulate: Callable[..., Any], asked: Asked) -> tuple[int, int, int]:
    stakes, won, lost, unit, chance, *rest = _game(asked)
    threshold = np.uint64(int(chance * 2**64))  # below it the round is won
    found = simulate(stakes, won, lost, unit, threshold, *rest, SESSIONS, SEED)
    return int(found[0]), int(found[1]), int(found[2])


def _game(asked: Asked) -> tuple[Any, Any, Any, int, Fraction, int, int, int]:
    """The system's stakes and moves, the unit, the chance to win; bankroll, target and rounds."""
    mix = _mix()
    multiples = allowed(mix, minimum=None, maximum=asked.maximum, greatest=(asked.target - 1) // mix.staked)
    machine = system(asked.staking, multiples)
    law = mix.distribution(_rules()[1])
    chance = Fraction(law.weights[-1], law.total)
    return *_tables(machine, mix.staked), chance, asked.bankroll, asked.target, asked.rounds


def _tables(machine: System, unit: int) -> tuple[Any, Any, Any, int]:
    stakes = np.array(machine.multiples, dtype=np.int64) * unit
    return stakes, np.array(machine.won, dtype=np.int64), np.array(machine.lost, dtype=np.int64), unit


@cache
def _chained() -> Callable[..., tuple[float, float]]:
    import numba

    loop = numba.njit(nogil=True)(_chain)

    def chain(*game: Any) -> tuple[float, float]:
        found = loop(*game[:4], float(game[4]), *game[5:])
        return float(found[0]), float(found[1])

    return chain


@cache
def _simulator() -> Callable[..., Any]:
    import numba

    return numba.njit(nogil=True)(_sessions)  # type: ignore[no-any-return]


def _sessions(  # noqa: PLR0917 (a compiled loop takes plain arrays, in one order)
    stakes: Any,
    won: Any,
    lost: Any,
    unit: int,
    threshold: Any,
    bankroll: int,
    target: int,
    rounds: int,
    sessions: int,
    seed: int,
) -> tuple[int, int, int]:
    a = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15)
    b, c, d = a ^ np.uint64(0xBF58476D1CE4E5B9), a + np.uint64(0x94D049BB133111EB), ~a
    ruined = reached = 0
    for _ in range(sessions):
        purse, state, left = bankroll, 0, rounds
        while unit <= purse < target and left > 0:
            stake = min(stakes[state], purse // unit * unit)
            mixed = a + d
            drawn = ((mixed << np.uint64(23)) | (mixed >> np.uint64(41))) + a
            shifted = b << np.uint64(17)
            c ^= a
            d ^= b
            b ^= c
            a ^= d
            c ^= shifted
            d = (d << np.uint64(45)) | (d >> np.uint64(19))
            if drawn < threshold:
                purse += stake
                state = won[state]
            else:
                purse -= stake
                state = lost[state]
            left -= 1
        ruined += purse < unit
        reached += purse >= target
    return ruined, reached, sessions - ruined - reached


def _chain(  # noqa: PLR0917 (as above)
    stakes: Any,
    won: Any,
    lost: Any,
    unit: int,
    chance: float,
    bankroll: int,
    target: int,
    rounds: int,
) -> tuple[float, float]:
    purses, states = target // unit, stakes.size
    now, then = np.zeros((states, purses)), np.zeros((states, purses))
    now[0, bankroll // unit] = 1.0
    ruined = reached = 0.0
    for _ in range(rounds):
        then[:] = 0.0
        for state in range(states):
            stake, up, down = min(stakes[state] // unit, purses), won[state], lost[state]
            for purse in range(1, stake):  # all that is left is staked
                if 2 * purse < purses:
                    then[up, 2 * purse] += chance * now[state, purse]
                else:
                    reached += chance * now[state, purse]
                ruined += (1.0 - chance) * now[state, purse]
            for purse in range(stake, purses - stake):
                then[up, purse + stake] += chance * now[state, purse]
            for purse in range(max(stake, purses - stake), purses):
                reached += chance * now[state, purse]
            if stake < purses:
                ruined += (1.0 - chance) * now[state, stake]
            for purse in range(stake + 1, purses):
                then[down, purse - stake] += (1.0 - chance) * now[state, purse]
        now, then = then, now
    return ruined, reached

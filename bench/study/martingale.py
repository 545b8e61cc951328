"""Sessions of a Martingale until ruin, target or a thousand rounds, on two cores."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from ctypes import c_int64, c_uint64
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from bench.harness import Bench, Line, Target, in_turns
from bench.study.compiled import library
from bench.study.growing import growth
from bench.study.threaded import CORES, on_both, quicker
from taisai.rules import rulebook
from taisai.study.odds import Mix
from taisai.study.session.ends import ends_of
from taisai.study.simulation import SessionTerms, Simulated, local_workers, simulate

BOOK: Final = rulebook("rws-sic-bo-etg-v8")
MIX: Final = Mix.of(BOOK.matrix("A"), {"small": 100})
STAKE, BANKROLL, TARGET, MAXIMUM, ROUNDS = 100, 20_000, 30_000, 6_400, 1_000
WON: Final = 105 / 216
SESSIONS: Final = 200_000
NUMPY_SESSIONS: Final = 100_000
PYTHON_SESSIONS: Final = 500
SEED: Final = 7


def run(*, quick: bool) -> Iterator[Line]:
    """Against a tight loop in Python and whole arrays in NumPy; all are ruined as often as the exact law.

    NumPy has two threads too. They hold one another up between its thousands of short calls, and on a busy
    machine gained it less than a tenth, so one thread is timed as well, and the quicker of the two counts.
    """
    terms = SessionTerms("martingale", bankroll=BANKROLL, target=TARGET, maximum=MAXIMUM)
    with local_workers(CORES) as workers:

        def ours(sessions: int = SESSIONS) -> Simulated:
            return simulate(
                MIX, BOOK.chance(), rounds=ROUNDS, seed=SEED, terms=terms, sessions=sessions, workers=workers
            )

        ways: dict[str, Callable[[], object]] = {
            "ours": ours,
            "NumPy, two threads": by_numpy,
            "NumPy, one thread": by_numpy_alone,
            "plain Python": in_python,
        }
        bare = by_c()
        if bare is not None:
            ways["C"] = bare
        exact = float(
            ends_of(
                MIX, BOOK.chance(), bankroll=BANKROLL, target=TARGET, rounds=ROUNDS, staking="martingale",
                maximum=MAXIMUM,
            ).ruin
        )  # fmt: skip
        found = ours()
        assert found.sessions is not None
        mine = Ended(found.sessions.ways()["ruined"], found.staked, found.max_drawdown or 0)
        each = mine.staked / SESSIONS
        for other, sessions in (
            (mine, SESSIONS),
            (by_numpy(), NUMPY_SESSIONS),
            (by_numpy_alone(), NUMPY_SESSIONS),
            (in_python(), PYTHON_SESSIONS),
            *([(bare(), SESSIONS)] if bare is not None else []),
        ):
            assert abs(other.ruined / sessions - exact) < 5 * (exact * (1 - exact) / sessions) ** 0.5
            assert abs(other.staked / sessions / each - 1) < 0.2
            assert 0.7 * TARGET < other.drawdown < TARGET
        times = dict(in_turns(ways, turns=5 if quick else 15))
        arrays = ("NumPy, two threads", "NumPy, one thread")
        for name in (*arrays, "plain Python"):
            sessions = NUMPY_SESSIONS if name in arrays else PYTHON_SESSIONS
            times[name] = [seconds * (SESSIONS / sessions) for seconds in times[name]]
        numpy = quicker(times, *arrays)
        bench = Bench("Martingale sessions, two cores", times)
        yield bench.line("plain Python / ours", of="plain Python", over="ours", target=Target(40))
        yield bench.line(f"{numpy} / ours", of=numpy, over="ours", target=Target(5))
        if bare is not None:
            yield bench.line("limit: ours / a plain loop in C on two threads", of="ours", over="C")
        yield growth(bench.name, ours, (10_000, 100_000, 1_000_000), turns=5, at_most=1.1)


class Ended(NamedTuple):
    """What every way must find out: how many were ruined, all that was staked, the deepest fall of any."""

    ruined: int
    staked: int
    drawdown: int


def in_python() -> Ended:
    """One session after the other."""
    draw, ruined, staked, deepest = random.Random(SEED).random, 0, 0, 0
    for _ in range(PYTHON_SESSIONS):
        money, stake, top = BANKROLL, STAKE, BANKROLL
        for _ in range(ROUNDS):
            if stake > money:
                stake = money // STAKE * STAKE
            staked += stake
            if draw() < WON:
                money += stake
                stake = STAKE
                if money > top:
                    top = money
                    if money >= TARGET:
                        break
            else:
                money -= stake
                deepest = max(deepest, top - money)
                stake = min(2 * stake, MAXIMUM)
                if money < STAKE:
                    ruined += 1
                    break
    return Ended(ruined, staked, deepest)


def by_numpy() -> Ended:
    """Half of the sessions on each of two threads."""
    return _together(lambda number: by_numpy_alone(SEED + number, NUMPY_SESSIONS // CORES))


def by_numpy_alone(seed: int = SEED, sessions: int = NUMPY_SESSIONS) -> Ended:
    """A round of every session at a time; those that have ended are left out."""
    draw = np.random.Generator(np.random.SFC64(seed))
    money, top = np.full((2, sessions), BANKROLL)
    wanted = np.full(sessions, STAKE)
    ruined = staked = deepest = 0
    for _ in range(ROUNDS):
        stake = np.minimum(wanted, money // STAKE * STAKE)
        staked += int(stake.sum())
        won = draw.random(money.size) < WON
        money = np.where(won, money + stake, money - stake)
        wanted = np.where(won, STAKE, np.minimum(2 * wanted, MAXIMUM))
        np.maximum(top, money, out=top)
        deepest = max(deepest, int((top - money).max()))
        live = (money >= STAKE) & (money < TARGET)
        if not live.all():
            ruined += int((money < STAKE).sum())
            money, wanted, top = money[live], wanted[live], top[live]
            if not money.size:
                break
    return Ended(ruined, staked, deepest)


def by_c() -> Callable[[], Ended] | None:
    """One session after the other, half of them on each of two threads; None without a compiler."""
    made = library("dealt.c")
    if made is None:
        return None
    terms = (c_int64(one) for one in (STAKE, MAXIMUM, BANKROLL, TARGET))
    rest = (c_int64(SESSIONS // CORES), c_int64(ROUNDS), c_uint64(int(WON * 2**64)), *terms)

    def half(number: int) -> Ended:
        out = (c_int64 * 3)()
        made.sessions(c_uint64(SEED + number), *rest, out)
        return Ended(*out)

    return partial(_together, half)


def _together(half: Callable[[int], Ended]) -> Ended:
    one, two = on_both(half)
    return Ended(one.ruined + two.ruined, one.staked + two.staked, max(one.drawdown, two.drawdown))

"""Sessions of a Martingale until ruin, target or a thousand rounds, on two cores."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from bench.harness import Bench, Line, Target, in_turns
from bench.study.growing import growth
from taisai.rules import rulebook
from taisai.study.mix import Mix
from taisai.study.session.ends import ends_of
from taisai.study.simulation import Simulated, Terms, local_workers, simulate

BOOK: Final = rulebook("rws-sic-bo-etg-v8")
MIX: Final = Mix.of(BOOK.matrix("A"), {"small": 100})
STAKE, BANKROLL, TARGET, MAXIMUM, ROUNDS = 100, 20_000, 30_000, 6_400, 1_000
WON: Final = 105 / 216
SESSIONS: Final = 200_000
NUMPY_SESSIONS: Final = 50_000
PYTHON_SESSIONS: Final = 500
SEED: Final = 7


def run(*, quick: bool) -> Iterator[Line]:
    """Against a tight loop in Python and whole arrays in NumPy; all are ruined as often as the exact law."""
    terms = Terms("martingale", bankroll=BANKROLL, target=TARGET, maximum=MAXIMUM)
    with local_workers(2) as workers:

        def ours(sessions: int = SESSIONS) -> Simulated:
            return simulate(
                MIX, BOOK.chance(), rounds=ROUNDS, seed=SEED, terms=terms, sessions=sessions, workers=workers
            )

        ways: dict[str, Callable[[], object]] = {"ours": ours, "NumPy": by_numpy, "plain Python": in_python}
        exact = float(
            ends_of(
                MIX, BOOK.chance(), bankroll=BANKROLL, target=TARGET, rounds=ROUNDS, staking="martingale",
                maximum=MAXIMUM,
            ).ruin
        )  # fmt: skip
        found = ours().sessions
        assert found is not None
        ruined = found.ways()["ruined"]
        for count, sessions in (
            (ruined, SESSIONS),
            (by_numpy(), NUMPY_SESSIONS),
            (in_python(), PYTHON_SESSIONS),
        ):
            assert abs(count / sessions - exact) < 5 * (exact * (1 - exact) / sessions) ** 0.5
        times = dict(in_turns(ways, turns=5 if quick else 15))
        for name, sessions in (("NumPy", NUMPY_SESSIONS), ("plain Python", PYTHON_SESSIONS)):
            times[name] = [seconds * (SESSIONS / sessions) for seconds in times[name]]
        bench = Bench("Martingale sessions, two cores", times)
        yield bench.line("plain Python / ours", of="plain Python", over="ours", target=Target(40))
        yield bench.line("NumPy / ours", of="NumPy", over="ours", target=Target(5))
        yield growth(bench.name, ours, (10_000, 100_000, 1_000_000), turns=5, at_most=1.1)


def in_python() -> int:
    """How many are ruined, one session after the other."""
    draw, ruined = random.Random(SEED).random, 0
    for _ in range(PYTHON_SESSIONS):
        money, stake = BANKROLL, STAKE
        for _ in range(ROUNDS):
            if stake > money:
                stake = money // STAKE * STAKE
            if draw() < WON:
                money += stake
                stake = STAKE
                if money >= TARGET:
                    break
            else:
                money -= stake
                stake = min(2 * stake, MAXIMUM)
                if money < STAKE:
                    ruined += 1
                    break
    return ruined


def by_numpy() -> int:
    """How many are ruined, a round of every session at a time; those that have ended are left out."""
    draw = np.random.Generator(np.random.SFC64(SEED))
    money = np.full(NUMPY_SESSIONS, BANKROLL)
    wanted = np.full(NUMPY_SESSIONS, STAKE)
    ruined = 0
    for _ in range(ROUNDS):
        stake = np.minimum(wanted, money // STAKE * STAKE)
        won = draw.random(money.size) < WON
        money = np.where(won, money + stake, money - stake)
        wanted = np.where(won, STAKE, np.minimum(2 * wanted, MAXIMUM))
        live = (money >= STAKE) & (money < TARGET)
        ruined += int((money < STAKE).sum())
        money, wanted = money[live], wanted[live]
        if not money.size:
            break
    return ruined

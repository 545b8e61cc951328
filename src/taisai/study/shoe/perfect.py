"""Perfect play: the gain of a player who knows all cards dealt, by enumerating all compositions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from math import comb, prod
from typing import Final

from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import DICE
from taisai.study import needed
from taisai.study.shoe.composition import chance_left
from taisai.study.shoe.odds import (
    EXACT_DOUBLE,
    Reals,
    WeighingPlan,
    gains_by_numpy,
    most_cards,
    plan,
    threads,
)

with needed("NumPy", "study"):
    import numpy as np

    from taisai.bulk.kernels import loads_numba

MOST_COMPOSITIONS: Final = 20_000_000_000
"""Six decks have 13.8 × 10^9 compositions, which take about a minute on two cores."""
MOST_BY_NUMPY: Final = 100_000_000
"""Without numba; two decks have 24 million compositions, which take a minute."""
Progress = Callable[[int, int], None]  # called with the tasks done and the tasks in total


@dataclass(frozen=True, slots=True)
class RoundGain:
    """One round of the shoe with perfect play."""

    round: int
    """1 for the first after the shuffle."""
    bets: tuple[float, ...]
    """[area] the probability that it is the best bet and has a positive expected value."""
    gains: tuple[float, ...]
    """[area] the expected net of those bets per round, rounds without a bet included."""

    @property
    def bet(self) -> float:
        """The probability of a bet with a positive expected value."""
        return sum(self.bets)

    @property
    def gain(self) -> float:
        """The expected net of this round, in units."""
        return sum(self.gains)


@dataclass(frozen=True, slots=True)
class PerfectPlay:
    """Perfect play of a whole shoe, round by round to the last three cards."""

    matrix: Matrix
    left: tuple[int, ...]
    """Cards of each face at the start."""
    rounds: tuple[RoundGain, ...]
    compositions: int
    error: float
    """The relative error bound of every figure. The decision whether to bet is exact."""

    def deviation(self, rounds: int) -> float | None:
        """The standard deviation of the net of a round, over these rounds; None if an area has two odds."""
        square = mean = 0.0
        for played in self.rounds[:rounds]:
            mean += played.gain
            for wins, bet, gain in zip(self.matrix.wins, played.bets, played.gains, strict=True):
                if len({win.net for win in wins}) != 1:
                    return None
                odds = wins[0].net / self.matrix.denominator
                square += bet + (odds * odds - 1) * (bet + gain) / (1 + odds)
        return float((square / rounds - (mean / rounds) ** 2) ** 0.5)


def perfect_play(
    matrix: Matrix,
    left: Sequence[int],
    *,
    compiled: bool | None = None,
    progress: Progress | None = None,
) -> PerfectPlay:
    """Enumerates every composition that may be left before each round, with its exact odds and probability.

    Before each round the player bets one unit on the area with the least house edge, if that is negative.

    >>> from taisai.rules import rulebook
    >>> tiny = perfect_play(rulebook("mbs-3-card-sic-bo").matrix(), (1, 1, 1, 1, 1, 1), compiled=False)
    >>> [(play.round, round(play.bet, 12), round(play.gain, 12)) for play in tiny.rounds]
    [(1, 1.0, 0.2), (2, 1.0, 8.5)]
    """
    left = tuple(left)
    chance_left(left)  # raises an error for an invalid shoe
    steps = plan(matrix)
    cards = sum(left)
    if cards > (most := most_cards(steps, EXACT_DOUBLE)):
        raise RulesError(f"expected at most {most} cards, so that every figure is exact, got {cards}")
    by_numba = loads_numba() if compiled is None else compiled
    compositions = prod(count + 1 for count in left)
    most = MOST_COMPOSITIONS if by_numba else MOST_BY_NUMPY
    if compositions > most:
        without = "" if by_numba else " without numba (run pip install 'taisai[study]')"
        raise RulesError(f"expected a shoe of at most {most} compositions{without}, got {compositions}")
    rounds = cards // DICE
    units = np.array([float(comb(cards - DICE * k, DICE) * steps.denominator) for k in range(rounds)])
    halved = steps.mirror is not None and left == left[::-1]
    firsts = reversed(range(left[0] + 1))
    tasks = [(first, last) for first in firsts for last in range((first if halved else left[5]) + 1)]
    bets, gained = np.zeros((rounds, steps.areas)), np.zeros((rounds, steps.areas))
    results = _run_tasks(steps, left, units, tasks, by_numba=by_numba)
    for done, ((first, last), (some_bets, some_gained)) in enumerate(results, 1):
        times = 2.0 if halved and last < first else 1.0  # a composition and its mirror have the same gain
        bets += times * some_bets
        gained += times * some_gained
        if progress:
            progress(done, len(tasks))
    if halved and steps.mirror:
        mirror = list(steps.mirror)
        bets, gained = (bets + bets[:, mirror]) / 2, (gained + gained[:, mirror]) / 2
    deals = [comb(cards, DICE * k) for k in range(rounds)]
    terms = prod(count + 1 for count in left[1:5]) + len(tasks)
    played = []
    for k, ways in enumerate(map(float, deals)):
        bet, gain = bets[k] / ways, gained[k] / (ways * units[k])
        played.append(RoundGain(k + 1, tuple(bet.tolist()), tuple(gain.tolist())))
    return PerfectPlay(matrix, left, tuple(played), compositions, error=(terms + 20) * 2.0**-53)


def _run_tasks(
    plan: WeighingPlan, left: tuple[int, ...], units: Reals, tasks: list[tuple[int, int]], *, by_numba: bool
) -> Iterator[tuple[tuple[int, int], tuple[Reals, Reals]]]:
    held = np.array(left, dtype=np.int64)
    ways = np.zeros((len(left), max(left) + 1))
    for face, count in enumerate(left):
        ways[face, : count + 1] = [float(comb(count, n)) for n in range(count + 1)]
    single = comb(sum(left), DICE) <= 2**24

    def work(task: tuple[int, int]) -> tuple[Reals, Reals]:
        bets, gained = np.zeros((units.size, plan.areas)), np.zeros((units.size, plan.areas))
        if by_numba:
            from taisai.study.shoe import compiled

            store = compiled.store(plan.classes, single=single)
            compiled.gains(task, (held, ways, units), plan.steps, store, (bets, gained))
        else:
            gains_by_numpy(task, (held, ways, units), plan, (bets, gained))
        return bets, gained

    if not by_numba:
        yield from ((task, work(task)) for task in tasks)
        return
    waiting: deque[tuple[tuple[int, int], Future[tuple[Reals, Reals]]]] = deque()
    try:
        for task in tasks:
            waiting.append((task, threads().submit(work, task)))
            if len(waiting) > 4:
                first, future = waiting.popleft()
                yield first, future.result()
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result()
    finally:  # after Ctrl-C, start no further task
        for _, future in waiting:
            future.cancel()

"""Perfect play: what a player would earn who knows every card that is gone, by enumerating compositions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from math import comb, prod
from typing import TYPE_CHECKING, Any, Final

from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import DICE
from taisai.study.shoe.odds import chance_left, has_numba, threads

if TYPE_CHECKING:  # the numbers are only needed where something is reckoned
    import numpy.typing as npt

    from taisai.study.shoe.plan import WeighingPlan

    Reals = npt.NDArray[Any]

MOST_COMPOSITIONS: Final = 20_000_000_000
"""Six decks have 13.8 thousand million compositions: about a minute on two cores."""
MOST_BY_NUMPY: Final = 100_000_000
"""The same without numba: two decks have 24 million, a minute."""
Progress = Callable[[int, int], None]
"""Told how much is done, out of how much."""


@dataclass(frozen=True, slots=True)
class RoundGain:
    """One round of the shoe, played perfectly: how often there is a bet worth making, and what it brings."""

    round: int
    """1 for the first after the shuffle."""
    bets: tuple[float, ...]
    """[area] the probability that it is the best bet, and better than none."""
    gains: tuple[float, ...]
    """[area] what a unit on it then brings in the mean, over all rounds, not only those with a bet."""

    @property
    def bet(self) -> float:
        """The probability that some bet is worth making."""
        return sum(self.bets)

    @property
    def gain(self) -> float:
        """What perfect play brings in this round, in units, in the mean."""
        return sum(self.gains)


@dataclass(frozen=True, slots=True)
class PerfectPlay:
    """Perfect play of a whole shoe, round by round, down to its last three cards."""

    matrix: Matrix
    left: tuple[int, ...]
    """Cards of each face at the start."""
    rounds: tuple[RoundGain, ...]
    compositions: int
    error: float
    """No figure is off by more than this share of itself: each is a sum of floats, all positive, of weights
    rounded a few times; whether a bet is worth making is decided in whole numbers."""

    def deviation(self, rounds: int) -> float | None:
        """The standard deviation of one round's net, over so many rounds; none where an area has two odds."""
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
    """Enumerates every composition that may be left before each round, with its exact odds and its chance.

    Before each round the player bets one unit on the area with the least house edge, where that is below
    0, else nothing.

    >>> from taisai.rules import rulebook
    >>> tiny = perfect_play(rulebook("mbs-3-card-sic-bo").matrix(), (1, 1, 1, 1, 1, 1), compiled=False)
    >>> [(play.round, round(play.bet, 12), round(play.gain, 12)) for play in tiny.rounds]
    [(1, 1.0, 0.2), (2, 1.0, 8.5)]
    """
    import numpy as np

    from taisai.study.shoe.plan import EXACT_DOUBLE, most_cards, plan

    left = tuple(left)
    chance_left(left)  # refuses what is no shoe
    made = plan(matrix)
    cards = sum(left)
    if cards > (most := most_cards(made, EXACT_DOUBLE)):
        raise RulesError(f"expected at most {most} cards, so that every figure is exact, got {cards}")
    by_numba = has_numba() if compiled is None else compiled
    compositions = prod(count + 1 for count in left)
    most = MOST_COMPOSITIONS if by_numba else MOST_BY_NUMPY
    if compositions > most:
        without = "" if by_numba else " without numba (pip install 'taisai[study]')"
        raise RulesError(f"expected a shoe of at most {most} compositions{without}, got {compositions}")
    rounds = cards // DICE
    units = np.array([float(comb(cards - DICE * k, DICE) * made.denominator) for k in range(rounds)])
    halved = made.mirror is not None and left == left[::-1]
    tasks = [
        (first, last)
        for first in reversed(range(left[0] + 1))
        for last in range((first if halved else left[5]) + 1)
    ]
    bets, gained = np.zeros((rounds, made.areas)), np.zeros((rounds, made.areas))
    worked = _worked(made, left, units, tasks, by_numba=by_numba)
    for done, ((first, last), (some_bets, some_gained)) in enumerate(worked, 1):
        times = 2.0 if halved and last < first else 1.0  # a composition and its mirror earn the same
        bets += times * some_bets
        gained += times * some_gained
        if progress:
            progress(done, len(tasks))
    if halved and made.mirror:
        mirror = list(made.mirror)
        bets, gained = (bets + bets[:, mirror]) / 2, (gained + gained[:, mirror]) / 2
    deals = [comb(cards, DICE * k) for k in range(rounds)]
    terms = prod(count + 1 for count in left[1:5]) + len(tasks)
    return PerfectPlay(
        matrix,
        left,
        tuple(
            RoundGain(
                k + 1,
                tuple((bets[k] / float(deals[k])).tolist()),
                tuple((gained[k] / (float(deals[k]) * units[k])).tolist()),
            )
            for k in range(rounds)
        ),
        compositions,
        error=(terms + 20) * 2.0**-53,
    )


def _worked(
    plan: WeighingPlan, left: tuple[int, ...], units: Reals, tasks: list[tuple[int, int]], *, by_numba: bool
) -> Iterator[tuple[tuple[int, int], tuple[Reals, Reals]]]:
    """Every task with its sums, in the order of the tasks whatever thread was quicker."""
    import numpy as np

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
            from taisai.study.shoe import plan as plans

            plans.gains(task, (held, ways, units), plan, (bets, gained))
        return bets, gained

    if not by_numba:
        yield from ((task, work(task)) for task in tasks)
        return
    waiting: deque[tuple[tuple[int, int], Future[tuple[Reals, Reals]]]] = deque()
    queue = iter(tasks)
    try:
        for task in queue:
            waiting.append((task, threads().submit(work, task)))
            if len(waiting) > 4:
                first, future = waiting.popleft()
                yield first, future.result()
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result()
    finally:  # Ctrl-C: what has not begun shall not begin
        for _, future in waiting:
            future.cancel()

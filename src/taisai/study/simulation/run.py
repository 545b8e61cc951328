"""Runs a simulation: cuts it into tasks for the workers and joins their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from math import sqrt
from time import perf_counter
from typing import Any, Final, NamedTuple

from taisai.rules.chance import Chance
from taisai.rules.errors import RulesError
from taisai.study import needed
from taisai.study.odds import Mix
from taisai.study.report import counted
from taisai.study.simulation.plans import (
    CHUNK,
    ENDLESS,
    MOST_SESSIONS,
    Betting,
    Classes,
    Dealt,
    Figures,
    SessionPlan,
    SimulatedShoe,
    Walk,
    drawn_counts,
    key,
    most_shoes,
)
from taisai.study.simulation.result import Sessions, Simulated, exact_sum
from taisai.study.simulation.workers import T, Task, TaskResult, Workers, local_workers, run_in_order
from taisai.study.staking import FLAT, Counting, SessionTerms, Staking, System, system_of

SLICE: Final = 2**24  # rounds of a session that a task plays at most; another task continues it
StreamKey = tuple[int, int, int, int]


def _kernel(name: str, compiled_module: str) -> Callable[..., Any]:
    """The loop with this name: compiled if numba is installed, else by NumPy, with the same digits."""
    from taisai.bulk.kernels import loads_numba

    module = import_module(f"taisai.study.simulation.{compiled_module if loads_numba() else 'numpy_kernels'}")
    loop: Callable[..., Any] = getattr(module, name)
    return loop


class WalkTask(NamedTuple):
    """Whole chunks of rounds from the first on, then the rest of a chunk."""

    key: StreamKey
    classes: Classes
    first: int
    chunks: int
    rest: int

    def run(self) -> TaskResult[Walk]:
        """The walk, in units."""
        return TaskResult(self.chunks * CHUNK + self.rest, _kernel("walk_rounds", "compiled_rounds")(*self))


class SessionsTask(NamedTuple):
    """Sessions from the first on, at the start or continued."""

    key: StreamKey
    plan: SessionPlan
    first: int
    many: int
    figures: Figures | None = None

    def run(self) -> TaskResult[Figures]:
        """Plays at most SLICE rounds of each session; another task continues those that have not ended."""
        figures = self.figures.copied() if self.figures else Figures.begun(self.plan, self.first, self.many)
        _kernel("play_sessions", "compiled_sessions")(self.key, self.plan, figures, SLICE)
        return TaskResult(
            figures.rounds, figures, self._replace(figures=figures) if figures.playing else None
        )


class ShoesTask(NamedTuple):
    """Shoes from the first on, and the rounds dealt from each."""

    key: StreamKey
    shoe: SimulatedShoe
    betting: Betting
    first: int
    shoes: int
    rounds: int

    def run(self) -> TaskResult[Dealt]:
        dealt = _kernel("deal_shoes", "compiled_rounds")(
            self.key, self.shoe, self.betting, first=self.first, shoes=self.shoes, rounds=self.rounds
        )
        return TaskResult(dealt.rounds, dealt)


_FEW_CHUNKS: Final = 64  # the least number of tasks of a long walk, and of points of its trail
_MOST_CHUNKS: Final = 256
_TASK_ROUNDS: Final = 2**22  # the most rounds of one task, over all its sessions or shoes
_LEAST_ROUNDS: Final = 2**18  # with fewer rounds, the overhead of a task would dominate
_MOST_SIDE_BY_SIDE: Final = 2**14  # the most sessions of one task

Tick = Callable[[int], None]
Stopwatch = Callable[[], float]


class SimulationRun(NamedTuple):
    """The arguments of a simulation."""

    mix: Mix
    chance: Chance
    rounds: int
    seed: int
    workers: Workers
    tick: Tick
    clock: Stopwatch
    marks: int = 0  # the least number of points of the trail, if there are as many rounds or shoes

    def timed(self, first: Task[T], tasks: Iterator[Task[T]]) -> tuple[list[TaskResult[T]], float, bool]:
        """Runs all tasks: their parts, the seconds without compilation, and whether all were completed."""
        if self.workers.is_local:
            try:
                first.run()
            except KeyboardInterrupt:
                return [], 0.0, False
        begun = self.clock()
        executor, side_by_side, _ = self.workers
        parts, is_whole = run_in_order(tasks, executor, side_by_side=side_by_side, tick=self.tick)
        return parts, self.clock() - begun, is_whole


def walked(run: SimulationRun, multiple: int) -> Simulated:
    """Fixed bets, round by round."""
    distribution = run.mix.distribution(run.chance)
    classes = Classes.of(distribution)
    keyed = key(run.seed, "rounds")
    unit = classes.unit * multiple
    chunks, rest = divmod(run.rounds, CHUNK)
    span = max(1, min(_MOST_CHUNKS, chunks // _FEW_CHUNKS))

    def tasks() -> Iterator[WalkTask]:
        for first in range(0, chunks, span):
            yield WalkTask(keyed, classes, first, min(span, chunks - first), 0)
        if rest:
            yield WalkTask(keyed, classes, chunks, 0, rest)

    parts, seconds, is_whole = run.timed(WalkTask(keyed, classes, 0, 0, 1), tasks())
    walk, played, trail = Walk(), 0, [(0, 0)]
    for part in parts:
        walk = walk.then(part.result)
        played += part.rounds
        trail.append((played, walk.net * unit))
    if is_whole and len(trail) <= min(run.marks, _FEW_CHUNKS):  # one task per chunk
        _add_marks(run, WalkTask(keyed, classes, 0, 0, 0), unit, trail)
    walk = walk.times(unit)
    staked = played * run.mix.staked * multiple
    error = sqrt(distribution.variance / played) / run.mix.staked if played else None
    return Simulated(
        titled(run.mix, "flat"), run.seed, run.rounds, played, staked, staked + walk.net, error,
        walk.drawdown, seconds, run.mix.edge(run.chance), is_whole, None, tuple(trail),
    )  # fmt: skip


def _add_marks(run: SimulationRun, task: WalkTask, unit: int, trail: list[tuple[int, int]]) -> None:
    """Adds points within chunks to a trail, by playing the start of the chunk again."""
    known = dict(trail)
    wanted = sorted({run.rounds * mark // run.marks for mark in range(1, run.marks)} - known.keys())
    begun = [task._replace(first=at // CHUNK, rest=at % CHUNK) for at in wanted]
    try:
        for at, part in zip(wanted, run.workers.executor.map(WalkTask.run, begun), strict=True):
            known[at] = known[at - part.rounds] + part.result.net * unit
    except KeyboardInterrupt:
        return  # all rounds are played; the picture has fewer points
    trail[:] = sorted(known.items())


def sat(run: SimulationRun, terms: SessionTerms, system: System, count: int) -> Simulated:
    """Sessions under a staking system."""
    import numpy as np

    distribution = run.mix.distribution(run.chance)
    bankroll = ENDLESS if terms.bankroll is None else terms.bankroll
    target = 2 * ENDLESS if terms.target is None else terms.target
    if terms.bankroll is None and terms.target is not None:
        target += ENDLESS  # relative to the notional bankroll
    least = terms.multiples(run.mix).least
    classes = Classes.of(distribution)
    plan = SessionPlan(classes, system, run.mix.staked, least, bankroll, target, run.rounds).checked()
    keyed = key(run.seed, "sessions")
    span = max(1, min(_MOST_SIDE_BY_SIDE, _TASK_ROUNDS // run.rounds))

    def tasks() -> Iterator[SessionsTask]:
        for first in range(0, count, span):
            yield SessionsTask(keyed, plan, first, min(span, count - first))

    parts, seconds, is_whole = run.timed(SessionsTask(keyed, plan._replace(rounds=1), 0, 1), tasks())
    whole = np.concatenate([np.empty((7, 0), dtype=np.int64), *(part.result.whole for part in parts)], axis=1)
    squares = np.concatenate([np.empty(0), *(part.result.squares for part in parts)])
    money, _, rounds, units, _, fall, ended = whole
    sessions = Sessions(rounds, units * run.mix.staked, money - plan.bankroll, fall, ended, squares)
    staked = exact_sum(units) * run.mix.staked
    net = exact_sum(sessions.net)
    # Net minus expected value is a martingale difference, whatever determined the stake.
    error = sqrt(distribution.variance) * sqrt(sessions.squared()) / staked if staked else None
    return Simulated(
        titled(run.mix, system.name), run.seed, count * run.rounds, int(rounds.sum()), staked, staked + net,
        error, int(fall.max(initial=0)), seconds, run.mix.edge(run.chance), is_whole, sessions,
    )  # fmt: skip


def dealt_from(run: SimulationRun, terms: SessionTerms, shoe: SimulatedShoe) -> Simulated:
    """Shoes dealt to their penetration, with fixed bets or a count."""
    least, most = terms.multiples(run.mix)
    strategy = terms.strategy if isinstance(terms.strategy, Counting) else Counting(1, 1)
    waiting, favoured = (n and min(max(n, least), most) for n in strategy)
    betting = Betting.of(run.mix, waiting=waiting, favoured=favoured)
    keyed = key(run.seed, "shoes")
    shoes, rest = divmod(run.rounds, shoe.rounds)
    span = max(-(-shoes // _FEW_CHUNKS), _LEAST_ROUNDS // shoe.rounds)
    span = max(1, min(most_shoes(shoe, betting), _TASK_ROUNDS // shoe.rounds, span))
    if run.marks:
        span = max(1, min(span, shoes // run.marks))

    def tasks() -> Iterator[ShoesTask]:
        for first in range(0, shoes, span):
            yield ShoesTask(keyed, shoe, betting, first, min(span, shoes - first), shoe.rounds)
        if rest:
            yield ShoesTask(keyed, shoe, betting, shoes, 1, rest)

    parts, seconds, is_whole = run.timed(ShoesTask(keyed, shoe, betting, 0, 1, 1), tasks())
    dealt, trail = Dealt(), [(0, 0)]
    for part in parts:
        dealt = dealt.then(part.result)
        trail.append((dealt.rounds, dealt.walk.net * betting.unit))
    walk, staked = dealt.walk.times(betting.unit), dealt.staked * betting.unit
    distribution = run.mix.distribution(run.chance)
    flat = waiting == favoured
    error = dealt.standard_error()
    if error is None and flat and dealt.rounds:  # one shoe has no variance between shoes
        error = sqrt(distribution.variance / dealt.rounds) / run.mix.staked
    name = f"{'flat' if terms.strategy == 'flat' else strategy.name}, {counted(shoe.rounds, 'round')} a shoe"
    return Simulated(
        titled(run.mix, name), run.seed, run.rounds, dealt.rounds, staked, staked + walk.net, error,
        walk.drawdown, seconds, run.mix.edge(run.chance) if flat else None, is_whole, None, tuple(trail),
    )  # fmt: skip


def titled(mix: Mix, strategy: str) -> str:
    bets = ", ".join(f"{area}={stake}" for area, stake in mix.stakes.items())
    if len(bets) > 60:
        bets = f"{len(mix.stakes)} bets of {mix.staked:,}"
    return f"{mix.matrix.rulebook}, layout {mix.matrix.layout}: {bets}, {strategy}"


MOST_ROUNDS: Final = 10**15  # the most rounds of a simulation: eleven days at a billion a second


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
    clock: Stopwatch = perf_counter,
    marks: int = 0,
) -> Simulated:
    """Plays rounds of a mix of bets, in one or more sessions.

    `chance` is the distribution of outcomes in every round; with a `shoe`, cards are dealt from it instead.
    The trail has at least `marks` points, if there are as many rounds or shoes.

    >>> from taisai.rules import rulebook
    >>> book = rulebook("rws-sic-bo-etg-v8")
    >>> mix = Mix.of(book.matrix("A"), {"small": 100})
    >>> found = simulate(mix, book.chance(), rounds=10**6, seed=7)
    >>> found.rounds, found.staked, found.max_drawdown >= -found.net
    (1000000, 100000000, True)
    """
    _checked(rounds, sessions)
    terms = terms.checked()
    key(seed, "")  # raises an error for an invalid seed
    with needed("numpy", "study"):
        import numpy  # noqa: F401 - an error here is clearer than in a worker
    if workers is None:
        with local_workers() as threads:
            return simulate(
                mix, chance, rounds=rounds, seed=seed, terms=terms, sessions=sessions, shoe=shoe,
                workers=threads, tick=tick, clock=clock, marks=marks,
            )  # fmt: skip
    run = SimulationRun(mix, chance, rounds, seed, workers, tick, clock, marks)
    strategy = terms.strategy
    if shoe is not None or isinstance(strategy, Counting):
        if shoe is None or not (strategy == "flat" or isinstance(strategy, Counting)):
            raise RulesError(
                "the strategy count needs a shoe with a penetration"
                if shoe is None
                else f"a shoe with a penetration needs the strategy flat or count, got {_name(strategy)}"
            )
        if sessions > 1 or not terms.is_endless:
            raise RulesError("a shoe with a penetration needs one player without bankroll and target")
        return dealt_from(run, terms, shoe)
    system = system_of(strategy, terms.multiples(mix))
    if sessions == 1 and terms.is_endless and len(system.multiples) == 1:
        return walked(run, system.multiples[0])
    return sat(run, terms, system, sessions)


def simulate_totals(
    mix: Mix, chance: Chance, *, rounds: int, seed: int, terms: SessionTerms = FLAT, sessions: int = 1
) -> Simulated:
    """The total of these rounds, drawn at once without playing each round.

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
        raise RulesError("totals need fixed bets: expected the strategy flat, no bankroll and no target")
    multiple = terms.multiples(mix).least
    distribution = mix.distribution(chance)
    counts = drawn_counts(distribution, rounds * sessions, key(seed, "totals"))
    net = multiple * sum(count * value for count, value in zip(counts, distribution.values, strict=True))
    played = rounds * sessions
    staked = multiple * mix.staked * played
    error = sqrt(distribution.variance / played) / mix.staked
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

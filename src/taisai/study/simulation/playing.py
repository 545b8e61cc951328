"""Tasks: stretches of rounds, of sessions or of shoes that run anywhere and bring the same digits.

Playing: the three ways a simulation is cut into tasks, and what is made of their parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt
from typing import Final, NamedTuple

from taisai.rules.chance import Chance
from taisai.study.odds import Mix
from taisai.study.report import counted
from taisai.study.simulation.draws import CHUNK, Classes, Walk, key
from taisai.study.simulation.result import Sessions, Simulated, exact_sum
from taisai.study.simulation.sessions import ENDLESS, Figures, SessionPlan
from taisai.study.simulation.shoes import Betting, Dealt, SimulatedShoe, most_shoes
from taisai.study.simulation.strategies import Counting, SessionTerms
from taisai.study.simulation.workers import P, Task, Workers, run_in_order
from taisai.study.staking import System

SLICE: Final = 2**24
"""Rounds of one session that are played before anybody else is heard."""
Key = tuple[int, int, int, int]


def _has_numba() -> bool:
    from taisai.bulk.kernels import loads_numba

    return loads_numba()


class Walked(NamedTuple):
    """A stretch of rounds, walked; in units."""

    rounds: int
    walk: Walk
    further: None = None


class WalkTask(NamedTuple):
    """So many whole chunks of rounds from the first on, then the rest of a chunk."""

    key: Key
    classes: Classes
    first: int
    chunks: int
    rest: int

    def run(self) -> Walked:
        """Walks them."""
        if _has_numba():
            from taisai.study.simulation.compiled_rounds import walk_rounds
        else:
            from taisai.study.simulation.numpy_kernels import walk_rounds
        walk = walk_rounds(self.key, self.classes, self.first, self.chunks, self.rest)
        return Walked(self.chunks * CHUNK + self.rest, walk)


class Sat(NamedTuple):
    """Some sessions, as far as they have come."""

    rounds: int
    figures: Figures
    further: SessionsTask | None


class SessionsTask(NamedTuple):
    """Sessions from the first on, or where they were left."""

    key: Key
    plan: SessionPlan
    first: int
    many: int
    figures: Figures | None = None

    def run(self) -> Sat:
        """Plays at most a slice of each."""
        if _has_numba():
            from taisai.study.simulation.compiled_sessions import play_sessions
        else:
            from taisai.study.simulation.numpy_kernels import play_sessions
        figures = self.figures.copied() if self.figures else Figures.begun(self.plan, self.first, self.many)
        play_sessions(self.key, self.plan, figures, SLICE)
        further = self._replace(figures=figures) if figures.playing else None
        return Sat(figures.rounds, figures, further)


class ShoesDealt(NamedTuple):
    """Some shoes, dealt."""

    rounds: int
    dealt: Dealt
    further: None = None


class ShoesTask(NamedTuple):
    """So many shoes from the first on, so many rounds from each."""

    key: Key
    shoe: SimulatedShoe
    betting: Betting
    first: int
    shoes: int
    rounds: int

    def run(self) -> ShoesDealt:
        """Deals them."""
        if _has_numba():
            from taisai.study.simulation.compiled_shoes import deal_shoes
        else:
            from taisai.study.simulation.numpy_kernels import deal_shoes
        dealt = deal_shoes(
            self.key, self.shoe, self.betting, first=self.first, shoes=self.shoes, rounds=self.rounds
        )
        return ShoesDealt(dealt.rounds, dealt)


_FEW_CHUNKS: Final = 64
"""Tasks that a long walk is cut into at least, and way marks of its trail."""
_MOST_CHUNKS: Final = 256
_TASK_ROUNDS: Final = 2**22
"""Rounds that the sessions or the shoes of one task may come to."""
_LEAST_ROUNDS: Final = 2**18
"""Worth the trouble of a task."""
_MOST_SIDE_BY_SIDE: Final = 2**14
"""Sessions of one task."""

Tick = Callable[[int], None]
Clock = Callable[[], float]


class SimulationRun(NamedTuple):
    """Everything that one simulation needs to know."""

    mix: Mix
    chance: Chance
    rounds: int
    seed: int
    workers: Workers
    tick: Tick
    clock: Clock
    marks: int = 0
    """Way marks that the trail shall have at least, where there are as many rounds or shoes."""

    def timed(self, first: Task[P], tasks: Iterator[Task[P]]) -> tuple[list[P], float, bool]:
        """All tasks run: their parts, the seconds without compiling, and whether all came to an end."""
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
    """A fixed mix, round by round."""
    law = run.mix.law(run.chance)
    classes = Classes.of(law)
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
        walk = walk.then(part.walk)
        played += part.rounds
        trail.append((played, walk.net * unit))
    if is_whole and len(trail) <= min(run.marks, _FEW_CHUNKS):  # so few that there is one a chunk
        _add_marks(run, WalkTask(keyed, classes, 0, 0, 0), unit, trail)
    walk = walk.times(unit)
    staked = played * run.mix.staked * multiple
    error = sqrt(law.variance / played) / run.mix.staked if played else None
    return Simulated(
        titled(run.mix, "flat"), run.seed, run.rounds, played, staked, staked + walk.net, error,
        walk.drawdown, seconds, run.mix.edge(run.chance), is_whole, None, tuple(trail),
    )  # fmt: skip


def _add_marks(run: SimulationRun, task: WalkTask, unit: int, trail: list[tuple[int, int]]) -> None:
    """Puts marks within chunks into a trail: a chunk's beginning is walked again as far as each."""
    known = dict(trail)
    wanted = sorted({run.rounds * mark // run.marks for mark in range(1, run.marks)} - known.keys())
    begun = [task._replace(first=at // CHUNK, rest=at % CHUNK) for at in wanted]
    try:
        for at, part in zip(wanted, run.workers.executor.map(WalkTask.run, begun), strict=True):
            known[at] = known[at - part.rounds] + part.walk.net * unit
    except KeyboardInterrupt:
        return  # all rounds are played; the picture is a plainer one
    trail[:] = sorted(known.items())


def sat(run: SimulationRun, terms: SessionTerms, system: System, count: int) -> Simulated:
    """Sessions of a staking system."""
    import numpy as np

    law = run.mix.law(run.chance)
    bankroll = ENDLESS if terms.bankroll is None else terms.bankroll
    target = 2 * ENDLESS if terms.target is None else terms.target
    if terms.bankroll is None and terms.target is not None:
        target += ENDLESS  # above a start that nobody counts
    least = terms.multiples(run.mix).least
    plan = SessionPlan(Classes.of(law), system, run.mix.staked, least, bankroll, target, run.rounds).checked()
    keyed = key(run.seed, "sessions")
    span = max(1, min(_MOST_SIDE_BY_SIDE, _TASK_ROUNDS // run.rounds))

    def tasks() -> Iterator[SessionsTask]:
        for first in range(0, count, span):
            yield SessionsTask(keyed, plan, first, min(span, count - first))

    parts, seconds, is_whole = run.timed(SessionsTask(keyed, plan._replace(rounds=1), 0, 1), tasks())
    found = [part.figures for part in parts]
    whole = np.concatenate([np.empty((7, 0), dtype=np.int64), *(figures.whole for figures in found)], axis=1)
    squares = np.concatenate([np.empty(0), *(figures.squares for figures in found)])
    money, _, rounds, units, _, fall, ended = whole
    sessions = Sessions(rounds, units * run.mix.staked, money - plan.bankroll, fall, ended, squares)
    staked = exact_sum(units) * run.mix.staked
    net = exact_sum(sessions.net)
    # Each round's net less its expectation is a martingale difference, whatever decided the stake.
    error = sqrt(law.variance) * sqrt(sessions.squared()) / staked if staked else None
    return Simulated(
        titled(run.mix, system.name), run.seed, count * run.rounds, int(rounds.sum()), staked, staked + net,
        error, int(fall.max(initial=0)), seconds, run.mix.edge(run.chance), is_whole, sessions,
    )  # fmt: skip


def dealt_from(run: SimulationRun, terms: SessionTerms, shoe: SimulatedShoe) -> Simulated:
    """Shoes dealt to their penetration, flat or counting."""
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
        dealt = dealt.then(part.dealt)
        trail.append((dealt.rounds, dealt.walk.net * betting.unit))
    walk, staked = dealt.walk.times(betting.unit), dealt.staked * betting.unit
    law = run.mix.law(run.chance)
    flat = waiting == favoured
    error = dealt.standard_error()
    if error is None and flat and dealt.rounds:  # one shoe says nothing of its spread
        error = sqrt(law.variance / dealt.rounds) / run.mix.staked
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

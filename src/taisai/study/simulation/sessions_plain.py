"""The same sessions by NumPy alone, where numba is not installed: slower, and equal to the last digit."""

from __future__ import annotations

import numpy as np

from taisai.study.simulation.sessions import PLAYED_OUT, PLAYING, REACHED, RUINED, Figures, Plan
from taisai.study.simulation.streams_plain import Streams


def advanced(key: tuple[int, ...], plan: Plan, figures: Figures, rounds: int) -> None:
    """Plays so many more rounds of every session that has not ended."""
    streams = Streams(key, figures.first, figures.count, figures.words if figures.words.size else None)
    limits = np.array(plan.classes.limits, dtype=np.uint32)
    values = np.array(plan.classes.values, dtype=np.int64) * plan.classes.unit
    multiples = np.array(plan.system.multiples, dtype=np.int64)
    jumps = np.array(plan.jumps(), dtype=np.int64).reshape(limits.size, multiples.size)
    bankroll, state, played, total, high, fall, ended = figures.whole
    live = np.flatnonzero(ended == PLAYING)
    for _ in range(rounds):
        if not live.size:
            break
        kind = np.searchsorted(limits, streams.draw_some(live), side="right")
        while (again := np.flatnonzero(kind == limits.size)).size:
            kind[again] = np.searchsorted(limits, streams.draw_some(live[again]), side="right")
        money = bankroll[live]
        multiple = np.minimum(multiples[state[live]], money // plan.staked)
        money += multiple * values[kind]
        bankroll[live] = money
        state[live] = jumps[kind, state[live]]
        total[live] += multiple
        figures.squares[live] += multiple.astype(np.float64) ** 2
        high[live] = np.maximum(high[live], money)
        fall[live] = np.maximum(fall[live], high[live] - money)
        played[live] += 1
        ended[live] = np.select(
            [money < plan.least * plan.staked, money >= plan.target, played[live] == plan.rounds],
            [RUINED, REACHED, PLAYED_OUT],
            PLAYING,
        )
        live = live[ended[live] == PLAYING]
    figures.words = streams.words()

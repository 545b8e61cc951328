"""Many streams at once, drawn by NumPy.

The same rounds by NumPy alone, where numba is not installed: slower, and equal to the last digit.

The same sessions by NumPy alone, where numba is not installed: slower, and equal to the last digit.

The same shoes by NumPy alone, where numba is not installed: slower, and equal to the last digit.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from taisai.rules.outcomes import DICE, OUTCOMES
from taisai.study.simulation.draws import LANES, STEPS, WARMING, Classes, Walk
from taisai.study.simulation.sessions import PLAYED_OUT, PLAYING, REACHED, RUINED, Figures, SessionPlan
from taisai.study.simulation.shoes import ROLLS, SIX, Betting, Dealt, SimulatedShoe

Words = npt.NDArray[np.uint32]
_Long = npt.NDArray[np.uint64]


class Streams:
    """So many streams from the first on, each drawn as often as the others, or only some of them."""

    def __init__(self, key: tuple[int, ...], first: int, count: int, words: Words | None = None) -> None:
        if words is not None:  # drawn from before
            self._a, self._b, self._c, self._counter = (row.copy() for row in words)
            return
        numbers = np.arange(count, dtype=np.uint64) + np.uint64(first)
        k0, k1, k2, k3 = (np.uint64(word) for word in key)
        one = _scrambled(k0 + _scrambled(numbers ^ k1))
        two = _scrambled(k2 + _scrambled(numbers ^ k3))
        self._a = (one & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        self._b = (one >> np.uint64(32)).astype(np.uint32)
        self._c = (two & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        self._counter = np.ones(count, dtype=np.uint32)
        for _ in range(WARMING):
            self.draw()

    def words(self) -> Words:
        """Where the streams stand, to go on from."""
        return np.stack([self._a, self._b, self._c, self._counter])

    def draw(self) -> Words:
        """The next word of every stream."""
        drawn, self._a, self._b, self._c = _next_draw(self._a, self._b, self._c, self._counter)
        self._counter += np.uint32(1)
        return drawn

    def draw_some(self, places: npt.NDArray[np.intp]) -> Words:
        """The next word of the streams at these places."""
        drawn, self._a[places], self._b[places], self._c[places] = _next_draw(
            self._a[places], self._b[places], self._c[places], self._counter[places]
        )
        self._counter[places] += np.uint32(1)
        return drawn


def _next_draw(a: Words, b: Words, c: Words, counter: Words) -> tuple[Words, Words, Words, Words]:
    """One step of sfc32: the draw, then the three words that follow."""
    drawn = a + b + counter
    return (
        drawn,
        b ^ (b >> np.uint32(9)),
        c + (c << np.uint32(3)),
        ((c << np.uint32(21)) | (c >> np.uint32(11))) + drawn,
    )


def _scrambled(words: _Long) -> _Long:
    """The finaliser of SplitMix64: every bit of a word bears on every other, and no two words become one."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


Whole = npt.NDArray[np.int64]
_AT_ONCE: Final = 64
"""Chunks side by side: NumPy wants long arrays."""


def walk_rounds(key: tuple[int, ...], classes: Classes, first: int, chunks: int, rest: int) -> Walk:
    """The walk of so many whole chunks from the first on, then of the rest of a chunk."""
    walk = Walk()
    for begin in range(first, first + chunks, _AT_ONCE):
        many = min(_AT_ONCE, first + chunks - begin)
        walk = walk.then(_lanes(key, classes, begin, np.full(many * LANES, STEPS)))
    if rest:
        wanted = np.clip(rest - np.arange(LANES) * STEPS, 0, STEPS)
        walk = walk.then(_lanes(key, classes, first + chunks, wanted))
    return walk


def _lanes(key: tuple[int, ...], classes: Classes, chunk: int, wanted: Whole) -> Walk:
    streams = Streams(key, chunk * LANES, wanted.size)
    values = np.array([*classes.values, 0])
    limits = np.array(classes.limits, dtype=np.uint32)
    net, high, low, fall = np.zeros((4, wanted.size), dtype=np.int64)
    left = wanted.astype(np.int64)
    while left.any():
        # A lane that has had its rounds goes on drawing, which nobody sees; a draw thrown away brings 0.
        kind = np.searchsorted(limits, streams.draw(), side="right")
        counts = (left > 0) & (kind < limits.size)
        net += np.where(counts, values[kind], 0)
        left -= counts
        np.maximum(high, net, out=high)
        np.minimum(low, net, out=low)
        np.maximum(fall, high - net, out=fall)
    walk = Walk()
    for lane in zip(net.tolist(), high.tolist(), low.tolist(), fall.tolist(), strict=True):
        walk = walk.then(Walk(*lane))
    return walk


def play_sessions(key: tuple[int, ...], plan: SessionPlan, figures: Figures, rounds: int) -> None:
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


_SHOES_AT_ONCE: Final = 16_384


def deal_shoes(
    key: tuple[int, ...], shoe: SimulatedShoe, betting: Betting, *, first: int, shoes: int, rounds: int
) -> Dealt:
    """Deals so many shoes from the first on, so many rounds from each."""
    found = Dealt()
    for begin in range(first, first + shoes, _SHOES_AT_ONCE):
        many = min(_SHOES_AT_ONCE, first + shoes - begin)
        found = found.then(_group(Streams(key, begin, many), shoe, betting, many, rounds))
    return found


def _group(streams: Streams, shoe: SimulatedShoe, betting: Betting, shoes: int, rounds: int) -> Dealt:
    left = np.full((SIX, shoes), shoe.each, dtype=np.int64)
    nets, stakes = np.array(betting.nets, dtype=np.int64), np.array(betting.stakes, dtype=np.int64)
    outcomes = np.array(ROLLS)
    net, high, low, fall, staked = np.zeros((5, shoes), dtype=np.int64)
    for _ in range(rounds):
        made = _made(left, nets, betting)
        staked += made.T @ stakes
        rolls = np.zeros(shoes, dtype=np.int64)
        for _ in range(DICE):
            rolls = rolls * SIX + _card(streams, left)
        net += (made * nets[:, outcomes[rolls]]).sum(axis=0)
        np.maximum(high, net, out=high)
        np.minimum(low, net, out=low)
        np.maximum(fall, high - net, out=fall)
    walk = Walk()
    for lane in zip(net.tolist(), high.tolist(), low.tolist(), fall.tolist(), strict=True):
        walk = walk.then(Walk(*lane))
    return Dealt(
        shoes,
        shoes * rounds,
        int(staked.sum()),
        walk,
        int(net @ net),
        int(net @ staked),
        int(staked @ staked),
    )


def _card(streams: Streams, left: Whole) -> Whole:
    """One card out of each shoe."""
    total = int(left[:, 0].sum())
    spare = 2**32 % total
    product = streams.draw().astype(np.uint64) * np.uint64(total)
    while (again := np.flatnonzero((product & np.uint64(0xFFFFFFFF)) < spare)).size:
        product[again] = streams.draw_some(again).astype(np.uint64) * np.uint64(total)
    picked = (product >> np.uint64(32)).astype(np.int64)
    faces: Whole = (picked >= np.cumsum(left, axis=0)[:-1]).sum(axis=0)
    left[faces, np.arange(faces.size)] -= 1
    return faces


def _made(left: Whole, nets: Whole, betting: Betting) -> Whole:
    """[bet, shoe] how often each bet is made on the cards left."""
    if betting.waiting == betting.favoured:
        return np.full((len(nets), left.shape[1]), betting.waiting)
    weights = np.empty((len(OUTCOMES), left.shape[1]), dtype=np.int64)
    for outcome in OUTCOMES:
        weight = np.ones(left.shape[1], dtype=np.int64)
        for face in sorted(set(outcome.faces)):
            count, times = left[face - 1], outcome.faces.count(face)
            weight *= (count, count * (count - 1) // 2, count * (count - 1) * (count - 2) // 6)[times - 1]
        weights[outcome.index] = weight
    return np.where(nets @ weights > 0, betting.favoured, betting.waiting)

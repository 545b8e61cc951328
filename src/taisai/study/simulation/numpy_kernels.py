"""The simulation loops with NumPy alone, for use without numba: slower, with the same digits.

The functions of the random generator (sfc32, started by SplitMix64) are also compiled by `compiled_rounds`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from taisai.rules.outcomes import DICE, OUTCOMES
from taisai.study.simulation.plans import (
    LANES,
    PLAYED_OUT,
    PLAYING,
    REACHED,
    ROLLS,
    RUINED,
    SIX,
    STEPS,
    WARMING,
    Betting,
    Classes,
    Dealt,
    Figures,
    SessionPlan,
    SimulatedShoe,
    Walk,
)

Uints = npt.NDArray[np.uint32]
Whole = npt.NDArray[np.int64]
_CHUNKS_AT_ONCE: Final = 64  # NumPy is fast on long arrays
_SHOES_AT_ONCE: Final = 16_384
_W = np.uint32
_L = np.uint64


# ── the random generator ─────────────────────────────────────────────────────────────────────────────
# `compiled_rounds` compiles these two functions. Without the casts numba would compute in 64 bits.


def scrambled(word: Any) -> Any:
    """The finaliser of SplitMix64, a bijection of 64-bit words in which every bit affects every other."""
    word = (word ^ (word >> _L(30))) * _L(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> _L(27))) * _L(0x94D049BB133111EB)
    return word ^ (word >> _L(31))


def next_draw(a: Any, b: Any, c: Any, counter: Any) -> Any:
    """One step of sfc32: the draw, then the next three words. The caller adds 1 to the counter."""
    drawn = _W(_W(a + b) + counter)
    turned = _W(_W(c << _W(21)) | (c >> _W(11)))
    return drawn, _W(b ^ (b >> _W(9))), _W(c + _W(c << _W(3))), _W(turned + drawn)


class Streams:
    """Streams with consecutive numbers. All are drawn from together, or some of them."""

    def __init__(self, key: tuple[int, ...], first: int, count: int, words: Uints | None = None) -> None:
        if words is not None:  # continued
            self._a, self._b, self._c, self._counter = (row.copy() for row in words)
            return
        numbers = np.arange(count, dtype=np.uint64) + _L(first)
        k0, k1, k2, k3 = map(_L, key)
        one = scrambled(k0 + scrambled(numbers ^ k1))
        two = scrambled(k2 + scrambled(numbers ^ k3))
        self._a = (one & _L(0xFFFFFFFF)).astype(np.uint32)
        self._b = (one >> _L(32)).astype(np.uint32)
        self._c = (two & _L(0xFFFFFFFF)).astype(np.uint32)
        self._counter = np.ones(count, dtype=np.uint32)
        for _ in range(WARMING):
            self.draw()

    def words(self) -> Uints:
        """The state of the streams, to continue from."""
        return np.stack([self._a, self._b, self._c, self._counter])

    def draw(self) -> Uints:
        """The next word of every stream."""
        drawn: Uints
        drawn, self._a, self._b, self._c = next_draw(self._a, self._b, self._c, self._counter)
        self._counter += _W(1)
        return drawn

    def draw_some(self, places: npt.NDArray[np.intp]) -> Uints:
        """The next word of the streams at these places."""
        drawn: Uints
        drawn, self._a[places], self._b[places], self._c[places] = next_draw(
            self._a[places], self._b[places], self._c[places], self._counter[places]
        )
        self._counter[places] += _W(1)
        return drawn


class _Walks:
    """The walks of many lanes side by side."""

    def __init__(self, lanes: int) -> None:
        self.net, self._high, self._low, self._fall = np.zeros((4, lanes), dtype=np.int64)

    def add(self, values: Whole) -> None:
        self.net += values
        np.maximum(self._high, self.net, out=self._high)
        np.minimum(self._low, self.net, out=self._low)
        np.maximum(self._fall, self._high - self.net, out=self._fall)

    def joined(self) -> Walk:
        """All lanes, one after the other, as one walk."""
        walk = Walk()
        for lane in np.stack([self.net, self._high, self._low, self._fall], axis=1).tolist():
            walk = walk.then(Walk(*lane))
        return walk


# ── the loops ────────────────────────────────────────────────────────────────────────────────────────


def walk_rounds(key: tuple[int, ...], classes: Classes, first: int, chunks: int, rest: int) -> Walk:
    walk = Walk()
    for begin in range(first, first + chunks, _CHUNKS_AT_ONCE):
        count = min(_CHUNKS_AT_ONCE, first + chunks - begin)
        walk = walk.then(_walk_lanes(key, classes, begin, np.full(count * LANES, STEPS)))
    if rest:
        wanted = np.clip(rest - np.arange(LANES) * STEPS, 0, STEPS)
        walk = walk.then(_walk_lanes(key, classes, first + chunks, wanted))
    return walk


def _walk_lanes(key: tuple[int, ...], classes: Classes, chunk: int, wanted: Whole) -> Walk:
    streams = Streams(key, chunk * LANES, wanted.size)
    values = np.array([*classes.values, 0])
    limits = np.array(classes.limits, dtype=np.uint32)
    walks = _Walks(wanted.size)
    left = wanted.astype(np.int64)
    while left.any():
        # Lanes that have their rounds draw on, without effect; a rejected draw adds 0.
        kind = np.searchsorted(limits, streams.draw(), side="right")
        counts = (left > 0) & (kind < limits.size)
        left -= counts
        walks.add(np.where(counts, values[kind], 0))
    return walks.joined()


def play_sessions(key: tuple[int, ...], plan: SessionPlan, figures: Figures, rounds: int) -> None:
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


def deal_shoes(
    key: tuple[int, ...], shoe: SimulatedShoe, betting: Betting, *, first: int, shoes: int, rounds: int
) -> Dealt:
    dealt = Dealt()
    for begin in range(first, first + shoes, _SHOES_AT_ONCE):
        count = min(_SHOES_AT_ONCE, first + shoes - begin)
        dealt = dealt.then(_deal_group(Streams(key, begin, count), shoe, betting, count, rounds))
    return dealt


def _deal_group(streams: Streams, shoe: SimulatedShoe, betting: Betting, shoes: int, rounds: int) -> Dealt:
    left = np.full((SIX, shoes), shoe.each, dtype=np.int64)
    nets, stakes = np.array(betting.nets, dtype=np.int64), np.array(betting.stakes, dtype=np.int64)
    outcomes = np.array(ROLLS)
    walks, staked = _Walks(shoes), np.zeros(shoes, dtype=np.int64)
    for _ in range(rounds):
        multiples = _multiples(left, nets, betting)
        staked += multiples.T @ stakes
        rolls = np.zeros(shoes, dtype=np.int64)
        for _ in range(DICE):
            rolls = rolls * SIX + _deal_card(streams, left)
        walks.add((multiples * nets[:, outcomes[rolls]]).sum(axis=0))
    squares = (int(walks.net @ walks.net), int(walks.net @ staked), int(staked @ staked))
    return Dealt(shoes, shoes * rounds, int(staked.sum()), walks.joined(), *squares)


def _deal_card(streams: Streams, left: Whole) -> Whole:
    """Deals one card from each shoe; returns the faces."""
    total = int(left[:, 0].sum())
    spare = 2**32 % total
    product = streams.draw().astype(np.uint64) * np.uint64(total)
    while (again := np.flatnonzero((product & np.uint64(0xFFFFFFFF)) < spare)).size:
        product[again] = streams.draw_some(again).astype(np.uint64) * np.uint64(total)
    picked = (product >> np.uint64(32)).astype(np.int64)
    faces: Whole = (picked >= np.cumsum(left, axis=0)[:-1]).sum(axis=0)
    left[faces, np.arange(faces.size)] -= 1
    return faces


def _multiples(left: Whole, nets: Whole, betting: Betting) -> Whole:
    """[bet, shoe] the multiple of each bet for the cards left."""
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

"""Shoes as machine code: a card of every shoe, then the next card of every shoe, eight to an instruction."""

# ruff: noqa: C901, PLR0912, PLR0917 - one loop, compiled whole; numba takes arrays by place
from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from taisai.rules.outcomes import DICE, OUTCOMES
from taisai.study.simulation.compiled import compiled
from taisai.study.simulation.mix_compiled import begun
from taisai.study.simulation.shoes import ROLLS, SIX, Betting, Dealt, Shoe
from taisai.study.simulation.streams import WARMING
from taisai.study.simulation.walk import Walk

Words = npt.NDArray[np.uint32]
Whole = npt.NDArray[np.int64]
Short = npt.NDArray[np.int32]
Nets = npt.NDArray[Any]
"""Of 32 bits where a shoe fits them, else of 64."""
_LANES: Final = 256
_FACES: Final = np.array([[face - 1 for face in outcome.faces] for outcome in OUTCOMES], dtype=np.int64)
_W = np.uint32
_L = np.uint64
_S = np.int32


def dealt(
    key: tuple[int, ...], shoe: Shoe, betting: Betting, *, first: int, shoes: int, rounds: int
) -> Dealt:
    """Deals so many shoes from the first on, so many rounds from each."""
    sums = np.zeros(8, dtype=np.int64)
    kind = np.int32 if rounds * betting.greatest < 2**31 else np.int64
    _shoes(
        np.array(key, dtype=np.uint64),
        first,
        shoes,
        rounds,
        shoe.each,
        np.array(ROLLS, dtype=np.int64),
        np.array([betting.nets[0][place] for place in ROLLS], dtype=kind),
        np.array(betting.nets, dtype=np.int64),
        np.array(betting.stakes, dtype=np.int64),
        np.array([betting.waiting, betting.favoured], dtype=np.int64),
        sums,
    )
    staked, *walk, net_squared, net_by_staked, staked_squared = sums.tolist()
    return Dealt(shoes, shoes * rounds, staked, Walk(*walk), net_squared, net_by_staked, staked_squared)


@compiled
def _picked(left: int, a: Words, b: Words, c: Words, counter: Words, picked: Words, low: Words) -> None:
    """Which of the cards left, for each shoe: the draw × left, the high and the low half of 64 bits."""
    cards = _W(left)
    for lane in range(_LANES):
        drawn = _W(_W(a[lane] + b[lane]) + counter[lane])
        counter[lane] = _W(counter[lane] + _W(1))
        a[lane] = _W(b[lane] ^ (b[lane] >> _W(9)))
        b[lane] = _W(c[lane] + _W(c[lane] << _W(3)))
        c[lane] = _W(_W(_W(c[lane] << _W(21)) | (c[lane] >> _W(11))) + drawn)
        upper = _W((drawn >> _W(16)) * cards)  # two products of 16 bits each: all stays within 32
        lower = _W((drawn & _W(0xFFFF)) * cards)
        picked[lane] = _W(_W(upper + (lower >> _W(16))) >> _W(16))
        low[lane] = _W(_W(upper << _W(16)) + lower)


@compiled
def _least(lanes: int, low: Words) -> Any:
    """The least of the low halves."""
    least = _W(0xFFFFFFFF)
    for lane in range(lanes):
        least = min(least, low[lane])
    return least


@compiled
def _picked_again(
    lane: int, left: int, spare: int, a: Words, b: Words, c: Words, counter: Words, picked: Words, low: Words
) -> None:
    """Draws once more, and once more, where the draw would favour some cards."""
    while low[lane] < spare:
        drawn = _W(_W(a[lane] + b[lane]) + counter[lane])
        counter[lane] = _W(counter[lane] + _W(1))
        a[lane] = _W(b[lane] ^ (b[lane] >> _W(9)))
        b[lane] = _W(c[lane] + _W(c[lane] << _W(3)))
        c[lane] = _W(_W(_W(c[lane] << _W(21)) | (c[lane] >> _W(11))) + drawn)
        product = _L(drawn) * _L(left)
        picked[lane] = _W(product >> _L(32))
        low[lane] = _W(product & _L(0xFFFFFFFF))


@compiled
def _taken(picked: Words, b0: Short, b1: Short, b2: Short, b3: Short, b4: Short, rolls: Short) -> None:
    """Takes the cards out: `b` counts the cards left of a face or a lower one."""
    for lane in range(_LANES):
        card = _S(picked[lane])
        h0, h1, h2 = _S(card < b0[lane]), _S(card < b1[lane]), _S(card < b2[lane])
        h3, h4 = _S(card < b3[lane]), _S(card < b4[lane])
        b0[lane] = _S(b0[lane] - h0)
        b1[lane] = _S(b1[lane] - h1)
        b2[lane] = _S(b2[lane] - h2)
        b3[lane] = _S(b3[lane] - h3)
        b4[lane] = _S(b4[lane] - h4)
        face = _S(_S(_S(5) - h0) - _S(_S(h1 + h2) + _S(h3 + h4)))
        rolls[lane] = _S(_S(rolls[lane] * _S(SIX)) + face)


@compiled
def _walked(got: Nets, net: Nets, high: Nets, low: Nets, fall: Nets) -> None:
    """One more round of every shoe."""
    for lane in range(_LANES):
        at = net.dtype.type(net[lane] + got[lane])
        top = max(high[lane], at)
        net[lane] = at
        high[lane] = top
        low[lane] = min(low[lane], at)
        fall[lane] = max(fall[lane], net.dtype.type(top - at))


@compiled
def _favoured(
    lane: int, left: int, below: Short, nets: Whole, stakes: Whole, times: Whole, made: Whole
) -> int:
    """How often each bet is made on the cards left in one shoe; returns what is staked."""
    counts = np.empty(SIX, np.int64)
    before = 0
    for face in range(SIX - 1):
        counts[face] = below[face, lane] - before
        before = below[face, lane]
    counts[SIX - 1] = left - before
    made[:] = 0
    for place in range(_FACES.shape[0]):
        x, y, z = _FACES[place, 0], _FACES[place, 1], _FACES[place, 2]
        if x == z:
            weight = counts[x] * (counts[x] - 1) * (counts[x] - 2) // 6
        elif x == y:
            weight = counts[x] * (counts[x] - 1) // 2 * counts[z]
        elif y == z:
            weight = counts[x] * (counts[y] * (counts[y] - 1) // 2)
        else:
            weight = counts[x] * counts[y] * counts[z]
        for bet in range(stakes.size):
            made[bet] += weight * nets[bet, place]
    staked = 0
    for bet in range(stakes.size):
        made[bet] = times[1] if made[bet] > 0 else times[0]
        staked += made[bet] * stakes[bet]
    return staked


@compiled
def _shoes(
    key: npt.NDArray[np.uint64], first: int, shoes: int, rounds: int, each: int, outcomes: Whole,
    by_roll: Nets, nets: Whole, stakes: Whole, times: Whole, sums: Whole,
) -> None:  # fmt: skip
    """Groups of shoes, a round of each in turn; then every shoe is joined to the walk in its order."""
    a, b, c = np.empty(_LANES, np.uint32), np.empty(_LANES, np.uint32), np.empty(_LANES, np.uint32)
    counter, picked = np.empty(_LANES, np.uint32), np.empty(_LANES, np.uint32)
    spares = np.empty(_LANES, np.uint32)
    below = np.empty((SIX - 1, _LANES), np.int32)
    rolls = np.empty(_LANES, np.int32)
    got = np.zeros(_LANES, by_roll.dtype)
    net, high = np.empty(_LANES, by_roll.dtype), np.empty(_LANES, by_roll.dtype)
    low, fall = np.empty(_LANES, by_roll.dtype), np.empty(_LANES, by_roll.dtype)
    staked = np.empty(_LANES, np.int64)
    made = np.empty((stakes.size, _LANES), np.int64)
    one = np.empty(stakes.size, np.int64)
    flat = times[0] == times[1]
    for begin in range(0, shoes, _LANES):
        lanes = min(_LANES, shoes - begin)
        begun(key, first + begin, a, b, c)  # a lane too many at the end is dealt, and never looked at
        counter[:] = _W(WARMING + 1)
        for face in range(SIX - 1):
            below[face, :] = (face + 1) * each
        net[:], high[:], low[:], fall[:], staked[:] = 0, 0, 0, 0, 0
        left = SIX * each
        for _ in range(rounds):
            if not flat:
                for lane in range(lanes):
                    staked[lane] += _favoured(lane, left, below, nets, stakes, times, one)
                    made[:, lane] = one
            rolls[:] = 0
            for _ in range(DICE):
                _picked(left, a, b, c, counter, picked, spares)
                spare = 2**32 % left
                if _least(lanes, spares) < spare:
                    for lane in range(lanes):
                        _picked_again(lane, left, spare, a, b, c, counter, picked, spares)
                _taken(picked, below[0], below[1], below[2], below[3], below[4], rolls)
                left -= 1
            for lane in range(lanes):
                if flat:
                    got[lane] = by_roll[_W(rolls[lane])]
                else:
                    got[lane] = 0
                    place = outcomes[_W(rolls[lane])]
                    for bet in range(stakes.size):
                        got[lane] += made[bet, lane] * nets[bet, place]
            _walked(got, net, high, low, fall)
        if flat:
            staked[:] = rounds * stakes[0]
        for lane in range(lanes):
            came, least = np.int64(net[lane]), np.int64(low[lane])
            sums[4] = max(sums[4], np.int64(fall[lane]), sums[2] - sums[1] - least)
            sums[2] = max(sums[2], sums[1] + np.int64(high[lane]))
            sums[3] = min(sums[3], sums[1] + least)
            sums[1] += came
            sums[0] += staked[lane]
            sums[5] += came * came
            sums[6] += came * staked[lane]
            sums[7] += staked[lane] * staked[lane]

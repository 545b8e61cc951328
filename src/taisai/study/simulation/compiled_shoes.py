"""Shoes as machine code: a card of every shoe, then the next card of every shoe, eight to an instruction."""

# ruff: noqa: C901, PLR0912, PLR0917
from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from taisai.bulk.kernels import compiled
from taisai.rules.outcomes import DICE, OUTCOMES
from taisai.study.simulation.compiled_rounds import begun, next_draw
from taisai.study.simulation.draws import WARMING, Walk
from taisai.study.simulation.shoes import ROLLS, SIX, Betting, Dealt, SimulatedShoe

Words = npt.NDArray[np.uint32]
Whole = npt.NDArray[np.int64]
Counts = npt.NDArray[np.uint16]
Nets = npt.NDArray[Any]
"""Of 32 bits where a shoe fits them, else of 64."""
_LANES: Final = 256
_FACES: Final = np.array([[face - 1 for face in outcome.faces] for outcome in OUTCOMES], dtype=np.int64)
_W = np.uint32
_L = np.uint64
_H = np.uint16
_X, _Y, _Z, _N, _LOW = (row * _LANES for row in range(5))
_CARD, _ROLL = (SIX - 1) * _LANES, SIX * _LANES  # below them a row for each face but the last


def deal_shoes(
    key: tuple[int, ...], shoe: SimulatedShoe, betting: Betting, *, first: int, shoes: int, rounds: int
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
def _picked(left: int, w: Words, cards: Counts) -> Any:
    """Which card of those left, for each shoe: the high half of draw × left; returns the least low half."""
    of = _W(left)
    least = _W(0xFFFFFFFF)
    for lane in range(_LANES):
        drawn, x, y, z = next_draw(w[_X + lane], w[_Y + lane], w[_Z + lane], w[_N + lane])
        w[_X + lane], w[_Y + lane], w[_Z + lane] = x, y, z
        w[_N + lane] = _W(w[_N + lane] + _W(1))
        upper = _W((drawn >> _W(16)) * of)  # two products of 16 bits each: all stays within 32
        lower = _W((drawn & _W(0xFFFF)) * of)
        low = _W(_W(upper << _W(16)) + lower)
        cards[_CARD + lane] = _H(_W(upper + (lower >> _W(16))) >> _W(16))
        w[_LOW + lane] = low
        least = min(least, low)
    return least


@compiled
def _picked_again(lane: int, left: int, spare: int, w: Words, cards: Counts) -> None:
    """Draws once more, and once more, where the draw would favour some cards."""
    while w[_LOW + lane] < spare:
        drawn, x, y, z = next_draw(w[_X + lane], w[_Y + lane], w[_Z + lane], w[_N + lane])
        w[_X + lane], w[_Y + lane], w[_Z + lane] = x, y, z
        w[_N + lane] = _W(w[_N + lane] + _W(1))
        product = _L(drawn) * _L(left)
        cards[_CARD + lane] = _H(product >> _L(32))
        w[_LOW + lane] = _W(product & _L(0xFFFFFFFF))


@compiled
def _taken(cards: Counts) -> None:
    """Takes the cards out, sixteen shoes to an instruction: a row counts those left of a face or lower."""
    for lane in range(_LANES):
        card = cards[_CARD + lane]
        b0, b1, b2 = cards[lane], cards[_LANES + lane], cards[2 * _LANES + lane]
        b3, b4 = cards[3 * _LANES + lane], cards[4 * _LANES + lane]
        h0, h1, h2, h3, h4 = _H(card < b0), _H(card < b1), _H(card < b2), _H(card < b3), _H(card < b4)
        cards[lane] = _H(b0 - h0)
        cards[_LANES + lane] = _H(b1 - h1)
        cards[2 * _LANES + lane] = _H(b2 - h2)
        cards[3 * _LANES + lane] = _H(b3 - h3)
        cards[4 * _LANES + lane] = _H(b4 - h4)
        face = _H(_H(_H(SIX - 1) - h0) - _H(_H(h1 + h2) + _H(h3 + h4)))
        cards[_ROLL + lane] = _H(_H(cards[_ROLL + lane] * _H(SIX)) + face)


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
    lane: int, left: int, cards: Counts, nets: Whole, stakes: Whole, times: Whole, made: Whole
) -> int:
    """How often each bet is made on the cards left in one shoe; returns what is staked."""
    counts = np.empty(SIX, np.int64)
    before = np.int64(0)
    for face in range(SIX - 1):
        below = np.int64(cards[face * _LANES + lane])
        counts[face] = below - before
        before = below
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
    w, cards = np.empty(5 * _LANES, np.uint32), np.empty((SIX + 1) * _LANES, np.uint16)
    got = np.zeros(_LANES, by_roll.dtype)
    net, high = np.empty(_LANES, by_roll.dtype), np.empty(_LANES, by_roll.dtype)
    low, fall = np.empty(_LANES, by_roll.dtype), np.empty(_LANES, by_roll.dtype)
    staked = np.empty(_LANES, np.int64)
    made = np.empty((stakes.size, _LANES), np.int64)
    one = np.empty(stakes.size, np.int64)
    flat = times[0] == times[1]
    for begin in range(0, shoes, _LANES):
        lanes = min(_LANES, shoes - begin)
        # a lane too many at the end is dealt, and never looked at
        begun(key, first + begin, w[_X:_Y], w[_Y:_Z], w[_Z:_N])
        w[_N:_LOW] = _W(WARMING + 1)
        for face in range(SIX - 1):
            cards[face * _LANES : (face + 1) * _LANES] = (face + 1) * each
        net[:], high[:], low[:], fall[:], staked[:] = 0, 0, 0, 0, 0
        left = SIX * each
        for _ in range(rounds):
            if not flat:
                for lane in range(lanes):
                    staked[lane] += _favoured(lane, left, cards, nets, stakes, times, one)
                    made[:, lane] = one
            cards[_ROLL:] = 0
            for _ in range(DICE):
                spare = 2**32 % left
                if _picked(left, w, cards) < spare:
                    for lane in range(lanes):
                        _picked_again(lane, left, spare, w, cards)
                _taken(cards)
                left -= 1
            for lane in range(lanes):
                if flat:
                    got[lane] = by_roll[cards[_ROLL + lane]]
                else:
                    got[lane] = 0
                    place = outcomes[cards[_ROLL + lane]]
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

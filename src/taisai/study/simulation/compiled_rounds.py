"""Compiled loops that play rounds of fixed bets, and deal shoes; and the compiled random generator.

A lane is one of many equal sequences that a loop advances together, several to a vector instruction.
"""

# ruff: noqa: C901, PLR0912, PLR0917
from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from taisai.bulk.kernels import compiled
from taisai.rules.outcomes import DICE, OUTCOMES
from taisai.study.simulation import numpy_kernels
from taisai.study.simulation.plans import (
    LANES,
    ROLLS,
    SHORT_NET,
    SIX,
    STEPS,
    WARMING,
    Betting,
    Classes,
    Dealt,
    SimulatedShoe,
    Walk,
)

FEW: Final = 4
"""A draw is assigned to one of at most this many classes by comparisons; with more, by a lookup table."""
_GUIDE_BITS: Final = 12
GUIDE_SHIFT: Final = np.uint32(32 - _GUIDE_BITS)
_UNROLLED: Final = 4
_W = np.uint32
_L = np.uint64
_H = np.uint16
Uints = npt.NDArray[np.uint32]
Long = npt.NDArray[np.uint64]
Whole = npt.NDArray[np.int64]
Counts = npt.NDArray[np.uint16]
Nets = npt.NDArray[Any]  # int32 if every sum of a lane or shoe fits, else int64
_OUTCOME_FACES: Final = np.array([[face - 1 for face in o.faces] for o in OUTCOMES], dtype=np.int64)
_X, _Y, _Z, _N, _LOW = (row * LANES for row in range(5))
_CARD, _ROLL = (SIX - 1) * LANES, SIX * LANES  # after a row for each face but the last

_scrambled = compiled(numpy_kernels.scrambled)
next_draw = compiled(numpy_kernels.next_draw, inline="always")


@compiled
def start_streams(key: Long, first: int, a: Uints, b: Uints, c: Uints) -> None:
    """Starts a stream in each place; the first has this number. The next counter is WARMING + 1."""
    for lane in range(a.size):
        number = _L(first) + _L(lane)
        one = _scrambled(key[0] + _scrambled(number ^ key[1]))
        two = _scrambled(key[2] + _scrambled(number ^ key[3]))
        a[lane] = _W(one & _L(0xFFFFFFFF))
        b[lane] = _W(one >> _L(32))
        c[lane] = _W(two & _L(0xFFFFFFFF))
    for counter in range(1, WARMING + 1):
        for lane in range(a.size):
            _, a[lane], b[lane], c[lane] = next_draw(a[lane], b[lane], c[lane], _W(counter))


# ── rounds of fixed bets ─────────────────────────────────────────────────────────────────────────────


def walk_rounds(key: tuple[int, ...], classes: Classes, first: int, chunks: int, rest: int) -> Walk:
    """The walk of these whole chunks, from the first on, then of the rest of a chunk."""
    kind = np.int32 if max(map(abs, classes.values)) <= SHORT_NET else np.int64
    few = len(classes.values) <= FEW
    gap = FEW - len(classes.values) if few else 0
    values = np.array([*classes.values, *[0] * gap, 0], dtype=kind)
    limits = np.array([*classes.limits, *[classes.limits[-1]] * gap], dtype=np.uint32)
    walk = np.zeros(4, dtype=np.int64)
    keyed = np.array(key, dtype=np.uint64)
    _chunks(keyed, first, chunks, rest, values, limits, guide_of(limits), int(few), walk)
    return Walk(*walk.tolist())


def guide_of(limits: Uints) -> npt.NDArray[np.uint8]:
    """[the highest bits of a draw] → the first class that such a draw can belong to."""
    lowest = np.arange(2**_GUIDE_BITS, dtype=np.uint32) << GUIDE_SHIFT
    return np.searchsorted(limits, lowest, side="right").astype(np.uint8)


@compiled
def _few_steps(
    values: Nets, limits: Uints, a: Uints, b: Uints, c: Uints, net: Nets, high: Nets, low: Nets, fall: Nets,
    missed: Nets,
) -> None:  # fmt: skip
    """STEPS draws in every lane, of at most FEW classes; straight-line code that the compiler vectorises."""
    v0, v1, v2, v3, nothing = values[0], values[1], values[2], values[3], values[4]
    l0, l1, l2, l3 = limits[0], limits[1], limits[2], limits[3]
    one = values.dtype.type(1)
    counter = _W(WARMING + 1)
    for _ in range(STEPS // _UNROLLED):
        for lane in range(LANES):
            x, y, z = a[lane], b[lane], c[lane]
            at, top, bottom, deepest, rejected = net[lane], high[lane], low[lane], fall[lane], missed[lane]
            for step in range(_UNROLLED):
                drawn, x, y, z = next_draw(x, y, z, _W(counter + _W(step)))
                value = v1 if drawn >= l0 else v0
                value = v2 if drawn >= l1 else value
                value = v3 if drawn >= l2 else value
                value = nothing if drawn >= l3 else value
                rejected = values.dtype.type(rejected + (one if drawn >= l3 else nothing))
                at = values.dtype.type(at + value)
                top = max(top, at)
                bottom = min(bottom, at)
                deepest = max(deepest, values.dtype.type(top - at))
            a[lane], b[lane], c[lane] = x, y, z
            net[lane], high[lane], low[lane], fall[lane], missed[lane] = at, top, bottom, deepest, rejected
        counter = _W(counter + _W(_UNROLLED))


@compiled
def _many_steps(
    values: Nets, limits: Uints, guide: npt.NDArray[np.uint8], a: Uints, b: Uints, c: Uints, net: Nets,
    high: Nets, low: Nets, fall: Nets, missed: Nets,
) -> None:  # fmt: skip
    """STEPS draws in every lane, of any number of classes."""
    last = limits.size
    counter = _W(WARMING + 1)
    for _ in range(STEPS):
        for lane in range(LANES):
            drawn, a[lane], b[lane], c[lane] = next_draw(a[lane], b[lane], c[lane], counter)
            kind = int(guide[drawn >> GUIDE_SHIFT])
            while kind < last and drawn >= limits[kind]:
                kind += 1
            missed[lane] += kind == last
            at = net[lane] + values[kind]
            net[lane] = at
            high[lane] = max(high[lane], at)
            low[lane] = min(low[lane], at)
            fall[lane] = max(fall[lane], high[lane] - at)
        counter = _W(counter + _W(1))


@compiled
def _finish_lane(
    values: Nets, limits: Uints, lane: int, left: int, counter: int, a: Uints, b: Uints, c: Uints, net: Nets,
    high: Nets, low: Nets, fall: Nets,
) -> None:  # fmt: skip
    """The rounds that a lane still lacks, for example because draws were rejected."""
    last = limits.size
    x, y, z, count = a[lane], b[lane], c[lane], _W(counter)
    while left > 0:
        drawn, x, y, z = next_draw(x, y, z, count)
        count = _W(count + _W(1))
        kind = 0
        while kind < last and drawn >= limits[kind]:
            kind += 1
        if kind == last:
            continue
        left -= 1
        at = net[lane] + values[kind]
        net[lane] = at
        high[lane] = max(high[lane], at)
        low[lane] = min(low[lane], at)
        fall[lane] = max(fall[lane], high[lane] - at)


@compiled
def _chunks(
    key: Long, first: int, chunks: int, rest: int, values: Nets, limits: Uints,
    guide: npt.NDArray[np.uint8], few: int, walk: Whole,
) -> None:  # fmt: skip
    """Plays chunk after chunk, and joins their lanes in order into the walk."""
    a, b, c = np.empty(LANES, np.uint32), np.empty(LANES, np.uint32), np.empty(LANES, np.uint32)
    net, high = np.empty(LANES, values.dtype), np.empty(LANES, values.dtype)
    low, fall = np.empty(LANES, values.dtype), np.empty(LANES, values.dtype)
    missed = np.empty(LANES, values.dtype)
    for chunk in range(first, first + chunks + (rest > 0)):
        start_streams(key, chunk * LANES, a, b, c)
        for figure in (net, high, low, fall, missed):
            figure[:] = 0
        whole = chunk < first + chunks
        if whole and few:
            _few_steps(values, limits, a, b, c, net, high, low, fall, missed)
        elif whole:
            _many_steps(values, limits, guide, a, b, c, net, high, low, fall, missed)
        for lane in range(LANES):
            left = int(missed[lane]) if whole else min(max(rest - lane * STEPS, 0), STEPS)
            if left:
                drawn = STEPS if whole else 0
                _finish_lane(values, limits, lane, left, WARMING + 1 + drawn, a, b, c, net, high, low, fall)
            walk[3] = max(walk[3], np.int64(fall[lane]), walk[1] - walk[0] - low[lane])
            walk[1] = max(walk[1], walk[0] + high[lane])
            walk[2] = min(walk[2], walk[0] + low[lane])
            walk[0] += net[lane]


# ── shoes ────────────────────────────────────────────────────────────────────────────────────────────


def deal_shoes(
    key: tuple[int, ...], shoe: SimulatedShoe, betting: Betting, *, first: int, shoes: int, rounds: int
) -> Dealt:
    """Deals these shoes, from the first on, this many rounds from each."""
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
def _pick(left: int, w: Uints, cards: Counts) -> Any:
    """Picks a card for each shoe: the high half of draw × left. Returns the least low half."""
    of = _W(left)
    least = _W(0xFFFFFFFF)
    for lane in range(LANES):
        drawn, x, y, z = next_draw(w[_X + lane], w[_Y + lane], w[_Z + lane], w[_N + lane])
        w[_X + lane], w[_Y + lane], w[_Z + lane] = x, y, z
        w[_N + lane] = _W(w[_N + lane] + _W(1))
        upper = _W((drawn >> _W(16)) * of)  # two products of 16 bits, so that all fits into 32
        lower = _W((drawn & _W(0xFFFF)) * of)
        low = _W(_W(upper << _W(16)) + lower)
        cards[_CARD + lane] = _H(_W(upper + (lower >> _W(16))) >> _W(16))
        w[_LOW + lane] = low
        least = min(least, low)
    return least


@compiled
def _pick_again(lane: int, left: int, spare: int, w: Uints, cards: Counts) -> None:
    """Draws again while the draw is one of the few that would favour some cards."""
    while w[_LOW + lane] < spare:
        drawn, x, y, z = next_draw(w[_X + lane], w[_Y + lane], w[_Z + lane], w[_N + lane])
        w[_X + lane], w[_Y + lane], w[_Z + lane] = x, y, z
        w[_N + lane] = _W(w[_N + lane] + _W(1))
        product = _L(drawn) * _L(left)
        cards[_CARD + lane] = _H(product >> _L(32))
        w[_LOW + lane] = _W(product & _L(0xFFFFFFFF))


@compiled
def _take(cards: Counts) -> None:
    """Takes the picked cards out. Each row has the number of cards left of a face and all lower faces."""
    for lane in range(LANES):
        card = cards[_CARD + lane]
        b0, b1, b2 = cards[lane], cards[LANES + lane], cards[2 * LANES + lane]
        b3, b4 = cards[3 * LANES + lane], cards[4 * LANES + lane]
        h0, h1, h2, h3, h4 = _H(card < b0), _H(card < b1), _H(card < b2), _H(card < b3), _H(card < b4)
        cards[lane] = _H(b0 - h0)
        cards[LANES + lane] = _H(b1 - h1)
        cards[2 * LANES + lane] = _H(b2 - h2)
        cards[3 * LANES + lane] = _H(b3 - h3)
        cards[4 * LANES + lane] = _H(b4 - h4)
        face = _H(_H(_H(SIX - 1) - h0) - _H(_H(h1 + h2) + _H(h3 + h4)))
        cards[_ROLL + lane] = _H(_H(cards[_ROLL + lane] * _H(SIX)) + face)


@compiled
def _add_round(value: Nets, net: Nets, high: Nets, low: Nets, fall: Nets) -> None:
    for lane in range(LANES):
        at = net.dtype.type(net[lane] + value[lane])
        top = max(high[lane], at)
        net[lane] = at
        high[lane] = top
        low[lane] = min(low[lane], at)
        fall[lane] = max(fall[lane], net.dtype.type(top - at))


@compiled
def _choose_multiples(
    lane: int, left: int, cards: Counts, nets: Whole, stakes: Whole, times: Whole, multiples: Whole
) -> int:
    """The multiple of each bet for the cards left in one shoe; returns the total stake."""
    counts = np.empty(SIX, np.int64)
    before = np.int64(0)
    for face in range(SIX - 1):
        below = np.int64(cards[face * LANES + lane])
        counts[face] = below - before
        before = below
    counts[SIX - 1] = left - before
    multiples[:] = 0
    for place in range(_OUTCOME_FACES.shape[0]):
        x, y, z = _OUTCOME_FACES[place, 0], _OUTCOME_FACES[place, 1], _OUTCOME_FACES[place, 2]
        if x == z:
            weight = counts[x] * (counts[x] - 1) * (counts[x] - 2) // 6
        elif x == y:
            weight = counts[x] * (counts[x] - 1) // 2 * counts[z]
        elif y == z:
            weight = counts[x] * (counts[y] * (counts[y] - 1) // 2)
        else:
            weight = counts[x] * counts[y] * counts[z]
        for bet in range(stakes.size):
            multiples[bet] += weight * nets[bet, place]
    staked = 0
    for bet in range(stakes.size):
        multiples[bet] = times[1] if multiples[bet] > 0 else times[0]
        staked += multiples[bet] * stakes[bet]
    return staked


@compiled
def _shoes(
    key: Long, first: int, shoes: int, rounds: int, each: int, outcomes: Whole, by_roll: Nets, nets: Whole,
    stakes: Whole, times: Whole, sums: Whole,
) -> None:  # fmt: skip
    """Deals groups of shoes, a round of each in turn, and joins the shoes in order into the walk."""
    w, cards = np.empty(5 * LANES, np.uint32), np.empty((SIX + 1) * LANES, np.uint16)
    value = np.zeros(LANES, by_roll.dtype)
    net, high = np.empty(LANES, by_roll.dtype), np.empty(LANES, by_roll.dtype)
    low, fall = np.empty(LANES, by_roll.dtype), np.empty(LANES, by_roll.dtype)
    staked = np.empty(LANES, np.int64)
    multiples = np.empty((stakes.size, LANES), np.int64)
    of_lane = np.empty(stakes.size, np.int64)
    flat = times[0] == times[1]
    for begin in range(0, shoes, LANES):
        lanes = min(LANES, shoes - begin)
        # Lanes beyond the last shoe are dealt too; their results are not used.
        start_streams(key, first + begin, w[_X:_Y], w[_Y:_Z], w[_Z:_N])
        w[_N:_LOW] = _W(WARMING + 1)
        for face in range(SIX - 1):
            cards[face * LANES : (face + 1) * LANES] = (face + 1) * each
        net[:], high[:], low[:], fall[:], staked[:] = 0, 0, 0, 0, 0
        left = SIX * each
        for _ in range(rounds):
            if not flat:
                for lane in range(lanes):
                    staked[lane] += _choose_multiples(lane, left, cards, nets, stakes, times, of_lane)
                    multiples[:, lane] = of_lane
            cards[_ROLL:] = 0
            for _ in range(DICE):
                spare = 2**32 % left
                if _pick(left, w, cards) < spare:
                    for lane in range(lanes):
                        _pick_again(lane, left, spare, w, cards)
                _take(cards)
                left -= 1
            for lane in range(lanes):
                if flat:
                    value[lane] = by_roll[cards[_ROLL + lane]]
                else:
                    value[lane] = 0
                    place = outcomes[cards[_ROLL + lane]]
                    for bet in range(stakes.size):
                        value[lane] += multiples[bet, lane] * nets[bet, place]
            _add_round(value, net, high, low, fall)
        if flat:
            staked[:] = rounds * stakes[0]
        for lane in range(lanes):
            total, least = np.int64(net[lane]), np.int64(low[lane])
            sums[4] = max(sums[4], np.int64(fall[lane]), sums[2] - sums[1] - least)
            sums[2] = max(sums[2], sums[1] + np.int64(high[lane]))
            sums[3] = min(sums[3], sums[1] + least)
            sums[1] += total
            sums[0] += staked[lane]
            sums[5] += total * total
            sums[6] += total * staked[lane]
            sums[7] += staked[lane] * staked[lane]

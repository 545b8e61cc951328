"""Compiled loops that play sessions: in parallel lanes, or one after the other.

In parallel, the loop plays a round of every lane at a time, several lanes to a vector instruction. A lane
holds one session in 32-bit numbers. One table gives the next state of the staking system and its multiple.
When a session ends, the next one takes its lane; the last few are finished one by one.
"""

# ruff: noqa: C901, PLR0912, PLR0915, PLR0917
from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from taisai.bulk.kernels import compiled
from taisai.study.simulation.compiled_rounds import FEW, GUIDE_SHIFT, guide_of, next_draw, start_streams
from taisai.study.simulation.plans import (
    PLAYED_OUT,
    PLAYING,
    REACHED,
    RUINED,
    WARMING,
    Classes,
    Figures,
    SessionPlan,
)

Uints = npt.NDArray[np.uint32]
Whole = npt.NDArray[np.int64]
Real = npt.NDArray[np.float64]
_W = np.uint32
_L = np.uint64


def play_sessions(key: tuple[int, ...], plan: SessionPlan, figures: Figures, rounds: int) -> None:
    """Plays this many more rounds of every session that has not ended."""
    if not figures.words.size:
        a, b, c = np.empty((3, figures.count), dtype=np.uint32)
        start_streams(np.array(key, dtype=np.uint64), figures.first, a, b, c)
        figures.words = np.stack([a, b, c, np.full(figures.count, WARMING + 1, dtype=np.uint32)])
    limits = np.array(plan.classes.limits, dtype=np.uint32)
    values = np.array(plan.classes.values, dtype=np.int64) * plan.classes.unit
    multiples = np.array(plan.system.multiples, dtype=np.int64)
    jumps = np.array(plan.jumps(), dtype=np.int64)
    terms = np.array([plan.staked, plan.least * plan.staked, plan.target, plan.rounds], dtype=np.int64)
    untils = np.minimum(figures.whole[2] + rounds, plan.rounds)
    played = (untils, figures.words, figures.whole, figures.squares)
    if figures.count >= FEWEST and fits_lanes(plan, min(rounds, plan.rounds)):
        play_lanes(plan, figures, untils)
    _advance(limits, guide_of(limits), values, multiples, jumps, terms, *played)


@compiled
def _advance(
    limits: Uints, guide: npt.NDArray[np.uint8], values: Whole, multiples: Whole, jumps: Whole, terms: Whole,
    untils: Whole, words: Uints, whole: Whole, squares: Real,
) -> None:  # fmt: skip
    """Plays one session after the other, each in registers until it ends or has played its rounds."""
    staked, covered, target = terms[0], terms[1], terms[2]
    two = limits.size == 2
    least, end = limits[0], limits[-1]
    states = _L(multiples.size)
    gains = np.empty(limits.size * multiples.size, np.int64)
    for cell in range(gains.size):
        gains[cell] = values[cell // multiples.size] * multiples[cell % multiples.size]
    costs = multiples * staked
    squared = multiples.astype(np.float64) ** 2
    room = _L(target - covered)
    for session in range(squares.size):
        if whole[6, session] != PLAYING:
            continue
        x, y, z, n = words[0, session], words[1, session], words[2, session], words[3, session]
        money, now = whole[0, session], _L(whole[1, session])
        total, square = whole[3, session], squares[session]
        top, deepest, ended = whole[4, session], whole[5, session], PLAYING
        played = whole[2, session]
        until = untils[session]
        while played < until:
            while True:
                drawn, x, y, z = next_draw(x, y, z, n)
                n = _W(n + _W(1))
                if drawn < end:
                    break
            if two:
                kind = _L(drawn >= least)  # no branch: the processor would mispredict every other one
            else:
                kind = _L(guide[drawn >> GUIDE_SHIFT])
                while drawn >= limits[kind]:
                    kind = kind + _L(1)
            place = kind * states + now
            if costs[now] > money:  # stake what the bankroll covers
                multiple = money // staked
                money += multiple * values[kind]
                total += multiple
                square += float(multiple) ** 2
            else:
                money += gains[place]
                total += multiples[now]
                square += squared[now]
            now = _L(jumps[place])
            top = max(top, money)
            deepest = max(deepest, top - money)
            played += 1
            if _L(money - covered) >= room:  # a negative difference wraps around to a large number
                ended = RUINED if money < covered else REACHED
                break
        if ended == PLAYING and played == terms[3]:
            ended = PLAYED_OUT
        words[0, session], words[1, session], words[2, session], words[3, session] = x, y, z, n
        whole[0, session], whole[1, session], whole[2, session], whole[3, session] = money, now, played, total
        whole[4, session], whole[5, session], whole[6, session] = top, deepest, ended
        squares[session] = square


Short = npt.NDArray[np.int32]
LANES: Final = 128
BATCH: Final = 8
"""Draws of a lane at a time. A session with fewer rounds left is finished alone: no draw may be lost."""
FEWEST: Final = 24  # with fewer sessions, one after the other is faster
_HALF: Final = 16  # bits of a table entry for the state; the others are the multiple
_S = np.int32
_F = np.float32
_X, _Y, _Z, _N, _NEXT, _PLACE, _SQUARE = (row * LANES for row in range(7))
_MONEY, _TOP, _FALL, _UNITS, _LEFT, _ALIVE = (row * LANES for row in range(6))
_ROWS: Final = 7


def fits_lanes(plan: SessionPlan, rounds: int) -> bool:
    """Whether sessions of a plan fit into lanes: few classes, and every figure within 32 bits."""
    most = max(plan.system.multiples)
    swing = most * max(map(abs, plan.classes.values)) * plan.classes.unit
    return (
        len(plan.classes.values) <= FEW
        and len(plan.system.multiples) < 2**_HALF
        and BATCH * most * most < 2**32
        and plan.target + swing + plan.staked < 2**31
        and most * rounds < 2**31
        and most * most * plan.rounds < 2**53  # so that sums of squares are exact in any order
    )


def play_lanes(plan: SessionPlan, figures: Figures, untils: Whole) -> None:
    """Plays sessions until they end, or have fewer rounds left than a batch, or are too few."""
    classes: Classes = plan.classes
    gap = FEW - len(classes.values)
    states = len(plan.system.multiples)
    jumps = np.array(plan.jumps(), dtype=np.uint32)
    wanted = np.array(plan.system.multiples, dtype=np.uint32) << np.uint32(_HALF)
    again = np.arange(states, dtype=np.uint32)
    # A rejected draw keeps the state.
    table = np.concatenate([jumps | wanted[jumps], *[again | wanted] * (gap + 1)])
    _play_lanes(
        np.array([*classes.limits, *[classes.limits[-1]] * gap], dtype=np.uint32),
        np.array([*classes.values, *[0] * gap], dtype=np.int32) * np.int32(classes.unit),
        table,
        np.array([states, plan.staked, plan.least * plan.staked, plan.target, plan.rounds], dtype=np.int64),
        untils,
        figures.words,
        figures.whole,
        figures.squares,
    )


@compiled
def _round(
    limits: Uints, values: Short, states: int, staked: int, covered: int, target: int, w: Uints, h: Short
) -> None:  # fmt: skip
    """One draw of every lane and its result; then the place of the next state in the table."""
    l0, l1, l2, l3 = limits[0], limits[1], limits[2], limits[3]
    v0, v1, v2, v3 = values[0], values[1], values[2], values[3]
    low, high, nothing, unit = _S(covered), _S(target), _S(0), _S(staked)
    each, beyond = _F(1.0 / staked), _F(2**_HALF)
    none, once, twice, thrice = _W(0), _W(states), _W(2 * states), _W(3 * states)
    stays = _W(FEW * states)
    for lane in range(LANES):
        got, x, y, z = next_draw(w[_X + lane], w[_Y + lane], w[_Z + lane], w[_N + lane])
        w[_X + lane], w[_Y + lane], w[_Z + lane] = x, y, z
        w[_N + lane] = _W(w[_N + lane] + _W(1))
        value = v1 if got >= l0 else v0
        value = v2 if got >= l1 else value
        value = v3 if got >= l2 else value
        alive = h[_ALIVE + lane]
        plays = nothing if got >= l3 else alive
        row = once if got >= l0 else none
        row = twice if got >= l1 else row
        row = thrice if got >= l2 else row
        row = row if plays > nothing else stays
        following = w[_NEXT + lane]
        w[_PLACE + lane] = _W(row + (following & _W(0xFFFF)))
        money = h[_MONEY + lane]
        wanted = _S(following >> _W(_HALF))
        covers = _S(min(_F(_F(money) * each), beyond))  # what the bankroll covers, at most one off
        rest = _S(money - _S(covers * unit))
        covers = _S(covers + _S(rest >= unit))
        covers = _S(covers - _S(rest < nothing))
        multiple = min(wanted, covers)
        multiple = multiple if plays > nothing else nothing
        money = _S(money + _S(multiple * value))
        top = max(h[_TOP + lane], money)
        h[_MONEY + lane] = money
        h[_TOP + lane] = top
        h[_FALL + lane] = max(h[_FALL + lane], _S(top - money))
        h[_UNITS + lane] = _S(h[_UNITS + lane] + multiple)
        h[_LEFT + lane] = _S(h[_LEFT + lane] - plays)
        h[_ALIVE + lane] = nothing if (money < low) | (money >= high) else alive
        w[_SQUARE + lane] = _W(w[_SQUARE + lane] + _W(_W(multiple) * _W(multiple)))


@compiled
def _look_up(table: Uints, w: Uints) -> None:
    """Looks up the next state of every lane and its multiple."""
    for lane in range(LANES):
        w[_NEXT + lane] = table[w[_PLACE + lane]]


@compiled
def _leaving(h: Short) -> bool:
    """Whether a session has ended or has too few rounds left."""
    leaves = _S(0)
    for lane in range(LANES):
        leaves = max(leaves, _S(_S(h[_LEFT + lane] < _S(BATCH)) | _S(_S(1) - h[_ALIVE + lane])))
    return bool(leaves > 0)


@compiled
def _play_lanes(
    limits: Uints, values: Short, table: Uints, terms: Whole, untils: Whole, words: Uints, whole: Whole,
    squares: Real,
) -> None:  # fmt: skip
    states, staked, covered, target = terms[0], terms[1], terms[2], terms[3]
    w, h = np.zeros(_ROWS * LANES, np.uint32), np.zeros(_ROWS * LANES, np.int32)
    sums, who = np.zeros(LANES), np.full(LANES, -1)
    waiting, active = 0, 0
    while True:
        for lane in range(LANES):
            session = who[lane]
            left = np.int64(h[_LEFT + lane])
            if session >= 0 and (left < BATCH or not h[_ALIVE + lane]):
                _put(lane, session, untils[session] - left, w, h, sums, words, whole, squares)
                if not h[_ALIVE + lane]:
                    whole[6, session] = RUINED if whole[0, session] < covered else REACHED
                elif whole[2, session] == terms[4]:
                    whole[6, session] = PLAYED_OUT
                who[lane], h[_ALIVE + lane], h[_LEFT + lane] = -1, 0, BATCH
                active -= 1
            while who[lane] < 0 and waiting < squares.size:
                session = waiting
                waiting += 1
                left = untils[session] - whole[2, session]
                if whole[6, session] == PLAYING and left >= BATCH:
                    who[lane], sums[lane] = session, squares[session]
                    for row in range(4):
                        w[row * LANES + lane] = words[row, session]
                    w[_NEXT + lane] = table[table.size - states + whole[1, session]]
                    h[_MONEY + lane], h[_TOP + lane] = whole[0, session], whole[4, session]
                    h[_FALL + lane] = whole[5, session]
                    h[_UNITS + lane], h[_LEFT + lane], h[_ALIVE + lane] = 0, left, 1
                    active += 1
        if active < FEWEST:
            break
        staying = True
        while staying:
            for _ in range(BATCH):
                _round(limits, values, states, staked, covered, target, w, h)
                _look_up(table, w)
            for lane in range(LANES):
                sums[lane] += w[_SQUARE + lane]
                w[_SQUARE + lane] = 0
            staying = not _leaving(h) if active == LANES else False
    for lane in range(LANES):
        if who[lane] >= 0:
            session = who[lane]
            _put(lane, session, untils[session] - h[_LEFT + lane], w, h, sums, words, whole, squares)


@compiled
def _put(
    lane: int, session: int, played: int, w: Uints, h: Short, sums: Real, words: Uints, whole: Whole,
    squares: Real,
) -> None:  # fmt: skip
    """Writes the session of a lane back to the arrays of all sessions."""
    for row in range(4):
        words[row, session] = w[row * LANES + lane]
    whole[0, session], whole[1, session] = h[_MONEY + lane], w[_NEXT + lane] & _W(0xFFFF)
    whole[2, session] = played
    whole[3, session] += h[_UNITS + lane]
    whole[4, session], whole[5, session], squares[session] = h[_TOP + lane], h[_FALL + lane], sums[lane]

"""Many sessions abreast as machine code: a round of every lane at a time, eight lanes to an instruction.

A lane holds one session in 32 bits. What follows is looked up in one table, which gives the next state and
the multiple it wants together. Who ends makes room for the next; the last few are finished alone.
"""

# ruff: noqa: C901, PLR0912, PLR0917 - loops compiled whole; numba takes arrays by place
from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from taisai.study.simulation.classes import Classes
from taisai.study.simulation.compiled import compiled
from taisai.study.simulation.mix_compiled import FEW
from taisai.study.simulation.sessions import PLAYED_OUT, PLAYING, REACHED, RUINED, Figures, Plan

Words = npt.NDArray[np.uint32]
Short = npt.NDArray[np.int32]
Whole = npt.NDArray[np.int64]
Real = npt.NDArray[np.float64]
LANES: Final = 128
BATCH: Final = 8
"""Draws of a lane at a time; a session with fewer rounds to go is finished alone, as no draw may be lost."""
FEWEST: Final = 24
"""Sessions abreast that are still quicker than one after the other."""
_HALF: Final = 16  # bits of the table's entries that are the state; the others are the multiple
_W = np.uint32
_S = np.int32
_F = np.float32
_X, _Y, _Z, _N, _NEXT, _PLACE, _SQUARE = (row * LANES for row in range(7))
_MONEY, _TOP, _FALL, _UNITS, _LEFT, _ALIVE = (row * LANES for row in range(6))
_ROWS: Final = 7


def fits(plan: Plan, rounds: int) -> bool:
    """Whether sessions of a plan can be held in lanes: few classes, and every figure within 32 bits."""
    most = max(plan.system.multiples)
    swing = most * max(map(abs, plan.classes.values)) * plan.classes.unit
    return (
        len(plan.classes.values) <= FEW
        and len(plan.system.multiples) < 2**_HALF
        and BATCH * most * most < 2**32
        and plan.target + swing + plan.staked < 2**31
        and most * rounds < 2**31
        and most * most * plan.rounds < 2**53  # squares are then exact, in whatever order they are added
    )


def abreast(plan: Plan, figures: Figures, untils: Whole) -> None:
    """Plays sessions on until they end, or have fewer rounds to go than a batch, or are too few."""
    classes: Classes = plan.classes
    gap = FEW - len(classes.values)
    states = len(plan.system.multiples)
    jumps = np.array(plan.jumps(), dtype=np.uint32)
    wanted = np.array(plan.system.multiples, dtype=np.uint32) << np.uint32(_HALF)
    again = np.arange(states, dtype=np.uint32)
    table = np.concatenate([jumps | wanted[jumps], *[again | wanted] * (gap + 1)])  # thrown away: stays
    _abreast(
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
    limits: Words, values: Short, states: int, staked: int, covered: int, target: int, w: Words, h: Short
) -> None:  # fmt: skip
    """One draw of every lane, and what is won or lost by it; then where to look up what follows."""
    l0, l1, l2, l3 = limits[0], limits[1], limits[2], limits[3]
    v0, v1, v2, v3 = values[0], values[1], values[2], values[3]
    low, high, nothing, unit = _S(covered), _S(target), _S(0), _S(staked)
    each, beyond = _F(1.0 / staked), _F(2**_HALF)
    none, once, twice, thrice = _W(0), _W(states), _W(2 * states), _W(3 * states)
    stays = _W(FEW * states)
    for lane in range(LANES):
        y, z = w[_Y + lane], w[_Z + lane]
        got = _W(_W(w[_X + lane] + y) + w[_N + lane])
        w[_N + lane] = _W(w[_N + lane] + _W(1))
        w[_X + lane] = _W(y ^ (y >> _W(9)))
        w[_Y + lane] = _W(z + _W(z << _W(3)))
        w[_Z + lane] = _W(_W(_W(z << _W(21)) | (z >> _W(11))) + got)
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
        covers = _S(min(_F(_F(money) * each), beyond))  # about what the bankroll covers, one off at most
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
def _followed(table: Words, w: Words) -> None:
    """Looks up the next state of every lane and the multiple that it wants."""
    for lane in range(LANES):
        w[_NEXT + lane] = table[w[_PLACE + lane]]


@compiled
def _leaving(h: Short) -> bool:
    """Whether a session has ended or has too few rounds to go."""
    leaves = _S(0)
    for lane in range(LANES):
        leaves = max(leaves, _S(_S(h[_LEFT + lane] < _S(BATCH)) | _S(_S(1) - h[_ALIVE + lane])))
    return bool(leaves > 0)


@compiled
def _abreast(
    limits: Words, values: Short, table: Words, terms: Whole, untils: Whole, words: Words, whole: Whole,
    squares: Real,
) -> None:  # fmt: skip
    states, staked, covered, target = terms[0], terms[1], terms[2], terms[3]
    w, h = np.zeros(_ROWS * LANES, np.uint32), np.zeros(_ROWS * LANES, np.int32)
    sums, who = np.zeros(LANES), np.full(LANES, -1)
    waiting, active = 0, 0
    while True:
        for lane in range(LANES):
            one = who[lane]
            left = np.int64(h[_LEFT + lane])
            if one >= 0 and (left < BATCH or not h[_ALIVE + lane]):
                _put(lane, one, untils[one] - left, w, h, sums, words, whole, squares)
                if not h[_ALIVE + lane]:
                    whole[6, one] = RUINED if whole[0, one] < covered else REACHED
                elif whole[2, one] == terms[4]:
                    whole[6, one] = PLAYED_OUT
                who[lane], h[_ALIVE + lane], h[_LEFT + lane] = -1, 0, BATCH
                active -= 1
            while who[lane] < 0 and waiting < squares.size:
                one = waiting
                waiting += 1
                left = untils[one] - whole[2, one]
                if whole[6, one] == PLAYING and left >= BATCH:
                    who[lane], sums[lane] = one, squares[one]
                    for row in range(4):
                        w[row * LANES + lane] = words[row, one]
                    w[_NEXT + lane] = table[table.size - states + whole[1, one]]
                    h[_MONEY + lane], h[_TOP + lane], h[_FALL + lane] = (
                        whole[0, one],
                        whole[4, one],
                        whole[5, one],
                    )
                    h[_UNITS + lane], h[_LEFT + lane], h[_ALIVE + lane] = 0, left, 1
                    active += 1
        if active < FEWEST:
            break
        staying = True
        while staying:
            for _ in range(BATCH):
                _round(limits, values, states, staked, covered, target, w, h)
                _followed(table, w)
            for lane in range(LANES):
                sums[lane] += w[_SQUARE + lane]
                w[_SQUARE + lane] = 0
            staying = not _leaving(h) if active == LANES else False
    for lane in range(LANES):
        if who[lane] >= 0:
            one = who[lane]
            _put(lane, one, untils[one] - h[_LEFT + lane], w, h, sums, words, whole, squares)


@compiled
def _put(
    lane: int, one: int, played: int, w: Words, h: Short, sums: Real, words: Words, whole: Whole,
    squares: Real,
) -> None:  # fmt: skip
    """A lane's session back to the others."""
    for row in range(4):
        words[row, one] = w[row * LANES + lane]
    whole[0, one], whole[1, one], whole[2, one] = h[_MONEY + lane], w[_NEXT + lane] & _W(0xFFFF), played
    whole[3, one] += h[_UNITS + lane]
    whole[4, one], whole[5, one], squares[one] = h[_TOP + lane], h[_FALL + lane], sums[lane]

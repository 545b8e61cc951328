"""Sessions as machine code: many abreast, or one held in registers until it ends."""

# ruff: noqa: C901, PLR0912, PLR0915, PLR0917 - one loop, compiled whole; numba takes arrays by place
from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from taisai.study.simulation.compiled import compiled
from taisai.study.simulation.mix_compiled import begun, guide_of
from taisai.study.simulation.sessions import PLAYED_OUT, PLAYING, REACHED, RUINED, Figures, Plan
from taisai.study.simulation.sessions_abreast import FEWEST, abreast, fits
from taisai.study.simulation.streams import WARMING

Words = npt.NDArray[np.uint32]
Whole = npt.NDArray[np.int64]
Real = npt.NDArray[np.float64]
_GUIDE_SHIFT: Final = np.uint32(20)
_W = np.uint32
_L = np.uint64


def advanced(key: tuple[int, ...], plan: Plan, figures: Figures, rounds: int) -> None:
    """Plays so many more rounds of every session that has not ended."""
    if not figures.words.size:
        a, b, c = np.empty((3, figures.count), dtype=np.uint32)
        begun(np.array(key, dtype=np.uint64), figures.first, a, b, c)
        figures.words = np.stack([a, b, c, np.full(figures.count, WARMING + 1, dtype=np.uint32)])
    limits = np.array(plan.classes.limits, dtype=np.uint32)
    values = np.array(plan.classes.values, dtype=np.int64) * plan.classes.unit
    multiples = np.array(plan.system.multiples, dtype=np.int64)
    jumps = np.array(plan.jumps(), dtype=np.int64)
    terms = np.array([plan.staked, plan.least * plan.staked, plan.target, plan.rounds], dtype=np.int64)
    untils = np.minimum(figures.whole[2] + rounds, plan.rounds)
    played = (untils, figures.words, figures.whole, figures.squares)
    if figures.count >= FEWEST and fits(plan, min(rounds, plan.rounds)):
        abreast(plan, figures, untils)
    _advance(limits, guide_of(limits), values, multiples, jumps, terms, *played)


@compiled
def _advance(
    limits: Words, guide: npt.NDArray[np.uint8], values: Whole, multiples: Whole, jumps: Whole, terms: Whole,
    untils: Whole, words: Words, whole: Whole, squares: Real,
) -> None:  # fmt: skip
    """Session after session, each held in registers until it ends or has had its slice of rounds."""
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
    for one in range(squares.size):
        if whole[6, one] != PLAYING:
            continue
        x, y, z, n = words[0, one], words[1, one], words[2, one], words[3, one]
        money, now, total, square = whole[0, one], _L(whole[1, one]), whole[3, one], squares[one]
        top, deepest, ended = whole[4, one], whole[5, one], PLAYING
        played = whole[2, one]
        until = untils[one]
        while played < until:
            while True:
                drawn = _W(_W(x + y) + n)
                n = _W(n + _W(1))
                x = _W(y ^ (y >> _W(9)))
                y = _W(z + _W(z << _W(3)))
                z = _W(_W(_W(z << _W(21)) | (z >> _W(11))) + drawn)
                if drawn < end:
                    break
            if two:
                kind = _L(drawn >= least)  # no branch: it would be guessed wrong every other time
            else:
                kind = _L(guide[drawn >> _GUIDE_SHIFT])
                while drawn >= limits[kind]:
                    kind = kind + _L(1)
            place = kind * states + now
            if costs[now] > money:  # what the bankroll still covers
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
            if _L(money - covered) >= room:  # below what is covered it wraps round and is large
                ended = RUINED if money < covered else REACHED
                break
        if ended == PLAYING and played == terms[3]:
            ended = PLAYED_OUT
        words[0, one], words[1, one], words[2, one], words[3, one] = x, y, z, n
        whole[0, one], whole[1, one], whole[2, one], whole[3, one] = money, now, played, total
        whole[4, one], whole[5, one], whole[6, one] = top, deepest, ended
        squares[one] = square

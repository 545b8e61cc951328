"""Rounds of a fixed mix as machine code: lanes side by side, eight to an instruction where nets are few."""

# ruff: noqa: PLR0917
from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from taisai.bulk.kernels import compiled
from taisai.study.simulation.draws import LANES, SHORT_NET, STEPS, WARMING, Classes, Walk

FEW: Final = 4
"""Classes that are told apart by comparing alone; more are looked up."""
_GUIDE_BITS: Final = 12
_GUIDE_SHIFT: Final = np.uint32(32 - _GUIDE_BITS)
_UNROLLED: Final = 4
_W = np.uint32
_L = np.uint64
Words = npt.NDArray[np.uint32]
Long = npt.NDArray[np.uint64]
Nets = npt.NDArray[Any]
"""Of 32 bits where a lane fits them, else of 64."""


def walk_rounds(key: tuple[int, ...], classes: Classes, first: int, chunks: int, rest: int) -> Walk:
    """The walk of so many whole chunks from the first on, then of the rest of a chunk."""
    kind = np.int32 if max(map(abs, classes.values)) <= SHORT_NET else np.int64
    few = len(classes.values) <= FEW
    gap = FEW - len(classes.values) if few else 0
    values = np.array([*classes.values, *[0] * gap, 0], dtype=kind)
    limits = np.array([*classes.limits, *[classes.limits[-1]] * gap], dtype=np.uint32)
    walk = np.zeros(4, dtype=np.int64)
    keyed = np.array(key, dtype=np.uint64)
    _chunks(keyed, first, chunks, rest, values, limits, guide_of(limits), int(few), walk)
    return Walk(*walk.tolist())


def guide_of(limits: Words) -> npt.NDArray[np.uint8]:
    """[the highest bits of a draw] the first class that a draw with them can be in."""
    lowest = np.arange(2**_GUIDE_BITS, dtype=np.uint32) << _GUIDE_SHIFT
    return np.searchsorted(limits, lowest, side="right").astype(np.uint8)


@compiled
def scrambled(word: Any) -> Any:
    """The finaliser of SplitMix64."""
    word = (word ^ (word >> _L(30))) * _L(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> _L(27))) * _L(0x94D049BB133111EB)
    return word ^ (word >> _L(31))


@partial(compiled, inline="always")
def next_draw(a: Any, b: Any, c: Any, counter: Any) -> Any:
    """One step of sfc32: the draw, then the three words that follow. The caller adds 1 to the counter."""
    drawn = _W(_W(a + b) + counter)
    return (
        drawn,
        _W(b ^ (b >> _W(9))),
        _W(c + _W(c << _W(3))),
        _W(_W(_W(c << _W(21)) | (c >> _W(11))) + drawn),
    )


@compiled
def begun(key: Long, first: int, a: Words, b: Words, c: Words) -> None:
    """Begins a stream in each place, the first with this number; the next counter is WARMING + 1."""
    for lane in range(a.size):
        number = _L(first) + _L(lane)
        one = scrambled(key[0] + scrambled(number ^ key[1]))
        two = scrambled(key[2] + scrambled(number ^ key[3]))
        a[lane] = _W(one & _L(0xFFFFFFFF))
        b[lane] = _W(one >> _L(32))
        c[lane] = _W(two & _L(0xFFFFFFFF))
    for counter in range(1, WARMING + 1):
        for lane in range(a.size):
            _, a[lane], b[lane], c[lane] = next_draw(a[lane], b[lane], c[lane], _W(counter))


@compiled
def _few_steps(
    values: Nets, limits: Words, a: Words, b: Words, c: Words, net: Nets, high: Nets, low: Nets, fall: Nets,
    missed: Nets,
) -> None:  # fmt: skip
    """STEPS draws in every lane, of at most FEW classes: straight-line code, which becomes vectors."""
    v0, v1, v2, v3, nothing = values[0], values[1], values[2], values[3], values[4]
    l0, l1, l2, l3 = limits[0], limits[1], limits[2], limits[3]
    one = values.dtype.type(1)
    counter = _W(WARMING + 1)
    for _ in range(STEPS // _UNROLLED):
        for lane in range(LANES):
            x, y, z = a[lane], b[lane], c[lane]
            at, top, bottom, deepest, gone = net[lane], high[lane], low[lane], fall[lane], missed[lane]
            for step in range(_UNROLLED):
                drawn, x, y, z = next_draw(x, y, z, _W(counter + _W(step)))
                got = v1 if drawn >= l0 else v0
                got = v2 if drawn >= l1 else got
                got = v3 if drawn >= l2 else got
                got = nothing if drawn >= l3 else got
                gone = values.dtype.type(gone + (one if drawn >= l3 else nothing))
                at = values.dtype.type(at + got)
                top = max(top, at)
                bottom = min(bottom, at)
                deepest = max(deepest, values.dtype.type(top - at))
            a[lane], b[lane], c[lane] = x, y, z
            net[lane], high[lane], low[lane], fall[lane], missed[lane] = at, top, bottom, deepest, gone
        counter = _W(counter + _W(_UNROLLED))


@compiled
def _many_steps(
    values: Nets, limits: Words, guide: npt.NDArray[np.uint8], a: Words, b: Words, c: Words, net: Nets,
    high: Nets, low: Nets, fall: Nets, missed: Nets,
) -> None:  # fmt: skip
    """STEPS draws in every lane, of any number of classes, looked up by the highest bits of the draw."""
    last = limits.size
    counter = _W(WARMING + 1)
    for _ in range(STEPS):
        for lane in range(LANES):
            drawn, a[lane], b[lane], c[lane] = next_draw(a[lane], b[lane], c[lane], counter)
            kind = int(guide[drawn >> _GUIDE_SHIFT])
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
def _finished(
    values: Nets, limits: Words, lane: int, left: int, counter: int, a: Words, b: Words, c: Words, net: Nets,
    high: Nets, low: Nets, fall: Nets,
) -> None:  # fmt: skip
    """The rounds that a lane still lacks, one after the other."""
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
    key: Long, first: int, chunks: int, rest: int, values: Nets, limits: Words,
    guide: npt.NDArray[np.uint8], few: int, walk: npt.NDArray[np.int64],
) -> None:  # fmt: skip
    """Chunk after chunk, lane after lane, joined into the walk."""
    a, b, c = np.empty(LANES, np.uint32), np.empty(LANES, np.uint32), np.empty(LANES, np.uint32)
    net, high = np.empty(LANES, values.dtype), np.empty(LANES, values.dtype)
    low, fall = np.empty(LANES, values.dtype), np.empty(LANES, values.dtype)
    missed = np.empty(LANES, values.dtype)
    for chunk in range(first, first + chunks + (rest > 0)):
        begun(key, chunk * LANES, a, b, c)
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
                _finished(values, limits, lane, left, WARMING + 1 + drawn, a, b, c, net, high, low, fall)
            walk[3] = max(walk[3], np.int64(fall[lane]), walk[1] - walk[0] - low[lane])
            walk[1] = max(walk[1], walk[0] + high[lane])
            walk[2] = min(walk[2], walk[0] + low[lane])
            walk[0] += net[lane]

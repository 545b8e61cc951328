"""The innermost loops over compositions, compiled. Import it only where numba is installed.

A loop works on many compositions at once, one row a figure, so that it runs over neighbours in memory, which
the compiler turns into vector instructions. Every figure is a whole number that a float holds exactly.

Two sizes keep the figures near the processor: the parts of a strip of compositions, from which the weights of
the classes come, are many rows and short; the classes of a tile of strips are few rows and long, because the
answers, which go to far memory, are written quickest in long runs.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from taisai.bulk.kernels import compiled
from taisai.study.shoe.plan import CARDS, NO_CLASS, ONE, PAIRS, PARTS, SIX, TRIPLES, ZERO

LANES: Final = 512
"""Compositions in a strip."""
STRIDE: Final = np.uintp(LANES + 16)
"""From one row of parts to the next: rows a power of two apart would share lines of the cache."""
TILE: Final = 4 * LANES
"""Compositions in a tile."""
CACHE_LINE: Final = 64
MOST: Final = 2**31 - 1
"""More than any sum of counts that are counts."""
ROUNDS: Final = 1.5 * 2.0**52
"""Added to a small float64 and taken away again, it leaves the nearest whole number."""
Reals = npt.NDArray[Any]
Wholes = npt.NDArray[Any]
Steps = tuple[Wholes, Wholes]
"""A plan's adding and sums: unsigned, so that no index made of them counts from the end."""
Store = tuple[Reals, Reals]
"""The parts of a strip, row after row, and the classes of a tile."""


def store(classes: int, *, single: bool) -> Store:
    """Room for one thread; single where float32 is exact enough."""
    kind = np.dtype(np.float32 if single else np.float64)
    parts, rows = _aligned(PARTS * int(STRIDE), kind), _aligned(classes * TILE, kind)
    parts.reshape(PARTS, -1)[ONE] = 1
    return parts, rows.reshape(classes, TILE)


def _aligned(size: int, kind: np.dtype[Any]) -> Reals:
    """Zeros that begin where a line of the cache begins."""
    memory = np.zeros(size * kind.itemsize + CACHE_LINE, dtype=np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + size * kind.itemsize].view(kind)


@compiled
def _pairs(count: Any) -> Any:
    """In how many ways two cards of so many can come."""
    real = type(count)
    return count * (count - real(1)) * real(0.5)


@compiled
def _triples(count: Any, pairs: Any) -> Any:
    """In how many ways three can come.

    A multiplication is quicker than a division by three, and ROUNDS takes away what it is off.
    """
    return type(count)(np.float64(pairs) * (np.float64(count) - 2.0) * (1.0 / 3.0) + ROUNDS - ROUNDS)


@compiled
def _fill(left: Wholes, start: int, lanes: int, parts: Reals) -> int:
    """The parts of the compositions from `start`, all in one go; returns their counts or-ed."""
    real = parts.dtype.type
    ones, twos, threes = left[0, start:], left[1, start:], left[2, start:]
    fours, fives, sixes = left[3, start:], left[4, start:], left[5, start:]
    bits = np.int64(0)
    for at in range(lanes):
        lane = np.uintp(at)
        bits |= np.int64(ones[at]) | np.int64(twos[at]) | np.int64(threes[at])
        bits |= np.int64(fours[at]) | np.int64(fives[at]) | np.int64(sixes[at])
        # AVX2 turns an int32 into a float at once, but no int64.
        a, b, c = real(np.int32(ones[at])), real(np.int32(twos[at])), real(np.int32(threes[at]))
        d, e, f = real(np.int32(fours[at])), real(np.int32(fives[at])), real(np.int32(sixes[at]))
        aa, bb, cc = _pairs(a), _pairs(b), _pairs(c)
        dd, ee, ff = _pairs(d), _pairs(e), _pairs(f)
        parts[0 * STRIDE + lane] = a
        parts[1 * STRIDE + lane] = b
        parts[2 * STRIDE + lane] = c
        parts[3 * STRIDE + lane] = d
        parts[4 * STRIDE + lane] = e
        parts[5 * STRIDE + lane] = f
        parts[(PAIRS + 0) * STRIDE + lane] = aa
        parts[(PAIRS + 1) * STRIDE + lane] = bb
        parts[(PAIRS + 2) * STRIDE + lane] = cc
        parts[(PAIRS + 3) * STRIDE + lane] = dd
        parts[(PAIRS + 4) * STRIDE + lane] = ee
        parts[(PAIRS + 5) * STRIDE + lane] = ff
        parts[(TRIPLES + 0) * STRIDE + lane] = _triples(a, aa)
        parts[(TRIPLES + 1) * STRIDE + lane] = _triples(b, bb)
        parts[(TRIPLES + 2) * STRIDE + lane] = _triples(c, cc)
        parts[(TRIPLES + 3) * STRIDE + lane] = _triples(d, dd)
        parts[(TRIPLES + 4) * STRIDE + lane] = _triples(e, ee)
        parts[(TRIPLES + 5) * STRIDE + lane] = _triples(f, ff)
        parts[18 * STRIDE + lane] = a * b
        parts[19 * STRIDE + lane] = a * c
        parts[20 * STRIDE + lane] = a * d
        parts[21 * STRIDE + lane] = a * e
        parts[22 * STRIDE + lane] = a * f
        parts[23 * STRIDE + lane] = b * c
        parts[24 * STRIDE + lane] = b * d
        parts[25 * STRIDE + lane] = b * e
        parts[26 * STRIDE + lane] = b * f
        parts[27 * STRIDE + lane] = c * d
        parts[28 * STRIDE + lane] = c * e
        parts[29 * STRIDE + lane] = c * f
        parts[30 * STRIDE + lane] = d * e
        parts[31 * STRIDE + lane] = d * f
        parts[32 * STRIDE + lane] = e * f
        parts[CARDS * STRIDE + lane] = a + b + c + d + e + f
    return int(bits)


@compiled
def _weigh(store: Store, adding: Wholes, at: Any) -> None:
    """From the parts to the weights of all classes, which go to the tile from `at`."""
    parts, classes = store
    for step in range(adding.shape[0]):
        made, begins = adding[step, 0], adding[step, 1] == 1
        a, b, c = adding[step, 2] * STRIDE, adding[step, 3] * STRIDE, adding[step, 4] * STRIDE
        d, e, f = adding[step, 5] * STRIDE, adding[step, 6] * STRIDE, adding[step, 7] * STRIDE
        if begins and adding[step, 4] == ZERO:
            for i in range(LANES):
                lane = np.uintp(i)
                classes[made, at + lane] = parts[a + lane] * parts[b + lane]
        elif begins and adding[step, 6] == ZERO:
            for i in range(LANES):
                lane = np.uintp(i)
                some = parts[a + lane] * parts[b + lane] + parts[c + lane] * parts[d + lane]
                classes[made, at + lane] = some
        elif begins:
            for i in range(LANES):
                lane = np.uintp(i)
                some = parts[a + lane] * parts[b + lane] + parts[c + lane] * parts[d + lane]
                classes[made, at + lane] = some + parts[e + lane] * parts[f + lane]
        else:
            for i in range(LANES):
                lane = np.uintp(i)
                some = parts[a + lane] * parts[b + lane] + parts[c + lane] * parts[d + lane]
                classes[made, at + lane] += some + parts[e + lane] * parts[f + lane]


@compiled
def _add_area(classes: Reals, sums: Wholes, step: int, lanes: int, back: Reals) -> None:
    """One step of an area's sum: what its classes weigh, times what they return."""
    kind = back.dtype.type
    returned = kind(sums[step, 3])
    a, b, c, d = sums[step, 4], sums[step, 5], sums[step, 6], sums[step, 7]
    e, f, g, h = sums[step, 8], sums[step, 9], sums[step, 10], sums[step, 11]
    if sums[step, 1] == 0:
        for place in range(4, sums.shape[1]):
            more = sums[step, place]
            if more != NO_CLASS:
                for lane in range(lanes):
                    back[lane] += kind(classes[more, lane]) * returned
    elif b == NO_CLASS:
        for lane in range(lanes):
            back[lane] = kind(classes[a, lane]) * returned
    elif c == NO_CLASS:
        for lane in range(lanes):
            back[lane] = kind(classes[a, lane] + classes[b, lane]) * returned
    else:
        for lane in range(lanes):
            some = classes[a, lane] + classes[b, lane] + classes[c, lane] + classes[d, lane]
            some += classes[e, lane] + classes[f, lane] + classes[g, lane] + classes[h, lane]
            back[lane] = kind(some) * returned


@compiled
def returns(
    piece: tuple[int, int], left: Wholes, steps: Steps, store: Store, result: tuple[Wholes, Wholes]
) -> tuple[int, int, int]:
    """Fills the result, back and total, for the compositions of a piece: from the first, up to another.

    The arrays are not cut to the piece: the compiler knows of whole arrays only that columns are neighbours.
    Returns all counts or-ed, which no count exceeds, and the least and the greatest sum of a composition.
    """
    adding, sums = steps
    parts, classes = store
    back, total = result
    whole = total.dtype.type
    bits = np.int64(0)
    fewest, most = np.int32(MOST), np.int32(0)
    for start in range(piece[0], piece[1], TILE):
        size = min(TILE, piece[1] - start)
        for at in range(0, size, LANES):
            lanes = min(LANES, size - at)
            bits |= _fill(left, start + at, lanes, parts)
            _weigh(store, adding, np.uintp(at))
            ways = total[start + at : start + at + lanes]
            for i in range(lanes):
                cards = np.float64(parts[CARDS * STRIDE + np.uintp(i)])
                ways[i] = whole(cards * (cards - 1.0) * (cards - 2.0) / 6.0)
                fewest = min(fewest, np.int32(cards))
                most = max(most, np.int32(cards))
        for step in range(sums.shape[0]):
            _add_area(classes, sums, step, size, back[sums[step, 0], start : start + size])
    return int(bits), int(fewest), int(most)


@compiled
def gains(
    outer: tuple[int, int],
    shoe: tuple[Wholes, Reals, Reals],
    steps: Steps,
    store: Store,
    result: tuple[Reals, Reals],
) -> None:
    """Adds up all compositions with so many cards of the two outer faces, weighed by their ways.

    The shoe is the counts held, [face][count] ways to have it, [round] what comes back on even terms. The
    result is [round][area] the weight of compositions where the area is the best bet and better than none,
    and the same times what it wins.
    """
    first, last = outer
    held, ways, units = shoe
    cards, rounds = held.sum(), units.size
    counts = np.zeros((SIX, LANES), np.int32)
    weight, back = np.empty(LANES), np.empty(LANES)
    best, which = np.empty(LANES), np.empty(LANES, np.int64)
    place = np.empty(LANES, np.int64)
    lanes = 0
    outside = ways[0, first] * ways[5, last]
    for second in range(held[1] + 1):
        for fifth in range(held[4] + 1):
            for third in range(held[2] + 1):
                fixed = first + second + third + fifth + last
                product = outside * ways[1, second] * ways[4, fifth] * ways[2, third]
                for fourth in range((cards - fixed) % 3, held[3] + 1, 3):
                    dealt = (cards - fixed - fourth) // 3
                    if dealt < rounds:
                        counts[0, lanes], counts[1, lanes], counts[2, lanes] = first, second, third
                        counts[3, lanes], counts[4, lanes], counts[5, lanes] = fourth, fifth, last
                        weight[lanes], place[lanes] = product * ways[3, fourth], dealt
                        lanes += 1
                        if lanes == LANES:
                            _choose(counts, store, steps, (back, best, which))
                            _gather(lanes, (weight, place), (best, which), units, result)
                            lanes = 0
    if lanes:
        _choose(counts, store, steps, (back, best, which))
        _gather(lanes, (weight, place), (best, which), units, result)


@compiled
def _choose(counts: Wholes, store: Store, steps: Steps, choice: tuple[Reals, Reals, Wholes]) -> None:
    """The area that returns most in every lane; the first among equals."""
    adding, sums = steps
    parts, classes = store
    back, best, which = choice
    _fill(counts, 0, LANES, parts)
    _weigh(store, adding, np.uintp(0))
    best[:] = -1.0
    for step in range(sums.shape[0]):
        _add_area(classes, sums, step, LANES, back)
        if sums[step, 2] == 1:
            area = sums[step, 0]
            for lane in range(LANES):
                better = back[lane] > best[lane]
                best[lane] = back[lane] if better else best[lane]
                which[lane] = area if better else which[lane]


@compiled
def _gather(
    lanes: int,
    seen: tuple[Reals, Wholes],
    chosen: tuple[Reals, Wholes],
    units: Reals,
    result: tuple[Reals, Reals],
) -> None:
    weight, place = seen
    best, which = chosen
    bets, gained = result
    for lane in range(lanes):
        won = best[lane] - units[place[lane]]
        if won > 0.0:
            bets[place[lane], which[lane]] += weight[lane]
            gained[place[lane], which[lane]] += weight[lane] * won

"""The innermost loops over compositions, compiled. Import it only where numba is installed.

A loop works on a tile of many compositions at once, one row a figure, so that every step of the plan is a
plain loop over neighbours in memory, which the compiler turns into vector instructions. Every figure is a
whole number that a float holds exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar

import numba
import numpy as np
import numpy.typing as npt

from taisai.study.shoe.plan import CLASSES, ONE, PAIRS, SIX, TRIPLES, ZERO

LANES: Final = 512
"""Compositions in a tile: its rows fill a good part of the second cache, and no more."""
MOST: Final = 2**62
"""More than any sum of counts that are counts."""
Reals = npt.NDArray[Any]
Wholes = npt.NDArray[Any]
Steps = tuple[Wholes, Wholes, Wholes]
"""A plan's products, adding and sums."""
P = ParamSpec("P")
R = TypeVar("R")


def _loop(function: Callable[P, R]) -> Callable[P, R]:
    """Compiles on the first call, which takes seconds once; later processes read numba's cache."""
    made: Callable[P, R]
    try:
        made = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no folder that numba could keep the compiled code in
        made = numba.njit(nogil=True)(function)
    return made


@_loop
def _weigh(store: Reals, products: Wholes, adding: Wholes) -> None:
    """Fills a tile from its first six rows, the counts, up to the weights of all classes."""
    for face in range(SIX):
        one, two, three = store[face], store[PAIRS + face], store[TRIPLES + face]
        for lane in range(LANES):
            count = np.float64(one[lane])
            pairs = count * (count - 1.0) * 0.5
            two[lane] = pairs
            three[lane] = pairs * (count - 2.0) / 3.0
    for step in range(products.shape[0]):
        made, one, two = store[products[step, 0]], store[products[step, 1]], store[products[step, 2]]
        for lane in range(LANES):
            made[lane] = one[lane] * two[lane]
    for step in range(adding.shape[0]):
        made = store[adding[step, 0]]
        a, b, c = store[adding[step, 2]], store[adding[step, 3]], store[adding[step, 4]]
        d, e, f = store[adding[step, 5]], store[adding[step, 6]], store[adding[step, 7]]
        if adding[step, 1] == 1:
            for lane in range(LANES):
                made[lane] = a[lane] * b[lane] + c[lane] * d[lane] + e[lane] * f[lane]
        else:
            for lane in range(LANES):
                made[lane] += a[lane] * b[lane] + c[lane] * d[lane] + e[lane] * f[lane]


@_loop
def _add_area(store: Reals, step: Wholes, lanes: int, back: Reals) -> None:
    """One step of an area's sum: what its classes weigh, times what they return."""
    returned = np.float64(step[3])
    a, b = store[step[4]], store[step[5]]
    if step[1] == 0:
        for place in range(4, step.size):
            if step[place] != ZERO:
                more = store[step[place]]
                for lane in range(lanes):
                    back[lane] += np.float64(more[lane]) * returned
    elif step[6] == ZERO:
        for lane in range(lanes):
            back[lane] = np.float64(a[lane] + b[lane]) * returned
    else:
        c, d, e = store[step[6]], store[step[7]], store[step[8]]
        f, g, h = store[step[9]], store[step[10]], store[step[11]]
        for lane in range(lanes):
            some = a[lane] + b[lane] + c[lane] + d[lane] + e[lane] + f[lane] + g[lane] + h[lane]
            back[lane] = np.float64(some) * returned


@_loop
def returns(
    left: Wholes, steps: Steps, store: Reals, back: Wholes, total: Wholes
) -> tuple[int, int, int, int]:
    """Fills `back` and `total` for all compositions; returns the least and greatest count and sum it met."""
    products, adding, sums = steps
    store[ONE], store[ZERO] = 1, 0
    least, greatest = np.int64(MOST), np.int64(-MOST)
    fewest, most = MOST, -MOST
    cards = np.empty(LANES, np.int64)
    for start in range(0, left.shape[1], LANES):
        lanes = min(LANES, left.shape[1] - start)
        cards[:] = 0
        for face in range(SIX):
            row, counts = store[face], left[face, start : start + lanes]
            for lane in range(lanes):
                count = np.int64(counts[lane])
                row[lane] = np.int32(count)  # AVX2 turns an int32 into a float at once, but no int64
                cards[lane] += count
                least = min(least, count)
                greatest = max(greatest, count)
            row[lanes:] = 0
        _weigh(store, products, adding)
        for step in range(sums.shape[0]):
            _add_area(store, sums[step], lanes, back[sums[step, 0], start : start + lanes])
        ways = total[start : start + lanes]
        for lane in range(lanes):
            held = np.float64(np.int32(cards[lane]))
            ways[lane] = held * (held - 1.0) * (held - 2.0) / 6.0
            fewest = min(fewest, cards[lane])
            most = max(most, cards[lane])
    return int(least), int(greatest), fewest, most


@_loop
def gains(
    outer: tuple[int, int],
    shoe: tuple[Wholes, Reals, Reals],
    steps: Steps,
    store: Reals,
    result: tuple[Reals, Reals],
) -> None:
    """Adds up all compositions with so many cards of the two outer faces, weighed by their ways.

    The shoe is the counts held, [face][count] ways to have it, [round] what comes back on even terms. The
    result is [round][area] the weight of compositions where the area is the best bet and better than none,
    and the same times what it wins.
    """
    first, last = outer
    held, ways, units = shoe
    store[ONE], store[ZERO] = 1, 0
    cards, rounds = held.sum(), units.size
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
                        store[0, lanes], store[1, lanes], store[2, lanes] = first, second, third
                        store[3, lanes], store[4, lanes], store[5, lanes] = fourth, fifth, last
                        weight[lanes], place[lanes] = product * ways[3, fourth], dealt
                        lanes += 1
                        if lanes == LANES:
                            _choose(store, steps, back, best, which)
                            _gather(lanes, (weight, place), (best, which), units, result)
                            lanes = 0
    if lanes:
        _choose(store, steps, back, best, which)
        _gather(lanes, (weight, place), (best, which), units, result)


@_loop
def _choose(store: Reals, steps: Steps, back: Reals, best: Reals, which: Wholes) -> None:
    """The area that returns most in every lane; the first among equals."""
    products, adding, sums = steps
    _weigh(store, products, adding)
    best[:] = -1.0
    for step in range(sums.shape[0]):
        _add_area(store, sums[step], LANES, back)
        if sums[step, 2] == 1:
            area = sums[step, 0]
            for lane in range(LANES):
                better = back[lane] > best[lane]
                best[lane] = back[lane] if better else best[lane]
                which[lane] = area if better else which[lane]


@_loop
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


def store(classes: int, *, single: bool) -> Reals:
    """The rows of a tile; single where float32 is exact enough."""
    return np.zeros((CLASSES + classes, LANES), dtype=np.float32 if single else np.float64)

"""Compiled loops over compositions and over rounds of a shoe. Needs numba.

The loops over compositions handle many at once, one row per figure, so that the compiler can use vector
instructions. Every figure is a whole number that a float holds exactly. Two sizes suit the caches: products
of counts are many short rows, one strip of compositions; weights of classes are few long rows, one tile of
strips, because results are written to main memory fastest in long runs.

The loop over rounds enumerates how many cards of each tag group have been dealt; the last group has the rest.
Its arrays have a margin of three at every edge, so that three cards can be subtracted from an index.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from taisai.bulk.kernels import compiled
from taisai.rules.outcomes import DICE
from taisai.study.shoe.odds import CARD_COUNT, NO_CLASS, ONE, PAIRS, PARTS, SIX, TRIPLES, ZERO

LANES: Final = 512  # compositions in a strip
STRIDE: Final = np.uintp(LANES + 16)  # between rows; powers of two would share cache lines
TILE: Final = 4 * LANES  # compositions in a tile
CACHE_LINE: Final = 64
MOST: Final = 2**31 - 1  # more than any sum of valid counts
ROUNDS: Final = 1.5 * 2.0**52  # adding and subtracting it rounds a small float64 to a whole number
Reals = npt.NDArray[Any]
Wholes = npt.NDArray[Any]
Pairs = tuple[Wholes, Wholes]
"""The steps of a plan; unsigned, so that numba omits the check for negative indexes."""
Values = tuple[Reals, Reals]  # the products of a strip and the classes of a tile


def store(classes: int, *, single: bool) -> Values:
    """Working memory for one thread; `single` if float32 is exact enough."""
    kind = np.dtype(np.float32 if single else np.float64)
    parts, rows = _aligned(PARTS * int(STRIDE), kind), _aligned(classes * TILE, kind)
    parts.reshape(PARTS, -1)[ONE] = 1
    return parts, rows.reshape(classes, TILE)


def _aligned(size: int, kind: np.dtype[Any]) -> Reals:
    """Zeros that start at a cache line."""
    memory = np.zeros(size * kind.itemsize + CACHE_LINE, dtype=np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + size * kind.itemsize].view(kind)


@compiled
def _pairs(count: Any) -> Any:
    """The number of pairs of cards."""
    real = type(count)
    return count * (count - real(1)) * real(0.5)


@compiled
def _triples(count: Any, pairs: Any) -> Any:
    """The number of triples of cards. Multiplying and rounding is faster than dividing by three."""
    return type(count)(np.float64(pairs) * (np.float64(count) - 2.0) * (1.0 / 3.0) + ROUNDS - ROUNDS)


@compiled
def _fill(left: Wholes, start: int, lanes: int, parts: Reals) -> int:
    """Computes the products for a strip from `start`; returns the bitwise or of its counts."""
    real = parts.dtype.type
    ones, twos, threes = left[0, start:], left[1, start:], left[2, start:]
    fours, fives, sixes = left[3, start:], left[4, start:], left[5, start:]
    bits = np.int64(0)
    for at in range(lanes):
        lane = np.uintp(at)
        bits |= np.int64(ones[at]) | np.int64(twos[at]) | np.int64(threes[at])
        bits |= np.int64(fours[at]) | np.int64(fives[at]) | np.int64(sixes[at])
        # AVX2 has an instruction to convert int32 to float, but none for int64.
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
        parts[CARD_COUNT * STRIDE + lane] = a + b + c + d + e + f
    return int(bits)


@compiled
def _weigh(store: Values, adding: Wholes, at: Any) -> None:
    """Computes the weights of all classes from the products, into the tile at `at`."""
    parts, classes = store
    for step in range(adding.shape[0]):
        class_row, begins = adding[step, 0], adding[step, 1] == 1
        a, b, c = adding[step, 2] * STRIDE, adding[step, 3] * STRIDE, adding[step, 4] * STRIDE
        d, e, f = adding[step, 5] * STRIDE, adding[step, 6] * STRIDE, adding[step, 7] * STRIDE
        if begins and adding[step, 4] == ZERO:
            for i in range(LANES):
                lane = np.uintp(i)
                classes[class_row, at + lane] = parts[a + lane] * parts[b + lane]
        elif begins and adding[step, 6] == ZERO:
            for i in range(LANES):
                lane = np.uintp(i)
                sum_of_products = parts[a + lane] * parts[b + lane] + parts[c + lane] * parts[d + lane]
                classes[class_row, at + lane] = sum_of_products
        elif begins:
            for i in range(LANES):
                lane = np.uintp(i)
                sum_of_products = parts[a + lane] * parts[b + lane] + parts[c + lane] * parts[d + lane]
                classes[class_row, at + lane] = sum_of_products + parts[e + lane] * parts[f + lane]
        else:
            for i in range(LANES):
                lane = np.uintp(i)
                sum_of_products = parts[a + lane] * parts[b + lane] + parts[c + lane] * parts[d + lane]
                classes[class_row, at + lane] += sum_of_products + parts[e + lane] * parts[f + lane]


@compiled
def _add_area(classes: Reals, sums: Wholes, step: int, lanes: int, back: Reals) -> None:
    """One step of an area's sum: weights of classes times what they return."""
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
    piece: tuple[int, int], left: Wholes, steps: Pairs, store: Values, result: tuple[Wholes, Wholes]
) -> tuple[int, int, int]:
    """Fills the result, `back` and `total`, for the compositions of a piece (first, end).

    The arrays are not sliced to the piece, because the compiler knows only whole arrays to be contiguous.
    Returns the bitwise or of all counts, and the least and the greatest number of cards of a composition.
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
                cards = np.float64(parts[CARD_COUNT * STRIDE + np.uintp(i)])
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
    steps: Pairs,
    store: Values,
    result: tuple[Reals, Reals],
) -> None:
    """Sums over all compositions with the given counts of the two outer faces, weighted by their ways.

    The shoe is the counts held, [face][count] the ways to have it, [round] what returns at no edge. The
    result is [round][area] the weight of compositions where the area is the best bet and has a positive
    expected value, and the same times the gain.
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
def _choose(counts: Wholes, store: Values, steps: Pairs, choice: tuple[Reals, Reals, Wholes]) -> None:
    """The area with the greatest return in every lane; the first of equal ones."""
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


class DealtShoe(NamedTuple):
    """The constants of a shoe while it is dealt."""

    held: Wholes  # [group] its cards in the full shoe; there are five groups, some perhaps empty
    tags: Wholes  # [group] the tag of its cards
    ways: Reals  # [group][n] the ways to choose n of its cards
    taken: Reals  # [k][n] the ways to choose k of n cards
    hands: Wholes  # [hand][group] three cards, by group
    sums: Wholes  # [hand] what they add to the count
    parts: Reals
    """[part][high or low][hand] factors; a sum of products over the parts is a product of two nets."""
    nets: Reals  # [net or its square][high or low][hand] the expected value
    least: float  # states that are less probable are left out


class DealtRound(NamedTuple):
    """One round of a shoe."""

    dealt: int  # cards after the round
    deals: float  # the ways to choose the cards dealt
    bets: Reals  # [high or low][count] 1 if the count calls for a bet, else 0; count 0 is in the middle
    before: Reals
    """[part][cards of each group but the last] the expected sum of the part over the earlier rounds."""
    after: Reals  # the same with this round included


@compiled
def deal(shoe: DealtShoe, played: DealtRound, first: int) -> Reals:
    """Fills `after` for the states with this many cards of the first group dealt.

    Returns the sums of each part times its earlier sum, then of the net, then of its square.
    """
    parts, most = shoe.parts.shape[0], shoe.held[3] + 1
    sums, met, weights = np.zeros(parts + 2), np.zeros((parts + 2, most)), np.zeros((3, most))
    played.after[:, first + DICE] = 0.0
    for second in range(shoe.held[1] + 1):
        for third in range(shoe.held[2] + 1):
            rest = played.dealt - first - second - third
            ways = shoe.ways[0, first] * shoe.ways[1, second] * shoe.ways[2, third] / played.deals
            start, end = _probable(shoe, ways, rest)
            if start < end:
                met[:] = 0.0
                _last_round(shoe, played, (first, second, third, rest), (start, end), (met, weights))
                for n in range(end - start):
                    share = ways * shoe.ways[3, start + n] * shoe.ways[4, rest - start - n]
                    for figure in range(parts + 2):
                        sums[figure] += share * met[figure, n]
    return sums


@compiled
def _probable(shoe: DealtShoe, ways: float, rest: int) -> tuple[int, int]:
    """The range of cards of the fourth group, without its end, whose states are probable enough."""
    start, end = max(0, rest - shoe.held[4]), min(shoe.held[3], rest) + 1
    while start < end and ways * shoe.ways[3, start] * shoe.ways[4, rest - start] < shoe.least:
        start += 1
    while start < end and ways * shoe.ways[3, end - 1] * shoe.ways[4, rest - end + 1] < shoe.least:
        end -= 1
    return start, end


@compiled
def _last_round(
    shoe: DealtShoe,
    played: DealtRound,
    cards: tuple[int, int, int, int],
    span: tuple[int, int],
    room: tuple[Reals, Reals],
) -> None:
    """Sums over the hands that the last three cards can have been, all orders equally likely."""
    first, second, third, rest = cards
    start, end = span
    met, (chance, high, low) = room[0], (room[1][0], room[1][1], room[1][2])
    parts, size, step = shoe.parts.shape[0], end - start, shoe.tags[3] - shoe.tags[4]
    count = first * shoe.tags[0] + second * shoe.tags[1] + third * shoe.tags[2]
    count += start * shoe.tags[3] + (rest - start) * shoe.tags[4] + played.bets.shape[1] // 2
    orders = shoe.taken[DICE, played.dealt]
    for hand in range(len(shoe.hands)):
        a, b, c = shoe.hands[hand, 0], shoe.hands[hand, 1], shoe.hands[hand, 2]
        if a > first or b > second or c > third:
            continue
        some = shoe.taken[a, first] * shoe.taken[b, second] * shoe.taken[c, third] / orders
        fourth, last = shoe.taken[shoe.hands[hand, 3]], shoe.taken[shoe.hands[hand, 4]]
        was = count - shoe.sums[hand]
        for n in range(size):
            chance[n] = some * fourth[start + n] * last[rest - start - n]
            high[n] = chance[n] * played.bets[0, was + n * step]
            low[n] = chance[n] * played.bets[1, was + n * step]
        for part in range(parts):
            old = played.before[part, first + DICE - a, second + DICE - b, third + DICE - c]
            old = old[start + DICE - shoe.hands[hand, 3] :]
            new = played.after[part, first + DICE, second + DICE, third + DICE, start + DICE :]
            up, down, product = shoe.parts[part, 0, hand], shoe.parts[part, 1, hand], met[part]
            for n in range(size):
                now = high[n] * up + low[n] * down
                new[n] += chance[n] * old[n] + now
                product[n] += old[n] * now
        for power in range(2):
            up, down, net = shoe.nets[power, 0, hand], shoe.nets[power, 1, hand], met[parts + power]
            for n in range(size):
                net[n] += high[n] * up + low[n] * down

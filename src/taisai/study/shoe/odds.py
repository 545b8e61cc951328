"""Exact odds for many compositions of the shoe at once, by a plan that compiled loops or NumPy follow.

NumPy is for use without numba: slower, with the same digits.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache, reduce
from itertools import combinations, groupby
from math import comb
from operator import or_
from typing import Any, Final, NamedTuple

from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import DICE, FACES, MIRRORED, OUTCOMES
from taisai.study import needed
from taisai.study.shoe.composition import MOST_COUNT

with needed("NumPy", "study"):
    import numpy as np
    import numpy.typing as npt

    from taisai.bulk.kernels import loads_numba

Reals = npt.NDArray[Any]
Wholes = npt.NDArray[Any]
PackedSteps = npt.NDArray[np.uint64]

SIX: Final = len(FACES)
PAIRS, TRIPLES = SIX, 2 * SIX
"""Rows of products: n of each face from row 0, n(n-1)/2 from PAIRS, n(n-1)(n-2)/6 from TRIPLES."""
TWO_FACES: Final = {faces: 3 * SIX + place for place, faces in enumerate(combinations(range(SIX), 2))}
"""Then the products of two faces, a row of ones, a row of zeros, and the sum of all cards."""
ONE: Final = 3 * SIX + len(TWO_FACES)
ZERO: Final = ONE + 1
CARD_COUNT: Final = ONE + 2
PARTS: Final = ONE + 3
NO_CLASS: Final = 0  # the row of zeros among the classes
PRODUCTS_A_STEP: Final = 3
CLASSES_A_STEP: Final = 8  # terms per step; a loop with more terms reads and writes its results less often
_MOST_CARDS: Final = 10**7
EXACT_SINGLE, EXACT_DOUBLE = 2**24, 2**53  # integers up to these are exact as float32 and as float64


class WeighingPlan(NamedTuple):
    """The steps that compute the returns of every area from six counts.

    Outcomes with the same returns on every area are one class, whose weights are added once. The 19 areas of
    the 3 Card game need 19 classes instead of 56 outcomes.
    """

    adding: PackedSteps
    """[step] the class, whether it is its first step, then pairs of rows to multiply and add."""
    sums: PackedSteps
    """[step] the area, whether it is its first and its last step, the return, then classes to add."""
    classes: int  # the number of classes, with the row of zeros
    areas: int
    denominator: int
    most_returned: int  # the greatest return per unit staked, in 1/denominator
    mirror: tuple[int, ...] | None
    """[area] → its mirror, with every face replaced by the opposite one; None if an area has no mirror."""

    @property
    def steps(self) -> tuple[PackedSteps, PackedSteps]:
        return self.adding, self.sums


@lru_cache(maxsize=64)
def plan(matrix: Matrix) -> WeighingPlan:
    back = [[net + matrix.denominator for net in row] for row in matrix.nets]
    columns = list(zip(*back, strict=True))
    winning = dict.fromkeys(column for column in columns if any(column))
    classes = {column: place for place, column in enumerate(winning, NO_CLASS + 1)}
    weights = sorted(
        (classes[column], _factors(outcome.faces))
        for outcome, column in zip(OUTCOMES, columns, strict=True)
        if column in classes
    )
    sums = [
        (area, returned, sorted(row for column, row in classes.items() if column[area] == returned))
        for area, row in enumerate(back)
        for returned in sorted(set(row) - {0})
    ]
    return WeighingPlan(
        adding=_array(_adding(weights)),
        sums=_array(_sums(sums)),
        classes=NO_CLASS + 1 + len(classes),
        areas=len(back),
        denominator=matrix.denominator,
        most_returned=max(max(row) for row in back),
        mirror=_mirror(matrix),
    )


def most_cards(plan: WeighingPlan, exact: int) -> int:
    """The most cards of a shoe for which every figure is exact."""
    ways = exact // plan.most_returned
    return bisect_right(range(_MOST_CARDS), ways, key=lambda cards: comb(cards, DICE)) - 1


def _factors(faces: Sequence[int]) -> tuple[int, int]:
    """The two rows whose product is the weight of an outcome."""
    counted = Counter(face - 1 for face in faces)
    (first, times), *others = counted.most_common()
    if times == 3:
        return TRIPLES + first, ONE
    if times == 2:
        return PAIRS + first, others[0][0]
    low, middle, high = sorted(counted)
    return TWO_FACES[low, middle], high


def _adding(weights: list[tuple[int, tuple[int, int]]]) -> Iterable[tuple[int, ...]]:
    for row, members in groupby(weights, key=lambda weight: weight[0]):
        factors = [pair for _, pair in members]
        for start in range(0, len(factors), PRODUCTS_A_STEP):
            some = factors[start : start + PRODUCTS_A_STEP]
            some += [(ZERO, ZERO)] * (PRODUCTS_A_STEP - len(some))
            yield row, start == 0, *(factor for pair in some for factor in pair)


def _sums(sums: list[tuple[int, int, list[int]]]) -> Iterable[tuple[int, ...]]:
    for area, parts in groupby(sums, key=lambda part: part[0]):
        steps = [
            (returned, rows[start : start + CLASSES_A_STEP])
            for _, returned, rows in parts
            for start in range(0, len(rows), CLASSES_A_STEP)
        ]
        for place, (returned, some) in enumerate(steps):
            padding = [NO_CLASS] * (CLASSES_A_STEP - len(some))
            yield area, place == 0, place == len(steps) - 1, returned, *some, *padding


def _array(rows: Iterable[tuple[int, ...]]) -> PackedSteps:
    steps = np.array(list(rows), dtype=np.uint64)
    steps.setflags(write=False)
    return steps


def _mirror(matrix: Matrix) -> tuple[int, ...] | None:
    where = {row: place for place, row in enumerate(matrix.nets)}
    mirrors = [where.get(tuple(row[place] for place in MIRRORED)) for row in matrix.nets]
    places = tuple(place for place in mirrors if place is not None)
    # Two areas with equal nets give None as well; that only costs time.
    return places if len(set(places)) == len(mirrors) else None


def _backs(left: Reals, plan: WeighingPlan) -> Reals:
    """[area][composition] the return, as exact floats."""
    parts, classes = np.empty((PARTS, left.shape[1])), np.zeros((plan.classes, left.shape[1]))
    parts[ONE], parts[ZERO] = 1, 0
    parts[:SIX] = left
    parts[PAIRS:TRIPLES] = left * (left - 1) * 0.5
    parts[TRIPLES : TRIPLES + SIX] = parts[PAIRS:TRIPLES] * (left - 2) / 3
    for (one, two), made in TWO_FACES.items():
        np.multiply(parts[one], parts[two], out=parts[made])
    for class_row, begins, a, b, c, d, e, f in plan.adding.tolist():
        added = parts[a] * parts[b]
        for one, two in ((c, d), (e, f)):
            if one != ZERO:
                added += parts[one] * parts[two]
        classes[class_row] = added if begins else classes[class_row] + added
    backs = np.zeros((plan.areas, left.shape[1]))
    for area, _, _, returned, *rows in plan.sums.tolist():
        backs[area] += classes[[row for row in rows if row != NO_CLASS]].sum(axis=0) * returned
    return backs


def gains_by_numpy(
    outer: tuple[int, int], shoe: tuple[Wholes, Reals, Reals], plan: WeighingPlan, result: tuple[Reals, Reals]
) -> None:
    """Sums over all compositions with these cards of the two outer faces, as the compiled loop does."""
    first, last = outer
    held, ways, units = shoe
    bets, gained = result
    cards = int(held.sum())
    fifth, third, fourth = np.meshgrid(*(np.arange(held[face] + 1) for face in (4, 2, 3)), indexing="ij")
    for second in range(int(held[1]) + 1):
        unseen = first + second + third + fourth + fifth + last
        due = ((cards - unseen) % 3 == 0) & ((cards - unseen) // 3 < units.size)
        two, three, four = fifth[due], third[due], fourth[due]
        # The same factors in the same order as in the compiled loop, for the same rounding.
        weight = ways[0, first] * ways[5, last] * ways[1, second] * ways[4, two]
        weight = weight * ways[2, three] * ways[3, four]
        same = np.ones_like(two)
        left = np.stack([first * same, second * same, three, four, two, last * same]).astype(np.float64)
        backs = _backs(left, plan)
        which = backs.argmax(axis=0)
        place = (cards - unseen[due]) // 3
        won = backs[which, np.arange(which.size)] - units[place]
        good = won > 0
        where = (place[good], which[good])
        np.add.at(bets, where, weight[good])
        np.add.at(gained, where, weight[good] * won[good])


# ── many compositions at once ────────────────────────────────────────────────────────────────────────

MOST_COMPOSITIONS: Final = 10_000_000
"""The most compositions in one call; with 19 areas their odds take 1.6 GB."""
THREADS: Final = 2  # more threads are not faster, because memory bandwidth is the limit
_PIECE: Final = 8_192  # compositions that a thread takes at a time; fewer do not need a second thread
TILE: Final = 8_192  # compositions at a time, so that intermediate results stay in the cache


@dataclass(frozen=True, slots=True)
class ManyOdds:
    """The odds of every area for many compositions, as integers over a common denominator."""

    matrix: Matrix
    back: Wholes
    """[area][composition] the expected return per unit staked, times the denominator and `total`."""
    total: Wholes
    """[composition] the ways to choose three cards."""

    def edge(self, area: str, composition: int) -> Fraction:
        """The exact house edge of an area for one of the compositions."""
        unit = int(self.total[composition]) * self.matrix.denominator
        return 1 - Fraction(int(self.back[self.matrix.row(area), composition]), unit)

    def edges(self) -> Wholes:
        """[area][composition] all house edges, each rounded once to a float64."""
        unit = self.total * self.matrix.denominator
        edges: Wholes = (unit - self.back) / unit
        return edges


def odds_of_many(matrix: Matrix, left: Wholes, *, compiled: bool | None = None) -> ManyOdds:
    """The odds for many compositions, given as integers [face][composition] of cards left.

    By default it is compiled if numba is installed, else it uses NumPy, with the same digits.

    >>> import numpy as np
    >>> from taisai.rules import rulebook
    >>> matrix = rulebook("mbs-3-card-sic-bo").matrix()
    >>> odds_of_many(matrix, np.array([[48, 5]] * 6)).edge("small", 0)
    Fraction(1081, 41041)
    """
    if left.ndim != 2 or left.shape[0] != len(FACES) or left.dtype.kind not in "iu":
        raise RulesError(
            f"expected whole numbers in 6 rows, one for each face, got {left.dtype} of shape {left.shape}"
        )
    if not 1 <= left.shape[1] <= MOST_COMPOSITIONS:
        raise RulesError(f"expected 1 to {MOST_COMPOSITIONS} compositions at once, got {left.shape[1]}")
    steps = plan(matrix)
    most = most_cards(steps, EXACT_DOUBLE)
    if loads_numba() if compiled is None else compiled:
        return ManyOdds(matrix, *_by_numba(left, steps, most))
    return ManyOdds(matrix, *_by_numpy(left, steps, most))


@cache
def threads() -> ThreadPoolExecutor:
    """The threads for loops over compositions."""
    return ThreadPoolExecutor(min(THREADS, os.cpu_count() or 1), thread_name_prefix="compositions")


def _by_numpy(left: Wholes, plan: WeighingPlan, most: int) -> tuple[Wholes, Wholes]:
    cards = left.sum(axis=0, dtype=np.int64)
    _check((left.min(), left.max(), cards.min(), cards.max()), most)
    back, total = _empty(plan, left.shape[1], narrow=_is_narrow(plan, int(cards.max())))
    for start in range(0, left.shape[1], TILE):
        some = slice(start, start + TILE)
        counts = left[:, some].astype(np.float64)
        back[:, some] = _backs(counts, plan)
        total[some] = cards[some] * (cards[some] - 1) * (cards[some] - 2) // 6
    return back, total


def _by_numba(left: Wholes, plan: WeighingPlan, most: int) -> tuple[Wholes, Wholes]:
    """Tries 32-bit numbers first, and 64-bit numbers if the counts need them."""
    for narrow in (True, False):
        back, total = _empty(plan, left.shape[1], narrow=narrow)
        bits, fewest, cards = _fill(np.ascontiguousarray(left), plan, (back, total), narrow=narrow)
        extremes = (0, bits) if 0 <= bits <= MOST_COUNT else (left.min(), left.max())
        _check((*extremes, fewest, cards), most)
        if narrow is _is_narrow(plan, cards):
            return back, total
    raise AssertionError("64-bit numbers suffice")


def _fill(
    left: Wholes, plan: WeighingPlan, result: tuple[Wholes, Wholes], *, narrow: bool
) -> tuple[int, int, int]:
    """Fills the result; returns the bitwise or of all counts, and the least and the greatest sum.

    Two threads take pieces from one list, so that a thread that starts late does less.
    """
    from taisai.study.shoe import compiled

    size = left.shape[1]
    pieces = iter(range(0, size, _PIECE))

    def work() -> list[tuple[int, int, int]]:
        store = compiled.store(plan.classes, single=narrow)
        figures = []
        for start in pieces:
            piece = (start, min(start + _PIECE, size))
            figures.append(compiled.returns(piece, left, plan.steps, store, result))
        return figures

    other = threads().submit(work) if size > _PIECE else None
    done = work()
    if other and not other.cancel():
        done += other.result()
    bits, fewest, cards = zip(*done, strict=True)
    return reduce(or_, bits), min(fewest), max(cards)


def _is_narrow(plan: WeighingPlan, cards: int) -> bool:
    """Whether every figure fits into an int32 and every weight into a float32."""
    ways = comb(cards, DICE)
    return ways <= EXACT_SINGLE and ways * plan.most_returned < 2**31


def _empty(plan: WeighingPlan, compositions: int, *, narrow: bool) -> tuple[Wholes, Wholes]:
    whole = np.int32 if narrow else np.int64
    return np.empty((plan.areas, compositions), dtype=whole), np.empty(compositions, dtype=whole)


def _check(found: Sequence[int], most: int) -> None:
    least, greatest, fewest, cards = map(int, found)
    if least < 0 or greatest > MOST_COUNT:
        got = least if least < 0 else greatest
        raise RulesError(f"expected 0 to {MOST_COUNT} cards of a face left, got {got}")
    if fewest < DICE:
        raise RulesError(f"expected at least three cards left in every composition, got {fewest}")
    if cards > most:
        raise RulesError(f"expected at most {most} cards left, so that every figure is exact, got {cards}")

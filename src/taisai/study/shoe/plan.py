"""The plan: what a matrix pays on three cards, as sums of products of the counts left in the shoe."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations, groupby
from math import comb
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import DICE, FACES, MIRRORED, OUTCOMES

Steps = npt.NDArray[np.uint64]

SIX: Final = len(FACES)
PAIRS, TRIPLES = SIX, 2 * SIX
"""Rows of the parts: n of each face from 0, n(n-1)/2 from here, n(n-1)(n-2)/6 from there."""
TWO_FACES: Final = {faces: 3 * SIX + place for place, faces in enumerate(combinations(range(SIX), 2))}
"""Then the products of two faces, a row that is always 1, one that is always 0, and all cards."""
ONE: Final = 3 * SIX + len(TWO_FACES)
ZERO: Final = ONE + 1
CARDS: Final = ONE + 2
PARTS: Final = ONE + 3
NO_CLASS: Final = 0
"""The row of the classes that is always 0."""
PRODUCTS_A_STEP: Final = 3
CLASSES_A_STEP: Final = 8
"""So many at once: a loop over compositions that does more reads and writes its results less often."""
_MOST_CARDS: Final = 10**7
EXACT_SINGLE, EXACT_DOUBLE = 2**24, 2**53
"""Whole numbers up to these are exact as float32 and as float64."""


class Plan(NamedTuple):
    """Steps of arithmetic that turn six counts into what comes back on every area.

    Outcomes on which every area does the same make one class, and their weights are added once: the 19 areas
    of the 3 Card game need 19 classes instead of 56 outcomes.
    """

    adding: Steps
    """[step] class, whether it begins there, then rows of parts to be multiplied two by two and added."""
    sums: Steps
    """[step] area, whether it begins there, whether it ends there, what it returns, then classes to add."""
    classes: int
    """Their rows, with the one that is always 0."""
    areas: int
    denominator: int
    most_returned: int
    """The most that comes back per unit staked, in 1/denominator."""
    mirror: tuple[int, ...] | None
    """[area] what it turns into when every face turns into the one opposite, where each area has a mirror."""

    @property
    def steps(self) -> tuple[Steps, Steps]:
        """All steps, in order."""
        return self.adding, self.sums


@lru_cache(maxsize=64)
def plan(matrix: Matrix) -> Plan:
    """The plan of a matrix."""
    back = [[net + matrix.denominator for net in row] for row in matrix.nets]
    columns = list(zip(*back, strict=True))
    classes = {
        column: place
        for place, column in enumerate(dict.fromkeys(c for c in columns if any(c)), NO_CLASS + 1)
    }
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
    return Plan(
        adding=_array(_adding(weights)),
        sums=_array(_sums(sums)),
        classes=NO_CLASS + 1 + len(classes),
        areas=len(back),
        denominator=matrix.denominator,
        most_returned=max(max(row) for row in back),
        mirror=_mirror(matrix),
    )


def most_cards(plan: Plan, exact: int) -> int:
    """How many cards a shoe may hold so that no figure passes the greatest exact one."""
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


def _array(rows: Iterable[tuple[int, ...]]) -> Steps:
    made = np.array(list(rows), dtype=np.uint64)
    made.setflags(write=False)
    return made


def _mirror(matrix: Matrix) -> tuple[int, ...] | None:
    where = {row: place for place, row in enumerate(matrix.nets)}
    found = [where.get(tuple(row[place] for place in MIRRORED)) for row in matrix.nets]
    places = tuple(place for place in found if place is not None)
    # Two areas that pay alike on every outcome count as no mirror: nothing is lost by it but time.
    return places if len(set(places)) == len(found) else None

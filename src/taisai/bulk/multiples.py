"""The matrix in whole multiples, so that a settlement multiplies and never divides."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, lcm

import numpy as np
import numpy.typing as npt

from taisai.rules.matrix import Matrix
from taisai.rules.settlement import GREATEST_SUM

Whole = npt.NDArray[np.int64]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class ReturnMultiples:
    """What a bet of one step gets back, area by outcome. A stake is a whole number of its area's steps.

    At 8.5 to 1 the step is 2 and the multiple 19: each 2 staked get 19 back.
    """

    matrix: Matrix
    steps: tuple[int, ...]
    """[area] the smallest stake whose winnings are whole on every outcome."""
    columns: tuple[tuple[int, ...], ...]
    """[outcome][area] returned per step; 0 for a loser."""
    alike: tuple[tuple[tuple[int, tuple[int, ...]], ...], ...]
    """[outcome] the winning areas, those with the same multiple together."""
    greatest: tuple[int, ...]
    """[area] returned per step on the outcome that is best for it."""
    most: tuple[int, ...]
    """[area] the greatest stake that is itself within the limit and stays so when it wins."""
    table: Whole
    """[area][outcome] the columns once more, as an array."""

    @staticmethod
    def of(matrix: Matrix) -> ReturnMultiples:
        """The multiples of a matrix; make them once for all the rounds on it."""
        one = matrix.denominator
        steps = [lcm(*(one // gcd(net, one) for net in row if net > 0)) for row in matrix.nets]
        rows = [
            [(net + one) * step // one if net > 0 else 0 for net in row]
            for row, step in zip(matrix.nets, steps, strict=True)
        ]
        columns = tuple(zip(*rows, strict=True))
        return ReturnMultiples(
            matrix=matrix,
            steps=tuple(steps),
            columns=columns,
            alike=tuple(map(_alike, columns)),
            greatest=tuple(map(max, rows)),
            most=tuple(GREATEST_SUM // max(step, *row) * step for step, row in zip(steps, rows, strict=True)),
            # Odds can be such that a multiple outgrows int64. Then no stake is within the limit.
            table=np.array([[min(cell, GREATEST_SUM + 1) for cell in row] for row in rows], dtype=np.int64),
        )


def _alike(column: tuple[int, ...]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    areas: dict[int, list[int]] = {}
    for area, multiple in enumerate(column):
        if multiple:
            areas.setdefault(multiple, []).append(area)
    return tuple((multiple, tuple(together)) for multiple, together in areas.items())

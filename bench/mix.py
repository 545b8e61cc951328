"""The mix of bets that the benches settle: six in ten at even money, the others anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from taisai.rules import OUTCOMES, Matrix, Outcome

EVEN_MONEY: Final = ("small", "big", "odd", "even")
EVEN_MONEY_SHARE: Final = 0.6
SEED: Final = 20_11_2002


@dataclass(frozen=True, slots=True)
class Mix:
    """Bets in the order in which they came, in arrays."""

    matrix: Matrix
    players: int
    who: npt.NDArray[np.intp]
    rows: npt.NDArray[np.intp]
    stakes: npt.NDArray[np.int64]

    def plain(self) -> list[tuple[int, int, int]]:
        """The same bets as (player, row, stake)."""
        return list(zip(self.who.tolist(), self.rows.tolist(), self.stakes.tolist(), strict=True))


def mixed(matrix: Matrix, *, bets: int, players: int, seed: int = SEED) -> Mix:
    """So many bets by so many players, drawn from a seed."""
    draw = np.random.default_rng(seed)
    even = np.array([matrix.row(area) for area in EVEN_MONEY])
    other = np.setdiff1d(np.arange(len(matrix.areas)), even)
    at_even = draw.random(bets) < EVEN_MONEY_SHARE
    rows = np.where(at_even, draw.choice(even, bets), draw.choice(other, bets))
    stakes = draw.integers(1, 500, bets) * 100
    return Mix(
        matrix, players, draw.integers(0, players, bets), rows.astype(np.intp), stakes.astype(np.int64)
    )


def rolls(count: int, seed: int = SEED) -> list[Outcome]:
    """So many outcomes, as three dice fall."""
    faces = np.random.default_rng(seed).integers(1, 7, (count, 3))
    return [Outcome.of(*roll) for roll in faces.tolist()]


def returned_per_unit(matrix: Matrix) -> list[list[int]]:
    """[outcome][row] what comes back, in 1/denominator; 0 for a loser."""
    one = matrix.denominator
    return [[net[place] + one for net in matrix.nets] for place in range(len(OUTCOMES))]

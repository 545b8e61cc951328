"""The loops over compositions by NumPy alone, for where numba is not: slower, with the same digits."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from taisai.study.shoe.plan import NO_CLASS, ONE, PAIRS, PARTS, SIX, TRIPLES, TWO_FACES, ZERO, Plan

Reals = npt.NDArray[Any]
Wholes = npt.NDArray[Any]
TILE: Final = 8_192
"""Compositions at a time: what lies between two steps stays in the processor's caches."""


def returns(left: Wholes, plan: Plan, back: Wholes, total: Wholes) -> None:
    """Fills `back` and `total` for all compositions."""
    for start in range(0, left.shape[1], TILE):
        some = slice(start, start + TILE)
        counts = left[:, some].astype(np.float64)
        back[:, some] = _backs(counts, plan)
        cards = counts.sum(axis=0)
        total[some] = cards * (cards - 1) * (cards - 2) / 6


def _backs(left: Reals, plan: Plan) -> Reals:
    """[area][composition] what comes back, as exact floats."""
    parts, classes = np.empty((PARTS, left.shape[1])), np.zeros((plan.classes, left.shape[1]))
    parts[ONE], parts[ZERO] = 1, 0
    parts[:SIX] = left
    parts[PAIRS:TRIPLES] = left * (left - 1) * 0.5
    parts[TRIPLES : TRIPLES + SIX] = parts[PAIRS:TRIPLES] * (left - 2) / 3
    for (one, two), made in TWO_FACES.items():
        np.multiply(parts[one], parts[two], out=parts[made])
    for made, begins, a, b, c, d, e, f in plan.adding.tolist():
        added = parts[a] * parts[b]
        for one, two in ((c, d), (e, f)):
            if one != ZERO:
                added += parts[one] * parts[two]
        classes[made] = added if begins else classes[made] + added
    backs = np.zeros((plan.areas, left.shape[1]))
    for area, _, _, returned, *rows in plan.sums.tolist():
        backs[area] += classes[[row for row in rows if row != NO_CLASS]].sum(axis=0) * returned
    return backs


def gains(
    outer: tuple[int, int], shoe: tuple[Wholes, Reals, Reals], plan: Plan, result: tuple[Reals, Reals]
) -> None:
    """Adds up all compositions with so many cards of the two outer faces, as the compiled loop does."""
    first, last = outer
    held, ways, units = shoe
    bets, gained = result
    cards = int(held.sum())
    fifth, third, fourth = np.meshgrid(*(np.arange(held[face] + 1) for face in (4, 2, 3)), indexing="ij")
    for second in range(int(held[1]) + 1):
        unseen = first + second + third + fourth + fifth + last
        due = ((cards - unseen) % 3 == 0) & ((cards - unseen) // 3 < units.size)
        two, three, four = fifth[due], third[due], fourth[due]
        # The same factors in the same order as the compiled loop, for the same roundings.
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

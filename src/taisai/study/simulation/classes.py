"""Classes: which draws of 32 bits stand for which net, with no bias at all."""

from __future__ import annotations

from itertools import accumulate
from math import gcd
from typing import Final, NamedTuple

from taisai.rules.errors import RulesError
from taisai.study.law import Law
from taisai.study.simulation.streams import WORD

GREATEST_NET: Final = 2**42
"""Of one round, in its unit: 2^20 rounds of it still fit 64 bits, whatever order they come in."""
MOST_CASES: Final = 2**28
"""Equally likely cases of a law: above it more than one draw in sixteen might be thrown away."""


class Classes(NamedTuple):
    """A law cut for drawing: a draw below limits[0] brings values[0], below limits[1] values[1], and so on.

    Every one of the law's equally likely cases gets the same number of draws; the few draws that are left
    over, at or above the last limit, are thrown away.
    """

    values: tuple[int, ...]
    """In units, ascending."""
    limits: tuple[int, ...]
    unit: int

    @staticmethod
    def of(law: Law) -> Classes:
        """Cuts the 2^32 draws into the classes of a law."""
        shared = gcd(*law.weights)
        total = law.total // shared
        if total > MOST_CASES:
            raise RulesError(f"expected a law of at most {MOST_CASES:,} equally likely cases, got {total:,}")
        unit = gcd(*law.values) or 1
        values = tuple(value // unit for value in law.values)
        greatest = max(map(abs, values))
        if greatest > GREATEST_NET:
            raise RulesError(
                f"expected at most {GREATEST_NET * unit:,} won or lost in a round to simulate, "
                f"got {greatest * unit:,}"
            )
        each = (WORD - 1) // total
        limits = tuple(each * reached // shared for reached in accumulate(law.weights))
        return Classes(values, limits, unit)

"""Three dice on the table, looked at as a dealer does: what is the total, which numbers show, how often."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

Roll = tuple[int, int, int]

ROLLS: tuple[Roll, ...] = tuple((a, b, c) for a in range(1, 7) for b in range(1, 7) for c in range(1, 7))
"""All 216 ordered rolls, each equally likely."""


class Verdict(NamedTuple):
    """What one unit on an area nets on a roll, and the clause that says so."""

    net: Fraction
    clause: str


LOST = Fraction(-1)


@dataclass(frozen=True)
class PayTable:
    """One document's pay table: its areas in print order, and what it calls on each roll."""

    rulebook: str
    layouts: tuple[str, ...]
    areas: tuple[str, ...]
    called: Callable[[Roll], Mapping[str, Verdict]]
    losing_clause: Callable[[str, Roll], str]

    @property
    def name(self) -> str:
        """The rulebook and its first layout, as the case files are named."""
        return f"{self.rulebook}-{self.layouts[0]}"

    @cached_property
    def calls(self) -> Mapping[Roll, Mapping[str, Verdict]]:
        """What is called on each of the 216 rolls, worked out once."""
        return {roll: self.called(roll) for roll in ROLLS}

    def verdict(self, area: str, roll: Roll) -> Verdict:
        """The verdict on an area: as called if it is called, otherwise the stake is lost."""
        won = self.calls[roll].get(area)
        if won is not None:
            return won
        if area not in self.areas:
            raise KeyError(f"{area} is not an area of {self.name}")
        return Verdict(LOST, self.losing_clause(area, roll))


def all_alike(roll: Roll) -> bool:
    """Whether the three dice show one number: a triple."""
    return roll.count(roll[0]) == 3


def all_different(roll: Roll) -> bool:
    """Whether the three dice show three numbers."""
    return roll[0] != roll[1] and roll[1] != roll[2] and roll[0] != roll[2]


def number_shown_twice(roll: Roll) -> int:
    """The number that exactly two dice show; only asked where two do."""
    first, second, third = roll
    return first if first in (second, third) else second


def number_left_over(roll: Roll) -> int:
    """The number on the third die, beside a pair of equal ones."""
    twice = number_shown_twice(roll)
    return sum(roll) - 2 * twice


def digits(*numbers: int) -> str:
    """Numbers side by side, as the layouts print a combination."""
    return "".join(str(number) for number in numbers)


def smaller_first(one: int, other: int) -> str:
    """A combination of two numbers as its area is named."""
    return digits(one, other) if one < other else digits(other, one)

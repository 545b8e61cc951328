"""What an answer is worth: eighty marks for what is right, twenty more for all of it in good time."""

from __future__ import annotations

from typing import Final, NamedTuple

from taisai.school.asked import Kind, whole

FOR_RIGHT: Final = 80
FOR_TIME: Final = 20
FULL_MARKS: Final = FOR_RIGHT + FOR_TIME
LONGEST: Final = 60 * 60 * 1000  # ms: who takes an hour has been to lunch
SLOW: Final = 3
"""Times par from which on there is nothing for time."""
PARS: Final = {
    Kind.SETTLE: {1: 20_000, 2: 60_000, 3: 150_000},
    Kind.KEY: {1: 30_000, 2: 30_000, 3: 30_000},
    Kind.RULING: {1: 15_000, 2: 15_000, 3: 20_000},
}
"""Kind → level → ms in which a good dealer does it."""


class Marks(NamedTuple):
    """What an answer is worth, and what that follows from."""

    score: int
    """From 0 to 100."""
    bonus: int
    """How much of it is for time."""
    right: int
    of: int
    took: int
    par: int


def marks(kind: Kind, level: int, *, right: int, of: int, took: int) -> Marks:
    """Marks by share of what is right; time counts only where everything is: fast and wrong is just wrong."""
    par = PARS[kind][level]
    whole("a time in milliseconds", took, 0, LONGEST)
    bonus = 0
    if right == of:
        left = SLOW * par - max(took, par)
        bonus = max(0, FOR_TIME * left // ((SLOW - 1) * par))
    return Marks(FOR_RIGHT * right // of + bonus, bonus, right, of, took, par)

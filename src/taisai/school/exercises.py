"""Draws that follow from a seed: the same on every machine and in every version of the language.

Which exercise is asked for: all that it takes to make it, and to make it again when it is judged.

What an answer is worth: eighty marks for what is right, twenty more for all of it in good time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Final, NamedTuple, TypeVar

from taisai.rules.errors import RulesError, printable

T = TypeVar("T")


class Seeded:
    """A row of draws that its parts alone decide. For practice only: no game is drawn by it."""

    def __init__(self, *parts: object) -> None:
        self._parts = "|".join(map(str, parts))
        self._drawn = 0

    def below(self, most: int) -> int:
        """A whole number from 0, under `most`."""
        self._drawn += 1
        drawn = sha256(f"{self._parts}|{self._drawn}".encode()).digest()
        return int.from_bytes(drawn[:8]) % most  # of 2^64: what is uneven about it no trainee will see

    def one(self, items: Sequence[T]) -> T:
        """One of them."""
        return items[self.below(len(items))]

    def some(self, items: Iterable[T], number: int) -> list[T]:
        """So many of them, each once, in any order; all where there are no more."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(min(number, len(left)))]

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """All of them, in any order."""
        left = list(items)
        return self.some(left, len(left))


LEVELS: Final = (1, 2, 3)
GREATEST_SEED: Final = 2**53 - 1
"""Beyond it a browser could not hold the number exactly, and would be judged on another exercise."""


class ExerciseKind(StrEnum):
    """What is practised."""

    SETTLE = "settle"
    """To say what comes back of every bet on a layout."""
    KEY = "key"
    """To key what dice or cards show, and to know which areas light."""
    RULING = "ruling"
    """To say what the rules order when something goes wrong."""


class ExerciseRequest(NamedTuple):
    """An exercise, by all that it follows from."""

    kind: ExerciseKind
    book: str
    layout: str
    level: int
    seed: int

    @staticmethod
    def of(kind: str, book: str, layout: str, *, level: int, seed: int) -> ExerciseRequest:
        """From plain values; whether there are such a book and layout is for the shelf to know."""
        if kind not in tuple(ExerciseKind):
            raise RulesError(f"expected a kind of exercise ({', '.join(ExerciseKind)}), got {shown(kind)}")
        whole("a level", level, LEVELS[0], LEVELS[-1])
        whole("a seed", seed, 0, GREATEST_SEED)
        return ExerciseRequest(ExerciseKind(kind), book, layout, level, seed)


def whole(what: str, value: int, least: int, most: int) -> int:
    """A whole number within its bounds."""
    if type(value) is not int or not least <= value <= most:
        raise RulesError(f"expected {what} from {least} to {most}, got {shown(value)}")
    return value


def shown(value: object) -> str:
    """What was got, as an error quotes it."""
    return printable(repr(value))


FOR_RIGHT: Final = 80
FOR_TIME: Final = 20
FULL_MARKS: Final = FOR_RIGHT + FOR_TIME
LONGEST: Final = 60 * 60 * 1000  # ms: who takes an hour has been to lunch
SLOW: Final = 3
"""Times par from which on there is nothing for time."""
PARS: Final = {
    ExerciseKind.SETTLE: {1: 20_000, 2: 60_000, 3: 150_000},
    ExerciseKind.KEY: {1: 30_000, 2: 30_000, 3: 30_000},
    ExerciseKind.RULING: {1: 15_000, 2: 15_000, 3: 20_000},
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


def marks(kind: ExerciseKind, level: int, *, right: int, of: int, took: int) -> Marks:
    """Marks by share of what is right; time counts only where everything is: fast and wrong is just wrong."""
    par = PARS[kind][level]
    whole("a time in milliseconds", took, 0, LONGEST)
    bonus = 0
    if right == of:
        left = SLOW * par - max(took, par)
        bonus = max(0, FOR_TIME * left // ((SLOW - 1) * par))
    return Marks(FOR_RIGHT * right // of + bonus, bonus, right, of, took, par)

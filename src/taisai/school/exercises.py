"""What all exercises share: the request, draws from a seed, the layout in practice, and marks.

The school has no rule of its own: everything follows from the payoff matrix and the rulebook.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cache
from hashlib import sha256
from typing import Final, NamedTuple, TypeVar

from taisai.game.terms.terms import EVEN_MONEY, family
from taisai.rules.areas import AreaId
from taisai.rules.book import Rulebook, rulebook, rulebook_ids
from taisai.rules.errors import RulesError, printable
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import OUTCOMES, Outcome

T = TypeVar("T")

# Requests

LEVELS: Final = (1, 2, 3)
GREATEST_SEED: Final = 2**53 - 1
"""The greatest whole number that a browser holds exactly."""


class ExerciseKind(StrEnum):
    SETTLE = "settle"
    """Say what comes back of every bet on a layout."""
    KEY = "key"
    """Enter what dice or cards show, and mark the areas that light up."""
    RULING = "ruling"
    """Say what the rules order in an irregularity."""


class ExerciseRequest(NamedTuple):
    """Everything that an exercise is made from: the same request gives the same exercise."""

    kind: ExerciseKind
    book: str
    layout: str
    level: int
    seed: int

    @staticmethod
    def of(kind: str, book: str, layout: str, *, level: int, seed: int) -> ExerciseRequest:
        """A request from plain values. `course_of` checks the book and the layout."""
        if kind not in tuple(ExerciseKind):
            raise RulesError(f"unknown kind of exercise {shown(kind)}; expected {', '.join(ExerciseKind)}")
        check_range("a level", level, LEVELS[0], LEVELS[-1])
        check_range("a seed", seed, 0, GREATEST_SEED)
        return ExerciseRequest(ExerciseKind(kind), book, layout, level, seed)


def check_range(what: str, value: int, least: int, most: int) -> None:
    """Raises an error unless the value is a whole number from `least` to `most`."""
    if type(value) is not int or not least <= value <= most:
        raise RulesError(f"expected {what} from {least} to {most}, got {shown(value)}")


def shown(value: object) -> str:
    """A value as an error quotes it."""
    return printable(repr(value))


# Draws


class Seeded:
    """Draws that follow from a seed, the same on every machine. For practice only: no game uses it."""

    def __init__(self, *parts: object) -> None:
        self._parts = "|".join(map(str, parts))
        self._drawn = 0

    def below(self, most: int) -> int:
        """A whole number from 0 to `most` - 1."""
        self._drawn += 1
        drawn = sha256(f"{self._parts}|{self._drawn}".encode()).digest()
        return int.from_bytes(drawn[:8]) % most  # of 2^64, so the bias is negligible

    def one(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def some(self, items: Iterable[T], number: int) -> list[T]:
        """At most `number` of the items, each once, in random order."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(min(number, len(left)))]

    def shuffled(self, items: Iterable[T]) -> list[T]:
        left = list(items)
        return self.some(left, len(left))


# Layouts in practice

_SIMPLE: Final = frozenset({EVEN_MONEY, "total", "single"})
"""Families of areas that trainees learn first."""
_FOUR: Final = "four"
_OF_SIX: Final = {1: (0, 2), 2: (1, 4), 3: (2, 5)}
"""Level → in how many of six draws the outcome is rare, and in how many it is rare or tricky."""


class Course(NamedTuple):
    """A layout of a rulebook under its default settings, and how hard its outcomes and areas are."""

    book: Rulebook
    layout: str
    matrix: Matrix
    settings: dict[str, str]
    simple: frozenset[AreaId]
    rare: tuple[Outcome, ...]
    """Outcomes with one way, the triples: small and big lose there."""
    tricky: tuple[Outcome, ...]
    """Outcomes with a face more than once, or in which an area of four numbers wins."""
    plain: tuple[Outcome, ...]


@cache
def book_of(name: str) -> Rulebook:
    """A rulebook of the package, read once."""
    if name not in rulebook_ids():  # `rulebook` would also read a file
        raise RulesError(f"unknown rulebook {shown(name)}; expected {', '.join(rulebook_ids())}")
    return rulebook(name)


@cache
def _course(name: str, layout: str) -> Course:
    book = book_of(name)
    matrix = book.matrix(layout)
    tricky = tuple(outcome for outcome in OUTCOMES if _is_tricky(matrix, outcome))
    return Course(
        book=book,
        layout=layout,
        matrix=matrix,
        settings=book.chosen(),
        simple=frozenset(area for area in matrix.areas if family(area) in _SIMPLE),
        rare=tuple(outcome for outcome in OUTCOMES if outcome.ways == 1),
        tricky=tricky,
        plain=tuple(outcome for outcome in OUTCOMES if outcome not in tricky),
    )


def course_of(name: str, layout: str) -> Course:
    """The course of a layout; a RulesError if the rulebook or the layout is unknown."""
    book = book_of(name)
    if layout not in book.pay_by_layout:
        known = ", ".join(book.pay_by_layout)
        raise RulesError(f"unknown layout {shown(layout)} of {name}; expected {known}")
    return _course(name, layout)


def _is_tricky(matrix: Matrix, outcome: Outcome) -> bool:
    return outcome.ways < 6 or any(family(area) == _FOUR for area in matrix.illuminated(outcome))


def drawn_outcome(course: Course, level: int, seeded: Seeded) -> Outcome:
    """What dice or cards show; a higher level has more rare and tricky outcomes."""
    rare, tricky = _OF_SIX[level]
    place = seeded.below(6)
    if place < rare:
        return seeded.one(course.rare)
    return seeded.one(course.tricky if place < tricky else course.plain)


def near_misses(matrix: Matrix, outcome: Outcome) -> tuple[list[AreaId], list[AreaId]]:
    """Areas that lose but look like winners: they win on this total otherwise, or with one other die."""
    alike = [other.index for other in OUTCOMES if other.total == outcome.total and other is not outcome]
    beside = [other.index for other in OUTCOMES if _is_beside(other, outcome)]
    by_total, by_die = [], []
    for area, nets in zip(matrix.areas, matrix.nets, strict=True):
        if nets[outcome.index] > 0:
            continue
        if alike and all(nets[place] > 0 for place in alike):
            by_total.append(area)
        elif any(nets[place] > 0 for place in beside):
            by_die.append(area)
    return by_total, by_die


def _is_beside(one: Outcome, other: Outcome) -> bool:
    left = list(other.faces)
    for face in one.faces:
        if face in left:
            left.remove(face)
    return len(left) == 1


# Marks

FOR_RIGHT: Final = 80
FOR_TIME: Final = 20
FULL_MARKS: Final = FOR_RIGHT + FOR_TIME
LONGEST: Final = 60 * 60 * 1000  # ms, one hour
SLOW: Final = 3
"""From so many times the par time on there is no bonus."""
PARS: Final = {
    ExerciseKind.SETTLE: {1: 20_000, 2: 60_000, 3: 150_000},
    ExerciseKind.KEY: {1: 30_000, 2: 30_000, 3: 30_000},
    ExerciseKind.RULING: {1: 15_000, 2: 15_000, 3: 20_000},
}
"""Kind → level → the milliseconds that a good dealer needs."""


class Marks(NamedTuple):
    """The marks of an answer: eighty for what is right, twenty more if all of it is right in good time."""

    score: int
    """From 0 to 100."""
    bonus: int
    """The part of the score for time."""
    right: int
    of: int
    took: int
    par: int


def marks(kind: ExerciseKind, level: int, *, right: int, of: int, took: int) -> Marks:
    """Marks by the share of right answers; time counts only if everything is right."""
    par = PARS[kind][level]
    check_range("a time in milliseconds", took, 0, LONGEST)
    bonus = 0
    if right == of:
        left = SLOW * par - max(took, par)
        bonus = max(0, FOR_TIME * left // ((SLOW - 1) * par))
    return Marks(FOR_RIGHT * right // of + bonus, bonus, right, of, took, par)

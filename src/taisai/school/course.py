"""What is practised with: a layout of a rulebook, its matrix, and which outcomes and areas are how hard.

Whatever is asked here is asked of the matrix: the school knows no rule of its own.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from taisai.game.terms.terms import EVEN_MONEY, family
from taisai.rules.areas import AreaId
from taisai.rules.book import Rulebook, rulebook, rulebook_ids
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Matrix
from taisai.rules.outcomes import OUTCOMES, Outcome
from taisai.school.exercises import Seeded, shown

_SIMPLE: Final = frozenset({EVEN_MONEY, "total", "single"})
"""Families that a trainee learns first."""
_FOUR: Final = "four"
_OF_SIX: Final = {1: (0, 2), 2: (1, 4), 3: (2, 5)}
"""Level → in how many of six draws it is an outcome with one way, and in how many one with a trap at all."""


class Course(NamedTuple):
    """A layout of a rulebook, under the settings that the book has by default."""

    book: Rulebook
    layout: str
    matrix: Matrix
    settings: dict[str, str]
    simple: frozenset[AreaId]
    rare: tuple[Outcome, ...]
    """Those that come one way: small and big are a trap there."""
    tricky: tuple[Outcome, ...]
    """Those in which a face comes more than once, or an area of four numbers wins."""
    plain: tuple[Outcome, ...]


@cache
def book_of(name: str) -> Rulebook:
    """A rulebook of the package, read once; there are only so many."""
    if name not in rulebook_ids():  # so that no name is taken for a file
        raise RulesError(f"expected a rulebook ({', '.join(rulebook_ids())}), got {shown(name)}")
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
    """The course of a layout, made once; a RulesError says what was expected where there is none such."""
    book = book_of(name)
    if layout not in book.pay_by_layout:
        known = ", ".join(book.pay_by_layout)
        raise RulesError(f"expected a layout of {name} ({known}), got {shown(layout)}")
    return _course(name, layout)


def _is_tricky(matrix: Matrix, outcome: Outcome) -> bool:
    return outcome.ways < 6 or any(family(area) == _FOUR for area in matrix.illuminated(outcome))


def drawn_outcome(course: Course, level: int, seeded: Seeded) -> Outcome:
    """What dice or cards show; the higher the level, the more often something to trip over."""
    rare, tricky = _OF_SIX[level]
    place = seeded.below(6)
    if place < rare:
        return seeded.one(course.rare)
    return seeded.one(course.tricky if place < tricky else course.plain)


def near_misses(matrix: Matrix, outcome: Outcome) -> tuple[list[AreaId], list[AreaId]]:
    """Areas that lose though they look like winners: on another outcome of this total, or one die away."""
    alike = [one.index for one in OUTCOMES if one.total == outcome.total and one is not outcome]
    beside = [one.index for one in OUTCOMES if _is_beside(one, outcome)]
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

"""To rule: something goes wrong in a phase; which of four rulings do the rules order?"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from taisai.rules.clauses import HOUSE_PROCEDURES
from taisai.rules.errors import RulesError, printable
from taisai.rules.irregularities import Ruling, RulingCell
from taisai.school.asked import Asked, Kind
from taisai.school.course import Course, book_of
from taisai.school.scenes import Scene, scenes_of
from taisai.school.scoring import Marks, marks
from taisai.school.seeded import Seeded

CHOICES: Final = 4
_MUCH_ALIKE: Final = (
    {Ruling.CONTINUE, Ruling.SETTLE_BY_OUTCOME},
    {Ruling.CONTINUE, Ruling.SETTLE_REGISTERED},
    {Ruling.CONTINUE, Ruling.STANDS},
)
"""Rulings that come to nearly the same: nobody is asked to tell them apart in one question."""


class Choice(NamedTuple):
    """A ruling that may be chosen, and who decides where it is referred."""

    ruling: Ruling
    to: str | None

    @property
    def id(self) -> str:
        """Its name in an answer."""
        return self.ruling if self.to is None else f"{self.ruling}:{self.to}"


class RulingExercise(NamedTuple):
    """What goes wrong and when, and the rulings to choose from."""

    asked: Asked
    course: Course
    scene: Scene
    choices: tuple[Choice, ...]


class RulingJudged(NamedTuple):
    """The judgement: what the rules order, and by which clause."""

    exercise: RulingExercise
    marks: Marks
    chosen: Choice
    ordered: Choice
    ruled: RulingCell
    says: str


def ruling_exercise(asked: Asked, course: Course, seeded: Seeded) -> RulingExercise:
    """A scene, and what it is ruled by among three other rulings of the same rulebook."""
    scene = seeded.one(_pool(asked, seeded))
    right = _choice(scene.ruled)
    others = [one for one in _rulings(asked.book) if _is_wrong(course, one, right)]
    drawn: list[Choice] = []
    for other in seeded.shuffled(others):
        if len(drawn) < CHOICES - 1 and not any(_is_alike(other, one) for one in drawn):
            drawn.append(other)
    return RulingExercise(asked, course, scene, tuple(seeded.shuffled([right, *drawn])))


def _pool(asked: Asked, seeded: Seeded) -> tuple[Scene, ...]:
    scenes = scenes_of(asked.book)
    if asked.level == 1:
        return scenes.first
    is_trap = asked.level > 2 and seeded.below(2) == 0
    return scenes.traps if is_trap and scenes.traps else scenes.foreseen


def _choice(ruled: RulingCell) -> Choice:
    return Choice(ruled.ruling, ruled.to)


@cache
def _rulings(name: str) -> tuple[Choice, ...]:
    """Every ruling that the rulebook has, first those on what can happen at its table; then any."""
    scenes = scenes_of(name)
    own = [_choice(scene.ruled) for scene in (*scenes.foreseen, *scenes.traps)]
    own += [_choice(ruled) for ruled in book_of(name).irregularities.cells.values()]
    return tuple(dict.fromkeys(own))


def _is_wrong(course: Course, one: Choice, right: Choice) -> bool:
    """Whether a ruling is clearly another; a rank above the right one could decide as well."""
    if one == right:
        return False
    if one.to is not None and right.to is not None:
        return not course.book.people.at_least(one.to, right.to)
    return {one.ruling, right.ruling} not in _MUCH_ALIKE


def _is_alike(one: Choice, other: Choice) -> bool:
    return one.ruling is other.ruling or {one.ruling, other.ruling} in _MUCH_ALIKE


def judged_ruling(exercise: RulingExercise, choice: str, took: int) -> RulingJudged:
    """A chosen ruling, against what the rulebook's own table orders."""
    known = {one.id: one for one in exercise.choices}
    if choice not in known:
        raise RulesError(f"expected one of {', '.join(known)}, got {printable(repr(choice))}")
    course, scene = exercise.course, exercise.scene
    ruled = course.book.irregularities.ruling_for(scene.event, scene.phase, course.settings, seen=scene.seen)
    ordered = _choice(ruled)
    text = course.book.clauses.get(ruled.clause)
    given = marks(Kind.RULING, exercise.asked.level, right=int(known[choice] == ordered), of=1, took=took)
    return RulingJudged(
        exercise, given, known[choice], ordered, ruled, text.says if text else HOUSE_PROCEDURES[ruled.clause]
    )

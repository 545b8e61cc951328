"""To key: three dice or cards are shown; key them, and mark the areas that light."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from taisai.rules.areas import AreaId
from taisai.rules.matrix import Explanation
from taisai.rules.outcomes import Face, Outcome
from taisai.school.asked import Asked, Kind
from taisai.school.course import Course, drawn_outcome
from taisai.school.scoring import Marks, marks
from taisai.school.seeded import Seeded


class KeyExercise(NamedTuple):
    """What is shown, in the order in which it lies."""

    asked: Asked
    course: Course
    shown: Outcome
    faces: tuple[Face, ...]


class Keyed(NamedTuple):
    """An area that lights, or that was marked, and why it does or does not."""

    area: AreaId
    lights: bool
    marked: bool
    why: Explanation

    @property
    def is_right(self) -> bool:
        """Whether it was marked if it lights, and only then."""
        return self.lights == self.marked


class KeyJudged(NamedTuple):
    """The judgement: the result, and every area that lights or was marked."""

    exercise: KeyExercise
    marks: Marks
    keyed: Outcome
    faces_right: bool
    lines: tuple[Keyed, ...]


def key_exercise(asked: Asked, course: Course, seeded: Seeded) -> KeyExercise:
    """Three faces in any order."""
    shown = drawn_outcome(course, asked.level, seeded)
    return KeyExercise(asked, course, shown, tuple(seeded.shuffled(shown.faces)))


def judged_key(exercise: KeyExercise, faces: tuple[int, ...], marked: Iterable[str], took: int) -> KeyJudged:
    """A keyed result and marked areas: each right one counts, and each wrong mark takes one away."""
    matrix, shown = exercise.course.matrix, exercise.shown
    keyed = Outcome.of(*faces)
    touched = {matrix.areas[matrix.row(area)] for area in marked}
    lit = set(matrix.illuminated(shown))
    lines = tuple(
        Keyed(area, area in lit, area in touched, matrix.explain(area, shown))
        for area in matrix.areas
        if area in lit or area in touched
    )
    faces_right = keyed is shown
    right = max(0, faces_right + len(lit & touched) - len(touched - lit))
    given = marks(Kind.KEY, exercise.asked.level, right=right, of=1 + len(lit), took=took)
    return KeyJudged(exercise, given, keyed, faces_right, lines)

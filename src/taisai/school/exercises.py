"""Makes exercises: the same for the same asking, whenever and wherever it is asked."""

from __future__ import annotations

from taisai.school.asked import Asked, Kind
from taisai.school.course import course_of
from taisai.school.keying import KeyExercise, key_exercise
from taisai.school.ruling import RulingExercise, ruling_exercise
from taisai.school.seeded import Seeded
from taisai.school.settling import SettleExercise, settle_exercise

Exercise = SettleExercise | KeyExercise | RulingExercise


def exercise(asked: Asked) -> Exercise:
    """The exercise; a RulesError says what was expected where the rulebook or the layout is unknown."""
    course = course_of(asked.book, asked.layout)
    seeded = Seeded(*asked)
    match asked.kind:
        case Kind.SETTLE:
            return settle_exercise(asked, course, seeded)
        case Kind.KEY:
            return key_exercise(asked, course, seeded)
        case Kind.RULING:
            return ruling_exercise(asked, course, seeded)

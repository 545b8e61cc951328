"""Dealer school: exercises that follow from a seed, judged by the tables that rule a game for money.

>>> from taisai.school import ExerciseKind, ExerciseRequest, SettleExercise, exercise
>>> made = exercise(ExerciseRequest(ExerciseKind.SETTLE, "rws-sic-bo-etg-v8", "A", level=1, seed=7))
>>> isinstance(made, SettleExercise), len(made.bets)
(True, 3)
"""

from taisai.school.exercises import (
    FULL_MARKS,
    GREATEST_SEED,
    LEVELS,
    LONGEST,
    PARS,
    ExerciseKind,
    ExerciseRequest,
    Marks,
    Seeded,
    course_of,
)
from taisai.school.ruling import RulingChoice, RulingExercise, RulingJudged, judged_ruling, ruling_exercise
from taisai.school.settling import (
    JudgedArea,
    JudgedFigure,
    KeyExercise,
    KeyJudged,
    SettleExercise,
    SettleJudged,
    judged_key,
    judged_settle,
    key_exercise,
    settle_exercise,
)

__all__ = [
    "FULL_MARKS", "GREATEST_SEED", "LEVELS", "LONGEST", "PARS", "Exercise", "ExerciseKind",
    "ExerciseRequest", "JudgedArea", "JudgedFigure", "KeyExercise", "KeyJudged", "Marks",
    "RulingChoice", "RulingExercise", "RulingJudged", "SettleExercise", "SettleJudged", "exercise",
    "judged_key", "judged_ruling", "judged_settle",
]  # fmt: skip

Exercise = SettleExercise | KeyExercise | RulingExercise


def exercise(asked: ExerciseRequest) -> Exercise:
    """The exercise of a request; a RulesError if the rulebook or the layout is unknown."""
    course = course_of(asked.book, asked.layout)
    seeded = Seeded(*asked)
    match asked.kind:
        case ExerciseKind.SETTLE:
            return settle_exercise(asked, course, seeded)
        case ExerciseKind.KEY:
            return key_exercise(asked, course, seeded)
        case ExerciseKind.RULING:
            return ruling_exercise(asked, course, seeded)

"""Dealer school: exercises made from a seed, and judged by the same tables that rule a game for money.

>>> from taisai.school import Asked, Kind, SettleExercise, exercise
>>> made = exercise(Asked(Kind.SETTLE, "rws-sic-bo-etg-v8", "A", level=1, seed=7))
>>> isinstance(made, SettleExercise), len(made.bets)
(True, 3)
"""

from taisai.school.course import course_of
from taisai.school.exercises import (
    FULL_MARKS,
    GREATEST_SEED,
    LEVELS,
    LONGEST,
    PARS,
    Asked,
    Kind,
    Marks,
    Seeded,
)
from taisai.school.ruling import Choice, RulingExercise, RulingJudged, judged_ruling, ruling_exercise
from taisai.school.settling import (
    Keyed,
    KeyExercise,
    KeyJudged,
    PlacedBet,
    SettledLine,
    SettleExercise,
    SettleJudged,
    judged_key,
    judged_settle,
    key_exercise,
    settle_exercise,
)

__all__ = [
    "FULL_MARKS",
    "GREATEST_SEED",
    "LEVELS",
    "LONGEST",
    "PARS",
    "Asked",
    "Choice",
    "Exercise",
    "KeyExercise",
    "KeyJudged",
    "Keyed",
    "Kind",
    "Marks",
    "PlacedBet",
    "RulingExercise",
    "RulingJudged",
    "SettleExercise",
    "SettleJudged",
    "SettledLine",
    "exercise",
    "judged_key",
    "judged_ruling",
    "judged_settle",
]

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

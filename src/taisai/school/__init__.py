"""Dealer school: exercises made from a seed, and judged by the same tables that rule a game for money.

>>> from taisai.school import Asked, Kind, SettleExercise, exercise
>>> made = exercise(Asked(Kind.SETTLE, "rws-sic-bo-etg-v8", "A", level=1, seed=7))
>>> isinstance(made, SettleExercise), len(made.bets)
(True, 3)
"""

from taisai.school.asked import GREATEST_SEED, LEVELS, Asked, Kind
from taisai.school.exercises import Exercise, exercise
from taisai.school.keying import Keyed, KeyExercise, KeyJudged, judged_key
from taisai.school.ruling import Choice, RulingExercise, RulingJudged, judged_ruling
from taisai.school.scoring import FULL_MARKS, LONGEST, PARS, Marks
from taisai.school.settling import PlacedBet, SettledLine, SettleExercise, SettleJudged, judged_settle

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

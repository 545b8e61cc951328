"""To settle: bets lie on a layout, dice or cards show; what comes back of every bet?

To key: three dice or cards are shown; key them, and mark the areas that light.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from taisai.rules.areas import AreaId
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Explanation
from taisai.rules.outcomes import Face, Outcome
from taisai.rules.settlement import GREATEST_SUM, Bet, Settlement
from taisai.school.course import Course, drawn_outcome, near_misses
from taisai.school.exercises import ExerciseKind, ExerciseRequest, Marks, Seeded, marks, whole

CHIP: Final = 5
"""Stakes are so many chips of five, times what makes every win whole."""


class _Plan(NamedTuple):
    """What lies on the layout at a level."""

    bets: int
    winners: int
    near: int
    seats: int
    chips: tuple[int, ...]


PLANS: Final = {
    1: _Plan(bets=3, winners=1, near=1, seats=2, chips=(1, 2, 4, 5, 10, 20)),
    2: _Plan(bets=8, winners=3, near=2, seats=3, chips=tuple(range(1, 21))),
    3: _Plan(bets=15, winners=5, near=6, seats=5, chips=tuple(range(3, 61))),
}
MOST_BETS: Final = max(plan.bets for plan in PLANS.values())


class PlacedBet(NamedTuple):
    """A bet as it lies."""

    seat: int
    area: AreaId
    stake: int


class SettleExercise(NamedTuple):
    """What is shown, and how it lies."""

    asked: ExerciseRequest
    course: Course
    shown: Outcome
    bets: tuple[PlacedBet, ...]


class SettledLine(NamedTuple):
    """What was answered for a bet, what comes back of it, and why."""

    bet: PlacedBet
    answered: int
    returned: int
    why: Explanation

    @property
    def is_right(self) -> bool:
        """Whether the answer is the figure."""
        return self.answered == self.returned


class SettleJudged(NamedTuple):
    """The judgement, bet by bet."""

    exercise: SettleExercise
    marks: Marks
    lines: tuple[SettledLine, ...]


def settle_exercise(asked: ExerciseRequest, course: Course, seeded: Seeded) -> SettleExercise:
    """Bets of several seats on a layout, each area once."""
    plan = PLANS[asked.level]
    shown = drawn_outcome(course, asked.level, seeded)
    chip = CHIP * course.matrix.denominator
    bets = tuple(
        PlacedBet(1 + seeded.below(plan.seats), area, chip * seeded.one(plan.chips))
        for area in seeded.shuffled(_areas(asked, course, shown, seeded))
    )
    return SettleExercise(asked, course, shown, bets)


def _areas(asked: ExerciseRequest, course: Course, shown: Outcome, seeded: Seeded) -> list[AreaId]:
    """Some that win, some that nearly do, and any others."""
    plan = PLANS[asked.level]
    pool = [area for area in course.matrix.areas if asked.level > 1 or area in course.simple]
    lit = set(course.matrix.illuminated(shown))
    by_total, by_die = ([area for area in near if area in pool] for near in near_misses(course.matrix, shown))
    found = seeded.some([area for area in pool if area in lit], plan.winners)
    found += seeded.some(by_total, plan.near)
    found += seeded.some(by_die, max(0, plan.winners + plan.near - len(found)))
    rest = [area for area in pool if area not in found]
    return found + seeded.some(rest, plan.bets - len(found))


def judged_settle(exercise: SettleExercise, returned: Sequence[int], took: int) -> SettleJudged:
    """The figures of an answer, in the order of the bets, against what the engine settles."""
    bets = exercise.bets
    if len(returned) != len(bets):
        raise RulesError(f"expected {len(bets)} figures, one for each bet, got {len(returned)}")
    for figure in returned:
        whole("a figure", figure, 0, GREATEST_SUM)
    matrix, shown = exercise.course.matrix, exercise.shown
    settled = matrix.settle(shown, [Bet.on(bet.area, bet.stake) for bet in bets])
    if not isinstance(settled, Settlement):  # stakes are made to be whole: a book could only be too rich
        raise RulesError(f"expected bets that can be settled, got {settled}")
    lines = tuple(
        SettledLine(bet, answered, int(one.returned), matrix.explain(bet.area, shown))
        for bet, answered, one in zip(bets, returned, settled.bets, strict=True)
    )
    right = sum(line.is_right for line in lines)
    level = exercise.asked.level
    return SettleJudged(
        exercise, marks(ExerciseKind.SETTLE, level, right=right, of=len(lines), took=took), lines
    )


class KeyExercise(NamedTuple):
    """What is shown, in the order in which it lies."""

    asked: ExerciseRequest
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


def key_exercise(asked: ExerciseRequest, course: Course, seeded: Seeded) -> KeyExercise:
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
    given = marks(ExerciseKind.KEY, exercise.asked.level, right=right, of=1 + len(lit), took=took)
    return KeyJudged(exercise, given, keyed, faces_right, lines)

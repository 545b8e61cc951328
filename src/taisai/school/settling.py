"""Exercises with a result: settle the bets on a layout, or enter the result and mark the lit areas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from taisai.rules.areas import AreaId
from taisai.rules.errors import RulesError
from taisai.rules.matrix import Explanation
from taisai.rules.outcomes import Face, Outcome
from taisai.rules.settlement import GREATEST_SUM, Bet, BetRecord, Settlement
from taisai.school.exercises import (
    Course,
    ExerciseKind,
    ExerciseRequest,
    Marks,
    Seeded,
    check_range,
    drawn_outcome,
    marks,
    near_misses,
)

CHIP: Final = 5
"""Stakes are multiples of this, times the denominator that makes every win whole."""


class _Plan(NamedTuple):
    """The bets of a level: how many, how many win or nearly win, the seats, and the chips."""

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


class SettleExercise(NamedTuple):
    """Bets on a layout, and the outcome."""

    asked: ExerciseRequest
    course: Course
    shown: Outcome
    bets: tuple[Bet, ...]
    seats: tuple[int, ...]
    """The seat of each bet."""


class JudgedFigure(NamedTuple):
    """The figure that was answered for a bet, beside the record of the bet."""

    record: BetRecord[Bet]
    answered: int
    why: Explanation

    @property
    def is_right(self) -> bool:
        """Whether the answer is what comes back of the bet."""
        return self.answered == self.record.returned


class SettleJudged(NamedTuple):
    """A judged answer, bet by bet."""

    exercise: SettleExercise
    marks: Marks
    lines: tuple[JudgedFigure, ...]


def settle_exercise(asked: ExerciseRequest, course: Course, seeded: Seeded) -> SettleExercise:
    """An exercise with bets of several seats, at most one bet on an area."""
    plan = PLANS[asked.level]
    shown = drawn_outcome(course, asked.level, seeded)
    chip = CHIP * course.matrix.denominator
    seats, bets = [], []
    for area in seeded.shuffled(_areas(asked, course, shown, seeded)):
        seats.append(1 + seeded.below(plan.seats))
        bets.append(Bet.on(area, chip * seeded.one(plan.chips)))
    return SettleExercise(asked, course, shown, tuple(bets), tuple(seats))


def _areas(asked: ExerciseRequest, course: Course, shown: Outcome, seeded: Seeded) -> list[AreaId]:
    """Areas that win, areas that nearly win, and others."""
    plan = PLANS[asked.level]
    pool = [area for area in course.matrix.areas if asked.level > 1 or area in course.simple]
    lit = set(course.matrix.illuminated(shown))
    by_total, by_die = ([area for area in near if area in pool] for near in near_misses(course.matrix, shown))
    areas = seeded.some([area for area in pool if area in lit], plan.winners)
    areas += seeded.some(by_total, plan.near)
    areas += seeded.some(by_die, max(0, plan.winners + plan.near - len(areas)))
    rest = [area for area in pool if area not in areas]
    return areas + seeded.some(rest, plan.bets - len(areas))


def judged_settle(exercise: SettleExercise, returned: Sequence[int], took: int) -> SettleJudged:
    """Judges the figures of an answer, in the order of the bets, by a real settlement."""
    bets = exercise.bets
    if len(returned) != len(bets):
        raise RulesError(f"expected {len(bets)} figures, one for each bet, got {len(returned)}")
    for figure in returned:
        check_range("a figure", figure, 0, GREATEST_SUM)
    matrix, shown = exercise.course.matrix, exercise.shown
    settled = matrix.settle(shown, bets)
    if not isinstance(settled, Settlement):  # the stakes fit the layout, so only the sums could be too great
        raise RulesError(f"the bets cannot be settled: {settled}")
    lines = tuple(
        JudgedFigure(record, answered, matrix.explain(record.area, shown))
        for record, answered in zip(settled.bets, returned, strict=True)
    )
    right = sum(line.is_right for line in lines)
    given = marks(ExerciseKind.SETTLE, exercise.asked.level, right=right, of=len(lines), took=took)
    return SettleJudged(exercise, given, lines)


class KeyExercise(NamedTuple):
    """Three dice or cards, in the order in which they are shown."""

    asked: ExerciseRequest
    course: Course
    shown: Outcome
    faces: tuple[Face, ...]


class JudgedArea(NamedTuple):
    """An area that lights up or that was marked, and why it wins or loses."""

    area: AreaId
    lights: bool
    marked: bool
    why: Explanation

    @property
    def is_right(self) -> bool:
        """Whether it was marked if, and only if, it lights up."""
        return self.lights == self.marked


class KeyJudged(NamedTuple):
    """A judged answer: the result, and every area that lights up or was marked."""

    exercise: KeyExercise
    marks: Marks
    keyed: Outcome
    faces_right: bool
    lines: tuple[JudgedArea, ...]


def key_exercise(asked: ExerciseRequest, course: Course, seeded: Seeded) -> KeyExercise:
    """An exercise with three faces in random order."""
    shown = drawn_outcome(course, asked.level, seeded)
    return KeyExercise(asked, course, shown, tuple(seeded.shuffled(shown.faces)))


def judged_key(exercise: KeyExercise, faces: tuple[int, ...], marked: Iterable[str], took: int) -> KeyJudged:
    """Judges a result and the marked areas: each right one counts, each wrong mark takes one away."""
    matrix, shown = exercise.course.matrix, exercise.shown
    keyed = Outcome.of(*faces)
    touched = {matrix.areas[matrix.row(area)] for area in marked}
    lit = set(matrix.illuminated(shown))
    lines = tuple(
        JudgedArea(area, area in lit, area in touched, matrix.explain(area, shown))
        for area in matrix.areas
        if area in lit or area in touched
    )
    faces_right = keyed is shown
    right = max(0, faces_right + len(lit & touched) - len(touched - lit))
    given = marks(ExerciseKind.KEY, exercise.asked.level, right=right, of=1 + len(lit), took=took)
    return KeyJudged(exercise, given, keyed, faces_right, lines)

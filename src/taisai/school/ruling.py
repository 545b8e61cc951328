"""What can go wrong where, to be asked about: the cells of a rulebook's own table that make sense at it.

To rule: something goes wrong in a phase; which of four rulings do the rules order?
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from taisai.rules.book import Rulebook, rulebook_ids
from taisai.rules.chance import ChanceKind
from taisai.rules.clauses import HOUSE_PROCEDURES
from taisai.rules.errors import RulesError, printable
from taisai.rules.irregularities import Ruling, RulingCell
from taisai.rules.vocabulary import Irregularity, Phase
from taisai.school.course import Course, book_of
from taisai.school.exercises import ExerciseKind, ExerciseRequest, Marks, Seeded, marks

_WITH_DICE: Final = frozenset({
    Irregularity.TOO_FEW_TUMBLES, Irregularity.DIE_NOT_FLAT, Irregularity.DIE_DAMAGED,
    Irregularity.DOME_OR_DICE_BROKEN,
})  # fmt: skip
"""What cannot happen to cards."""
_WITH_THINGS: Final = frozenset({
    Irregularity.CHIPS_UNCLEAR, Irregularity.AUTOMATED_SHAKER_FAILURE, Irregularity.DEAL_NOT_PRESSED,
    Irregularity.TERMINALS_DOWN, Irregularity.FOREIGN_CARD, Irregularity.CARD_COUNT_WRONG,
    Irregularity.SHOE_SHORT, Irregularity.TWO_SHAKERS,
})  # fmt: skip
"""What takes a thing that only some tables have: asked about where the rulebook itself speaks of it."""


class Scene(NamedTuple):
    """Something that goes wrong in a phase, and what the rules order then."""

    event: Irregularity
    phase: Phase
    seen: bool
    """While the dice lie concealed, whether one of them was seen."""
    ruled: RulingCell

    @property
    def in_hand(self) -> bool:
        """Whether it is about a round that is being played, and is not settled."""
        return self.phase is not Phase.BETWEEN and not self.phase.settlement_recorded


class Scenes(NamedTuple):
    """What may be asked at each level."""

    first: tuple[Scene, ...]
    """What the document foresees of a round in hand."""
    foreseen: tuple[Scene, ...]
    """All that the document or the house has a ruling on."""
    traps: tuple[Scene, ...]
    """What another document rules on, and this one leaves to someone who decides."""


@cache
def scenes_of(name: str) -> Scenes:
    """The scenes of a rulebook of the package."""
    book = book_of(name)
    every = _every(book)
    own = {scene.event for scene in every if scene.ruled.foreseen}
    apt = tuple(scene for scene in every if _is_apt(book, scene.event, own))
    foreseen = tuple(scene for scene in apt if not scene.ruled.caught)
    elsewhere = _elsewhere()
    return Scenes(
        first=tuple(one for one in foreseen if one.ruled.foreseen and one.in_hand and not one.seen),
        foreseen=foreseen,
        traps=tuple(scene for scene in apt if scene.ruled.caught and (scene.event, scene.phase) in elsewhere),
    )


def _every(book: Rulebook) -> tuple[Scene, ...]:
    table, settings = book.irregularities, book.chosen()
    return tuple(
        Scene(event, phase, seen, table.ruling_for(event, phase, settings, seen=seen))
        for event in Irregularity
        for phase in table.phases
        for seen in ((False, True) if (event, phase) in table.seen else (False,))
    )


def _is_apt(book: Rulebook, event: Irregularity, own: set[Irregularity]) -> bool:
    if event in _WITH_THINGS:
        return event in own
    return event not in _WITH_DICE or book.chance_rule.kind is ChanceKind.DICE


@cache
def _elsewhere() -> frozenset[tuple[Irregularity, Phase]]:
    """What some document of the package foresees, and when."""
    return frozenset(
        (scene.event, scene.phase)
        for name in rulebook_ids()
        for scene in _every(book_of(name))
        if scene.ruled.foreseen
    )


CHOICES: Final = 4
_MUCH_ALIKE: Final = (
    {Ruling.CONTINUE, Ruling.SETTLE_BY_OUTCOME},
    {Ruling.CONTINUE, Ruling.SETTLE_REGISTERED},
    {Ruling.CONTINUE, Ruling.STANDS},
)
"""Rulings that come to nearly the same: nobody is asked to tell them apart in one question."""


class RulingChoice(NamedTuple):
    """A ruling that may be chosen, and who decides where it is referred."""

    ruling: Ruling
    to: str | None

    @property
    def id(self) -> str:
        """Its name in an answer."""
        return self.ruling if self.to is None else f"{self.ruling}:{self.to}"


class RulingExercise(NamedTuple):
    """What goes wrong and when, and the rulings to choose from."""

    asked: ExerciseRequest
    course: Course
    scene: Scene
    choices: tuple[RulingChoice, ...]


class RulingJudged(NamedTuple):
    """The judgement: what the rules order, and by which clause."""

    exercise: RulingExercise
    marks: Marks
    chosen: RulingChoice
    ordered: RulingChoice
    ruled: RulingCell
    says: str


def ruling_exercise(asked: ExerciseRequest, course: Course, seeded: Seeded) -> RulingExercise:
    """A scene, and what it is ruled by among three other rulings of the same rulebook."""
    scene = seeded.one(_pool(asked, seeded))
    right = _choice(scene.ruled)
    others = [one for one in _rulings(asked.book) if _is_wrong(course, one, right)]
    drawn: list[RulingChoice] = []
    for other in seeded.shuffled(others):
        if len(drawn) < CHOICES - 1 and not any(_is_alike(other, one) for one in drawn):
            drawn.append(other)
    return RulingExercise(asked, course, scene, tuple(seeded.shuffled([right, *drawn])))


def _pool(asked: ExerciseRequest, seeded: Seeded) -> tuple[Scene, ...]:
    scenes = scenes_of(asked.book)
    if asked.level == 1:
        return scenes.first
    is_trap = asked.level > 2 and seeded.below(2) == 0
    return scenes.traps if is_trap and scenes.traps else scenes.foreseen


def _choice(ruled: RulingCell) -> RulingChoice:
    return RulingChoice(ruled.ruling, ruled.to)


@cache
def _rulings(name: str) -> tuple[RulingChoice, ...]:
    """Every ruling that the rulebook has, first those on what can happen at its table; then any."""
    scenes = scenes_of(name)
    own = [_choice(scene.ruled) for scene in (*scenes.foreseen, *scenes.traps)]
    own += [_choice(ruled) for ruled in book_of(name).irregularities.cells.values()]
    return tuple(dict.fromkeys(own))


def _is_wrong(course: Course, one: RulingChoice, right: RulingChoice) -> bool:
    """Whether a ruling is clearly another; a rank above the right one could decide as well."""
    if one == right:
        return False
    if one.to is not None and right.to is not None:
        return not course.book.people.at_least(one.to, right.to)
    return {one.ruling, right.ruling} not in _MUCH_ALIKE


def _is_alike(one: RulingChoice, other: RulingChoice) -> bool:
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
    given = marks(
        ExerciseKind.RULING, exercise.asked.level, right=int(known[choice] == ordered), of=1, took=took
    )
    return RulingJudged(
        exercise, given, known[choice], ordered, ruled, text.says if text else HOUSE_PROCEDURES[ruled.clause]
    )

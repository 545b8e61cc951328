"""Exercises on irregularities: something goes wrong in a phase; which of four rulings do the rules order?"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from taisai.rules.book import Rulebook, rulebook_ids
from taisai.rules.chance import ChanceKind
from taisai.rules.clauses import HOUSE_PROCEDURES
from taisai.rules.errors import RulesError, printable
from taisai.rules.irregularities import Ruling, RulingCell
from taisai.rules.vocabulary import Irregularity, Phase
from taisai.school.exercises import Course, ExerciseKind, ExerciseRequest, Marks, Seeded, book_of, marks

_WITH_DICE: Final = frozenset({
    Irregularity.TOO_FEW_TUMBLES, Irregularity.DIE_NOT_FLAT, Irregularity.DIE_DAMAGED,
    Irregularity.DOME_OR_DICE_BROKEN,
})  # fmt: skip
"""Irregularities of dice, which cannot happen with cards."""
_WITH_THINGS: Final = frozenset({
    Irregularity.CHIPS_UNCLEAR, Irregularity.AUTOMATED_SHAKER_FAILURE, Irregularity.DEAL_NOT_PRESSED,
    Irregularity.TERMINALS_DOWN, Irregularity.FOREIGN_CARD, Irregularity.CARD_COUNT_WRONG,
    Irregularity.SHOE_SHORT, Irregularity.TWO_SHAKERS,
})  # fmt: skip
"""Irregularities of equipment that only some tables have: used if the rulebook itself rules on them."""


class Scene(NamedTuple):
    """An irregularity in a phase, and what the rules order."""

    event: Irregularity
    phase: Phase
    seen: bool
    """Whether a concealed die was seen."""
    ruled: RulingCell

    @property
    def is_in_play(self) -> bool:
        return self.phase is not Phase.BETWEEN and not self.phase.settlement_recorded


class Scenes(NamedTuple):
    """The scenes of each level."""

    first: tuple[Scene, ...]
    """Level 1: what the document rules on in a round in play."""
    foreseen: tuple[Scene, ...]
    """Level 2: everything that the document or the house rules on."""
    traps: tuple[Scene, ...]
    """Level 3: what another document rules on, and this one refers to a person."""


@cache
def scenes_of(name: str) -> Scenes:
    book = book_of(name)
    every = _every(book)
    own = {scene.event for scene in every if scene.ruled.foreseen}
    apt = tuple(scene for scene in every if _is_apt(book, scene.event, own))
    foreseen = tuple(scene for scene in apt if not scene.ruled.caught)
    elsewhere = _elsewhere()
    return Scenes(
        first=tuple(
            scene for scene in foreseen if scene.ruled.foreseen and scene.is_in_play and not scene.seen
        ),
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
    """What any document of the package rules on, and in which phase."""
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
"""Rulings with nearly the same effect, which are not choices of the same question."""


class RulingChoice(NamedTuple):
    """A ruling to choose, and the rank that decides if it is a referral."""

    ruling: Ruling
    to: str | None

    @property
    def id(self) -> str:
        """The name of the choice in an answer."""
        return self.ruling if self.to is None else f"{self.ruling}:{self.to}"


class RulingExercise(NamedTuple):
    """A scene, and the rulings to choose from."""

    asked: ExerciseRequest
    course: Course
    scene: Scene
    choices: tuple[RulingChoice, ...]


class RulingJudged(NamedTuple):
    """A judged answer: what the rules order, and by which clause."""

    exercise: RulingExercise
    marks: Marks
    chosen: RulingChoice
    ordered: RulingChoice
    ruled: RulingCell
    says: str


def ruling_exercise(asked: ExerciseRequest, course: Course, seeded: Seeded) -> RulingExercise:
    """A scene, and four choices: the right ruling and three others of the same rulebook."""
    scene = seeded.one(_pool(asked, seeded))
    right = _choice(scene.ruled)
    others = [choice for choice in _rulings(asked.book) if _is_wrong(course, choice, right)]
    drawn: list[RulingChoice] = []
    for other in seeded.shuffled(others):
        if len(drawn) < CHOICES - 1 and not any(_is_alike(other, choice) for choice in drawn):
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
    """Every ruling of the rulebook; those of its scenes come first."""
    scenes = scenes_of(name)
    own = [_choice(scene.ruled) for scene in (*scenes.foreseen, *scenes.traps)]
    own += [_choice(ruled) for ruled in book_of(name).irregularities.cells.values()]
    return tuple(dict.fromkeys(own))


def _is_wrong(course: Course, choice: RulingChoice, right: RulingChoice) -> bool:
    """Whether a choice is clearly wrong; a rank above the right one could decide as well."""
    if choice == right:
        return False
    if choice.to is not None and right.to is not None:
        return not course.book.people.at_least(choice.to, right.to)
    return {choice.ruling, right.ruling} not in _MUCH_ALIKE


def _is_alike(one: RulingChoice, other: RulingChoice) -> bool:
    return one.ruling is other.ruling or {one.ruling, other.ruling} in _MUCH_ALIKE


def judged_ruling(exercise: RulingExercise, choice: str, took: int) -> RulingJudged:
    """Judges a chosen ruling by the rulebook's own table."""
    choices = {option.id: option for option in exercise.choices}
    if choice not in choices:
        raise RulesError(f"expected one of {', '.join(choices)}, got {printable(repr(choice))}")
    course, scene = exercise.course, exercise.scene
    ruled = course.book.irregularities.ruling_for(scene.event, scene.phase, course.settings, seen=scene.seen)
    ordered = _choice(ruled)
    text = course.book.clauses.get(ruled.clause)
    chosen, level = choices[choice], exercise.asked.level
    given = marks(ExerciseKind.RULING, level, right=int(chosen == ordered), of=1, took=took)
    says = text.says if text else HOUSE_PROCEDURES[ruled.clause]
    return RulingJudged(exercise, given, chosen, ordered, ruled, says)

"""Right answers by others than the engine: the oracle of pay tables, and the case files of irregularities."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from taisai.school import (
    LEVELS,
    ExerciseKind,
    ExerciseRequest,
    KeyExercise,
    KeyJudged,
    RulingExercise,
    RulingJudged,
    SettleExercise,
    SettleJudged,
    exercise,
    judged_key,
    judged_ruling,
    judged_settle,
)
from tests.clauses.test_irregularity_cases import Case, read_cases
from tests.oracle import PAY_TABLES, PayTable, Roll

CASES: Final = Path(__file__).parents[2] / "cases" / "irregularities"
SEEDS: Final = range(30)
LAYOUTS: Final = [(table.rulebook, layout) for table in PAY_TABLES for layout in table.layouts]
Judged = SettleJudged | KeyJudged | RulingJudged


def pay_table(book: str, layout: str) -> PayTable:
    """What the oracle knows of a layout."""
    return next(one for one in PAY_TABLES if one.rulebook == book and layout in one.layouts)


def settle(asked: ExerciseRequest) -> SettleExercise:
    """An exercise to settle."""
    made = exercise(asked._replace(kind=ExerciseKind.SETTLE))
    assert isinstance(made, SettleExercise)
    return made


def key(asked: ExerciseRequest) -> KeyExercise:
    """An exercise to key."""
    made = exercise(asked._replace(kind=ExerciseKind.KEY))
    assert isinstance(made, KeyExercise)
    return made


def ruling(asked: ExerciseRequest) -> RulingExercise:
    """An exercise to rule."""
    made = exercise(asked._replace(kind=ExerciseKind.RULING))
    assert isinstance(made, RulingExercise)
    return made


def every(book: str, layout: str, kind: ExerciseKind) -> Iterator[ExerciseRequest]:
    """Every exercise that is looked at."""
    for level in LEVELS:
        for seed in SEEDS:
            yield ExerciseRequest(kind, book, layout, level, seed)


# To settle


def shown(made: SettleExercise | KeyExercise) -> Roll:
    """What is shown, as the oracle takes it."""
    first, second, third = made.shown.faces
    return first, second, third


def returns(made: SettleExercise) -> list[tuple[int, str]]:
    """What the oracle returns on every bet, and by which clause."""
    table = pay_table(made.asked.book, made.asked.layout)
    found = []
    for bet in made.bets:
        verdict = table.verdict(bet.area, shown(made))
        back = bet.stake * (1 + verdict.net)
        assert back.denominator == 1, "a stake whose winnings are whole"
        found.append((int(back), verdict.clause))
    return found


# To key


def lit(made: KeyExercise) -> dict[str, str]:
    """The areas that the oracle calls, and by which clause."""
    called = pay_table(made.asked.book, made.asked.layout).called(shown(made))
    return {area: verdict.clause for area, verdict in called.items()}


# To rule


@cache
def _cases(book: str) -> list[Case]:
    text = (CASES / f"{book}.txt").read_text("utf-8")
    order = next(line for line in text.splitlines() if line.startswith("#   between, "))
    return read_cases(text, tuple(order[1:].replace(",", " ").split()))


def ordered(made: RulingExercise) -> tuple[str, str | None, str]:
    """Ruling, rank and clause by the case file, under the settings that a book has by default."""
    scene, settings = made.scene, made.course.settings
    found = {
        case.instead: case.ruled
        for case in _cases(made.asked.book)
        if case.event == scene.event and scene.phase in case.phases
    }
    if scene.seen:
        return found["seen"]
    for instead, ruled in found.items():
        name, _, value = (instead or "").partition("=")
        if value and settings[name] == value:
            return ruled
    return found[None]


def right_choice(made: RulingExercise) -> str:
    """The choice that the case file orders."""
    what, who, _ = ordered(made)
    return f"{what}:{who}" if what == "refer" else what


# Answers


def rightly(asked: ExerciseRequest, took: int = 0) -> Judged:
    """The judgement of a right answer."""
    if asked.kind is ExerciseKind.SETTLE:
        bets = settle(asked)
        return judged_settle(bets, [back for back, _ in returns(bets)], took)
    if asked.kind is ExerciseKind.KEY:
        faces = key(asked)
        return judged_key(faces, faces.faces, lit(faces), took)
    scene = ruling(asked)
    return judged_ruling(scene, right_choice(scene), took)


def misjudged(book: str, layout: str, kind: ExerciseKind) -> list[str]:
    """Right answers that did not get full marks, or whose clause is another than the oracle's."""
    wrong = []
    for asked in every(book, layout, kind):
        judged = rightly(asked)
        if judged.marks.score != 100:
            wrong.append(f"{asked}: {judged.marks}")
        if clauses(judged) != expected_clauses(judged):
            wrong.append(f"{asked}: {clauses(judged)}")
    return wrong


def clauses(judged: Judged) -> list[str]:
    """What a judgement cites."""
    if isinstance(judged, RulingJudged):
        return [str(judged.ruled.clause)]
    return [str(line.why.clause) for line in judged.lines]


def expected_clauses(judged: Judged) -> list[str]:
    """What the oracle cites."""
    if isinstance(judged, SettleJudged):
        return [clause for _, clause in returns(judged.exercise)]
    if isinstance(judged, KeyJudged):
        called = lit(judged.exercise)
        return [called[line.area] for line in judged.lines]
    return [ordered(judged.exercise)[2]]

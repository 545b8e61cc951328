"""Endpoints of dealer school: an exercise follows from what is asked, so that nothing is kept of anyone."""

from __future__ import annotations

from litestar import get, post
from litestar.params import FromQuery, JSONBody

from taisai.protocol.views import FeltView
from taisai.rules import RulesError
from taisai.school import (
    Asked,
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
from taisai.school.course import course_of
from taisai.server.http import school_bodies as bodies
from taisai.server.http.guard import refused
from taisai.server.http.school_texts import exercise_told, judged_told, school_felt, school_told


@get("/api/school", summary="What can be practised in dealer school")
async def school() -> bodies.SchoolTold:
    """Rulebooks, layouts, and the par time of every kind and level."""
    return school_told()


@get("/api/school/felt", summary="A layout to practise on")
async def felt(book: FromQuery[str], layout: FromQuery[str]) -> FeltView:
    """As a table shows it that plays by the book's own settings and odds."""
    try:
        return school_felt(book, course_of(book, layout).layout)
    except RulesError as error:
        raise refused(400, "bad-value", str(error)) from None


@get("/api/school/exercise", summary="An exercise of dealer school")
async def asked(
    kind: FromQuery[str],
    book: FromQuery[str],
    layout: FromQuery[str],
    level: FromQuery[int],
    seed: FromQuery[int],
) -> bodies.ExerciseTold:
    """The same for the same asking; its solution is not in it."""
    try:
        return exercise_told(exercise(Asked.of(kind, book, layout, level=level, seed=seed)))
    except RulesError as error:
        raise refused(400, "bad-value", str(error)) from None


@post("/api/school/answer", status_code=200, summary="Answer an exercise, and be judged by the engine")
async def answered(data: JSONBody[bodies.SchoolAnswer]) -> bodies.JudgedTold:
    """The exercise is made again and judged by the tables that rule a game for money."""
    try:
        return judged_told(_judged(data))
    except RulesError as error:
        raise refused(400, "bad-value", str(error)) from None


def _judged(data: bodies.SchoolAnswer) -> SettleJudged | KeyJudged | RulingJudged:
    kind = str(type(data).__struct_config__.tag)
    made = exercise(Asked.of(kind, data.book, data.layout, level=data.level, seed=data.seed))
    match made, data:
        case SettleExercise(), bodies.SettleAnswer():
            return judged_settle(made, data.returned, data.took)
        case KeyExercise(), bodies.KeyAnswer():
            return judged_key(made, data.faces, data.lit, data.took)
        case RulingExercise(), bodies.RulingAnswer():
            return judged_ruling(made, data.choice, data.took)
        case _:
            raise TypeError(f"expected an exercise to {kind}, got {type(made).__name__}")


ENDPOINTS = [school, felt, asked, answered]

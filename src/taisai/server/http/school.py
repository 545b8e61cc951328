"""Endpoints of the dealer school. An exercise follows from its request; the server stores nothing."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from litestar import get, post
from litestar.params import FromQuery, JSONBody

from taisai.game import Refusal, Table, decide, evolve
from taisai.game.commands import Limits, OpenTable
from taisai.protocol.views import FeltView, Words
from taisai.rules import RulesError
from taisai.rules.book import Rulebook, rulebook_ids
from taisai.rules.chance import ChanceKind
from taisai.rules.irregularities import Ruling, RulingCell
from taisai.rules.vocabulary import Phase
from taisai.school import (
    GREATEST_SEED,
    LONGEST,
    PARS,
    Exercise,
    ExerciseRequest,
    JudgedArea,
    JudgedFigure,
    KeyExercise,
    KeyJudged,
    Marks,
    RulingChoice,
    RulingExercise,
    RulingJudged,
    SettleExercise,
    SettleJudged,
    exercise,
    judged_key,
    judged_ruling,
    judged_settle,
)
from taisai.school.exercises import Course, book_of, course_of
from taisai.school.ruling import Scene
from taisai.server.http import school_bodies as bodies
from taisai.server.http.guard import refused
from taisai.server.projections import texts
from taisai.server.projections.table import felt_view

COLOURS: Final = (
    ("red", Words("red", "红色")),
    ("blue", Words("blue", "蓝色")),
    ("yellow", Words("yellow", "黄色")),
    ("purple", Words("purple", "紫色")),
    ("orange", Words("orange", "橙色")),
)
"""The colour of each seat's chips, from seat 1."""
DURING: Final = Words("During: {phase}", "阶段：{phase}")
AFTERWARDS: Final = Words("Found when the round is over", "本局结束后发现")
SEEN: Final = Words("; a concealed die was seen", "；遮盖的骰子已被看见")
UNSEEN: Final = Words("; no die was seen", "；无人看见骰子")
DECIDES: Final = Words("{rank} or above", "{rank}或以上")
BEFORE: Final = Words("The rules; settled before the {rank} or above", "规则决定；{rank}或以上在场结算")
RULES_DECIDE: Final = Words("The rules: the Dealer carries it out", "规则决定，由荷官执行")


def school_response() -> bodies.SchoolResponse:
    return bodies.SchoolResponse(
        books=tuple(
            bodies.SchoolBook(
                book=book.id, title=_title(book), layouts=tuple(book.pay_by_layout), cards=_has_cards(book)
            )
            for book in map(book_of, rulebook_ids())
        ),
        pars=tuple(
            bodies.ParTime(kind=kind, level=level, par=par)
            for kind, by_level in PARS.items()
            for level, par in by_level.items()
        ),
        greatest_seed=GREATEST_SEED,
        longest=LONGEST,
    )


@cache
def school_felt(name: str, layout: str) -> FeltView:
    """A layout as a table with the book's default settings and odds shows it."""
    book = book_of(name)
    table = Table(book)
    opening = OpenTable(
        at=0, by="school", rank=book.people.ranks()[-1], table="school", currency="XXX", day="2026-01-01",
        zone="UTC", limits=Limits(least=1, most=1_000_000),
    )  # fmt: skip
    opened = decide(table, opening)
    if isinstance(opened, Refusal):
        raise TypeError(f"expected the table to open, got the refusal {opened}")
    for event in opened:
        table = evolve(table, event)
    return felt_view(table, layout)


def _title(book: Rulebook) -> Words:
    return Words(book.title, book.title_zh)


def _has_cards(book: Rulebook) -> bool:
    return book.chance_rule.kind is not ChanceKind.DICE


def _area(course: Course, area: str) -> Words:
    label = course.matrix.labels[course.matrix.row(area)]
    return Words(label.label, label.label_zh)


def _rank(book: Rulebook, rank: str) -> Words:
    return next(Words(known.label, known.label_zh) for known in book.people.ladder if known.id == rank)


# Exercises


def exercise_response(practised: Exercise) -> bodies.ExerciseResponse:
    """An exercise, without its solution."""
    asked, book = practised.asked, practised.course.book
    common: dict[str, Any] = {
        "book": book.id, "title": _title(book), "layout": practised.course.layout, "level": asked.level,
        "seed": asked.seed, "par": PARS[asked.kind][asked.level],
    }  # fmt: skip
    if isinstance(practised, KeyExercise):
        return bodies.KeyExerciseResponse(**common, cards=_has_cards(book), faces=practised.faces)
    if isinstance(practised, RulingExercise):
        return bodies.RulingExerciseResponse(
            **common,
            phase=practised.scene.phase,
            irregularity=practised.scene.event,
            label=texts.IRREGULARITIES[practised.scene.event],
            context=_context(book, practised.scene),
            choices=tuple(
                bodies.SchoolChoice(id=choice.id, says=_ruling(book, choice)) for choice in practised.choices
            ),
        )
    bets = (
        bodies.SchoolBet(
            seat=seat, colour=COLOURS[seat - 1][0], colour_label=COLOURS[seat - 1][1], area=bet.area,
            label=_area(practised.course, bet.area), stake=bet.stake,
        )
        for seat, bet in zip(practised.seats, practised.bets, strict=True)
    )  # fmt: skip
    return bodies.SettleExerciseResponse(
        **common, cards=_has_cards(book), faces=practised.shown.faces, bets=tuple(bets)
    )


def _context(book: Rulebook, scene: Scene) -> Words:
    if scene.phase is Phase.BETWEEN:
        text = AFTERWARDS
    else:
        phase = next(phase for phase in book.procedure.phases if phase.id is scene.phase)
        text = Words(DURING.en.format(phase=phase.label), DURING.zh.format(phase=phase.label_zh))
    if (scene.event, scene.phase) not in book.irregularities.seen:
        return text
    more = SEEN if scene.seen else UNSEEN
    return Words(text.en + more.en, text.zh + more.zh)


def _ruling(book: Rulebook, choice: RulingChoice) -> Words:
    text = texts.RULINGS[choice.ruling]
    return text if choice.to is None else texts.joined(text, _rank(book, choice.to))


# Judged answers


def judged_response(judged: SettleJudged | KeyJudged | RulingJudged) -> bodies.JudgedResponse:
    """A judged answer, with the clauses that decide it."""
    marks: Marks = judged.marks
    common, course = marks._asdict(), judged.exercise.course
    if isinstance(judged, SettleJudged):
        bets = (
            bodies.JudgedBetResponse(
                **_judged_area(course, line), stake=line.record.stake, answered=line.answered,
                returned=line.record.returned,
            )
            for line in judged.lines
        )  # fmt: skip
        return bodies.SettleJudgedResponse(**common, bets=tuple(bets))
    if isinstance(judged, KeyJudged):
        areas = (
            bodies.JudgedAreaResponse(**_judged_area(course, line), lights=line.lights, marked=line.marked)
            for line in judged.lines
        )
        return bodies.KeyJudgedResponse(
            **common,
            faces=judged.exercise.shown.faces,
            keyed=judged.keyed.faces,
            faces_right=judged.faces_right,
            areas=tuple(areas),
        )
    return bodies.RulingJudgedResponse(
        **common,
        chosen=judged.chosen.id,
        ordered=judged.ordered.id,
        ruling=_ruling(course.book, judged.ordered),
        clause=judged.ruled.clause,
        says=judged.says,
        decides=_decides(course.book, judged.ruled),
        foreseen=judged.ruled.foreseen,
    )


def _judged_area(course: Course, line: JudgedFigure | JudgedArea) -> dict[str, Any]:
    why = line.why
    return {
        "area": why.area, "label": _area(course, why.area), "right": line.is_right,
        "odds": None if why.odds is None else texts.odds(why.odds), "clause": why.clause, "says": why.says,
    }  # fmt: skip


def _decides(book: Rulebook, ruled: RulingCell) -> Words:
    """Who decides: the rank of a referral; otherwise the rules, with a witness if they require one."""
    rank = ruled.to if ruled.ruling is Ruling.REFER else ruled.witness
    if rank is None:
        return RULES_DECIDE
    label, text = _rank(book, rank), DECIDES if ruled.ruling is Ruling.REFER else BEFORE
    return Words(text.en.format(rank=label.en), text.zh.format(rank=label.zh))


@get("/api/school", summary="What can be practised in dealer school")
async def school() -> bodies.SchoolResponse:
    """Rulebooks, layouts, and the par time of every kind and level."""
    return school_response()


@get("/api/school/felt", summary="A layout to practise on")
async def felt(book: FromQuery[str], layout: FromQuery[str]) -> FeltView:
    """The layout as a table with the book's default settings and odds shows it."""
    try:
        return school_felt(book, course_of(book, layout).layout)
    except RulesError as error:
        raise refused(400, "bad-value", str(error)) from None


@get("/api/school/exercise", summary="An exercise of dealer school")
async def get_exercise(
    kind: FromQuery[str],
    book: FromQuery[str],
    layout: FromQuery[str],
    level: FromQuery[int],
    seed: FromQuery[int],
) -> bodies.ExerciseResponse:
    """The same request gives the same exercise. The solution is not in it."""
    try:
        return exercise_response(exercise(ExerciseRequest.of(kind, book, layout, level=level, seed=seed)))
    except RulesError as error:
        raise refused(400, "bad-value", str(error)) from None


@post("/api/school/answer", status_code=200, summary="Answer an exercise")
async def answer(data: JSONBody[bodies.SchoolAnswer]) -> bodies.JudgedResponse:
    """Makes the exercise again, and judges the answer by the tables that rule a game for money."""
    try:
        return judged_response(_judged(data))
    except RulesError as error:
        raise refused(400, "bad-value", str(error)) from None


def _judged(data: bodies.SchoolAnswer) -> SettleJudged | KeyJudged | RulingJudged:
    kind = str(type(data).__struct_config__.tag)
    answered = exercise(ExerciseRequest.of(kind, data.book, data.layout, level=data.level, seed=data.seed))
    match answered, data:
        case SettleExercise(), bodies.SettleAnswer():
            return judged_settle(answered, data.returned, data.took)
        case KeyExercise(), bodies.KeyAnswer():
            return judged_key(answered, data.faces, data.lit, data.took)
        case RulingExercise(), bodies.RulingAnswer():
            return judged_ruling(answered, data.choice, data.took)
        case _:
            raise TypeError(f"expected an exercise of the kind {kind}, got {type(answered).__name__}")


ENDPOINTS = [school, felt, get_exercise, answer]

"""Endpoints of the school for dealers. An exercise follows from its request; nothing is kept of anyone."""

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
from taisai.rules.pay import Odds
from taisai.rules.vocabulary import Phase
from taisai.school import (
    GREATEST_SEED,
    LONGEST,
    PARS,
    Exercise,
    ExerciseRequest,
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
from taisai.school.course import Course, book_of, course_of
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
"""Of the chips of each seat, from seat 1 on."""
DURING: Final = Words("During: {phase}", "阶段：{phase}")
AFTERWARDS: Final = Words("Found when the round is over", "本局结束后发现")
SEEN: Final = Words("; a concealed die was seen", "；遮盖的骰子已被看见")
UNSEEN: Final = Words("; no die was seen", "；无人看见骰子")
DECIDES: Final = Words("{rank} or above", "{rank}或以上")
BEFORE: Final = Words("The rules; settled before the {rank} or above", "规则决定；{rank}或以上在场结算")
RULES_DECIDE: Final = Words("The rules: the Dealer carries it out", "规则决定，由荷官执行")


def school_told() -> bodies.SchoolTold:
    """What can be practised."""
    return bodies.SchoolTold(
        books=tuple(
            bodies.SchoolLayoutTold(
                book=book.id,
                title=_title(book),
                layouts=tuple(book.pay_by_layout),
                cards=_has_cards(book),
            )
            for book in map(book_of, rulebook_ids())
        ),
        pars=tuple(
            bodies.SchoolParTold(kind=kind, level=level, par=par)
            for kind, by_level in PARS.items()
            for level, par in by_level.items()
        ),
        greatest_seed=GREATEST_SEED,
        longest=LONGEST,
    )


@cache
def school_felt(name: str, layout: str) -> FeltView:
    """A layout as a table would show it that opened with the book's own settings and odds."""
    book = book_of(name)
    table = Table(book)
    opening = OpenTable(
        at=0, by="school", rank=book.people.ranks()[-1], table="school", currency="XXX", day="2026-01-01",
        zone="UTC", limits=Limits(least=1, most=1_000_000),
    )  # fmt: skip
    opened = decide(table, opening)
    if isinstance(opened, Refusal):
        raise TypeError(f"expected a table that opens, got {opened}")
    for event in opened:
        table = evolve(table, event)
    return felt_view(table, layout)


def _title(book: Rulebook) -> Words:
    return Words(book.title, book.title_zh)


def _has_cards(book: Rulebook) -> bool:
    return book.chance_rule.kind is not ChanceKind.DICE


def _area(course: Course, area: str) -> Words:
    labelled = course.matrix.labels[course.matrix.row(area)]
    return Words(labelled.label, labelled.label_zh)


def _rank(book: Rulebook, rank: str) -> Words:
    return next(Words(one.label, one.label_zh) for one in book.people.ladder if one.id == rank)


# Exercises


def exercise_told(made: Exercise) -> bodies.ExerciseTold:
    """An exercise, without its solution."""
    asked, book = made.asked, made.course.book
    common: dict[str, Any] = {
        "book": book.id, "title": _title(book), "layout": made.course.layout, "level": asked.level,
        "seed": asked.seed, "par": PARS[asked.kind][asked.level],
    }  # fmt: skip
    if isinstance(made, KeyExercise):
        return bodies.KeyExerciseTold(**common, cards=_has_cards(book), faces=made.faces)
    if isinstance(made, RulingExercise):
        return bodies.RulingExerciseTold(
            **common,
            phase=made.scene.phase,
            irregularity=made.scene.event,
            label=texts.IRREGULARITIES[made.scene.event],
            context=_context(book, made.scene),
            choices=tuple(
                bodies.SchoolChoiceTold(id=one.id, says=_ruling(book, one)) for one in made.choices
            ),
        )
    bets = (
        bodies.SchoolBetTold(
            seat=bet.seat, colour=COLOURS[bet.seat - 1][0], colour_label=COLOURS[bet.seat - 1][1],
            area=bet.area, label=_area(made.course, bet.area), stake=bet.stake,
        )
        for bet in made.bets
    )  # fmt: skip
    return bodies.SettleExerciseTold(
        **common, cards=_has_cards(book), faces=made.shown.faces, bets=tuple(bets)
    )


def _context(book: Rulebook, scene: Scene) -> Words:
    if scene.phase is Phase.BETWEEN:
        said = AFTERWARDS
    else:
        phase = next(one for one in book.procedure.phases if one.id is scene.phase)
        said = Words(DURING.en.format(phase=phase.label), DURING.zh.format(phase=phase.label_zh))
    if (scene.event, scene.phase) not in book.irregularities.seen:
        return said
    more = SEEN if scene.seen else UNSEEN
    return Words(said.en + more.en, said.zh + more.zh)


def _ruling(book: Rulebook, choice: RulingChoice) -> Words:
    said = texts.RULINGS[choice.ruling]
    return said if choice.to is None else texts.joined(said, _rank(book, choice.to))


# Judgements


def judged_told(judged: SettleJudged | KeyJudged | RulingJudged) -> bodies.JudgedTold:
    """A judgement, with the clause of everything."""
    marks: Marks = judged.marks
    common = marks._asdict()
    course = judged.exercise.course
    if isinstance(judged, SettleJudged):
        return bodies.SettleJudgedTold(
            **common,
            bets=tuple(
                bodies.SettledBetTold(
                    area=line.bet.area, label=_area(course, line.bet.area), stake=line.bet.stake,
                    answered=line.answered, returned=line.returned, right=line.is_right,
                    **_why(line.why.odds, line.why.clause, line.why.says),
                )
                for line in judged.lines
            ),
        )  # fmt: skip
    if isinstance(judged, KeyJudged):
        return bodies.KeyJudgedTold(
            **common,
            faces=judged.exercise.shown.faces,
            keyed=judged.keyed.faces,
            faces_right=judged.faces_right,
            areas=tuple(
                bodies.KeyedAreaTold(
                    area=line.area, label=_area(course, line.area), lights=line.lights, marked=line.marked,
                    right=line.is_right, **_why(line.why.odds, line.why.clause, line.why.says),
                )
                for line in judged.lines
            ),
        )  # fmt: skip
    return bodies.RulingJudgedTold(
        **common,
        chosen=judged.chosen.id,
        ordered=judged.ordered.id,
        ruling=_ruling(course.book, judged.ordered),
        clause=judged.ruled.clause,
        says=judged.says,
        decides=_decides(course.book, judged.ruled),
        foreseen=judged.ruled.foreseen,
    )


def _why(odds: Odds | None, clause: str, says: str) -> dict[str, Any]:
    return {"odds": None if odds is None else texts.odds(odds), "clause": clause, "says": says}


def _decides(book: Rulebook, ruled: RulingCell) -> Words:
    """Who decides: the rank a referral goes to; else the rules, before a witness where they ask for one."""
    rank = ruled.to if ruled.ruling is Ruling.REFER else ruled.witness
    if rank is None:
        return RULES_DECIDE
    known, said = _rank(book, rank), DECIDES if ruled.ruling is Ruling.REFER else BEFORE
    return Words(said.en.format(rank=known.en), said.zh.format(rank=known.zh))


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
        return exercise_told(exercise(ExerciseRequest.of(kind, book, layout, level=level, seed=seed)))
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
    made = exercise(ExerciseRequest.of(kind, data.book, data.layout, level=data.level, seed=data.seed))
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

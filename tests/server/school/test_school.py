"""Dealer school over HTTP: who may, what is told and what is not, and that answers are judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlencode

import jsonschema_rs
import msgspec
import pytest

from taisai.school import LONGEST, ExerciseKind, ExerciseRequest, exercise, judged_settle
from taisai.school.settling import PLANS
from taisai.server.auth import permissions
from taisai.server.auth.permissions import AT_TABLE, STAFF, Role
from taisai.server.http import school
from taisai.server.http import school as endpoints
from taisai.server.http.school import COLOURS, exercise_response, judged_response, school_felt
from tests.school import answers
from tests.school.answers import LAYOUTS, every
from tests.server.virtual_server import Connected, Response, connected

BOOK: Final = "rws-sic-bo-etg-v8"
SHOWN: Final = {
    "": {"kind", "book", "title", "layout", "level", "seed", "par"},
    "settle": {"cards", "faces", "bets"},
    "key": {"cards", "faces"},
    "ruling": {"phase", "irregularity", "label", "context", "choices"},
    "bets": {"seat", "colour", "colour_label", "area", "label", "stake"},
    "choices": {"id", "says"},
    "words": {"en", "zh"},
}
"""All that an exercise may say: nothing of odds, clauses, lights, rulings ordered or money returned."""


async def ask(house: Connected, who: Any = None, **given: Any) -> Response:
    """Asks for an exercise."""
    query = {"kind": "settle", "book": BOOK, "layout": "A", "level": 1, "seed": 7} | given
    return await house.request("GET", f"/api/school/exercise?{urlencode(query)}", session=who)


async def answer(house: Connected, who: Any = None, **given: Any) -> Response:
    """Answers one."""
    body = {"kind": "settle", "book": BOOK, "layout": "A", "level": 1, "seed": 7, "took": 5_000} | given
    return await house.request("POST", "/api/school/answer", body, session=who)


# A lesson


@connected()
async def test_a_dealer_settles_a_layout_and_is_shown_every_mistake_by_its_clause(house: Connected) -> None:
    dealer = house.session("dealer")
    before = house.rows()
    told = await ask(house, dealer)
    assert told.status == 200
    assert [(bet["area"], bet["stake"]) for bet in told.said["bets"]] == [
        ("single-3", 100), ("single-4", 100), ("single-5", 200),
    ]  # fmt: skip
    assert told.said["faces"] == [3, 3, 5]
    right = await answer(house, dealer, returned=[300, 0, 400])
    assert (right.status, right.said["score"], right.said["bonus"]) == (200, 100, 20)
    wrong = await answer(house, dealer, returned=[200, 0, 400])
    assert (wrong.said["score"], wrong.said["right"], wrong.said["of"]) == (53, 2, 3)
    (mistake,) = [bet for bet in wrong.said["bets"] if not bet["right"]]
    assert {name: mistake[name] for name in ("area", "answered", "returned", "odds", "clause")} == {
        "area": "single-3", "answered": 200, "returned": 300, "clause": "4.1.1",
        "odds": {"en": "2 to 1", "zh": "1 赔 2"},
    }  # fmt: skip
    assert mistake["says"]
    assert house.rows() == before, "nothing is kept of anyone"


@connected()
async def test_a_dealer_keys_dice_and_marks_what_lights(house: Connected) -> None:
    dealer = house.session("dealer")
    told = await ask(house, dealer, kind="key", seed=2)
    made = answers.key(ExerciseRequest(ExerciseKind.KEY, BOOK, "A", level=1, seed=2))
    called = sorted(answers.lit(made))
    faces = told.said["faces"][::-1]
    right = await answer(house, dealer, kind="key", seed=2, faces=faces, lit=called)
    assert (right.status, right.said["score"], right.said["faces_right"]) == (200, 100, True)
    short = await answer(house, dealer, kind="key", seed=2, faces=faces, lit=called[1:])
    (missed,) = [area for area in short.said["areas"] if not area["right"]]
    assert (missed["area"], missed["lights"], missed["marked"]) == (called[0], True, False)
    assert missed["clause"] == answers.lit(made)[called[0]]


@connected()
async def test_a_dealer_rules_and_is_shown_the_clause_and_who_decides(house: Connected) -> None:
    dealer = house.session("dealer")
    given = {"kind": "ruling", "book": "us-sic-bo", "level": 3}
    deciding = set()
    for seed in range(12):
        told = await ask(house, dealer, **given, seed=seed)
        made = answers.ruling(ExerciseRequest(ExerciseKind.RULING, "us-sic-bo", "A", level=3, seed=seed))
        right = answers.right_choice(made)
        for choice in told.said["choices"]:
            got = (await answer(house, dealer, **given, seed=seed, choice=choice["id"])).said
            assert got["score"] == (100 if choice["id"] == right else 0)
            assert (got["ordered"], got["clause"]) == (right, answers.ordered(made)[2])
            assert (got["chosen"], bool(got["says"])) == (choice["id"], True)
            deciding.add((right, got["decides"]["en"]))
    assert ("refer:casino-supervisor", "Casino supervisor or above") in {
        (right, who.capitalize()) for right, who in deciding
    }
    assert any(who.startswith("The rules") for _, who in deciding)


@connected()
async def test_school_tells_what_there_is_and_every_felt_can_be_drawn(house: Connected) -> None:
    dealer = house.session("dealer")
    said = (await house.request("GET", "/api/school", session=dealer)).said
    found = {(book["book"], layout) for book in said["books"] for layout in book["layouts"]}
    assert found == set(LAYOUTS)
    assert {book["book"]: book["cards"] for book in said["books"]} == {
        book: "card" in book for book, _ in LAYOUTS
    }
    assert (said["greatest_seed"], said["longest"], len(said["pars"])) == (2**53 - 1, LONGEST, 9)
    for book, layout in LAYOUTS:
        query = urlencode({"book": book, "layout": layout})
        drawn = (await house.request("GET", f"/api/school/felt?{query}", session=dealer)).said
        assert {area["id"] for area in drawn["areas"]} == set(answers.pay_table(book, layout).areas)
        assert (drawn["rulebook"], drawn["layout"]) == (book, layout)


def test_a_felt_shows_the_odds_that_answers_are_judged_by() -> None:
    for book, layout in LAYOUTS:
        matrix = exercise(ExerciseRequest(ExerciseKind.KEY, book, layout, level=1, seed=0)).course.matrix
        for area in school_felt(book, layout).areas:
            printed = [str(win.odds) for win in matrix.wins[matrix.row(area.id)]]
            assert [line.text.en for line in area.odds] == printed


# What an exercise must not say


def unforeseen(told: Any, at: str = "") -> Iterator[str]:
    """Whatever an exercise says beyond what it may."""
    if isinstance(told, list | tuple):
        for one in told:
            yield from unforeseen(one, at)
    elif isinstance(told, dict):
        may = SHOWN[""] | SHOWN[told["kind"]] if at == "" else SHOWN.get(at, SHOWN["words"])
        yield from (f"{at}/{name}" for name in told.keys() ^ may)
        for name, one in told.items():
            yield from unforeseen(one, name)


@pytest.mark.parametrize("kind", ExerciseKind)
@pytest.mark.parametrize(("book", "layout"), LAYOUTS)
def test_no_exercise_holds_its_solution(book: str, layout: str, kind: ExerciseKind) -> None:
    for asked in every(book, layout, kind):
        told = msgspec.json.decode(msgspec.json.encode(exercise_response(exercise(asked))))
        assert list(unforeseen(told)) == []


@pytest.mark.parametrize(("book", "layout"), LAYOUTS)
def test_where_a_bet_stands_in_the_list_does_not_tell_whether_it_won(book: str, layout: str) -> None:
    won = [0] * PLANS[2].bets
    for seed in range(200):
        made = answers.settle(ExerciseRequest(ExerciseKind.SETTLE, book, layout, level=2, seed=seed))
        for place, (back, _) in enumerate(answers.returns(made)):
            won[place] += back > 0
    assert min(won) > 0.5 * max(won)


def test_sabotage_an_exercise_that_tells_the_clause_is_seen() -> None:
    told = msgspec.to_builtins(
        exercise_response(exercise(ExerciseRequest(ExerciseKind.SETTLE, BOOK, "A", level=1, seed=7)))
    )
    told["bets"][0]["clause"] = "4.1.1"
    assert list(unforeseen(told)) == ["bets/clause"]


# In both languages


def texts(told: Any) -> Iterator[dict[str, str]]:
    """Every text in two languages."""
    if isinstance(told, list | tuple):
        for one in told:
            yield from texts(one)
    elif isinstance(told, dict):
        if told.keys() == SHOWN["words"]:
            yield told
        for one in told.values():
            yield from texts(one)


@pytest.mark.parametrize("kind", ExerciseKind)
@pytest.mark.parametrize(("book", "layout"), LAYOUTS)
def test_everything_is_said_in_both_languages_with_nothing_left_to_fill(
    book: str, layout: str, kind: ExerciseKind
) -> None:
    for asked in every(book, layout, kind):
        said = [exercise_response(exercise(asked)), judged_response(answers.rightly(asked))]
        found = list(texts([msgspec.to_builtins(one) for one in said]))
        assert found
        for one in found:
            assert one["en"].strip()
            assert one["zh"].strip()
            assert "{" not in one["en"] + one["zh"]


def test_every_seat_has_a_colour() -> None:
    assert max(plan.seats for plan in PLANS.values()) <= len(COLOURS)


# Who may


@pytest.mark.parametrize("role", [Role.VISITOR, *sorted(STAFF)])
@connected()
async def test_where_money_is_played_for_school_is_for_those_who_work_at_tables(
    house: Connected, role: Role
) -> None:
    session = None if role is Role.VISITOR else house.session(role)
    got = await ask(house, session)
    assert got.status == (200 if role in AT_TABLE else 401 if session is None else 403)
    if got.status != 200:
        assert got.reason == "not-permitted"
        assert "visitor" not in got.said["message"].partition("permitted: ")[2], "the roles that may"


@connected(demonstration=True)
async def test_in_a_demonstration_anyone_may_go_to_school(house: Connected) -> None:
    assert (await ask(house)).status == 200
    assert (await answer(house, returned=[300, 0, 400])).said["score"] == 100
    assert (await ask(house, house.session("auditor"))).status == 200


def test_what_is_of_a_demonstration_alone_is_refused_on_a_socket_elsewhere_too() -> None:
    permit = permissions.ENDPOINTS["GET /api/school"]
    asked = {
        demonstration: permissions.refusal(
            permit, Role.VISITOR, own=(None, None), table=None, seat=None, demonstration=demonstration
        )
        for demonstration in (True, False)
    }
    assert asked[True] is None
    assert asked[False] == "permitted to a visitor only in a demonstration"


# What is refused


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"kind": "spin"}, "unknown kind of exercise 'spin'; expected settle, key, ruling"),
        ({"book": "../../secrets.toml"}, "unknown rulebook '../../secrets.toml'; expected "),
        ({"layout": "D"}, f"unknown layout 'D' of {BOOK}; expected A, B, C"),
        ({"level": 4}, "expected a level from 1 to 3, got 4"),
        ({"seed": -1}, f"expected a seed from 0 to {2**53 - 1}, got -1"),
        ({"seed": 2**53}, f"expected a seed from 0 to {2**53 - 1}, got {2**53}"),
        ({"seed": "9" * 5_000}, "invalid request: "),
        ({"seed": "1.5"}, "invalid request: "),
        ({"seed": "many"}, "invalid request: "),
    ],
)
@connected(demonstration=True)
async def test_an_exercise_that_there_is_not_is_refused_in_words(
    house: Connected, given: dict[str, Any], says: str
) -> None:
    got = await ask(house, **given)
    assert got.status == 400
    assert got.said["message"].startswith(says)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"returned": [1, 2]}, "expected 3 figures, one for each bet, got 2"),
        ({"returned": [1, 2, -1]}, "expected a figure from 0 to"),
        ({"returned": [1, 2, 3], "took": LONGEST + 1}, "expected a time in milliseconds from 0 to"),
        ({"returned": [1, 2, 3], "level": 0}, "expected a level from 1 to 3, got 0"),
        ({"returned": [1, 2, 3], "more": 1}, "invalid request: "),
        ({"returned": [0] * 16}, "invalid request: "),
        ({"returned": [1.5, 2, 3]}, "invalid request: "),
        ({"kind": "spin", "returned": [1, 2, 3]}, "invalid request: "),
        ({"kind": "key", "faces": [1, 2], "lit": []}, "invalid request: "),
        ({"kind": "key", "faces": [1, 2, 7], "lit": []}, "expected a face from 1 to 6, got 7"),
        (
            {"kind": "key", "faces": [1, 2, 3], "lit": ["three-123"]},
            f"unknown area 'three-123' on {BOOK} layout A",
        ),
        ({"kind": "key", "faces": [1, 2, 3], "lit": ["odd"] * 201}, "invalid request: "),
        ({"kind": "ruling", "choice": "win"}, "expected one of "),
        ({"kind": "ruling", "returned": [1, 2, 3]}, "invalid request: "),
    ],
)
@connected(demonstration=True)
async def test_an_answer_to_no_question_is_refused_in_words(
    house: Connected, given: dict[str, Any], says: str
) -> None:
    got = await answer(house, **given)
    assert got.status == 400
    assert got.said["message"].startswith(says)


@connected(demonstration=True)
async def test_a_felt_that_there_is_not_is_refused_in_words(house: Connected) -> None:
    got = await house.request("GET", "/api/school/felt?book=us-sic-bo&layout=B")
    assert (got.status, got.said["message"]) == (400, "unknown layout 'B' of us-sic-bo; expected A")


# What is published


@connected(demonstration=True)
async def test_the_published_schema_tells_kinds_apart_by_their_tag(house: Connected) -> None:
    described = (await house.request("GET", "/schema/openapi.json")).said
    parts = described["components"]["schemas"]
    for name in ("SettleExerciseResponse", "KeyAnswer", "RulingJudgedResponse"):
        kind = parts[name]["properties"]["kind"]
        assert kind.get("const") == name.lower().split("exercise")[0].split("answer")[0].split("judged")[0]
        assert "kind" in parts[name]["required"]
    assert parts["KeyAnswer"]["additionalProperties"] is False
    for kind in ExerciseKind:
        told = (await ask(house, kind=kind)).said
        validator = jsonschema_rs.validator_for(
            {
                "$ref": f"#/components/schemas/{kind.capitalize()}ExerciseResponse",
                "components": {"schemas": parts},
            }
        )
        assert validator.is_valid(told)
        assert not validator.is_valid(told | {"kind": "another"})


# Sabotages


@connected(demonstration=True)
async def test_sabotage_a_judge_that_takes_the_answer_for_the_solution_is_seen(
    house: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = judged_settle

    def agreeable(made: Any, returned: Any, took: int) -> Any:
        judged = honest(made, returned, took)
        lines = tuple(
            line._replace(record=line.record._replace(returned=line.answered)) for line in judged.lines
        )
        return judged._replace(lines=lines)

    monkeypatch.setattr(endpoints, "judged_settle", agreeable)
    got = await answer(house, returned=[200, 0, 400])
    assert [bet for bet in got.said["bets"] if not bet["right"]] == [], "of which the lesson above wants one"


def test_sabotage_words_that_are_left_unfilled_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(school, "_context", lambda _book, _scene: school.DURING)
    told = msgspec.to_builtins(
        exercise_response(exercise(ExerciseRequest(ExerciseKind.RULING, BOOK, "A", level=1, seed=7)))
    )
    assert [one for one in texts(told) if "{" in one["en"]]

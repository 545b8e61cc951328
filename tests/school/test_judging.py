"""Judgements: a right answer gets full marks, every single mistake is found and named with its clause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taisai.rules import CATALOGUE, Clause, Matrix, RulesError, Ruling, RulingCell
from taisai.rules.irregularities import Irregularities
from taisai.school import (
    LONGEST,
    PARS,
    ExerciseKind,
    ExerciseRequest,
    judged_key,
    judged_ruling,
    judged_settle,
)
from taisai.school.exercises import FOR_RIGHT, marks
from tests.school import answers
from tests.school.answers import LAYOUTS, every, key, lit, ordered, returns, right_choice, ruling, settle

each_layout = pytest.mark.parametrize(("book", "layout"), LAYOUTS)


@pytest.mark.parametrize("kind", ExerciseKind)
@each_layout
def test_a_right_answer_gets_full_marks_by_the_oracles_clauses(
    book: str, layout: str, kind: ExerciseKind
) -> None:
    assert answers.misjudged(book, layout, kind) == []


def amiss(book: str, layout: str) -> list[str]:
    """Wrong figures that were not found, or not named as the oracle does."""
    found = []
    for asked in every(book, layout, ExerciseKind.SETTLE):
        made = settle(asked)
        right = returns(made)
        for place, (back, clause) in enumerate(right):
            for figure in {back + 1, max(0, back - made.bets[place].stake), 0 if back else 1} - {back}:
                given = [one for one, _ in right]
                given[place] = figure
                judged = judged_settle(made, given, took=0)
                wrong = [line for line in judged.lines if not line.is_right]
                named = [(one.record.bet, one.answered, one.record.returned, one.why.clause) for one in wrong]
                if named != [(made.bets[place], figure, back, clause)]:
                    found.append(f"{asked}, bet {place}: {named}")
                of = len(right)
                if judged.marks[:4] != (FOR_RIGHT * (of - 1) // of, 0, of - 1, of):
                    found.append(f"{asked}: {judged.marks}")
    return found


@each_layout
def test_every_single_wrong_figure_is_found_and_named_with_its_clause(book: str, layout: str) -> None:
    assert amiss(book, layout) == []


@each_layout
def test_every_area_that_is_missed_or_marked_wrongly_is_found_and_named(book: str, layout: str) -> None:
    for asked in every(book, layout, ExerciseKind.KEY):
        made = key(asked)
        called, of = lit(made), 1 + len(lit(made))
        for missed, clause in called.items():
            judged = judged_key(made, made.faces, called.keys() - {missed}, took=0)
            (wrong,) = [line for line in judged.lines if not line.is_right]
            assert (wrong.area, wrong.lights, wrong.marked, wrong.why.clause) == (missed, True, False, clause)
            assert judged.marks[:4] == (FOR_RIGHT * (of - 1) // of, 0, of - 1, of)
        table = answers.pay_table(book, layout)
        for area in set(table.areas) - called.keys():
            judged = judged_key(made, made.faces, {*called, area}, took=0)
            (wrong,) = [line for line in judged.lines if not line.is_right]
            clause = table.verdict(area, answers.shown(made)).clause
            assert (wrong.area, wrong.lights, wrong.marked, wrong.why.clause) == (area, False, True, clause)
            assert (wrong.why.odds, judged.marks.right, judged.marks.bonus) == (None, of - 1, 0)


def test_faces_count_in_any_order_and_other_faces_are_one_mistake() -> None:
    for asked in every("mbs-sic-bo-v6", "A", ExerciseKind.KEY):
        made = key(asked)
        first, second, third = made.faces
        for faces in ((first, second, third), (third, first, second), (second, first, third)):
            assert judged_key(made, faces, lit(made), took=0).marks.score == 100
        other = (first, second, third % 6 + 1)
        judged = judged_key(made, other, lit(made), took=0)
        assert (judged.faces_right, judged.marks.right) == (False, judged.marks.of - 1)
        assert tuple(judged.keyed.faces) == tuple(sorted(other))


def test_to_mark_everything_is_worth_nothing() -> None:
    made = key(ExerciseRequest(ExerciseKind.KEY, "mbs-sic-bo-v6", "A", level=1, seed=1))
    assert judged_key(made, made.faces, made.course.matrix.areas, took=0).marks.score == 0


@each_layout
def test_every_wrong_ruling_is_found_and_the_right_one_named_with_its_clause(book: str, layout: str) -> None:
    for asked in every(book, layout, ExerciseKind.RULING):
        made = ruling(asked)
        for choice in made.choices:
            judged = judged_ruling(made, choice.id, took=0)
            assert (judged.ordered.id, judged.ruled.clause) == (right_choice(made), ordered(made)[2])
            assert judged.chosen == choice
            assert judged.marks.score == (100 if choice.id == right_choice(made) else 0)
            assert judged.says


# Marks


@pytest.mark.parametrize(
    ("took", "score"),
    [(0, 100), (20_000, 100), (20_001, 99), (30_000, 95), (40_000, 90), (60_000, 80), (LONGEST, 80)],
)
def test_time_counts_from_par_to_three_times_par(took: int, score: int) -> None:
    assert marks(ExerciseKind.SETTLE, 1, right=3, of=3, took=took).score == score


def test_time_counts_for_nothing_where_something_is_wrong() -> None:
    scores = [marks(ExerciseKind.SETTLE, 1, right=right, of=3, took=0).score for right in range(4)]
    assert scores == [0, 26, 53, 100]


def test_every_kind_and_level_has_a_par_that_can_be_missed() -> None:
    assert {kind: set(pars) for kind, pars in PARS.items()} == {kind: {1, 2, 3} for kind in ExerciseKind}
    assert all(3 * par <= LONGEST for pars in PARS.values() for par in pars.values())


# Answers to no question


@pytest.mark.parametrize(
    ("figures", "took", "says"),
    [
        ([1, 2], 0, "expected 3 figures, one for each bet, got 2"),
        ([1, 2, 3, 4], 0, "expected 3 figures, one for each bet, got 4"),
        ([1, 2, -3], 0, f"expected a figure from 0 to {2**53 - 1}, got -3"),
        ([1, 2, 2**53], 0, f"expected a figure from 0 to {2**53 - 1}, got {2**53}"),
        ([1, 2, 3], -1, f"expected a time in milliseconds from 0 to {LONGEST}, got -1"),
        ([1, 2, 3], LONGEST + 1, f"expected a time in milliseconds from 0 to {LONGEST}, got {LONGEST + 1}"),
    ],
)
def test_figures_that_answer_no_question_are_refused(figures: list[int], took: int, says: str) -> None:
    made = settle(ExerciseRequest(ExerciseKind.SETTLE, "us-sic-bo", "A", level=1, seed=1))
    with pytest.raises(RulesError) as caught:
        judged_settle(made, figures, took)
    assert str(caught.value) == says


def test_areas_and_faces_that_are_not_there_are_refused() -> None:
    made = key(ExerciseRequest(ExerciseKind.KEY, "us-sic-bo", "A", level=1, seed=1))
    with pytest.raises(RulesError, match="unknown area 'odd' on us-sic-bo layout A"):
        judged_key(made, (1, 2, 3), ["odd"], took=0)
    with pytest.raises(RulesError, match="expected a face from 1 to 6, got 7"):
        judged_key(made, (1, 2, 7), [], took=0)
    assert "odd" in CATALOGUE, "elsewhere it is one"


def test_a_choice_that_was_not_offered_is_refused() -> None:
    made = ruling(ExerciseRequest(ExerciseKind.RULING, "us-sic-bo", "A", level=1, seed=1))
    offered = {one.id for one in made.choices}
    other = next(str(one) for one in Ruling if one not in offered)
    with pytest.raises(RulesError, match=f"expected one of .*, got '{other}'"):
        judged_ruling(made, other, took=0)


# Sabotages: an engine that judges wrongly, and the tests above must see it


def test_sabotage_an_engine_that_settles_otherwise_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Matrix.settle

    def one_too_few(self: Matrix, *given: Any) -> Any:
        settled: Any = honest(self, *given)
        bets = tuple(bet._replace(returned=max(0, bet.returned - 1)) for bet in settled.bets)
        return settled._replace(bets=bets)

    monkeypatch.setattr(Matrix, "settle", one_too_few)
    assert answers.misjudged("rws-sic-bo-etg-v8", "A", ExerciseKind.SETTLE)
    assert amiss("rws-sic-bo-etg-v8", "A")


def test_sabotage_clauses_of_another_cell_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Matrix.explain

    def by_another(self: Matrix, area: str, outcome: Any) -> Any:
        return honest(self, area, outcome)._replace(clause=Clause("9.9"))

    monkeypatch.setattr(Matrix, "explain", by_another)
    assert answers.misjudged("us-sic-bo", "A", ExerciseKind.SETTLE)
    assert answers.misjudged("us-sic-bo", "A", ExerciseKind.KEY)
    assert amiss("us-sic-bo", "A")


def test_sabotage_lights_that_are_left_out_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Matrix.illuminated
    monkeypatch.setattr(Matrix, "illuminated", lambda self, outcome: honest(self, outcome)[1:])
    assert answers.misjudged("mbs-sic-bo-v6", "A", ExerciseKind.KEY)


def test_sabotage_a_table_of_rulings_that_voids_everything_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not answers.misjudged(
        "mbs-sic-bo-v6", "A", ExerciseKind.RULING
    )  # the exercises come from honest tables

    def void(self: Irregularities, *_given: object, **_named: object) -> RulingCell:
        return RulingCell(Ruling.VOID, self.void)

    monkeypatch.setattr(Irregularities, "ruling_for", void)
    assert answers.misjudged("mbs-sic-bo-v6", "A", ExerciseKind.RULING)


def test_sabotage_a_die_that_was_seen_and_is_forgotten_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not answers.misjudged("rws-sic-bo-etg-v8", "A", ExerciseKind.RULING)
    honest = Irregularities.ruling_for
    monkeypatch.setattr(
        Irregularities,
        "ruling_for",
        lambda self, event, phase, settings, **_seen: honest(self, event, phase, settings),
    )
    assert answers.misjudged("rws-sic-bo-etg-v8", "A", ExerciseKind.RULING)


# The page


def test_the_page_tells_the_par_times_as_they_are() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "practise.md").read_text("utf-8")
    for kind, pars in PARS.items():
        seconds = " | ".join(str(par // 1000) for par in pars.values())
        assert f"| `{kind}` | {seconds} |" in page

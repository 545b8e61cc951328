"""The history board: kept as rounds end and as they are corrected, and always what the table says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from taisai.game import Refusal, Table, decide, evolve
from taisai.game.commands import Command, ReportIrregularity
from taisai.protocol.views import HistoryView, PastResult, RoadColumn
from taisai.rules import OUTCOMES, Irregularity, rulebook
from taisai.server.projections.history import MOST, History, marks_of
from tests.game.machine import SETUPS
from tests.game.playing import MBS, RWS, THREE_CARD, US, Playing, opened
from tests.journal.evening import BOOK, evening
from tests.server.projections.played_tables import states


def unlike() -> Iterator[str]:
    """Where a history that was kept, long or short, is another than one made afresh."""
    for setup in SETUPS:
        for seed in range(8):  # so many that rounds are voided and corrected long after
            kept: dict[int, History] = {}
            for state in states(setup, seed, 80):
                kept = kept or {most: History.of(state.table, most) for most in (MOST, 3)}
                for most, history in kept.items():
                    for event in state.latest:
                        history.apply(event, state.table)
                    if history.view() != History.of(state.table, most).view():
                        yield f"{state}, {most} rounds"


def test_a_history_that_was_kept_is_the_one_that_is_made_afresh() -> None:
    assert list(unlike()) == []


def test_sabotage_a_history_that_overlooks_corrections_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_new(self: History, _event: object, table: Table) -> None:
        if len(table.rounds) != self._known:
            self._catch_up(table)

    monkeypatch.setattr(History, "apply", only_new)
    assert next(unlike(), None) is not None


def played(book: str, *rolls: str) -> Playing:
    """Rounds with these results; 'x' is a void one."""
    playing = opened(rulebook(book))
    for roll in rolls:
        if roll == "x":
            playing.to("open")
            playing.do(ReportIrregularity, "dan", event=Irregularity.OTHER, detail="void it")
            void(playing)
            continue
        playing.to("entered" if roll == "123" else "revealed")
        if roll != "123":
            playing.act("enter-result", faces=tuple(map(int, roll)))
        conclude(playing)
    return playing


def void(playing: Playing) -> None:
    from taisai.game.commands import DecideReferral
    from taisai.game.vocabulary import Treatment

    referral = next(one.id for one in playing.table.referrals.values() if one.decided_by is None)
    playing.do(
        DecideReferral, "sue", referral=referral, treatment=Treatment.VOID, reason="so be it", second="pat"
    )
    playing.make_ready()


def conclude(playing: Playing) -> None:
    while playing.table.round is not None:
        step = playing.table.procedure.steps_from(playing.table.phase, playing.table.settings)[0]
        playing.act(step.act)
    playing.make_ready()


def view_of(playing: Playing) -> HistoryView:
    return History.of(playing.table).view()


def test_roads_are_columns_of_runs_with_triples_marked() -> None:
    history = view_of(played(RWS, "123", "124", "456", "222", "266", "135"))
    assert history.sizes == (
        RoadColumn(mark="small", rounds=(1, 2)),
        RoadColumn(mark="big", rounds=(3,)),
        RoadColumn(mark="triple", rounds=(4,)),
        RoadColumn(mark="big", rounds=(5,)),
        RoadColumn(mark="small", rounds=(6,)),
    )
    assert history.parities == (
        RoadColumn(mark="even", rounds=(1,)),
        RoadColumn(mark="odd", rounds=(2, 3)),
        RoadColumn(mark="triple", rounds=(4,)),
        RoadColumn(mark="even", rounds=(5,)),
        RoadColumn(mark="odd", rounds=(6,)),
    )
    assert history.results[3] == PastResult(
        number=4, faces=(2, 2, 2), total=6, size="triple", parity="triple"
    )
    assert {total: often for total, often in history.totals.items() if often} == {
        6: 2,
        7: 1,
        9: 1,
        14: 1,
        15: 1,
    }
    assert history.counted == 6


def test_a_void_round_is_marked_and_counts_nowhere() -> None:
    history = view_of(played(RWS, "123", "x", "124"))
    assert [one.number for one in history.results if one.void] == [2]
    assert history.results[1] == PastResult(number=2, void=True)
    assert history.sizes == (RoadColumn(mark="small", rounds=(1, 3)),)
    assert (history.counted, sum(history.totals.values())) == (2, 2)


def test_a_corrected_round_shows_what_the_dice_showed() -> None:
    playing = played(RWS, "123", "124")
    kept = History.of(playing.table)
    (_, event) = playing.do(
        ReportIrregularity, "dan", event=Irregularity.WRONG_RESULT, round=1, faces=(4, 5, 6), second="sue"
    )
    assert kept.apply(event, playing.table)
    assert kept.view().results[0] == PastResult(number=1, faces=(4, 5, 6), total=15, size="big", parity="odd")
    assert [run.mark for run in kept.view().sizes] == ["big", "small"]


def test_a_history_shows_so_many_rounds_and_no_more() -> None:
    history = History.of(played(MBS, "123", "124", "125", "126").table, most=2)
    assert [one.number for one in history.view().results] == [3, 4]
    assert history.last is not None
    assert history.last.number == 4


def test_an_american_table_has_no_road_of_odd_and_even() -> None:
    history = view_of(played(US, "123", "124"))
    assert history.parities == ()
    assert [run.mark for run in history.sizes] == ["small"]


@pytest.mark.parametrize("book", [MBS, RWS, THREE_CARD, US])
def test_marks_are_what_the_matrix_says_of_all_outcomes(book: str) -> None:
    for layout in rulebook(book).pay_by_layout:
        matrix = rulebook(book).matrix(layout)
        for outcome, marks in zip(OUTCOMES, marks_of(matrix), strict=True):
            triple = len(set(outcome.faces)) == 1
            assert marks.size == ("triple" if triple else "small" if outcome.total <= 10 else "big")
            odd = "odd" if outcome.total % 2 else "even"
            assert marks.parity == (None if book == US else "triple" if triple else odd)


@pytest.mark.parametrize("seed", [1, 2])
def test_over_a_scripted_evening(seed: int) -> None:
    table, history = Table(rulebook(BOOK)), None
    for batch in evening(seed, rounds=7):
        for _stream, command in batch:
            answer = decide(table, command) if isinstance(command, Command) else ()
            for event in () if isinstance(answer, Refusal) else answer:
                evolve(table, event)
                history = history or History.of(table)
                history.apply(event, table)
    assert history is not None
    assert history.view() == History.of(table).view()
    assert [one.number for one in history.view().results if one.void] == [2, 5]
    assert history.view().counted == 5

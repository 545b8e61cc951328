"""The playbooks of RWS and of the American rules tell every line of their irregularity cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from taisai.game import Refusal
from taisai.game import events as happened
from taisai.game.commands import ConfirmReport, ContestReport
from taisai.game.vocabulary import Treatment
from taisai.rules.procedure import Declared, Recovery
from taisai.rules.vocabulary import Act, Phase
from tests.clauses.test_irregularity_cases import Case
from tests.game.playbooks import terms_compiled_once, told
from tests.game.test_playbooks_cover_mbs_and_3card import all_events, cases_of, of_book, tells, untold

RWS, US = "rws-sic-bo-etg-v8", "us-sic-bo"
UNFORESEEN = {RWS: "5.10", US: "house:outside-the-rules"}
"""Book → the clause by which whatever it does not foresee is referred."""
AT_ENTRY = {
    RWS: {("late", "3.5"), ("late", "5.7"), ("under-minimum", "3.3"), ("over-maximum", "3.3")},
    US: {
        ("late", "5(c)"),
        ("late", "3(c)"),
        ("under-minimum", "house:limits"),
        ("over-maximum", "house:limits"),
        ("unmet-need", "5(d)(1)"),
        ("ruled-out", "6(d)"),
    },
}
"""Book → what is not only reported but refused as it is tried, with its clause."""
BY_ACT = {
    RWS: {
        ("too-few-tumbles", Act.TUMBLE),
        ("die-not-flat", Act.ENTER_RESULT),
        ("exposed-early", Act.UNCOVER),
        ("untumbled-in-view", Act.UNCOVER),
    },
    US: {("die-not-flat", Act.ENTER_RESULT)},
}
"""Book → what nobody need report, since an act of the round brings it about."""
STOPPED = {
    RWS: {Recovery.VOID, Recovery.DECLARE, Recovery.CONTINUE, Recovery.CONCLUDE, Recovery.NOTHING},
    US: {
        Recovery.DECLARE,
        Recovery.LOCK_AND_REFER,
        Recovery.SETTLE_THEN_SHUT,
        Recovery.CONCLUDE,
        Recovery.NOTHING,
    },
}
"""Book → what may follow a stop of the system."""
each_book = pytest.mark.parametrize("book", UNFORESEEN)


@pytest.fixture(autouse=True, scope="module")
def _quickly() -> Iterator[None]:
    with terms_compiled_once():
        yield


def foreseen(book: str) -> list[Case]:
    """The lines on which the book itself, or the house where it sets limits, orders something."""
    return [case for case in cases_of(book) if case.ruled[2] != UNFORESEEN[book]]


def refusals(names: Iterable[str]) -> list[Refusal]:
    return [step.refusal for name in names for step in told(name).played if step.refusal is not None]


@each_book
def test_every_line_that_the_book_foresees_is_shown(book: str) -> None:
    assert foreseen(book)
    assert untold(foreseen(book), of_book(book)) == []


@each_book
def test_what_is_refused_as_it_is_tried_is_tried_too(book: str) -> None:
    told_of = {(str(one.reason), str(one.clause)) for one in refusals(of_book(book))}
    assert told_of >= AT_ENTRY[book]


@each_book
def test_what_an_act_brings_about_is_brought_about(book: str) -> None:
    by_act = {
        (str(event.irregularity), act)
        for event in all_events(of_book(book))
        for act in Act
        if isinstance(event, happened.IrregularityRuled) and event.detail == f"by {act}"
    }
    assert by_act == BY_ACT[book]


@each_book
def test_every_treatment_of_what_is_not_foreseen_is_decided_in_some_story(book: str) -> None:
    decided = {
        event.treatment
        for event in all_events(of_book(book))
        if isinstance(event, happened.ReferralDecided) and event.clause == UNFORESEEN[book]
    }
    assert decided == set(Treatment)


@each_book
def test_whatever_follows_a_stop_is_shown(book: str) -> None:
    stops = [event for event in all_events(of_book(book)) if isinstance(event, happened.Interrupted)]
    assert {event.action for event in stops} == STOPPED[book]
    covered = {Phase.OPEN_TUMBLED, Phase.CLOSED_TUMBLED} if book == RWS else {Phase.CLOSED_TUMBLED}
    assert {event.phase for event in stops} >= {Phase.BETWEEN, Phase.OPEN, Phase.ENTERED, *covered}


def test_both_declarations_are_shown_after_the_close_tumbled_or_not() -> None:
    declared = {
        (phase, event.declared)
        for name in of_book(RWS)
        for step in told(name).played
        for event in step.events
        for phase in {one.phase for one in step.events if isinstance(one, happened.Interrupted)}
        if isinstance(event, happened.SightDeclared)
    }
    assert declared == {(one, how) for one in (Phase.CLOSED, Phase.CLOSED_TUMBLED) for how in Declared}


@each_book
def test_what_takes_two_people_is_refused_to_one_and_done_by_two(book: str) -> None:
    one, two = set(), set()
    for name in of_book(book):
        for step in told(name).played:
            is_refused = step.refusal is not None and step.refusal.reason == "second-person"
            if is_refused or any(isinstance(event, happened.ReportHeld) for event in step.events):
                one.add(type(step.command))  # a report is not refused: it waits
            two |= {type(step.command) for event in step.events if getattr(event, "second", None)}
    # Who confirms or contests a report is the second person.
    assert one - {ConfirmReport, ContestReport} == two - {ConfirmReport, ContestReport}


# Sabotage


@each_book
def test_sabotage_without_the_stories_that_tell_a_line_it_is_missed(book: str) -> None:
    for case in foreseen(book):
        silent = [name for name in of_book(book) if not any(tells(one, case) for one in told(name).events())]
        assert len(silent) < len(of_book(book))
        assert len(untold([case], silent)) == 1


@each_book
def test_sabotage_a_line_of_another_clause_or_ruling_is_missed(book: str) -> None:
    for case in foreseen(book):
        ruling, who, clause = case.ruled
        for ruled in (("withdraw-option", who, clause), (ruling, who, "99.9")):
            assert len(untold([Case(case.event, case.instead, case.phases, ruled)], of_book(book))) == 1


@each_book
def test_sabotage_without_the_late_bets_nothing_is_refused_as_late(book: str) -> None:
    late = ("late", "5.7" if book == RWS else "3(c)")
    silent = [
        name
        for name in of_book(book)
        if late not in {(str(one.reason), str(one.clause)) for one in refusals([name])}
    ]
    assert late not in {(str(one.reason), str(one.clause)) for one in refusals(silent)}
    assert len(silent) < len(of_book(book))

"""The playbooks of both games of Marina Bay Sands tell every line of their irregularity cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from taisai.game import events as happened
from taisai.game.events import Event
from taisai.game.vocabulary import Treatment
from tests.clauses.test_irregularity_cases import SEEN, Case, read_cases, text_of
from tests.game.playbooks import PLAYBOOKS, book_of, terms_compiled_once, told

UNFORESEEN = {"mbs-sic-bo-v6": "6.1", "mbs-3-card-sic-bo": "house:outside-the-rules"}
"""Book → the clause by which whatever it does not foresee is referred."""
each_book = pytest.mark.parametrize("book", UNFORESEEN)


@pytest.fixture(autouse=True, scope="module")
def _quickly() -> Iterator[None]:
    with terms_compiled_once():
        yield


def of_book(book: str) -> list[str]:
    return [name for name in PLAYBOOKS if told(name).story.book == book]


def all_events(names: Iterable[str]) -> list[Event]:
    return [event for name in names for event in told(name).events()]


def cases_of(book: str) -> list[Case]:
    return read_cases(text_of(book), tuple(map(str, book_of(book).irregularities.phases)))


def tells(event: Event, case: Case) -> bool:
    """Whether an event is the ruling that a line of the cases asks, in a phase that it names."""
    return (
        isinstance(event, happened.IrregularityRuled)
        and (event.irregularity, event.phase in case.phases) == (case.event, True)
        and (event.ruling, event.clause) == (case.ruled[0], case.ruled[2])
        and (case.instead != SEEN or event.seen)
    )


def untold(cases: list[Case], names: Iterable[str]) -> list[str]:
    """The lines of the cases that no playbook tells."""
    events = all_events(names)
    return [
        f"{case.event} {','.join(case.phases)}: {case.ruled[0]} {case.ruled[2]}"
        for case in cases
        if not any(tells(event, case) for event in events)
    ]


@each_book
def test_every_line_that_the_book_foresees_is_shown(book: str) -> None:
    foreseen = [case for case in cases_of(book) if case.ruled[2] != UNFORESEEN[book]]
    assert foreseen
    assert untold(foreseen, of_book(book)) == []


@each_book
def test_whatever_the_book_does_not_foresee_at_all_is_referred_in_some_story(book: str) -> None:
    cases = cases_of(book)
    foreseen = {case.event for case in cases if case.ruled[2] != UNFORESEEN[book]}
    nowhere = [case for case in cases if case.event not in foreseen]
    assert "other" in {case.event for case in nowhere}
    assert untold(nowhere, of_book(book)) == []


@each_book
def test_every_treatment_of_a_referral_is_decided_in_some_story(book: str) -> None:
    decided = {
        event.treatment
        for event in all_events(of_book(book))
        if isinstance(event, happened.ReferralDecided) and event.clause == UNFORESEEN[book]
    }
    assert decided == set(Treatment)


@each_book
def test_a_stop_is_shown_in_every_phase(book: str) -> None:
    stopped = {
        event.phase for event in all_events(of_book(book)) if isinstance(event, happened.Interrupted)
    } | {
        event.phase
        for event in all_events(of_book(book))
        if isinstance(event, happened.IrregularityRuled) and event.irregularity == "power-failure"
    }
    assert stopped >= set(book_of(book).irregularities.phases)


def test_both_declarations_are_shown() -> None:
    events = all_events(of_book("mbs-sic-bo-v6"))
    declared = {event.seen for event in events if isinstance(event, happened.UnrecordedDeclared)}
    assert declared == {True, False}


@each_book
def test_sabotage_without_the_stories_that_tell_a_line_it_is_missed(book: str) -> None:
    for case in cases_of(book):
        if case.ruled[2] != UNFORESEEN[book]:
            silent = [
                name for name in of_book(book) if not any(tells(one, case) for one in told(name).events())
            ]
            assert len(silent) < len(of_book(book))
            assert len(untold([case], silent)) == 1


@each_book
def test_sabotage_a_line_of_another_clause_or_ruling_is_missed(book: str) -> None:
    for case in cases_of(book):
        ruling, who, clause = case.ruled
        for ruled in (("no-roll", who, clause), (ruling, who, "99.9")):
            assert len(untold([Case(case.event, case.instead, case.phases, ruled)], of_book(book))) == 1

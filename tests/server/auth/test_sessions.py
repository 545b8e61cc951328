"""Sessions: a token opens one until it idles, grows old, or is ended; and only its digest is kept."""

from __future__ import annotations

import secrets

import pytest

from taisai.cage import SignOutCause
from taisai.server.auth import sessions as module
from taisai.server.auth.sessions import (
    MOST_REMEMBERED,
    EndedSession,
    NewSession,
    Session,
    SessionPolicy,
    StaffSessions,
)
from tests.server.auth.staffed_house import NOON, counted

MINUTE = 60_000
HOUR = 60 * MINUTE


def opened(sessions: StaffSessions, person: str = "Dan Teo", now: int = NOON) -> NewSession:
    """A session that must open."""
    made = sessions.opened(person, "dealer", now)
    assert made is not None
    return made


def test_a_token_opens_its_session_and_no_other_text_does() -> None:
    sessions = StaffSessions(counted())
    first, second = opened(sessions), opened(sessions, "Sue Lim")
    assert sessions.of(first.token, NOON) == first.session
    assert sessions.of(second.token, NOON) == second.session
    assert first.session[1:] == ("Dan Teo", "dealer", NOON, NOON, NOON, "")
    for text in ("", first.token[:-1], first.token + "A", first.session.id, "\ud800"):
        assert sessions.of(text, NOON) == EndedSession(None)


def test_anyone_who_has_shown_their_token_once_is_asked_for_by_the_session_alone() -> None:
    sessions = StaffSessions(counted())
    made = opened(sessions)
    assert sessions.at(made.session.id, NOON) == made.session
    assert sessions.at(made.session.id, NOON + 15 * MINUTE) == EndedSession(SignOutCause.IDLE)
    assert sessions.at(made.session.id, NOON) == EndedSession(SignOutCause.IDLE), "and it stays over"
    assert sessions.of(made.token, NOON) == EndedSession(SignOutCause.IDLE)
    for text in ("", made.token, "no such session"):
        assert sessions.at(text, NOON) == EndedSession(None)


def test_a_token_is_long_and_never_the_same() -> None:
    sessions = StaffSessions(secrets.token_bytes, SessionPolicy(most_per_person=100))
    tokens = {opened(sessions).token for _ in range(100)}
    assert len(tokens) == 100
    assert {len(token) for token in tokens} == {43}, "32 bytes"


def test_the_token_itself_is_kept_nowhere() -> None:
    sessions = StaffSessions(counted())
    made = opened(sessions)
    assert made.token not in repr(vars(sessions))
    sessions.end(made.session.id, SignOutCause.SIGNED_OUT)
    assert made.token not in repr(vars(sessions))
    assert made.token not in repr(made)
    assert made.token not in repr(made.session)


def test_a_session_idles() -> None:
    sessions = StaffSessions(counted())
    made = opened(sessions)
    assert sessions.due(NOON + 15 * MINUTE - 1) == []
    assert isinstance(sessions.of(made.token, NOON + 15 * MINUTE - 1), Session)
    assert sessions.of(made.token, NOON + 15 * MINUTE) == EndedSession(SignOutCause.IDLE)


def test_anyone_who_does_something_does_not_idle() -> None:
    sessions = StaffSessions(counted())
    made = opened(sessions)
    sessions.touch(made.session.id, NOON + 10 * MINUTE)
    assert isinstance(sessions.of(made.token, NOON + 25 * MINUTE - 1), Session)
    assert sessions.of(made.token, NOON + 25 * MINUTE) == EndedSession(SignOutCause.IDLE)


def test_to_be_asked_for_is_not_to_do_something() -> None:
    sessions = StaffSessions(counted())
    made = opened(sessions)
    for minute in range(15):
        assert isinstance(sessions.of(made.token, NOON + minute * MINUTE), Session)
    assert sessions.of(made.token, NOON + 15 * MINUTE) == EndedSession(SignOutCause.IDLE)


def test_a_session_that_idled_is_not_woken() -> None:
    sessions = StaffSessions(counted())
    made = opened(sessions)
    sessions.touch(made.session.id, NOON + 15 * MINUTE)
    assert sessions.of(made.token, NOON + 15 * MINUTE) == EndedSession(SignOutCause.IDLE)


def test_a_session_grows_old_however_busy_it_is() -> None:
    sessions = StaffSessions(counted())
    made = opened(sessions)
    for minute in range(0, 600, 10):
        sessions.touch(made.session.id, NOON + minute * MINUTE)
    assert isinstance(sessions.of(made.token, NOON + 10 * HOUR - 1), Session)
    assert sessions.due(NOON + 10 * HOUR) == [made.session._replace(seen=NOON + 590 * MINUTE)]
    assert sessions.of(made.token, NOON + 10 * HOUR) == EndedSession(SignOutCause.EXPIRED)


def test_a_clock_that_was_put_back_ends_nothing_and_prolongs_nothing_seen() -> None:
    sessions = StaffSessions(counted())
    made = opened(sessions)
    sessions.touch(made.session.id, NOON - HOUR)
    assert sessions.due(NOON - HOUR) == []
    assert sessions.of(made.token, NOON) == made.session


def test_those_who_listen_hear_of_every_end_once_and_at_once() -> None:
    sessions, heard = StaffSessions(counted()), list[tuple[str, str]]()
    sessions.on_end(lambda session, why: heard.append((session.person, why)))
    out, idle = opened(sessions, "out"), opened(sessions, "idle")
    asked = opened(sessions, "asked", NOON + 1)
    opened(sessions, "revoked", NOON + MINUTE)
    opened(sessions, "revoked", NOON + MINUTE)
    assert sessions.end(out.session.id, SignOutCause.SIGNED_OUT) == out.session
    assert sessions.end(out.session.id, SignOutCause.REVOKED) is None
    assert sessions.due(NOON + 15 * MINUTE) == [idle.session]
    sessions.of(asked.token, NOON + 15 * MINUTE + 1)
    assert len(sessions.end_all("revoked")) == 2
    assert heard == [
        ("out", "signed-out"),
        ("idle", "idle"),
        ("asked", "idle"),
        *[("revoked", "revoked")] * 2,
    ]
    assert len(sessions) == 0


def test_the_idlest_of_a_person_gives_way_to_their_sixth() -> None:
    sessions = StaffSessions(counted())
    five = [opened(sessions, now=NOON + number) for number in range(5)]
    other = opened(sessions, "Sue Lim", NOON - 1)
    sessions.touch(five[0].session.id, NOON + 10)
    opened(sessions, now=NOON + 20)
    assert sessions.of(five[1].token, NOON + 20) == EndedSession(SignOutCause.REVOKED)
    assert len(sessions.of_person("Dan Teo")) == 5
    assert sessions.get(five[0].session.id)
    assert sessions.get(other.session.id)


def test_one_more_than_there_may_be_is_refused_and_ends_nobodys() -> None:
    sessions = StaffSessions(counted(), SessionPolicy(most=3))
    for number in range(3):
        opened(sessions, f"person {number}")
    assert sessions.opened("one more", "dealer", NOON) is None
    assert len(sessions) == 3


def test_everyones_end_when_the_server_stops() -> None:
    sessions = StaffSessions(counted())
    made = [opened(sessions, person) for person in ("a", "b")]
    assert sessions.end_all(why=SignOutCause.STOPPED) == [one.session for one in made]
    assert sessions.of(made[0].token, NOON) == EndedSession(SignOutCause.STOPPED)


def test_why_a_session_ended_is_remembered_of_the_latest(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_REMEMBERED == 1_000
    monkeypatch.setattr(module, "MOST_REMEMBERED", 2)
    sessions = StaffSessions(counted())
    made = [opened(sessions) for _ in range(3)]
    for one in made:
        sessions.end(one.session.id, SignOutCause.SIGNED_OUT)
    why = [sessions.of(one.token, NOON) for one in made]
    assert why == [
        EndedSession(None),
        EndedSession(SignOutCause.SIGNED_OUT),
        EndedSession(SignOutCause.SIGNED_OUT),
    ]
    assert [ended.message for ended in why if isinstance(ended, EndedSession)][:2] == [
        "no open session has this token",
        "the session has ended (signed-out)",
    ]

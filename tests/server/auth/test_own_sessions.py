"""One's own sessions: a person sees them, ends them with one factor, and has a new token whenever they prove
who they are.
"""

from __future__ import annotations

import pytest

from taisai.cage.messages import SignedOut
from taisai.server.auth.authentication import PROVED_FOR, PasskeyProof
from taisai.server.auth.enrolment import PASSWORD_UNPROVED, NewSetup
from taisai.server.auth.sessions import EndedSession, NewSession, Session
from taisai.server.auth.sign_in_refusals import (
    CODE_NEEDED,
    NO_SUCH_SESSION,
    WRONG_CREDENTIALS,
    SignInRefused,
)
from tests.server.auth.staffed_house import DAN, DESK, PASSWORDS, SUE, Staffed, running
from tests.server.auth.test_passkeys import AT, adds, device

NEW = "a quite other sentence 9"


def ends(
    staffed: Staffed, came: NewSession, id_: str | None = None, code: str | None = None
) -> str | SignInRefused:
    """Somebody ends one of their own sessions, or all others."""
    session = staffed.door.sessions.get(came.session.id)
    assert session is not None
    return running(staffed.door.end_own(id_, session=session, code=code, address=DESK, now=staffed.now))


def is_open(staffed: Staffed, came: NewSession) -> bool:
    return staffed.door.sessions.get(came.session.id) is not None


def test_a_person_ends_all_their_other_sessions_and_nobody_elses() -> None:
    staffed = Staffed()
    first, second, this, other = (staffed.signs_in(who) for who in (DAN, DAN, DAN, SUE))
    token = ends(staffed, this, code=staffed.code(DAN))
    assert isinstance(token, str)
    assert [is_open(staffed, one) for one in (first, second, this, other)] == [False, False, True, True]
    assert staffed.session(first) is None
    assert {(event.session, event.why) for event in staffed.told(SignedOut)} == {
        (first.session.id, "signed-out"), (second.session.id, "signed-out")
    }  # fmt: skip


def test_a_person_ends_one_of_their_sessions_also_this_one() -> None:
    staffed = Staffed()
    first, second, this = (staffed.signs_in(DAN) for _ in range(3))
    assert isinstance(ends(staffed, this, first.session.id, staffed.code(DAN)), str)
    assert [is_open(staffed, one) for one in (first, second, this)] == [False, True, True]
    assert isinstance(ends(staffed, this, this.session.id, staffed.code(DAN)), str)
    assert [is_open(staffed, one) for one in (first, second, this)] == [False, True, False]


def test_whoever_has_the_token_alone_ends_nothing() -> None:
    staffed = Staffed()
    first, this = staffed.signs_in(DAN), staffed.signs_in(DAN)
    assert ends(staffed, this) == CODE_NEEDED
    assert ends(staffed, this, first.session.id) == CODE_NEEDED
    assert ends(staffed, this, code=staffed.wrong_code(DAN)) == WRONG_CREDENTIALS
    assert is_open(staffed, first)
    assert staffed.session(this), "the token is the same"


def test_the_session_of_somebody_else_is_not_ones_own() -> None:
    staffed = Staffed()
    this, other = staffed.signs_in(DAN), staffed.signs_in(SUE)
    assert ends(staffed, this, other.session.id, staffed.code(DAN)) == NO_SUCH_SESSION
    assert is_open(staffed, other)


def test_a_passkey_proves_who_ends_sessions() -> None:
    staffed = Staffed()
    assert adds(staffed, device()) == DAN
    first, this = staffed.signs_in(DAN), staffed.signs_in(DAN)
    challenge = staffed.door.challenges.new(staffed.now)
    proof = PasskeyProof(device().signs(challenge), challenge, AT)
    ending = staffed.door.end_own(None, session=this.session, passkey=proof, address=DESK, now=staffed.now)
    assert isinstance(running(ending), str)
    assert not is_open(staffed, first)


def test_a_proof_gives_the_session_a_new_token_and_the_old_one_is_worth_nothing() -> None:
    staffed = Staffed()
    came = staffed.signs_in(DAN)
    sessions = staffed.door.sessions
    token = sessions.prove(came.session.id, staffed.now + PROVED_FOR)
    assert token is not None
    assert token != came.token
    assert sessions.of(came.token, staffed.now) == EndedSession(None)
    renewed = sessions.of(token, staffed.now)
    assert isinstance(renewed, Session)
    assert (renewed.id, renewed.proved) == (came.session.id, staffed.now + PROVED_FOR)
    assert sessions.prove("no such session", staffed.now) is None


def test_a_session_knows_where_its_sign_in_came_from() -> None:
    staffed = Staffed()
    assert staffed.signs_in(DAN).session.address == DESK


@pytest.mark.parametrize(
    ("typed", "done"), [(None, PASSWORD_UNPROVED), ("not this password", None), (PASSWORDS[DAN], DAN)]
)
def test_a_passkey_alone_changes_no_password(typed: str | None, done: object) -> None:
    staffed = Staffed()
    assert adds(staffed, device()) == DAN
    session, challenge = staffed.signs_in(DAN).session, staffed.door.challenges.new(staffed.now)
    begun = running(
        staffed.door.begin_setup_by_passkey(
            session, device().signs(challenge), challenge, at=AT, address=DESK, now=staffed.now,
            password=typed,
        )
    )  # fmt: skip
    if done is None:
        assert begun == WRONG_CREDENTIALS
        return
    assert isinstance(begun, NewSetup)
    assert begun.may_set_password == (typed is not None)
    finishing = staffed.door.finish_setup(begun.token, password=NEW, now=staffed.now)
    assert running(finishing) == done
    assert isinstance(staffed.tries(DAN, NEW), NewSession) == (done == DAN)

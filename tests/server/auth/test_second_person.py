"""A second person agrees by proving who he is, as if he signed in."""

from __future__ import annotations

import pytest

from taisai.cage.messages import PersonLocked, RevokeSessions
from taisai.cage.messages import SignedIn as SignedInEvent
from taisai.server.auth.sessions import NewApproval, NewSession, digest_of
from taisai.server.auth.verification import (
    LOCKED,
    UNRECORDED,
    WRONG_CREDENTIALS,
    SignInRefusalReason,
    SignInRefused,
)
from tests.server.auth.staffed_house import DAN, DESK, MAX, PAM, PASSWORDS, SUE, Staffed, running

VOID = digest_of(b'{"command":"void-rounds"}')


def agrees(
    staffed: Staffed,
    asker: NewSession,
    person: str = MAX,
    password: str | None = None,
    code: str | None = None,
) -> NewApproval | SignInRefused:
    """A second person, rightly unless it is said otherwise."""
    code = staffed.code(person) if code is None else code
    return running(
        staffed.door.approve(
            person,
            PASSWORDS[MAX] if password is None else password,
            code,
            digest=VOID,
            asker=asker.session,
            address=DESK,
            now=staffed.now,
        )
    )


def used(staffed: Staffed, granted: NewApproval | SignInRefused, asker: NewSession) -> str | None:
    """Who agreed."""
    assert isinstance(granted, NewApproval), granted
    return staffed.door.approvals.used(granted.token, VOID, asker=asker.session.id, now=staffed.now)


def test_a_second_person_agrees_and_is_named_by_the_staff_list() -> None:
    staffed = Staffed()
    asker = staffed.signs_in(SUE)
    granted = agrees(staffed, asker)
    assert used(staffed, granted, asker) == MAX
    assert used(staffed, granted, asker) is None
    assert len(staffed.told(SignedInEvent)) == 1, "to agree opens no session"


def test_nobody_agrees_with_themselves_and_their_code_is_not_used_up() -> None:
    staffed = Staffed()
    asker = staffed.signs_in(MAX)
    code = staffed.code(MAX)
    says = "the second person must not be 'Max Ong', who makes the request"
    assert agrees(staffed, asker, code=code) == SignInRefused(SignInRefusalReason.NOT_SECOND, says)
    assert isinstance(staffed.tries(MAX, code=code), NewSession)


def test_what_fails_here_counts_and_locks() -> None:
    staffed = Staffed()
    asker = staffed.signs_in(SUE)
    assert agrees(staffed, asker, code=staffed.wrong_code(MAX)) == WRONG_CREDENTIALS
    for _ in range(2):
        assert agrees(staffed, asker, password="not this password") == WRONG_CREDENTIALS
    assert [event.person for event in staffed.told(PersonLocked)] == [MAX]
    assert agrees(staffed, asker) == LOCKED


def test_a_code_that_signed_in_does_not_agree() -> None:
    staffed = Staffed()
    asker = staffed.signs_in(SUE)
    code = staffed.code(MAX)
    assert isinstance(staffed.tries(MAX, code=code), NewSession)
    assert agrees(staffed, asker, code=code) == WRONG_CREDENTIALS


def test_nobody_agrees_while_the_journal_cannot_be_written() -> None:
    staffed = Staffed()
    asker = staffed.signs_in(SUE)
    with staffed.full_disk():
        assert agrees(staffed, asker) == UNRECORDED


def test_there_is_nobody_to_agree_with_once_the_asker_is_out() -> None:
    staffed = Staffed()
    asker = staffed.signs_in(SUE)
    granted = agrees(staffed, asker)
    running(staffed.door.sign_out(asker.session.id, now=staffed.now))
    assert used(staffed, granted, asker) is None
    says = "the session to approve for has ended"
    assert agrees(staffed, asker) == SignInRefused(SignInRefusalReason.NOT_SECOND, says)


@pytest.mark.parametrize("person", [PAM, SUE])
def test_anyone_who_is_revoked_takes_their_agreement_with_them(person: str) -> None:
    staffed = Staffed()
    staffed.signs_in(PAM)
    asker = staffed.signs_in(SUE)
    granted = agrees(staffed, asker, PAM, PASSWORDS[PAM])
    staffed.do(RevokeSessions(at=staffed.now, by=MAX, person=person, reason="enough"))
    assert used(staffed, granted, asker) is None


def test_a_dealers_agreement_is_their_own_and_the_game_says_what_it_is_worth() -> None:
    staffed = Staffed()
    asker = staffed.signs_in(SUE)
    granted = agrees(staffed, asker, DAN, PASSWORDS[DAN])
    assert used(staffed, granted, asker) == DAN

"""A second person approves from their own session, and proves that they are there."""

from __future__ import annotations

import pytest

from taisai.cage.messages import DismissPerson, PersonLocked, RevokeSessions
from taisai.cage.messages import SignedIn as SignedInEvent
from taisai.protocol.views import Words
from taisai.server.auth.approvals import Approval, Approved, RequestToApprove, digest_of
from taisai.server.auth.authentication import PROVED_FOR
from taisai.server.auth.permissions import SECOND_PERSONS, RateLimit
from taisai.server.auth.sessions import NewSession
from taisai.server.auth.sign_in_refusals import (
    CODE_NEEDED,
    LOCKED,
    UNRECORDED,
    WRONG_CREDENTIALS,
    SignInRefusalReason,
    SignInRefused,
)
from tests.server.auth.staffed_house import DAN, DESK, MAX, PAM, SUE, Staffed, running

VOID = digest_of(b'{"command":"void-rounds"}')
_NOTHING = "nothing waits for this approval: it was decided or withdrawn, or it has expired"
NOTHING_WAITS = SignInRefused(SignInRefusalReason.NOT_SECOND, _NOTHING)


def asks(staffed: Staffed, asker: NewSession) -> str:
    """The id of a request that waits."""
    request = RequestToApprove(VOID, SECOND_PERSONS, Words("Void rounds", "作废"))
    asked = staffed.door.approvals.asked(request, asker=asker.session, now=staffed.now)
    assert isinstance(asked, Approval), asked
    return asked.id


def agrees(
    staffed: Staffed, id_: str, second: NewSession, code: str | None = None
) -> Approval | SignInRefused:
    """A second person approves in their own session."""
    session = staffed.door.sessions.get(second.session.id) or second.session
    approving = staffed.door.approve(id_, session=session, code=code, address=DESK, now=staffed.now)
    approved = running(approving)
    return approved.approval if isinstance(approved, Approved) else approved


def used(staffed: Staffed, id_: str, asker: NewSession) -> str | None:
    """Who approved."""
    return staffed.door.approvals.used(id_, VOID, asker=asker.session.id, now=staffed.now)


def test_a_second_person_approves_and_is_named_by_the_staff_list() -> None:
    staffed = Staffed()
    asker, second = staffed.signs_in(SUE), staffed.signs_in(MAX)
    id_ = asks(staffed, asker)
    assert isinstance(agrees(staffed, id_, second), Approval)
    assert used(staffed, id_, asker) == MAX
    assert used(staffed, id_, asker) is None
    assert len(staffed.told(SignedInEvent)) == 2, "to approve opens no session"


def test_nobody_approves_their_own_request_and_their_code_is_not_used_up() -> None:
    staffed = Staffed()
    asker = staffed.signs_in(MAX)
    other = staffed.signs_in(MAX)
    staffed.now += PROVED_FOR
    id_ = asks(staffed, asker)
    code = staffed.code(MAX)
    says = "the second person must not be 'Max Ong', who makes the request"
    for session in (asker, other):
        answer = agrees(staffed, id_, session, code)
        assert answer == SignInRefused(SignInRefusalReason.NOT_SECOND, says)
    assert isinstance(staffed.tries(MAX, code=code), NewSession)


def test_some_minutes_after_their_last_code_a_person_gives_another() -> None:
    staffed = Staffed()
    second = staffed.signs_in(MAX)
    staffed.now += PROVED_FOR - 1
    asker = staffed.signs_in(SUE)
    staffed.now = second.session.opened + PROVED_FOR - 1
    assert isinstance(agrees(staffed, asks(staffed, asker), second), Approval)
    staffed.now += 1
    id_ = asks(staffed, asker)
    assert agrees(staffed, id_, second) == CODE_NEEDED
    assert used(staffed, id_, asker) is None
    assert isinstance(agrees(staffed, id_, second, staffed.code(MAX)), Approval)
    assert isinstance(agrees(staffed, asks(staffed, asker), second), Approval), "for some minutes again"


def test_a_wrong_code_approves_nothing_counts_and_locks() -> None:
    staffed = Staffed()
    asker, second = staffed.signs_in(SUE), staffed.signs_in(MAX)
    staffed.now += PROVED_FOR
    id_ = asks(staffed, asker)
    for _ in range(3):
        assert agrees(staffed, id_, second, staffed.wrong_code(MAX)) == WRONG_CREDENTIALS
    assert [event.person for event in staffed.told(PersonLocked)] == [MAX]
    assert agrees(staffed, id_, second, staffed.code(MAX)) == LOCKED
    assert used(staffed, id_, asker) is None


def test_codes_are_guessed_no_faster_than_at_the_sign_in() -> None:
    staffed = Staffed(rule=RateLimit(burst=2, every=30_000))
    asker, second = staffed.signs_in(SUE), staffed.signs_in(MAX)
    staffed.now += PROVED_FOR
    id_ = asks(staffed, asker)
    answers = [agrees(staffed, id_, second, staffed.wrong_code(MAX)) for _ in range(3)]
    assert isinstance(answers[2], SignInRefused)
    assert answers[2].reason is SignInRefusalReason.TOO_OFTEN


def test_a_code_that_signed_in_does_not_approve() -> None:
    staffed = Staffed()
    asker, second = staffed.signs_in(SUE), staffed.signs_in(MAX)
    staffed.now += PROVED_FOR
    code = staffed.code(MAX)
    assert isinstance(staffed.tries(MAX, code=code), NewSession)
    assert agrees(staffed, asks(staffed, asker), second, code) == WRONG_CREDENTIALS


def test_whoever_is_locked_approves_nothing_in_an_open_session() -> None:
    staffed = Staffed()
    asker, second = staffed.signs_in(SUE), staffed.signs_in(MAX)
    staffed.fails(MAX, 3)
    assert agrees(staffed, asks(staffed, asker), second) == LOCKED


def test_nobody_approves_with_a_code_while_the_journal_cannot_be_written() -> None:
    staffed = Staffed()
    asker, second = staffed.signs_in(SUE), staffed.signs_in(MAX)
    staffed.now += PROVED_FOR
    id_ = asks(staffed, asker)
    with staffed.full_disk():
        assert agrees(staffed, id_, second, staffed.code(MAX)) == UNRECORDED


def test_there_is_nothing_to_approve_once_the_asker_is_out() -> None:
    staffed = Staffed()
    asker, second = staffed.signs_in(SUE), staffed.signs_in(MAX)
    given, waits = asks(staffed, asker), asks(staffed, asker)
    assert isinstance(agrees(staffed, given, second), Approval)
    running(staffed.door.sign_out(asker.session.id, now=staffed.now))
    assert used(staffed, given, asker) is None
    assert agrees(staffed, waits, second) == NOTHING_WAITS


def test_a_session_that_ended_approves_nothing() -> None:
    staffed = Staffed()
    asker, second = staffed.signs_in(SUE), staffed.signs_in(MAX)
    id_ = asks(staffed, asker)
    running(staffed.door.sign_out(second.session.id, now=staffed.now))
    answer = agrees(staffed, id_, second)
    assert answer == SignInRefused(SignInRefusalReason.NOT_SECOND, "the session has ended")
    assert used(staffed, id_, asker) is None


@pytest.mark.parametrize("person", [PAM, SUE])
def test_anyone_who_is_revoked_takes_their_approval_with_them(person: str) -> None:
    staffed = Staffed()
    second, asker = staffed.signs_in(PAM), staffed.signs_in(SUE)
    id_ = asks(staffed, asker)
    assert isinstance(agrees(staffed, id_, second), Approval)
    staffed.do(RevokeSessions(at=staffed.now, by=MAX, person=person, reason="enough"))
    assert used(staffed, id_, asker) is None


def test_whoever_is_dismissed_takes_their_approval_with_them() -> None:
    staffed = Staffed()
    asker, second = staffed.signs_in(SUE), staffed.signs_in(PAM)
    id_ = asks(staffed, asker)
    assert isinstance(agrees(staffed, id_, second), Approval)
    staffed.do(DismissPerson(at=staffed.now, by=MAX, person=PAM, second=SUE))
    assert used(staffed, id_, asker) is None


def test_a_dealer_approves_nothing() -> None:
    staffed = Staffed()
    asker, second = staffed.signs_in(SUE), staffed.signs_in(DAN)
    answer = agrees(staffed, asks(staffed, asker), second)
    assert isinstance(answer, SignInRefused)
    assert answer.message.endswith("shift-manager, got dealer")

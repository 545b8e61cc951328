"""Sessions end: by time, by revocation at once, by a stop; and whatever ends is in the journal."""

from __future__ import annotations

import asyncio

import pytest

from taisai.cage import SignOutCause
from taisai.cage.messages import (
    CredentialsCommitted,
    DismissPerson,
    EnrolPerson,
    HouseCommand,
    NoteSignOut,
    PersonLocked,
    RevokeSessions,
    SignedOut,
)
from taisai.game.refusals import Reason, Refusal
from taisai.journal import Answer
from taisai.journal.codec import HOUSE_STREAM, AnyCommand
from taisai.journal.errors import DamagedError
from taisai.protocol.views import Words
from taisai.server.auth.approvals import Approval, Approved, RequestToApprove, digest_of
from taisai.server.auth.credentials import step_of
from taisai.server.auth.enrolment import (
    EXPIRED_SETUP,
    NO_FACTOR,
    NO_PASSWORD,
    WRONG_CONFIRMATION,
    NewSetup,
)
from taisai.server.auth.permissions import SECOND_PERSONS
from taisai.server.auth.sessions import EndedSession, NewSession
from taisai.server.auth.sign_in_refusals import LOCKED, WRONG_CREDENTIALS, SignInRefusalReason, SignInRefused
from tests.server.auth.staffed_house import (
    CAT,
    DAN,
    DESK,
    MAX,
    NOON,
    OLGA,
    PAM,
    PASSWORDS,
    SUE,
    Staffed,
    running,
)
from tests.server.enrolling import code_at, issued, secret_of

MINUTE = 60_000
NEW = "a quite other sentence 9"


def outs(staffed: Staffed) -> list[tuple[str, str]]:
    """Whose sessions ended, and why, as the journal has it."""
    return [(event.person, event.why) for event in staffed.told(SignedOut)]


def test_an_idle_session_ends_and_the_journal_has_it() -> None:
    staffed = Staffed()
    came = staffed.signs_in(DAN)
    staffed.ticks(15 * MINUTE - 1)
    assert staffed.ended == []
    staffed.ticks(1)
    assert staffed.ended == [(came.session.id, "idle")]
    assert outs(staffed) == [(DAN, "idle")]
    assert staffed.queue.engine.house().sessions == {}


def test_a_session_that_was_found_idle_is_noted_with_the_next_tick() -> None:
    staffed = Staffed()
    came = staffed.signs_in(DAN)
    staffed.now += 15 * MINUTE
    assert staffed.session(came) is None
    staffed.ticks()
    assert outs(staffed) == [(DAN, "idle")]


REVOKING: dict[str, HouseCommand] = {
    "revoked": RevokeSessions(at=NOON, by=MAX, person=DAN, reason="seen to leave it open"),
    "dismissed": DismissPerson(at=NOON, by=MAX, person=DAN),
    "another rank": EnrolPerson(at=NOON, by=MAX, person=DAN, rank="floorperson"),
}


@pytest.mark.parametrize("how", REVOKING)
def test_a_revocation_ends_sessions_before_it_is_even_answered(how: str) -> None:
    staffed = Staffed()
    first, second, other = staffed.signs_in(DAN), staffed.signs_in(DAN), staffed.signs_in(SUE)
    staffed.do(REVOKING[how])
    assert staffed.ended == [(first.session.id, "revoked"), (second.session.id, "revoked")]
    assert staffed.session(first) is None
    assert staffed.session(other)
    staffed.ticks()
    assert list(staffed.queue.engine.house().sessions.values()) == [SUE]


def test_the_same_rank_again_ends_nothing() -> None:
    staffed = Staffed()
    came = staffed.signs_in(DAN)
    staffed.do(EnrolPerson(at=NOON, by=MAX, person=DAN, rank="dealer"))
    assert staffed.session(came)


def test_anyone_who_is_locked_keeps_what_they_opened_themselves_and_opens_no_more() -> None:
    staffed = Staffed()
    came = staffed.signs_in(DAN)
    staffed.fails(DAN, 3)
    assert staffed.told(PersonLocked)
    assert staffed.session(came), "anybody can fail in his name"
    assert staffed.tries(DAN) == LOCKED
    staffed.ticks()
    assert outs(staffed) == []


def test_a_lock_keeps_nobody_from_being_revoked() -> None:
    for how, command in REVOKING.items():
        staffed = Staffed()
        came = staffed.signs_in(DAN)
        staffed.fails(DAN, 3)
        staffed.do(command)
        assert staffed.session(came) is None, how


def test_what_they_approved_before_their_lock_still_counts() -> None:
    staffed = Staffed()
    asker, second = staffed.signs_in(DAN).session, staffed.signs_in(SUE).session
    digest = digest_of(b"a fill")
    request = RequestToApprove(digest, SECOND_PERSONS, Words("A fill", "补充筹码"))
    asked = staffed.door.approvals.asked(request, asker=asker, now=staffed.now)
    assert isinstance(asked, Approval)
    approving = staffed.door.approve(asked.id, session=second, code=None, address=DESK, now=staffed.now)
    approved = running(approving)
    assert isinstance(approved, Approved)
    granted = approved.approval
    staffed.fails(SUE, 3)
    assert staffed.told(PersonLocked)
    within = granted.until - 1
    assert staffed.door.approvals.used(granted.id, digest, asker=asker.id, now=within) == SUE


@pytest.mark.parametrize("how", REVOKING)
def test_a_revocation_while_someone_comes_in_keeps_them_out(how: str) -> None:
    staffed = Staffed()
    staffed.signs_in(DAN)

    async def meanwhile(_command: object) -> None:
        await staffed.queue.execute(HOUSE_STREAM, REVOKING[how])

    staffed.queue.between = meanwhile
    assert staffed.tries(DAN) == WRONG_CREDENTIALS
    assert len(staffed.door.sessions) == 0
    staffed.ticks()
    assert staffed.queue.engine.house().sessions == {}


def test_a_rank_that_changed_unheard_keeps_them_out_too() -> None:
    staffed = Staffed()

    async def meanwhile(_command: object) -> None:
        staffed.queue.engine.answer(HOUSE_STREAM, REVOKING["another rank"])

    staffed.queue.between = meanwhile
    assert staffed.tries(DAN) == WRONG_CREDENTIALS
    assert len(staffed.door.sessions) == 0
    assert outs(staffed) == [(DAN, "revoked")]


def test_ends_that_could_not_be_written_are_written_later() -> None:
    staffed = Staffed()
    came = staffed.signs_in(DAN)
    with staffed.full_disk():
        running(staffed.door.sign_out(came.session.id, now=staffed.now))
        assert staffed.session(came) is None, "he is out all the same"
        staffed.ticks()
    assert outs(staffed) == []
    staffed.ticks()
    staffed.ticks()
    assert outs(staffed) == [(DAN, "signed-out")]


class OneBad:
    """A queue for whom one command fails as no refusal does."""

    def __init__(self, staffed: Staffed, session: str) -> None:
        self._ask, self._session = staffed.queue.execute, session

    async def execute(self, stream: str, command: AnyCommand) -> Answer:
        """What it comes to, unless it is about that session."""
        if isinstance(command, NoteSignOut) and command.session == self._session:
            raise DamagedError(1, "expected the House's stream, got something else")
        return await self._ask(stream, command)


def test_one_end_that_cannot_be_noted_takes_no_other_with_it() -> None:
    staffed = Staffed()
    first, _, last = staffed.signs_in(DAN), staffed.signs_in(CAT), staffed.signs_in(SUE)
    was = staffed.queue.execute
    staffed.queue.execute = OneBad(staffed, first.session.id).execute  # type: ignore[method-assign]
    running(staffed.door.finish(staffed.now))
    assert outs(staffed) == [(CAT, "stopped"), (SUE, "stopped")]
    staffed.queue.execute = was  # type: ignore[method-assign]
    staffed.ticks()
    assert outs(staffed) == [(CAT, "stopped"), (SUE, "stopped"), (DAN, "stopped")], "it is noted later"
    assert last.session.id not in staffed.queue.engine.house().sessions


def test_ends_that_are_cut_short_are_noted_later() -> None:
    staffed = Staffed()
    came = staffed.signs_in(DAN)

    async def cut_short() -> None:
        ending = asyncio.ensure_future(staffed.door.sign_out(came.session.id, now=staffed.now))
        await asyncio.sleep(0)
        ending.cancel()
        await asyncio.gather(ending, return_exceptions=True)

    running(cut_short())
    assert staffed.session(came) is None
    staffed.ticks()
    assert outs(staffed) == [(DAN, "signed-out")]


def test_a_stop_ends_every_session() -> None:
    staffed = Staffed()
    came = staffed.signs_in(DAN)
    staffed.signs_in(SUE)
    running(staffed.door.finish(staffed.now))
    assert outs(staffed) == [(DAN, "stopped"), (SUE, "stopped")]
    assert staffed.door.sessions.of(came.token, staffed.now) == EndedSession(SignOutCause.STOPPED)


def test_a_start_ends_what_a_crash_left_open() -> None:
    staffed = Staffed()
    staffed.signs_in(DAN)
    staffed.door = staffed.new_door()
    running(staffed.door.begin(staffed.now))
    assert outs(staffed) == [(DAN, "stopped")]
    assert staffed.queue.engine.house().sessions == {}


# Credentials


def test_anyone_who_left_and_is_back_has_no_credentials() -> None:
    staffed = Staffed()
    staffed.do(DismissPerson(at=NOON, by=MAX, person=DAN))
    staffed.do(EnrolPerson(at=NOON, by=MAX, person=DAN, rank="dealer"))
    assert staffed.tries(DAN) == WRONG_CREDENTIALS, "before the vault has forgotten him"
    staffed.ticks()
    assert staffed.store.secret(f"staff/{DAN}") is None
    staffed.reset(DAN)
    staffed.ticks()
    assert staffed.signs_in(DAN)


def test_new_credentials_are_not_taken_for_those_of_one_who_left() -> None:
    staffed = Staffed()
    staffed.do(DismissPerson(at=NOON, by=MAX, person=DAN))
    staffed.do(EnrolPerson(at=NOON, by=MAX, person=DAN, rank="dealer"))
    staffed.reset(DAN)
    staffed.ticks()
    assert staffed.signs_in(DAN)


def test_a_vault_that_cannot_be_written_forgets_later() -> None:
    staffed = Staffed()
    staffed.do(DismissPerson(at=NOON, by=MAX, person=DAN))
    with staffed.full_disk():
        staffed.ticks()
    assert staffed.store.secret(f"staff/{DAN}") is not None
    staffed.ticks()
    assert staffed.store.secret(f"staff/{DAN}") is None


def test_a_start_forgets_those_who_left_before_it() -> None:
    staffed = Staffed()
    staffed.do(DismissPerson(at=NOON, by=MAX, person=DAN))
    staffed.door = staffed.new_door()
    running(staffed.door.begin(staffed.now))
    assert staffed.store.secrets("staff/") == sorted(f"staff/{person}" for person in (MAX, SUE, CAT, PAM))


def test_new_credentials_end_sessions_and_the_old_ones() -> None:
    staffed = Staffed()
    came = staffed.signs_in(DAN)
    old = staffed.secrets[DAN]
    staffed.reset(DAN, NEW)
    assert staffed.session(came) is None
    assert staffed.tries(DAN) == WRONG_CREDENTIALS
    assert isinstance(staffed.tries(DAN, NEW), NewSession)
    assert staffed.secrets[DAN] != old


def test_who_may_not_give_a_code_changes_nothing() -> None:
    staffed = Staffed()
    before = staffed.store.secret(f"staff/{SUE}")
    for person, by, reason in (
        (SUE, DAN, Reason.NOT_PERMITTED),
        ("Eve Koh", MAX, Reason.UNKNOWN_PERSON),
        (DAN, OLGA, Reason.UNKNOWN_PERSON),  # the House's beginning is over
    ):
        refused = running(staffed.door.enrolment.issue(person, by=by, now=staffed.now))
        assert isinstance(refused, Refusal)
        assert refused.reason is reason, person
    assert staffed.store.secret(f"staff/{SUE}") == before
    assert isinstance(staffed.tries(SUE), NewSession)


def test_a_code_for_anyone_takes_two() -> None:
    staffed = Staffed()
    for person in (DAN, CAT, SUE):
        alone = running(staffed.door.enrolment.issue(person, by=MAX, now=staffed.now))
        assert isinstance(alone, Refusal)
        assert alone.reason is Reason.SECOND_PERSON


def test_a_weak_password_is_refused_and_the_code_is_not_used_up() -> None:
    staffed = Staffed()
    code = running(issued(staffed.door, DAN, by=MAX, second=SUE, now=staffed.now))
    setup = running(staffed.door.begin_setup(DAN, code, address=DESK, now=staffed.now))
    assert isinstance(setup, NewSetup)
    shown = code_at(secret_of(setup.uri), step_of(staffed.now))

    def sets(password: str | None, confirmed: str | None) -> object:
        finishing = staffed.door.finish_setup(setup.token, password=password, code=confirmed, now=staffed.now)
        return running(finishing)

    says = "the password is easy to guess; four words that have nothing to do with each other are not"
    assert sets("password1234", shown) == SignInRefused(SignInRefusalReason.UNFIT, says)
    assert sets(None, shown) == NO_PASSWORD
    assert sets(NEW, None) == NO_FACTOR
    assert sets(NEW, "000000" if shown != "000000" else "000001") == WRONG_CONFIRMATION
    assert len(staffed.told(CredentialsCommitted)) == 5
    assert sets(NEW, shown) == DAN
    assert sets(NEW, shown) == EXPIRED_SETUP, "it is done"
    assert staffed.tries(DAN, NEW, shown) == WRONG_CREDENTIALS, "no code is good twice"


def test_a_person_renews_their_own_by_proving_who_they_are() -> None:
    staffed = Staffed()
    session = staffed.signs_in(SUE).session
    begin = staffed.door.begin_setup_again
    refused = running(begin(session, "not hers", staffed.code(SUE), address=DESK, now=staffed.now))
    assert refused == WRONG_CREDENTIALS
    setup = running(begin(session, PASSWORDS[SUE], staffed.code(SUE), address=DESK, now=staffed.now))
    assert isinstance(setup, NewSetup)
    finish = staffed.door.finish_setup
    assert running(finish(setup.token, password=NEW, code=None, now=staffed.now)) == SUE
    assert staffed.tries(SUE) == WRONG_CREDENTIALS
    assert isinstance(staffed.tries(SUE, NEW), NewSession), "her authenticator stays"
    assert staffed.told(CredentialsCommitted)[-1].by == SUE


def test_a_locked_person_renews_nothing() -> None:
    staffed = Staffed()
    session = staffed.signs_in(DAN).session
    staffed.fails(DAN, 3)
    code = staffed.code(DAN)
    renewing = staffed.door.begin_setup_again(session, PASSWORDS[DAN], code, address=DESK, now=staffed.now)
    assert running(renewing) == LOCKED

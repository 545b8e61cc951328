"""The door: who comes in, what a stranger hears, and that three failures lock."""

from __future__ import annotations

import pytest

from taisai.cage import MOST_FAILURES, SignOutCause
from taisai.cage.messages import (
    CredentialsCommitted,
    EnrolPerson,
    PersonLocked,
    SignedOut,
    SignInFailed,
    UnlockPerson,
)
from taisai.cage.messages import SignedIn as SignedInEvent
from taisai.game.vocabulary import FLOOR
from taisai.server.auth.attempts import FIRST_DELAY, LONGEST_DELAY
from taisai.server.auth.credentials import Cost, Passwords, step_of
from taisai.server.auth.permissions import RateLimit
from taisai.server.auth.sessions import EndedSession, NewSession, SessionPolicy
from taisai.server.auth.sign_in_refusals import (
    BUSY,
    LOCKED,
    UNRECORDED,
    WRONG_CREDENTIALS,
    SignInRefusalReason,
    SignInRefused,
)
from taisai.server.auth.verification import NO_ADDRESS
from tests.server.auth.staffed_house import CAT, DAN, DESK, MAX, PASSWORDS, STEP_MS, SUE, Staffed, running
from tests.server.enrolling import code_at


def test_anyone_who_has_password_and_code_is_in_and_the_journal_has_it() -> None:
    staffed = Staffed()
    came = staffed.signs_in(DAN)
    assert staffed.session(came) == came.session
    assert (came.session.person, came.session.rank) == (DAN, "dealer")
    (event,) = staffed.told(SignedInEvent)
    assert (event.person, event.session, event.address, event.by) == (DAN, came.session.id, DESK, FLOOR)


def test_a_name_in_other_letters_is_the_one_on_the_staff_list() -> None:
    staffed = Staffed()
    came = staffed.tries("dan TEO", PASSWORDS[DAN], staffed.code(DAN))
    assert isinstance(came, NewSession)
    assert came.session.person == DAN


def refusals_of_strangers(staffed: Staffed) -> dict[str, NewSession | SignInRefused]:
    """Everything that can be wrong, one thing at a time."""
    return {
        "unknown": staffed.tries("Eve Koh", "whatever she likes", "123456"),
        "no name": staffed.tries("", "whatever she likes", "123456"),
        "password": staffed.tries(DAN, "not this password"),
        "code": staffed.tries(SUE, code=staffed.wrong_code(SUE)),
        "both": staffed.tries(MAX, "not this password", staffed.wrong_code(MAX)),
        "another's code": staffed.tries(CAT, code=staffed.code(DAN)),
    }


def test_an_unauthenticated_client_hears_the_same_whatever_was_wrong() -> None:
    heard = refusals_of_strangers(Staffed())
    assert set(heard.values()) == {WRONG_CREDENTIALS}


def test_the_journal_has_every_failure_and_what_was_wrong() -> None:
    staffed = Staffed()
    refusals_of_strangers(staffed)
    failures = staffed.told(SignInFailed)
    assert [event.why for event in failures] == ["unknown", "unknown", "password", "code", "password", "code"]
    assert [event.known for event in failures] == [False, False, True, True, True, True]
    assert {event.address for event in failures} == {DESK}


def test_whatever_was_wrong_the_same_work_is_done() -> None:
    staffed = Staffed()
    checked: list[bool] = []
    verified = staffed.passwords.verified

    def counting(hash_: str | None, password: str) -> bool:
        checked.append(hash_ is not None)
        return verified(hash_, password)

    staffed.passwords.verified = counting  # type: ignore[method-assign]
    work = set()
    for person, password, code in (
        ("Eve Koh", "whatever she likes", "123456"),
        (DAN, "not this password", staffed.wrong_code(DAN)),
        (SUE, PASSWORDS[SUE], staffed.wrong_code(SUE)),
        (CAT, "not her password", staffed.code(CAT)),
    ):
        checked.clear()
        looks, asks = staffed.queue.looks, len(staffed.queue.asked)
        assert staffed.tries(person, password, code) == WRONG_CREDENTIALS
        work.add((len(checked), staffed.queue.looks - looks, len(staffed.queue.asked) - asks))
    assert work == {(1, 1, 1)}


def test_two_failures_do_not_lock_and_a_success_forgets_them() -> None:
    staffed = Staffed()
    for _ in range(3):
        staffed.fails(DAN, MOST_FAILURES - 1)
        staffed.signs_in(DAN)
    assert staffed.told(PersonLocked) == []


def test_the_third_failure_locks() -> None:
    staffed = Staffed()
    staffed.fails(DAN, 3)
    assert [event.person for event in staffed.told(PersonLocked)] == [DAN]
    assert isinstance(staffed.tries(DAN), SignInRefused)
    assert staffed.told(SignedInEvent) == []


def test_a_wrong_password_locks_nobody_whatever_the_code() -> None:
    staffed = Staffed()
    for code in (staffed.wrong_code(DAN), staffed.code(DAN)) * 10:
        staffed.now += LONGEST_DELAY
        assert staffed.tries(DAN, "not this password", code) == WRONG_CREDENTIALS
    assert staffed.told(PersonLocked) == []
    staffed.now += LONGEST_DELAY
    staffed.signs_in(DAN)


def test_only_the_locked_person_learns_of_the_lock() -> None:
    staffed = Staffed()
    staffed.fails(DAN, 3)
    assert staffed.fails(DAN) == [WRONG_CREDENTIALS]
    assert staffed.tries(DAN, code=staffed.wrong_code(DAN)) == WRONG_CREDENTIALS
    staffed.now += FIRST_DELAY
    assert staffed.tries(DAN) == LOCKED
    assert [event.why for event in staffed.told(SignInFailed)][-1] == "locked"


def test_two_others_unlock() -> None:
    staffed = Staffed()
    staffed.fails(DAN, 3)
    staffed.do(UnlockPerson(at=staffed.now, by=MAX, person=DAN, second=SUE, reason="he forgot it"))
    assert staffed.signs_in(DAN)


def test_names_that_nobody_has_lock_nothing() -> None:
    staffed = Staffed()
    for _ in range(5):
        assert staffed.tries("Eve Koh", "whatever she likes", "123456") == WRONG_CREDENTIALS
    assert staffed.told(PersonLocked) == []
    assert len({event.person for event in staffed.told(SignInFailed)}) == 1, (
        "that it was one name can be seen"
    )


def test_a_code_is_used_once() -> None:
    staffed = Staffed()
    code = staffed.code(DAN)
    assert isinstance(staffed.tries(DAN, code=code), NewSession)
    assert staffed.tries(DAN, code=code) == WRONG_CREDENTIALS
    staffed.now += STEP_MS
    assert staffed.tries(DAN, code=code) == WRONG_CREDENTIALS, "nor within the half minute after"
    assert isinstance(staffed.tries(DAN), NewSession)


@pytest.mark.parametrize("beside", [-1, 1])
def test_a_code_of_the_half_minute_beside_opens_nothing_and_locks_nobody(beside: int) -> None:
    staffed = Staffed()
    for _ in range(MOST_FAILURES + 1):
        code = code_at(staffed.secrets[DAN], step_of(staffed.now) + beside)
        assert staffed.tries(DAN, code=code) == WRONG_CREDENTIALS
    assert {event.why for event in staffed.told(SignInFailed)} == {"late"}
    assert not staffed.told(PersonLocked)
    assert isinstance(staffed.tries(DAN), NewSession)


def test_that_a_code_was_used_outlives_a_start() -> None:
    staffed = Staffed()
    code = staffed.code(DAN)
    assert isinstance(staffed.tries(DAN, code=code), NewSession)
    staffed.door = staffed.new_door()
    assert staffed.tries(DAN, code=code) == WRONG_CREDENTIALS


def test_a_wrong_password_does_not_use_the_code_up() -> None:
    staffed = Staffed()
    code = staffed.code(DAN)
    assert staffed.tries(DAN, "not this password", code) == WRONG_CREDENTIALS
    assert isinstance(staffed.tries(DAN, code=code), NewSession)


def test_without_credentials_nobody_is_in() -> None:
    staffed = Staffed()
    staffed.do(EnrolPerson(at=staffed.now, by=MAX, person="New Man", rank="dealer"))
    assert staffed.tries("New Man", "", "") == WRONG_CREDENTIALS
    assert staffed.told(SignInFailed)[-1].why == "no-credentials"


def test_attempts_do_not_lock_a_person_without_credentials() -> None:
    staffed = Staffed()
    staffed.do(EnrolPerson(at=staffed.now, by=MAX, person="New Man", rank="dealer"))
    for _ in range(5):
        assert staffed.tries("New Man", "whatever", "123456") == WRONG_CREDENTIALS
    assert len(staffed.told(SignInFailed)) == 5
    assert staffed.told(PersonLocked) == []


@pytest.mark.parametrize("person", [DAN, "Eve Koh"])
def test_a_journal_that_cannot_be_written_lets_nobody_in_and_tells_nothing(person: str) -> None:
    staffed = Staffed()
    with staffed.full_disk():
        assert staffed.tries(person, PASSWORDS[DAN], staffed.code(DAN)) == UNRECORDED
        assert staffed.tries(person, "not this password", staffed.code(DAN)) == UNRECORDED
    assert len(staffed.door.sessions) == 0
    assert staffed.told(SignedInEvent) == []
    assert staffed.signs_in(DAN)


def test_a_journal_that_fails_at_the_last_moment_lets_nobody_in() -> None:
    staffed = Staffed()

    async def fills_up(_command: object) -> None:
        staffed.store.full = True

    staffed.queue.between = fills_up
    assert staffed.tries(DAN) == UNRECORDED
    assert len(staffed.door.sessions) == 0


def test_too_many_tries_from_one_address_wait() -> None:
    staffed = Staffed(rule=RateLimit(burst=2, every=1_500))
    address = "2001:db8::1"
    for _ in range(2):
        staffed.tries("Eve Koh", "whatever she likes", "123456", address=address)
    refused = staffed.tries(DAN, address="2001:db8::2")
    assert refused == SignInRefused(
        SignInRefusalReason.TOO_OFTEN,
        "too many tries; try again in 2 s",
        1_500,
    )
    assert len(staffed.told(SignInFailed)) == 2, "what was not checked is no failure, and fills no journal"
    assert isinstance(staffed.tries(DAN, address=DESK), NewSession)


@pytest.mark.parametrize("address", ["", "x" * 65, "a\nb"])
def test_an_address_that_is_none_is_noted_as_unknown(address: str) -> None:
    staffed = Staffed()
    assert isinstance(staffed.tries(DAN, address=address), NewSession)
    assert staffed.tries(DAN, "not this password", address=address) == WRONG_CREDENTIALS
    assert [event.address for event in staffed.told(SignedInEvent)] == [NO_ADDRESS]
    assert [event.address for event in staffed.told(SignInFailed)] == [NO_ADDRESS]


def test_a_full_house_of_sessions_takes_no_more() -> None:
    staffed = Staffed()
    came = staffed.signs_in(SUE)
    staffed.door.sessions.policy = SessionPolicy(most=1)
    assert staffed.tries(DAN) == BUSY
    assert staffed.session(came)
    assert [event.person for event in staffed.told(SignedInEvent)] == [SUE]


def test_anyone_who_signs_out_is_out() -> None:
    staffed = Staffed()
    came, other = staffed.signs_in(DAN), staffed.signs_in(DAN)
    running(staffed.door.sign_out(came.session.id, now=staffed.now))
    assert staffed.door.sessions.of(came.token, staffed.now) == EndedSession(SignOutCause.SIGNED_OUT)
    assert staffed.session(other)
    assert [(event.session, event.why) for event in staffed.told(SignedOut)] == [
        (came.session.id, "signed-out")
    ]
    assert dict(staffed.queue.engine.house().sessions) == {other.session.id: DAN}


def test_a_hash_is_made_again_when_its_cost_changed() -> None:
    staffed = Staffed()
    before = staffed.store.secret(f"staff/{DAN}")
    dearer = Passwords(staffed.entropy, Cost(time=2, memory=8, parallelism=1))
    staffed.passwords = dearer
    staffed.door = staffed.new_door()
    assert staffed.tries(DAN, code=staffed.wrong_code(DAN)) == WRONG_CREDENTIALS
    assert staffed.store.secret(f"staff/{DAN}") == before, "not before all is proved"
    staffed.signs_in(DAN)
    after = staffed.store.secret(f"staff/{DAN}")
    assert after is not None
    assert b"t=2" in after
    assert staffed.signs_in(DAN)


@pytest.mark.parametrize(("generic", "comes_in"), [(True, True), (False, False)])
def test_a_name_that_is_a_posts_signs_in_at_a_demonstration_only(*, generic: bool, comes_in: bool) -> None:
    staffed = Staffed(generic=True)
    staffed.do(EnrolPerson(at=staffed.now, by=MAX, person="dealer 1", rank="dealer"))
    staffed.reset("dealer 1", "71 red kettles sing")
    staffed.generic = generic
    staffed.door = staffed.new_door()
    came = staffed.tries("dealer 1", "71 red kettles sing", staffed.code("dealer 1"))
    assert isinstance(came, NewSession) == comes_in
    again = running(staffed.door.enrolment.issue("dealer 1", by=MAX, second=SUE, now=staffed.now))
    if generic:
        assert not isinstance(again, SignInRefused)
    else:
        says = "'dealer 1' is not the name of a person, but of a role; give the person's own name"
        assert again == SignInRefused(SignInRefusalReason.UNFIT, says)
        assert len(staffed.told(CredentialsCommitted)) == 6


@pytest.mark.parametrize("person", [DAN, SUE, "Eve Koh", ""])
def test_nobody_is_admitted_without_proof_outside_a_demonstration(person: str) -> None:
    staffed = Staffed(generic=False)
    assert running(staffed.door.admitted(person, address=DESK, now=staffed.now)) == WRONG_CREDENTIALS
    assert len(staffed.door.sessions) == 0
    assert staffed.told(SignedInEvent) == []


def test_a_demonstration_admits_those_on_its_roll_and_the_journal_has_it() -> None:
    staffed = Staffed(generic=True)
    came = running(staffed.door.admitted(DAN, address=DESK, now=staffed.now))
    assert isinstance(came, NewSession)
    assert [event.person for event in staffed.told(SignedInEvent)] == [DAN]
    assert running(staffed.door.admitted("Eve Koh", address=DESK, now=staffed.now)) == WRONG_CREDENTIALS


def test_not_even_a_demonstration_admits_one_who_is_locked() -> None:
    staffed = Staffed(generic=True)
    staffed.fails(DAN, 3)
    assert running(staffed.door.admitted(DAN, address=DESK, now=staffed.now)) == WRONG_CREDENTIALS
    assert len(staffed.door.sessions) == 0

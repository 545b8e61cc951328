"""Each safety of access is broken once, and the tests that guard it must see it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final, NamedTuple, TypeVar

import pytest
import structlog

from taisai.cage import SignOutCause
from taisai.cage import access as at_house
from taisai.cage.messages import PersonLocked
from taisai.journal.codec import AnyEvent
from taisai.server.auth import approvals, authentication, credentials, sessions, sign_out_notes, verification
from taisai.server.auth.approvals import Approval, Approvals
from taisai.server.auth.attempts import GrowingDelays
from taisai.server.auth.authentication import Authentication
from taisai.server.auth.credentials import Passwords
from taisai.server.auth.permissions import Role
from taisai.server.auth.sessions import Session, StaffSessions
from taisai.server.auth.sign_in_refusals import WRONG_CREDENTIALS, SignInRefusalReason, SignInRefused
from taisai.server.auth.verification import SignInFailure, Verifier
from tests.server.auth import (
    test_approvals,
    test_attempts,
    test_authentication,
    test_authentication_concurrent,
    test_enrolment,
    test_passwords,
    test_second_person,
    test_secrets,
    test_session_ends,
    test_sessions,
)
from tests.server.auth.staffed_house import DAN, MAX

T = TypeVar("T")
Break = Callable[[pytest.MonkeyPatch], None]


class Sabotage(NamedTuple):
    """How something is broken, and the tests that must fail then."""

    breaks: Break
    seen_by: tuple[Callable[[], None], ...]


def _replayed(patch: pytest.MonkeyPatch) -> None:
    def forgetful(secret: credentials.OtpSecret, code: str, *, now: int, last: int) -> int | None:  # noqa: ARG001
        return credentials.accepted_step(secret, code, now=now, last=-1)

    patch.setattr(verification, "accepted_step", forgetful)


def _never_idles(patch: pytest.MonkeyPatch) -> None:
    def over(self: StaffSessions, session: Session, now: int) -> SignOutCause | None:
        return SignOutCause.EXPIRED if now - session.opened >= self.policy.absolute_ms else None

    patch.setattr(StaffSessions, "_expiry", over)


def _never_old(patch: pytest.MonkeyPatch) -> None:
    def over(self: StaffSessions, session: Session, now: int) -> SignOutCause | None:
        return SignOutCause.IDLE if now - session.seen >= self.policy.idle_ms else None

    patch.setattr(StaffSessions, "_expiry", over)


def _used_twice(patch: pytest.MonkeyPatch) -> None:
    used = Approvals.used

    def kept(self: Approvals, id_: str, digest: str, *, asker: str, now: int) -> str | None:
        before = dict(self._known)
        who = used(self, id_, digest, asker=asker, now=now)
        self._known = before
        return who

    patch.setattr(Approvals, "used", kept)


def _by_anybody(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Approval, "is_for", lambda _self, _person, _role: True)


def _without_a_code(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(authentication, "PROVED_FOR", 10**12)


def _for_anything(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(approvals, "compare_digest", lambda _kept, _given: True)


def _locks_late(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(at_house, "MOST_FAILURES", 4)


def _tells(patch: pytest.MonkeyPatch) -> None:
    failed = Verifier._failed

    async def telling(
        self: Verifier, known: Any, why: SignInFailure, *, address: str, now: int
    ) -> SignInRefused:
        await failed(self, known, why, address=address, now=now)
        return SignInRefused(SignInRefusalReason.WRONG, f"expected someone else's, got a wrong {why}")

    patch.setattr(Verifier, "_failed", telling)


def _quick_for_strangers(patch: pytest.MonkeyPatch) -> None:
    verified = Passwords.verified

    def quick(self: Passwords, hash_: str | None, password: str) -> bool:
        return hash_ is not None and verified(self, hash_, password)

    patch.setattr(Passwords, "verified", quick)


def _unnoted(patch: pytest.MonkeyPatch) -> None:
    async def silent(*_arguments: object, **_named: object) -> SignInRefused:
        return WRONG_CREDENTIALS

    patch.setattr(Verifier, "_failed", silent)


def _deaf(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Authentication, "heard", lambda _self, _events: None)


def _locks_out(patch: pytest.MonkeyPatch) -> None:
    heard = Authentication.heard

    def hasty(self: Authentication, events: Iterable[AnyEvent]) -> None:
        events = list(events)
        heard(self, events)
        for event in events:
            if isinstance(event, PersonLocked):
                self.revoke(event.person)

    patch.setattr(Authentication, "heard", hasty)


def _locks_anyone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(at_house, "counts", lambda _house, event: event.known)


def _forgets_ends(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sign_out_notes, "_is_unwritten", lambda _answer: False)


def _tokens_kept(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sessions, "digest_of_token", lambda token: token)
    patch.setattr(sessions, "digest_of_token", lambda token: token)


def _names_noted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Verifier, "_tag", lambda _self, name: name)
    patch.setattr(verification, "folded", lambda name: name)


def _passwords_logged(patch: pytest.MonkeyPatch) -> None:
    verified = Passwords.verified

    def chatty(self: Passwords, hash_: str | None, password: str) -> bool:
        structlog.get_logger().info("checking", password=password)
        return verified(self, hash_, password)

    patch.setattr(Passwords, "verified", chatty)


def _credentials_shown(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(credentials.Credentials, "__repr__", lambda self: f"<Credentials {self.hash}>")


def _side_by_side(patch: pytest.MonkeyPatch) -> None:
    class Blind(set[tuple[str, bool]]):
        def __contains__(self, _name: object) -> bool:
            return False

    init = Verifier.__init__

    def blind(self: Verifier, *arguments: Any, **named: Any) -> None:
        init(self, *arguments, **named)
        self._checking = Blind()

    patch.setattr(Verifier, "__init__", blind)


def _any_number(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(verification, "MOST_CHECKED", 1_000)


def _more_workers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(authentication, "WORKERS", 2 * verification.WORKERS)


def _passwords_lock(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(at_house, "counts", lambda house, event: event.person in house.credentials)


def _strangers_first(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(verification, "STRANGERS_AT_WORK", 100)


def _no_delays(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(GrowingDelays, "wait", lambda *_: 0)


def _lets_hang_up(patch: pytest.MonkeyPatch) -> None:
    async def directly(_self: Authentication, work: Coroutine[Any, Any, T]) -> T:
        return await work

    patch.setattr(Authentication, "_to_the_end", directly)


def _vault_alone(patch: pytest.MonkeyPatch) -> None:
    def known(_self: Verifier, name: str, engine: Any) -> Any:
        house = engine.house()
        person = house.names[name]
        return verification._Known(
            person, house.people[person], credentials.stored(engine.journal.store, person)
        )

    patch.setattr(Verifier, "_known", known)
    patch.setattr(
        credentials, "kept", lambda engine, person: credentials.stored(engine.journal.store, person)
    )


def _locked_ignored(patch: pytest.MonkeyPatch) -> None:
    take = Verifier._use_code

    def lenient(self: Verifier, known: Any, renewed: Any, engine: Any) -> SignInFailure | None:
        against = take(self, known, renewed, engine)
        return None if against is SignInFailure.LOCKED else against

    patch.setattr(Verifier, "_use_code", lenient)


def _admits_anywhere(patch: pytest.MonkeyPatch) -> None:
    init = Authentication.__init__

    def open_to_all(self: Authentication, *arguments: Any, **named: Any) -> None:
        init(self, *arguments, **named)
        self._generic = True

    patch.setattr(Authentication, "__init__", open_to_all)


SABOTAGES: Final[dict[str, Sabotage]] = {
    "a replayed code is taken": Sabotage(
        _replayed,
        (
            test_authentication.test_a_code_is_used_once,
            test_authentication.test_that_a_code_was_used_outlives_a_start,
            test_second_person.test_a_code_that_signed_in_does_not_approve,
        ),
    ),
    "a session never idles": Sabotage(
        _never_idles,
        (
            test_sessions.test_a_session_idles,
            test_sessions.test_to_be_asked_for_is_not_to_do_something,
            test_session_ends.test_an_idle_session_ends_and_the_journal_has_it,
        ),
    ),
    "a session never grows old": Sabotage(
        _never_old, (test_sessions.test_a_session_grows_old_however_busy_it_is,)
    ),
    "an approval is used twice": Sabotage(
        _used_twice,
        (
            test_approvals.test_an_approval_is_used_once,
            test_second_person.test_a_second_person_approves_and_is_named_by_the_staff_list,
        ),
    ),
    "anybody approves": Sabotage(
        _by_anybody,
        (
            lambda: test_approvals.test_nobody_approves_or_declines_their_own_request("Sue Lim"),
            lambda: test_approvals.test_a_role_without_the_right_sees_nothing_and_decides_nothing(
                Role.DEALER
            ),
            test_second_person.test_nobody_approves_their_own_request_and_their_code_is_not_used_up,
            test_second_person.test_a_dealer_approves_nothing,
        ),
    ),
    "an old session approves without a code": Sabotage(
        _without_a_code,
        (
            test_second_person.test_some_minutes_after_their_last_code_a_person_gives_another,
            test_second_person.test_a_wrong_code_approves_nothing_counts_and_locks,
        ),
    ),
    "a lock after four failures": Sabotage(
        _locks_late,
        (
            test_authentication.test_the_third_failure_locks,
            test_second_person.test_a_wrong_code_approves_nothing_counts_and_locks,
        ),
    ),
    "a stranger hears what was wrong": Sabotage(
        _tells, (test_authentication.test_an_unauthenticated_client_hears_the_same_whatever_was_wrong,)
    ),
    "a stranger waits less": Sabotage(
        _quick_for_strangers, (test_passwords.test_anyone_who_it_is_one_hash_of_the_same_cost_is_checked,)
    ),
    "failures are not noted": Sabotage(
        _unnoted,
        (
            test_authentication.test_the_journal_has_every_failure_and_what_was_wrong,
            test_authentication.test_the_third_failure_locks,
            test_authentication.test_whatever_was_wrong_the_same_work_is_done,
        ),
    ),
    "revocations are not heard": Sabotage(
        _deaf,
        (
            lambda: test_session_ends.test_a_revocation_ends_sessions_before_it_is_even_answered("revoked"),
            lambda: test_session_ends.test_a_revocation_ends_sessions_before_it_is_even_answered("dismissed"),
            test_session_ends.test_a_lock_keeps_nobody_from_being_revoked,
            lambda: test_second_person.test_anyone_who_is_revoked_takes_their_approval_with_them(MAX),
        ),
    ),
    "a lock ends what is open": Sabotage(
        _locks_out,
        (
            test_session_ends.test_anyone_who_is_locked_keeps_what_they_opened_themselves_and_opens_no_more,
            test_session_ends.test_what_they_approved_before_their_lock_still_counts,
        ),
    ),
    "who has no credentials is locked": Sabotage(
        _locks_anyone,
        (test_authentication.test_attempts_do_not_lock_a_person_without_credentials,),
    ),
    "an end that was not written is forgotten": Sabotage(
        _forgets_ends,
        (
            test_session_ends.test_one_end_that_cannot_be_noted_takes_no_other_with_it,
            test_session_ends.test_ends_that_could_not_be_written_are_written_later,
        ),
    ),
    "tokens are kept": Sabotage(
        _tokens_kept,
        (
            test_sessions.test_the_token_itself_is_kept_nowhere,
            test_secrets.test_authentication_remembers_no_password_and_no_token,
        ),
    ),
    "what was typed as a name is noted": Sabotage(
        _names_noted,
        (
            test_secrets.test_nothing_secret_is_in_the_journal,
            test_secrets.test_nothing_secret_is_logged_or_shown,
        ),
    ),
    "passwords are logged": Sabotage(
        _passwords_logged, (test_secrets.test_nothing_secret_is_logged_or_shown,)
    ),
    "credentials show themselves": Sabotage(
        _credentials_shown, (test_secrets.test_nothing_secret_is_logged_or_shown,)
    ),
    "guesses run side by side": Sabotage(
        _side_by_side, (test_authentication_concurrent.test_guesses_at_one_name_do_not_run_side_by_side,)
    ),
    "any number is checked at once": Sabotage(
        _any_number, (test_authentication_concurrent.test_one_more_than_can_be_checked_is_shown,)
    ),
    "a wrong password locks": Sabotage(
        _passwords_lock,
        (
            test_authentication.test_a_wrong_password_locks_nobody_whatever_the_code,
            test_attempts.test_a_stranger_locks_no_supervisor,
        ),
    ),
    "strangers take every worker": Sabotage(
        _strangers_first,
        (
            test_authentication_concurrent.test_strangers_from_many_addresses_keep_nobody_waiting_at_a_known_one,
        ),
    ),
    "nobody waits longer and longer": Sabotage(
        _no_delays, (test_attempts.test_whoever_guesses_one_name_waits_longer_and_longer,)
    ),
    "more hashes at once": Sabotage(
        _more_workers, (test_authentication_concurrent.test_so_many_hashes_are_made_at_once_and_no_more,)
    ),
    "whoever hangs up has not failed": Sabotage(
        _lets_hang_up, (test_authentication_concurrent.test_anyone_who_hangs_up_has_still_failed,)
    ),
    "the vault alone says who has credentials": Sabotage(
        _vault_alone,
        (
            test_session_ends.test_anyone_who_left_and_is_back_has_no_credentials,
            test_enrolment.test_credentials_that_were_replaced_in_the_file_count_for_nothing,
            test_enrolment.test_older_credentials_put_back_into_the_file_count_for_nothing,
        ),
    ),
    "whoever names himself is admitted": Sabotage(
        _admits_anywhere,
        (lambda: test_authentication.test_nobody_is_admitted_without_proof_outside_a_demonstration(DAN),),
    ),
    "whoever is locked still agrees": Sabotage(
        _locked_ignored,
        (
            test_second_person.test_a_wrong_code_approves_nothing_counts_and_locks,
            test_session_ends.test_a_locked_person_renews_nothing,
        ),
    ),
}
CASES: Final = [
    pytest.param(one.breaks, check, id=f"{name} ({place})")
    for name, one in SABOTAGES.items()
    for place, check in enumerate(one.seen_by, 1)
]


@pytest.mark.parametrize(("breaks", "check"), CASES)
def test_sabotage_is_seen(breaks: Break, check: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    breaks(monkeypatch)
    with pytest.raises(AssertionError):
        check()


def test_sabotage_an_approval_for_anything_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    _for_anything(monkeypatch)
    with pytest.raises(AssertionError):
        test_approvals.test_for_anything_else_it_is_nobodys_and_spent(test_approvals.OTHER, 0)

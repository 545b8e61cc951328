"""Authentication of staff: signing in and out, approvals, credentials, and the end of sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import structlog

from taisai.cage import messages
from taisai.cage.messages import SignOutCause
from taisai.game.refusals import Reason, Refusal
from taisai.game.vocabulary import FLOOR, is_name
from taisai.journal import Answer, Engine, JournalError
from taisai.journal.codec import HOUSE_STREAM, AnyEvent
from taisai.server.auth import credentials as vault
from taisai.server.auth.approvals import Approval, Approvals
from taisai.server.auth.attempts import KnownNetworks
from taisai.server.auth.credentials import Passwords
from taisai.server.auth.enrolment import Enrolment, NewSetup
from taisai.server.auth.passkeys import Challenges, PasskeyOrigin
from taisai.server.auth.permissions import RateLimit, RateLimiter, network_of, role_of
from taisai.server.auth.sessions import NewSession, Session, StaffSessions
from taisai.server.auth.sign_in_refusals import (
    BUSY,
    CODE_NEEDED,
    LOCKED,
    UNRECORDED,
    WRONG_CREDENTIALS,
    SignInRefusalReason,
    SignInRefused,
)
from taisai.server.auth.verification import NO_ADDRESS, WORKERS, QueueLike, VerifiedPerson, Verifier
from taisai.server.runtime.environment import Entropy

PROVED_FOR: Final = 5 * 60_000  # ms after a proof in which the person of a session approves without another
SIGN_INS: Final = RateLimit(burst=10, every=6_000)  # from one address: a whole desk at the start of a shift
T = TypeVar("T")
_UNWRITTEN: Final = frozenset({Reason.JOURNAL_UNWRITABLE, Reason.JOURNAL_IN_DOUBT, Reason.TOO_MANY})
_log = structlog.get_logger(__name__)


class _Ended(NamedTuple):
    session: str
    person: str
    why: SignOutCause


class PasskeyProof(NamedTuple):
    """The answer of a passkey to a challenge, and the page where it was given."""

    assertion: dict[str, Any]
    challenge: str
    at: PasskeyOrigin


class Authentication:
    """Signs staff in and out. It runs in the event loop; its own threads compute the hashes."""

    def __init__(
        self,
        queue: QueueLike,
        *,
        entropy: Entropy,
        issuer: str,
        passwords: Passwords | None = None,
        sessions: StaffSessions | None = None,
        rates: RateLimiter | None = None,
        executor: Executor | None = None,
        generic: bool = False,
    ) -> None:
        """`issuer`: the name of the House in authenticators. `generic`: a demonstration without passwords."""
        self.sessions = StaffSessions(entropy) if sessions is None else sessions
        self.approvals = Approvals(entropy)
        self.sessions.on_end(self._ended)
        self._queue = queue
        self._entropy = entropy
        self._generic = generic
        self._executor = executor or ThreadPoolExecutor(WORKERS, thread_name_prefix="passwords")
        self._passwords = Passwords(entropy) if passwords is None else passwords
        self.known = KnownNetworks()
        """The networks of people and devices that proved who they are."""
        self._verifier = Verifier(
            queue, passwords=self._passwords, rates=RateLimiter(SIGN_INS) if rates is None else rates,
            entropy=entropy, executor=self._executor, known=self.known, generic=generic,
        )  # fmt: skip
        self.enrolment = Enrolment(
            queue, self._verifier, passwords=self._passwords, entropy=entropy, issuer=issuer, generic=generic
        )
        self.challenges = Challenges(entropy)
        self._noted: set[str] = set()
        """Sessions whose sign-in is in the journal."""
        self._to_note: list[_Ended] = []
        """Ended sessions whose sign-out is not in the journal yet."""
        self._gone: set[str] = set()
        """People whose credentials ended, and may still be stored."""
        self._tasks: set[asyncio.Task[Any]] = set()

    # Signing in and out

    async def sign_in(
        self, person: str, password: str, code: str, *, address: str, now: int
    ) -> NewSession | SignInRefused:
        """Opens a session for a person with the right password and code, once the journal has the sign-in."""

        async def work() -> NewSession | SignInRefused:
            proved = await self._verifier.proved(person, password, code, address=address, now=now)
            if isinstance(proved, SignInRefused):
                return proved
            by = "password and code"
            return await self._open_session(proved.person, proved.rank, address=address, now=now, by=by)

        return await self._to_the_end(work())

    async def admitted(self, person: str, *, address: str, now: int) -> NewSession | SignInRefused:
        """Opens a session without a password, only in a demonstration."""
        if not self._generic:
            return WRONG_CREDENTIALS
        rank = await self._queue.run(partial(_rank_of, person))
        if rank is None:
            return WRONG_CREDENTIALS
        return await self._to_the_end(self._open_session(person, rank, address=address, now=now))

    async def _open_session(
        self, person: str, rank: str, *, address: str, now: int, by: str = "nothing"
    ) -> NewSession | SignInRefused:
        opened = self.sessions.opened(person, rank, now)
        if opened is None:
            return BUSY
        # The session opens before the journal has the sign-in, so that a revocation in between finds it. The
        # client does not have its token yet.
        session = opened.session
        noted = address if is_name(address) else NO_ADDRESS
        note = messages.NoteSignIn(at=now, by=FLOOR, person=session.person, session=session.id, address=noted)
        answer = await self._queue.execute(HOUSE_STREAM, note)
        if isinstance(answer, Refusal):
            self.sessions.end(session.id, SignOutCause.REVOKED)
            return UNRECORDED if answer.reason in _UNWRITTEN else WRONG_CREDENTIALS
        self._noted.add(session.id)
        if await self._queue.run(partial(_rank_of, session.person)) != session.rank:
            self.sessions.end(session.id, SignOutCause.REVOKED)
        if self.sessions.get(session.id) is None:
            self._queue_end(session, SignOutCause.REVOKED)
            await self._note_ends(now)
            return WRONG_CREDENTIALS
        self.known.add(network_of(address), now)
        _log.info("signed in", person=session.person, session=session.id, address=address, by=by)
        return opened

    async def sign_out(self, session: str, *, now: int) -> None:
        """Ends a session at once, even if the journal cannot be written now."""
        self.sessions.end(session, SignOutCause.SIGNED_OUT)
        await self._note_ends(now)

    # Approving

    async def approve(
        self, id_: str, *, session: Session, code: str | None = None, passkey: PasskeyProof | None = None,
        address: str, now: int,
    ) -> Approval | SignInRefused:  # fmt: skip
        """Approves a waiting request as the person of a session, on their own screen.

        Needs another code, or their passkey, some minutes after the last: a console may have been left open.
        """
        person, role = session.person, role_of(session.rank)
        if problem := self.approvals.problem(id_, person=person, role=role, now=now):
            return SignInRefused(SignInRefusalReason.NOT_SECOND, problem)
        if refused := await self._not_present(session, code, passkey, address=address, now=now):
            return refused
        if self.sessions.get(session.id) is None:  # it ended while the code was checked
            return SignInRefused(SignInRefusalReason.NOT_SECOND, "the session has ended")
        approved = self.approvals.approved(id_, person=person, role=role, now=now)
        if isinstance(approved, str):
            return SignInRefused(SignInRefusalReason.NOT_SECOND, approved)
        return approved

    async def _not_present(
        self, session: Session, code: str | None, passkey: PasskeyProof | None, *, address: str, now: int
    ) -> SignInRefused | None:
        """Why it is not sure that the person of a session is there and may approve."""
        if not self._generic and now - session.proved >= PROVED_FOR:
            if passkey is not None:
                proved = await self.verify_passkey(
                    session.person, passkey.assertion, passkey.challenge, at=passkey.at, address=address,
                    now=now,
                )  # fmt: skip
            elif code is not None:
                proving = self._verifier.proved(session.person, None, code, address=address, now=now)
                proved = await self._to_the_end(proving)
            else:
                return CODE_NEEDED
            if isinstance(proved, SignInRefused):
                return proved
            self.sessions.prove(session.id, now)
            return None
        try:
            is_locked = await self._queue.run(lambda engine: session.person in engine.house().locked)
        except JournalError:
            return UNRECORDED
        return LOCKED if is_locked else None

    # Credentials

    async def begin_setup(
        self, person: str, code: str, *, at: PasskeyOrigin | None = None, address: str, now: int
    ) -> NewSetup | SignInRefused:
        """A first sign-in, with an activation code."""
        return await self._to_the_end(self.enrolment.begin(person, code, at=at, address=address, now=now))

    async def begin_setup_again(
        self, session: Session, password: str, code: str, *,
        at: PasskeyOrigin | None = None, address: str, now: int,
    ) -> NewSetup | SignInRefused:  # fmt: skip
        """A person is about to change their own credentials; needs the old ones, not only a session."""
        proving = self._verifier.proved(session.person, password, code, address=address, now=now)
        proved = await self._to_the_end(proving)
        if isinstance(proved, SignInRefused):
            return proved
        return await self.enrolment.begin_again(proved, at=at, now=now)

    async def begin_setup_by_passkey(
        self, session: Session, assertion: dict[str, Any], challenge: str, *,
        at: PasskeyOrigin, address: str, now: int,
    ) -> NewSetup | SignInRefused:  # fmt: skip
        """The same, by a passkey instead of password and code."""
        proved = await self.verify_passkey(
            session.person, assertion, challenge, at=at, address=address, now=now
        )
        if isinstance(proved, SignInRefused):
            return proved
        return await self.enrolment.begin_again(proved, at=at, now=now)

    async def finish_setup(
        self, token: str, *, password: str | None = None, code: str | None = None,
        passkey: dict[str, Any] | None = None, now: int,
    ) -> str | Refusal | SignInRefused:  # fmt: skip
        """Sets a person's own credentials, and ends their sessions."""
        finishing = self.enrolment.finish(token, password=password, code=code, passkey=passkey, now=now)
        done = await self._to_the_end(finishing)
        if isinstance(done, str):
            self.revoke(done)  # again: until now the old password could open a session
            await self._note_ends(now)
        return done

    async def verify_passkey(
        self, person: str, assertion: dict[str, Any], challenge: str, *,
        at: PasskeyOrigin, address: str, now: int,
    ) -> VerifiedPerson | SignInRefused:  # fmt: skip
        """The person, if their passkey signed a challenge of `challenges`; the challenge is used up."""
        open_ = self.challenges.used(challenge, now)
        proving = self._verifier.proved_by_passkey(person, assertion, open_, at=at, address=address, now=now)
        return await self._to_the_end(proving)

    async def sign_in_by_passkey(
        self, person: str, assertion: dict[str, Any], challenge: str, *,
        at: PasskeyOrigin, address: str, now: int,
    ) -> NewSession | SignInRefused:  # fmt: skip
        """Opens a session for a person whose passkey signed the challenge."""
        proved = await self.verify_passkey(person, assertion, challenge, at=at, address=address, now=now)
        if isinstance(proved, SignInRefused):
            return proved
        opening = self._open_session(proved.person, proved.rank, address=address, now=now, by="passkey")
        return await self._to_the_end(opening)

    # Events and time

    def heard(self, events: Iterable[AnyEvent]) -> None:
        """Ends the sessions that published events revoke.

        A lock ends no session: anyone can fail to sign in under another person's name.
        """
        for event in events:
            match event:
                case messages.SessionsRevoked() | messages.CredentialsCommitted():
                    self.revoke(event.person)
                case messages.PersonDismissed() | messages.ActivationIssued():
                    self._gone.add(event.person)
                    self.revoke(event.person)
                case messages.PersonEnrolled():
                    if any(session.rank != event.rank for session in self.sessions.of_person(event.person)):
                        self.revoke(event.person)
                case _:
                    pass

    def revoke(self, person: str) -> None:
        """Ends every session of a person and withdraws their approvals."""
        self.sessions.end_all(person, SignOutCause.REVOKED)
        self.approvals.withdrawn(person=person)

    async def tick(self, now: int) -> None:
        """Ends expired sessions, writes ends to the journal, and deletes credentials of dismissed people."""
        self.sessions.due(now)
        self.approvals.due(now)
        await self._note_ends(now)
        if self._gone:
            gone, self._gone = self._gone, set()
            try:
                await self._queue.run(partial(_delete, gone))
            except JournalError:
                self._gone |= gone

    async def begin(self, now: int) -> None:
        """After a start: ends the sessions of before and deletes credentials of dismissed people.

        Credentials that were set before there were commitments are committed to as they are, once.
        """
        open_, gone, before = await self._queue.run(_left_over)
        if before:
            adopting = messages.AdoptCredentials(at=now, by=FLOOR, commitments=before)
            answer = await self._queue.execute(HOUSE_STREAM, adopting)
            if isinstance(answer, Refusal):
                raise JournalError(f"the House refused to adopt credentials: {answer}")
        self._to_note += [_Ended(session, person, SignOutCause.STOPPED) for session, person in open_.items()]
        await self._note_ends(now)
        if gone:
            await self._queue.run(partial(_delete, gone))

    async def finish(self, now: int) -> None:
        """Before a stop: answers pending sign-ins and ends every session."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.sessions.end_all(why=SignOutCause.STOPPED)
        await self._note_ends(now)
        self._executor.shutdown()

    def _ended(self, session: Session, why: SignOutCause) -> None:
        self.approvals.withdrawn(session=session.id)
        self._queue_end(session, why)

    def _queue_end(self, session: Session, why: SignOutCause) -> None:
        if session.id in self._noted:
            self._noted.remove(session.id)
            self._to_note.append(_Ended(session.id, session.person, why))

    async def _note_ends(self, now: int) -> None:
        ended, self._to_note = self._to_note, []
        notes = [
            messages.NoteSignOut(at=now, by=FLOOR, person=end.person, session=end.session, why=end.why)
            for end in ended
        ]
        later = ended  # if this is interrupted, all are noted again: a second note changes nothing
        try:
            answers = await asyncio.gather(
                *(self._queue.execute(HOUSE_STREAM, note) for note in notes), return_exceptions=True
            )
            later = [end for end, answer in zip(ended, answers, strict=True) if _is_unwritten(answer)]
        finally:
            self._to_note[:0] = later

    async def _to_the_end(self, work: Coroutine[Any, Any, T]) -> T:
        """Finishes a check even if the client disconnects, so that a failure is recorded."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)


def _is_unwritten(answer: Answer | BaseException) -> bool:
    """Whether the note may be missing in the journal. Any other refusal means that it is there already."""
    return isinstance(answer, BaseException) or (isinstance(answer, Refusal) and answer.reason in _UNWRITTEN)


# In the writer's thread


def _rank_of(person: str, engine: Engine) -> str | None:
    return engine.house().people.get(person)


def _delete(people: Iterable[str], engine: Engine) -> None:
    """Deletes the credentials of people, except those who were enrolled again with new ones."""
    for person in people:
        if person not in engine.house().credentials:
            vault.forget(engine.journal.store, person)


def _left_over(engine: Engine) -> tuple[dict[str, str], set[str], dict[str, str]]:
    """What was left by the last stop.

    Sessions, people with stored credentials that the House does not know, and commitments that are missing.
    """
    house = engine.house()
    gone = vault.holders(engine.journal.store) - house.credentials
    return dict(house.sessions), gone, _without_commitment(engine)


def _without_commitment(engine: Engine) -> dict[str, str]:
    """The commitments to credentials of a house that has none yet."""
    house, store = engine.house(), engine.journal.store
    if house.guarded:
        return {}
    found = {person: vault.stored(store, person) for person in sorted(house.credentials)}
    return {
        person: vault.commitment(engine.journal, person, credentials)
        for person, credentials in found.items()
        if credentials is not None
    }

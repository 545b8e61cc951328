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
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import FLOOR, is_name
from taisai.journal import Engine, JournalError
from taisai.journal.codec import HOUSE_STREAM, AnyEvent
from taisai.server.auth import credentials as vault
from taisai.server.auth.approvals import NOT_ASKED, Approval, Approvals, Approved
from taisai.server.auth.attempts import NETWORKS, KnownNetworks
from taisai.server.auth.credentials import Passwords
from taisai.server.auth.enrolment import Enrolment, NewSetup
from taisai.server.auth.passkeys import Challenges, PasskeyOrigin
from taisai.server.auth.permissions import RateLimit, RateLimiter, role_of
from taisai.server.auth.sessions import NewSession, Session, StaffSessions
from taisai.server.auth.sign_in_refusals import (
    BUSY,
    CODE_NEEDED,
    LOCKED,
    NO_SUCH_SESSION,
    SESSION_ENDED,
    STOPPING,
    UNRECORDED,
    WRONG_CREDENTIALS,
    SignInRefusalReason,
    SignInRefused,
)
from taisai.server.auth.sign_out_notes import UNWRITTEN, SignOutNotes
from taisai.server.auth.verification import NO_ADDRESS, WORKERS, QueueLike, VerifiedPerson, Verifier
from taisai.server.runtime.environment import Entropy

PROVED_FOR: Final = 5 * 60_000  # ms after a proof in which the person of a session approves without another
SIGN_INS: Final = RateLimit(burst=10, every=6_000)  # from one address: a whole desk at the start of a shift
T = TypeVar("T")
_log = structlog.get_logger(__name__)


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
        self._notes = SignOutNotes(queue)
        self._gone: set[str] = set()
        """People whose credentials ended, and may still be stored."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._stops = False
        """Whether the server stops, so that no session begins any more."""

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
        if self._is_stopping():
            return STOPPING
        opened = self.sessions.opened(person, rank, now, address=address)
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
            return UNRECORDED if answer.reason in UNWRITTEN else WRONG_CREDENTIALS
        self._notes.signed_in(session)
        if await self._queue.run(partial(_rank_of, session.person)) != session.rank:
            self.sessions.end(session.id, SignOutCause.REVOKED)
        if self.sessions.get(session.id) is None:
            self._notes.ended(session, SignOutCause.STOPPED if self._is_stopping() else SignOutCause.REVOKED)
            await self._notes.write(now)
            return STOPPING if self._is_stopping() else WRONG_CREDENTIALS
        self.known.add_desk(address, now, by=session.person)
        _log.info("signed in", person=session.person, session=session.id, address=address, by=by)
        return opened

    def _is_stopping(self) -> bool:
        return self._stops

    async def sign_out(self, session: str, *, now: int) -> None:
        """Ends a session at once, even if the journal cannot be written now."""
        self.sessions.end(session, SignOutCause.SIGNED_OUT)
        await self._notes.write(now)

    async def end_own(
        self, id_: str | None, *, session: Session, code: str | None = None,
        passkey: PasskeyProof | None = None, address: str, now: int,
    ) -> str | SignInRefused:  # fmt: skip
        """Ends a session of a person at their own wish; without an id all of them except this one.

        They prove who they are with one factor. Returns the new token of this session.
        """
        own = {one.id for one in self.sessions.of_person(session.person)}
        if id_ is not None and id_ not in own:
            return NO_SUCH_SESSION
        token = await self._proved_again(session, code, passkey, address=address, now=now)
        if isinstance(token, SignInRefused):
            return token
        for ending in own - {session.id} if id_ is None else {id_}:
            self.sessions.end(ending, SignOutCause.SIGNED_OUT)
        await self._notes.write(now)
        return token

    # Approving

    async def approve(
        self, id_: str, *, session: Session, code: str | None = None, passkey: PasskeyProof | None = None,
        address: str, now: int,
    ) -> Approved | SignInRefused:  # fmt: skip
        """Approves a waiting request as the person of a session, on their own screen.

        Needs another code, or their passkey, some minutes after the last: a console may have been left open.
        A person who proves again who they are gets a new token.
        """
        person, role = session.person, role_of(session.rank)
        if problem := self.approvals.problem(id_, person=person, role=role, now=now):
            return SignInRefused(SignInRefusalReason.NOT_SECOND, problem)
        token = await self._present(session, code, passkey, address=address, now=now)
        if isinstance(token, SignInRefused):
            return token
        if self.sessions.get(session.id) is None:  # it ended while the code was checked
            return SESSION_ENDED
        approved = self.approvals.approved(id_, person=person, role=role, now=now)
        if isinstance(approved, str):
            return SignInRefused(SignInRefusalReason.NOT_SECOND, approved)
        return Approved(approved, token)

    async def approve_here(
        self, id_: str, *, asker: Session, person: str, passkey: PasskeyProof, address: str, now: int
    ) -> Approval | SignInRefused:
        """Approves a request as a second person at the page of the first, by a passkey that signs for it."""
        if self.approvals.of_session(id_, asker=asker.id) is None:
            return SignInRefused(SignInRefusalReason.NOT_SECOND, NOT_ASKED)
        proved = await self.verify_passkey(
            person, passkey.assertion, passkey.challenge, at=passkey.at, purpose=id_, address=address, now=now
        )
        if isinstance(proved, SignInRefused):
            return proved
        approved = self.approvals.approved(id_, person=proved.person, role=role_of(proved.rank), now=now)
        if isinstance(approved, str):
            return SignInRefused(SignInRefusalReason.NOT_SECOND, approved)
        _log.info("approved at the first person's page", by=proved.person, asked_by=asker.person)
        return approved

    async def _proved_again(
        self, session: Session, code: str | None, passkey: PasskeyProof | None, *, address: str, now: int
    ) -> str | SignInRefused:
        """The new token of a session whose person has just given another code, or used their passkey."""
        if passkey is not None:
            proved = await self.verify_passkey(
                session.person, passkey.assertion, passkey.challenge, at=passkey.at, address=address, now=now
            )
        elif code is not None:
            proving = self._verifier.proved(session.person, None, code, address=address, now=now)
            proved = await self._to_the_end(proving)
        else:
            return CODE_NEEDED
        if isinstance(proved, SignInRefused):
            return proved
        return self.sessions.prove(session.id, now) or SESSION_ENDED

    async def _present(
        self, session: Session, code: str | None, passkey: PasskeyProof | None, *, address: str, now: int
    ) -> str | SignInRefused | None:
        """A new token if the person proved who they are; a refusal if it is not sure that they are there."""
        if not self._generic and now - session.proved >= PROVED_FOR:
            return await self._proved_again(session, code, passkey, address=address, now=now)
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
        return await self.enrolment.begin_again(proved, at=at, now=now, typed_password=True)

    async def begin_setup_by_passkey(
        self, session: Session, assertion: dict[str, Any], challenge: str, *,
        at: PasskeyOrigin, address: str, now: int, password: str | None = None,
    ) -> NewSetup | SignInRefused:  # fmt: skip
        """The same, by a passkey instead of password and code; a new password needs the old one too."""
        proved = await self.verify_passkey(
            session.person, assertion, challenge, at=at, address=address, now=now, password=password
        )
        if isinstance(proved, SignInRefused):
            return proved
        typed = password is not None
        return await self.enrolment.begin_again(proved, at=at, now=now, typed_password=typed)

    async def finish_setup(
        self, token: str, *, password: str | None = None, code: str | None = None,
        passkey: dict[str, Any] | None = None, now: int,
    ) -> str | Refusal | SignInRefused:  # fmt: skip
        """Sets a person's own credentials, and ends their sessions."""
        finishing = self.enrolment.finish(token, password=password, code=code, passkey=passkey, now=now)
        done = await self._to_the_end(finishing)
        if isinstance(done, str):
            self.revoke(done)  # again: until now the old password could open a session
            await self._notes.write(now)
        return done

    async def verify_passkey(
        self, person: str, assertion: dict[str, Any], challenge: str, *,
        at: PasskeyOrigin, purpose: str = "", address: str, now: int, password: str | None = None,
    ) -> VerifiedPerson | SignInRefused:  # fmt: skip
        """The person, if their passkey signed a challenge for this purpose; the challenge is used up."""
        use = partial(self.challenges.used, challenge, now, purpose)
        proving = self._verifier.proved_by_passkey(
            person, assertion, use, at=at, address=address, now=now, password=password
        )
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
        await self._notes.write(now)
        if self._gone:
            gone, self._gone = self._gone, set()
            try:
                await self._queue.run(partial(vault.delete_unknown, gone))
            except JournalError:
                self._gone |= gone

    async def begin(self, now: int) -> None:
        """After a start: ends the sessions of before and deletes credentials of dismissed people.

        Credentials that were set before there were commitments are committed to as they are, once.
        """
        open_, gone, before, networks = await self._queue.run(vault.left_over)
        self.known.restore(networks, now)
        if before:
            adopting = messages.AdoptCredentials(at=now, by=FLOOR, commitments=before)
            answer = await self._queue.execute(HOUSE_STREAM, adopting)
            if isinstance(answer, Refusal):
                raise JournalError(f"the House refused to adopt credentials: {answer}")
        self._notes.left_open(open_)
        await self._notes.write(now)
        if gone:
            await self._queue.run(partial(vault.delete_unknown, gone))

    async def finish(self, now: int) -> None:
        """Before a stop: answers pending sign-ins and ends every session."""
        self._stops = True
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.sessions.end_all(why=SignOutCause.STOPPED)
        await self._notes.write(now)
        self._executor.shutdown()

    def keep_networks(self, stored: bytes | None, engine: Engine) -> None:
        """Stores known networks in the vault, where nobody without the house's key can add one."""
        if stored is not None:
            try:
                engine.journal.store.keep_secret(NETWORKS, stored)
            except JournalError:
                self.known.not_stored()  # the next time it may do

    def _ended(self, session: Session, why: SignOutCause) -> None:
        self.approvals.withdrawn(session=session.id)
        self._notes.ended(session, why)

    async def _to_the_end(self, work: Coroutine[Any, Any, T]) -> T:
        """Finishes a check even if the client disconnects, so that a failure is recorded."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)


# In the writer's thread


def _rank_of(person: str, engine: Engine) -> str | None:
    return engine.house().people.get(person)

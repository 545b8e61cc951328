"""The door: people sign in and out, agree to what another does, and lose their sessions when they must."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import structlog

from taisai.cage.messages import (
    CredentialsSet,
    NoteSignIn,
    NoteSignOut,
    PersonDismissed,
    PersonEnrolled,
    SessionsRevoked,
    SetCredentials,
    SignOutCause,
)
from taisai.game.refusals import Reason, Refusal
from taisai.game.vocabulary import FLOOR, folded, is_name
from taisai.journal import Answer, Engine, JournalError
from taisai.journal.codec import HOUSE, AnyEvent
from taisai.server.auth import credentials as vault
from taisai.server.auth.credentials import Passwords, weakness
from taisai.server.auth.permissions import is_generic
from taisai.server.auth.rate_limits import RateLimit, RateLimiter
from taisai.server.auth.sessions import Approvals, NewApproval, NewSession, Session, StaffSessions
from taisai.server.auth.verification import (
    BUSY,
    NOWHERE,
    UNRECORDED,
    WRONG_CREDENTIALS,
    QueueLike,
    SignInRefusalReason,
    SignInRefused,
    Verifier,
)
from taisai.server.runtime.environment import Entropy

WORKERS: Final = 2  # passwords checked at once: each takes 64 MiB and some 180 ms of a processor
SIGN_INS: Final = RateLimit(burst=10, every=6_000)  # from one address: a whole desk at the start of a shift
T = TypeVar("T")
_UNWRITTEN: Final = frozenset({Reason.JOURNAL_UNWRITABLE, Reason.JOURNAL_IN_DOUBT, Reason.TOO_MANY})
_log = structlog.get_logger(__name__)


class NewFactor(NamedTuple):
    """Credentials were set; the address goes into the person's authenticator, and is told once."""

    uri: str

    def __repr__(self) -> str:
        return "<NewFactor>"


class _Ended(NamedTuple):
    session: str
    person: str
    why: SignOutCause


class Authentication:
    """Everyone comes in here. It belongs to the loop; hashes are made in threads of its own."""

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
        """`issuer` is what an authenticator calls the House; `generic` is for a demonstration only."""
        self.sessions = StaffSessions(entropy) if sessions is None else sessions
        self.approvals = Approvals(entropy)
        self.sessions.on_end(self._ended)
        self._queue = queue
        self._entropy = entropy
        self._issuer = issuer
        self._generic = generic
        self._executor = executor or ThreadPoolExecutor(WORKERS, thread_name_prefix="passwords")
        self._passwords = Passwords(entropy) if passwords is None else passwords
        self._proving = Verifier(
            queue,
            passwords=self._passwords,
            rates=RateLimiter(SIGN_INS) if rates is None else rates,
            entropy=entropy,
            executor=self._executor,
            generic=generic,
        )
        self._noted: set[str] = set()
        """Sessions that the journal has as open."""
        self._to_note: list[_Ended] = []
        """Sessions that are over, and of which the journal does not know yet."""
        self._gone: set[str] = set()
        """People who left, and of whom the vault may still have something."""
        self._tasks: set[asyncio.Task[Any]] = set()

    # Coming and going

    async def sign_in(
        self, person: str, password: str, code: str, *, address: str, now: int
    ) -> NewSession | SignInRefused:
        """A session for whoever proves who he is, once the journal has it."""
        return await self._to_the_end(self._sign_in(person, password, code, address=address, now=now))

    async def _sign_in(
        self, person: str, password: str, code: str, *, address: str, now: int
    ) -> NewSession | SignInRefused:
        proved = await self._proving.proved(person, password, code, address=address, now=now)
        if isinstance(proved, SignInRefused):
            return proved
        return await self._let_in(proved.person, proved.rank, address=address, now=now)

    async def admitted(self, person: str, *, address: str, now: int) -> NewSession | SignInRefused:
        """A session without any proof, in a demonstration alone."""
        if not self._generic:
            return WRONG_CREDENTIALS
        rank = await self._queue.run(partial(_rank_of, person))
        if rank is None:
            return WRONG_CREDENTIALS
        return await self._to_the_end(self._let_in(person, rank, address=address, now=now))

    async def _let_in(self, person: str, rank: str, *, address: str, now: int) -> NewSession | SignInRefused:
        opened = self.sessions.opened(person, rank, now)
        if opened is None:
            return BUSY
        # It is open before the journal has it, so that a revocation in between finds it; nobody has its
        # token yet.
        session = opened.session
        answer = await self._queue.execute(
            HOUSE,
            NoteSignIn(
                at=now,
                by=FLOOR,
                person=session.person,
                session=session.id,
                address=address if is_name(address) else NOWHERE,
            ),
        )
        if isinstance(answer, Refusal):
            self.sessions.end(session.id, SignOutCause.REVOKED)
            return UNRECORDED if answer.reason in _UNWRITTEN else WRONG_CREDENTIALS
        self._noted.add(session.id)
        if await self._queue.run(partial(_rank_of, session.person)) != session.rank:
            self.sessions.end(session.id, SignOutCause.REVOKED)
        if self.sessions.get(session.id) is None:
            self._leave(session, SignOutCause.REVOKED)
            await self._note_ends(now)
            return WRONG_CREDENTIALS
        _log.info("signed in", person=session.person, session=session.id, address=address)
        return opened

    async def sign_out(self, session: str, *, now: int) -> None:
        """Ends a session, whether or not the journal can be told at once."""
        self.sessions.end(session, SignOutCause.SIGNED_OUT)
        await self._note_ends(now)

    async def approve(
        self,
        person: str,
        password: str,
        code: str,
        *,
        digest: str,
        asker: Session,
        address: str,
        now: int,
    ) -> NewApproval | SignInRefused:
        """A second person's agreement to what the digest stands for, in the asker's session alone."""
        if folded(person) == folded(asker.person):
            says = f"expected a second person besides {asker.person!r}, got the same"
            return SignInRefused(SignInRefusalReason.NOT_SECOND, says)
        proving = self._proving.proved(person, password, code, address=address, now=now)
        proved = await self._to_the_end(proving)
        if isinstance(proved, SignInRefused):
            return proved
        if self.sessions.get(asker.id) is None:
            return SignInRefused(
                SignInRefusalReason.NOT_SECOND, "expected an open session to approve for, got one that ended"
            )
        granted = self.approvals.granted(digest, asker=asker, approver=proved.person, now=now)
        return SignInRefused(SignInRefusalReason.NOT_SECOND, granted) if isinstance(granted, str) else granted

    # Credentials

    async def set_credentials(
        self, person: str, password: str, *, by: str, now: int, second: str | None = None
    ) -> NewFactor | Refusal | SignInRefused:
        """A new password and a new second factor, if the House lets `by` set them; sessions end."""
        if says := _unfit(person, password, generic=self._generic):
            return SignInRefused(SignInRefusalReason.UNFIT, says)
        making = partial(
            vault.made,
            person,
            password,
            passwords=self._passwords,
            entropy=self._entropy,
            issuer=self._issuer,
        )
        new = await self._proving.work(making)
        answer = await self._queue.execute(HOUSE, SetCredentials(at=now, by=by, person=person, second=second))
        if isinstance(answer, Refusal):
            return answer
        try:
            await self._queue.run(lambda engine: vault.keep(engine.journal.store, person, new.credentials))
        except JournalError:
            return UNRECORDED
        self.revoked(person)  # again: the old password may have let someone in until now
        await self._note_ends(now)
        return NewFactor(new.uri)

    async def renew_credentials(
        self, session: Session, password: str, code: str, new: str, *, address: str, now: int
    ) -> NewFactor | Refusal | SignInRefused:
        """The same by the person himself, who proves that it is he: a console left open is not enough."""
        proving = self._proving.proved(session.person, password, code, address=address, now=now)
        proved = await self._to_the_end(proving)
        if isinstance(proved, SignInRefused):
            return proved
        return await self.set_credentials(proved.person, new, by=proved.person, now=now)

    # What the journal says, and time

    def heard(self, events: Iterable[AnyEvent]) -> None:
        """Acts upon what has just been published; sessions that it ends are over before it returns.

        A lock ends none: they were opened by the person himself, and anybody can fail in his name.
        """
        for event in events:
            match event:
                case SessionsRevoked() | CredentialsSet():
                    self.revoked(event.person)
                case PersonDismissed():
                    self._gone.add(event.person)
                    self.revoked(event.person)
                case PersonEnrolled():
                    if any(one.rank != event.rank for one in self.sessions.of_person(event.person)):
                        self.revoked(event.person)
                case _:
                    pass

    def revoked(self, person: str) -> None:
        """Ends every session of a person at once, and takes back what he agreed to."""
        self.sessions.end_all(person, SignOutCause.REVOKED)
        self.approvals.withdrawn(person=person)

    async def tick(self, now: int) -> None:
        """Ends sessions whose time is up, and tells the journal and the vault what is over."""
        self.sessions.due(now)
        await self._note_ends(now)
        if self._gone:
            gone, self._gone = self._gone, set()
            try:
                await self._queue.run(partial(_delete, gone))
            except JournalError:
                self._gone |= gone

    async def begin(self, now: int) -> None:
        """After a start: sessions of before are over, and whoever left has no credentials."""
        open_, gone = await self._queue.run(_left_over)
        self._to_note += [_Ended(session, person, SignOutCause.STOPPED) for session, person in open_.items()]
        await self._note_ends(now)
        if gone:
            await self._queue.run(partial(_delete, gone))

    async def finish(self, now: int) -> None:
        """Before a stop: whoever is being checked hears his answer, and every session ends."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.sessions.end_all(why=SignOutCause.STOPPED)
        await self._note_ends(now)
        self._executor.shutdown()

    def _ended(self, session: Session, why: SignOutCause) -> None:
        self.approvals.withdrawn(session=session.id)
        self._leave(session, why)

    def _leave(self, session: Session, why: SignOutCause) -> None:
        if session.id in self._noted:
            self._noted.remove(session.id)
            self._to_note.append(_Ended(session.id, session.person, why))

    async def _note_ends(self, now: int) -> None:
        ended, self._to_note = self._to_note, []
        notes = [
            NoteSignOut(at=now, by=FLOOR, person=one.person, session=one.session, why=one.why)
            for one in ended
        ]
        later = ended  # also where this is cut short: what is noted twice counts once
        try:
            answers = await asyncio.gather(
                *(self._queue.execute(HOUSE, note) for note in notes), return_exceptions=True
            )
            later = [one for one, answer in zip(ended, answers, strict=True) if _is_unwritten(answer)]
        finally:
            self._to_note[:0] = later

    async def _to_the_end(self, work: Coroutine[Any, Any, T]) -> T:
        """Whoever hangs up while he is checked has still failed, and the journal has it."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)


def _is_unwritten(answer: Answer | BaseException) -> bool:
    """Whether the journal may lack it; any other refusal says that the House has it already."""
    return isinstance(answer, BaseException) or (isinstance(answer, Refusal) and answer.reason in _UNWRITTEN)


def _unfit(person: str, password: str, *, generic: bool) -> str | None:
    """Why someone cannot have credentials, or not with this password."""
    if is_generic(person) and not generic:
        return f"expected the name of a person, got {person!r}, that of a post or of nobody"
    return weakness(password, person)


# In the writer's thread


def _rank_of(person: str, engine: Engine) -> str | None:
    return engine.house().people.get(person)


def _delete(people: Iterable[str], engine: Engine) -> None:
    """Forgets their credentials, unless they are back and have new ones."""
    for person in people:
        if person not in engine.house().credentials:
            vault.keep(engine.journal.store, person, None)


def _left_over(engine: Engine) -> tuple[dict[str, str], set[str]]:
    """Sessions of before the start, and people of whom the vault has what it should not."""
    house = engine.house()
    return dict(house.sessions), set(vault.holders(engine.journal.store)) - house.credentials

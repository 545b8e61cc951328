"""Verification of people: by password and code, by passkey, or by activation code."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from contextlib import nullcontext, suppress
from enum import StrEnum
from functools import partial
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import structlog
from msgspec.structs import replace

from taisai.cage.credentials import ALTERED, WRONG_ACTIVATION, WRONG_PASSKEY, is_valid_at
from taisai.cage.messages import CommitCredentials, NoteFailure
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import FLOOR, folded, is_name
from taisai.journal import Answer, Engine, JournalError
from taisai.journal.codec import HOUSE_STREAM, AnyCommand
from taisai.listening.accepting import network_of
from taisai.server.auth import credentials as vault
from taisai.server.auth.attempts import FREE_OF_NETWORK, GrowingDelays, KnownNetworks
from taisai.server.auth.credentials import (
    Credentials,
    OtpSecret,
    Passwords,
    accepted_step,
    is_beside,
    new_secret,
)
from taisai.server.auth.passkeys import PasskeyOrigin, is_accepted
from taisai.server.auth.permissions import RateLimit, RateLimiter, is_generic
from taisai.server.auth.sign_in_refusals import (
    BUSY,
    LOCKED,
    UNRECORDED,
    WRONG_CODE,
    WRONG_CREDENTIALS,
    WRONG_SIGNATURE,
    SignInRefused,
    too_often,
)
from taisai.server.runtime.environment import Entropy

MOST_CHECKED: Final = 20  # at once, including waiting ones: the last waits about two seconds
MOST_STRANGERS: Final = 16
"""Of them, from networks that the House does not know. The others stay free for those that it knows."""
WORKERS: Final = 2  # passwords checked at once: each takes 64 MiB and some 180 ms of a processor
STRANGERS_AT_WORK: Final = WORKERS - 1  # a stranger never holds the last one
RECORDED: Final = RateLimit(burst=200, every=1_000)
"""Failures of strangers that the journal has: enough to see an attack, and no journal is filled by one."""
NO_ADDRESS: Final = "unknown"
T = TypeVar("T")
_log = structlog.get_logger(__name__)


class QueueLike(Protocol):
    """The part of the queue that authentication uses."""

    async def execute(self, stream: str, command: AnyCommand) -> Answer:
        """Decides a command and stores its events; returns the answer."""

    async def run(self, job: Callable[[Engine], T]) -> T:
        """Runs a function in the writer's thread, between commands."""


class SignInFailure(StrEnum):
    """Why a sign-in failed, for the journal only."""

    UNKNOWN = "unknown"
    """No person on the staff list has the name."""
    NO_CREDENTIALS = "no-credentials"
    PASSWORD = "password"  # noqa: S105  the word, not one
    CODE = "code"
    """The password is right; the code is wrong, or used before."""
    LATE = "late"
    """The password is right; the code is of the half minute before or after. It counts towards no lock."""
    ACTIVATION = WRONG_ACTIVATION
    """The code for a first sign-in begins right, and is wrong. After five of them it has ended."""
    GUESS = "guess"
    """No code, or one that does not even begin right. A stranger can send that, so it ends no code."""
    PASSKEY = WRONG_PASSKEY
    """No passkey of the person signed the challenge."""
    ALTERED = ALTERED
    """The stored credentials are not those that the person set."""
    LOCKED = "locked"
    """Name, password and code match, but the person is locked."""


_OF_STRANGERS: Final = frozenset(
    {
        SignInFailure.UNKNOWN, SignInFailure.NO_CREDENTIALS, SignInFailure.PASSWORD, SignInFailure.GUESS,
        SignInFailure.PASSKEY, SignInFailure.ALTERED,
    }
)  # fmt: skip
"""Failures that anyone can cause, and that change nothing for anybody."""


class VerifiedPerson(NamedTuple):
    """A person with the right password and code, as on the staff list."""

    person: str
    rank: str


class ActivatedPerson(NamedTuple):
    """A person who typed the code for their first sign-in."""

    person: str
    activation: str
    """The keyed hash of the code."""


class _Known(NamedTuple):
    """The person of a name, with stored credentials."""

    person: str
    rank: str | None
    credentials: Credentials | None
    is_altered: bool = False
    """Whether credentials are stored that are not the person's own."""


class Verifier:
    """Checks people, a few at a time, and each name once at a time, so that no guesses run in parallel."""

    def __init__(
        self,
        queue: QueueLike,
        *,
        passwords: Passwords,
        rates: RateLimiter,
        entropy: Entropy,
        executor: Executor,
        known: KnownNetworks,
        generic: bool = False,
    ) -> None:
        """`generic`: accepts names of posts, such as 'dealer'; only in a demonstration."""
        self._queue = queue
        self._passwords = passwords
        self._rates = rates
        self._executor = executor
        self._generic = generic
        self._dummy = OtpSecret(new_secret(entropy))
        self._tag_key = entropy(32)
        self._known_networks = known
        self._delays = GrowingDelays()
        """Of a name from a network."""
        self._network_delays = GrowingDelays(free=FREE_OF_NETWORK)
        """Of a network that the House does not know."""
        self._checking: set[tuple[str, bool]] = set()
        """The names that are checked now, each with whether it came from a known network: a stranger who
        tries a name must not make its owner wait."""
        self._at_work = asyncio.Semaphore(STRANGERS_AT_WORK)
        self._recorded = RateLimiter(RECORDED)

    async def proved(
        self, person: str, password: str | None, code: str, *, address: str, now: int
    ) -> VerifiedPerson | SignInRefused:
        """The person, or the refusal. Without a password their own open session stands for it.

        The third failure in a row with the right password and a wrong code locks the person.
        """
        name = folded(person) if is_name(person) else ""
        check = partial(self._checked, name, password, code, address=address, now=now)
        return await self._one_at_a_time(name, check, address=address, now=now)

    async def proved_by_passkey(
        self, person: str, assertion: dict[str, Any], use: Callable[[], bytes | None], *,
        at: PasskeyOrigin, address: str, now: int, password: str | None = None,
    ) -> VerifiedPerson | SignInRefused:  # fmt: skip
        """The person whose passkey signed the challenge; it takes the place of password and code.

        `use` uses the challenge up, and returns its bytes if it was open. A password that is given all the
        same has to be right.
        """
        name = folded(person) if is_name(person) else ""
        check = partial(
            self._passkey, name, assertion, use, at=at, address=address, now=now, password=password
        )
        return await self._one_at_a_time(name, check, address=address, now=now)

    async def activated(
        self, person: str, code: str, *, address: str, now: int
    ) -> ActivatedPerson | SignInRefused:
        """The person whose activation code this is. After five codes that begin right it has ended."""
        name = folded(person) if is_name(person) else ""
        check = partial(self._activation, name, code, address=address, now=now)
        return await self._one_at_a_time(name, check, address=address, now=now)

    async def _one_at_a_time(
        self, name: str, check: Callable[[], Awaitable[T | SignInRefused]], *, address: str, now: int
    ) -> T | SignInRefused:
        """Runs a check, unless too many run, or too many failed before.

        After a failure the next try of this name from this network waits longer and longer; the owner of the
        name, who is elsewhere or at a desk of their own, does not wait.
        """
        network = self._known_networks.counted_as(address, now)
        tried = f"{name}\n{network}"  # no name has a line break
        is_known = self._known_networks.has(network_of(address), now)
        wait = self._delays.wait(tried, now)
        if not is_known:
            wait = max(wait, self._network_delays.wait(network, now))
        if wait:
            return too_often(wait)
        if not self._rates.takes(network, now):
            return too_often(self._rates.wait(network, now))
        checked = (name, is_known)
        strangers = sum(not known for _, known in self._checking)
        if (
            checked in self._checking
            or len(self._checking) >= MOST_CHECKED
            or (not is_known and strangers >= MOST_STRANGERS)
        ):
            return BUSY
        self._checking.add(checked)
        try:
            proved = await check()
        except JournalError:
            proved = UNRECORDED
        finally:
            self._checking.discard(checked)
        for delays, key in ((self._delays, tried), (self._network_delays, network)):
            if isinstance(proved, SignInRefused):
                delays.failed(key, now)
            else:
                delays.succeeded(key)
        return proved

    async def work(self, job: Callable[[], T]) -> T:
        """Runs a slow function, such as a hash, in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, job)

    async def _checked(
        self, name: str, password: str | None, code: str, *, address: str, now: int
    ) -> VerifiedPerson | SignInRefused:
        is_known = self._known_networks.has(network_of(address), now)
        known = await self._queue.run(partial(self._known, name))
        stored = known.credentials
        # Every name takes the same steps, so that the time of the answer shows nothing.
        hash_, totp, last = (stored.hash, stored.totp, stored.last_step) if stored else (None, "", 0)
        is_right = password is None
        if password is not None:
            async with nullcontext() if is_known else self._at_work:
                is_right = await self.work(partial(self._passwords.verified, hash_, password))
        secret = OtpSecret.parse(totp) if totp else self._dummy
        step, is_late = accepted_step(secret, code, now=now, last=last), is_beside(secret, code, now=now)
        step = step if totp else None  # someone who has passkeys alone
        if known.rank is None or stored is None or not is_right or step is None:
            why = _failure(known, is_right=is_right, is_late=is_late and bool(totp))
            return await self._failed(known, why, address=address, now=now)
        renewed = replace(stored, last_step=step)
        failure = await self._queue.run(partial(self._use_code, known, renewed))
        if failure is not None:
            return await self._failed(known, failure, address=address, now=now)
        if password is not None and self._passwords.is_outdated(stored.hash):
            hash_ = await self.work(partial(self._passwords.hashed, password))
            await self.commit(known.person, replace(renewed, hash=hash_), now=now)
        return VerifiedPerson(known.person, known.rank)

    async def commit(
        self, person: str, new: Credentials, *, now: int, activation: str | None = None
    ) -> Refusal | None:
        """Stores credentials that a person set, once the journal has their commitment."""

        def prepare(engine: Engine) -> str:
            vault.keep(engine.journal.store, person, new, vault.NEXT)
            return vault.commitment(engine.journal, person, new)

        def finish(engine: Engine) -> None:
            vault.keep(engine.journal.store, person, new)
            vault.keep(engine.journal.store, person, None, vault.NEXT)

        command = CommitCredentials(
            at=now, by=person, person=person, commitment=await self._queue.run(prepare), activation=activation
        )
        answer = await self._queue.execute(HOUSE_STREAM, command)
        if isinstance(answer, Refusal):
            return answer
        with suppress(JournalError):  # what was prepared matches the commitment, and counts
            await self._queue.run(finish)
        return None

    async def _passkey(
        self, name: str, assertion: dict[str, Any], use: Callable[[], bytes | None], *,
        at: PasskeyOrigin, address: str, now: int, password: str | None,
    ) -> VerifiedPerson | SignInRefused:  # fmt: skip
        challenge = use()
        known = await self._queue.run(partial(self._known, name))
        passkeys = () if known.credentials is None else known.credentials.passkeys
        # Every name takes the same steps, so that the time of the answer shows nothing.
        has_signed = is_accepted(passkeys, at, challenge or b"", assertion)
        if known.rank is None or challenge is None or not has_signed:
            why = SignInFailure.UNKNOWN if known.rank is None else SignInFailure.PASSKEY
            refused = await self._failed(known, why, address=address, now=now)
            return WRONG_SIGNATURE if refused is WRONG_CREDENTIALS else refused
        hash_ = None if known.credentials is None else known.credentials.hash
        if password is not None and not await self.work(partial(self._passwords.verified, hash_, password)):
            return await self._failed(known, SignInFailure.PASSWORD, address=address, now=now)
        if await self._queue.run(lambda engine: known.person in engine.house().locked):
            return await self._failed(known, SignInFailure.LOCKED, address=address, now=now)
        return VerifiedPerson(known.person, known.rank)

    async def _activation(
        self, name: str, code: str, *, address: str, now: int
    ) -> ActivatedPerson | SignInRefused:
        def read(engine: Engine) -> tuple[_Known, ActivatedPerson | None, SignInFailure]:
            house, journal = engine.house(), engine.journal
            person = house.names.get(name)
            if person is None:
                return _Known(self._tag(name), None, None), None, SignInFailure.UNKNOWN
            known = _Known(person, house.people[person], None)
            issued = house.activations.get(person)
            if issued is None or not is_valid_at(issued, now):
                return known, None, SignInFailure.GUESS
            typed = vault.activation_hash(journal, person, issued.until, code)
            is_near = vault.begins_right(journal, person, issued.until, code)
            matches = hmac.compare_digest(typed, issued.code)
            why = SignInFailure.ACTIVATION if is_near else SignInFailure.GUESS
            return known, ActivatedPerson(person, typed) if matches else None, why

        known, activated, why = await self._queue.run(read)
        if activated is not None:
            return activated
        refused = await self._failed(known, why, address=address, now=now)
        return WRONG_CODE if refused is WRONG_CREDENTIALS else refused

    # In the writer's thread

    def _known(self, name: str, engine: Engine) -> _Known:
        house = engine.house()
        person = house.names.get(name)
        if person is None:
            return _Known(self._tag(name), None, None)
        # Stored credentials count only while the House has them: a person enrolled again starts without any.
        has = person in house.commitments and (self._generic or not is_generic(person))
        kept = vault.kept(engine, person) if has else None
        return _Known(person, house.people[person], kept, is_altered=has and kept is None)

    def _use_code(self, known: _Known, renewed: Credentials, engine: Engine) -> SignInFailure | None:
        """Marks the code as used; fails if another sign-in used it or the person changed in the meantime."""
        house, store = engine.house(), engine.journal.store
        kept = vault.kept(engine, known.person)
        if kept != known.credentials or house.people.get(known.person) != known.rank:
            return SignInFailure.CODE
        vault.keep(store, known.person, renewed)
        return SignInFailure.LOCKED if known.person in house.locked else None

    # Failures

    async def _failed(self, known: _Known, why: SignInFailure, *, address: str, now: int) -> SignInRefused:
        if why in _OF_STRANGERS and not self._recorded.takes("all", now):
            return WRONG_CREDENTIALS
        address = address if is_name(address) else NO_ADDRESS
        counts = why is SignInFailure.CODE  # the password was right: nothing else locks a person
        note = NoteFailure(
            at=now, by=FLOOR, person=known.person, address=address, why=why.value, counts=counts
        )
        answer = await self._queue.execute(HOUSE_STREAM, note)
        _log.warning("sign-in failed", person=known.person, address=address, why=why.value)
        if isinstance(answer, Refusal):  # an unrecorded failure would not count, so it gets another answer
            return UNRECORDED
        return LOCKED if why is SignInFailure.LOCKED else WRONG_CREDENTIALS

    def _tag(self, name: str) -> str:
        """The tag of an unknown name. The name itself is not recorded: people type passwords there."""
        digest = hmac.new(self._tag_key, name.encode("utf-8", "surrogatepass"), "sha256").hexdigest()
        return f"unknown-{digest[:8]}"


def _failure(known: _Known, *, is_right: bool, is_late: bool) -> SignInFailure:
    if known.rank is None:
        return SignInFailure.UNKNOWN
    if known.credentials is None:
        return SignInFailure.ALTERED if known.is_altered else SignInFailure.NO_CREDENTIALS
    if not is_right:
        return SignInFailure.PASSWORD
    return SignInFailure.LATE if is_late else SignInFailure.CODE

"""Verification of people by password and code, and of devices by signature."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable
from concurrent.futures import Executor
from enum import StrEnum
from functools import partial
from typing import Final, NamedTuple, Protocol, TypeVar

import structlog
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from msgspec.structs import replace

from taisai.cage.messages import NoteFailure
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import FLOOR, folded, is_name
from taisai.journal import Answer, Engine, JournalError
from taisai.journal.codec import HOUSE, AnyCommand
from taisai.server.auth import credentials as vault
from taisai.server.auth.credentials import (
    Credentials,
    Passwords,
    accepted_step,
    base32,
    from_base32,
    new_secret,
)
from taisai.server.auth.permissions import is_generic
from taisai.server.auth.rate_limits import RateLimiter, network_of
from taisai.server.runtime.environment import Entropy


class SignInRefusalReason(StrEnum):
    """Why someone does not come in."""

    WRONG = "wrong"
    """Name, password and code do not belong together; never which of them."""
    LOCKED = "locked"
    """He is who he says, but locked."""
    TOO_OFTEN = "too-often"
    BUSY = "busy"
    """So many are being checked that one more would wait too long."""
    UNRECORDED = "unrecorded"
    """The journal cannot be written, and nobody comes in unrecorded."""
    NOT_SECOND = "not-second"
    """A second person who is none, or an approval for nobody."""
    UNFIT = "unfit"
    """No credentials for this name, or not with this password."""


class SignInRefused(NamedTuple):
    """Someone does not come in."""

    reason: SignInRefusalReason
    message: str
    wait_ms: int = 0
    """How long until it is worth trying again, where that is known."""


WRONG_CREDENTIALS: Final = SignInRefused(
    SignInRefusalReason.WRONG, "expected a name, a password and a code that belong together, got others"
)
LOCKED: Final = SignInRefused(
    SignInRefusalReason.LOCKED,
    "expected someone who may sign in, got one who is locked: a supervisor can unlock him",
)
BUSY: Final = SignInRefused(
    SignInRefusalReason.BUSY,
    "expected fewer to sign in at once, got more: try again in a moment",
    wait_ms=1_000,
)
UNRECORDED: Final = SignInRefused(
    SignInRefusalReason.UNRECORDED,
    "expected a journal that can be written, got none: nobody signs in unrecorded",
)


def too_often(wait_ms: int) -> SignInRefused:
    """A refusal that says when to try again."""
    seconds = -(-wait_ms // 1_000)
    says = f"expected fewer tries from this address, got too many: try again in {seconds} s"
    return SignInRefused(SignInRefusalReason.TOO_OFTEN, says, wait_ms)


LEAST_NONCE: Final = 16  # bytes: a challenge that nobody meets twice
_SAYS: Final = b"taisai device 1\n"


def device_text(device: str, nonce: bytes) -> bytes:
    """What a device signs; no name has a line break, so it can be read in one way only."""
    return _SAYS + device.encode() + b"\n" + nonce


def device_proof(key: str, nonce: bytes, device: str, signature: bytes) -> bool:
    """Whether a device signed the challenge with the key, in hexadecimal, that it was enrolled with."""
    if not is_name(device) or len(nonce) < LEAST_NONCE:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(signature, device_text(device, nonce))
    except (InvalidSignature, ValueError):
        return False
    return True


MOST_CHECKED: Final = 20  # at once, waiting ones too: the last of them waits about two seconds
NOWHERE: Final = "unknown"
"""An address that is none."""
T = TypeVar("T")
_log = structlog.get_logger(__name__)


class QueueLike(Protocol):
    """What access needs of the queue."""

    async def execute(self, stream: str, command: AnyCommand) -> Answer:
        """What a command comes to, durably."""

    async def run(self, job: Callable[[Engine], T]) -> T:
        """What a job finds, done in the writer's thread between commands."""


class SignInFailure(StrEnum):
    """What was wrong, for the journal alone."""

    UNKNOWN = "unknown"
    """Nobody on the roll has the name."""
    NO_CREDENTIALS = "no-credentials"
    PASSWORD = "password"  # noqa: S105  the word, not one
    CODE = "code"
    """Wrong, too old, or used before."""
    LOCKED = "locked"
    """All was right, but he is locked."""


class VerifiedPerson(NamedTuple):
    """Someone who is who he says, by the roll's name and rank."""

    person: str
    rank: str


class _Known(NamedTuple):
    """What the House and the vault know of a name."""

    person: str
    rank: str | None
    credentials: Credentials | None


class Verifier:
    """Checks people, a few at a time and each one once at a time, so that no guesses run side by side."""

    def __init__(
        self,
        queue: QueueLike,
        *,
        passwords: Passwords,
        rates: RateLimiter,
        entropy: Entropy,
        executor: Executor,
        generic: bool = False,
    ) -> None:
        """`generic` lets in names that are nobody's, such as 'dealer': in a demonstration only."""
        self._queue = queue
        self._passwords = passwords
        self._rates = rates
        self._executor = executor
        self._generic = generic
        self._nobodys = base32(new_secret(entropy))
        self._tagging = entropy(32)
        self._checking: set[str] = set()

    async def proved(
        self, person: str, password: str, code: str, *, address: str, now: int
    ) -> VerifiedPerson | SignInRefused:
        """Who it is, or why not; a failure counts, and with the third the House locks the person."""
        key = network_of(address)
        if not self._rates.takes(key, now):
            return too_often(self._rates.wait(key, now))
        name = folded(person) if is_name(person) else ""
        if name in self._checking or len(self._checking) >= MOST_CHECKED:
            return BUSY
        self._checking.add(name)
        try:
            return await self._checked(name, password, code, address=address, now=now)
        except JournalError:
            return UNRECORDED
        finally:
            self._checking.discard(name)

    async def work(self, job: Callable[[], T]) -> T:
        """Does what takes long, such as a hash, where it holds nobody up."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, job)

    async def _checked(
        self, name: str, password: str, code: str, *, address: str, now: int
    ) -> VerifiedPerson | SignInRefused:
        known = await self._queue.run(partial(self._known, name))
        had = known.credentials
        # Whoever it is, all of this is done, so that the time it takes tells nothing.
        hash_, totp, last = (had.hash, had.totp, had.last_step) if had else (None, self._nobodys, 0)
        right = await self.work(partial(self._passwords.verified, hash_, password))
        step = accepted_step(from_base32(totp), code, now=now, last=last)
        if known.rank is None or had is None or not right or step is None:
            return await self._failed(known, _failure(known, right=right), address=address, now=now)
        renewed = replace(had, last_step=step)
        if self._passwords.is_outdated(had.hash):
            renewed = replace(renewed, hash=await self.work(partial(self._passwords.hashed, password)))
        against = await self._queue.run(partial(self._take, known, renewed))
        if against is not None:
            return await self._failed(known, against, address=address, now=now)
        return VerifiedPerson(known.person, known.rank)

    # In the writer's thread

    def _known(self, name: str, engine: Engine) -> _Known:
        house = engine.house()
        person = house.names.get(name)
        if person is None:
            return _Known(self._tag(name), None, None)
        # What the vault has counts only while the House says so: whoever was dismissed and is back has none.
        has = person in house.credentials and (self._generic or not is_generic(person))
        kept = vault.kept(engine.journal.store, person) if has else None
        return _Known(person, house.people[person], kept)

    def _take(self, known: _Known, renewed: Credentials, engine: Engine) -> SignInFailure | None:
        """Uses the code up, unless someone else was quicker or the person changed in the meantime."""
        house, store = engine.house(), engine.journal.store
        kept = vault.kept(store, known.person)
        if kept != known.credentials or house.people.get(known.person) != known.rank:
            return SignInFailure.CODE
        vault.keep(store, known.person, renewed)
        return SignInFailure.LOCKED if known.person in house.locked else None

    # Failures

    async def _failed(self, known: _Known, why: SignInFailure, *, address: str, now: int) -> SignInRefused:
        address = address if is_name(address) else NOWHERE
        note = NoteFailure(at=now, by=FLOOR, person=known.person, address=address, why=why.value)
        answer = await self._queue.execute(HOUSE, note)
        _log.warning("sign-in failed", person=known.person, address=address, why=why.value)
        if isinstance(answer, Refusal):  # unrecorded it would not count, so it must not be answered
            return UNRECORDED
        return LOCKED if why is SignInFailure.LOCKED else WRONG_CREDENTIALS

    def _tag(self, name: str) -> str:
        """What stands for a name that nobody has: people type passwords where the name goes."""
        digest = hmac.new(self._tagging, name.encode("utf-8", "surrogatepass"), "sha256").hexdigest()
        return f"unknown-{digest[:8]}"


def _failure(known: _Known, *, right: bool) -> SignInFailure:
    if known.rank is None:
        return SignInFailure.UNKNOWN
    if known.credentials is None:
        return SignInFailure.NO_CREDENTIALS
    return SignInFailure.CODE if right else SignInFailure.PASSWORD

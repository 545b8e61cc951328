"""Activation codes, and the credentials that people set themselves: nobody else sees them."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Iterator
from functools import partial
from hmac import compare_digest
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from taisai.cage import House, can_sign_in
from taisai.cage.credentials import LONGEST_ACTIVATION
from taisai.cage.messages import IssueActivation
from taisai.cage.values import clock
from taisai.game.refusals import Refusal
from taisai.journal import Engine, JournalError
from taisai.journal.codec import HOUSE_STREAM
from taisai.server.auth import credentials as vault
from taisai.server.auth.credentials import (
    Credentials,
    Passwords,
    confirmed,
    new_activation_code,
    new_secret,
    otpauth,
    step_of,
)
from taisai.server.auth.passkeys import (
    CHALLENGE,
    MOST_PASSKEYS,
    PasskeyOrigin,
    registered,
    registration_options,
)
from taisai.server.auth.password_rules import weakness
from taisai.server.auth.permissions import is_generic
from taisai.server.auth.sessions import digest_of_token
from taisai.server.auth.sign_in_refusals import UNRECORDED, SignInRefusalReason, SignInRefused
from taisai.server.auth.verification import QueueLike, VerifiedPerson, Verifier
from taisai.server.runtime.environment import Entropy

SETUP_LASTS: Final = 10 * 60_000  # ms: to find a telephone, install an authenticator and read its code
MOST_SETUPS: Final = 1_000  # at a time; the oldest is dropped
_TOKEN: Final = 32  # random bytes

EXPIRED_SETUP: Final = SignInRefused(
    SignInRefusalReason.EXPIRED_SETUP, "this took longer than ten minutes, or is done already; begin again"
)
WRONG_CONFIRMATION: Final = SignInRefused(
    SignInRefusalReason.WRONG_CONFIRMATION,
    "the code is not the one that your authenticator shows now; check its clock, and type the next code",
)
NO_PASSWORD: Final = SignInRefused(SignInRefusalReason.UNFIT, "the password is missing")
ACTIVATION_AS_PASSWORD: Final = SignInRefused(
    SignInRefusalReason.UNFIT, "the password is the activation code, which others have seen; choose your own"
)
PASSWORD_UNPROVED: Final = SignInRefused(
    SignInRefusalReason.UNFIT,
    "a new password needs the one of now: begin again, and type it before you use your passkey",
)
NO_FACTOR: Final = SignInRefused(
    SignInRefusalReason.UNFIT, "the second factor is missing: type the code that your authenticator shows"
)


BAD_PASSKEY: Final = SignInRefused(
    SignInRefusalReason.WRONG_PASSKEY,
    f"the passkey is not valid here, or {MOST_PASSKEYS} are stored already; a new activation code ends those",
)


class NewActivation(NamedTuple):
    """An activation code. It is shown once, to those who issue it, and stored nowhere."""

    code: str
    until: int

    def __repr__(self) -> str:
        return "<NewActivation>"


class NewSetup(NamedTuple):
    """What a person needs to set their own credentials. It is shown once, and to them alone."""

    token: str
    person: str
    uri: str
    """The address for their authenticator."""
    until: int
    passkey: dict[str, Any] | None
    """What their browser needs to make a passkey; None where passkeys cannot be used."""
    may_set_password: bool = True

    def __repr__(self) -> str:
        return f"<NewSetup {self.person!r}>"


class _Setup(NamedTuple):
    """Credentials that a person is about to set."""

    person: str
    activation: str | None
    """The keyed hash of the code of a first sign-in."""
    before: Credentials | None
    secret: bytes
    """Of a new authenticator; it counts when a code confirms it."""
    until: int
    challenge: bytes
    """For a new passkey."""
    at: PasskeyOrigin | None
    may_set_password: bool
    """Whether the person has typed their old password, or has none."""

    def __repr__(self) -> str:
        return f"<_Setup {self.person!r}>"


class Enrolment:
    """Issues activation codes, and lets people set their own credentials."""

    def __init__(
        self, queue: QueueLike, verifier: Verifier, *, passwords: Passwords, entropy: Entropy, issuer: str,
        generic: bool = False,
    ) -> None:  # fmt: skip
        self._queue = queue
        self._verifier = verifier
        self._passwords = passwords
        self._entropy = entropy
        self._issuer = issuer
        self._generic = generic
        self._setups: OrderedDict[str, _Setup] = OrderedDict()
        """Digest of the token → setup, oldest first."""

    async def issue(
        self, person: str, *, by: str, now: int, second: str | None = None
    ) -> NewActivation | Refusal | SignInRefused:
        """A code for a first sign-in. The person's sessions and old credentials end at once."""
        if is_generic(person) and not self._generic:
            problem = f"{person!r} is not the name of a person, but of a role; give the person's own name"
            return SignInRefused(SignInRefusalReason.UNFIT, problem)
        until = now + LONGEST_ACTIVATION

        def make(engine: Engine) -> tuple[str, str]:
            code = new_activation_code(engine.journal, person, until, self._entropy)
            return code, vault.activation_hash(engine.journal, person, until, code)

        code, hashed = await self._queue.run(make)
        new = NewActivation(code, until)
        command = IssueActivation(at=now, by=by, person=person, code=hashed, until=new.until, second=second)
        answer = await self._queue.execute(HOUSE_STREAM, command)
        return answer if isinstance(answer, Refusal) else new

    # A person sets their own

    async def begin(
        self, person: str, code: str, *, at: PasskeyOrigin | None, address: str, now: int
    ) -> NewSetup | SignInRefused:
        """A first sign-in: the person has typed their activation code."""
        activated = await self._verifier.activated(person, code, address=address, now=now)
        if isinstance(activated, SignInRefused):
            return activated
        return self._begun(activated.person, activated.activation, None, at=at, now=now)

    async def begin_again(
        self, proved: VerifiedPerson, *, at: PasskeyOrigin | None, now: int, typed_password: bool
    ) -> NewSetup:
        """A person who has just proved who they are again changes their own credentials."""
        before = await self._queue.run(lambda engine: vault.kept(engine, proved.person))
        return self._begun(proved.person, None, before, at=at, now=now, may_set_password=typed_password)

    def _begun(
        self, person: str, activation: str | None, before: Credentials | None, *,
        at: PasskeyOrigin | None, now: int, may_set_password: bool = True,
    ) -> NewSetup:  # fmt: skip
        token = urlsafe_b64encode(self._entropy(_TOKEN)).rstrip(b"=").decode("ascii")
        challenge = self._entropy(CHALLENGE)
        setup = _Setup(
            person, activation, before, new_secret(self._entropy), now + SETUP_LASTS, challenge, at,
            may_set_password,
        )  # fmt: skip
        self._setups[digest_of_token(token)] = setup
        if len(self._setups) > MOST_SETUPS:
            self._setups.popitem(last=False)
        uri = otpauth(setup.secret, person=person, issuer=self._issuer)
        known = () if before is None else before.passkeys
        options = at and registration_options(
            at, person, house=self._issuer, challenge=challenge, known=known
        )
        return NewSetup(token, person, uri, setup.until, options, may_set_password)

    async def finish(
        self, token: str, *, password: str | None = None, code: str | None = None,
        passkey: dict[str, Any] | None = None, now: int,
    ) -> str | Refusal | SignInRefused:  # fmt: skip
        """Sets what is given and keeps the rest; returns the person. A mistake can be corrected."""
        setup = self._setups.get(digest_of_token(token))
        if setup is None or now >= setup.until:
            return EXPIRED_SETUP
        new = await self._changed(setup, password, code, passkey, now)
        if isinstance(new, SignInRefused):
            return new
        try:
            if setup.activation is None and not await self._queue.run(partial(_is_unchanged, setup)):
                return EXPIRED_SETUP
            refusal = await self._verifier.commit(setup.person, new, now=now, activation=setup.activation)
        except JournalError:
            return UNRECORDED
        if refusal is not None:
            return refusal
        self._setups.pop(digest_of_token(token), None)
        return setup.person

    async def _changed(
        self,
        setup: _Setup,
        password: str | None,
        code: str | None,
        passkey: dict[str, Any] | None,
        now: int,
    ) -> Credentials | SignInRefused:
        """The new credentials, or what is missing."""
        if password is not None and await self._is_activation(setup, password):
            return ACTIVATION_AS_PASSWORD
        new = setup.before or Credentials("", "")
        if refused := self._unfit(setup, password, new):
            return refused
        if code is not None:
            secret = confirmed(setup.secret, code, now=now)
            if secret is None:
                return WRONG_CONFIRMATION
            new = replace(new, totp=secret.text, last_step=step_of(now))
        if passkey is not None:
            made = setup.at and registered(setup.at, setup.challenge, passkey)
            if not made or len(new.passkeys) >= MOST_PASSKEYS:
                return BAD_PASSKEY
            new = replace(new, passkeys=(*new.passkeys, made))
        if not new.totp and not new.passkeys:
            return NO_FACTOR
        if password is not None:
            new = replace(new, hash=await self._verifier.work(partial(self._passwords.hashed, password)))
        return new

    async def _is_activation(self, setup: _Setup, password: str) -> bool:
        """Whether a password is the activation code itself, which those who issued it have seen."""

        def read(engine: Engine) -> bool:
            issued = engine.house().activations.get(setup.person)
            if issued is None:
                return False
            typed = vault.activation_hash(engine.journal, setup.person, issued.until, password)
            return compare_digest(typed, issued.code)

        return await self._queue.run(read)

    def _unfit(self, setup: _Setup, password: str | None, before: Credentials) -> SignInRefused | None:
        """Why a person may not set this password, or may not leave it out."""
        if password is None:
            return None if before.hash else NO_PASSWORD
        if not setup.may_set_password:
            return PASSWORD_UNPROVED
        problem = weakness(password, setup.person, self._issuer)
        return None if problem is None else SignInRefused(SignInRefusalReason.UNFIT, problem)


def _is_unchanged(setup: _Setup, engine: Engine) -> bool:
    """Whether a person still has the credentials that they proved when they began to change them.

    A thief who began with stolen credentials must not replace those that the person has set since.
    """
    if (now := vault.kept(engine, setup.person)) is None or setup.before is None:
        return False
    return replace(now, last_step=0) == replace(setup.before, last_step=0)


# What is wrong with the sign-ins of a house

LEAST_SUPERVISING: Final = 3
"""People with credentials: one who is locked, and two who unlock them."""


def too_few_supervisors(house: House) -> str | None:
    """The warning for a house with too few supervisors to unlock one of them."""
    supervisors = can_sign_in(house)
    if len(supervisors) >= LEAST_SUPERVISING:
        return None
    return (
        f"expected {LEAST_SUPERVISING} people of the rank {house.second_rank} or above who can sign in, got "
        f"{len(supervisors)}: enrol more; otherwise a lost telephone needs a stop and `taisai recover-access`"
    )


def people_warnings(engine: Engine) -> Iterator[str]:
    """What somebody should do about the people of the house."""
    house = engine.house()
    for person, recovery in house.recovered.items():
        how = f"with the house's key at {clock(recovery.at)}: {recovery.reason}"
        yield f"access was recovered for {person} {how}; another supervisor acknowledges it in the office"
    for person in vault.altered(engine):
        yield f"the stored credentials of {person} were changed outside the server: give a new code"
    if problem := too_few_supervisors(house):
        yield problem

"""Credentials: passwords as argon2id hashes, and codes of a second factor (TOTP, RFC 6238)."""

from __future__ import annotations

import unicodedata
from base64 import b32decode, b32encode
from hmac import compare_digest
from typing import Any, Final, NamedTuple

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from taisai.game.vocabulary import folded
from taisai.journal.stores.contract import Store
from taisai.server.runtime.environment import Entropy

LEAST_PASSWORD: Final = 12  # characters: enough with a second factor and three tries
MOST_PASSWORD: Final = 128  # characters: enough for a sentence; a megabyte would block the hashing threads
LEAST_DIFFERENT: Final = 5  # different characters: refuses '121212121212'
SALT: Final = 16  # bytes, as RFC 9106 recommends

LEAST_SCORE: Final = 3
"""Of zxcvbn, which knows some 90,000 common passwords, names, words and patterns: 10^8 guesses or more."""
MOST_ESTIMATED: Final = 32  # characters: the whole is no easier to guess, and more would take seconds
_EVERYWHERE: Final = (
    "taisai", "sicbo", "casino", "baccarat", "blackjack", "roulette", "jackpot", "marinabaysands",
    "resortsworld", "thisisapassword", "correcthorsebatterystaple", "winnerwinnerchickendinner",
    "changeme", "administrator",
)  # fmt: skip
"""Words that someone guesses first in this place."""


class Cost(NamedTuple):
    """The cost of one hash. The default is the second recommended option of RFC 9106."""

    time: int = 3
    """Passes over the memory."""
    memory: int = 64 * 1024
    """KiB."""
    parallelism: int = 4


def weakness(password: str, person: str) -> str | None:
    """Why a password is too weak; None if it is not. The text never contains the password."""
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        return f"expected a password of {LEAST_PASSWORD} to {MOST_PASSWORD} characters, got {len(password)}"
    if len(set(password)) < LEAST_DIFFERENT:
        return f"the password has fewer than {LEAST_DIFFERENT} different characters"
    letters, name = _letters(password), _letters(person)
    if letters and name and not letters.replace(name, ""):
        return "the password is the person's name"
    if _score(password, person) < LEAST_SCORE:
        return "the password is easy to guess; four words that have nothing to do with each other are not"
    return None


def _score(password: str, person: str) -> int:
    """How hard a password is to guess, from 0 to 4, as it is written and without capitals and blanks."""
    from zxcvbn import zxcvbn  # it takes a tenth of a second to load, and few commands need it

    known = [*_EVERYWHERE, *filter(None, (person, _letters(person), *folded(person).split()))]
    forms = {password[:MOST_ESTIMATED], "".join(folded(password).split())[:MOST_ESTIMATED]}
    return min(int(zxcvbn(form, user_inputs=known)["score"]) for form in forms if form)


class Passwords:
    def __init__(self, entropy: Entropy, cost: Cost | None = None) -> None:
        cost = cost or Cost()
        self._entropy = entropy
        self._hasher = PasswordHasher(
            time_cost=cost.time, memory_cost=cost.memory, parallelism=cost.parallelism, salt_len=SALT
        )
        # Checked for unknown names, so that the time of the answer does not show whether a name exists.
        self._dummy = self._hasher.hash(entropy(32), salt=entropy(SALT))

    def hashed(self, password: str) -> str:
        """The hash of a password, with its salt and cost."""
        return self._hasher.hash(_written(password), salt=self._entropy(SALT))

    def verified(self, hash_: str | None, password: str) -> bool:
        """Whether the password matches the hash. Without a hash the check takes as long and fails."""
        if len(password) > MOST_PASSWORD:
            hash_, password = None, password[:MOST_PASSWORD]
        try:
            self._hasher.verify(hash_ or self._dummy, _written(password))
        except (VerificationError, InvalidHashError):
            return False
        return hash_ is not None

    def is_outdated(self, hash_: str) -> bool:
        """Whether a hash was made at another cost than the current one."""
        return self._hasher.check_needs_rehash(hash_)


def _written(password: str) -> bytes:
    """The bytes to hash, the same from every keyboard. No text fails, because an error would quote it."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, folded(text)))


SECRET: Final = 20  # bytes, the length of the hash, as RFC 4226 recommends
DIGITS: Final = 6
STEP: Final = 30  # seconds
DRIFT: Final = 1  # steps: a person's clock may be ahead or behind, and typing takes time


def new_secret(entropy: Entropy) -> bytes:
    return entropy(SECRET)


def step_of(now: int) -> int:
    """The time step of a moment in milliseconds."""
    return now // (STEP * 1000)


def code_at(secret: bytes, step: int) -> str:
    return _totp(secret).generate(step * STEP).decode("ascii")


def accepted_step(secret: bytes, code: str, *, now: int, last: int) -> int | None:
    """The time step of a code, if it is close to now and later than the last used step; else None.

    >>> secret = b"12345678901234567890"
    >>> code_at(secret, step_of(59_000))
    '287082'
    >>> accepted_step(secret, "287082", now=59_000, last=0)
    1
    >>> accepted_step(secret, "287082", now=59_000, last=1) is None  # used before
    True
    """
    typed = code.replace(" ", "").encode("utf-8", "replace")  # authenticators show '123 456'
    current = step_of(now)
    accepted = None
    for step in range(max(current - DRIFT, 0), current + DRIFT + 1):  # always all: no code is quicker
        matches = compare_digest(code_at(secret, step).encode(), typed)
        if matches and step > last and accepted is None:
            accepted = step
    return accepted


def base32(secret: bytes) -> str:
    return b32encode(secret).decode("ascii")


def from_base32(text: str) -> bytes:
    return b32decode(text)


def otpauth(secret: bytes, *, person: str, issuer: str) -> str:
    """The address for an authenticator, usually shown as a QR code."""
    return _totp(secret).get_provisioning_uri(person, issuer)


def _totp(secret: bytes) -> TOTP:
    # Every authenticator supports SHA-1; as a keyed hash it is safe (RFC 6194, section 3).
    return TOTP(secret, DIGITS, SHA1(), STEP)  # noqa: S303


STAFF: Final = "staff/"
"""The prefix of the names under which credentials are stored."""


class Credentials(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A person's password hash and second factor. They are never shown."""

    hash: str
    totp: str
    """The secret, in base 32."""
    last_step: int = 0
    """The time step of the last used code. No code is valid twice."""

    def __repr__(self) -> str:
        return "<Credentials>"

    def __rich_repr__(self) -> list[tuple[str, Any]]:  # rich would show every field
        return []


class NewCredentials(NamedTuple):
    """New credentials, and the address for the person's authenticator."""

    credentials: Credentials
    uri: str

    def __repr__(self) -> str:
        return "<NewCredentials>"


def new_credentials(
    person: str, password: str, *, passwords: Passwords, entropy: Entropy, issuer: str
) -> NewCredentials:
    """New credentials; computing the hash takes time."""
    secret = new_secret(entropy)
    credentials = Credentials(passwords.hashed(password), base32(secret))
    return NewCredentials(credentials, otpauth(secret, person=person, issuer=issuer))


def kept(vault: Store, person: str) -> Credentials | None:
    """The stored credentials of a person; None if there are none."""
    body = vault.secret(STAFF + person)
    return None if body is None else msgspec.json.decode(body, type=Credentials)


def keep(vault: Store, person: str, credentials: Credentials | None) -> None:
    """Stores a person's credentials; None deletes them."""
    vault.keep_secret(STAFF + person, None if credentials is None else msgspec.json.encode(credentials))


def holders(vault: Store) -> list[str]:
    return [name.removeprefix(STAFF) for name in vault.secrets(STAFF)]

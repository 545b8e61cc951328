"""Credentials: passwords with their argon2id hashes, and codes of a second factor (TOTP, RFC 6238)."""

from __future__ import annotations

import unicodedata
from base64 import b32decode, b32encode
from hmac import compare_digest
from typing import Any, Final, NamedTuple, Protocol

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from taisai.game.vocabulary import folded
from taisai.server.runtime.environment import Entropy

LEAST_PASSWORD: Final = (
    12  # characters: with three tries and a second factor, more than a guesser gets through
)
MOST_PASSWORD: Final = 128  # characters: a sentence fits, a megabyte to be hashed does not
LEAST_DIFFERENT: Final = 5  # different characters: '121212121212' is long and no secret
SALT: Final = 16  # bytes, as RFC 9106 recommends

_COMMONEST: Final = frozenset(
    """
    0987654321qwerty 1234567890ab 1234567890qwerty 123456789abc 123456789012 1q2w3e4r5t6y 1qaz2wsx3edc
    abc123456789 abcd12345678 abcdefghijkl administrator baccarat1234 blackjack123 changeme1234
    changemenow! casinocasino correcthorsebatterystaple dragondragon football1234 iloveyou1234
    iloveyouforever jackpot12345 letmein12345 letmeinletmein marinabaysands monkeymonkey mypassword123
    nopassword12 p@ssw0rd1234 passw0rd1234 password1234 password12345 password123456 passwordpassword
    princess1234 q1w2e3r4t5y6 qazwsxedcrfv qwerty123456 qwertyqwerty qwertyuiop12 qwertyuiop[]
    qwertyuiop123 qwertyuiopas resortsworld rouletteroulette sicbosicbosicbo sunshine1234 superman1234
    taisaitaisai thisisapassword trustno1trustno1 welcome12345 welcome123456 welcomewelcome winnerwinner
    winnerwinnerchickendinner zaq12wsxcde3 zxcvbnm12345
    """.split()  # noqa: SIM905  a list of words is read as one
)


class Cost(NamedTuple):
    """What one hash costs; the default is RFC 9106's second choice, for machines that have other work."""

    time: int = 3
    """Passes over the memory."""
    memory: int = 64 * 1024
    """KiB."""
    parallelism: int = 4


def weakness(password: str, person: str) -> str | None:
    """Why a text is no password for someone; never with the text itself."""
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        return f"expected a password of {LEAST_PASSWORD} to {MOST_PASSWORD} characters, got {len(password)}"
    if len(set(password)) < LEAST_DIFFERENT:
        return f"expected a password of at least {LEAST_DIFFERENT} different characters, got fewer"
    if "".join(folded(password).split()) in _COMMONEST:
        return "expected a password that few have, got one of the commonest"
    letters, name = _letters(password), _letters(person)
    if letters and name and not letters.replace(name, ""):
        return "expected a password, got the person's own name"
    return None


class Passwords:
    """Makes and checks hashes at one cost."""

    def __init__(self, entropy: Entropy, cost: Cost | None = None) -> None:
        cost = cost or Cost()
        self._entropy = entropy
        self._hasher = PasswordHasher(
            time_cost=cost.time, memory_cost=cost.memory, parallelism=cost.parallelism, salt_len=SALT
        )
        # Checked in place of the hash that a stranger has not, so that he waits as long as anyone.
        self._nobodys = self._hasher.hash(entropy(32), salt=entropy(SALT))

    def hashed(self, password: str) -> str:
        """The hash to keep, with its salt and cost."""
        return self._hasher.hash(_written(password), salt=self._entropy(SALT))

    def verified(self, hash_: str | None, password: str) -> bool:
        """Whether it is the password; without a hash it takes as long and is not."""
        possible = hash_ is not None and len(password) <= MOST_PASSWORD
        try:
            self._hasher.verify(
                hash_ if hash_ is not None and possible else self._nobodys,
                _written(password[:MOST_PASSWORD]),
            )
        except (VerificationError, InvalidHashError):
            return False
        return possible

    def is_outdated(self, hash_: str) -> bool:
        """Whether a hash was made at another cost than hashes are made at now."""
        return self._hasher.check_needs_rehash(hash_)


def _written(password: str) -> bytes:
    """The bytes that are hashed, the same from every keyboard; no text fails, or an error would quote it."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, folded(text)))


SECRET: Final = 20  # bytes, the length of the hash, as RFC 4226 recommends
DIGITS: Final = 6
STEP: Final = 30  # seconds
DRIFT: Final = 1  # steps that a person's clock may be ahead or behind, or that typing takes


def new_secret(entropy: Entropy) -> bytes:
    """A secret for someone's authenticator."""
    return entropy(SECRET)


def step_of(now: int) -> int:
    """The step in which a moment lies."""
    return now // (STEP * 1000)


def code_at(secret: bytes, step: int) -> str:
    """The code of a step."""
    return _totp(secret).generate(step * STEP).decode("ascii")


def accepted_step(secret: bytes, code: str, *, now: int, last: int) -> int | None:
    """The step that a code belongs to, if it is near now and later than the last one that was used.

    >>> secret = b"12345678901234567890"
    >>> code_at(secret, step_of(59_000))
    '287082'
    >>> accepted_step(secret, "287082", now=59_000, last=0)
    1
    >>> accepted_step(secret, "287082", now=59_000, last=1) is None  # used before
    True
    """
    given = code.replace(" ", "").encode("utf-8", "replace")  # authenticators show '123 456'
    here = step_of(now)
    accepted = None
    for step in range(max(here - DRIFT, 0), here + DRIFT + 1):  # all of them, so that time tells nothing
        matches = compare_digest(code_at(secret, step).encode(), given)
        if matches and step > last and accepted is None:
            accepted = step
    return accepted


def base32(secret: bytes) -> str:
    """A secret as people type it."""
    return b32encode(secret).decode("ascii")


def from_base32(text: str) -> bytes:
    """The secret again."""
    return b32decode(text)


def otpauth(secret: bytes, *, person: str, issuer: str) -> str:
    """The address that an authenticator takes, mostly as a picture."""
    return _totp(secret).get_provisioning_uri(person, issuer)


def _totp(secret: bytes) -> TOTP:
    # SHA-1 is what every authenticator knows; as a keyed hash it is sound (RFC 6194, section 3).
    return TOTP(secret, DIGITS, SHA1(), STEP)  # noqa: S303


STAFF: Final = "staff/"
"""Under which names of the vault credentials of people are kept."""


class Vault(Protocol):
    """The part of a store that keeps secrets."""

    def secret(self, name: str) -> bytes | None:
        """What is kept under a name."""

    def keep_secret(self, name: str, body: bytes | None) -> None:
        """Keeps something under a name; None deletes what is there."""

    def secrets(self, prefix: str) -> list[str]:
        """The names that begin so."""


class Credentials(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A person's password, as a hash, and his second factor; neither is ever shown."""

    hash: str
    totp: str
    """The secret, in base 32."""
    last_step: int = 0
    """The step of the last code that was used: none is used twice."""

    def __repr__(self) -> str:
        return "<Credentials>"

    def __rich_repr__(self) -> list[tuple[str, Any]]:  # rich would show every field
        return []


class NewCredentials(NamedTuple):
    """Credentials just made, and what the person's authenticator must be given, once."""

    credentials: Credentials
    uri: str

    def __repr__(self) -> str:
        return "<NewCredentials>"


def made(
    person: str, password: str, *, passwords: Passwords, entropy: Entropy, issuer: str
) -> NewCredentials:
    """New credentials; takes as long as a hash does."""
    secret = new_secret(entropy)
    credentials = Credentials(passwords.hashed(password), base32(secret))
    return NewCredentials(credentials, otpauth(secret, person=person, issuer=issuer))


def kept(vault: Vault, person: str) -> Credentials | None:
    """What the vault has of a person."""
    body = vault.secret(STAFF + person)
    return None if body is None else msgspec.json.decode(body, type=Credentials)


def keep(vault: Vault, person: str, credentials: Credentials | None) -> None:
    """Keeps a person's credentials in place of the ones before; None deletes them."""
    vault.keep_secret(STAFF + person, None if credentials is None else msgspec.json.encode(credentials))


def holders(vault: Vault) -> list[str]:
    """Everyone of whom the vault has credentials."""
    return [name.removeprefix(STAFF) for name in vault.secrets(STAFF)]

"""Credentials: passwords as argon2id hashes, codes of a second factor (TOTP, RFC 6238), activation codes, and
signatures of devices.

The journal has a keyed hash of each person's credentials. Stored ones that do not match it count for nothing.
"""

from __future__ import annotations

import os
from base64 import b32decode, b32encode
from collections.abc import Iterable
from hmac import compare_digest
from typing import Any, Final, NamedTuple

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from taisai.game.vocabulary import is_name
from taisai.journal import Engine, Journal
from taisai.journal.seals.secret import SECRET_BYTES, StorageSecret
from taisai.journal.stores.contract import Store
from taisai.protocol.requests import device_text
from taisai.server.auth.attempts import NETWORKS
from taisai.server.auth.passkeys import Passkey
from taisai.server.auth.password_rules import MOST_PASSWORD
from taisai.server.runtime.environment import Entropy

SALT: Final = 16  # bytes, as RFC 9106 recommends


class Cost(NamedTuple):
    """The cost of one hash. The default is the second recommended option of RFC 9106."""

    time: int = 3
    """Passes over the memory."""
    memory: int = 64 * 1024
    """KiB."""
    parallelism: int = 4


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
    """The bytes to hash: the password exactly as it was typed. No text fails, for an error would quote it."""
    return password.encode("utf-8", "surrogatepass")


SECRET: Final = 20  # bytes, the length of the hash, as RFC 4226 recommends
DIGITS: Final = 6
STEP: Final = 30  # seconds
_SHA256: Final = "sha256:"
"""What the stored secret of an authenticator begins with if its codes are made with SHA-256."""


def new_secret(entropy: Entropy) -> bytes:
    return entropy(SECRET)


def step_of(now: int) -> int:
    """The time step of a moment in milliseconds."""
    return now // (STEP * 1000)


class OtpSecret(NamedTuple):
    """The secret of an authenticator, and the hash with which it makes codes."""

    key: bytes
    algorithm: type[SHA1 | SHA256] = SHA256

    def __repr__(self) -> str:
        return f"<OtpSecret, {self.algorithm.name}>"

    @classmethod
    def parse(cls, text: str) -> OtpSecret:
        """The secret in its stored form. Those of before are for SHA-1."""
        is_newer = text.startswith(_SHA256)
        return cls(from_base32(text.removeprefix(_SHA256)), SHA256 if is_newer else SHA1)

    @property
    def text(self) -> str:
        return (_SHA256 if self.algorithm is SHA256 else "") + base32(self.key)

    def code(self, step: int) -> str:
        return _totp(self).generate(step * STEP).decode("ascii")


def confirmed(key: bytes, code: str, *, now: int) -> OtpSecret | None:
    """The secret of an authenticator that shows this code now; None if no authenticator with the key does.

    Some authenticators take no notice of the algorithm that they are given, and use SHA-1. As a keyed hash
    it is safe (RFC 6194, section 3), so their owners are not kept out.
    """
    for secret in (OtpSecret(key), OtpSecret(key, SHA1)):
        if accepted_step(secret, code, now=now, last=0) is not None:
            return secret
    return None


def accepted_step(secret: OtpSecret, code: str, *, now: int, last: int) -> int | None:
    """The time step of a code, if it is the one of now and later than the last used step; else None.

    >>> secret = OtpSecret(b"12345678901234567890", SHA1)
    >>> secret.code(step_of(59_000))
    '287082'
    >>> accepted_step(secret, "287082", now=59_000, last=0)
    1
    >>> accepted_step(secret, "287082", now=60_000, last=0) is None  # its half minute is over
    True
    >>> accepted_step(secret, "287082", now=59_000, last=1) is None  # used before
    True
    """
    step = step_of(now)
    return step if _is_code(secret, code, step) and step > last else None


def is_beside(secret: OtpSecret, code: str, *, now: int) -> bool:
    """Whether a code is that of the half minute before or after: somebody was slow, or their clock is off."""
    step = step_of(now)
    before, after = _is_code(secret, code, max(step - 1, 0)), _is_code(secret, code, step + 1)
    return before or after


def _is_code(secret: OtpSecret, code: str, step: int) -> bool:
    typed = code.replace(" ", "").encode("utf-8", "replace")  # authenticators show '123 456'
    return compare_digest(secret.code(step).encode(), typed)


def base32(secret: bytes) -> str:
    return b32encode(secret).decode("ascii")


def from_base32(text: str) -> bytes:
    return b32decode(text)


def otpauth(key: bytes, *, person: str, issuer: str) -> str:
    """The address for an authenticator, usually shown as a QR code."""
    return _totp(OtpSecret(key)).get_provisioning_uri(person, issuer)


def _totp(secret: OtpSecret) -> TOTP:
    return TOTP(secret.key, DIGITS, secret.algorithm(), STEP)


STAFF: Final = "staff/"
"""The prefix of the names under which credentials are stored."""
NEXT: Final = "staff-next/"
"""The same for new credentials, until the journal has their commitment."""
_STORAGE_KEY: Final = "storage-secret"


class Credentials(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A person's password hash and second factors. They are never shown."""

    hash: str
    totp: str
    """The secret of the authenticator, as `OtpSecret.text`; empty without one."""
    last_step: int = 0
    """The time step of the last used code. No code is valid twice."""
    passkeys: tuple[Passkey, ...] = ()

    def __repr__(self) -> str:
        return "<Credentials>"

    def __rich_repr__(self) -> list[tuple[str, Any]]:  # rich would show every field
        return []


def storage_secret(journal: Journal) -> StorageSecret:
    """The key of commitments and activation codes: the journal's own storage secret.

    Journals in memory, of demonstrations and tests, may have none. They keep one in their vault.
    """
    if journal.secret is not None:
        return journal.secret
    raw = journal.store.secret(_STORAGE_KEY)
    if raw is None:
        raw = os.urandom(SECRET_BYTES)
        journal.store.keep_secret(_STORAGE_KEY, raw)
    return StorageSecret(raw)


def commitment(journal: Journal, person: str, credentials: Credentials) -> str:
    """The keyed hash over a person's credentials. The last used code is not a part of it."""
    secret = storage_secret(journal)
    parts = (part for passkey in credentials.passkeys for part in (passkey.host, passkey.data))
    return secret.mac("credential", person, credentials.hash, credentials.totp, *parts).hex()


def stored(store: Store, person: str, prefix: str = STAFF) -> Credentials | None:
    """What is stored for a person, whether or not it counts."""
    body = store.secret(prefix + person)
    try:
        return None if body is None else msgspec.json.decode(body, type=Credentials)
    except msgspec.DecodeError:
        return None


def kept(engine: Engine, person: str) -> Credentials | None:
    """A person's credentials: those that match the latest commitment in the journal; None without any."""
    committed = engine.house().commitments.get(person, "")
    for prefix in (STAFF, NEXT):  # after a crash only the second may match
        credentials = stored(engine.journal.store, person, prefix)
        if credentials is not None and compare_digest(
            commitment(engine.journal, person, credentials), committed
        ):
            return credentials
    return None


def keep(store: Store, person: str, credentials: Credentials | None, prefix: str = STAFF) -> None:
    """Stores a person's credentials; None deletes them."""
    store.keep_secret(prefix + person, None if credentials is None else msgspec.json.encode(credentials))


def forget(store: Store, person: str) -> None:
    for prefix in (STAFF, NEXT):
        keep(store, person, None, prefix)


def holders(store: Store) -> set[str]:
    """Everyone for whom credentials are stored."""
    return {name.removeprefix(prefix) for prefix in (STAFF, NEXT) for name in store.secrets(prefix)}


def altered(engine: Engine) -> list[str]:
    """People whose stored credentials are not those that they set, or are gone."""
    return sorted(person for person in engine.house().commitments if kept(engine, person) is None)


def delete_unknown(people: Iterable[str], engine: Engine) -> None:
    """Deletes the credentials of people, except those who were enrolled again with new ones."""
    for person in people:
        if person not in engine.house().credentials:
            forget(engine.journal.store, person)


class LeftOver(NamedTuple):
    """What was left by the last stop."""

    sessions: dict[str, str]
    unknown: set[str]
    """People with stored credentials that the House does not know."""
    uncommitted: dict[str, str]
    """The commitments that are missing."""
    networks: bytes | None
    """The known networks, as stored."""


def left_over(engine: Engine) -> LeftOver:
    house, store = engine.house(), engine.journal.store
    gone = holders(store) - house.credentials
    return LeftOver(dict(house.sessions), gone, _without_commitment(engine), store.secret(NETWORKS))


def _without_commitment(engine: Engine) -> dict[str, str]:
    """The commitments to credentials of a house that has none yet."""
    house, store = engine.house(), engine.journal.store
    if house.guarded:
        return {}
    found = {person: stored(store, person) for person in sorted(house.credentials)}
    return {
        person: commitment(engine.journal, person, credentials)
        for person, credentials in found.items()
        if credentials is not None
    }


# Activation codes

ACTIVATION_SYMBOLS: Final = 28  # of 32: 140 random bits, as for every secret that nobody may guess
ACTIVATION_GROUP: Final = 4  # symbols between hyphens; nobody guesses the first ones of a code by chance
_SYMBOLS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # without I, L, O and U, which are mistaken for others
_MISTAKEN: Final = str.maketrans("ILO", "110", "- ")


def new_activation_code(journal: Journal, person: str, until: int, entropy: Entropy) -> str:
    """A code for a first sign-in, in seven groups of four.

    The first group follows from the storage secret, so that the server knows a code that somebody has in
    hand and mistypes from the guesses of a stranger.
    """
    random = entropy(ACTIVATION_SYMBOLS - ACTIVATION_GROUP)
    code = _first_group(journal, person, until) + _symbols(random)
    starts = range(0, ACTIVATION_SYMBOLS, ACTIVATION_GROUP)
    return "-".join(code[start : start + ACTIVATION_GROUP] for start in starts)


def begins_right(journal: Journal, person: str, until: int, code: str) -> bool:
    """Whether what was typed begins as the person's code does."""
    typed = code.upper().translate(_MISTAKEN)[:ACTIVATION_GROUP].encode("utf-8", "replace")
    return compare_digest(typed, _first_group(journal, person, until).encode())


def _first_group(journal: Journal, person: str, until: int) -> str:
    return _symbols(storage_secret(journal).mac("activation-group", person, until)[:ACTIVATION_GROUP])


def _symbols(data: bytes) -> str:
    return "".join(_SYMBOLS[byte % len(_SYMBOLS)] for byte in data)


def activation_hash(journal: Journal, person: str, until: int, code: str) -> str:
    """The keyed hash of an activation code, as typed: letters in any case, with or without hyphens."""
    typed = code.upper().translate(_MISTAKEN)
    return storage_secret(journal).mac("activation", person, until, typed.encode("utf-8", "replace")).hex()


# Devices

LEAST_NONCE: Final = 16  # bytes: enough that no challenge repeats


def device_proof(key: str, nonce: bytes, device: str, signature: bytes) -> bool:
    """Whether a device signed the challenge with its enrolled key, given in hexadecimal."""
    if not is_name(device) or len(nonce) < LEAST_NONCE:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(signature, device_text(device, nonce))
    except (InvalidSignature, ValueError):
        return False
    return True

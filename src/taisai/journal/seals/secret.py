"""The storage secret: what authenticates and hides everything that is stored beside the journal's chain.

It is random, made once for each journal, and stored only wrapped by the house key, so that who holds the
database file alone can neither read nor forge what it protects. Each purpose has a key of its own.

>>> from taisai.journal.seals.keys import SigningKey
>>> key = SigningKey.new("taisai.example/SB1", seed=bytes(32))
>>> secret = StorageSecret(bytes(32))
>>> StorageSecret.unwrapped(secret.wrapped(key, "SB1"), key, "SB1") == secret
True
>>> secret.mac("snapshot", "table:SB1", 7, b"state") == secret.mac("snapshot", "table:SB1", 8, b"state")
False
>>> secret.opened("totp/ann", secret.sealed("totp/ann", b"a seed"))
b'a seed'
>>> secret.opened("totp/bob", secret.sealed("totp/ann", b"a seed")) is None
True
"""

from __future__ import annotations

import hmac
import os
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Final

from taisai.journal.errors import JournalError
from taisai.journal.seals.keys import SigningKey

SECRET_BYTES: Final = 32
NONCE_BYTES: Final = 12
_WRAPPING: Final = "taisai storage secret\n"
_VAULT: Final = "vault"

CodedValue = str | int | bytes
"""A value that a code covers. Each is encoded with its kind and length, so that none runs into the next."""


class SecretError(JournalError):
    """The storage secret cannot be opened with this house key."""


class StorageSecret:
    """The secret of one journal. It is not in its repr."""

    __slots__ = ("_keys", "_raw")

    def __init__(self, raw: bytes) -> None:
        if type(raw) is not bytes or len(raw) != SECRET_BYTES:
            raise SecretError(f"expected a storage secret of {SECRET_BYTES} bytes, got {len(raw)}")
        self._raw = raw
        self._keys: dict[str, bytes] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StorageSecret) and hmac.compare_digest(self._raw, other._raw)

    def __hash__(self) -> int:
        return hash(self._key("hash"))

    def __repr__(self) -> str:
        return "<StorageSecret>"

    @classmethod
    def new(cls, random: Callable[[int], bytes] = os.urandom) -> StorageSecret:
        return cls(random(SECRET_BYTES))

    # Wrapped by the house key

    def wrapped(self, key: SigningKey, journal: str, *, random: Callable[[int], bytes] = os.urandom) -> bytes:
        """The secret as it is stored: readable with this house key alone, for this journal alone."""
        name = _WRAPPING + journal
        return _sealed(key.derived(name.encode()), name, self._raw, random)

    @classmethod
    def unwrapped(cls, wrapped: bytes, key: SigningKey, journal: str) -> StorageSecret:
        name = _WRAPPING + journal
        raw = _opened(key.derived(name.encode()), name, wrapped)
        if raw is None:
            problem = f"the storage secret was not wrapped by the house key {key.name} {key.public.id}"
            raise SecretError(f"{problem}, or it was changed (journal {journal})")
        return cls(raw)

    def text(self, key: SigningKey, journal: str, random: Callable[[int], bytes] = os.urandom) -> str:
        """The wrapped secret in base64, as entries have it."""
        return b64encode(self.wrapped(key, journal, random=random)).decode()

    @classmethod
    def read(cls, text: str, key: SigningKey, journal: str) -> StorageSecret:
        """The secret that an entry has."""
        try:
            wrapped = b64decode(text, validate=True)
        except ValueError:
            wrapped = b""  # which no key opens
        return cls.unwrapped(wrapped, key, journal)

    # Authenticated

    def mac(self, purpose: str, *parts: CodedValue) -> bytes:
        """The keyed code over the parts, for one purpose."""
        return hmac.digest(self._key(purpose), _encoded(parts), "sha256")

    # Encrypted

    def sealed(self, name: str, body: bytes, *, random: Callable[[int], bytes] = os.urandom) -> bytes:
        """A body encrypted and bound to its name."""
        return _sealed(self._key(_VAULT), name, body, random)

    def opened(self, name: str, body: bytes) -> bytes | None:
        """What was sealed under this name; None if it was not, or was changed."""
        return _opened(self._key(_VAULT), name, body)

    def _key(self, purpose: str) -> bytes:
        key = self._keys.get(purpose)
        if key is None:
            key = self._keys[purpose] = hmac.digest(self._raw, f"taisai {purpose}".encode(), "sha256")
        return key


def _encoded(parts: tuple[CodedValue, ...]) -> bytes:
    written = bytearray()
    for part in parts:
        if isinstance(part, bytes):
            kind, data = b"b", part
        elif isinstance(part, str):
            kind, data = b"s", part.encode()
        else:
            kind, data = b"i", b"%d" % part
        written += b"%b%d:" % (kind, len(data)) + data
    return bytes(written)


def _sealed(key: bytes, name: str, body: bytes, random: Callable[[int], bytes]) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    # Salt and nonce have 28 bytes together: names are written again and again, and 12 alone could repeat.
    salt, nonce = random(SECRET_BYTES // 2), random(NONCE_BYTES)
    return salt + nonce + AESGCM(_salted(key, salt)).encrypt(nonce, body, name.encode())


def _opened(key: bytes, name: str, body: bytes) -> bytes | None:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    half = SECRET_BYTES // 2
    salt, nonce, encrypted = body[:half], body[half : half + NONCE_BYTES], body[half + NONCE_BYTES :]
    try:
        return AESGCM(_salted(key, salt)).decrypt(nonce, encrypted, name.encode())
    except (InvalidTag, ValueError):
        return None


def _salted(key: bytes, salt: bytes) -> bytes:
    return hmac.digest(key, salt, "sha256")

"""Private keys encrypted by a passphrase: argon2id makes the key, AES-256-GCM encrypts and authenticates.

The file names algorithm and cost, so that a later release can read it and write a stronger one.

>>> text = encrypted(bytes(32), "three dice", "taisai.example/SB1", cost=KeyCost(passes=1, memory=8, lanes=1))
>>> opened(text, "three dice", "taisai.example/SB1") == bytes(32)
True
>>> opened(text, "two dice", "taisai.example/SB1") is None
True
"""

from __future__ import annotations

import os
import re
from base64 import b64decode, b64encode
from typing import Final, NamedTuple

SALT_BYTES: Final = 16  # as RFC 9106 recommends
NONCE_BYTES: Final = 12
CIPHER_KEY_BYTES: Final = 32
MOST_PASSES: Final = 100
MOST_MEMORY: Final = 4 * 1024 * 1024  # KiB: a file must not make the program take all memory
MOST_LANES: Final = 64
_BEGIN: Final = "-----BEGIN TAISAI ENCRYPTED PRIVATE KEY-----"
_END: Final = "-----END TAISAI ENCRYPTED PRIVATE KEY-----"
ENCRYPTED: Final = re.compile(
    rf"kdf: argon2id t=(\d{{1,9}}) m=(\d{{1,9}}) p=(\d{{1,9}})\ncipher: aes-256-gcm\n"
    rf"{_BEGIN}\n([A-Za-z0-9+/=]+)\n{_END}\n"
)


class KeyCost(NamedTuple):
    """The cost of deriving a key. The default is the second recommended option of RFC 9106."""

    passes: int = 3
    memory: int = 64 * 1024
    """KiB."""
    lanes: int = 4

    @property
    def is_bearable(self) -> bool:
        """Whether this machine should pay it for a file that it was given."""
        return (
            1 <= self.passes <= MOST_PASSES
            and 1 <= self.lanes <= MOST_LANES
            and 8 * self.lanes <= self.memory <= MOST_MEMORY
        )


DEFAULT_COST: Final = KeyCost()


def encrypted(raw: bytes, passphrase: str, name: str, *, cost: KeyCost = DEFAULT_COST) -> str:
    """The part of a key file after the name: how it is encrypted, and the encrypted key."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    salt, nonce = os.urandom(SALT_BYTES), os.urandom(NONCE_BYTES)
    head = _head(cost)
    sealed = AESGCM(_derived(passphrase, salt, cost)).encrypt(nonce, raw, _bound(name, head))
    return f"{head}{_BEGIN}\n{b64encode(salt + nonce + sealed).decode()}\n{_END}\n"


def opened(text: str, passphrase: str, name: str) -> bytes | None:
    """The key in such a part; None if the passphrase is another, or anything was changed."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    match = ENCRYPTED.fullmatch(text)
    if match is None:
        return None
    cost = KeyCost(*map(int, match.groups()[:3]))
    try:
        body = b64decode(match[4], validate=True)
        if not cost.is_bearable:
            return None
        salt, nonce = body[:SALT_BYTES], body[SALT_BYTES : SALT_BYTES + NONCE_BYTES]
        sealed = body[SALT_BYTES + NONCE_BYTES :]
        return AESGCM(_derived(passphrase, salt, cost)).decrypt(nonce, sealed, _bound(name, _head(cost)))
    except (InvalidTag, ValueError):
        return None


def _head(cost: KeyCost) -> str:
    return f"kdf: argon2id t={cost.passes} m={cost.memory} p={cost.lanes}\ncipher: aes-256-gcm\n"


def _bound(name: str, head: str) -> bytes:
    return f"name: {name}\n{head}".encode()


def _derived(passphrase: str, salt: bytes, cost: KeyCost) -> bytes:
    from argon2.exceptions import HashingError
    from argon2.low_level import Type, hash_secret_raw

    try:
        return hash_secret_raw(
            passphrase.encode(errors="surrogateescape"), salt, cost.passes, cost.memory, cost.lanes,
            CIPHER_KEY_BYTES, Type.ID,
        )  # fmt: skip
    except HashingError as error:
        raise ValueError(str(error)) from error

"""The second factor: codes of six digits that change every half minute (TOTP, RFC 6238).

>>> secret = b"12345678901234567890"
>>> code_at(secret, step_of(59_000))
'287082'
>>> accepted_step(secret, "287082", now=59_000, last=0)
1
>>> accepted_step(secret, "287082", now=59_000, last=1) is None  # used before
True
"""

from __future__ import annotations

from base64 import b32decode, b32encode
from hmac import compare_digest
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from taisai.server.runtime.clock import Entropy

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
    """The step that a code belongs to, if it is near now and later than the last one that was used."""
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

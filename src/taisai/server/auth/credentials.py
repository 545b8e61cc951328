"""Credentials: what the vault keeps of a person, so that he can be known again."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Protocol

import msgspec

from taisai.server.auth.passwords import Passwords
from taisai.server.auth.totp import base32, new_secret, otpauth
from taisai.server.runtime.clock import Entropy

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

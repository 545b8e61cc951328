"""Passkeys (WebAuthn): a key in a person's own device, which they unlock by fingerprint, face or PIN."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from hashlib import sha256
from ipaddress import ip_address
from typing import Any, Final, NamedTuple

import msgspec
from fido2.server import Fido2Server
from fido2.webauthn import AttestedCredentialData, PublicKeyCredentialRpEntity, UserVerificationRequirement

from taisai.server.runtime.environment import Entropy

MOST_PASSKEYS: Final = 10  # of one person: a telephone, a computer, a key or two, and those before
CHALLENGE_LASTS: Final = 2 * 60_000  # ms: to find the device and touch it
MOST_CHALLENGES: Final = 20_000  # at a time, some 2 MB: what a few strangers can ask for in that time
CHALLENGE: Final = 32  # random bytes
_ALGORITHMS: Final = (-8, -7, -257)  # EdDSA, ES256 and RS256, one of which every device has


class Passkey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The public half of a passkey, and the host that it is for."""

    host: str
    data: str
    """Its id and public key as WebAuthn encodes them, in base 64."""


class PasskeyOrigin(NamedTuple):
    """Where passkeys are used: a host, and the origin of its pages."""

    host: str
    origin: str


def passkey_origin(origins: Iterable[str], host_header: str) -> PasskeyOrigin | None:
    """The origin of a request to an allowed host; None where browsers allow no passkeys.

    >>> passkey_origin({"https://casino.example:8443"}, "casino.example:8443")
    PasskeyOrigin(host='casino.example', origin='https://casino.example:8443')
    >>> passkey_origin({"http://10.0.0.7:8080"}, "10.0.0.7:8080") is None  # an address, and no TLS
    True
    """
    for origin in origins:
        scheme, _, place = origin.partition("://")
        host = place.rpartition(":")[0] if place.rpartition(":")[2].isdigit() else place
        if place == host_header and (scheme == "https" or host == "localhost") and not _is_address(host):
            return PasskeyOrigin(host, origin)
    return None


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def registration_options(
    at: PasskeyOrigin, person: str, *, house: str, challenge: bytes, known: Sequence[Passkey]
) -> dict[str, Any]:
    """What a browser needs to make a passkey (PublicKeyCredentialCreationOptionsJSON)."""
    return {
        "challenge": _text(challenge),
        "rp": {"id": at.host, "name": house},
        "user": {"id": _text(sha256(person.encode()).digest()), "name": person, "displayName": person},
        "pubKeyCredParams": [{"type": "public-key", "alg": algorithm} for algorithm in _ALGORITHMS],
        "authenticatorSelection": {"residentKey": "required", "userVerification": "required"},
        "excludeCredentials": [
            {"type": "public-key", "id": _text(_data_of(passkey).credential_id)} for passkey in known
        ],
        "attestation": "none",
        "timeout": CHALLENGE_LASTS,
    }


def registered(at: PasskeyOrigin, challenge: bytes, response: dict[str, Any]) -> Passkey | None:
    """The passkey that a browser made for this challenge, unlocked by the person; None if it is not valid."""
    try:
        made = _server(at).register_complete(_state(challenge), response)
        return None if made.credential_data is None else Passkey(at.host, _text(bytes(made.credential_data)))
    except Exception:  # noqa: BLE001  whatever a browser sends that cannot be read is not valid
        return None


def is_accepted(
    passkeys: Sequence[Passkey], at: PasskeyOrigin, challenge: bytes, assertion: dict[str, Any]
) -> bool:
    """Whether one of the passkeys signed the challenge at this origin, unlocked by the person."""
    known = [_data_of(passkey) for passkey in passkeys if passkey.host == at.host]
    try:
        _server(at).authenticate_complete(_state(challenge), known, assertion)
    except Exception:  # noqa: BLE001  likewise
        return False
    return True


class Challenges:
    """Challenges that passkeys have not signed yet. Each is good once, for one purpose."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._open: OrderedDict[tuple[str, str], int] = OrderedDict()
        """Challenge and its purpose → when it ends, oldest first."""

    def new(self, now: int, purpose: str = "") -> str:
        """`purpose`: the approval that it is for; empty for everything that a person does for themselves."""
        challenge = _text(self._entropy(CHALLENGE))
        self._open[challenge, purpose] = now + CHALLENGE_LASTS
        if len(self._open) > MOST_CHALLENGES:
            self._open.popitem(last=False)
        return challenge

    def used(self, challenge: str, now: int, purpose: str = "") -> bytes | None:
        """The bytes of a challenge, which is then used up; None if it is not open for this purpose."""
        return _bytes(challenge) if now < self._open.pop((challenge, purpose), 0) else None


def _server(at: PasskeyOrigin) -> Fido2Server:
    relying_party = PublicKeyCredentialRpEntity(id=at.host, name=at.host)
    return Fido2Server(relying_party, verify_origin=lambda origin: origin == at.origin)


def _state(challenge: bytes) -> dict[str, Any]:
    return {"challenge": _text(challenge), "user_verification": UserVerificationRequirement.REQUIRED}


def _data_of(passkey: Passkey) -> AttestedCredentialData:
    return AttestedCredentialData(_bytes(passkey.data))


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _bytes(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))

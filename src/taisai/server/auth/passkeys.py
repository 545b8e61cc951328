"""Passkeys (WebAuthn): a key in a person's own device, which they unlock by fingerprint, face or PIN."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from hashlib import sha256
from hmac import compare_digest, digest
from ipaddress import ip_address
from typing import Any, Final, NamedTuple

import msgspec
from fido2.server import Fido2Server
from fido2.webauthn import AttestedCredentialData, PublicKeyCredentialRpEntity, UserVerificationRequirement

from taisai.server.runtime.environment import Entropy

MOST_PASSKEYS: Final = 10  # of one person: a telephone, a computer, a key or two, and those before
CHALLENGE_LASTS: Final = 2 * 60_000  # ms: to find the device and touch it
MOST_CHALLENGES: Final = 20_000  # used ones: tries that a few thousand networks may make in that time
CHALLENGE: Final = 32  # random bytes
_UNTIL: Final = 8  # bytes of the time in a challenge
_ALGORITHMS: Final = (-8, -7)  # EdDSA (Ed25519) and ES256; not RS256, whose keys and padding are too weak


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
        made = _server(at).register_complete(_state(challenge), response).credential_data
        if made is None or not _is_strong(made):
            return None
        return Passkey(at.host, _text(bytes(made)))
    except Exception:  # noqa: BLE001  whatever a browser sends that cannot be read is not valid
        return None


def is_accepted(
    passkeys: Sequence[Passkey], at: PasskeyOrigin, challenge: bytes, assertion: dict[str, Any]
) -> bool:
    """Whether one of the passkeys signed the challenge at this origin, unlocked by the person."""
    known = [
        data for passkey in passkeys if passkey.host == at.host and _is_strong(data := _data_of(passkey))
    ]
    try:
        _server(at).authenticate_complete(_state(challenge), known, assertion)
    except Exception:  # noqa: BLE001  likewise
        return False
    return True


class Challenges:
    """Challenges that passkeys sign. Each is good once, for one purpose.

    Nothing is stored for a challenge that is given out, so that nobody who asks for many ends those of
    others: it has its end, and a code by a key of this start. Only used ones are remembered.
    """

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._key = b""
        """Drawn for the first challenge."""
        self._used: OrderedDict[str, int] = OrderedDict()
        """Challenge → when it ends, in the order in which they were used."""

    def new(self, now: int, purpose: str = "") -> str:
        """`purpose`: the approval that it is for; empty for everything that a person does for themselves."""
        self._key = self._key or self._entropy(CHALLENGE)
        until = (now + CHALLENGE_LASTS).to_bytes(_UNTIL, "big")
        return _text(self._signed(until + self._entropy(CHALLENGE), purpose))

    def used(self, challenge: str, now: int, purpose: str = "") -> bytes | None:
        """The bytes of a challenge, which is then used up; None if it is not open for this purpose."""
        try:
            data = _bytes(challenge)
        except ValueError:
            return None
        until = int.from_bytes(data[:_UNTIL], "big")
        text = data[: _UNTIL + CHALLENGE]
        if not self._key or _text(data) != challenge:
            return None
        if not compare_digest(self._signed(text, purpose), data):
            return None
        if now >= until or challenge in self._used:
            return None
        self._forget(now)
        self._used[challenge] = until
        return data

    def _forget(self, now: int) -> None:
        """Forgets used challenges that have ended; if there are too many, the oldest."""
        while self._used:
            oldest, until = next(iter(self._used.items()))
            if until > now and len(self._used) < MOST_CHALLENGES:
                return
            del self._used[oldest]

    def _signed(self, text: bytes, purpose: str) -> bytes:
        return text + digest(self._key, text + purpose.encode(), "sha256")[:CHALLENGE]


def _server(at: PasskeyOrigin) -> Fido2Server:
    relying_party = PublicKeyCredentialRpEntity(id=at.host, name=at.host)
    return Fido2Server(relying_party, verify_origin=lambda origin: origin == at.origin)


def _state(challenge: bytes) -> dict[str, Any]:
    return {"challenge": _text(challenge), "user_verification": UserVerificationRequirement.REQUIRED}


def _data_of(passkey: Passkey) -> AttestedCredentialData:
    return AttestedCredentialData(_bytes(passkey.data))


def _is_strong(data: AttestedCredentialData) -> bool:
    return data.public_key.ALGORITHM in _ALGORITHMS


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _bytes(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))

"""A device with a passkey, in software: what a browser and its authenticator answer (WebAuthn, level 2)."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from fido2 import cbor

PRESENT, VERIFIED, HAS_KEY = 0x01, 0x04, 0x40


def text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def plain(value: str) -> bytes:
    return urlsafe_b64decode(value + "=" * (-len(value) % 4))


class PasskeyDevice:
    """One credential for one host."""

    def __init__(self, origin: str, host: str, *, number: int = 1) -> None:
        self.origin, self.host = origin, host
        self._key = ec.derive_private_key(number + 1_000, ec.SECP256R1())
        self.id = sha256(b"%d" % number).digest()
        self.flags = PRESENT | VERIFIED

    def _client(self, kind: str, challenge: str) -> bytes:
        data = {"type": f"webauthn.{kind}", "challenge": challenge, "origin": self.origin}
        return json.dumps(data).encode()

    def _authenticator(self, flags: int, more: bytes = b"") -> bytes:
        return sha256(self.host.encode()).digest() + bytes([flags]) + bytes(4) + more

    def attested(self) -> bytes:
        """The credential as WebAuthn encodes it."""
        return bytes(16) + len(self.id).to_bytes(2, "big") + self.id + cbor.encode(self._public())

    def _public(self) -> dict[int, Any]:
        numbers = self._key.public_key().public_numbers()
        return {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}

    def _signature(self, signed: bytes) -> bytes:
        return self._key.sign(signed, ec.ECDSA(hashes.SHA256()))

    def registers(self, options: dict[str, Any]) -> dict[str, Any]:
        """What `navigator.credentials.create` answers."""
        data = self._authenticator(self.flags | HAS_KEY, self.attested())
        attestation = cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
        client = self._client("create", options["challenge"])
        return {
            "id": text(self.id), "rawId": text(self.id), "type": "public-key", "clientExtensionResults": {},
            "response": {"clientDataJSON": text(client), "attestationObject": text(attestation)},
        }  # fmt: skip

    def signs(self, challenge: str) -> dict[str, Any]:
        """What `navigator.credentials.get` answers."""
        client, data = self._client("get", challenge), self._authenticator(self.flags)
        signature = self._signature(data + sha256(client).digest())
        return {
            "id": text(self.id), "rawId": text(self.id), "type": "public-key", "clientExtensionResults": {},
            "response": {
                "clientDataJSON": text(client), "authenticatorData": text(data), "signature": text(signature)
            },
        }  # fmt: skip


class RsaPasskeyDevice(PasskeyDevice):
    """A device that makes RS256 keys only."""

    def __init__(self, origin: str, host: str, *, number: int = 1) -> None:
        super().__init__(origin, host, number=number)
        self._rsa = rsa.generate_private_key(65_537, 2_048)

    def _public(self) -> dict[int, Any]:
        numbers = self._rsa.public_key().public_numbers()
        return {1: 3, 3: -257, -1: numbers.n.to_bytes(256, "big"), -2: b"\x01\x00\x01"}

    def _signature(self, signed: bytes) -> bytes:
        return self._rsa.sign(signed, padding.PKCS1v15(), hashes.SHA256())

"""Devices: a terminal, display or shaker proves with its own key that it is the one that was enrolled."""

from __future__ import annotations

from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from taisai.game.names import is_name

LEAST_NONCE: Final = 16  # bytes: a challenge that nobody meets twice
_SAYS: Final = b"taisai device 1\n"


def device_text(device: str, nonce: bytes) -> bytes:
    """What a device signs; no name has a line break, so it can be read in one way only."""
    return _SAYS + device.encode() + b"\n" + nonce


def device_proof(key: str, nonce: bytes, device: str, signature: bytes) -> bool:
    """Whether a device signed the challenge with the key, in hexadecimal, that it was enrolled with."""
    if not is_name(device) or len(nonce) < LEAST_NONCE:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(signature, device_text(device, nonce))
    except (InvalidSignature, ValueError):
        return False
    return True

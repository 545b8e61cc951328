"""Devices: a signature over the challenge by the enrolled key, and by nothing else."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from taisai.server.auth.credentials import LEAST_NONCE, device_proof

PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
KEY = PRIVATE.public_key().public_bytes_raw().hex()
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key().public_bytes_raw().hex()
NONCE = bytes(range(32))
SIGNED = PRIVATE.sign(b"taisai device 1\nT1-S4\n" + NONCE)


def test_the_device_that_was_enrolled_comes_in() -> None:
    assert device_proof(KEY, NONCE, "T1-S4", SIGNED)


@pytest.mark.parametrize(
    ("key", "nonce", "device", "signature"),
    [
        (OTHER, NONCE, "T1-S4", SIGNED),
        (KEY, bytes(32), "T1-S4", SIGNED),
        (KEY, NONCE, "T1-S5", SIGNED),
        (KEY, NONCE, "T1-S4", SIGNED[:-1]),
        (KEY, NONCE, "T1-S4", b""),
        (KEY, NONCE, "T1-S4", SIGNED[:-1] + bytes([SIGNED[-1] ^ 1])),
        (KEY[:-2], NONCE, "T1-S4", SIGNED),
        ("zz" * 32, NONCE, "T1-S4", SIGNED),
        ("", NONCE, "T1-S4", SIGNED),
        (KEY, NONCE, "", SIGNED),
        (KEY, NONCE[1:], "T1-S4\n" + chr(0), SIGNED),
        (KEY, NONCE, "\ud800", SIGNED),
    ],
)
def test_nothing_else_does(key: str, nonce: bytes, device: str, signature: bytes) -> None:
    assert not device_proof(key, nonce, device, signature)


def test_a_challenge_that_is_too_short_proves_nothing() -> None:
    for size in (LEAST_NONCE - 1, LEAST_NONCE):
        signed = PRIVATE.sign(b"taisai device 1\nT1-S4\n" + NONCE[:size])
        assert device_proof(KEY, NONCE[:size], "T1-S4", signed) == (size >= LEAST_NONCE)

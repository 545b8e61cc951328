r"""Cosignatures: what a witness signs under a checkpoint, with the time (c2sp.org/tlog-cosignature, Ed25519).

A cosignature says that this checkpoint was the largest that the witness had seen of the log at that time, and
that it continues everything that the witness had seen before.

>>> from taisai.journal.seals.keys import SigningKey
>>> key = SigningKey.new("witness.example/w1", seed=bytes(32))
>>> body = "taisai/SB1\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"
>>> line = cosigned(body, key, at=1_763_244_000)
>>> cosigned_at(body, [line], witness_key(key))
1763244000
>>> cosigned_at(body.replace("SB1", "SB2"), [line], witness_key(key)) is None
True
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from taisai.journal.seals.checkpoints import NoteSignature
from taisai.journal.seals.keys import SigningKey, WitnessKey

_TIME_BYTES: Final = 8
_SIGNATURE_BYTES: Final = _TIME_BYTES + 64
_LATEST: Final = 2**63 - 1  # seconds since 1970; the greatest that the form allows


def witness_key(key: SigningKey) -> WitnessKey:
    """The public half of a key that cosigns."""
    return WitnessKey(key.name, key.public.raw)


def cosigned(body: str, key: SigningKey, *, at: int) -> NoteSignature:
    """The cosignature of a checkpoint's text at a time in seconds since 1970."""
    if not 0 <= at <= _LATEST:
        raise ValueError(f"expected a time from 0 to {_LATEST} seconds, got {at}")
    signature = at.to_bytes(_TIME_BYTES, "big") + key.sign(_message(body, at))
    return NoteSignature(key.name, witness_key(key).id, signature)


def cosigned_at(body: str, signatures: Iterable[NoteSignature], key: WitnessKey) -> int | None:
    """When a witness cosigned a checkpoint's text, in seconds since 1970; None if it did not.

    All signatures with the key's name and id have to be valid. Signatures of other keys do not matter.
    """
    own = [note.signature for note in signatures if (note.name, note.id) == (key.name, key.id)]
    times = [_verified(body, signature, key) for signature in own]
    valid = [at for at in times if at is not None]
    return max(valid) if valid and len(valid) == len(times) else None


def _verified(body: str, signature: bytes, key: WitnessKey) -> int | None:
    if len(signature) != _SIGNATURE_BYTES:
        return None
    at = int.from_bytes(signature[:_TIME_BYTES], "big")
    is_valid = at <= _LATEST and key.verify(signature[_TIME_BYTES:], _message(body, at))
    return at if is_valid else None


def _message(body: str, at: int) -> bytes:
    return f"cosignature/v1\ntime {at}\n{body}".encode()

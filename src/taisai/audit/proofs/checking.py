"""Proofs, and how they are checked: with nothing but the proof and, if you have it, the operator's key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from taisai.journal.codec import MOST_BYTES as MOST_ENTRY_BYTES
from taisai.journal.errors import JournalError
from taisai.journal.seals.checkpoints import MOST_BYTES, CheckpointError, SignedCheckpoint, read_signed
from taisai.journal.seals.keys import KeysError, PublicKey
from taisai.journal.seals.merkle import check_consistency, check_inclusion, leaf_hash
from taisai.rules.errors import printable

MOST_PROOF_BYTES: Final = 2 * MOST_ENTRY_BYTES + 2 * MOST_BYTES
"""An entry, each of its quotation marks escaped, and two checkpoints."""


class FailedProofError(JournalError):
    """A proof that proves nothing: expected, got."""


class _Proof(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="proof"):
    v: Literal[1] = 1
    hashes: tuple[str, ...]
    """The hashes of the proof in hexadecimal, in the order of RFC 6962."""


class Inclusion(_Proof, frozen=True, kw_only=True, tag="inclusion"):
    """That an entry is one of those that a checkpoint was signed over."""

    position: int
    entry: str
    """The entry's exact text."""
    checkpoint: str
    key: str
    """The verifier key that the journal names for it."""


class Consistency(_Proof, frozen=True, kw_only=True, tag="consistency"):
    """That one checkpoint's entries begin with all of another's."""

    old: str
    old_key: str
    new: str
    new_key: str


Proof = Inclusion | Consistency
_DECODER: Final[msgspec.json.Decoder[Proof]] = msgspec.json.Decoder(Proof)


def written(proof: Proof) -> bytes:
    """A proof as one line of canonical JSON."""
    return msgspec.json.Encoder(order="sorted").encode(proof)


def read_proof(data: bytes, name: str) -> Proof:
    """The proof that a file holds; one that is none is refused, and has not failed."""
    try:
        return _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        says = (
            f"expected a proof that `taisai audit prove` wrote, got something else: {printable(str(error))}"
        )
        raise JournalError(f"{says} ({printable(name)})") from None


# Checking


class Checked(NamedTuple):
    """A checkpoint that a proof rests on, and whose signature under it holds."""

    signed: SignedCheckpoint
    by: PublicKey


def check_entry(proof: Inclusion, keys: Iterable[PublicKey] = ()) -> Checked:
    """The checkpoint that covers the entry, signed by one of the keys; without any, by the one it names."""
    checked = _checked(proof.checkpoint, keys, proof.key)
    body, checkpoint = proof.entry.encode(errors="surrogatepass"), checked.signed.checkpoint
    if _position_in(body) != proof.position:
        raise FailedProofError(f"expected an entry that says position {proof.position}, got another")
    if not check_inclusion(
        leaf_hash(body), index=proof.position - 1, size=checkpoint.size, proof=_hashes(proof),
        root=checkpoint.root,
    ):  # fmt: skip
        expected = f"hashes that lead from this entry to the root over {checkpoint.size} entries"
        raise FailedProofError(f"expected {expected}, got others: it is not the entry that was signed")
    return checked


def check_growth(proof: Consistency, keys: Iterable[PublicKey] = ()) -> tuple[Checked, Checked]:
    """Both checkpoints, the old one first."""
    keys = tuple(keys)
    old, new = _checked(proof.old, keys, proof.old_key), _checked(proof.new, keys, proof.new_key)
    before, after = old.signed.checkpoint, new.signed.checkpoint
    if before.origin != after.origin:
        raise FailedProofError(f"expected two checkpoints of {before.origin}, got one of {after.origin}")
    if not check_consistency(
        old_size=before.size, old_root=before.root, new_size=after.size, new_root=after.root,
        proof=_hashes(proof),
    ):  # fmt: skip
        expected = f"hashes that lead from {before.size} entries to {after.size}"
        raise FailedProofError(f"expected {expected}, got others: what was signed first was altered since")
    return old, new


def _checked(text: str, keys: Iterable[PublicKey], named: str) -> Checked:
    try:
        signed = read_signed(text)
        candidates = tuple(keys) or (PublicKey.parse(named),)
    except (CheckpointError, KeysError) as error:
        raise FailedProofError(
            f"expected a signed checkpoint and its key, got something else: {error}"
        ) from None
    for key in candidates:
        if signed.is_signed_by(key):
            return Checked(signed, key)
    names = ", ".join(f"{key.name} {key.id}" for key in candidates)
    raise FailedProofError(f"expected a checkpoint signed by {names}, got another or a forged one")


def _position_in(body: bytes) -> object:
    try:
        entry = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return entry.get("position") if isinstance(entry, dict) else None


def _hashes(proof: Proof) -> tuple[bytes, ...]:
    try:
        return tuple(map(bytes.fromhex, proof.hashes))
    except ValueError:
        raise FailedProofError("expected hashes in hexadecimal, got something else") from None

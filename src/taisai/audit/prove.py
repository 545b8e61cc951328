"""Short proofs: that an entry is in what was signed, and that a later checkpoint continues an earlier one.

Checking a proof needs only the proof and, for more trust, the operator's key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from taisai.audit.chain import wrong_root
from taisai.audit.sources import PROGRESS_EVERY, Body, Export, JournalFile, Progress
from taisai.journal.codec import JOURNAL_STREAM, Codec, JournalOpened, KeyIntroduced
from taisai.journal.codec import MOST_BYTES as MOST_ENTRY_BYTES
from taisai.journal.errors import DamagedError, JournalError
from taisai.journal.seals.checkpoints import (
    MOST_BYTES,
    Checkpoint,
    CheckpointError,
    SignedCheckpoint,
    read_signed,
)
from taisai.journal.seals.keys import KeysError, PublicKey
from taisai.journal.seals.merkle import (
    Frontier,
    check_consistency,
    check_inclusion,
    consistency_spans,
    inclusion_spans,
    leaf_hash,
)
from taisai.journal.stores.contract import StoredCheckpoint
from taisai.rules.errors import printable

MOST_PROOF_BYTES: Final = 2 * MOST_ENTRY_BYTES + 2 * MOST_BYTES
"""An entry with all its quotation marks escaped, and two checkpoints."""


class FailedProofError(JournalError):
    """A proof that does not hold."""


class _Proof(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="proof"):
    v: Literal[1] = 1
    hashes: tuple[str, ...]
    """Hexadecimal, in the order of RFC 6962."""


class Inclusion(_Proof, frozen=True, kw_only=True, tag="inclusion"):
    """Proves that an entry is one of those that a checkpoint was signed over."""

    position: int
    entry: str
    """The entry's exact text."""
    checkpoint: str
    key: str
    """The verifier key of the checkpoint, as the journal names it."""


class Consistency(_Proof, frozen=True, kw_only=True, tag="consistency"):
    """Proves that the entries of a new checkpoint begin with all entries of an old one."""

    old: str
    old_key: str
    new: str
    new_key: str


Proof = Inclusion | Consistency
_DECODER: Final[msgspec.json.Decoder[Proof]] = msgspec.json.Decoder(Proof)


def encoded_proof(proof: Proof) -> bytes:
    """A proof as one line of canonical JSON."""
    return msgspec.json.Encoder(order="sorted").encode(proof)


def read_proof(data: bytes, name: str) -> Proof:
    """The proof in a file; a file that is no proof is an error, not a failed proof."""
    try:
        return _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        problem = f"not a proof of `taisai audit prove`: {printable(str(error))}"
        raise JournalError(f"{problem} ({printable(name)})") from None


# Checking proofs


class Checked(NamedTuple):
    signed: SignedCheckpoint
    by: PublicKey


def check_entry(proof: Inclusion, keys: Iterable[PublicKey] = ()) -> Checked:
    """The checkpoint over the entry, signed by one of the keys; without keys, by the key in the proof."""
    checked = _checked(proof.checkpoint, keys, proof.key)
    body, checkpoint = proof.entry.encode(errors="surrogatepass"), checked.signed.checkpoint
    if (position := _position_in(body)) != proof.position:
        got = "no position" if position is None else f"position {printable(repr(position))}"
        raise FailedProofError(f"expected an entry with position {proof.position}, got {got}")
    if not check_inclusion(
        leaf_hash(body), index=proof.position - 1, size=checkpoint.size, proof=_hashes(proof),
        root=checkpoint.root,
    ):  # fmt: skip
        problem = f"the hashes do not lead to the root over {checkpoint.size} entries"
        raise FailedProofError(f"this entry was not signed: {problem}")
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
        problem = f"the hashes do not lead from {before.size} entries to {after.size}"
        raise FailedProofError(f"an entry before the first checkpoint was altered: {problem}")
    return old, new


def _checked(text: str, keys: Iterable[PublicKey], named: str) -> Checked:
    try:
        signed = read_signed(text)
        candidates = tuple(keys) or (PublicKey.parse(named),)
    except (CheckpointError, KeysError) as error:
        raise FailedProofError(f"the proof has no valid checkpoint or key: {error}") from None
    for key in candidates:
        if signed.is_signed_by(key):
            return Checked(signed, key)
    names = ", ".join(f"{key.name} {key.id}" for key in candidates)
    raise FailedProofError(f"the checkpoint has no valid signature of {names}")


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
        raise FailedProofError("the hashes of the proof are not hexadecimal") from None


# Making proofs

_OWN: Final = f'"stream":"{JOURNAL_STREAM}"'.encode()


def checkpoints_of(source: JournalFile | Export) -> Iterator[SignedCheckpoint]:
    """Every checkpoint of a file, in order; nothing is verified."""
    if isinstance(source, JournalFile):
        kept = iter(source.reader.checkpoints())
    else:
        kept = (piece for piece in source.pieces() if isinstance(piece, StoredCheckpoint))
    return map(_read, kept)


def _read(stored: StoredCheckpoint) -> SignedCheckpoint:
    try:
        return read_signed(stored.text)
    except CheckpointError as error:
        raise DamagedError(stored.size, f"the checkpoint is invalid: {error}") from None


def prove_entry(
    source: JournalFile | Export, position: int, *, size: int | None = None, progress: Progress | None = None
) -> Inclusion:
    """A proof of an entry by the latest checkpoint, or by the latest one over `size` entries."""
    signed = _latest(source, size)
    over = signed.checkpoint.size
    if not 1 <= position <= over:
        raise JournalError(f"expected an entry that the checkpoint covers, from 1 to {over}, got {position}")
    spans = inclusion_spans(position - 1, over)
    walk = _Walk(spans, keep=position).over(source, [signed.checkpoint], progress)
    try:
        entry = walk.entry.decode()
    except UnicodeDecodeError:
        raise DamagedError(position, "the entry is not UTF-8") from None
    key = walk.key_of(signed).text
    return Inclusion(position=position, entry=entry, checkpoint=signed.text, key=key, hashes=walk.hashes())


def prove_growth(
    source: JournalFile | Export, held: SignedCheckpoint, *, progress: Progress | None = None
) -> Consistency:
    """A proof that the latest checkpoint continues one that was kept elsewhere."""
    signed = _latest(source, None)
    old, new = held.checkpoint, signed.checkpoint
    if old.origin != new.origin:
        raise JournalError(f"expected a checkpoint of {new.origin}, got one of {printable(old.origin)}")
    if not 1 <= old.size <= new.size:
        raise JournalError(f"expected a checkpoint over at most {new.size} entries, got one over {old.size}")
    walk = _Walk(consistency_spans(old.size, new.size)).over(source, [old, new], progress)
    keys = walk.key_of(held).text, walk.key_of(signed).text
    return Consistency(old=held.text, old_key=keys[0], new=signed.text, new_key=keys[1], hashes=walk.hashes())


def _latest(source: JournalFile | Export, size: int | None) -> SignedCheckpoint:
    latest = None
    sizes: dict[int, None] = {}
    for signed in checkpoints_of(source):
        sizes[signed.checkpoint.size] = None
        if size in (None, signed.checkpoint.size):
            latest = signed
    if latest is None:
        wanted = "a checkpoint" if size is None else f"a checkpoint over {size} entries"
        latest_sizes = ", ".join(map(str, list(sizes)[-20:]))
        known = f"those over {latest_sizes}" if sizes else "a file without checkpoints"
        raise JournalError(f"expected {wanted}, got {known} ({source.name})")
    return latest


class _Walk:
    """One reading of a file: the hashes of some spans, one entry, and the keys that the journal names."""

    def __init__(self, spans: Sequence[range], keep: int = 0) -> None:
        self._trees = [(span, Frontier()) for span in spans]
        self._keep = keep
        self._keys: list[PublicKey] = []
        self.entry = b""

    def over(
        self, source: JournalFile | Export, checkpoints: Iterable[Checkpoint], progress: Progress | None
    ) -> _Walk:
        """Reads up to the last of the checkpoints, and compares the root of each."""
        due = sorted(checkpoints, key=lambda checkpoint: checkpoint.size)
        tree = Frontier()
        for piece in source.pieces():
            if not due:
                return self
            if isinstance(piece, Body):
                self._take(piece.body, tree)
                if progress and not tree.size % PROGRESS_EVERY:
                    progress(source.done, source.total)
                while due and due[0].size == tree.size:
                    root = due.pop(0).root
                    if root != tree.root():
                        raise wrong_root(root, tree)
        if due:
            expected = f"the {due[0].size} entries of a checkpoint"
            raise DamagedError(tree.size + 1, f"expected {expected}, got {tree.size}: the journal was cut")
        return self

    def _take(self, body: bytes, tree: Frontier) -> None:
        leaf, place = leaf_hash(body), tree.size
        tree.append(leaf)
        for span, hashed in self._trees:
            if place in span:
                hashed.append(leaf)
        if tree.size == self._keep:
            self.entry = body
        if _OWN in body:
            self._learn(body, tree.size)

    def _learn(self, body: bytes, position: int) -> None:
        event: Any = Codec().decode(body, position).event
        if isinstance(event, JournalOpened | KeyIntroduced):
            try:
                self._keys.append(PublicKey.parse(event.key))
            except KeysError as error:
                raise DamagedError(position, str(error)) from None

    def key_of(self, signed: SignedCheckpoint) -> PublicKey:
        """The key of the journal that signed a checkpoint."""
        for key in reversed(self._keys):
            if signed.is_signed_by(key):
                return key
        size = signed.checkpoint.size
        problem = f"no key of the journal has signed the checkpoint over {size} entries"
        raise DamagedError(size, problem)

    def hashes(self) -> tuple[str, ...]:
        return tuple(tree.root().hex() for _, tree in self._trees)

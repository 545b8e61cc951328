"""Short proofs: that an entry is in what was signed, and that what was signed later continues it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from taisai.audit.proofs.checking import Consistency, Inclusion
from taisai.audit.sources import TOLD_EVERY, Body, Export, JournalFile, Progress
from taisai.journal.codec import JOURNAL_STREAM, Codec, JournalOpened, KeyIntroduced
from taisai.journal.errors import DamagedError, JournalError
from taisai.journal.seals.checkpoints import Checkpoint, CheckpointError, SignedCheckpoint, read_signed
from taisai.journal.seals.keys import KeysError, PublicKey
from taisai.journal.seals.merkle import Frontier, consistency_spans, inclusion_spans, leaf_hash
from taisai.journal.stores.contract import StoredCheckpoint
from taisai.rules.errors import printable

_OWN: Final = f'"stream":"{JOURNAL_STREAM}"'.encode()


def checkpoints_of(source: JournalFile | Export) -> Iterator[SignedCheckpoint]:
    """Every checkpoint that a file holds, in its order; they are read, and not verified."""
    if isinstance(source, JournalFile):
        kept = iter(source.reader.checkpoints())
    else:
        kept = (piece for piece in source.pieces() if isinstance(piece, StoredCheckpoint))
    return map(_read, kept)


def _read(sealed: StoredCheckpoint) -> SignedCheckpoint:
    try:
        return read_signed(sealed.text)
    except CheckpointError as error:
        raise DamagedError(sealed.size, f"expected a checkpoint, got something else: {error}") from None


def prove_entry(
    source: JournalFile | Export, position: int, *, size: int | None = None, progress: Progress | None = None
) -> Inclusion:
    """A proof of an entry in the latest checkpoint, or in the latest one over so many entries."""
    signed = _latest(source, size)
    over = signed.checkpoint.size
    if not 1 <= position <= over:
        raise JournalError(f"expected an entry that the checkpoint covers, from 1 to {over}, got {position}")
    spans = inclusion_spans(position - 1, over)
    walk = _Walk(spans, keep=position).over(source, [signed.checkpoint], progress)
    return Inclusion(
        position=position,
        entry=_text(walk.entry, position),
        checkpoint=signed.text,
        key=walk.key_of(signed).text,
        hashes=walk.hashes(),
    )


def _text(body: bytes, position: int) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise DamagedError(position, "expected an entry in UTF-8, got something else") from None


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
    return Consistency(
        old=held.text,
        old_key=walk.key_of(held).text,
        new=signed.text,
        new_key=walk.key_of(signed).text,
        hashes=walk.hashes(),
    )


def _latest(source: JournalFile | Export, size: int | None) -> SignedCheckpoint:
    found = None
    sizes: dict[int, None] = {}
    for signed in checkpoints_of(source):
        sizes[signed.checkpoint.size] = None
        if size in (None, signed.checkpoint.size):
            found = signed
    if found is None:
        there = ", ".join(map(str, list(sizes)[-20:])) or "none"
        wanted = "a checkpoint" if size is None else f"a checkpoint over {size} entries"
        raise JournalError(f"expected {wanted}, got those over {there} ({source.name})")
    return found


class _Walk:
    """One reading of a file: the hashes of some spans of it, one entry, and the keys that it names."""

    def __init__(self, spans: Sequence[range], keep: int = 0) -> None:
        self._trees = [(span, Frontier()) for span in spans]
        self._keep = keep
        self._keys: list[PublicKey] = []
        self.entry = b""

    def over(
        self, source: JournalFile | Export, checkpoints: Iterable[Checkpoint], progress: Progress | None
    ) -> _Walk:
        """Reads as far as the last of the checkpoints; each must be over what stands there."""
        due = sorted(checkpoints, key=lambda one: one.size)
        tree = Frontier()
        for piece in source.pieces():
            if not due:
                return self
            if isinstance(piece, Body):
                self._take(piece.body, tree)
                if progress and not tree.size % TOLD_EVERY:
                    progress(source.done, source.total)
                while due and due[0].size == tree.size:
                    _expect_root(due.pop(0), tree)
        if due:
            says = f"expected the {due[0].size} entries of a checkpoint, got {tree.size}: the journal was cut"
            raise DamagedError(tree.size + 1, says)
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
        expected = f"the checkpoint over {size} entries signed by a key of the journal"
        raise DamagedError(size, f"expected {expected}, got another or a forged one")

    def hashes(self) -> tuple[str, ...]:
        """What was asked for."""
        return tuple(tree.root().hex() for _, tree in self._trees)


def _expect_root(checkpoint: Checkpoint, tree: Frontier) -> None:
    if checkpoint.root != tree.root():
        raise DamagedError(
            tree.size,
            f"expected the root {checkpoint.root.hex()[:16]}… that was signed over {tree.size} entries, got "
            f"{tree.root().hex()[:16]}…: something up to here is not what was signed",
        )

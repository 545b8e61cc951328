"""The Merkle tree over a log of entries: its root hash, and proofs of inclusion and consistency.

The tree is that of RFC 6962 and RFC 9162: SHA-256, with the prefix 0x00 for a leaf and 0x01 for a node, so
that neither can pass for the other.

>>> tree = Frontier()
>>> leaves = [leaf_hash(entry) for entry in (b"bets opened", b"bet registered", b"bets closed")]
>>> for leaf in leaves:
...     tree.append(leaf)
>>> proof = inclusion_proof(leaves, 1, 3)
>>> check_inclusion(leaves[1], index=1, size=3, proof=proof, root=tree.root())
True
>>> check_inclusion(leaf_hash(b"bet voided"), index=1, size=3, proof=proof, root=tree.root())
False
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final

HASH_BYTES: Final = 32
EMPTY_ROOT: Final = sha256().digest()
MOST_LEAVES: Final = 2**63 - 1  # the highest row number of SQLite; a forged size must not cost time
_AT_ONCE: Final = 4096  # leaves read at once from a sequence that may be on disk


def leaf_hash(data: bytes) -> bytes:
    """The hash of an entry, from its exact bytes."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


class Frontier:
    """A growing tree that stores only its peaks: the roots of its full subtrees, the largest first."""

    __slots__ = ("_peaks", "_size")

    def __init__(self, size: int = 0, peaks: Iterable[bytes] = ()) -> None:
        kept = list(peaks)
        if type(size) is not int or not 0 <= size <= MOST_LEAVES:
            raise ValueError(f"expected a size from 0 to {MOST_LEAVES}, got {size!r}")
        if len(kept) != size.bit_count():
            raise ValueError(f"expected {size.bit_count()} peaks for {size} leaves, got {len(kept)}")
        for place, peak in enumerate(kept, 1):
            if not _is_hash(peak):
                raise ValueError(f"expected a hash of {HASH_BYTES} bytes, got {peak!r} (peak {place})")
        self._size = size
        self._peaks = kept

    def __repr__(self) -> str:
        return f"Frontier(size={self._size}, peaks={self.peaks})"

    @property
    def size(self) -> int:
        return self._size

    @property
    def peaks(self) -> tuple[bytes, ...]:
        return tuple(self._peaks)

    def append(self, leaf: bytes) -> None:
        """Appends a leaf by its hash."""
        if len(leaf) != HASH_BYTES:
            raise ValueError(f"expected the hash of a leaf, {HASH_BYTES} bytes, got {len(leaf)}")
        # Hot path: every bet. The trailing 1 bits of the size are the peaks that the new leaf completes.
        peaks, carry = self._peaks, self._size
        while carry & 1:
            leaf = sha256(b"\x01" + peaks.pop() + leaf).digest()
            carry >>= 1
        peaks.append(leaf)
        self._size += 1

    def root(self) -> bytes:
        if not self._peaks:
            return EMPTY_ROOT
        *larger, root = self._peaks
        for peak in reversed(larger):
            root = node_hash(peak, root)
        return root


def root_of(leaves: Sequence[bytes]) -> bytes:
    return _root_over(leaves, range(len(leaves)))


def inclusion_spans(index: int, size: int) -> list[range]:
    """The leaves that each hash of an inclusion proof covers, from the leaf up."""
    if not 0 <= index < size:
        raise ValueError(f"expected the index of one of {size} leaves, got {index}")
    spans = []
    start, end = 0, size
    while end - start > 1:
        middle = _middle(start, end)
        if index < middle:
            spans.append(range(middle, end))
            end = middle
        else:
            spans.append(range(start, middle))
            start = middle
    spans.reverse()
    return spans


def consistency_spans(old: int, new: int) -> list[range]:
    """The leaves that each hash of a consistency proof covers.

    The first is the smallest full subtree of the old tree; if that tree is itself full, its root replaces
    it. From an empty tree, or between trees of the same size, there is nothing to prove.
    """
    if not 0 <= old <= new:
        raise ValueError(f"expected an old size from 0 to {new}, got {old}")
    if old == 0:
        return []
    spans = []
    start, end = 0, new
    while end > old:
        middle = _middle(start, end)
        if old <= middle:
            spans.append(range(middle, end))
            end = middle
        else:
            spans.append(range(start, middle))
            start = middle
    if start:
        spans.append(range(start, end))
    spans.reverse()
    return spans


def inclusion_proof(leaves: Sequence[bytes], index: int, size: int) -> list[bytes]:
    """The hashes that lead from a leaf to the root of the tree over the first `size` leaves."""
    _expect_leaves(leaves, size)
    return [_root_over(leaves, span) for span in inclusion_spans(index, size)]


def consistency_proof(leaves: Sequence[bytes], old: int, new: int) -> list[bytes]:
    """The hashes that show that the tree of the first `new` leaves begins with that of the first `old`."""
    _expect_leaves(leaves, new)
    return [_root_over(leaves, span) for span in consistency_spans(old, new)]


def check_inclusion(leaf: bytes, *, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether the proof shows that a tree of this size and root has the leaf at the index.

    A proof is untrusted: any fault in it, also a wrong type or length, gives False. Size and root must come
    from one checkpoint: a root alone does not determine the size, and some proofs hold for several sizes.
    """
    if not (_is_size(size) and _is_size(index) and index < size and _are_hashes((leaf, root))):
        return False
    spans = inclusion_spans(index, size)
    if not (_is_as_long(proof, spans) and _are_hashes(proof)):
        return False
    reached = leaf
    for span, beside in zip(spans, proof, strict=True):
        reached = node_hash(beside, reached) if span.start < index else node_hash(reached, beside)
    return reached == root


def check_consistency(
    *, old_size: int, old_root: bytes, new_size: int, new_root: bytes, proof: Sequence[bytes]
) -> bool:
    """Whether the proof shows that the new tree begins with all of the old one.

    A proof is untrusted: any fault in it, also a wrong type or length, gives False. Every tree begins with
    the empty tree, by an empty proof.
    """
    if not (_is_size(old_size) and _is_size(new_size) and old_size <= new_size):
        return False
    if not (_is_root(old_root, old_size) and _is_root(new_root, new_size)):
        return False
    spans = consistency_spans(old_size, new_size)
    if not (_is_as_long(proof, spans) and _are_hashes(proof)):
        return False
    if old_size == 0:
        return True
    steps = list(zip(spans, proof, strict=True))
    reached = old_root
    if steps and steps[0][0].stop == old_size:
        reached = steps.pop(0)[1]
    old_reached = new_reached = reached
    for span, beside in steps:
        if span.start < old_size:
            old_reached = node_hash(beside, old_reached)
            new_reached = node_hash(beside, new_reached)
        else:
            new_reached = node_hash(new_reached, beside)
    return old_reached == old_root and new_reached == new_root


def _middle(start: int, end: int) -> int:
    """Where a subtree divides: after the largest power of two below its number of leaves."""
    return start + (1 << (end - start - 1).bit_length() - 1)


def _root_over(leaves: Sequence[bytes], span: range) -> bytes:
    tree = Frontier()
    for start in range(span.start, span.stop, _AT_ONCE):
        for leaf in leaves[start : min(start + _AT_ONCE, span.stop)]:
            tree.append(leaf)
    return tree.root()


def _expect_leaves(leaves: Sequence[bytes], size: int) -> None:
    if size > len(leaves):
        raise ValueError(f"expected a size of at most {len(leaves)}, the number of leaves, got {size}")


def _is_as_long(proof: Sequence[bytes], spans: Sequence[range]) -> bool:
    return isinstance(proof, list | tuple) and len(proof) == len(spans)


def _are_hashes(values: Iterable[object]) -> bool:
    return all(_is_hash(value) for value in values)


def _is_hash(value: object) -> bool:
    return type(value) is bytes and len(value) == HASH_BYTES


def _is_size(value: object) -> bool:
    return type(value) is int and 0 <= value <= MOST_LEAVES


def _is_root(value: object, size: int) -> bool:
    """Whether a value can be the root of a tree of this size: the empty tree has only one."""
    return _is_hash(value) and (size > 0 or value == EMPTY_ROOT)

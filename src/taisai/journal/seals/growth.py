"""The growth of a tree: its state at a size, and the leaves since, which prove every later size.

>>> from taisai.journal.seals.merkle import Frontier, check_consistency, leaf_hash
>>> leaves = [leaf_hash(b"%d" % number) for number in range(9)]
>>> growth, whole = Growth(Frontier()), Frontier()
>>> growth.extend(leaves[:5], after=0)
>>> old_root = growth.root()
>>> growth.advance(5)
>>> growth.extend(leaves[5:], after=5)
>>> for leaf in leaves:
...     whole.append(leaf)
>>> check_consistency(
...     old_size=5,
...     old_root=old_root,
...     new_size=9,
...     new_root=whole.root(),
...     proof=growth.proof(9),
... )
True
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from taisai.journal.seals.merkle import Frontier, consistency_spans, root_of


class Growth:
    """A tree at its base, and the leaves after it. It holds no entry before the base."""

    def __init__(self, base: Frontier) -> None:
        self._base = _copied(base)
        self._leaves: list[bytes] = []

    @property
    def base(self) -> Frontier:
        return _copied(self._base)

    @property
    def size(self) -> int:
        """The size up to which every size can be proved."""
        return self._base.size + len(self._leaves)

    @property
    def leaves(self) -> int:
        """How many leaves it holds."""
        return len(self._leaves)

    def extend(self, leaves: Iterable[bytes], *, after: int) -> None:
        """Adds the leaves after a size; leaves that do not follow its own are of no use, and are left out."""
        if after == self.size:
            self._leaves += leaves

    def forget(self) -> None:
        """Forgets all leaves; they have to be read again before the next proof."""
        self._leaves.clear()

    def advance(self, size: int) -> None:
        """Moves the base to a size, and forgets the leaves up to there."""
        self._expect(size)
        count = size - self._base.size
        for leaf in self._leaves[:count]:
            self._base.append(leaf)
        del self._leaves[:count]

    def rebase(self, tree: Frontier) -> None:
        """Begins at another tree, and keeps the leaves after it."""
        held = self.size
        self._leaves = (
            self._leaves[tree.size - self._base.size :] if self._base.size <= tree.size <= held else []
        )
        self._base = _copied(tree)

    def root(self) -> bytes:
        """The root over all leaves."""
        tree = self.base
        for leaf in self._leaves:
            tree.append(leaf)
        return tree.root()

    def proof(self, size: int) -> list[bytes]:
        """The consistency proof from the base to a size (RFC 6962, 2.1.2); from nothing it is empty."""
        if not self._base.size:
            return []
        self._expect(size)
        start, hashes = self._base.size, self.peaks()
        return [
            hashes[span.start, span.stop]
            if span.start < start
            else root_of(self._leaves[span.start - start : span.stop - start])
            for span in consistency_spans(start, size)
        ]

    def peaks(self) -> dict[tuple[int, int], bytes]:
        """The full subtrees of the base: first leaf and end → root."""
        found, place = dict[tuple[int, int], bytes](), 0
        for peak in self._base.peaks:  # the largest first, each over a power of two
            width = 1 << ((self._base.size - place).bit_length() - 1)
            found[place, place + width] = peak
            place += width
        return found

    def _expect(self, size: int) -> None:
        if not self._base.size <= size <= self.size:
            raise ValueError(f"expected a size from {self._base.size} to {self.size}, got {size}")


def _copied(tree: Frontier) -> Frontier:
    return Frontier(tree.size, tree.peaks)


# The tree as stored with the newest checkpoint. It has no code: its growth has to give the journal's root.


class _SeenTree(msgspec.Struct, frozen=True):
    size: int
    peaks: tuple[bytes, ...]


def tree_bytes(tree: Frontier) -> bytes:
    """A tree as it is stored with the newest checkpoint."""
    return msgspec.json.encode(_SeenTree(tree.size, tree.peaks))


def tree_from(body: bytes) -> Frontier | None:
    """The tree in stored bytes; None if they hold none."""
    try:
        read = msgspec.json.decode(body, type=_SeenTree)
        return Frontier(read.size, read.peaks)
    except (msgspec.DecodeError, ValueError):
        return None

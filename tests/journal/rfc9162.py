"""The Merkle tree as RFC 9162 defines it, sentence by sentence: the slow twin of ours."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property

Hash = bytes
Sides = tuple[str, ...]


def hashed(data: bytes) -> Hash:
    return hashlib.sha256(data).digest()


class Log:
    """Entries, and all that section 2.1 says of them; what was once computed is kept."""

    def __init__(self, entries: Sequence[bytes]) -> None:
        self.entries = tuple(entries)
        self._roots: dict[tuple[int, int], Hash] = {}

    @cached_property
    def leaves(self) -> list[Hash]:
        return [hashed(b"\x00" + entry) for entry in self.entries]

    def mth(self, start: int, end: int) -> Hash:
        """2.1.1: the hash of D[start:end]."""
        if (start, end) not in self._roots:
            self._roots[start, end] = self._mth(start, end)
        return self._roots[start, end]

    def _mth(self, start: int, end: int) -> Hash:
        n = end - start
        if n == 0:
            return hashed(b"")
        if n == 1:
            return hashed(b"\x00" + self.entries[start])
        k = split(n)
        return hashed(b"\x01" + self.mth(start, start + k) + self.mth(start + k, end))

    def root(self, size: int) -> Hash:
        return self.mth(0, size)

    def path(self, m: int, start: int, end: int) -> list[Hash]:
        """2.1.3.1: PATH(m, D[start:end])."""
        n = end - start
        if n == 1:
            return []
        k = split(n)
        if m < k:
            return [*self.path(m, start, start + k), self.mth(start + k, end)]
        return [*self.path(m - k, start + k, end), self.mth(start, start + k)]

    def proof(self, m: int, n: int) -> list[Hash]:
        """2.1.4.1: PROOF(m, D_n), for 0 < m < n."""
        return self._subproof(m, 0, n, whole=True)

    def _subproof(self, m: int, start: int, end: int, *, whole: bool) -> list[Hash]:
        n = end - start
        if m == n:
            return [] if whole else [self.mth(start, end)]
        k = split(n)
        if m <= k:
            return [*self._subproof(m, start, start + k, whole=whole), self.mth(start + k, end)]
        return [*self._subproof(m - k, start + k, end, whole=False), self.mth(start, start + k)]


def split(n: int) -> int:
    """The largest power of two smaller than n."""
    k = 1
    while k * 2 < n:
        k *= 2
    return k


def sides(m: int, n: int) -> Sides:
    """On which side of leaf m of n each hash of its path is joined, from the leaf up."""
    if n == 1:
        return ()
    k = split(n)
    return (*sides(m, k), "right") if m < k else (*sides(m - k, n - k), "left")


def verified_inclusion(leaf: Hash, *, index: int, size: int, proof: Sequence[Hash], root: Hash) -> bool:
    """2.1.3.2, by its own numbering."""
    if index >= size:  # 1
        return False
    fn, sn, r = index, size - 1, leaf  # 2, 3
    for p in proof:  # 4
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            r = hashed(b"\x01" + p + r)
            while not fn & 1 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = hashed(b"\x01" + r + p)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and r == root  # 5


def verified_consistency(
    *, old_size: int, old_root: Hash, new_size: int, new_root: Hash, proof: Sequence[Hash]
) -> bool:
    """2.1.4.2, by its own numbering, for 0 < old < new."""
    path = list(proof)
    if not path:  # 1
        return False
    if old_size & (old_size - 1) == 0:  # 2
        path.insert(0, old_root)
    fn, sn = old_size - 1, new_size - 1  # 3
    while fn & 1:  # 4
        fn, sn = fn >> 1, sn >> 1
    fr = sr = path[0]  # 5
    for c in path[1:]:  # 6
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr, sr = hashed(b"\x01" + c + fr), hashed(b"\x01" + c + sr)
            while not fn & 1 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = hashed(b"\x01" + sr + c)
        fn, sn = fn >> 1, sn >> 1
    return fr == old_root and sr == new_root and sn == 0  # 7

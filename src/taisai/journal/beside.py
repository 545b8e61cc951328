"""What is stored beside the chain: snapshots, their parts, the tree, the head and the vault.

Nothing of it is believed without a code that only the holder of the storage secret can make. What has no
valid code counts as absent: a start makes it again from the entries, and the pit has an alarm.

A code alone does not say of which history a snapshot is: a copy of the journal that was continued elsewhere
has valid ones. So the head is bound to the tree over all entries, and a snapshot counts only if the stored
tree names it, or if the entries that are hashed pass through its own tree.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final, NamedTuple, TypeVar, cast

import msgspec

from taisai.journal.seals.merkle import Frontier
from taisai.journal.seals.secret import StorageSecret
from taisai.journal.stores.contract import Head, Store, StoredSnapshot

CODE_BYTES: Final = 32
MOST_DISTRUSTED: Final = 100
"""Rows without a valid code that are listed one by one; a forger could fill the memory with them."""
TREE: Final = "tree"
"""The name of the tree's snapshot."""
_SNAPSHOT: Final = "snapshot"
_PART: Final = "part"


class Distrusted(NamedTuple):
    """Something stored beside the chain that has no valid code, and counts as absent."""

    kind: str
    """'snapshot', 'part', 'tree' or 'vault'."""
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


Distrust = Callable[[str, str], None]
"""Takes note of a kind and a name."""


class Parts(msgspec.Struct, frozen=True, array_like=True):
    """The version of each part that belongs to a snapshot, so that none can be replaced by an older one."""

    last: int
    """The highest number of a part."""
    runs: tuple[tuple[int, int], ...]
    """A number, and the version of that part and of those after it, up to the next run."""
    trees: dict[int, bytes]
    """Version → what the tree was then, in short: parts of another history have another one."""

    def version(self, number: int) -> int | None:
        """The version of a part; None if the snapshot has no such part."""
        index = bisect_right(self.runs, number, key=_first) - 1
        return self.runs[index][1] if index >= 0 and number <= self.last else None

    def stored(self, numbers: Iterable[int], version: int, tree: bytes) -> Parts:
        """The same after some parts were stored again at a version."""
        runs, last = list(self.runs), self.last
        for number in sorted(numbers):
            index = bisect_right(runs, number, key=_first)
            following = runs[index - 1][1] if index else None
            if index and runs[index - 1][0] == number:
                index -= 1
                del runs[index]
            is_run_before = bool(index) and runs[index - 1][1] == version
            if not is_run_before:
                runs.insert(index, (number, version))
                index += 1
            starts_next = index < len(runs) and runs[index][0] == number + 1
            if number < last and not starts_next and following is not None:
                runs.insert(index, (number + 1, following))
            last = max(last, number)
        trees = self.trees | {version: tree}
        return Parts(last, tuple(runs), {at: trees[at] for _, at in runs})


NO_PARTS: Final = Parts(0, (), {})


def _first(run: tuple[int, int]) -> int:
    return run[0]


class Tree(msgspec.Struct, frozen=True, array_like=True):
    """The tree over the first entries, so that a start does not hash every entry again."""

    size: int
    peaks: tuple[bytes, ...]


NO_TREE: Final = Tree(0, ())


class KeptTree(msgspec.Struct, frozen=True, array_like=True):
    """The tree as stored, with the version that each stream had then."""

    tree: Tree
    versions: dict[str, int]
    codes: dict[str, bytes]
    """Stream → the code of its snapshot then."""


class KeptSnapshot(msgspec.Struct, frozen=True, array_like=True):
    """The state of a stream as stored."""

    tree: Tree
    """Over all entries at that time: a start hashes the entries after it again."""
    parts: Parts
    body: bytes


_Kept = TypeVar("_Kept", KeptTree, KeptSnapshot)


class _Content(NamedTuple):
    """What a stored snapshot holds."""

    version: int
    code: bytes
    content: bytes


class _Opened(NamedTuple):
    """A stored snapshot with a valid code."""

    version: int
    code: bytes
    kept: KeptSnapshot


class Snapshots:
    """The snapshots of one journal in a store, each with its code."""

    def __init__(self, store: Store, secret: StorageSecret, journal: str) -> None:
        self._store, self._secret, self._journal = store, secret, journal
        self.distrusted: list[Distrusted] = []
        """What had no valid code so far, each once."""
        self._parts: dict[str, Parts] = {}
        self._ready: dict[str, _Opened] = {}
        """What a start has opened and the engine has not taken yet."""
        self._codes: dict[str, bytes] = {}
        """Stream → the code of its snapshot, as far as it is of this history."""
        self._on_path: dict[int, list[str]] = {}
        """Number of entries → the streams whose snapshots must have the tree over so many."""
        self.uses_tree = True
        """Whether a start goes on from the stored tree; otherwise it hashes every entry."""
        self.uses_snapshots = True
        """Whether a start uses the stored snapshots; otherwise it replays every entry."""

    def keep(
        self, snapshot: StoredSnapshot, parts: Mapping[int, bytes], tree: Tree, versions: Mapping[str, int]
    ) -> None:
        """Stores the state of a stream with the parts that changed, and the tree."""
        stream, version, body = snapshot
        short = _in_short(tree)
        known = self._parts.get(stream, NO_PARTS).stored(parts, version, short)
        sealed = {
            number: self._code(_PART, stream, version, number, short + part) + part
            for number, part in parts.items()
        }
        stored = self._sealed(stream, version, KeptSnapshot(tree, known, body))
        self._store.keep(stored, sealed)
        self._parts[stream], self._codes[stream] = known, stored.body[:CODE_BYTES]
        kept = KeptTree(tree, dict(versions), dict(self._codes))
        self._store.keep(self._sealed(TREE, tree.size, kept), {})

    def tree(self) -> KeptTree | None:
        """The tree of the latest snapshot; None without a valid one."""
        found = self._content(TREE, TREE) if self.uses_tree else None
        return None if found is None else _read(found.content, KeptTree)

    def base(self, kept: KeptTree | None, own: str) -> Tree:
        """The tree to go on from: every entry that no snapshot of its stream covers comes after it.

        `own` is the journal's own stream, which has no snapshot and is read as a whole. Which snapshots are
        of this history is found out by `pass_tree`.
        """
        versions, named = ({}, {}) if kept is None else (kept.versions, kept.codes)
        base = NO_TREE if kept is None else kept.tree
        stored = {stream for stream, _ in self._store.snapshots()} | versions.keys()
        self._ready = {
            stream: opened
            for stream in sorted(stored - {TREE, own})
            if (opened := self._open(stream)) is not None
        }
        for stream, version in versions.items():
            if stream == own:
                continue
            opened = self._ready.get(stream)
            if opened is None:
                base = NO_TREE
            elif opened.version < version and opened.kept.tree.size < base.size:
                base = opened.kept.tree
        self._codes, self._on_path = {}, {}
        for stream, opened in self._ready.items():
            if named.get(stream) == opened.code and base.size:
                self._codes[stream] = opened.code
            elif opened.kept.tree.size >= base.size:
                self._on_path.setdefault(opened.kept.tree.size, []).append(stream)
        self.pass_tree(base)
        return base

    def pass_tree(self, tree: Tree) -> None:
        """Takes the tree over the first entries: the snapshots with this one are of this history."""
        for stream in self._on_path.pop(tree.size, ()):
            opened = self._ready[stream]
            if opened.kept.tree == tree:
                self._codes[stream] = opened.code

    @property
    def awaited(self) -> frozenset[int]:
        """Numbers of entries after which `pass_tree` has to be called."""
        return frozenset(self._on_path)

    def snapshot(self, stream: str) -> tuple[int, bytes] | None:
        """Version and state of the latest snapshot of a stream; None without a valid one of this history."""
        opened = self._ready.pop(stream) if stream in self._ready else self._open(stream)
        if opened is not None and self._codes.get(stream) != opened.code:
            if stream not in itertools.chain(*self._on_path.values()):  # else it is of entries that were lost
                self.distrust(_SNAPSHOT, stream)
            opened = None
        if opened is None:
            self._parts.pop(stream, None)
            return None
        self._parts[stream] = opened.kept.parts
        return opened.version, opened.kept.body

    def part(self, stream: str, number: int) -> bytes | None:
        """A part of the latest snapshot; None if it has no valid code, or is not of that snapshot."""
        parts = self._parts.get(stream, NO_PARTS)
        version = parts.version(number)
        stored = None if version is None else self._store.part(stream, number, version)
        if stored is None or version is None:
            return None
        code, body = stored[:CODE_BYTES], stored[CODE_BYTES:]
        if compare_digest(code, self._code(_PART, stream, version, number, parts.trees[version] + body)):
            return body
        self.distrust(_PART, f"{stream}/{number}")
        return None

    def distrust(self, kind: str, name: str) -> None:
        found = Distrusted(kind, name)
        if found not in self.distrusted and len(self.distrusted) < MOST_DISTRUSTED:
            self.distrusted.append(found)

    def _open(self, stream: str) -> _Opened | None:
        found = self._content(stream, _SNAPSHOT) if self.uses_snapshots else None
        kept = None if found is None else _read(found.content, KeptSnapshot)
        return None if found is None or kept is None else _Opened(found.version, found.code, kept)

    def _content(self, stream: str, kind: str) -> _Content | None:
        """A stored snapshot with a valid code."""
        stored = self._store.snapshot(stream)
        if stored is None:
            return None
        code, content = stored.body[:CODE_BYTES], stored.body[CODE_BYTES:]
        if compare_digest(code, self._code(_SNAPSHOT, stream, stored.version, 0, content)):
            return _Content(stored.version, code, content)
        self.distrust(kind, stream)
        return None

    def _sealed(self, stream: str, version: int, kept: KeptTree | KeptSnapshot) -> StoredSnapshot:
        content = msgspec.msgpack.encode(kept)
        return StoredSnapshot(stream, version, self._code(_SNAPSHOT, stream, version, 0, content) + content)

    def _code(self, kind: str, stream: str, version: int, number: int, content: bytes) -> bytes:
        return self._secret.mac(kind, self._journal, stream, version, number, sha256(content).digest())


def _read(content: bytes, kind: type[_Kept]) -> _Kept | None:
    """What this version of the program stored; None if it was another one, which had another form."""
    try:
        return msgspec.msgpack.decode(content, type=kind)
    except msgspec.DecodeError:
        return None


def _in_short(tree: Tree) -> bytes:
    return sha256(b"".join(tree.peaks)).digest()


# For an audit, which has no secret and compares what is stored with the state that the entries give


def body_of(stored: bytes) -> bytes:
    """The state in a stored snapshot; a DecodeError if it holds none."""
    return msgspec.msgpack.decode(stored[CODE_BYTES:], type=KeptSnapshot).body


def tree_of(stored: bytes) -> KeptTree:
    """The tree in its stored snapshot; a DecodeError if it holds none."""
    return msgspec.msgpack.decode(stored[CODE_BYTES:], type=KeptTree)


def part_of(stored: bytes) -> bytes:
    return stored[CODE_BYTES:]


# The head


def head_of(secret: StorageSecret, journal: str, tree: Frontier, last: str) -> Head:
    """The head of a journal with this tree over its entries and this hash of the last one."""
    return Head(tree.size, secret.mac("head", journal, tree.size, last, b"".join(tree.peaks)))


def earlier_head_of(secret: StorageSecret, journal: str, tree: Frontier, last: str) -> Head:
    """The head as it was before release 0.3: the chain of hashes alone says which entries it covers."""
    return Head(tree.size, secret.mac("head", journal, tree.size, last))


class SealedVault:
    """A store whose vault is encrypted under the name of each secret; all else is the store's own."""

    def __init__(self, store: Store, secret: StorageSecret, distrust: Distrust) -> None:
        self._store = store
        self._secret = secret
        self._distrust = distrust

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def secret(self, name: str) -> bytes | None:
        stored = self._store.secret(name)
        body = None if stored is None else self._secret.opened(name, stored)
        if stored is not None and body is None:
            self._distrust("vault", name)
        return body

    def keep_secret(self, name: str, body: bytes | None) -> None:
        self._store.keep_secret(name, None if body is None else self._secret.sealed(name, body))


def with_sealed_vault(store: Store, secret: StorageSecret, distrust: Distrust) -> Store:
    return cast("Store", SealedVault(store, secret, distrust))

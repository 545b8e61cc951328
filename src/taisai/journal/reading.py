"""Reading a journal: its entries in order, and at a start the tree over them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from taisai.journal.beside import NO_TREE, TREE, KeptTree, Snapshots, Tree, earlier_head_of, head_of
from taisai.journal.codec import FORMAT, JOURNAL_STREAM, NOTHING_BEFORE, AnyEvent, Codec, Entry
from taisai.journal.errors import DamagedError
from taisai.journal.seals.checkpoints import SignedCheckpoint, read_signed
from taisai.journal.seals.keys import PublicKey
from taisai.journal.seals.merkle import Frontier, leaf_hash
from taisai.journal.seals.secret import StorageSecret
from taisai.journal.stores.contract import Row, Store

_PREVIOUS: Final = re.compile(rb'"previous":"([0-9a-f]{64})"')


class ReadTree(NamedTuple):
    tree: Frontier
    last: str
    """The hash of the last entry."""
    versions: dict[str, int]
    """Stream → how many entries it has."""
    hashed_from: int
    """The entries up to here were not hashed: an authenticated snapshot of the tree covers them."""
    at_head: tuple[Frontier, str] | None = None
    """The tree and the hash of the last entry after as many entries as the head says."""


def read_tree(store: Store, codec: Codec, snapshots: Snapshots | None) -> ReadTree:
    """The tree of a journal. Hashes every entry that no snapshot with a valid code covers."""
    kept, base, awaited = KeptTree(NO_TREE, {}, {}), NO_TREE, frozenset[int]()
    at_head, head = None, None if snapshots is None else store.head()
    head_size = -1 if head is None else head.size
    if snapshots is not None:
        latest = snapshots.tree()
        kept, base = latest or kept, snapshots.base(latest, JOURNAL_STREAM)
        awaited = snapshots.awaited
    tree, versions, previous = Frontier(base.size, base.peaks), dict(kept.versions), NOTHING_BEFORE
    for row in store.rows(after=max(tree.size - 1, 0)):
        leaf = leaf_hash(row.body)
        if row.position > tree.size:
            if not _follows(row, previous):
                codec.decode(row.body, row.position)  # its error is more precise
                expect_next(row, previous)
            if snapshots is not None:
                _expect_place(row, codec)
            tree.append(leaf)
            if tree.size > kept.tree.size:
                versions[row.stream] = row.version
            elif tree.size == kept.tree.size and tree.peaks != kept.tree.peaks:
                raise DamagedError(tree.size, "the entries up to here are not those that were written")
            if tree.size in awaited and snapshots is not None:
                snapshots.pass_tree(Tree(tree.size, tree.peaks))
        previous = leaf.hex()
        if row.position == head_size:
            at_head = (Frontier(tree.size, tree.peaks), previous)
    return ReadTree(tree, previous, versions, base.size, at_head)


def read_confirmed(
    read: Callable[[], ReadTree],
    store: Store,
    secret: StorageSecret | None,
    journal: str,
    snapshots: Snapshots | None,
) -> ReadTree:
    """The tree, which the head must confirm where there is a storage secret.

    A stored tree that it does not confirm may be one of a copy that was continued elsewhere: then every entry
    is hashed. A head from before release 0.3 confirms them only then, and no snapshot; the next append
    replaces it.
    """
    if secret is None or snapshots is None:
        return read()
    while True:
        try:
            found = read()
            if is_earlier_head(store, secret, journal, found):
                snapshots.uses_snapshots = False
            else:
                expect_head(store, secret, journal, found)
        except DamagedError:
            if snapshots.tree() is None:
                raise
            snapshots.uses_tree = False
            snapshots.distrust(TREE, TREE)
        else:
            return found


def hash_of(store: Store, stream: str, version: int) -> str:
    """The hash of an entry of a stream; empty if there is none."""
    row = next(iter(store.rows(after=version - 1, stream=stream)), None) if version else None
    return "" if row is None or row.version != version else leaf_hash(row.body).hex()


def has_entry(store: Store, stream: str, version: int, hash_: str) -> bool:
    """Whether a stream has the entry with this hash at a version: then both are of one history."""
    return bool(hash_) and hash_of(store, stream, version) == hash_


def appended(tree: Frontier, row: Row, previous: str) -> str:
    """Appends an entry, which must follow the one with the hash `previous`, to a tree; returns its hash."""
    expect_next(row, previous)
    leaf = leaf_hash(row.body)
    tree.append(leaf)
    return leaf.hex()


def hash_all(store: Store, origin: str, keys: Sequence[tuple[int, PublicKey]]) -> tuple[Frontier, str]:
    """The tree over every entry and the hash of the last, checked against each checkpoint.

    `keys`: the position of the entry that introduced it, and the key.
    """
    stored = (read_signed(checkpoint.text) for checkpoint in store.checkpoints())
    kept = sorted(stored, key=_size_of, reverse=True)
    tree, previous = Frontier(), NOTHING_BEFORE
    for row in store.rows():
        previous = appended(tree, row, previous)
        while kept and _size_of(kept[-1]) == tree.size:
            _expect_sealed(kept.pop(), tree, origin, keys)
    if kept:
        problem = f"expected the {_size_of(kept[-1])} of a checkpoint, got {tree.size}"
        raise DamagedError(tree.size, f"entries are missing: {problem}")
    return tree, previous


def _expect_sealed(
    signed: SignedCheckpoint, tree: Frontier, origin: str, keys: Sequence[tuple[int, PublicKey]]
) -> None:
    """Refuses entries that do not match an earlier checkpoint."""
    current = [key for since, key in keys if since <= tree.size]
    checkpoint = signed.checkpoint
    is_ours = (checkpoint.origin, checkpoint.root) == (origin, tree.root())
    if not is_ours or not current or not signed.is_signed_by(current[-1]):
        problem = f"the entries up to here do not match a signed checkpoint ({checkpoint.origin})"
        raise DamagedError(tree.size, problem)


def read_entries(store: Store, codec: Codec, *, after: int, stream: str | None) -> Iterator[Entry]:
    """The entries in order. A damaged or misplaced entry raises DamagedError."""
    expected = after
    for row in store.rows(after=after, stream=stream):
        expected += 1
        entry = codec.decode(row.body, row.position)
        got = row.position if stream is None else row.version
        if got != expected or (entry.position, entry.stream, entry.version) != row[:3]:
            place = f"{'position' if stream is None else f'version of {stream}'} {expected}"
            said = f"position {entry.position}, version {entry.version} of {entry.stream}"
            raise DamagedError(row.position, f"expected {place}, got an entry with {said}")
        yield entry


def read_events(
    store: Store, codec: Codec, stream: str, *, after: int, last: int | None
) -> Iterator[tuple[int, AnyEvent]]:
    """Version and event of each entry of a stream, up to its `last` version if that is known."""
    decode, expected = codec.decode_event, after
    for row in store.rows(after=after, stream=stream):
        expected += 1
        place, event = decode(row.body, row.position)
        if row.version != expected or place != row[:3]:
            said = f"position {place[0]}, version {place[2]} of {place[1]}"
            raise DamagedError(
                row.position, f"expected version {expected} of {stream}, got an entry with {said}"
            )
        if last is not None and expected > last:
            raise DamagedError(row.position, f"expected {last} entries of {stream}, got {expected}")
        yield expected, event
    if last is not None and expected < last:
        raise DamagedError(0, f"entries are missing: expected {last} of {stream}, got {expected}")


def is_earlier_head(store: Store, secret: StorageSecret, journal: str, read: ReadTree) -> bool:
    """Whether the head is one from before release 0.3, over entries every one of which was hashed."""
    earlier = earlier_head_of(secret, journal, read.tree, read.last)
    return bool(read.tree.size) and not read.hashed_from and store.head() == earlier


def expect_head(store: Store, secret: StorageSecret, journal: str, read: ReadTree) -> None:
    """Refuses entries that another program has added, changed or removed at the end."""
    head, size = store.head(), read.tree.size
    if not size or head == head_of(secret, journal, read.tree, read.last):
        return
    problem = f"expected the end of the journal as this house wrote it, got {size:,} entries"
    authentic = 0
    if read.at_head is not None and head == head_of(secret, journal, *read.at_head):
        authentic = read.at_head[0].size
        problem += f", of which the first {authentic:,} are authenticated"
    problem += ": another program has written to the file. Restore a backup with `taisai restore`"
    raise DamagedError(min(authentic + 1, size), problem)


def expect_next(row: Row, previous: str) -> None:
    """Refuses an entry whose previous hash is another."""
    if not _follows(row, previous):
        match = _PREVIOUS.search(row.body)
        got = f"{match[1].decode()[:16]}…" if match else "no hash"
        raise DamagedError(
            row.position, f"broken chain: expected the previous hash {previous[:16]}…, got {got}"
        )


def _follows(row: Row, previous: str) -> bool:
    return b'"previous":"%b"' % previous.encode() in row.body


def _expect_place(row: Row, codec: Codec) -> None:
    """Refuses a row whose place is not the one in its body."""
    place = row[:3] if _is_in_place(row) else codec.decode_event(row.body, row.position)[0]
    if place != row[:3]:
        position, stream, version = place
        got = f"position {position}, version {version} of {stream}"
        raise DamagedError(row.position, f"expected an entry of {row.stream}, got one with {got}")


def _is_in_place(row: Row) -> bool:
    """Whether the canonical bytes of an entry end with its place, which needs no decoder to see."""
    body = row.body
    return (
        body.endswith(b'"v":%d,"version":%d}' % (FORMAT, row.version))
        and b'"position":%d,"previous":"' % row.position in body
        and body[: body.rfind(b',"v":')].endswith(b',"stream":"%b"' % row.stream.encode())
    )


def _size_of(signed: SignedCheckpoint) -> int:
    return signed.checkpoint.size

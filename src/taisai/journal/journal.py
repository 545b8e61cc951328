"""The journal: appends decisions, chains each entry to the one before, and keeps a Merkle tree of all."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

import msgspec

from taisai.journal.codec import (
    JOURNAL_CLAUSE,
    JOURNAL_STREAM,
    MOST_BYTES,
    NOTHING_BEFORE,
    AnyCommand,
    AnyEvent,
    Codec,
    Entry,
    JournalOpened,
    KeyIntroduced,
    RulebookStored,
)
from taisai.journal.errors import ConflictError, DamagedError, InDoubtError, JournalError
from taisai.journal.seals.checkpoints import Checkpoint, SignedCheckpoint, read_signed, signed
from taisai.journal.seals.keys import PublicKey, SigningKey
from taisai.journal.seals.merkle import Frontier, leaf_hash
from taisai.journal.stores.contract import NewestCheckpoint, Row, Store, StoredCheckpoint, StoredSnapshot
from taisai.rules.book import Rulebook, rulebook_from

TREE: Final = "tree"
"""The name of the tree's snapshot."""
IDS: Final = re.compile(r"[A-Za-z0-9.-]{1,64}")
"""A valid id of a journal."""
MOST_STREAM: Final = 200  # characters of a stream's name
_PREVIOUS: Final = re.compile(rb'"previous":"([0-9a-f]{64})"')


class Decision(NamedTuple):
    """The events that one command caused. They are appended together."""

    stream: str
    events: Sequence[AnyEvent]
    asked: AnyCommand | None = None
    expected: int | None = None
    """How many entries the stream must have; None: any number."""


class _Tree(msgspec.Struct, frozen=True):
    """The tree as stored, so that a start does not hash every entry again."""

    size: int
    peaks: tuple[bytes, ...]


def written_tree(tree: Frontier) -> bytes:
    return msgspec.json.encode(_Tree(tree.size, tree.peaks))


def read_tree(body: bytes) -> Frontier | None:
    """The tree in a stored snapshot; None if it is none."""
    try:
        read = msgspec.json.decode(body, type=_Tree)
        return Frontier(read.size, read.peaks)
    except (msgspec.DecodeError, ValueError):
        return None


def origin_of(journal: str) -> str:
    """The name of a journal in its checkpoints."""
    return f"taisai/{journal}"


def rotation_text(origin: str, position: int, previous: str, key: str) -> bytes:
    """The text that the old key signs to introduce a new one: the journal, the place and the new key."""
    return f"taisai key rotation\n{origin}\n{position}\n{previous}\n{key}\n".encode()


class Journal:
    """A journal in a store. Its first entry has its id and the key that signs it."""

    def __init__(self, store: Store, codec: Codec | None = None) -> None:
        self.store = store
        self.codec = codec or Codec()
        self._versions: dict[str, int] = {}
        self._in_doubt: str | None = None
        self._tree, self._previous = self._read_tree()
        self.identity: JournalOpened | None = None
        self._keys: list[tuple[int, PublicKey]] = []
        """Position of the entry that introduced it, and key."""
        self._books: dict[str, str] = {}
        self._is_proved = not self.size
        self.recent: list[bytes] | None = None
        """The leaves that were appended since somebody took them; None where nobody does."""
        for entry in self.entries(stream=JOURNAL_STREAM):
            self._learn(entry.event, entry.position)

    @classmethod
    def opened(
        cls,
        store: Store,
        *,
        journal: str,
        key: PublicKey,
        at: int,
        by: str,
        program: str,
        demonstration: bool,
        codec: Codec | None = None,
    ) -> Journal:
        """A new journal in an empty store."""
        if not IDS.fullmatch(journal):
            raise JournalError(
                f"invalid journal id: expected 1 to 64 letters, digits, dots or hyphens, got {journal!r}"
            )
        new = cls(store, codec)
        first = JournalOpened(
            at=at, by=by, clause=JOURNAL_CLAUSE, journal=journal, key=key.text, demonstration=demonstration,
            program=program,
        )  # fmt: skip
        new.append([Decision(JOURNAL_STREAM, [first], expected=0)])
        return new

    # Its state

    @property
    def size(self) -> int:
        return self._tree.size

    @property
    def key(self) -> PublicKey | None:
        """The key that signs now."""
        return self._keys[-1][1] if self._keys else None

    @property
    def origin(self) -> str:
        """Its name in checkpoints."""
        if self.identity is None:
            raise JournalError("the journal is empty: it has no opening entry")
        return origin_of(self.identity.journal)

    def root(self) -> bytes:
        """The root hash of the tree over all entries."""
        return self._tree.root()

    def tree(self) -> Frontier:
        """A copy of the tree over all entries."""
        return Frontier(self._tree.size, self._tree.peaks)

    def version(self, stream: str) -> int:
        """The number of entries in a stream."""
        known = self._versions.get(stream)
        if known is None:
            known = self._versions[stream] = self.store.version(stream)
        return known

    # Appending

    def append(self, decisions: Sequence[Decision]) -> None:  # noqa: C901, PLR0912  every bet passes here
        """Appends all decisions durably, or none. A decision without events makes no entry."""
        if self._in_doubt:
            raise InDoubtError(f"an earlier write failed; open the journal again: {self._in_doubt}")
        rows: list[Row] = []
        leaves: list[bytes] = []
        previous, known, versions = self._previous, self._versions, dict[str, int]()
        encode, format_ = self.codec.encode, self.codec.version
        position = self._tree.size
        for stream, events, asked, expected in decisions:
            version = versions.get(stream) or known.get(stream)
            if not version:
                version = self._first_version(stream)
            if expected is not None and expected != version:
                raise ConflictError(
                    f"expected the stream {stream} at version {expected}, got version {version}"
                )
            more, cause = len(events), asked
            for event in events:
                position, version, more = position + 1, version + 1, more - 1
                entry = Entry(
                    position=position, previous=previous, stream=stream, version=version, more=more,
                    v=format_, event=event, asked=cause,
                )  # fmt: skip
                body, cause = encode(entry), None
                if len(body) > MOST_BYTES:
                    raise JournalError(f"expected an entry of at most {MOST_BYTES} bytes, got {len(body)}")
                leaf = sha256(b"\x00" + body).digest()  # `leaf_hash`, without the call: every bet passes here
                leaves.append(leaf)
                previous = leaf.hex()
                rows.append(Row(position, stream, version, body))
            versions[stream] = version
        if not rows:
            return
        try:
            self.store.append(rows)
        except InDoubtError as error:  # it is unknown which entry the next one would follow
            self._in_doubt = str(error)
            raise
        self._previous = previous
        self._versions |= versions
        for leaf in leaves:
            self._tree.append(leaf)
        if self.recent is not None:
            self.recent += leaves
        if JOURNAL_STREAM in versions:
            for row in rows:
                if row.stream == JOURNAL_STREAM:
                    self._learn(self.codec.decode(row.body, row.position).event, row.position)

    def _first_version(self, stream: str) -> int:
        """The version of a stream that was not read yet, or that has no entry yet."""
        if len(stream) > MOST_STREAM:
            raise JournalError(f"expected a stream name of at most {MOST_STREAM} characters, got {stream!r}")
        return self.version(stream)

    def storing(self, book: Rulebook, *, at: int, by: str) -> list[Decision]:
        """The decision that stores a rulebook; none if it is stored already."""
        if book.digest in self._books:
            return []
        stored = RulebookStored(
            at=at, by=by, clause=JOURNAL_CLAUSE, id=book.id, digest=book.digest, text=book.text
        )
        return [Decision(JOURNAL_STREAM, [stored])]

    def rulebook(self, digest: str) -> Rulebook:
        """A stored rulebook, by its digest."""
        text = self._books.get(digest)
        if text is None:
            raise JournalError(f"the journal has no rulebook with the digest {digest}")
        book = rulebook_from(text, digest)
        if book.digest != digest:
            raise JournalError(f"the stored rulebook {digest} was changed: its digest is {book.digest}")
        return book

    def rotate(self, old: SigningKey, new: PublicKey, *, at: int, by: str) -> None:
        self._expect(old)
        self.prove()
        signature = old.sign(rotation_text(self.origin, self.size + 1, self._previous, new.text))
        event = KeyIntroduced(
            at=at, by=by, clause=JOURNAL_CLAUSE, key=new.text, signature=b64encode(signature).decode()
        )
        self.append([Decision(JOURNAL_STREAM, [event])])

    def seal(self, key: SigningKey, *, at: int) -> str:
        """Signs all entries so far. Stores the checkpoint for ever and returns it."""
        text = self.signed(key, at=at)
        self.store.seal(StoredCheckpoint(self.size, text))
        return text

    def seal_newest(self, key: SigningKey, *, at: int, seen: Frontier | None = None) -> str:
        """Signs all entries so far in place of the newest checkpoint; `seen`: the tree that witnesses saw."""
        text = self.signed(key, at=at)
        self.store.keep_newest(NewestCheckpoint(self.size, text, written_tree(seen or self._tree)))
        return text

    def keep_checkpoint(self, checkpoint: StoredCheckpoint) -> None:
        """Keeps a signed checkpoint for ever, with what witnesses have signed under it."""
        self.store.seal(checkpoint)
        newest = self.store.newest()
        if newest is not None and newest.size == checkpoint.size:
            self.store.keep_newest(newest._replace(text=checkpoint.text))

    def signed(self, key: SigningKey, *, at: int) -> str:
        """The checkpoint over all entries so far; it is not stored."""
        self._expect(key)
        self.prove()
        return signed(Checkpoint(origin=self.origin, size=self.size, root=self.root(), at=at), key)

    def prove(self) -> None:
        """Hashes every entry once before anything is signed: a snapshot of the tree is not trusted.

        Also checks that the entries match every earlier checkpoint.
        """
        if self._is_proved:
            return
        stored = (read_signed(checkpoint.text) for checkpoint in self.store.checkpoints())
        kept = sorted(stored, key=_size_of, reverse=True)
        tree, previous = Frontier(), NOTHING_BEFORE
        for row in self.store.rows():
            expect_next(row, previous)
            leaf = leaf_hash(row.body)
            tree.append(leaf)
            previous = leaf.hex()
            while kept and _size_of(kept[-1]) == tree.size:
                self._expect_sealed(kept.pop(), tree)
        if kept:
            over = _size_of(kept[-1])
            raise DamagedError(
                tree.size, f"entries are missing: expected the {over} of a checkpoint, got {tree.size}"
            )
        if (tree.size, tree.root(), previous) != (self.size, self.root(), self._previous):
            raise DamagedError(0, "the entries have changed since the journal was opened")
        self._is_proved = True

    def _expect_sealed(self, signed_: SignedCheckpoint, tree: Frontier) -> None:
        """Refuses entries that do not match an earlier checkpoint."""
        keys = [key for since, key in self._keys if since <= tree.size]
        checkpoint = signed_.checkpoint
        is_ours = (checkpoint.origin, checkpoint.root) == (self.origin, tree.root())
        if not is_ours or not keys or not signed_.is_signed_by(keys[-1]):
            problem = f"the entries up to here do not match a signed checkpoint ({checkpoint.origin})"
            raise DamagedError(tree.size, problem)

    def _expect(self, key: SigningKey) -> None:
        if self.key is None or key.public != self.key:
            expected = f"{self.key.name} {self.key.id}" if self.key else "no key"
            raise JournalError(f"wrong signing key: expected {expected}, got {key.name} {key.public.id}")

    # Reading

    def entries(self, *, after: int = 0, stream: str | None = None) -> Iterator[Entry]:
        """The entries in order. A damaged or misplaced entry raises DamagedError."""
        decode = self.codec.decode
        expected = after
        for row in self.store.rows(after=after, stream=stream):
            expected += 1
            entry = decode(row.body, row.position)
            got = row.position if stream is None else row.version
            if got != expected or (entry.position, entry.stream, entry.version) != row[:3]:
                place = f"{'position' if stream is None else f'version of {stream}'} {expected}"
                said = f"position {entry.position}, version {entry.version} of {entry.stream}"
                raise DamagedError(row.position, f"expected {place}, got an entry with {said}")
            yield entry

    def events(self, stream: str, *, after: int = 0) -> Iterator[tuple[int, AnyEvent]]:
        """Version and event of each entry of a stream: all that a start needs, in half the time."""
        decode = self.codec.decode_event
        expected = after
        for row in self.store.rows(after=after, stream=stream):
            expected += 1
            place, event = decode(row.body, row.position)
            if row.version != expected or place != row[:3]:
                said = f"position {place[0]}, version {place[2]} of {place[1]}"
                raise DamagedError(
                    row.position, f"expected version {expected} of {stream}, got an entry with {said}"
                )
            yield expected, event

    # Snapshots

    def keep(self, stream: str, body: bytes, parts: Mapping[int, bytes]) -> None:
        """Stores snapshots of a stream's state and of the tree."""
        self.store.keep(StoredSnapshot(stream, self.version(stream), body), parts)
        self.store.keep(StoredSnapshot(TREE, self._tree.size, written_tree(self._tree)), {})

    def close(self) -> None:
        self.store.close()

    def _read_tree(self) -> tuple[Frontier, str]:
        """The tree and the hash of the last entry. Entries after the snapshot must be chained."""
        tree, previous = self._kept_tree(), NOTHING_BEFORE
        for row in self.store.rows(after=max(tree.size - 1, 0)):
            leaf = leaf_hash(row.body)
            if row.position > tree.size:
                if not _follows(row, previous):
                    self.codec.decode(row.body, row.position)  # its error is more precise
                    expect_next(row, previous)
                tree.append(leaf)
            previous = leaf.hex()
        return tree, previous

    def _kept_tree(self) -> Frontier:
        """The tree of the last snapshot; an empty one if there is no usable snapshot."""
        kept, last = self.store.snapshot(TREE), self.store.last()
        if kept is None or last is None or kept.version > last.position:
            return Frontier()
        try:
            read = msgspec.json.decode(kept.body, type=_Tree)
            return Frontier(read.size, read.peaks) if read.size == kept.version else Frontier()
        except (msgspec.DecodeError, ValueError):
            return Frontier()

    def _learn(self, event: AnyEvent, position: int) -> None:
        """Learns id, keys and rulebooks from the journal's own stream."""
        if isinstance(event, JournalOpened):
            self.identity = event
            self._keys.append((position, PublicKey.parse(event.key)))
        elif isinstance(event, KeyIntroduced):
            self._keys.append((position, PublicKey.parse(event.key)))
        elif isinstance(event, RulebookStored):
            self._books[event.digest] = event.text


def _follows(row: Row, previous: str) -> bool:
    return b'"previous":"%b"' % previous.encode() in row.body


def expect_next(row: Row, previous: str) -> None:
    """Refuses an entry whose previous hash is another."""
    if not _follows(row, previous):
        match = _PREVIOUS.search(row.body)
        got = f"{match[1].decode()[:16]}…" if match else "no hash"
        raise DamagedError(
            row.position, f"broken chain: expected the previous hash {previous[:16]}…, got {got}"
        )


def _size_of(signed_: SignedCheckpoint) -> int:
    return signed_.checkpoint.size

"""The journal: decisions appended for good, each entry chained to the one before, all of them one tree."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from taisai.journal.codec import MOST_BYTES, NOTHING_BEFORE, AnyCommand, AnyEvent, Codec, Entry
from taisai.journal.errors import ConflictError, DamagedError, InDoubtError, JournalError
from taisai.journal.records import CLAUSE, STREAM, JournalOpened, KeyIntroduced, RulebookStored
from taisai.journal.seals.checkpoints import Checkpoint, SignedCheckpoint, read_signed, signed
from taisai.journal.seals.keys import PublicKey, SigningKey
from taisai.journal.seals.merkle import Frontier, leaf_hash
from taisai.journal.stores.contract import Row, Store, StoredCheckpoint, StoredSnapshot
from taisai.rules.book import Rulebook, rulebook_from

TREE: Final = "tree"
"""Under which name the tree's own snapshot is kept."""
IDS: Final = re.compile(r"[A-Za-z0-9.-]{1,64}")
"""What a journal may be called: its checkpoints name it."""
MOST_STREAM: Final = 200  # characters of a stream's name


class Decision(NamedTuple):
    """What one command came to: it is appended whole."""

    stream: str
    events: Sequence[AnyEvent]
    asked: AnyCommand | None = None
    expected: int | None = None
    """How many entries the stream must have so far; None where the caller does not mind."""


class _Tree(msgspec.Struct, frozen=True):
    """The tree as it is kept, so that a start need not hash every entry again."""

    size: int
    peaks: tuple[bytes, ...]


def written_tree(tree: Frontier) -> bytes:
    """The tree as it is kept."""
    return msgspec.json.encode(_Tree(tree.size, tree.peaks))


def origin_of(journal: str) -> str:
    """What a checkpoint calls a journal."""
    return f"taisai/{journal}"


def rotation_text(origin: str, position: int, previous: str, key: str) -> bytes:
    """What the old key signs when a new one takes over: after which past, and who."""
    return f"taisai key rotation\n{origin}\n{position}\n{previous}\n{key}\n".encode()


class Journal:
    """A journal over a store. Its first entry says which journal it is, and who signs it."""

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
        for entry in self.entries(stream=STREAM):
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
    ) -> Journal:
        """A new journal in an empty store."""
        if not IDS.fullmatch(journal):
            raise JournalError(f"expected an id of letters, digits, dots and hyphens, got {journal!r}")
        made = cls(store)
        first = JournalOpened(
            at=at, by=by, clause=CLAUSE, journal=journal, key=key.text, demonstration=demonstration,
            program=program,
        )  # fmt: skip
        made.append([Decision(STREAM, [first], expected=0)])
        return made

    # What it is

    @property
    def size(self) -> int:
        """How many entries it has."""
        return self._tree.size

    @property
    def key(self) -> PublicKey | None:
        """The key that signs from here on."""
        return self._keys[-1][1] if self._keys else None

    @property
    def origin(self) -> str:
        """What its checkpoints call it."""
        if self.identity is None:
            raise JournalError("expected a journal that was opened, got an empty one")
        return origin_of(self.identity.journal)

    def root(self) -> bytes:
        """The root of the tree over all entries."""
        return self._tree.root()

    def version(self, stream: str) -> int:
        """How many entries a stream has."""
        known = self._versions.get(stream)
        if known is None:
            known = self._versions[stream] = self.store.version(stream)
        return known

    # Appending

    def append(self, decisions: Sequence[Decision]) -> None:
        """All decisions, durably, or none; a decision without events needs no entry."""
        if self._in_doubt:
            raise InDoubtError(f"expected a journal opened anew, got one in doubt: {self._in_doubt}")
        rows: list[Row] = []
        tree, previous, versions = self._tree.copy(), self._previous, dict[str, int]()
        encode, format_ = self.codec.encode, self.codec.version
        position = tree.size
        for stream, events, asked, expected in decisions:
            version = versions.get(stream, self.version(stream))
            if expected is not None and expected != version:
                says = f"expected the stream {stream} at version {expected}, got version {version}"
                raise ConflictError(says)
            more, cause = len(events), asked
            for event in events:
                position, version, more = position + 1, version + 1, more - 1
                entry = Entry(
                    position=position, previous=previous, stream=stream, version=version, more=more,
                    v=format_, event=event, asked=cause,
                )  # fmt: skip
                body, cause = encode(entry), None
                leaf = leaf_hash(body)
                tree.append(leaf)
                previous = leaf.hex()
                rows.append(Row(position, stream, version, body))
            versions[stream] = version
        if not rows:
            return
        _check_sizes(rows, versions)
        self._write(rows)
        self._tree, self._previous = tree, previous
        self._versions |= versions
        if STREAM in versions:
            happened = (event for one in decisions for event in one.events)
            for row, event in zip(rows, happened, strict=True):
                if row.stream == STREAM:
                    self._learn(event, row.position)

    def _write(self, rows: Sequence[Row]) -> None:
        """After a write whose end nobody knows, nobody knows what the next entry would follow."""
        try:
            self.store.append(rows)
        except InDoubtError as error:
            self._in_doubt = str(error)
            raise

    def storing(self, book: Rulebook, *, at: int, by: str) -> list[Decision]:
        """The decision that stores a rulebook, unless it is stored already."""
        if book.digest in self._books:
            return []
        stored = RulebookStored(at=at, by=by, clause=CLAUSE, id=book.id, digest=book.digest, text=book.text)
        return [Decision(STREAM, [stored])]

    def rulebook(self, digest: str) -> Rulebook:
        """A rulebook that is stored, by its digest."""
        text = self._books.get(digest)
        if text is None:
            raise JournalError(f"expected a rulebook that the journal stores, got {digest}")
        book = rulebook_from(text, digest)
        if book.digest != digest:
            raise JournalError(f"expected the rulebook {digest}, got {book.digest}")
        return book

    def rotate(self, old: SigningKey, new: PublicKey, *, at: int, by: str) -> None:
        """Another key signs from here on."""
        self._expect(old)
        self.prove()
        signature = old.sign(rotation_text(self.origin, self.size + 1, self._previous, new.text))
        event = KeyIntroduced(
            at=at, by=by, clause=CLAUSE, key=new.text, signature=b64encode(signature).decode()
        )
        self.append([Decision(STREAM, [event])])

    def seal(self, key: SigningKey, *, at: int) -> str:
        """Signs all entries so far: the checkpoint, which is kept here and can be sent elsewhere."""
        self._expect(key)
        self.prove()
        text = signed(Checkpoint(origin=self.origin, size=self.size, root=self.root(), at=at), key)
        self.store.seal(StoredCheckpoint(self.size, text))
        return text

    def prove(self) -> None:
        """Hashes every entry, unless this was done: nothing is signed on the word of a snapshot.

        Nor is anything signed that contradicts a checkpoint which was signed before.
        """
        if self._is_proved:
            return
        kept = sorted(map(read_signed, (one.text for one in self.store.checkpoints())), key=_size_of)
        kept.reverse()
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
            raise DamagedError(tree.size, f"expected the {over} entries of a checkpoint, got {tree.size}")
        if (tree.size, tree.root(), previous) != (self.size, self.root(), self._previous):
            raise DamagedError(0, "expected the entries that the journal was opened with, got others")
        self._is_proved = True

    def _expect_sealed(self, signed_: SignedCheckpoint, tree: Frontier) -> None:
        """A checkpoint that was signed before is still true."""
        keys = [key for since, key in self._keys if since <= tree.size]
        checkpoint = signed_.checkpoint
        is_ours = (checkpoint.origin, checkpoint.root) == (self.origin, tree.root())
        if not is_ours or not keys or not signed_.is_signed_by(keys[-1]):
            says = f"expected the entries that were signed up to here, got others ({checkpoint.origin})"
            raise DamagedError(tree.size, says)

    def _expect(self, key: SigningKey) -> None:
        if self.key is None or key.public != self.key:
            expected = self.key.name if self.key else "none"
            raise JournalError(
                f"expected the key that signs this journal, {expected} {self.key and self.key.id}, "
                f"got {key.name} {key.public.id}"
            )

    # Reading

    def entries(self, *, after: int = 0, stream: str | None = None) -> Iterator[Entry]:
        """Entries in order; one that is damaged, or not in its place, stops the reader."""
        decode = self.codec.decode
        expected = after
        for row in self.store.rows(after=after, stream=stream):
            expected += 1
            entry = decode(row.body, row.position)
            got = row.position if stream is None else row.version
            if got != expected or (entry.position, entry.stream, entry.version) != row[:3]:
                place = f"{'position' if stream is None else f'version of {stream}'} {expected}"
                told = f"position {entry.position}, version {entry.version} of {entry.stream}"
                raise DamagedError(row.position, f"expected {place}, got an entry that says {told}")
            yield entry

    def events(self, stream: str, *, after: int = 0) -> Iterator[tuple[int, AnyEvent]]:
        """Version and event of a stream's entries: what a start needs of them, in half the time."""
        decode = self.codec.decode_event
        expected = after
        for row in self.store.rows(after=after, stream=stream):
            expected += 1
            place, event = decode(row.body, row.position)
            if row.version != expected or place != row[:3]:
                says = f"expected version {expected} of {stream}, got an entry that says {place}"
                raise DamagedError(row.position, says)
            yield expected, event

    # Snapshots

    def keep(self, stream: str, body: bytes, parts: Mapping[int, bytes]) -> None:
        """Keeps the state of a stream as it is now, and the tree's."""
        self.store.keep(StoredSnapshot(stream, self.version(stream), body), parts)
        self.store.keep(StoredSnapshot(TREE, self._tree.size, written_tree(self._tree)), {})

    def close(self) -> None:
        """Lets go of the store."""
        self.store.close()

    def _read_tree(self) -> tuple[Frontier, str]:
        """The tree, and the hash of the last entry; those that no snapshot covers must hold together."""
        tree, previous = self._kept_tree(), NOTHING_BEFORE
        for row in self.store.rows(after=max(tree.size - 1, 0)):
            leaf = leaf_hash(row.body)
            if row.position > tree.size:
                if not _follows(row, previous):
                    self.codec.decode(row.body, row.position)  # which may know better what is wrong with it
                    expect_next(row, previous)
                tree.append(leaf)
            previous = leaf.hex()
        return tree, previous

    def _kept_tree(self) -> Frontier:
        """The tree as it was kept, if that can be used: it is hashed anew otherwise."""
        kept, last = self.store.snapshot(TREE), self.store.last()
        if kept is None or last is None or kept.version > last.position:
            return Frontier()
        try:
            read = msgspec.json.decode(kept.body, type=_Tree)
            return Frontier(read.size, read.peaks) if read.size == kept.version else Frontier()
        except (msgspec.DecodeError, ValueError):
            return Frontier()

    def _learn(self, event: AnyEvent, position: int) -> None:
        """What the journal's own entries say of it."""
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
    """Refuses an entry that does not follow one with this hash."""
    if not _follows(row, previous):
        says = f"expected an entry that follows one with the hash {previous[:16]}…, got another"
        raise DamagedError(row.position, says)


def _size_of(signed_: SignedCheckpoint) -> int:
    return signed_.checkpoint.size


def _check_sizes(rows: Sequence[Row], streams: Mapping[str, int]) -> None:
    if name := next((name for name in streams if len(name) > MOST_STREAM), None):
        raise JournalError(f"expected a stream's name of at most {MOST_STREAM} characters, got {name!r}")
    longest = max(len(body) for _, _, _, body in rows)
    if longest > MOST_BYTES:
        raise JournalError(f"expected an entry of at most {MOST_BYTES} bytes, got {longest}")

"""The journal: appends decisions, chains each entry to the one before, and keeps a Merkle tree of all."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from msgspec import UNSET, UnsetType

from taisai.journal.beside import Distrusted, Snapshots, Tree, head_of, with_sealed_vault
from taisai.journal.codec import (
    JOURNAL_CLAUSE,
    JOURNAL_STREAM,
    MOST_BYTES,
    AnyCommand,
    AnyEvent,
    Codec,
    Entry,
    JournalOpened,
    KeyIntroduced,
    RulebookStored,
    StorageSecretSealed,
)
from taisai.journal.errors import ConflictError, DamagedError, InDoubtError, JournalError
from taisai.journal.reading import ReadTree, hash_all, read_confirmed, read_entries, read_events, read_tree
from taisai.journal.seals.checkpoints import Checkpoint, origin_of, rotation_text, signed
from taisai.journal.seals.growth import tree_bytes
from taisai.journal.seals.keys import PublicKey, SigningKey
from taisai.journal.seals.merkle import Frontier
from taisai.journal.seals.secret import StorageSecret
from taisai.journal.stores.contract import NewestCheckpoint, Row, Store, StoredCheckpoint, StoredSnapshot
from taisai.rules.book import Rulebook, rulebook_from

IDS: Final = re.compile(r"[A-Za-z0-9.-]{1,64}")
"""A valid id of a journal."""
MOST_STREAM: Final = 200  # characters of a stream's name


class Decision(NamedTuple):
    """The events that one command caused. They are appended together."""

    stream: str
    events: Sequence[AnyEvent]
    asked: AnyCommand | None = None
    expected: int | None = None
    """How many entries the stream must have; None: any number."""


class Journal:
    """A journal in a store. Its first entry has its id and the key that signs it.

    With the storage secret it believes what is stored beside its entries as far as that has a valid code, and
    starts from there. Without the secret it hashes every entry, and uses and stores no snapshot.
    """

    def __init__(
        self,
        store: Store,
        codec: Codec | None = None,
        *,
        key: SigningKey | None = None,
        secret: StorageSecret | None = None,
    ) -> None:
        """`key`, the house key, opens the storage secret of the journal."""
        self.store = self._unprotected = store
        self.codec = codec or Codec()
        self.secret: StorageSecret | None = None
        self._snapshots: Snapshots | None = None
        self._in_doubt: str | None = None
        self.identity: JournalOpened | None = None
        self._id = ""
        self._wrapped: str | None = None
        self._keys: list[tuple[int, PublicKey]] = []
        """Position of the entry that introduced it, and key."""
        self._books: dict[str, str] = {}
        self.recent: list[bytes] | None = None
        """The leaves that were appended since somebody took them; None where nobody does."""
        for entry in self.entries(stream=JOURNAL_STREAM):
            self._learn(entry.event, entry.position)
        if (secret := secret or self._unlocked(key)) is not None:
            self._protect(secret)
        read = read_confirmed(self._read_tree, self.store, secret, self._id, self._snapshots)
        self._tree, self._previous, self._versions, self.hashed_from = read[:4]
        self._is_proved = not self.size

    def _unlocked(self, key: SigningKey | None) -> StorageSecret | None:
        """The journal's storage secret; None where it has none, or another key than its latest is given."""
        if key is None or self._wrapped is None or key.public != self.key:
            return None
        return StorageSecret.read(self._wrapped, key, self._id)

    def _protect(self, secret: StorageSecret) -> None:
        """From now on, uses and stores only what has a valid code beside the entries."""
        self.secret = secret
        self._snapshots = Snapshots(self.store, secret, self._id)
        self.store = with_sealed_vault(self.store, secret, self._snapshots.distrust)

    @classmethod
    def opened(
        cls,
        store: Store,
        *,
        journal: str,
        key: PublicKey | SigningKey,
        at: int,
        by: str,
        program: str,
        demonstration: bool,
        codec: Codec | None = None,
        secret: StorageSecret | None = None,
        random: Callable[[int], bytes] = os.urandom,
    ) -> Journal:
        """A new journal in an empty store; a private key gives it a storage secret in its first entry."""
        if not IDS.fullmatch(journal):
            raise JournalError(
                f"invalid journal id: expected 1 to 64 letters, digits, dots or hyphens, got {journal!r}"
            )
        wrapped: str | UnsetType = UNSET
        if isinstance(key, SigningKey):
            secret = secret or StorageSecret.new(random)
            wrapped, key = secret.text(key, journal, random), key.public
        new = cls(store, codec)
        new._id = journal
        if secret is not None:
            new._protect(secret)
        first = JournalOpened(
            at=at, by=by, clause=JOURNAL_CLAUSE, journal=journal, key=key.text, demonstration=demonstration,
            program=program, secret=wrapped,
        )  # fmt: skip
        new.append([Decision(JOURNAL_STREAM, [first], expected=0)])
        return new

    def authenticate(
        self, key: SigningKey, *, at: int, by: str, random: Callable[[int], bytes] = os.urandom
    ) -> None:
        """Gives a journal that was opened without one its storage secret. All of it must have been checked.

        Snapshots made without the secret are deleted. What the vault holds cannot be opened from now on.
        """
        self._expect(key)
        if self.secret is not None or self._wrapped is not None:
            raise JournalError("the journal has its storage secret already")
        self.prove()
        secret = StorageSecret.new(random)
        wrapped = secret.text(key, self._id, random)
        self._protect(secret)
        event = StorageSecretSealed(at=at, by=by, clause=JOURNAL_CLAUSE, secret=wrapped)
        self.append([Decision(JOURNAL_STREAM, [event])])
        self.store.forget()

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
        return self._versions.get(stream, 0)

    def streams(self) -> list[str]:
        """The names of all streams, in the order of their first entries."""
        return list(self._versions)

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
        if self.secret is None and self._wrapped is not None:
            raise JournalError("the journal has a storage secret: it is written to with the house key")
        before = self._tree.size, self._tree.peaks
        for leaf in leaves:
            self._tree.append(leaf)
        try:
            if self.secret is None:
                self.store.append(rows)
            else:
                self.store.append(rows, head_of(self.secret, self._id, self._tree, previous))
        except BaseException as error:
            self._tree = Frontier(*before)
            if isinstance(error, InDoubtError):  # it is unknown which entry the next one would follow
                self._in_doubt = str(error)
            raise
        self._previous = previous
        self._versions |= versions
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

    def rotate(self, old: SigningKey, new: PublicKey | SigningKey, *, at: int, by: str) -> None:
        """Lets another key sign. Its private half is needed where there is a storage secret to be wrapped."""
        self._expect(old)
        self._expect_hashed()
        wrapped: str | UnsetType = UNSET
        if isinstance(new, SigningKey):
            if self.secret is not None and self._wrapped is not None:
                wrapped = self.secret.text(new, self._id)
            new = new.public
        elif self._wrapped is not None:
            raise JournalError(f"expected the private key {new.name} {new.id}, got its public half")
        signature = old.sign(rotation_text(self.origin, self.size + 1, self._previous, new.text))
        event = KeyIntroduced(
            at=at, by=by, clause=JOURNAL_CLAUSE, key=new.text, signature=b64encode(signature).decode(),
            secret=wrapped,
        )  # fmt: skip
        self.append([Decision(JOURNAL_STREAM, [event])])

    def seal(self, key: SigningKey, *, at: int) -> str:
        """Signs all entries so far. Stores the checkpoint for ever and returns it."""
        text = self.signed(key, at=at)
        self.store.seal(StoredCheckpoint(self.size, text))
        return text

    def seal_newest(self, key: SigningKey, *, at: int, seen: Frontier | None = None) -> str:
        """Signs all entries so far in place of the newest checkpoint; `seen`: the tree that witnesses saw."""
        text = self.signed(key, at=at)
        self.store.keep_newest(NewestCheckpoint(self.size, text, tree_bytes(seen or self._tree)))
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
        self._expect_hashed()
        return signed(Checkpoint(origin=self.origin, size=self.size, root=self.root(), at=at), key)

    def _expect_hashed(self) -> None:
        """Before anything is signed. An authenticated tree is signed as it is: it is of what was written."""
        if self.secret is None:
            self.prove()

    def prove(self) -> None:
        """Hashes every entry, once. Also checks that the entries match every earlier checkpoint."""
        if self._is_proved:
            return
        tree, previous = hash_all(self.store, self.origin, self._keys)
        if (tree.size, tree.root(), previous) != (self.size, self.root(), self._previous):
            raise DamagedError(0, "the entries have changed since the journal was opened")
        self._is_proved = True

    def _expect(self, key: SigningKey) -> None:
        if self.key is None or key.public != self.key:
            expected = f"{self.key.name} {self.key.id}" if self.key else "no key"
            raise JournalError(f"wrong signing key: expected {expected}, got {key.name} {key.public.id}")

    # Reading

    def entries(self, *, after: int = 0, stream: str | None = None) -> Iterator[Entry]:
        """The entries in order. A damaged or misplaced entry raises DamagedError."""
        return read_entries(self.store, self.codec, after=after, stream=stream)

    def events(self, stream: str, *, after: int = 0) -> Iterator[tuple[int, AnyEvent]]:
        """Version and event of each entry of a stream: all that a start needs, in half the time."""
        last = self.version(stream) if self._in_doubt is None else None  # else it is unknown what is stored
        return read_events(self.store, self.codec, stream, after=after, last=last)

    # Snapshots

    @property
    def distrusted(self) -> Sequence[Distrusted]:
        """What is stored beside the entries and had no valid code so far, each once."""
        return self._snapshots.distrusted if self._snapshots is not None else ()

    def unsealed(self) -> dict[str, bytes]:
        """What the vault holds and the storage secret does not open: name and bytes."""
        store = self._unprotected
        found = {name: store.secret(name) for name in store.secrets()}
        is_open = self.secret.opened if self.secret is not None else lambda _name, _body: None
        return {
            name: body for name, body in found.items() if body is not None and is_open(name, body) is None
        }

    def keep(self, stream: str, body: bytes, parts: Mapping[int, bytes]) -> bool:
        """Stores snapshots of a stream's state and of the tree; False without a secret, which they need."""
        if self._snapshots is None:
            return False
        snapshot = StoredSnapshot(stream, self.version(stream), body)
        self._snapshots.keep(snapshot, parts, Tree(self.size, self._tree.peaks), self._versions)
        return True

    def snapshot(self, stream: str) -> tuple[int, bytes] | None:
        """Version and state of the latest snapshot of a stream; None without one that has a valid code."""
        return None if self._snapshots is None else self._snapshots.snapshot(stream)

    def part(self, stream: str, number: int) -> bytes | None:
        """A part of the latest snapshot; None if it has no valid code, or is not of that snapshot."""
        return None if self._snapshots is None else self._snapshots.part(stream, number)

    def close(self) -> None:
        self.store.close()

    def _read_tree(self) -> ReadTree:
        return read_tree(self.store, self.codec, self._snapshots)

    def _learn(self, event: AnyEvent, position: int) -> None:
        """Learns id, keys and rulebooks from the journal's own stream."""
        if isinstance(event, JournalOpened):
            self.identity, self._id = event, event.journal
            self._keys.append((position, PublicKey.parse(event.key)))
            self._wrapped = event.secret or None
        elif isinstance(event, KeyIntroduced):
            self._keys.append((position, PublicKey.parse(event.key)))
            self._wrapped = event.secret or None
        elif isinstance(event, StorageSecretSealed):
            self._wrapped = event.secret
        elif isinstance(event, RulebookStored):
            self._books[event.digest] = event.text

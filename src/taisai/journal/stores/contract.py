"""The contract of a store, which holds the entries of a journal, and a store in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple, Protocol

from taisai.journal.errors import ConflictError, JournalError
from taisai.rules.errors import printable

MOST_SECRET: Final = 1 << 16  # bytes of one: a password's hash has a hundred, favourites have a few thousand
MOST_SECRET_NAME: Final = 200  # characters: what it is, and the names of a table, a seat or a person


class Row(NamedTuple):
    """A stored entry: its place and its exact bytes."""

    position: int
    stream: str
    version: int
    body: bytes


class StoredCheckpoint(NamedTuple):
    size: int
    text: str


class NewestCheckpoint(NamedTuple):
    """The checkpoint of the latest second, which the next one replaces."""

    size: int
    text: str
    tree: bytes
    """The tree that every witness has seen: its proofs of growth begin there."""


class Head(NamedTuple):
    """The end of the journal as its writer left it, with a code that only the storage secret can make."""

    size: int
    mac: bytes


class StoredSnapshot(NamedTuple):
    """A stored snapshot: the state of a stream at a version."""

    stream: str
    version: int
    body: bytes


def with_newest(
    stored: Iterator[StoredCheckpoint], newest: NewestCheckpoint | None
) -> Iterator[StoredCheckpoint]:
    """The stored checkpoints, and the newest one if it is not among them."""
    last = StoredCheckpoint(0, "")
    for last in stored:
        yield last
    if newest is not None and newest.size >= last.size and newest.text != last.text:
        yield StoredCheckpoint(newest.size, newest.text)


def check_order(rows: Sequence[Row], position: int, version_of: Callable[[str], int]) -> None:
    """Refuses rows that do not follow the stored ones in position and version."""
    versions: dict[str, int] = {}
    for row in rows:
        stream = row[1]
        position += 1
        version = versions[stream] = (versions[stream] if stream in versions else version_of(stream)) + 1
        if row[0] != position or row[2] != version:
            expected, got = f"position {position}, version {version}", f"{row.position}, {row.version}"
            raise ConflictError(f"expected {expected} of {stream}, got {got}")


def check_forward(checkpoint: StoredCheckpoint, latest: int) -> None:
    """Refuses a checkpoint over fewer entries than the one before."""
    if checkpoint.size < latest:
        expected = f"expected a checkpoint over {latest:,} entries or more, as the one before it"
        raise ConflictError(f"{expected}, got one over {checkpoint.size:,}: another server has sealed since")


def check_secret(name: str, body: bytes | None) -> None:
    """Refuses a secret that is too long, or an invalid name of a secret."""
    if not (0 < len(name) <= MOST_SECRET_NAME and name.isprintable()):
        expected = f"expected 1 to {MOST_SECRET_NAME} printable characters"
        got = printable(repr(name[: MOST_SECRET_NAME * 2]))
        raise JournalError(f"invalid name of a secret: {expected}, got {got}")
    if body is not None and len(body) > MOST_SECRET:
        raise JournalError(f"expected a secret of at most {MOST_SECRET} bytes, got {len(body)} ({name})")


class Store(Protocol):
    """Holds entries and checkpoints for ever, snapshots that can be deleted, and a vault of secrets."""

    def append(self, rows: Sequence[Row], head: Head | None = None) -> None:
        """Appends all rows durably with the new head, or nothing: UnwritableError or ConflictError."""

    def head(self) -> Head | None:
        """The head that was stored with the last rows that had one."""

    def expect_writer(self) -> None:
        """Raises FencedError if another process has written to the store since it was opened here."""

    def rows(self, *, after: int = 0, stream: str | None = None) -> Iterator[Row]:
        """The rows in order: of all streams after a position, or of one stream after a version."""

    def last(self) -> Row | None:
        """The row with the highest position."""

    def version(self, stream: str) -> int:
        """The number of entries in a stream."""

    def streams(self) -> list[str]:
        """The names of all streams, in the order of their first entries."""

    def seal(self, checkpoint: StoredCheckpoint) -> None:
        """Stores a checkpoint durably; a ConflictError if it is over fewer entries than the one before."""

    def checkpoints(self) -> list[StoredCheckpoint]:
        """All checkpoints, in the order in which they were stored; the newest is the last."""

    def keep_newest(self, newest: NewestCheckpoint) -> None:
        """Replaces the newest checkpoint durably; a ConflictError if one over more entries is kept."""

    def newest(self) -> NewestCheckpoint | None:
        """The newest checkpoint that was kept so."""

    def backwards(self) -> list[tuple[int, int]]:
        """Each checkpoint over fewer entries than the one stored before it: both sizes, the earlier first.

        A server of an earlier version wrote it, after another server had taken its place.
        """

    def keep(self, snapshot: StoredSnapshot, parts: Mapping[int, bytes]) -> None:
        """Replaces the snapshot of a stream and those parts of it, by number, that changed."""

    def snapshots(self) -> list[tuple[str, int]]:
        """Stream and version of each snapshot."""

    def snapshot(self, stream: str, version: int | None = None) -> StoredSnapshot | None:
        """The latest snapshot of a stream, or that of a version."""

    def part(self, stream: str, number: int, version: int) -> bytes | None:
        """The latest part of a snapshot by its number, up to a version."""

    def parts(self, stream: str, version: int) -> list[int]:
        """The numbers of the parts that were stored up to a version."""

    def forget(self) -> None: ...

    def secret(self, name: str) -> bytes | None:
        """A secret in the vault by its name. The vault is not part of the journal."""

    def keep_secret(self, name: str, body: bytes | None) -> None:
        """Stores a secret durably, in place of an earlier one of that name; None deletes it."""

    def secrets(self, prefix: str = "") -> list[str]:
        """The sorted names of the secrets that begin with a prefix."""

    def close(self) -> None: ...


class Reader(Protocol):
    """What is read of a journal that a writer may be writing to: all of a store but the vault."""

    path: str
    """Where the journal is, for messages."""

    def hold_still(self) -> None:
        """Freezes the view: later writes are not seen."""

    def rows(self, *, after: int = 0, stream: str | None = None) -> Iterator[Row]: ...

    def last(self) -> Row | None: ...

    def checkpoints(self) -> list[StoredCheckpoint]: ...

    def sealed(self) -> Iterator[StoredCheckpoint]:
        """The checkpoints by size, one by one."""

    def backwards(self) -> list[tuple[int, int]]: ...

    def snapshots(self) -> list[tuple[str, int]]: ...

    def snapshot(self, stream: str, version: int | None = None) -> StoredSnapshot | None: ...

    def is_replaced(self, stream: str, version: int) -> bool:
        """Whether the writer has replaced or deleted a snapshot since the view was frozen."""

    def part(self, stream: str, number: int, version: int) -> bytes | None: ...

    def parts(self, stream: str, version: int) -> list[int]: ...

    def faults(self) -> list[str]:
        """The problems that the store finds in itself."""

    def close(self) -> None: ...


class MemoryStore(Store):
    """A store for tests, studies and demonstrations; its content is lost with its process."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._by_stream: dict[str, list[int]] = {}
        self._checkpoints: list[StoredCheckpoint] = []
        self._newest: NewestCheckpoint | None = None
        self._snapshots: dict[str, dict[int, bytes]] = {}
        self._parts: dict[str, dict[int, dict[int, bytes]]] = {}
        self._vault: dict[str, bytes] = {}
        self._head: Head | None = None

    def append(self, rows: Sequence[Row], head: Head | None = None) -> None:
        check_order(rows, len(self._rows), self.version)
        self._head = head or self._head
        self._rows += rows
        for row in rows:
            self._by_stream.setdefault(row.stream, []).append(row.position)

    def head(self) -> Head | None:
        return self._head

    def expect_writer(self) -> None:
        """Does nothing: no other process can open it."""

    def rows(self, *, after: int = 0, stream: str | None = None) -> Iterator[Row]:
        if stream is None:
            return islice(iter(self._rows), after, len(self._rows))
        places = self._by_stream.get(stream, [])
        return (self._rows[place - 1] for place in islice(places, after, len(places)))

    def last(self) -> Row | None:
        return self._rows[-1] if self._rows else None

    def version(self, stream: str) -> int:
        return len(self._by_stream.get(stream, ()))

    def streams(self) -> list[str]:
        return list(self._by_stream)

    def seal(self, checkpoint: StoredCheckpoint) -> None:
        check_forward(checkpoint, self._checkpoints[-1].size if self._checkpoints else 0)
        self._checkpoints.append(checkpoint)

    def checkpoints(self) -> list[StoredCheckpoint]:
        return list(with_newest(iter(self._checkpoints), self._newest))

    def keep_newest(self, newest: NewestCheckpoint) -> None:
        kept = self.checkpoints()
        check_forward(StoredCheckpoint(newest.size, newest.text), kept[-1].size if kept else 0)
        self._newest = newest

    def newest(self) -> NewestCheckpoint | None:
        return self._newest

    def backwards(self) -> list[tuple[int, int]]:
        return []

    def keep(self, snapshot: StoredSnapshot, parts: Mapping[int, bytes]) -> None:
        stream, version, body = snapshot
        self._snapshots[stream] = {version: body}
        for number, part in parts.items():
            self._parts.setdefault(stream, {})[number] = {version: part}

    def snapshots(self) -> list[tuple[str, int]]:
        return [(stream, version) for stream, kept in self._snapshots.items() for version in kept]

    def snapshot(self, stream: str, version: int | None = None) -> StoredSnapshot | None:
        kept = self._snapshots.get(stream)
        if not kept or (version is not None and version not in kept):
            return None
        version = max(kept) if version is None else version
        return StoredSnapshot(stream, version, kept[version])

    def part(self, stream: str, number: int, version: int) -> bytes | None:
        kept = self._parts.get(stream, {}).get(number, {})
        versions = [stored for stored in kept if stored <= version]
        return kept[max(versions)] if versions else None

    def parts(self, stream: str, version: int) -> list[int]:
        return sorted(number for number, kept in self._parts.get(stream, {}).items() if min(kept) <= version)

    def forget(self) -> None:
        self._snapshots.clear()
        self._parts.clear()

    def secret(self, name: str) -> bytes | None:
        return self._vault.get(name)

    def keep_secret(self, name: str, body: bytes | None) -> None:
        check_secret(name, body)
        if body is None:
            self._vault.pop(name, None)
        else:
            self._vault[name] = bytes(body)

    def secrets(self, prefix: str = "") -> list[str]:
        return sorted(name for name in self._vault if name.startswith(prefix))

    def close(self) -> None:
        """Does nothing: memory needs no closing."""

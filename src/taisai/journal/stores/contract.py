"""What a journal asks of whatever holds its entries; `memory` and `sqlite` are the two that do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from taisai.journal.errors import ConflictError, JournalError
from taisai.rules.errors import printable

MOST_SECRET: Final = 1 << 16  # bytes of one: a password's hash has a hundred, favourites have a few thousand
MOST_SECRET_NAME: Final = 200  # characters: what it is, and the names of a table, a seat or a person


class Row(NamedTuple):
    """An entry as it is kept: its place, and its exact bytes."""

    position: int
    stream: str
    version: int
    body: bytes


class StoredCheckpoint(NamedTuple):
    """A signed checkpoint as it is kept."""

    size: int
    text: str


class StoredSnapshot(NamedTuple):
    """A snapshot as it is kept: whatever state a stream had after so many of its entries."""

    stream: str
    version: int
    body: bytes


def check_order(rows: Sequence[Row], position: int, version_of: Callable[[str], int]) -> None:
    """Refuses rows that do not follow, one after the other, on so many entries and versions."""
    versions: dict[str, int] = {}
    for row in rows:
        stream = row[1]
        position += 1
        version = versions[stream] = (versions[stream] if stream in versions else version_of(stream)) + 1
        if row[0] != position or row[2] != version:
            expected, got = f"position {position}, version {version}", f"{row.position}, {row.version}"
            raise ConflictError(f"expected {expected} of {stream}, got {got}")


def check_secret(name: str, body: bytes | None) -> None:
    """Refuses what is too long for the vault, or cannot be a name there."""
    if not (0 < len(name) <= MOST_SECRET_NAME and name.isprintable()):
        wanted = f"a secret's name of 1 to {MOST_SECRET_NAME} printable characters"
        raise JournalError(f"expected {wanted}, got {printable(repr(name[: MOST_SECRET_NAME * 2]))}")
    if body is not None and len(body) > MOST_SECRET:
        raise JournalError(f"expected a secret of at most {MOST_SECRET} bytes, got {len(body)} as {name}")


class Store(Protocol):
    """Holds rows for ever, checkpoints too, snapshots until someone throws them away, and a vault."""

    def append(self, rows: Sequence[Row]) -> None:
        """All rows, durably, or none: UnwritableError, InDoubtError or ConflictError."""

    def rows(self, *, after: int = 0, stream: str | None = None) -> Iterator[Row]:
        """The rows in order, of all streams after a position, or of one stream after a version."""

    def last(self) -> Row | None:
        """The row with the highest position."""

    def version(self, stream: str) -> int:
        """How many entries a stream has."""

    def streams(self) -> list[str]:
        """The streams that there are, in the order they came."""

    def seal(self, checkpoint: StoredCheckpoint) -> None:
        """Keeps a checkpoint, durably."""

    def checkpoints(self) -> list[StoredCheckpoint]:
        """Every checkpoint, in the order they were kept."""

    def keep(self, snapshot: StoredSnapshot, parts: Mapping[int, bytes]) -> None:
        """Keeps a snapshot, and by their numbers the parts that changed, in place of the ones before."""

    def snapshots(self) -> list[tuple[str, int]]:
        """Stream and version of every snapshot."""

    def snapshot(self, stream: str, version: int | None = None) -> StoredSnapshot | None:
        """The latest snapshot of a stream, or the one of a version."""

    def part(self, stream: str, number: int, version: int) -> bytes | None:
        """A part of the state as it was kept last, up to a version."""

    def parts(self, stream: str, version: int) -> list[int]:
        """The numbers of the parts that were kept up to a version."""

    def forget(self) -> None:
        """Throws all snapshots away."""

    def secret(self, name: str) -> bytes | None:
        """What is kept in the vault under a name; it is no part of the journal."""

    def keep_secret(self, name: str, body: bytes | None) -> None:
        """Keeps something in the vault, durably, in place of what was there; None takes it out."""

    def secrets(self, prefix: str = "") -> list[str]:
        """The names in the vault that begin so, in order."""

    def close(self) -> None:
        """Lets go of whatever it holds."""

"""What a journal asks of whatever holds its entries; `memory` and `sqlite` are the two that do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from taisai.house.errors import ConflictError


class Row(NamedTuple):
    """An entry as it is kept: its place, and its exact bytes."""

    position: int
    stream: str
    version: int
    body: bytes


class Sealed(NamedTuple):
    """A signed checkpoint as it is kept."""

    size: int
    text: str


class Kept(NamedTuple):
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


class Store(Protocol):
    """Holds rows for ever, checkpoints too, and snapshots until someone throws them away."""

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

    def seal(self, checkpoint: Sealed) -> None:
        """Keeps a checkpoint, durably."""

    def checkpoints(self) -> list[Sealed]:
        """Every checkpoint, in the order they were kept."""

    def keep(self, snapshot: Kept, parts: Mapping[int, bytes]) -> None:
        """Keeps a snapshot, and by their numbers the parts that changed, in place of the ones before."""

    def snapshots(self) -> list[tuple[str, int]]:
        """Stream and version of every snapshot."""

    def snapshot(self, stream: str, version: int | None = None) -> Kept | None:
        """The latest snapshot of a stream, or the one of a version."""

    def part(self, stream: str, number: int, version: int) -> bytes | None:
        """A part of the state as it was kept last, up to a version."""

    def parts(self, stream: str, version: int) -> list[int]:
        """The numbers of the parts that were kept up to a version."""

    def forget(self) -> None:
        """Throws all snapshots away."""

    def close(self) -> None:
        """Lets go of whatever it holds."""

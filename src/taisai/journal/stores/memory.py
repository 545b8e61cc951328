"""A store in memory, for tests, studies and demonstrations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from taisai.journal.stores.contract import (
    Row,
    Store,
    StoredCheckpoint,
    StoredSnapshot,
    check_order,
    check_secret,
)


class MemoryStore(Store):
    """A store whose content is lost with its process."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._by_stream: dict[str, list[int]] = {}
        self._checkpoints: list[StoredCheckpoint] = []
        self._snapshots: dict[str, dict[int, bytes]] = {}
        self._parts: dict[str, dict[int, dict[int, bytes]]] = {}
        self._vault: dict[str, bytes] = {}

    def append(self, rows: Sequence[Row]) -> None:
        check_order(rows, len(self._rows), self.version)
        self._rows += rows
        for row in rows:
            self._by_stream.setdefault(row.stream, []).append(row.position)

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
        self._checkpoints.append(checkpoint)

    def checkpoints(self) -> list[StoredCheckpoint]:
        return list(self._checkpoints)

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

"""Snapshots as bytes: the same state, the same bytes."""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec

VERSION: Final = 3
"""Of the form of all snapshots. One of another form is not read: the events make the table again."""

_ENCODER: Final = msgspec.json.Encoder(order="sorted")


class SnapshotError(Exception):
    """A snapshot that cannot be read, or that is not of this rulebook or these rounds."""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every snapshot carries."""

    version: int = VERSION


_S = TypeVar("_S", bound=Snapshot)


def encode(snapshot: Snapshot) -> bytes:
    """A snapshot as canonical JSON: no spaces, keys in order."""
    return _ENCODER.encode(snapshot)


def decode(data: bytes, kind: type[_S]) -> _S:
    """A snapshot of a kind, from its bytes."""
    try:
        snapshot = msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SnapshotError(f"expected a {kind.__name__} of version {VERSION}, got {error}") from error
    check("version", VERSION, snapshot.version)
    return snapshot


def check(what: str, expected: object, got: object) -> None:
    """Raises where a snapshot says something else than it must."""
    if expected != got:
        raise SnapshotError(f"expected the {what} {expected}, got {got} in the snapshot")

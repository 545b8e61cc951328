"""Closes: where bets of a table closed last, and the hash of that entry, by which the shaker draws."""

from __future__ import annotations

from typing import NamedTuple

from taisai.game.events import BetsClosed
from taisai.journal.errors import JournalError
from taisai.journal.journal import Journal
from taisai.journal.seals.merkle import leaf_hash


class Close(NamedTuple):
    """The entry that closed bets."""

    position: int
    hash: bytes


def last_close(journal: Journal, stream: str, *, after: int = 0) -> Close:
    """The last close among the entries of a table's stream, from so many entries on."""
    found: Close | None = None
    for row in journal.store.rows(after=after, stream=stream):
        if isinstance(journal.codec.decode_event(row.body, row.position)[1], BetsClosed):
            found = Close(row.position, leaf_hash(row.body))
    if found is None:
        raise JournalError(f"expected a close of bets in {stream} after version {after}, got none")
    return found

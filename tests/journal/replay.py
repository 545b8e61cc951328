"""Replays a stored journal: gives its commands to the engine and returns the entries that it appends."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from taisai.game.events import TableOpened
from taisai.journal import Engine, Journal, MemoryStore
from taisai.journal.codec import (
    JOURNAL_STREAM,
    Codec,
    JournalOpened,
    KeyIntroduced,
    RulebookStored,
    StorageSecretSealed,
)
from taisai.journal.engine import Submission
from taisai.journal.journal import Decision
from taisai.journal.seals.secret import StorageSecret
from tests.journal.evening_journal import read_once


def entries_of(export: bytes) -> list[bytes]:
    """The entries of an export in JSON lines, without its checkpoints and its end."""
    return [line for line in export.splitlines() if not line.startswith((b'{"checkpoint":', b'{"end":'))]


def replayed(bodies: Sequence[bytes]) -> list[bytes]:
    """The entries that the engine appends to an empty journal when it gets the commands of these entries."""
    codec, store, books = Codec(), MemoryStore(), {}
    first = codec.decode(bodies[0], 1)
    opened = first.event
    assert isinstance(opened, JournalOpened), opened
    journal = Journal(store, Codec(first.v), secret=StorageSecret(bytes(32)))  # only the house has its own
    journal.append([Decision(JOURNAL_STREAM, [opened])])
    engine = Engine(journal)
    for position, body in enumerate(bodies[1:], 2):
        entry = codec.decode(body, position)
        if isinstance(entry.event, RulebookStored):  # the engine stores it when the table opens
            books[entry.event.digest] = read_once(entry.event.text, entry.event.id)
        elif isinstance(entry.event, KeyIntroduced | StorageSecretSealed):  # only a key could make it again
            journal.append([Decision(JOURNAL_STREAM, [entry.event])])
        elif entry.asked is not None:
            book = books[entry.event.digest] if isinstance(entry.event, TableOpened) else None
            engine.answer_all([Submission(entry.stream, entry.asked, book)])
    return [row.body for row in store.rows()]


def difference(expected: Sequence[bytes], got: Sequence[bytes]) -> str | None:
    """The first place where two sequences of lines differ, with both lines; None where they are equal."""
    for number, (one, other) in enumerate(zip_longest(expected, got), 1):
        if one != other:
            return f"line {number}: expected\n  {_text(one)}\ngot\n  {_text(other)}"
    return None


def _text(line: bytes | None) -> str:
    return "no line" if line is None else line.decode()

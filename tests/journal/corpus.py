"""The stored journals of format 1: their lines, their entries, and the same commands played again."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from taisai.game.events import TableOpened
from taisai.journal.codec import (
    Codec,
    Entry,
    JournalOpened,
    KeyIntroduced,
    RulebookStored,
    StorageSecretSealed,
)
from taisai.journal.engine import Engine, Submission
from taisai.journal.journal import Journal
from taisai.journal.seals.checkpoints import read_signed
from taisai.journal.seals.keys import PublicKey, SigningKey
from taisai.journal.stores.contract import MemoryStore
from taisai.rules.book import Rulebook, rulebook_from
from tests.journal import contract, small_journal

JOURNALS: Final = Path(__file__).parents[2] / "cases" / "journals"
NAMES: Final = tuple(sorted(path.name for path in JOURNALS.glob("format-1*.jsonl*")))
OPEN_NAMES: Final = tuple(sorted(path.name for path in JOURNALS.glob("format-2*.jsonl*")))
"""Journals of the format that is still open; they are made again when it grows."""
SIGNERS: Final[Mapping[str, SigningKey]] = {
    key.public.text: key for key in (small_journal.OLD, small_journal.NEW, contract.KEY, contract.NEXT_KEY)
}
"""Public key → the key that signs, of everybody who signed a stored journal."""
DATABASE: Final = JOURNALS / "format-1-house.db.xz"
DATABASE_ROOT: Final = "a51aa269f4c73a869ed9c601909d9e3df5aacc95b4fc16ef9a57412a89c592ab"
DATABASE_END: Final = 1_794_715_214_289
"""When its last entry was written, in milliseconds since 1970."""


def drawn() -> Callable[[int], bytes]:
    """The bytes that the storage secret of a stored journal is made of, the same each time."""
    return Random(7).randbytes


@cache
def lines(name: str) -> tuple[bytes, ...]:
    """The lines of a stored journal, each with its line feed."""
    data = (JOURNALS / name).read_bytes()
    return tuple((lzma.decompress(data) if name.endswith(".xz") else data).splitlines(keepends=True))


def plain_file(name: str, directory: Path) -> Path:
    """A stored journal as a file that is not compressed."""
    path = directory / name.removesuffix(".xz")
    path.write_bytes(b"".join(lines(name)))
    return path


def database_file(directory: Path) -> Path:
    """The stored database as a file that is not compressed."""
    path = directory / "house.db"
    path.write_bytes(lzma.decompress(DATABASE.read_bytes()))
    return path


@cache
def entries(name: str) -> tuple[Entry, ...]:
    """The entries of a stored journal."""
    decode = Codec().decode
    return tuple(
        decode(line.rstrip(b"\n"), position)
        for position, line in enumerate((line for line in lines(name) if b'"position":' in line), 1)
    )


def replayed(name: str) -> list[bytes]:
    """The export of a journal in which the engine decides the stored commands again."""
    sealed = [
        read_signed(json.loads(line)["checkpoint"]).checkpoint
        for line in lines(name)
        if line.startswith(b'{"checkpoint"')
    ]
    opening = entries(name)[0].event
    assert isinstance(opening, JournalOpened)
    journal = Journal.opened(
        MemoryStore(), journal=opening.journal, key=PublicKey.parse(opening.key), at=opening.at,
        by=opening.by, program=opening.program, demonstration=opening.demonstration,
        codec=Codec(entries(name)[0].v),
    )  # fmt: skip
    engine, books = Engine(journal), _books(entries(name))
    for entry in entries(name):
        if isinstance(entry.event, KeyIntroduced):
            event, new = entry.event, PublicKey.parse(entry.event.key)
            journal.rotate(_signer(journal), new, at=event.at, by=event.by)
        elif isinstance(entry.event, StorageSecretSealed):
            told, signer = entry.event, _signer(journal)
            journal.authenticate(signer, at=told.at, by=told.by, random=drawn())
        elif entry.asked is not None:
            _decide_again(engine, entry, books)
        while sealed and sealed[0].size == journal.size:
            journal.seal(_signer(journal), at=sealed.pop(0).at)
    return [line + b"\n" for line in small_journal.exported(journal)]


def _decide_again(engine: Engine, entry: Entry, books: Mapping[str, Rulebook]) -> None:
    assert entry.asked is not None
    book = books[entry.event.digest] if isinstance(entry.event, TableOpened) else None
    engine.answer_all([Submission(entry.stream, entry.asked, book)])


def _books(stored: Sequence[Entry]) -> dict[str, Rulebook]:
    events: list[Any] = [entry.event for entry in stored if isinstance(entry.event, RulebookStored)]
    return {event.digest: rulebook_from(event.text, event.id) for event in events}


def _signer(journal: Journal) -> SigningKey:
    assert journal.key is not None
    return SIGNERS[journal.key.text]

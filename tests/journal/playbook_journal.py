"""Every playbook in one journal, each at a table of its own, as a file and as an export."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from taisai.game.events import BetsOpened, Event, RoundResettled, RoundSettled, RoundVoided, SettlementUndone
from taisai.journal.codec import Codec, Entry, table_of
from taisai.journal.journal import Journal
from taisai.journal.stores.contract import MemoryStore
from taisai.journal.stores.sqlite import SqliteStore
from tests.game.playbooks import book_of, terms_compiled_once
from tests.journal import small_journal
from tests.journal.small_journal import CASES, exported, text_of, written

NAMES = tuple(sorted(path.stem for path in CASES.glob("*.round")))


@cache
def journal() -> Journal:
    """The journal, in memory."""
    with terms_compiled_once(), pytest.MonkeyPatch.context() as patched:
        patched.setattr(small_journal, "rulebook", book_of)
        return written(MemoryStore(), *NAMES)


def as_file(folder: Path) -> Path:
    """The journal as a file, written in one go; without snapshots."""
    path, whole = folder / "played.db", journal().store
    store = SqliteStore(path)
    store.append(list(whole.rows()))
    for sealed in whole.checkpoints():
        store.seal(sealed)
    store.close()
    return path


def as_export(folder: Path) -> Path:
    """The journal as an export that the tests wrote."""
    path = folder / "played.jsonl"
    path.write_bytes(text_of(exported(journal())))
    return path


@cache
def entries() -> tuple[Entry, ...]:
    """Every entry."""
    codec = Codec()
    return tuple(codec.decode(row.body, row.position) for row in journal().store.rows())


class Ended(NamedTuple):
    """How a round ended, by the last record that speaks of it."""

    staked: int
    returned: int
    won: int
    voided: bool


@cache
def ends() -> dict[tuple[str, int], Ended]:
    """Table and round → how it ended; rounds that were never settled nor void are not there."""
    found: dict[tuple[str, int], Ended] = {}
    in_hand: dict[str, int] = {}
    for entry in entries():
        event: Any = entry.event
        table = table_of(entry.stream)
        if table is None or not isinstance(event, Event):
            continue
        if isinstance(event, BetsOpened):
            in_hand[table] = event.round
        number = getattr(event, "round", None) or in_hand.get(table, 0)
        if isinstance(event, RoundSettled | RoundResettled):
            back = event.won + event.stakes_back
            found[table, number] = Ended(event.staked, back, event.won, voided=False)
        elif isinstance(event, RoundVoided):
            found[table, number] = Ended(event.staked, event.staked, 0, voided=True)
        elif isinstance(event, SettlementUndone):
            found.pop((table, number), None)
    return found

"""Journals written in the first version of the format, which every later Taisai must read and prove.

Whoever turns a test red here has changed what old journals mean: keep the old way for the old version.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec
import pytest

from taisai.audit import verified
from taisai.cage.messages import HOUSE_COMMANDS, HOUSE_EVENTS
from taisai.game.commands import COMMANDS
from taisai.game.events import EVENTS
from taisai.game.irregularities import consequences
from taisai.game.messages import tag_of
from taisai.game.refusals import Refusal
from taisai.game.rounds import steps
from taisai.journal import Engine, Journal, SqliteStore, Store
from taisai.journal.codec import RECORDS
from taisai.journal.errors import DamagedError
from taisai.journal.seals.keys import PublicKey
from taisai.rules import rulebook_ids
from taisai.server.auth.credentials import Passwords, stored
from tests.game.past_rounds import unlike
from tests.journal import corpus, make_corpus, replay
from tests.journal.contract import KEY
from tests.journal.small_journal import NEW, OLD
from tests.journal.words import TEXTS
from tests.server.sim.sim_house import KEY as SIMULATION_KEY
from tests.server.sim.sim_house import TABLE
from tests.server.sim.virtual import START, VirtualLoop, run
from tests.server.sim.world import World
from tools import verify_export


class Pinned(NamedTuple):
    """What a stored journal is known to contain."""

    root: str
    key: str
    entries: int
    decisions: int
    tables: int
    bets: int
    settlements: int
    voids: int
    draws: int
    checkpoints: int
    in_transit: int
    rulebooks: tuple[str, ...]


CARDS, MBS, RWS, US = "mbs-3-card-sic-bo", "mbs-sic-bo-v6", "rws-sic-bo-etg-v8", "us-sic-bo"
PINNED = {
    "format-1.jsonl": Pinned(
        "5466ed2b499bd08bc5137c94cc9348124eb53c7a9ba23468a485bb862e9a4646", NEW.public.text,
        187, 164, 6, 16, 8, 2, 0, 3, 13, (CARDS, RWS, US),
    ),
    "format-1-draws.jsonl.xz": Pinned(
        "06f6c04d440f0190a6b7819b13ffb52b574defbdc2609841ea5f9ec9166328ad", OLD.public.text,
        114, 102, 3, 6, 6, 0, 8, 1, 0, (MBS, US, CARDS),
    ),
    "format-1-evening.jsonl.xz": Pinned(
        "94e858fcff6af2fb767384c896ab27df21036be4f1b663795437559769cb0e50", KEY.public.text,
        235, 142, 1, 157, 4, 2, 0, 5, 0, (RWS,),
    ),
    "format-1-playbooks.jsonl.xz": Pinned(
        "93961823492f4de0e405c1cd65cd007ab0ae4e557e6dcbf0d00edf68ae19b2df", NEW.public.text,
        3885, 3312, 108, 345, 163, 100, 0, 7, 123, (MBS, RWS, CARDS, US),
    ),
}  # fmt: skip
STORED = (*PINNED, *corpus.OPEN_NAMES)
each_journal = pytest.mark.parametrize("name", sorted(PINNED))


def test_every_stored_journal_is_pinned() -> None:
    assert set(corpus.NAMES) == PINNED.keys()


@each_journal
def test_a_stored_journal_is_verified_and_decided_as_it_was(name: str, tmp_path: Path) -> None:
    pinned = PINNED[name]
    report = verified(corpus.plain_file(name, tmp_path), key=PublicKey.parse(pinned.key))
    fields = {field: getattr(report, field) for field in Pinned._fields if field != "key"}
    assert Pinned(key=report.keys[-1], **fields) == pinned
    assert report.sealed == pinned.entries


@each_journal
def test_the_stand_alone_verifier_agrees(name: str) -> None:
    pinned = PINNED[name]
    report = verify_export.verify(list(corpus.lines(name)), pinned.key)
    got = (report.root().hex(), report.entries, report.sealed)
    assert got == (pinned.root, pinned.entries, pinned.entries)


@each_journal
def test_the_stored_commands_give_the_stored_bytes(name: str) -> None:
    assert corpus.replayed(name) == list(corpus.lines(name))


# Journals of format 2, which is open


each_open_journal = pytest.mark.parametrize("name", corpus.OPEN_NAMES)


@each_open_journal
def test_a_journal_of_the_open_format_is_verified_and_decided_as_it_was(name: str, tmp_path: Path) -> None:
    """After a change on purpose, `python -m tests.journal.make_corpus --newest` makes it again."""
    assert {entry.v for entry in corpus.entries(name)} == {2}
    report = verified(corpus.plain_file(name, tmp_path), key=OLD.public)
    assert report.sealed == report.entries
    alone = verify_export.verify(list(corpus.lines(name)), OLD.public.text)
    assert (alone.root().hex(), alone.entries) == (report.root, report.entries)
    assert corpus.replayed(name) == list(corpus.lines(name))


# The stored database: a journal with snapshots and a vault


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A copy of the stored database, which a test may write to."""
    return corpus.database_file(tmp_path)


def test_the_stored_database_is_verified(database: Path) -> None:
    report = verified(database, key=SIMULATION_KEY.public)
    assert (report.root, report.entries, report.checkpoints) == (corpus.DATABASE_ROOT, 141, 2)
    assert report.sealed == report.entries


def test_snapshots_of_another_version_are_counted_apart(database: Path) -> None:
    """A start does not use them, and the audit cannot compare them."""
    report = verified(database)
    assert (report.snapshots, report.unused_snapshots) == (0, 3)  # the tree, the House and the table


def test_the_commands_of_the_stored_database_give_its_bytes(database: Path) -> None:
    with closing(SqliteStore(database)) as store:
        bodies = [row.body for row in store.rows()]
    assert replay.difference(bodies, replay.replayed(bodies)) is None


def test_the_stored_database_opens_as_its_entries_leave_it(database: Path) -> None:
    """Its snapshots are used or rebuilt, and both give the state that a replay gives."""
    with closing(SqliteStore(database)) as store:
        engine = Engine(Journal(store))
        table, house = engine.table(TABLE), engine.house()
        store.forget()
        replayed = Engine(Journal(store))
        assert unlike(replayed.table(TABLE), table) == []
        assert replayed.house() == house


def test_the_stored_database_can_be_continued(database: Path) -> None:
    with closing(SqliteStore(database)) as store:
        engine = Engine(Journal(store))
        answer = engine.recover(at=corpus.DATABASE_END + 1_000)[TABLE]
        assert not isinstance(answer, Refusal)
        engine.journal.seal(SIMULATION_KEY, at=corpus.DATABASE_END + 1_000)
        formats = [entry.v for entry in engine.journal.entries()]
    assert formats == [1] * 141 + [2] * (len(formats) - 141)
    assert formats[-1] == 2
    assert verified(database, key=SIMULATION_KEY.public).checkpoints == 3


class OpenedStorage:
    """A database that is there already, as the storage of a simulated server."""

    def __init__(self, path: Path) -> None:
        self.store: Store = SqliteStore(path)

    def crash(self, chance: Random) -> None:
        """Nothing is lost."""

    def close(self) -> None:
        """Close the file."""
        self.store.close()


def test_the_server_starts_on_the_stored_database(database: Path) -> None:
    """It reads the whole vault: the key of tickets, takings, the watch on the dice, the seed of a round."""

    async def start(loop: VirtualLoop) -> None:
        await asyncio.sleep((corpus.DATABASE_END - START) / 1000 + 1)
        world = World(make_corpus.SEED, loop, lambda _: OpenedStorage(database))
        world.crashes = 1  # so that it recovers, as after every start
        await world.open()
        assert world.casino is not None
        await world.casino.stop()
        world.storage.close()

    run(start, most=60)
    report = verified(database, key=SIMULATION_KEY.public)
    assert report.entries > 141
    assert report.checkpoints > 2


def test_the_credentials_in_the_stored_database_are_accepted(database: Path) -> None:
    with closing(SqliteStore(database)) as store:
        credentials = stored(store, "dan")
    assert credentials is not None
    passwords = Passwords(bytes, make_corpus.CHEAP)
    assert passwords.verified(credentials.hash, make_corpus.PASSWORD)
    assert not passwords.verified(credentials.hash, "ten dice in a cup")


# What the stored journals contain


def _missing(kinds: Iterable[type[msgspec.Struct]], part: str) -> set[str]:
    kept = {type(getattr(entry, part)) for name in STORED for entry in corpus.entries(name)}
    return {tag_of(kind) for kind in kinds if kind not in kept}


def test_every_kind_of_event_and_command_is_stored() -> None:
    """A new kind needs a playbook; then `tests/journal/make_corpus.py` makes the open journal again."""
    assert _missing((*EVENTS, *HOUSE_EVENTS, *RECORDS), "event") == set()
    assert _missing((*COMMANDS, *HOUSE_COMMANDS), "asked") == set()


def test_every_rulebook_is_played() -> None:
    assert set(PINNED["format-1-playbooks.jsonl.xz"].rulebooks) == set(rulebook_ids())


@pytest.mark.parametrize(
    ("tag", "field", "text"),
    [
        (tag, field, text)
        for tag, fields in TEXTS.items()
        for field, texts in fields.items()
        for text in texts
    ],
)
def test_every_text_that_the_engine_writes_is_stored(tag: str, field: str, text: str) -> None:
    events: list[Any] = [entry.event for name in PINNED for entry in corpus.entries(name)]
    stored = {getattr(event, field) for event in events if tag_of(type(event)) == tag}
    assert any(re.fullmatch(text, value) for value in stored)


# Sabotages


def test_sabotage_another_answer_to_the_same_command_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = corpus.plain_file("format-1.jsonl", tmp_path)
    monkeypatch.setattr(steps, "MOST_TUMBLES", 1)
    with pytest.raises(DamagedError, match="refuse"):
        verified(path)
    assert corpus.replayed("format-1.jsonl") != list(corpus.lines("format-1.jsonl"))


def test_sabotage_another_text_of_the_engine_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    referred = consequences.referred
    monkeypatch.setattr(
        consequences, "referred", lambda *args, **fields: referred(*args, **fields | {"detail": "reworded"})
    )
    with pytest.raises(DamagedError):
        verified(corpus.plain_file("format-1-playbooks.jsonl.xz", tmp_path))


def test_sabotage_a_kind_that_is_not_stored_is_noticed() -> None:
    new = msgspec.defstruct("NewEvent", [], tag_field="event", tag="new-event")
    assert _missing((*EVENTS, new), "event") == {"new-event"}

"""Snapshots make a start quick, and nothing else: thrown away, damaged or outdated, nobody can tell."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from taisai.game.commands import ReportIrregularity
from taisai.journal.beside import TREE, body_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.journal.engine import Engine
from taisai.journal.journal import Journal
from taisai.journal.stores.contract import StoredSnapshot
from taisai.journal.streams import RECENT
from taisai.rules.vocabulary import Irregularity
from tests.game.past_rounds import compiled_once
from tests.journal.contract import SB1, SB2, SECRET, MakeStore, OnDisk, differences, filled, opened, play
from tests.journal.evening import NAME, START, TABLE_STREAM, Asked, Batch, evening

EVENING = evening(seats=2, rounds=RECENT + 4).batches
"""More rounds than stay in memory."""
EVERY = 5
_SECOND = {"by": "dan", "second": "pat", "detail": "seen on the recording"}
CORRECTIONS: tuple[Batch, ...] = tuple(
    (Asked(TABLE_STREAM, ReportIrregularity(at=START + 10**9 + number, **told, **_SECOND)),)  # type: ignore[arg-type]
    for number, told in enumerate(
        (
            {"event": Irregularity.WRONG_RESULT, "round": 1, "faces": (6, 6, 5)},
            {"event": Irregularity.WRONG_RESULT, "round": 1, "faces": (1, 1, 2)},
            {"event": Irregularity.DIE_DAMAGED, "round": 3, "through": 9},
            {"event": Irregularity.WRONG_RESULT, "round": RECENT + 3, "faces": (4, 4, 4)},
        )
    )
)
"""What is found when it is all over: of rounds put away long since, and of one that was not."""


@pytest.fixture(scope="module", autouse=True)
def _terms_compiled_once() -> Iterator[None]:
    with compiled_once():
        yield


def played(make_store: MakeStore) -> Engine:
    """The evening, kept with many snapshots."""
    engine = Engine(opened(make_store(), secret=SECRET), snapshot_every=EVERY)
    play(engine, EVENING)
    return engine


def started(make_store: MakeStore) -> Engine:
    """An engine that starts from what there is."""
    return Engine(Journal(make_store(), secret=SECRET), snapshot_every=EVERY)


# What a store keeps


def test_a_snapshot_takes_the_place_of_the_one_before(make_store: MakeStore) -> None:
    store = make_store()
    for stream, version in ((SB1, 4), (SB1, 9), (SB2, 12)):
        store.keep(StoredSnapshot(stream, version, f"{stream} at {version}".encode()), {})
    store = make_store()
    assert store.snapshot(SB1) == store.snapshot(SB1, 9) == StoredSnapshot(SB1, 9, b"table:SB1 at 9")
    assert (store.snapshot(SB1, 4), store.snapshot("table:nowhere")) == (None, None)
    assert sorted(store.snapshots()) == [(SB1, 9), (SB2, 12)]


def test_a_part_is_given_as_it_was_kept_last(make_store: MakeStore) -> None:
    store = make_store()
    store.keep(StoredSnapshot(SB1, 5, b""), {1: b"one", 2: b"two"})
    store.keep(StoredSnapshot(SB1, 9, b""), {1: b"one, corrected", 3: b"three"})
    store.keep(StoredSnapshot(SB2, 5, b""), {1: b"of another table"})
    store = make_store()
    assert [store.part(SB1, 1, version) for version in (8, 9, 20)] == [None, *[b"one, corrected"] * 2]
    assert [store.part(SB1, number, 20) for number in (2, 3, 4)] == [b"two", b"three", None]
    assert [store.parts(SB1, version) for version in (5, 6, 9)] == [[2], [2], [1, 2, 3]]


def test_a_snapshot_kept_twice_is_the_second(make_store: MakeStore) -> None:
    store = make_store()
    store.keep(StoredSnapshot(SB1, 5, b"first"), {1: b"one"})
    store.keep(StoredSnapshot(SB1, 5, b"second"), {1: b"uno"})
    store = make_store()
    assert (store.snapshot(SB1), store.part(SB1, 1, 5)) == (StoredSnapshot(SB1, 5, b"second"), b"uno")
    assert store.snapshots() == [(SB1, 5)]


def test_whatever_is_forgotten_is_gone(make_store: MakeStore) -> None:
    store = make_store()
    filled(store, secret=SECRET).keep(SB1, b"{}", {1: b"one"})
    rows = list(store.rows())
    store.forget()
    store = make_store()
    assert (store.snapshots(), store.snapshot(SB1), store.snapshot(TREE)) == ([], None, None)
    assert (store.part(SB1, 1, 99), store.parts(SB1, 4)) == (None, [])
    assert list(store.rows()) == rows


# What an engine makes of it


def test_a_start_from_snapshots_is_a_start_from_entries(make_store: MakeStore) -> None:
    engine = played(make_store)
    store = engine.journal.store
    kept = dict(store.snapshots())
    assert kept[TABLE_STREAM] > 100
    assert kept[HOUSE_STREAM] >= EVERY
    assert [number for number in range(1, 9) if store.part(TABLE_STREAM, number, 10**6) is None] == []
    assert differences(engine, EVENING) == []
    again = started(make_store)
    assert differences(again, EVENING) == []
    table = again.table(NAME)
    assert (table.rounds.unsaved(), len(table.rounds)) == ({}, RECENT + 4)  # none was played again


def test_snapshots_thrown_away_change_nothing(make_store: MakeStore) -> None:
    engine = played(make_store)
    rows, root = list(engine.journal.store.rows()), engine.journal.root()
    engine.journal.store.forget()
    assert differences(engine, EVENING) == []  # rounds that it had put away are played again
    again = started(make_store)
    assert (list(again.journal.store.rows()), again.journal.root()) == (rows, root)
    assert differences(again, EVENING) == []
    play(again, CORRECTIONS)
    assert differences(again, EVENING + CORRECTIONS) == []


def test_rounds_put_away_are_corrected_as_if_they_were_in_memory(make_store: MakeStore) -> None:
    engine = played(make_store)
    engine.snapshot(TABLE_STREAM)
    assert len(engine.table(NAME).rounds) == RECENT + 4
    for number in range(1, len(CORRECTIONS) + 1):
        engine = started(make_store)
        answers = play(engine, CORRECTIONS[number - 1 : number])
        assert isinstance(answers[0], tuple)  # none of them is refused
        assert len(answers[0]) > 1
        assert differences(engine, EVENING + CORRECTIONS[:number]) == []
        assert differences(started(make_store), EVENING + CORRECTIONS[:number]) == []


def test_a_corrected_round_is_kept_again_in_place_of_the_older_one(make_store: MakeStore) -> None:
    engine = played(make_store)
    store = engine.journal.store
    before = store.version(TABLE_STREAM)
    was = store.part(TABLE_STREAM, 1, before)
    play(engine, CORRECTIONS)
    engine.snapshot(TABLE_STREAM)
    store = make_store()
    later, later_rounds = dict(store.snapshots())[TABLE_STREAM], len(engine.table(NAME).rounds)
    assert later > before
    assert store.parts(TABLE_STREAM, later) == list(range(1, later_rounds + 1))
    unchanged = {2, 5, 8, *range(10, RECENT + 3)}  # 5 and 8 were void before
    assert set(store.parts(TABLE_STREAM, before)) >= unchanged
    assert store.part(TABLE_STREAM, 1, before) is None
    assert store.part(TABLE_STREAM, 1, later) != was


def test_a_snapshot_of_another_form_is_ignored(make_store: MakeStore) -> None:
    engine = played(make_store)
    for stream in (TABLE_STREAM, HOUSE_STREAM):
        aggregate = engine.journal.store.snapshot(stream)
        assert aggregate is not None
        told = json.loads(body_of(aggregate.body))
        told["version"] += 1
        forged = json.dumps(told).replace("sue", "eve").encode()
        engine.journal.keep(stream, forged, {1: b"{}"})
    assert differences(started(make_store), EVENING) == []


def _replaced(old: str, new: str) -> str:
    return f"body = CAST(replace(CAST(body AS TEXT), '{old}', '{new}') AS BLOB)"


DAMAGED = {
    "no snapshot holds": f"UPDATE snapshot SET {_replaced('sue', 'eve')}",
    "no table's snapshot holds": "UPDATE snapshot SET body = X'7B7D' WHERE stream LIKE 'table:%'",
    "the tree is another": (  # its hashes are texts with capitals, whichever they are
        "UPDATE snapshot SET body = CAST(lower(CAST(body AS TEXT)) AS BLOB) WHERE stream = 'tree'"
    ),
    "no digest holds": "UPDATE snapshot SET digest = zeroblob(32)",
    "no round holds": f"UPDATE part SET {_replaced('1', '2')}",
    "one round holds not": "UPDATE part SET body = X'' WHERE number = 1",
    "one round is gone": "DELETE FROM part WHERE number = 1",
    "the rounds are gone": "DELETE FROM part",
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_snapshot_or_round_is_ignored(on_disk: OnDisk, damage: str) -> None:
    played(on_disk)
    on_disk.close()
    on_disk.raw(DAMAGED[damage])
    engine = started(on_disk)
    assert differences(engine, EVENING) == []
    play(engine, CORRECTIONS)
    assert differences(engine, EVENING + CORRECTIONS) == []
    assert differences(started(on_disk), EVENING + CORRECTIONS) == []

"""The newest checkpoint, which each second replaces, and the growth that proves what came since."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from taisai.journal.errors import ConflictError, DamagedError, FencedError
from taisai.journal.journal import Journal
from taisai.journal.seals.growth import Growth, tree_bytes, tree_from
from taisai.journal.seals.merkle import Frontier, consistency_proof, leaf_hash, root_of
from taisai.journal.stores import schema, sqlite
from taisai.journal.stores.contract import MemoryStore, NewestCheckpoint, Store, StoredCheckpoint
from taisai.journal.stores.sqlite import SqliteStore
from taisai.journal.stores.sqlite_reader import SqliteReader
from tests.journal.contract import KEY, STORES, MakeStore, OnDisk, filled, made_store, shut
from tests.journal.evening import START


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeStore]:
    made = made_store(request.param, tmp_path, request)
    yield made
    made.close()


def newest(journal: Journal, at: int = START) -> NewestCheckpoint:
    """What a server keeps each second."""
    tree = journal.tree()
    return NewestCheckpoint(tree.size, journal.signed(KEY, at=at), tree_bytes(tree))


def test_the_newest_checkpoint_replaces_the_one_before(make: MakeStore) -> None:
    store: Store = make()
    journal = filled(store)
    assert store.newest() is None
    first = newest(journal)
    store.keep_newest(first)
    journal.append([shut(1)])
    second = newest(journal, START + 1)
    store.keep_newest(second)
    again = make()
    assert again.newest() == second
    assert again.checkpoints() == [StoredCheckpoint(second.size, second.text)]


def test_a_checkpoint_that_goes_backwards_is_not_kept(make: MakeStore) -> None:
    """As a stale server would, whose lock was deleted."""
    store = make()
    journal = filled(store)
    first = newest(journal)
    journal.append([shut(1)])
    second = newest(journal)
    store.keep_newest(second)
    with pytest.raises(ConflictError):
        store.keep_newest(first)
    assert make().newest() == second


def test_it_is_the_last_of_all_checkpoints_unless_it_is_kept_for_ever(make: MakeStore) -> None:
    store = make()
    journal = filled(store)
    text = journal.seal(KEY, at=START)
    kept = store.checkpoints()
    store.keep_newest(NewestCheckpoint(journal.size, text, b""))
    assert store.checkpoints() == kept
    journal.append([shut(1)])
    journal.seal(KEY, at=START + 1)
    assert len(store.checkpoints()) == 2, "an older newest one, as after `taisai unlock`, is not repeated"
    store.keep_newest(newest(journal, START + 2))
    assert len(store.checkpoints()) == 3


def test_entries_that_were_cut_below_it_are_missed_before_anything_is_signed() -> None:
    journal = filled(MemoryStore())
    journal.append([shut(1)])
    cut = filled(MemoryStore())
    cut.store.keep_newest(newest(journal))
    with pytest.raises(DamagedError, match="entries are missing"):
        Journal(cut.store).signed(KEY, at=START)


def test_a_file_from_before_there_was_one_is_read(tmp_path: Path) -> None:
    on_disk = OnDisk(tmp_path)
    journal = filled(on_disk())
    journal.seal(KEY, at=START)
    on_disk.close()
    with apsw.Connection(str(on_disk.path)) as connection:
        connection.execute("DROP TABLE newest")
        connection.pragma("user_version", schema.WITH_NEWEST - 1)
    reader = SqliteReader(on_disk.path)
    assert (reader.newest(), len(reader.checkpoints())) == (None, 1)
    reader.close()


@pytest.mark.parametrize(
    "sql", ["DELETE FROM newest", "UPDATE newest SET size = size - 1", "UPDATE newest SET number = 2"]
)
def test_other_programs_cannot_delete_it_or_set_it_back(tmp_path: Path, sql: str) -> None:
    on_disk = OnDisk(tmp_path)
    store = on_disk()
    store.keep_newest(newest(filled(store)))
    with pytest.raises(apsw.ConstraintError):
        on_disk.raw(sql)
    on_disk.close()


def test_a_checkpoint_kept_for_ever_bounds_it_too(make: MakeStore) -> None:
    store = make()
    journal = filled(store)
    first = newest(journal)
    journal.append([shut(1)])
    journal.seal(KEY, at=START)
    with pytest.raises(ConflictError, match="expected a checkpoint over 8 entries or more"):
        store.keep_newest(first)
    assert make().newest() is None


@pytest.mark.parametrize("verb", ["INSERT OR REPLACE", "INSERT"])
def test_other_programs_cannot_put_one_over_fewer_entries_in_its_place(tmp_path: Path, verb: str) -> None:
    on_disk = OnDisk(tmp_path)
    store = on_disk()
    journal = filled(store)
    values = "INTO newest (number, size, text, tree) VALUES (1, 6, 'text', X'00')"
    if verb == "INSERT":
        journal.seal(KEY, at=START)
    else:
        store.keep_newest(newest(journal))
    with pytest.raises(apsw.ConstraintError, match="fewer entries than the one before"):
        on_disk.raw(f"{verb} {values}")
    on_disk.close()


def test_a_server_that_was_replaced_keeps_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lock was deleted, and another server writes: each checkpoint of the old one is refused."""
    path = tmp_path / "journal"
    monkeypatch.setattr(sqlite, "_fcntl", None)
    old = SqliteStore(path)
    journal = filled(old)
    old.keep_newest(newest(journal))
    other = SqliteStore(path)
    Journal(other).append([shut(1)])
    with pytest.raises(FencedError, match="another process has written to the journal"):
        old.keep_newest(newest(journal, START + 1))
    other.keep_newest(newest(Journal(other), START + 2))
    with pytest.raises(FencedError):
        journal.seal_newest(KEY, at=START + 3)
    kept = other.newest()
    assert kept is not None
    assert kept.size == other.last().position  # type: ignore[union-attr]
    old.close()
    other.close()


# Growth

LEAVES = [leaf_hash(b"%d" % number) for number in range(70)]


@pytest.mark.parametrize("old", range(66))
def test_growth_proves_what_all_the_leaves_prove(old: int) -> None:
    growth = Growth(Frontier())
    growth.extend(LEAVES[:old], after=0)
    growth.advance(old)
    for new in range(old, 67):
        growth.extend(LEAVES[growth.size : new], after=growth.size)
        assert growth.proof(new) == consistency_proof(LEAVES, old, new), new
    assert growth.root() == root_of(LEAVES[:66])


def test_growth_takes_only_leaves_that_follow() -> None:
    growth = Growth(Frontier())
    growth.extend(LEAVES[:5], after=0)
    growth.extend(LEAVES[6:9], after=6)
    assert growth.size == 5
    growth.forget()
    growth.extend(LEAVES[5:9], after=5)
    assert growth.size == 0
    with pytest.raises(ValueError, match="expected a size from 0 to 0, got 3"):
        growth.advance(3)


@pytest.mark.parametrize("held", [5, 9])
def test_growth_begins_again_at_a_tree_and_keeps_what_came_after_it(held: int) -> None:
    growth, tree = Growth(Frontier()), Frontier()
    growth.extend(LEAVES[:held], after=0)
    for leaf in LEAVES[:7]:
        tree.append(leaf)
    growth.rebase(tree)
    assert (growth.base.size, growth.size) == (7, max(7, held))
    growth.extend(LEAVES[growth.size : 12], after=growth.size)
    assert growth.proof(12) == consistency_proof(LEAVES, 7, 12)


def test_a_tree_that_is_none_is_not_read() -> None:
    tree = Growth(Frontier(0)).base
    assert tree_from(tree_bytes(tree)) is not None
    for body in (b"", b"{}", b'{"size":1,"peaks":[]}', b'{"size":-1,"peaks":[]}', b"\xff"):
        assert tree_from(body) is None

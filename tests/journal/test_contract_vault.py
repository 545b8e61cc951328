"""The vault: what it holds is there again after a start, and nowhere in the journal or its exports."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from taisai.audit import verified
from taisai.audit.backup import back_up
from taisai.audit.export import lines
from taisai.audit.rows import event_rows
from taisai.audit.sources import source_of
from taisai.journal.errors import InDoubtError, JournalError, UnwritableError
from taisai.journal.stores.contract import MOST_SECRET, MOST_SECRET_NAME
from taisai.journal.stores.sqlite import SqliteStore
from taisai.journal.stores.sqlite_reader import SqliteReader
from tests.journal import small_journal
from tests.journal.contract import KEY, MakeStore, OnDisk, filled
from tests.journal.evening import START

SECRET = b"$argon2id$v=19$m=47104,t=1,p=1$" + bytes(range(256))
STAFF = "staff/ann"

# What it holds


def test_a_secret_outlives_the_store(make_store: MakeStore) -> None:
    store = make_store()
    assert store.secret(STAFF) is None
    store.keep_secret(STAFF, SECRET)
    store.keep_secret("staff/西 & co", b"")
    store = make_store()
    assert (store.secret(STAFF), store.secret("staff/西 & co")) == (SECRET, b"")
    assert store.secret("STAFF/ann") is None


def test_a_secret_takes_the_place_of_the_one_before(make_store: MakeStore) -> None:
    store = make_store()
    for body in (SECRET, b"another", b"a third"):
        store.keep_secret(STAFF, body)
    store = make_store()
    assert (store.secret(STAFF), store.secrets()) == (b"a third", [STAFF])


def test_a_secret_taken_out_is_gone(make_store: MakeStore) -> None:
    store = make_store()
    store.keep_secret(STAFF, SECRET)
    store.keep_secret(STAFF, None)
    store.keep_secret("staff/never", None)
    store = make_store()
    assert (store.secret(STAFF), store.secrets()) == (None, [])


def test_names_are_found_by_how_they_begin(make_store: MakeStore) -> None:
    store = make_store()
    names = ["staff/bob", "staff/Ann", "likes/T1/5", "likes/T1/10", "likes_T1", "staff/西", "%", "staff"]
    for name in names:
        store.keep_secret(name, name.encode())
    assert store.secrets() == sorted(names)
    assert store.secrets("staff/") == ["staff/Ann", "staff/bob", "staff/西"]
    assert store.secrets("likes/T1/") == ["likes/T1/10", "likes/T1/5"]
    assert [store.secrets(prefix) for prefix in ("%", "likes_", "STAFF", "x")] == [
        ["%"],
        ["likes_T1"],
        [],
        [],
    ]


def test_a_secret_and_its_name_have_limits(make_store: MakeStore) -> None:
    store = make_store()
    store.keep_secret("n" * MOST_SECRET_NAME, bytes(MOST_SECRET))
    for name in ("", "n" * (MOST_SECRET_NAME + 1), "a\nb", "a\x00b", "\ud800"):
        for body in (SECRET, None):
            with pytest.raises(JournalError, match="invalid name of a secret: expected 1 to 200 printable"):
                store.keep_secret(name, body)
    with pytest.raises(JournalError, match=f"expected a secret of at most {MOST_SECRET} bytes, got") as told:
        store.keep_secret(STAFF, SECRET * 10_000)
    assert "argon2id" not in str(told.value)
    assert store.secrets() == ["n" * MOST_SECRET_NAME]


# What it is not


def test_the_journal_knows_nothing_of_the_vault(make_store: MakeStore) -> None:
    store = make_store()
    journal = filled(store)
    rows, root = list(store.rows()), journal.root()
    store.keep_secret(STAFF, SECRET)
    assert (list(store.rows()), journal.root(), store.streams()) == (rows, root, store.streams())
    assert (store.snapshots(), store.checkpoints()) == ([], [])
    store.forget()  # throws away what can be made again, which a secret cannot
    assert make_store().secret(STAFF) == SECRET


def sealed_with_a_secret(on_disk: OnDisk) -> SqliteStore:
    """A sealed journal on the disk, with something in its vault."""
    store = on_disk()
    filled(store).seal(KEY, at=START)
    store.keep_secret(STAFF, SECRET)
    return store


def test_no_export_has_a_secret_and_an_audit_does_not_mind(tmp_path: Path) -> None:
    path = small_journal.on_disk(tmp_path / "a.db", "mbs-void-rounds")
    before = verified(path)
    store = SqliteStore(path)
    store.keep_secret(STAFF, SECRET)
    store.close()
    assert SECRET in path.read_bytes()  # or this would prove nothing
    assert verified(path) == before
    source = source_of(path)
    told = b"".join(lines(source)) + repr([list(event_rows(source)), verified(path)]).encode()
    source.close()
    assert b"argon2id" not in told
    assert STAFF.encode() not in told


def test_anyone_who_only_reads_a_journal_has_no_way_to_its_vault(on_disk: OnDisk) -> None:
    sealed_with_a_secret(on_disk)
    reader: Any = SqliteReader(on_disk.path)
    found = [name for name in dir(reader) if "secret" in name.lower() or "vault" in name.lower()]
    reader.close()
    assert found == []


def test_a_backup_carries_the_vault(on_disk: OnDisk, tmp_path: Path) -> None:
    sealed_with_a_secret(on_disk)
    back_up(on_disk.path, tmp_path / "copy")
    copy = SqliteStore(tmp_path / "copy")
    found = copy.secret(STAFF)
    copy.close()
    assert found == SECRET


# On the disk


def test_a_secret_taken_out_or_replaced_is_not_left_in_the_file(on_disk: OnDisk) -> None:
    store = on_disk()
    old = [bytes([65 + one]) * 3_000 for one in range(4)]  # each on pages of its own
    for number, body in enumerate(old):
        store.keep_secret(f"staff/{number}", body)
    on_disk.close()
    kept = on_disk.path.read_bytes()
    assert [body[:100] in kept for body in old] == [True] * 4
    store = on_disk()
    for number in range(4):
        store.keep_secret(f"staff/{number}", b"new" if number % 2 else None)
    on_disk.close()
    left = on_disk.path.read_bytes()
    assert [body[:100] in left for body in old] == [False] * 4


def test_a_file_with_secrets_is_its_owners_alone(on_disk: OnDisk) -> None:
    store = on_disk()
    on_disk.path.chmod(0o644)
    store.keep_secret(STAFF, SECRET)
    files = sorted(on_disk.path.parent.glob(f"{on_disk.path.name}*"))
    assert len(files) == 4  # the log, the index of the log and the lock beside it
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_vault_that_cannot_be_written_stays_as_it_was(
    on_disk: OnDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = on_disk()
    store.keep_secret(STAFF, SECRET)
    monkeypatch.setattr(store, "_in_doubt", "a sync failed")
    with pytest.raises(InDoubtError, match="open the journal again"):
        store.keep_secret(STAFF, b"new")
    monkeypatch.setattr(store, "_in_doubt", None)
    store._writing.pragma("query_only", True)  # noqa: FBT003  as on a disk that has become one for reading
    with pytest.raises(UnwritableError):
        store.keep_secret(STAFF, b"new")
    assert on_disk().secret(STAFF) == SECRET

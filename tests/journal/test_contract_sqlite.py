"""The SQLite file: append-only by hand too, one writer, never weakly kept, and told from any other file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import cast

import apsw
import pytest

from taisai.journal.errors import (
    ConflictError,
    DamagedError,
    FencedError,
    InDoubtError,
    JournalError,
    UnwritableError,
)
from taisai.journal.journal import Journal
from taisai.journal.stores import schema, sqlite
from taisai.journal.stores.contract import Store, StoredCheckpoint
from taisai.journal.stores.sqlite import SqliteStore
from taisai.journal.stores.sqlite_reader import SqliteReader
from tests.journal.contract import KEY, SB1, SB2, SECRET, OnDisk, filled, opened, rows_of, shut
from tests.journal.disk import Disk, Operation, Sync
from tests.journal.evening import START

# By hand

BY_HAND = {
    "an entry is changed": "UPDATE entry SET body = X'7B7D' WHERE position = 3",
    "an entry is moved": "UPDATE entry SET position = 99 WHERE position = 7",
    "an entry is deleted": "DELETE FROM entry WHERE position = 7",
    "all entries are deleted": "DELETE FROM entry",
    "an entry is replaced": "INSERT OR REPLACE INTO entry VALUES (3, 2, 2, X'7B7D')",
    "the last entry is replaced": "INSERT OR REPLACE INTO entry VALUES (7, 2, 4, X'7B7D')",
    "an entry is changed on conflict": (
        "INSERT INTO entry VALUES (7, 2, 4, X'7B7D') ON CONFLICT (position) DO UPDATE SET body = X'7B7D'"
    ),
    "a position is left out": "INSERT INTO entry VALUES (9, 2, 5, X'7B7D')",
    "a position is none": "INSERT INTO entry VALUES (0, 2, 5, X'7B7D')",
    "an entry is no bytes": "INSERT INTO entry VALUES (8, 2, 5, '{}')",
    "a stream is renamed": "UPDATE stream SET name = 'table:SB9' WHERE id = 2",
    "a stream is deleted": "DELETE FROM stream WHERE id = 2",
    "a stream is replaced": "INSERT OR REPLACE INTO stream VALUES (2, 'table:SB9')",
    "a stream's name is taken": "INSERT OR REPLACE INTO stream VALUES (77, 'table:SB1')",
    "a checkpoint is changed": "UPDATE checkpoint SET text = 'all is well'",
    "a checkpoint is deleted": "DELETE FROM checkpoint",
    "a checkpoint is replaced": "INSERT OR REPLACE INTO checkpoint VALUES (1, 7, 'all is well')",
}


def contents(store: OnDisk) -> list[list[object]]:
    """All that is kept for ever."""
    return [store.raw(f"SELECT * FROM {name}") for name in ("entry", "stream", "checkpoint")]


def test_nothing_that_is_kept_for_ever_is_changed_by_hand(on_disk: OnDisk) -> None:
    filled(on_disk()).seal(KEY, at=START)
    on_disk.close()
    before = contents(on_disk)
    done = []
    for what, sql in BY_HAND.items():
        with suppress(apsw.ConstraintError):
            on_disk.raw(sql)
            done.append(what)
    assert done == []
    assert contents(on_disk) == before


@pytest.mark.parametrize("version", [4, 6], ids=["taken", "left out"])
def test_a_version_taken_or_left_out_by_hand_stops_the_reader(version: int, on_disk: OnDisk) -> None:
    """Its position is the next, so that the file takes it; nothing before it is touched."""
    entries = rows_of(filled(on_disk()))
    on_disk.close()
    journal = Journal(on_disk())
    on_disk.raw(f"INSERT OR REPLACE INTO entry SELECT 8, 2, {version}, body FROM entry WHERE position = 7")
    assert rows_of(journal)[:7] == entries
    for stream in (None, SB1):
        with pytest.raises(DamagedError) as flaw:
            list(journal.entries(stream=stream))
        assert flaw.value.position == 8


def test_the_file_says_what_it_is_made_by(on_disk: OnDisk) -> None:
    store = on_disk()
    assert store.definition() == schema.definition()
    assert store.faults() == []
    on_disk.raw("DROP TRIGGER entry_is_not_changed")
    assert schema.definition() - store.definition() == {
        (
            "CREATE TRIGGER entry_is_not_changed BEFORE UPDATE ON entry"
            " BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"
        )
    }


# Writers

ANOTHER_PROCESS = """
import sys
from taisai.journal.errors import ConflictError
from taisai.journal.stores.sqlite import SqliteStore
try:
    SqliteStore(sys.argv[1]).close()
except ConflictError as error:
    print(error)
else:
    print("opened")
"""


def another_process(path: Path) -> str:
    """What a writer in another process says."""
    command = [sys.executable, "-c", ANOTHER_PROCESS, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def test_a_second_writer_is_refused_while_the_first_lives(on_disk: OnDisk) -> None:
    first = on_disk()
    with pytest.raises(ConflictError, match="another process is writing to the journal"):
        SqliteStore(on_disk.path)
    filled(first)  # which can go on
    first.close()
    assert Journal(on_disk()).size == 7


def test_a_second_writer_in_another_process_is_refused_while_the_first_lives(on_disk: OnDisk) -> None:
    filled(on_disk())
    assert another_process(on_disk.path).startswith("another process is writing to the journal")
    on_disk.close()
    assert another_process(on_disk.path) == "opened"


def without_locks(path: Path) -> SqliteStore:
    """A writer where the system has no locks."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sqlite, "_fcntl", None)
        return SqliteStore(path)


def test_where_there_are_no_locks_the_second_is_refused_at_its_first_entry(on_disk: OnDisk) -> None:
    opened(without_locks(on_disk.path))
    first, second = Journal(without_locks(on_disk.path)), Journal(without_locks(on_disk.path))
    first.append([shut(1), shut(2, SB2)])
    before = rows_of(first)
    for decisions in ([shut(3)], [shut(3, "table:SB3")], [shut(3, SB2), shut(4)]):
        with pytest.raises(FencedError, match="fenced: another process has written to the journal"):
            second.append(decisions)
    assert rows_of(first) == rows_of(second) == before
    assert second.store.streams() == ["journal", SB1, SB2]
    first.append([shut(5)])
    assert [row[:3] for row in rows_of(first)[-1:]] == [(4, SB1, 2)]
    for journal in (first, second):
        journal.close()


def test_a_refused_opening_lets_the_lock_go(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with pytest.raises(JournalError, match="expected synchronous full"):
        SqliteStore(path, synchronous="off")
    SqliteStore(path).close()


# Settings


@pytest.mark.parametrize("synchronous", ["off", "normal"])
def test_less_than_full_sync_is_refused(tmp_path: Path, synchronous: str) -> None:
    with pytest.raises(JournalError, match=r"expected synchronous full, got [01] "):
        SqliteStore(tmp_path / "journal", synchronous=synchronous)


@pytest.mark.parametrize("synchronous", ["full", "extra"])
def test_full_sync_or_more_is_in_force(tmp_path: Path, synchronous: str) -> None:
    store = SqliteStore(tmp_path / "journal", synchronous=synchronous)
    assert store._writing.pragma("synchronous") == {"full": 2, "extra": 3}[synchronous]
    assert store._writing.pragma("journal_mode") == "wal"
    store.close()


def test_a_database_without_a_log_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the lock of a journal in memory would lie there
    with pytest.raises(JournalError, match=r"expected journal_mode wal, got memory"):
        SqliteStore(":memory:")


def test_a_file_system_that_cannot_share_a_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"expected journal_mode wal, got delete"):
        SqliteStore(tmp_path / "journal", vfs="unix-none")


class Broken:
    """Whether the disk is broken; then no sync comes back."""

    def __init__(self) -> None:
        self.now = False

    def __call__(self, operation: Operation) -> None:
        """Lets an operation be done, or not."""
        if self.now and isinstance(operation, Sync):
            raise apsw.IOError("the disk is gone")

    def mended(self) -> None:
        """From here on the disk works."""
        self.now = False


def test_a_failed_sync_leaves_the_journal_in_doubt_until_it_is_opened_again(tmp_path: Path) -> None:
    path, broken = tmp_path / "journal", Broken()
    with ExitStack() as stack:
        stack.enter_context(Disk("broken", broken))
        journal = filled(SqliteStore(path, vfs="broken"), secret=SECRET)
        stack.callback(journal.close)
        stack.callback(broken.mended)
        before = rows_of(journal)
        broken.now = True
        with pytest.raises(InDoubtError, match="the journal cannot be written: "):
            journal.append([shut(6)])
        broken.mended()
        with pytest.raises(InDoubtError, match="an earlier write failed; open the journal again"):
            journal.append([shut(6)])
        for act in (lambda: journal.seal(KEY, at=START), lambda: journal.keep(SB1, b"", {})):
            with pytest.raises(InDoubtError, match="an earlier write failed"):
                act()
        assert rows_of(journal) == before
    again = Journal(SqliteStore(path), secret=SECRET)
    assert rows_of(again)[:7] == before
    again.append([shut(7)])
    again.close()


def test_a_full_disk_is_no_doubt(on_disk: OnDisk) -> None:
    store = on_disk()
    journal = filled(store)
    store._writing.pragma("max_page_count", store._writing.pragma("page_count"))
    with pytest.raises(UnwritableError, match="disk full") as told:
        journal.append([shut(number, times=50) for number in range(100)])
    assert not isinstance(told.value, InDoubtError)
    store._writing.pragma("max_page_count", 1_000_000)
    journal.append([shut(6)])
    assert [row[:3] for row in Journal(on_disk()).store.rows(after=7)] == [(8, SB1, 5)]


# Files that are no journal


def another_database(path: Path) -> None:
    """A SQLite file of somebody else."""
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE recipe (name TEXT)")
    connection.close()


def marked(path: Path, pragma: str, value: int) -> None:
    """A journal with something else in its header."""
    SqliteStore(path).close()
    connection = apsw.Connection(str(path))
    connection.pragma(pragma, value)
    connection.close()


Made = Callable[[Path], object]
NO_JOURNAL: dict[str, tuple[Made, type[JournalError], str]] = {
    "another database": (
        another_database,
        JournalError,
        "another kind of SQLite file",
    ),
    "another program's": (
        lambda path: marked(path, "application_id", 7),
        JournalError,
        "another kind of SQLite file",
    ),
    "a newer one": (
        lambda path: marked(path, "user_version", 99),
        JournalError,
        f"of version {len(schema.MIGRATIONS)} or older, got version 99, made by a newer Taisai",
    ),
    "a text": (lambda path: path.write_text("Dear Sir, " * 99), DamagedError, "damaged SQLite file"),
    "a directory": (Path.mkdir, UnwritableError, "unable to open database file"),
}
NOTHING_TO_READ: dict[str, tuple[Made, type[JournalError], str]] = {
    "nothing": (lambda _: None, JournalError, "no such file"),
    "an empty file": (Path.touch, JournalError, "not a journal of Taisai: an empty file"),
    "an older one": (
        lambda path: marked(path, "user_version", 2),
        JournalError,
        "of version 3 or newer, got version 2; opening it for writing updates it",
    ),
    **NO_JOURNAL,
}


@pytest.mark.parametrize("what", NO_JOURNAL)
def test_what_is_no_journal_is_not_written(tmp_path: Path, what: str) -> None:
    make, error, says = NO_JOURNAL[what]
    path = tmp_path / "file"
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(error) as told:
        SqliteStore(path)
    assert says in str(told.value)
    assert str(path) in str(told.value)
    assert (path.read_bytes() if path.is_file() else b"") == before


@pytest.mark.parametrize("what", NOTHING_TO_READ)
def test_what_is_no_journal_is_not_read(tmp_path: Path, what: str) -> None:
    make, error, says = NOTHING_TO_READ[what]
    path = tmp_path / "file"
    make(path)
    if what == "a directory":
        error, says = JournalError, "no such file"
    with pytest.raises(error) as told:
        SqliteReader(path)
    assert says in str(told.value)
    assert str(path) in str(told.value)


def test_a_torn_file_is_damaged(on_disk: OnDisk) -> None:
    journal = filled(on_disk())
    journal.append([shut(number, times=20) for number in range(50)])
    on_disk.close()
    data = on_disk.path.read_bytes()
    on_disk.path.write_bytes(data[: len(data) // 2])
    with pytest.raises(DamagedError) as told:
        list(Journal(on_disk()).entries())
    assert told.value.position == 0


# Readers beside the writer


def test_a_reader_sees_what_was_committed_and_nothing_else(on_disk: OnDisk) -> None:
    journal = filled(on_disk())
    reader = SqliteReader(on_disk.path)
    seen = Journal(cast("Store", reader))  # of which it needs no more than what can be read
    assert list(reader.rows()) == rows_of(journal)
    assert (seen.size, seen.root()) == (journal.size, journal.root())
    journal.append([shut(6)])
    assert list(reader.rows()) == rows_of(journal)
    store = on_disk()
    with store._transaction() as connection:
        connection.execute("INSERT INTO entry VALUES (9, 2, 6, X'7B7D')")
        assert len(list(reader.rows())) == 8
    assert len(list(reader.rows())) == 9
    reader.close()


def test_a_reader_that_is_slow_sees_the_journal_as_it_was_when_it_began(on_disk: OnDisk) -> None:
    journal = filled(on_disk())
    reader = SqliteReader(on_disk.path)
    rows = reader.rows()
    first = next(rows)
    journal.append([shut(6)])
    journal.seal(KEY, at=START)
    assert [first.position, *(row.position for row in rows)] == list(range(1, 8))
    assert len(list(reader.rows())) == 8
    reader.close()


def test_a_reader_cannot_write(on_disk: OnDisk) -> None:
    filled(on_disk())
    reader = SqliteReader(on_disk.path)
    with pytest.raises(apsw.ReadOnlyError):
        reader._reading.execute("INSERT INTO entry VALUES (8, 2, 5, X'7B7D')")
    reader.close()


def test_a_copy_is_whole_while_the_writer_goes_on(on_disk: OnDisk, tmp_path: Path) -> None:
    journal = filled(on_disk())
    journal.seal(KEY, at=START)
    reader = SqliteReader(on_disk.path)
    reader.copy_to(tmp_path / "copy")
    journal.append([shut(6)])
    copy = SqliteReader(tmp_path / "copy")
    assert list(copy.rows()) == rows_of(journal)[:7]
    assert copy.checkpoints() == [StoredCheckpoint(7, journal.store.checkpoints()[0].text)]
    assert copy.definition() == schema.definition()
    for one in (copy, reader):
        one.close()


def test_a_stream_that_is_missing_is_damage_and_not_an_empty_name(on_disk: OnDisk) -> None:
    filled(on_disk())
    on_disk.close()
    on_disk.raw("DROP TRIGGER stream_is_not_deleted")
    on_disk.raw("DELETE FROM stream WHERE name = ?", SB1)
    on_disk.raw(next(one for one in schema.definition() if "stream_is_not_deleted" in one))
    with pytest.raises(DamagedError, match=r"entry [27]: damaged row"):
        list(Journal(on_disk()).entries())

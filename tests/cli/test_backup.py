"""`taisai backup` and `taisai restore`: made while the journal is written, whole or not at all."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from taisai.audit import Report, verified
from taisai.audit import backup as backup_module
from taisai.audit.backup import back_up, restore
from taisai.cli.table.recording import recording
from taisai.game.playbook import playbook
from taisai.journal.engine import Engine
from taisai.journal.errors import ConflictError, DamagedError
from taisai.journal.journal import Journal
from taisai.journal.stores.sqlite import SqliteStore
from taisai.journal.stores.sqlite_reader import SqliteReader
from taisai.rules import rulebook
from tests.cli.conftest import Taisai
from tests.cli.journals import STORY, as_nobody, impostors, one_clear_line, play, process
from tests.tiers import count

COPIES = count(8, 60)


def bodies(path: Path | str) -> list[bytes]:
    """Every entry of a journal, byte for byte."""
    reader = SqliteReader(path)
    try:
        return [row.body for row in reader.rows()]
    finally:
        reader.close()


def names(folder: Path) -> set[str]:
    """The files in a folder but what SQLite leaves beside a file that was read."""
    return {path.name for path in folder.iterdir() if not path.name.endswith(("-wal", "-shm"))}


# Made and put in place


def test_a_backup_is_the_journal_and_goes_on_as_one(taisai: Taisai, tmp_path: Path) -> None:
    play(taisai)
    made = taisai("backup", "evening.db", "copy.db")
    assert (made.code, made.err) == (0, "")
    assert made.out.startswith("copy.db: 34 entries of evening.db, the chain is complete\n")
    assert bodies("copy.db") == bodies("evening.db")
    assert names(tmp_path) == {
        "evening.db",
        "evening.db.key",
        "evening.db.key.pub",
        "evening.db-writer",
        "copy.db",
    }
    restored = taisai("restore", "copy.db", "again.db")
    assert (restored.code, restored.err) == (0, "")
    assert restored.out.splitlines() == [
        "copy.db: 34 entries, intact and by the rules, 34 of them sealed",
        "again.db: restored",
    ]
    play(taisai, "again.db", "--key", "evening.db.key")
    assert verified("again.db").entries == 66
    assert bodies("again.db")[:34] == bodies("copy.db")


def test_both_say_the_same_to_machines(taisai: Taisai) -> None:
    play(taisai)
    made = json.loads(taisai("backup", "evening.db", "copy.db", "--json").out)
    report = verified("evening.db")
    assert made["journal"] == "evening.db"
    assert (made["copy"], made["entries"], made["root"]) == ("copy.db", 34, report.root)
    for words in (("--check", "copy.db"), ("copy.db", "again.db")):
        told = json.loads(taisai("restore", *words, "--json").out)
        assert (told["ok"], told["report"]["root"]) == (True, report.root)


@pytest.fixture
def open_umask() -> Iterator[None]:
    """New files that everybody may read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_umask")
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o666])
def test_only_its_owner_can_read_a_copy_whatever_the_mode_of_what_is_copied(
    taisai: Taisai, mode: int
) -> None:
    play(taisai)
    Path("evening.db").chmod(mode)
    assert taisai("backup", "evening.db", "copy.db").code == 0
    assert Path("copy.db").stat().st_mode & 0o777 == 0o600
    Path("copy.db").chmod(mode)
    assert taisai("restore", "copy.db", "again.db").code == 0
    assert Path("again.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("open_umask")
@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_only_its_owner_can_read_an_export(taisai: Taisai, form: str) -> None:
    play(taisai)
    assert taisai("audit", "export", "evening.db", "--format", form, "-o", "out").code == 0
    assert Path("out").stat().st_mode & 0o777 == 0o600


def test_a_check_restores_nothing(taisai: Taisai, tmp_path: Path) -> None:
    play(taisai)
    taisai("backup", "evening.db", "copy.db")
    before = names(tmp_path)
    ran = taisai("restore", "--check", "copy.db")
    assert (ran.code, ran.err) == (0, "")
    assert names(tmp_path) == before


# While it is written


def test_backups_made_while_the_journal_is_written_verify_and_are_prefixes(tmp_path: Path) -> None:
    story = playbook(Path(STORY).read_text("utf-8"))
    journal, stop = tmp_path / "evening.db", threading.Event()
    ready = threading.Event()
    failed: list[BaseException] = []

    def write() -> None:
        try:
            key = str(tmp_path / "key")
            with recording(
                story, rulebook(story.book), str(journal), key_file=key, passphrase_file=None
            ) as record:
                while not stop.is_set():
                    for _ in record.play().steps():
                        ready.set()
                record.seal()
        except BaseException as error:  # noqa: BLE001  told below, in the test's own thread
            failed.append(error)
            ready.set()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        ready.wait(60)
        sizes = [back_up(journal, tmp_path / f"copy-{number}.db").entries for number in range(COPIES)]
    finally:
        stop.set()
        writer.join()
    assert failed == []
    whole = bodies(journal)
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > 1, "expected the writer to go on meanwhile"
    for number, size in enumerate(sizes):
        copy = tmp_path / f"copy-{number}.db"
        assert bodies(copy) == whole[:size]
        if number % 4 == 0:
            assert verified(copy).entries == size


def test_a_backup_by_another_process_while_this_one_writes(taisai: Taisai) -> None:
    play(taisai)
    store = SqliteStore("evening.db")
    try:
        made = process("backup", "evening.db", "copy.db")
    finally:
        store.close()
    assert (made.returncode, made.stderr) == (0, "")
    assert bodies("copy.db") == bodies("evening.db")


# Over nothing


@pytest.mark.parametrize("there", ["file", "directory", "link to nowhere", "another's log"])
@pytest.mark.parametrize(
    "words", [("backup", "evening.db"), ("restore", "evening.db")], ids=lambda words: words[0]
)
def test_nothing_is_ever_written_over(
    taisai: Taisai, tmp_path: Path, words: tuple[str, str], there: str
) -> None:
    play(taisai)
    target = tmp_path / "target.db"
    match there:
        case "file":
            target.write_text("mine", encoding="utf-8")
        case "directory":
            target.mkdir()
        case "link to nowhere":
            target.symlink_to("nowhere")
        case _:
            (tmp_path / "target.db-wal").write_bytes(b"left behind")
    before = names(tmp_path)
    ran = taisai(*words, "target.db")
    assert one_clear_line(ran), ran
    assert "exists: " in ran.err
    assert names(tmp_path) == before
    assert not target.is_file() or target.read_text("utf-8") == "mine"


def test_a_file_that_appears_meanwhile_is_not_written_over(
    taisai: Taisai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(taisai)
    sync = backup_module._sync

    def slow(path: Path) -> None:
        sync(path)
        (tmp_path / "copy.db").write_text("mine", encoding="utf-8")

    monkeypatch.setattr(backup_module, "_sync", slow)
    ran = taisai("backup", "evening.db", "copy.db")
    assert one_clear_line(ran), ran
    assert (tmp_path / "copy.db").read_text("utf-8") == "mine"


def test_sabotage_a_renaming_would_have_written_over_it(
    taisai: Taisai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", os.replace)
    with pytest.raises(AssertionError):
        test_a_file_that_appears_meanwhile_is_not_written_over(taisai, tmp_path, monkeypatch)


# Not whole, not there


def test_a_copy_that_is_not_whole_gets_no_name(
    taisai: Taisai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(taisai)
    copy_to = SqliteReader.copy_to

    def torn(self: SqliteReader, path: Path) -> None:
        copy_to(self, path)
        raw = path.read_bytes()
        path.write_bytes(raw[: len(raw) // 2])

    before = names(tmp_path)
    monkeypatch.setattr(SqliteReader, "copy_to", torn)
    ran = taisai("backup", "evening.db", "copy.db")
    assert one_clear_line(ran), ran
    assert names(tmp_path) == before


def test_a_copy_that_lacks_entries_gets_no_name(
    taisai: Taisai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(taisai, "short.db")
    play(taisai)
    play(taisai)
    short, copy_to = SqliteReader("short.db"), SqliteReader.copy_to
    monkeypatch.setattr(SqliteReader, "copy_to", lambda _self, path: copy_to(short, path))
    with pytest.raises(DamagedError, match="expected a copy of at least 66 entries, got 34"):
        back_up("evening.db", "copy.db")
    short.close()
    assert not (tmp_path / "copy.db").exists()


def test_a_backup_that_changes_after_its_check_is_not_restored(
    taisai: Taisai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(taisai)
    check = backup_module.check

    def checked(backup: str, *, progress: None) -> Report:
        report = check(backup, progress=progress)
        play(taisai)
        return report

    monkeypatch.setattr(backup_module, "check", checked)
    with pytest.raises(ConflictError, match="the backup changed after the check"):
        restore("evening.db", "again.db")
    assert not (tmp_path / "again.db").exists()


def test_a_backup_with_a_flaw_is_shown_with_its_position_and_not_restored(
    taisai: Taisai, tmp_path: Path
) -> None:
    play(taisai)
    taisai("backup", "evening.db", "copy.db")
    raw = (tmp_path / "copy.db").read_bytes()
    place = raw.index(b'"event":"bet-registered"')
    stake = raw.index(b'"stake":', place) + len(b'"stake":')
    (tmp_path / "copy.db").write_bytes(raw[:stake] + b"9" + raw[stake + 1 :])
    for words in (("--check", "copy.db"), ("copy.db", "again.db")):
        ran = taisai("restore", *words)
        assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 1)
        assert ran.err.startswith("taisai: entry ")
        assert json.loads(taisai("restore", *words, "--json").out)["ok"] is False
    assert not (tmp_path / "again.db").exists()


@pytest.mark.parametrize("words", ["backup {} copy.db", "restore {} copy.db", "restore --check {}"])
def test_what_is_no_journal_is_refused_in_one_line(taisai: Taisai, tmp_path: Path, words: str) -> None:
    play(taisai)
    for what, path in impostors(tmp_path, tmp_path / "evening.db").items():
        ran = taisai(*(word.format(path) for word in words.split()))
        assert (ran.code in (1, 2), ran.out, len(ran.err.splitlines())) == (True, "", 1), (what, ran)
        assert ran.err.startswith("taisai: "), (what, ran)
        assert not (tmp_path / "copy.db").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("backup", "required: JOURNAL, COPY"),
        ("backup evening.db", "required: COPY"),
        ("backup evening.db no/such/copy.db", "cannot write no/such/copy.db: No such file or directory"),
        ("backup evening.db evening.db", "file exists: evening.db"),
        ("restore", "required: BACKUP"),
        ("restore evening.db", "expected either a new JOURNAL to restore to or --check, got neither"),
        ("restore evening.db x.db --check", "got both"),
        ("restore evening.db no/such/x.db", "cannot write no/such/x.db"),
        ("restore evening.db evening.db", "file exists: evening.db"),
    ],
)
def test_misuse_is_refused_in_one_line(taisai: Taisai, words: str, message: str) -> None:
    play(taisai)
    ran = taisai(*words.split())
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert message in ran.err


def test_names_that_no_file_can_have_are_refused(taisai: Taisai) -> None:
    play(taisai)
    for name in ("", "a\0b", "a" * 300):
        ran = taisai("backup", "evening.db", name)
        assert one_clear_line(ran), (name[:9], ran)


def test_a_disk_that_is_full_leaves_no_half_copy(taisai: Taisai, tmp_path: Path) -> None:
    play(taisai)
    before = names(tmp_path)
    full = process("backup", "evening.db", "copy.db", most=20_000)
    assert (full.returncode, full.stdout, len(full.stderr.splitlines())) == (2, "", 1), full
    assert full.stderr.startswith("taisai: the journal cannot be ")
    assert names(tmp_path) == before


def test_a_folder_that_cannot_be_written_is_shown_in_one_line(taisai: Taisai, open_folder: Path) -> None:
    journal, shut = str(open_folder / "evening.db"), open_folder / "shut"
    play(taisai, journal)
    assert taisai("backup", journal, str(open_folder / "copy.db")).code == 0
    shut.mkdir(mode=0o555)
    ran = as_nobody(open_folder, "backup", journal, str(shut / "copy.db"))
    assert one_clear_line(ran), ran
    assert "Permission denied" in ran.err


def test_a_restored_journal_plays_on_where_it_was(taisai: Taisai) -> None:
    play(taisai)
    taisai("backup", "evening.db", "copy.db")
    taisai("restore", "copy.db", "again.db")
    store = SqliteStore("again.db")
    assert Engine(Journal(store)).tables() == ["SB1"]
    store.close()

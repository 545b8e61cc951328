"""Attacks that someone thought of, each of which must fail; most of them once did not."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import apsw
import pytest

from taisai.audit import verified
from taisai.cli import main
from taisai.game import Refusal, Table, decide
from taisai.game.commands import Perform, Recover
from taisai.game.messages import LATEST
from taisai.game.refusals import Reason
from taisai.journal.beside import TREE
from taisai.journal.codec import HOUSE_STREAM
from taisai.journal.engine import Engine, Submission
from taisai.journal.errors import ConflictError, DamagedError
from taisai.journal.journal import Journal
from taisai.journal.seals.keys import SigningKey
from taisai.journal.stores.contract import MemoryStore, StoredSnapshot
from taisai.journal.stores.sqlite import SqliteStore
from taisai.journal.stores.sqlite_reader import SqliteReader
from taisai.rules import Act, rulebook
from tests.journal.small_journal import NEW, OLD, SECRET, forged, on_disk, small_export, text_of, written

STORY = "rws-wrong-result"
TABLE = "table:SB1"


def raw(path: Path, *statements: str) -> None:
    """Someone who has the file, and SQL."""
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.close()


# Signing


def test_sabotage_without_a_write_nothing_is_synced_while_someone_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SqliteStore, "_sync_log", lambda self: self._writing.wal_checkpoint())
    with pytest.raises(AssertionError):
        test_what_was_written_and_never_synced_is_synced_while_someone_reads(tmp_path)


def test_a_past_that_was_signed_and_altered_is_not_signed_again(tmp_path: Path) -> None:
    path = on_disk(tmp_path / "journal", STORY)
    lines = forged(small_export(STORY), lambda entries: entries[0]["event"].update(program="another"))
    connection = apsw.Connection(str(path))
    triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for position, body in enumerate((line for line in lines if b'"position":' in line), 1):
        connection.execute("UPDATE entry SET body = ? WHERE position = ?", (body, position))
    connection.execute("DELETE FROM snapshot")
    for _, sql in triggers:
        connection.execute(str(sql))
    connection.close()
    journal = Journal(SqliteStore(path))  # it holds together
    with pytest.raises(DamagedError, match="the entries up to here do not match a signed checkpoint"):
        journal.seal(NEW, at=1)
    journal.close()


def test_a_new_key_alone_cannot_write_another_past(tmp_path: Path) -> None:
    """The old key signed after which entry the new one takes over."""
    lines = list(small_export(STORY))
    rotation = next(json.loads(line) for line in lines if b'"key-introduced"' in line)
    vouched = rotation["event"]["signature"]

    def another_past(entries: list[dict[str, Any]]) -> None:
        entries[0]["event"]["program"] = "another"

    altered = forged(tuple(lines), another_past)
    place = next(n for n, line in enumerate(altered) if b'"key-introduced"' in line)
    entry = json.loads(altered[place])
    assert entry["event"]["signature"] != vouched
    entry["event"]["signature"] = vouched
    altered[place] = json.dumps(entry, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    (tmp_path / "export").write_bytes(text_of(altered))
    with pytest.raises(DamagedError, match="no valid signature of old introduces the key") as flaw:
        verified(tmp_path / "export", key=OLD.public)
    assert flaw.value.position == entry["position"]


def test_a_key_that_only_stands_in_a_journal_has_not_signed_it(tmp_path: Path) -> None:
    operator = SigningKey.new("operator", seed=bytes(32))
    store = MemoryStore()
    journal = Journal.opened(
        store, journal="j", key=OLD.public, at=0, by="Eve", program="p", demonstration=False
    )
    journal.seal(OLD, at=0)
    journal.rotate(OLD, operator.public, at=0, by="Eve")
    lines = [row.body for row in store.rows()]
    lines.insert(1, json.dumps({"checkpoint": store.checkpoints()[0].text}, ensure_ascii=False).encode())
    lines[1] = lines[1].replace(b'": "', b'":"')
    lines.append(
        json.dumps({"end": {"root": journal.root().hex(), "size": 2}}, separators=(",", ":")).encode()
    )
    (tmp_path / "export").write_bytes(text_of(lines))
    assert verified(tmp_path / "export").sealed == 1
    with pytest.raises(DamagedError, match=r"no checkpoint is signed by .* or a later key"):
        verified(tmp_path / "export", key=operator.public)


# The file


def test_a_second_name_makes_no_second_writer(tmp_path: Path) -> None:
    path = on_disk(tmp_path / "journal", STORY)
    (tmp_path / "symbolic").symlink_to(path)
    first = SqliteStore(path)
    with pytest.raises(ConflictError, match="another process is writing"):
        SqliteStore(tmp_path / "symbolic")
    first.close()
    os.link(path, tmp_path / "hard")
    for name in ("journal", "hard"):
        with pytest.raises(ConflictError, match="hard links"):
            SqliteStore(tmp_path / name)


def test_a_view_in_the_place_of_a_table_is_never_asked(tmp_path: Path) -> None:
    path = on_disk(tmp_path / "journal", STORY)
    endless = (
        "CREATE VIEW checkpoint AS WITH RECURSIVE n(number, size, text) AS"
        " (SELECT 1, 1, '' UNION ALL SELECT number + 1, 1, '' FROM n) SELECT * FROM n"
    )
    raw(path, "DROP TABLE checkpoint", endless)
    for opens in (SqliteReader, SqliteStore):
        with pytest.raises(DamagedError, match="tampered with"):
            opens(path)


def test_what_was_written_and_never_synced_is_synced_while_someone_reads(tmp_path: Path) -> None:
    syncs: list[str] = []

    class File(apsw.VFSFile):
        def __init__(self, name: Any, flags: list[int]) -> None:
            self.name = name if isinstance(name, str) else name.filename()
            super().__init__("", name, flags)

        def xSync(self, flags: int) -> None:  # noqa: N802
            syncs.append(Path(self.name).name)
            super().xSync(flags)

    class Disk(apsw.VFS):
        def __init__(self) -> None:
            super().__init__("counting-syncs", "")

        def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
            return File(name, flags)

    disk = Disk()
    path = on_disk(tmp_path / "journal", STORY)
    killed = SqliteStore(path)
    killed._writing.wal_checkpoint()
    reader = SqliteReader(path)
    reader.hold_still()
    killed._writing.pragma("synchronous", "off")
    killed.keep(StoredSnapshot("x", 1, b"{}"), {})
    killed._lock.release()  # as the end of its process does
    again = SqliteStore(path, vfs="counting-syncs")
    assert again.snapshot("x") is not None
    assert "journal-wal" in syncs
    for one in (again, reader):
        one.close()
    killed._reading.close()
    killed._writing.close()
    del disk


# Snapshots


def _planted(parts: Mapping[int, bytes]) -> tuple[Engine, Table]:
    """A table started from its snapshot, after someone put other rounds beside it; and the true one."""
    store = MemoryStore()
    engine = Engine(written(store, STORY))
    engine.snapshot(TABLE)
    true = engine.table("SB1")
    kept = store.snapshot(TABLE)
    assert kept is not None
    store.keep(kept, parts)
    return Engine(Journal(store, secret=SECRET)), true


@pytest.mark.parametrize(
    "part", [b"", b"{}", b'{"version":99}', b"[1]"], ids=["nothing", "empty", "newer", "a list"]
)
def test_a_round_that_cannot_be_taken_up_again_is_played_again(part: bytes) -> None:
    engine, true = _planted({1: part})
    assert engine.table("SB1").rounds[0].bets == true.rounds[0].bets


@pytest.mark.parametrize("tree", [b"", b"{}", bytes(32) + b"{}"])
def test_a_tree_that_is_none_is_made_again(tree: bytes) -> None:
    journal = written(MemoryStore(), STORY)
    journal.store.keep(StoredSnapshot(TREE, journal.size, tree), {})
    assert Journal(journal.store, secret=SECRET).root() == journal.root()


class _NoRoom(MemoryStore):
    def keep(self, snapshot: StoredSnapshot, parts: Mapping[int, bytes]) -> None:
        raise ConflictError(f"expected room for {snapshot.stream} and {len(parts)}, got none")


def test_a_snapshot_that_fails_takes_no_answer_back() -> None:
    store = _NoRoom()
    engine = Engine(
        Journal.opened(
            store, journal="j", key=OLD.public, at=0, by="Sue", program="p", demonstration=True, secret=SECRET
        ),
        snapshot_every=1,
    )
    from tests.journal.small_journal import play_into

    play_into(engine, STORY)
    assert engine.unsaved is not None
    assert engine.trouble is None
    assert store.snapshots() == []


def test_a_stream_that_cannot_be_read_harms_nobody_else() -> None:
    store = MemoryStore()
    written(store, STORY, "rws-late-bets")
    row = next(store.rows(stream="table:SB2"))
    store._rows[row.position - 1] = row._replace(body=row.body.replace(b'"table-opened"', b'"table-broken"'))
    store.keep(StoredSnapshot(TREE, 0, b""), {})
    journal = Journal.__new__(Journal)
    journal.__dict__.update(
        Journal(written(MemoryStore(), STORY, "rws-late-bets").store).__dict__, store=store
    )
    engine = Engine(journal)
    at = engine.table("SB1").latest + 1
    asks = [
        Submission(TABLE, Recover(at=at, by="recovery")),
        Submission("table:SB2", Recover(at=at, by="recovery")),
    ]
    fine, broken = engine.outcomes(asks)
    assert isinstance(fine, tuple)
    assert isinstance(broken, DamagedError)
    with pytest.raises(DamagedError):
        engine.answer_all(asks)


# Values


@pytest.mark.parametrize("at", [-1, LATEST + 1, 2**64, True, 1.0, None])
def test_a_moment_that_is_none_is_refused(at: Any) -> None:
    table = Table(rulebook("rws-sic-bo-etg-v8"))
    answer = decide(table, Perform(at=at, by="Dan", act=Act.UNCOVER))
    assert isinstance(answer, Refusal)
    assert answer.reason is Reason.BAD_VALUE


def test_integers_that_not_everyone_can_read_are_found(tmp_path: Path) -> None:
    lines = forged(small_export(STORY), lambda entries: entries[0]["event"].update(at=2**64))
    (tmp_path / "export").write_bytes(text_of(lines))
    with pytest.raises(DamagedError, match="expected integers of 64 bits") as flaw:
        verified(tmp_path / "export")
    assert flaw.value.position == 1


def test_a_clock_that_went_back_is_shown(tmp_path: Path) -> None:
    def back(entries: list[dict[str, Any]]) -> None:
        for entry in entries[1:3]:
            if entry["stream"] == HOUSE_STREAM:
                entry["event"]["at"] = entry["asked"]["at"] = entry["event"]["at"] + 5

    (tmp_path / "export").write_bytes(text_of(forged(small_export(STORY), back)))
    assert verified(tmp_path / "export").clock_went_back == 3


def test_a_rulebook_of_another_text_under_a_known_id_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = MemoryStore()
    own = tmp_path / "own.toml"
    own.write_text(rulebook("us-sic-bo").text.replace("Dealer", "Croupier", 1))
    journal = Journal.opened(
        store, journal="j", key=OLD.public, at=0, by="Sue", program="p", demonstration=True
    )
    journal.append(journal.storing(rulebook(own), at=0, by="Sue"))
    path = tmp_path / "export"
    end = {"end": {"root": journal.root().hex(), "size": journal.size}}
    path.write_bytes(
        text_of([*(row.body for row in store.rows()), json.dumps(end, separators=(",", ":")).encode()])
    )
    assert main(["audit", "verify", str(path)]) == 0
    assert "! the stored us-sic-bo differs from the rulebook with that id" in capsys.readouterr().out


def test_words_that_are_no_text_are_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["audit", "show", "x", "--table", "\udcff"],
        ["table", "play", "x", "--journal", "j\udcff.db"],
    ):
        assert main(words) == 2
        assert capsys.readouterr().err.startswith("taisai: expected UTF-8, got")

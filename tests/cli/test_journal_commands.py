"""`taisai journal`: sealed, listed, its snapshots thrown away; and the help of all that concerns journals."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taisai.audit import verified
from taisai.cli import main
from taisai.cli.commands import COMMAND_ENTRIES
from taisai.cli.table.recording import Recording, SealedRecording
from taisai.journal.engine import Engine
from taisai.journal.journal import Journal
from taisai.journal.seals.checkpoints import read_signed
from taisai.journal.seals.keys import load_public_key, load_signing_key
from taisai.journal.stores.sqlite import SqliteStore
from taisai.journal.stores.sqlite_reader import SqliteReader
from tests.cli.conftest import Taisai
from tests.cli.journals import STORY, as_nobody, impostors, one_clear_line, play, process
from tests.cli.test_fuzz import amiss
from tests.game.snapshots import snapshot

SEAL = ("journal", "seal", "evening.db", "--key", "evening.db.key")


# Checkpoints


def test_a_seal_is_a_checkpoint_that_others_can_keep(taisai: Taisai) -> None:
    play(taisai)
    ran = taisai(*SEAL, "-o", "checkpoint.txt")
    assert (ran.code, ran.err) == (0, "")
    assert Path("checkpoint.txt").read_text("utf-8") == ran.out
    held = read_signed(ran.out)
    assert held.is_signed_by(load_public_key(Path("evening.db.key.pub")))
    assert held.checkpoint.size == 34
    play(taisai)
    assert verified("evening.db", held=[held]).held == 1


def test_a_seal_for_machines(taisai: Taisai) -> None:
    play(taisai)
    told = json.loads(taisai(*SEAL, "--json").out)
    checkpoint = read_signed(told["checkpoint"]).checkpoint
    assert told["journal"] == "evening.db"
    assert (told["size"], told["at"]) == (checkpoint.size, checkpoint.at)


def test_a_seal_is_never_older_than_what_it_seals(taisai: Taisai, monkeypatch: pytest.MonkeyPatch) -> None:
    """A playbook's clock may be ahead of ours."""
    play(taisai)
    monkeypatch.setattr("taisai.cli.journals.clock", lambda: 0)
    told = json.loads(taisai(*SEAL, "--json").out)
    reader = SqliteReader("evening.db")
    last = reader.last()
    reader.close()
    assert last
    assert told["at"] == json.loads(last.body)["event"]["at"]


def test_a_checkpoint_that_was_kept_is_not_written_over(taisai: Taisai, tmp_path: Path) -> None:
    play(taisai)
    (tmp_path / "checkpoint.txt").write_text("kept", encoding="utf-8")
    ran = taisai(*SEAL, "-o", "checkpoint.txt")
    assert one_clear_line(ran), ran
    assert (tmp_path / "checkpoint.txt").read_text("utf-8") == "kept"
    assert verified("evening.db").checkpoints == 1
    ran = taisai(*SEAL, "-o", "no/such/file")
    assert one_clear_line(ran), ran


# Listed


def test_checkpoints_are_listed_in_the_order_they_were_signed(taisai: Taisai) -> None:
    play(taisai)
    play(taisai)
    out = taisai("journal", "checkpoints", "evening.db").out
    rows = [row.split() for row in out.splitlines()]
    assert [row[0] for row in rows if row and row[0].isdigit()] == ["34", "66"]
    assert "evening.db: 2 checkpoints" in out
    assert "All entries are sealed" in out
    told = json.loads(taisai("journal", "checkpoints", "evening.db", "--json").out)
    assert (told["entries"], [one["size"] for one in told["checkpoints"]]) == (66, [34, 66])
    key = load_public_key(Path("evening.db.key.pub"))
    assert told["checkpoints"][0]["keys"] == [{"name": key.name, "id": key.id}]


def test_a_tail_that_is_not_sealed_is_counted(taisai: Taisai, monkeypatch: pytest.MonkeyPatch) -> None:
    play(taisai)
    with monkeypatch.context() as patched:
        patched.setattr(Recording, "seal", lambda _: SealedRecording(0, 0, 0, ""))
        play(taisai)
    assert "32 entries not sealed" in taisai("journal", "checkpoints", "evening.db").out


# Forgotten


def test_forgetting_snapshots_loses_no_entry(taisai: Taisai) -> None:
    play(taisai)
    store = SqliteStore("evening.db")
    engine = Engine(Journal(store, key=load_signing_key(Path("evening.db.key"))))
    engine.snapshot("table:SB1")
    table = snapshot(engine.table("SB1"))
    store.close()
    ran = taisai("journal", "forget", "evening.db")
    assert (ran.code, ran.out, ran.err) == (0, "evening.db: 2 snapshots deleted\n", "")
    assert json.loads(taisai("journal", "forget", "evening.db", "--json").out)["forgotten"] == 0
    store = SqliteStore("evening.db")
    assert snapshot(Engine(Journal(store)).table("SB1")) == table
    store.close()
    assert verified("evening.db").snapshots == 0


# What cannot be


@pytest.mark.parametrize("words", ["seal {} --key evening.db.key", "checkpoints {}", "forget {}"])
def test_what_is_no_journal_is_refused_in_one_line(taisai: Taisai, tmp_path: Path, words: str) -> None:
    play(taisai)
    for what, path in impostors(tmp_path, tmp_path / "evening.db").items():
        ran = taisai("journal", *(word.format(path) for word in words.split()))
        assert one_clear_line(ran), (what, ran)
        assert not Path("no-such.db").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("seal",), "required: JOURNAL, --key"),
        (("seal", "evening.db"), "required: --key"),
        (("seal", "evening.db", "--key", "no-such"), "the key file"),
        (("seal", "evening.db", "--key", "."), "the key file"),
        (("seal", "evening.db", "--key", "evening.db"), "the key file"),
        (("seal", "evening.db", "--key", "other.db.key"), "wrong signing key"),
        (("seal", "evening.db", "--key", "evening.db.key.pub"), "got the public one"),
        (("seal", "evening.db", "--key", "evening.db.key", "--passphrase-file", "other.db.key"),
         "the key is not encrypted"),
        (("checkpoints",), "required: JOURNAL"),
        (("forget",), "required: JOURNAL"),
        (("remember", "evening.db"), "invalid choice: 'remember'"),
        ((), "required: COMMAND"),
    ],
)  # fmt: skip
def test_misuse_is_refused_in_one_line(taisai: Taisai, words: tuple[str, ...], message: str) -> None:
    play(taisai)
    play(taisai, "other.db")
    ran = taisai("journal", *words)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert message in ran.err
    assert verified("evening.db").checkpoints == 1


def test_what_someone_else_writes_is_left_alone(taisai: Taisai) -> None:
    play(taisai)
    store = SqliteStore("evening.db")
    try:
        for words in (SEAL, ("journal", "forget", "evening.db")):
            ran = process(*words)
            assert (ran.returncode, ran.stdout, len(ran.stderr.splitlines())) == (2, "", 1)
            assert "another process is writing to the journal" in ran.stderr
        assert process("journal", "checkpoints", "evening.db").returncode == 0
    finally:
        store.close()


def test_a_journal_that_one_may_not_write_is_shown_in_one_line(taisai: Taisai, open_folder: Path) -> None:
    journal, key = str(open_folder / "evening.db"), str(open_folder / "nobody.key")
    play(taisai, journal)
    assert taisai("journal", "seal", journal, "--key", f"{journal}.key").code == 0
    assert taisai("journal", "checkpoints", journal).code == 0
    Path(key).write_bytes(Path(f"{journal}.key").read_bytes())
    Path(key).chmod(0o600)
    if os.geteuid() == 0:
        os.chown(key, 65_534, 65_534)
    open_folder.chmod(0o555)
    ran = as_nobody(open_folder, "journal", "seal", journal, "--key", key)
    assert one_clear_line(ran), ran
    assert verified(journal).checkpoints == 2
    listed = as_nobody(open_folder, "journal", "checkpoints", journal)
    assert (listed.code, listed.err) == (0, "")
    open_folder.chmod(0o755)


ENTRIES = [
    entry for entry in COMMAND_ENTRIES if entry.words.split()[0] in ("journal", "keys", "backup", "restore")
]

# Help


def test_the_examples_of_all_these_commands_run_one_after_the_other(
    taisai: Taisai, capsys: pytest.CaptureFixture[str]
) -> None:
    play(taisai)
    for entry in ENTRIES:
        with pytest.raises(SystemExit):
            main([*entry.words.split(), "--help"])
        text = capsys.readouterr().out
        assert text.startswith(f"usage: taisai {entry.words}")
        assert max(map(len, text.splitlines())) <= 110
        for example in entry.examples:
            assert example in text
            ran = taisai(*shlex.split(example)[1:])
            assert (ran.code, ran.err) == (0, ""), (example, ran)
            assert ran.out


# Whatever is typed

FILES = ("evening.db", "other.db", "notes.txt", "half.db", "head.db", "empty.db", "folder", "no-such", "")
KEYS = ("evening.db.key", "evening.db.key.pub", "other.db.key", "new.key")
OPTIONS = ("--key", "--new", "--by", "--name", "--passphrase-file", "--json", "--check", "-o", "--repeat")
typed = st.sampled_from((*FILES, *KEYS, *OPTIONS, "x.round", "Sue", "2", "0", "x y"))
sentences = st.tuples(
    st.sampled_from([entry.words for entry in ENTRIES] + ["table play x.round --journal"]),
    st.sampled_from(FILES),
    st.lists(typed, max_size=7),
).map(lambda one: [*one[0].split(), one[1], *one[2]])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=sentences)
def test_whatever_is_typed_the_command_ends_well(taisai: Taisai, tmp_path: Path, said: list[str]) -> None:
    if not (tmp_path / "evening.db").exists():
        play(taisai)
        play(taisai, "other.db")
        impostors(tmp_path, tmp_path / "evening.db")
        shutil.copy(STORY, "x.round")
    assert amiss(said) is None

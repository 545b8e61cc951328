"""`taisai table play --journal`: the same answers as without one, durable, at tables of their own, sealed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from taisai.audit import verified
from taisai.cli.table import recording as recording_module
from taisai.cli.table.recording import recording, seeds_of
from taisai.game.playbook import Play, playbook
from taisai.journal.engine import Engine
from taisai.journal.errors import UnwritableError
from taisai.journal.journal import Journal
from taisai.journal.seals.keys import make_key
from taisai.journal.stores.contract import Head, MemoryStore, Row
from taisai.journal.stores.sqlite import SqliteStore
from taisai.journal.stores.sqlite_reader import SqliteReader
from taisai.rules import rulebook
from tests.cli.conftest import Taisai
from tests.cli.journals import ROOT, STORY, as_nobody, impostors, one_clear_line, play, process
from tests.game.snapshots import snapshot
from tests.tiers import one_in

PLAYBOOKS = sorted((ROOT / "cases" / "playbooks").glob("*.round"))
SOME = one_in("playbooks with a journal", PLAYBOOKS, 6)


@contextmanager
def opened(path: str = "evening.db") -> Iterator[Journal]:
    """A journal, and its file closed in the end."""
    store = SqliteStore(path)
    try:
        yield Journal(store)
    finally:
        store.close()


# The same answers


@pytest.mark.parametrize("path", SOME, ids=lambda path: path.stem)
def test_a_playing_is_shown_the_same_with_a_journal_as_without(taisai: Taisai, path: Path) -> None:
    told = taisai("table", "play", str(path)).out
    ran = play(taisai, story=str(path))
    assert ran.out.startswith(told)
    assert len(ran.out[len(told) :].splitlines()) == 2
    assert verified("evening.db").tail == 0


def test_many_playbooks_in_one_journal_three_times_each(tmp_path: Path) -> None:
    """Repetitions answer as the first playing did, and the journal's tables are as the playing left them."""
    file, key, ends = str(tmp_path / "all.db"), str(tmp_path / "key"), {}
    stories = [playbook(path.read_text("utf-8"), path.name) for path in SOME]
    stories = [story for story in stories if not seeds_of(story)]  # a seed may be used once
    for story in stories:
        with recording(story, rulebook(story.book), file, key_file=key, passphrase_file=None) as record:
            first = record.play()
            assert [one for played in first.steps() for one in played.mismatches] == []
            ends[first.table.name] = snapshot(first.table)
            assert record.repeat(2, lambda: None).wrong == 0
            record.seal()
    report = verified(file)
    assert (report.tables, report.tail) == (3 * len(stories), 0)
    with opened(file) as journal:
        engine = Engine(journal)
        assert len(ends) == len(stories)
        for name, end in ends.items():
            assert snapshot(engine.table(name)) == end


SHAKER = str(ROOT / "cases" / "playbooks" / "mbs-demonstration-shaker.round")


def test_a_playbook_that_commits_a_seed_is_not_repeated(taisai: Taisai) -> None:
    ran = taisai("table", "play", SHAKER, "--journal", "evening.db", "--repeat", "2")
    assert ran.code == 2
    assert "a seed may be used once in a journal: play it without --repeat, got 2 times" in ran.err
    assert not Path("evening.db").exists()


def test_a_playbook_that_commits_a_seed_is_played_once_into_a_journal(taisai: Taisai) -> None:
    assert taisai("table", "play", SHAKER, "--journal", "evening.db").code == 0
    again = taisai("table", "play", SHAKER, "--journal", "evening.db")
    assert again.code == 2
    assert "a seed may be used once: play it into another journal" in again.err
    assert verified("evening.db").tail == 0


def test_an_answer_is_durable_before_it_is_shown(tmp_path: Path) -> None:
    story = playbook(Path(STORY).read_text("utf-8"))
    file = tmp_path / "evening.db"
    with recording(
        story, rulebook(story.book), str(file), key_file=str(tmp_path / "key"), passphrase_file=None
    ) as record:
        assert undurable(record, file) == []


def undurable(record: recording_module.Recording, file: Path) -> list[int]:
    """The lines of the playbook whose events were told before the file had them."""
    told, early = 0, []
    play = record.play()
    told += len(play.opened)
    for played in play.steps():
        told += len(played.events)
        reader = SqliteReader(file)
        if reader.version("table:SB1") < told:
            early.append(played.step.line)
        reader.close()
    return early


def test_sabotage_an_answer_told_too_early_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    story = playbook(Path(STORY).read_text("utf-8"))
    file = tmp_path / "evening.db"
    with recording(
        story, rulebook(story.book), str(file), key_file=str(tmp_path / "key"), passphrase_file=None
    ) as record:
        monkeypatch.setattr(record, "_write", lambda: None)
        assert undurable(record, file)


# Tables, time, and what is said at the end


def test_each_repetition_has_a_table_of_its_own_and_time_goes_on(taisai: Taisai) -> None:
    ran = play(taisai, "evening.db", "--repeat", "3")
    lines = ran.out.splitlines()
    assert lines[-3].startswith("Repeated 2 times at tables SB1-2 to SB1-3: 64 entries in ")
    assert lines[-3].endswith("; 104 pinned lines, all as written")
    assert lines[-2].startswith("Journal evening.db: 98 entries written, sealed over 98 at 20")
    assert lines[-2].endswith(" with evening.db.key")
    assert lines[-1] == "Verify it with `taisai audit verify evening.db`"
    again = play(taisai, "evening.db", "--repeat", "2")
    assert "at table SB1-5:" in again.out
    assert "64 entries written, sealed over 162" in again.out
    with opened() as journal:
        assert Engine(journal).tables() == ["SB1", "SB1-2", "SB1-3", "SB1-4", "SB1-5"]
        times = [entry.event.at for entry in journal.entries()]
        assert times == sorted(times)
        assert journal.identity
        assert journal.identity.demonstration
    assert verified("evening.db").checkpoints == 2


def test_tables_go_on_after_the_highest_of_their_name(taisai: Taisai, tmp_path: Path) -> None:
    text = Path(STORY).read_text("utf-8")
    for name in ("SB1-7", "SB1-x", "SB1-07", "SB10"):
        (tmp_path / "x.round").write_text(text.replace("book:", f"table: {name}\nbook:", 1), encoding="utf-8")
        play(taisai, story="x.round")
    play(taisai, "evening.db", "--repeat", "2")
    with opened() as journal:
        assert Engine(journal).tables()[-2:] == ["SB1-8", "SB1-9"]


def test_json_says_where_the_journal_is_and_how_it_was_sealed(taisai: Taisai) -> None:
    ran = play(taisai, "evening.db", "--repeat", "3", "--json")
    told = json.loads(ran.out)
    assert ran.out.count("\n") == 1
    sealed, repeated = told["journal"], told["repeated"]
    assert (sealed["file"], sealed["key"], sealed["entries"], sealed["size"]) == (
        "evening.db", "evening.db.key", 98, 98,
    )  # fmt: skip
    assert sealed["checkpoint"].splitlines()[1] == "98"
    assert (repeated["times"], repeated["tables"], repeated["wrong"]) == (2, ["SB1-2", "SB1-3"], 0)
    assert "repeated" not in json.loads(play(taisai, "evening.db", "--json").out)


def test_a_line_that_is_not_as_pinned_fails_in_repetitions_too(taisai: Taisai, tmp_path: Path) -> None:
    text = Path(STORY).read_text("utf-8")
    assert "+ dice-uncovered" in text
    (tmp_path / "x.round").write_text(text.replace("+ dice-uncovered", "+ dice-uncorked", 1), "utf-8")
    ran = taisai("table", "play", "x.round", "--journal", "evening.db", "--repeat", "4")
    assert ran.code == 1
    assert "156 pinned lines, 3 not as written" in ran.out
    assert "x.round:" in ran.err
    assert "at SB1-2, expected '+ dice-uncorked" in ran.err
    told = json.loads(taisai("table", "play", "x.round", "--journal", "e.db", "--repeat", "4", "--json").out)
    assert [one["table"] for one in told["repeated"]["mismatches"]] == ["SB1-2", "SB1-3", "SB1-4"]
    assert verified("evening.db").tail == 0  # what was played is sealed, whatever was pinned


def test_the_rate_is_shown_on_a_terminal_only(taisai: Taisai, monkeypatch: pytest.MonkeyPatch) -> None:
    assert play(taisai, "evening.db", "--repeat", "3").err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    ran = taisai("table", "play", STORY, "--journal", "evening.db", "--repeat", "30")
    assert ran.code == 0
    assert "100.0 %" in ran.err
    assert "plays/s" in ran.err


# The key


def test_the_key_is_made_beside_a_new_journal_and_only_its_owner_reads_it(taisai: Taisai) -> None:
    play(taisai)
    assert Path("evening.db.key").stat().st_mode & 0o777 == 0o600
    public = Path("evening.db.key.pub").read_text("utf-8")
    with opened() as journal:
        assert journal.key
        assert journal.key.text + "\n" == public
        assert journal.key.name == journal.origin


def test_a_key_of_ones_own_signs(taisai: Taisai, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("long enough by itself\n", encoding="utf-8")
    (tmp_path / "secret").chmod(0o600)
    words = ("--key", "house.key", "--passphrase-file", "secret")
    assert taisai("keys", "make", "house.key", "--name", "house", "--passphrase-file", "secret").code == 0
    play(taisai, "evening.db", *words)
    play(taisai, "evening.db", *words)
    assert verified("evening.db").keys[0].startswith("house+")
    ran = taisai("table", "play", STORY, "--journal", "evening.db", "--key", "house.key")
    assert one_clear_line(ran), ran
    assert "the key is encrypted and needs a passphrase" in ran.err


def test_the_key_of_another_journal_is_refused_and_nothing_is_written(taisai: Taisai) -> None:
    play(taisai, "evening.db")
    play(taisai, "other.db")
    before = Path("evening.db").read_bytes()
    ran = taisai("table", "play", STORY, "--journal", "evening.db", "--key", "other.db.key")
    assert one_clear_line(ran), ran
    assert "wrong key for the journal evening.db: expected taisai/" in ran.err
    Path("evening.db.key").unlink()
    ran = taisai("table", "play", STORY, "--journal", "evening.db")
    assert one_clear_line(ran), ran
    assert "no key file 'evening.db.key' for evening.db" in ran.err
    assert not Path("evening.db.key").exists()
    assert Path("evening.db").read_bytes() == before


def test_a_journal_of_play_for_money_is_no_place_for_a_playbook(taisai: Taisai, tmp_path: Path) -> None:
    key = make_key(tmp_path / "evening.db.key", "house")
    with opened() as journal:
        Journal.opened(
            journal.store, journal="0" * 16, key=key.public, at=0, by="Sue", program="x", demonstration=False
        )
    ran = taisai("table", "play", STORY, "--journal", "evening.db")
    assert one_clear_line(ran), ran
    assert "expected a journal of demonstration, got a journal of play for money" in ran.err
    with opened() as journal:
        assert journal.size == 1


# What cannot be


def test_what_is_no_journal_is_refused_in_one_line(taisai: Taisai, tmp_path: Path) -> None:
    play(taisai)
    found = impostors(tmp_path, tmp_path / "evening.db")
    for what, path in found.items():
        if what in ("no file", "empty"):  # there a new one is made
            continue
        before = sorted(tmp_path.iterdir())
        ran = taisai("table", "play", STORY, "--journal", path, "--key", "evening.db.key")
        assert one_clear_line(ran), (what, ran)
        if what in ("text", "directory", "no name", "no folder"):
            assert sorted(tmp_path.iterdir()) == before, what
    play(taisai, found["empty"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--repeat", "2"), "--repeat needs --journal"),
        (("--key", "x"), "--key needs --journal"),
        (("--passphrase-file", "x"), "--passphrase-file needs --journal"),
        (
            ("--journal", "x.db", "--repeat", "0"),
            "expected a whole number from 1 to 100,000, such as 1000 or 1e3, got '0' (--repeat)",
        ),
        (("--journal", "x.db", "--repeat", "100001"), "got '100001' (--repeat)"),
        (("--journal", "x.db", "--repeat", "many"), "expected a whole number"),
        (("--journal", "x.db", "--key", "."), "the key file"),
        (("--journal", "x.db", "--key", "no/such/key"), "the key file cannot be written"),
        (("--journal", "x.db", "--passphrase-file", "no-such"), "cannot read the passphrase file"),
        (("--journal",), "expected one argument"),
    ],
)
def test_misuse_is_refused_and_leaves_no_file(
    taisai: Taisai, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    ran = taisai("table", "play", STORY, *words)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert message in ran.err
    assert list(tmp_path.iterdir()) == []


def test_a_playbook_that_is_refused_leaves_no_journal(taisai: Taisai, tmp_path: Path) -> None:
    (tmp_path / "x.round").write_text(
        "book: us-sic-bo\nopened by: S king\nlimits: 1 to 2\n> S: uncover", "utf-8"
    )
    ran = taisai("table", "play", "x.round", "--journal", "x.db")
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["x.round"]


# A disk that is full, a folder that cannot be written, another writer


def test_a_disk_that_fills_up_loses_nothing_that_was_shown(taisai: Taisai) -> None:
    play(taisai)
    before = verified("evening.db").entries
    full = process("table", "play", STORY, "--journal", "evening.db", "--repeat", "1000", most=600_000)
    assert full.returncode == 2
    assert full.stderr.startswith("taisai: the journal cannot be written")
    assert len(full.stderr.splitlines()) == 1, full.stderr
    report = verified("evening.db")
    assert report.entries >= before + 32  # the playing that was told
    assert report.sealed == before
    play(taisai)
    assert verified("evening.db").tail == 0


def test_a_folder_that_cannot_be_written_is_shown_in_one_line(taisai: Taisai, open_folder: Path) -> None:
    play(taisai)
    shut = open_folder / "shut"
    shut.mkdir(mode=0o555)
    ran = as_nobody(open_folder, "table", "play", STORY, "--journal", str(shut / "evening.db"))
    assert list(shut.iterdir()) == []
    assert one_clear_line(ran), ran
    assert "Permission denied" in ran.err


def test_anyone_who_interrupts_it_keeps_what_was_durable(taisai: Taisai) -> None:
    play(taisai)
    words = ("table", "play", STORY, "--journal", "evening.db", "--repeat", "100000", "--json")
    with subprocess.Popen([sys.executable, "-m", "taisai", *words], stdout=subprocess.PIPE) as running:
        reader = SqliteReader("evening.db")
        while running.poll() is None and reader.version("table:SB1-3") == 0:
            time.sleep(0.01)
        reader.close()
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=60) == 130
    report = verified("evening.db")
    assert (report.sealed, report.tail > 32) == (34, True)
    play(taisai)
    assert verified("evening.db").tail == 0


def test_a_second_writer_is_refused_while_the_first_plays(taisai: Taisai) -> None:
    play(taisai)
    with opened():
        other = process("table", "play", STORY, "--journal", "evening.db")
    assert (other.returncode, other.stdout, len(other.stderr.splitlines())) == (2, "", 1)
    assert "another process is writing to the journal" in other.stderr


class _Full(MemoryStore):
    """A store whose disk is full after so many appends."""

    room = 10

    def append(self, rows: Sequence[Row], head: Head | None = None) -> None:
        self.room -= 1
        if self.room < 0:
            raise UnwritableError("disk full")
        super().append(rows, head)


def test_what_could_not_be_written_is_not_told(tmp_path: Path) -> None:
    key = make_key(tmp_path / "key", "house")
    store = _Full()
    journal = Journal.opened(
        store, journal="0" * 16, key=key.public, at=0, by="Sue", program="x", demonstration=True
    )
    story = playbook(Path(STORY).read_text("utf-8"))
    record = recording_module.Recording(journal, story, rulebook(story.book), key, before=0)
    playing = record.play()
    told = list(playing.opened)

    def go_on(play: Play) -> None:
        for played in play.steps():
            told.extend(played.events)

    with pytest.raises(UnwritableError):
        go_on(playing)
    kept = [entry.event for entry in journal.entries(stream="table:SB1")]
    assert told == kept

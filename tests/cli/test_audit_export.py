"""`taisai audit export`: a journal written out, whole or not at all, and over nothing that is there."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from taisai.audit.export import BET_COLUMNS, EVENT_COLUMNS
from tests.cli.conftest import Taisai
from tests.cli.journals import one_clear_line, play, process
from tests.journal.small_journal import on_disk, small_export, text_of

PLAYED = ("rws-wrong-result", "mbs-void-rounds")


@pytest.fixture
def journal(tmp_path: Path) -> str:
    on_disk(tmp_path / "evening.db", *PLAYED)
    return "evening.db"


def test_jsonl_goes_to_a_file_or_to_standard_output(taisai: Taisai, journal: str, tmp_path: Path) -> None:
    ran = taisai("audit", "export", journal, "--format", "jsonl", "-o", "evening.jsonl")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    data = (tmp_path / "evening.jsonl").read_bytes()
    assert data == text_of(small_export(*PLAYED))
    for out in ((), ("-o", "-"), ("--output", "-")):
        ran = taisai("audit", "export", journal, "--format", "jsonl", *out)
        assert (ran.code, ran.out.encode(), ran.err) == (0, data, "")
    assert not list(tmp_path.glob("*.part"))
    again = taisai("audit", "export", "evening.jsonl", "--format", "jsonl")
    assert again.out.encode() == data


def test_what_was_exported_is_proved_like_the_journal(taisai: Taisai) -> None:
    play(taisai)
    taisai("audit", "export", "evening.db", "--format", "jsonl", "-o", "evening.jsonl")
    facts = [
        json.loads(taisai("audit", "verify", file, "--json").out) for file in ("evening.db", "evening.jsonl")
    ]
    for one in facts:
        del one["file"], one["snapshots"]
    assert facts[0] == facts[1]


@pytest.mark.parametrize(("kind", "columns"), [("events", EVENT_COLUMNS), ("bets", BET_COLUMNS)])
def test_tables_have_the_columns_that_are_documented(
    taisai: Taisai, journal: str, tmp_path: Path, kind: str, columns: tuple[object, ...]
) -> None:
    from pyarrow import parquet

    names = [getattr(column, "name", "") for column in columns]
    ran = taisai("audit", "export", journal, "--format", "csv", "--of", kind)
    assert (ran.code, ran.err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(ran.out, newline="")))
    assert rows
    assert [*rows[0]] == names
    words = ("audit", "export", journal, "--format", "parquet", "--of", kind, "-o", f"{kind}.parquet")
    assert taisai(*words).code == 0
    made = parquet.read_table(tmp_path / f"{kind}.parquet")
    assert (made.schema.names, made.num_rows) == (names, len(rows))


def test_events_are_what_is_exported_unless_said(taisai: Taisai, journal: str) -> None:
    plain, said = (
        taisai("audit", "export", journal, "--format", "csv", *more).out for more in ((), ("--of", "events"))
    )
    assert plain == said


def test_nothing_is_overwritten(taisai: Taisai, journal: str, tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("mine", "utf-8")
    (tmp_path / "link.csv").symlink_to(tmp_path / "nowhere")
    (tmp_path / "half.csv.part").write_text("mine too", "utf-8")
    for name in ("there.csv", "link.csv", "half.csv", journal, "."):
        ran = taisai("audit", "export", journal, "--format", "csv", "-o", name)
        assert one_clear_line(ran), name
        assert "file exists: " in ran.err
    assert (tmp_path / "there.csv").read_text("utf-8") == "mine"
    assert (tmp_path / "half.csv.part").read_text("utf-8") == "mine too"
    assert not (tmp_path / "nowhere").exists()


def test_someone_else_s_file_of_the_same_name_is_left_alone(
    taisai: Taisai, journal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(_descriptor: int) -> None:
        (tmp_path / "x.csv").write_text("theirs", "utf-8")

    monkeypatch.setattr(os, "fsync", meanwhile)
    assert one_clear_line(taisai("audit", "export", journal, "--format", "csv", "-o", "x.csv"))
    assert (tmp_path / "x.csv").read_text("utf-8") == "theirs"
    assert not list(tmp_path.glob("*.part"))


def test_a_disk_without_links_will_do(
    taisai: Taisai, journal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    assert taisai("audit", "export", journal, "--format", "jsonl", "-o", "x.jsonl").code == 0
    assert (tmp_path / "x.jsonl").read_bytes() == text_of(small_export(*PLAYED))
    assert not list(tmp_path.glob("*.part"))


def test_a_damaged_journal_leaves_no_file(taisai: Taisai, journal: str, tmp_path: Path) -> None:
    raw = (tmp_path / journal).read_bytes()
    (tmp_path / "other.db").write_bytes(raw.replace(b'"seat":"1"', b'"seat":1  '))
    for form in ("csv", "parquet"):
        ran = taisai("audit", "export", "other.db", "--format", form, "-o", f"x.{form}")
        assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 1)
        assert ran.err.startswith("taisai: entry ")
    assert not list(tmp_path.glob("x.*"))


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits as POSIX has them")
def test_a_full_disk_leaves_no_file(journal: str, tmp_path: Path) -> None:
    ran = process("audit", "export", journal, "--format", "jsonl", "-o", "x.jsonl", most=20_000)
    assert ran.returncode == 2
    assert len(ran.stderr.splitlines()) == 1
    assert not list(tmp_path.glob("x.*"))


def test_a_reader_may_have_seen_enough(journal: str) -> None:
    for form in ("jsonl", "csv"):
        words = [sys.executable, "-m", "taisai", "audit", "export", journal, "--format", form]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
            assert started.stdout is not None
            assert started.stderr is not None
            assert started.stdout.read(1)
            started.stdout.close()
            assert started.stderr.read() == b""
        assert started.returncode == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", "--format"),
        ("--format xml", "expected --format jsonl, csv or parquet, got 'xml'"),
        ("--format csv --of people", "expected --of events or bets, got 'people'"),
        ("--format jsonl --of bets", "--of bets needs --format csv or parquet, got jsonl"),
        ("--format parquet", "parquet cannot go to standard output"),
        ("--format parquet -o -", "parquet cannot go to standard output"),
        (
            "--format csv -o no-such/x.csv",
            "cannot write 'no-such/x.csv': No such",
        ),
        (f"--format csv -o {'a' * 300}", "File name too long"),
        ("--format csv -o a\0b", "not a file name"),
        ("--format csv --json", "--json"),
    ],
)
def test_what_cannot_be_done_is_refused(taisai: Taisai, journal: str, words: str, says: str) -> None:
    ran = taisai("audit", "export", journal, *words.split(" ") if words else ())
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1), ran
    assert says in ran.err


def test_no_name_is_no_file(taisai: Taisai, journal: str) -> None:
    assert one_clear_line(taisai("audit", "export", journal, "--format", "csv", "-o", ""))


def test_without_pyarrow_it_says_what_to_install(
    taisai: Taisai, journal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    ran = taisai("audit", "export", journal, "--format", "parquet", "-o", "x.parquet")
    assert one_clear_line(ran)
    assert "pip install 'taisai[parquet]'" in ran.err
    assert not list(tmp_path.glob("x.*"))

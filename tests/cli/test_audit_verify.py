"""`taisai audit verify`: what was proved, in sentences and for machines; or the entry where it was not."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from io import StringIO
from pathlib import Path

import pytest

from taisai.cli import main
from taisai.cli.audit.reading import moment
from taisai.journal.seals.checkpoints import read_signed
from taisai.journal.seals.keys import SigningKey
from tests.cli.conftest import Ran, Taisai
from tests.cli.journals import impostors, one_clear_line, play
from tests.journal import corpus
from tests.journal.small_journal import NEW, OLD, forged, on_disk, small_export, text_of

PLAYED = ("rws-wrong-result", "mbs-void-rounds")


@pytest.fixture
def journal(tmp_path: Path) -> str:
    """A journal of two tables and the House, two keys and four checkpoints."""
    on_disk(tmp_path / "evening.db", *PLAYED)
    return "evening.db"


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "evening.jsonl"
    path.write_bytes(text_of(small_export(*PLAYED)))
    return path


def words(ran: Ran) -> str:
    return " ".join(ran.out.split())


def failed(ran: Ran, position: int | None = None) -> bool:
    """Not proved: exit code 1, one line."""
    where = "" if position is None else f"entry {position}: "
    begins = ran.err.startswith(f"taisai: {where}")
    return (ran.code, ran.out, len(ran.err.splitlines()), begins) == (1, "", 1, True)


# Proved


def test_what_was_proved_is_shown(taisai: Taisai, journal: str) -> None:
    ran = taisai("audit", "verify", journal)
    assert (ran.code, ran.err) == (0, "")
    told = words(ran)
    for says in (
        "evening.db: the journal 0123456789abcdef is intact and follows the rules",
        "entries, each with the hash of the entry before it; the root of the hash tree is ",
        f"3 checkpoints signed by old {OLD.public.id}, then new {NEW.public.id}; each matches the entries",
        "by the rulebooks that the journal stores (rws-sic-bo-etg-v8 sha256:",
        " settlements recomputed, ",
        " void rounds",
        "the books of 2 tables balance after every round and at the end; ",
        " snapshots compared: each equals the state that the entries give",
        f"signed by new {NEW.public.id}, a key that the journal itself names; give --key",
        "This is a demonstration",
    ):
        assert says in told, says
    assert "unsealed" not in told
    assert max(map(len, ran.out.splitlines())) <= 110


def test_machines_read_the_same(taisai: Taisai, journal: str, export: Path) -> None:
    facts = [json.loads(taisai("audit", "verify", one, "--json").out) for one in (journal, str(export))]
    for one in facts:
        assert (one["ok"], one["tail"], one["sealed"]) == (True, 0, one["entries"])
        assert one["keys"] == [OLD.public.text, NEW.public.text]
        assert (one["sealed_by"], one["sealed_at"]) == (NEW.public.text, 1_794_715_200_002)
        del one["file"], one["snapshots"], one["unused_snapshots"]
    assert facts[0] == facts[1]


def test_a_key_and_checkpoints_from_elsewhere_are_compared(
    taisai: Taisai, journal: str, export: Path, tmp_path: Path
) -> None:
    (tmp_path / "new.pub").write_text(NEW.public.text + "\n", "utf-8")
    sealed = [
        json.loads(line)["checkpoint"] for line in export.read_text("utf-8").splitlines() if "— " in line
    ]
    options = []
    for number, text in enumerate(sealed):
        (tmp_path / f"{number}.txt").write_text(text, "utf-8")
        options += ["--checkpoint", f"{number}.txt"]
    for key in ("new.pub", NEW.public.text, OLD.public.text):
        for file in (journal, str(export)):
            ran = taisai("audit", "verify", file, "--key", key, *options)
            assert ran.code == 0, ran.err
            vouched = f"{'a successor of ' if key == OLD.public.text else ''}the key that you gave"
            assert f"signed by new {NEW.public.id}, {vouched}." in words(ran)
            assert f"{len(sealed)} checkpoints kept elsewhere: the journal still begins" in words(ran)


def test_an_unsealed_tail_is_counted(taisai: Taisai, export: Path) -> None:
    lines = export.read_bytes().splitlines(keepends=True)
    export.write_bytes(b"".join(lines[:-2] + lines[-1:]))  # without the last checkpoint
    ran = taisai("audit", "verify", str(export))
    assert ran.code == 0
    tail = json.loads(taisai("audit", "verify", str(export), "--json").out)["tail"]
    assert tail > 1
    assert f"{tail} entries are in the unsealed tail: anyone with the file" in words(ran)
    export.write_bytes(b"".join(line for line in lines if not line.startswith(b'{"checkpoint"')))
    assert "Not sealed: no checkpoint that you trust covers any entry." in words(
        taisai("audit", "verify", str(export))
    )


def test_snapshots_of_another_version_are_counted_apart(taisai: Taisai, tmp_path: Path) -> None:
    told = words(taisai("audit", "verify", str(corpus.database_file(tmp_path))))
    assert "! 3 snapshots are of another version: not compared, and not used at a start" in told


def test_what_the_command_recorded_is_proved(taisai: Taisai) -> None:
    play(taisai)
    for _ in range(2):
        ran = taisai("audit", "verify", "evening.db", "--key", "evening.db.key.pub")
        assert (ran.code, ran.err) == (0, "")
        assert "the key that you gave" in words(ran)


@pytest.mark.parametrize("columns", [80, 120])
def test_it_fits_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, journal: str, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["audit", "verify", journal]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= columns


def test_a_terminal_shows_how_far_it_is_and_a_file_does_not(
    taisai: Taisai, monkeypatch: pytest.MonkeyPatch, journal: str, export: Path
) -> None:
    assert taisai("audit", "verify", journal).err == ""
    for file, rate in ((journal, "entries/s"), (str(export), "MB/s")):
        seen = _Terminal()
        monkeypatch.setattr(sys, "stderr", seen)
        assert main(["audit", "verify", file]) == 0
        assert "verifying" in seen.getvalue()
        assert rate in seen.getvalue()
        assert "100.0 %" in seen.getvalue()


class _Terminal(StringIO):
    def isatty(self) -> bool:
        return True


# Not proved


def test_a_flaw_is_shown_in_one_line(taisai: Taisai, export: Path) -> None:
    text = export.read_text("utf-8")
    export.write_text(text.replace('"stake":1000', '"stake":1001', 1), "utf-8")
    ran = taisai("audit", "verify", str(export))
    assert failed(ran)
    assert ran.err.endswith(f" ({export})\n")
    facts = json.loads(taisai("audit", "verify", str(export), "--json").out)
    assert facts["ok"] is False
    assert f"entry {facts['position']}: {facts['says']}" in ran.err


def test_a_flaw_in_the_database_is_shown(taisai: Taisai, journal: str, tmp_path: Path) -> None:
    raw = (tmp_path / journal).read_bytes()
    (tmp_path / "other.db").write_bytes(raw.replace(b'"stake":1000', b'"stake":1001', 1))
    assert failed(taisai("audit", "verify", "other.db"))
    with sqlite3.connect(tmp_path / journal) as connection:
        connection.execute("DROP TRIGGER entry_is_not_changed")
    connection.close()
    assert failed(taisai("audit", "verify", journal))


def test_a_forger_with_the_key_is_found_by_the_rules_or_by_a_checkpoint(
    taisai: Taisai, export: Path, tmp_path: Path
) -> None:
    def cheat(entries: list[dict[str, dict[str, object]]]) -> None:
        one = next(one for one in entries if one["event"]["event"] == "round-settled")
        one["event"]["won"] = 1

    def other_story(entries: list[dict[str, dict[str, object]]]) -> None:
        entries[1]["event"]["house"] = entries[1]["asked"]["house"] = "G"

    lines = small_export(*PLAYED)
    export.write_bytes(text_of(forged(lines, cheat)))
    ran = taisai("audit", "verify", str(export))
    assert failed(ran)
    assert "expected round-settled with won 49000, got 1" in ran.err
    export.write_bytes(text_of(forged(lines, other_story)))
    assert taisai("audit", "verify", str(export)).code == 0
    kept = next(json.loads(line)["checkpoint"] for line in lines if line.startswith(b'{"checkpoint"'))
    (tmp_path / "kept.txt").write_text(kept, "utf-8")
    assert failed(
        taisai("audit", "verify", str(export), "--checkpoint", "kept.txt"), read_signed(kept).checkpoint.size
    )


def test_another_s_key_proves_nothing(taisai: Taisai, journal: str) -> None:
    other = SigningKey.new("other", seed=bytes(32)).public.text
    assert failed(taisai("audit", "verify", journal, "--key", other), 1)


# Misused


def test_what_is_no_journal_is_refused_and_what_is_damaged_has_failed(
    taisai: Taisai, journal: str, tmp_path: Path
) -> None:
    for command in (
        ("verify",),
        ("show",),
        ("export", "--format", "jsonl"),
        ("export", "--format", "csv", "--of", "bets"),
        ("prove", "--position", "1"),
    ):
        folder = tmp_path / "-".join(command)
        folder.mkdir()
        for what, file in impostors(folder, tmp_path / journal).items():
            ran = taisai("audit", command[0], file, *command[1:])
            if what.startswith("cut"):
                assert ran.code == 1, (what, ran)
                assert len(ran.err.splitlines()) == 1
            else:
                assert one_clear_line(ran), (what, ran)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--key", "no-such.pub"), "the key file 'no-such.pub' cannot be read"),
        (("--key", "x+00000000+AA=="), "expected "),
        (("--key", ""), "the key file"),
        (
            ("--checkpoint", "no-such.txt"),
            "cannot read the checkpoint 'no-such.txt': No such",
        ),
        (("--checkpoint", "evening.db"), "(evening.db)"),
        (("--checkpoint", "a\0b"), "not a file name"),
    ],
)
def test_a_bad_key_or_checkpoint_is_refused(
    taisai: Taisai, journal: str, options: tuple[str, ...], says: str
) -> None:
    ran = taisai("audit", "verify", journal, *options)
    assert one_clear_line(ran), ran
    assert says in ran.err


@pytest.mark.parametrize(
    "line", ["audit", "audit verify", "audit verify a b", "audit verify a --key", "audit x"]
)
def test_half_a_command_is_refused(taisai: Taisai, line: str) -> None:
    ran = taisai(*line.split())
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)


@pytest.mark.parametrize(
    ("at", "told"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_794_715_200_079, "2026-11-15T04:00:00.079Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (2**63, "9223372036854775808 ms"),
    ],
)
def test_moments_are_utc(at: int, told: str) -> None:
    assert moment(at) == told


def test_sabotage_a_verdict_without_the_check_is_noticed(
    taisai: Taisai, monkeypatch: pytest.MonkeyPatch, export: Path
) -> None:
    text = export.read_text("utf-8")
    export.write_text(re.sub('"stake":1000', '"stake":1001', text, count=1), "utf-8")
    monkeypatch.setattr("taisai.cli.audit.verify.flawed", lambda *_, **__: 0)
    assert not failed(taisai("audit", "verify", str(export)))

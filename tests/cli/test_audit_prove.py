"""`taisai audit prove` and `check`: one thing shown to someone who has nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Taisai
from tests.cli.journals import one_clear_line
from tests.journal.small_journal import NEW, OLD, on_disk, small_export, text_of

PLAYED = ("rws-wrong-result",)
LINES = small_export(*PLAYED)
ENTRIES = [line.decode() for line in LINES if b'"position":' in line]
SEALED = [json.loads(line)["checkpoint"] for line in LINES if line.startswith(b'{"checkpoint"')]


@pytest.fixture
def journal(tmp_path: Path) -> str:
    on_disk(tmp_path / "evening.db", *PLAYED)
    (tmp_path / "evening.jsonl").write_bytes(text_of(LINES))
    (tmp_path / "old.txt").write_text(SEALED[0], "utf-8")
    (tmp_path / "new.pub").write_text(NEW.public.text + "\n", "utf-8")
    return "evening.db"


def test_an_entry_is_proved_and_checked(taisai: Taisai, journal: str, tmp_path: Path) -> None:
    for file in (journal, "evening.jsonl"):
        ran = taisai("audit", "prove", file, "--position", "20")
        assert (ran.code, ran.err) == (0, "")
        (tmp_path / "proof.json").write_text(ran.out, "utf-8")
        checked = taisai("audit", "check", "proof.json", "--key", "new.pub")
        assert (checked.code, checked.err) == (0, "")
        told = " ".join(checked.out.split())
        assert f"Entry 20 is one of the {len(ENTRIES)} entries of taisai/0123456789abcdef that new " in told
        assert ENTRIES[19] in checked.out
        assert "names" not in told
    assert "The key is the one that the proof names; give --key" in taisai("audit", "check", "proof.json").out


def test_growth_is_proved_and_checked(taisai: Taisai, journal: str) -> None:
    assert taisai("audit", "prove", journal, "--from", "old.txt", "-o", "proof.json").code == 0
    ran = taisai("audit", "check", "proof.json", "--key", OLD.public.text, "--key", "new.pub")
    assert (ran.code, ran.err) == (0, "")
    size = SEALED[0].split("\n")[1]
    assert f"begin with the {size} entries of taisai/0123456789abcdef that old " in " ".join(ran.out.split())
    assert one_clear_line(taisai("audit", "prove", journal, "--from", "old.txt", "-o", "proof.json"))


def test_an_older_checkpoint_will_do(taisai: Taisai, journal: str, tmp_path: Path) -> None:
    size = SEALED[0].split("\n")[1]
    ran = taisai("audit", "prove", journal, "--position", "1", "--size", size, "-o", "proof.json")
    assert ran.code == 0
    facts = json.loads(taisai("audit", "check", "proof.json", "--json").out)
    assert facts["checkpoints"][0]["size"] == int(size)
    assert (facts["ok"], facts["position"], facts["entry"]) == (True, 1, ENTRIES[0])
    assert json.loads((tmp_path / "proof.json").read_text("utf-8"))["checkpoint"] == SEALED[0]


def test_an_altered_proof_fails(taisai: Taisai, journal: str, tmp_path: Path) -> None:
    text = taisai("audit", "prove", journal, "--position", "20").out
    (tmp_path / "proof.json").write_text(text.replace('\\"by\\":\\"', '\\"by\\":\\"x', 1), "utf-8")
    ran = taisai("audit", "check", "proof.json")
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 1)
    assert ran.err.startswith("taisai: ")
    assert ran.err.endswith(" (proof.json)\n")
    facts = json.loads(taisai("audit", "check", "proof.json", "--json").out)
    assert facts["ok"] is False
    assert facts["says"] in ran.err


def test_a_proof_by_another_s_key_fails(taisai: Taisai, journal: str) -> None:
    taisai("audit", "prove", journal, "--position", "20", "-o", "proof.json")
    assert taisai("audit", "check", "proof.json", "--key", OLD.public.text).code == 1


def test_an_altered_journal_gives_no_proof(taisai: Taisai, journal: str, tmp_path: Path) -> None:
    raw = (tmp_path / journal).read_bytes()
    (tmp_path / "other.db").write_bytes(raw.replace(b'"stake":1000', b'"stake":1001', 1))
    ran = taisai("audit", "prove", "other.db", "--position", "1", "-o", "proof.json")
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 1)
    assert "is not what was signed" in ran.err
    assert not (tmp_path / "proof.json").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("prove evening.db", "--position --from"),
        ("prove evening.db --position 1 --from old.txt", "not allowed with"),
        ("prove evening.db --from old.txt --size 5", "--size needs --position"),
        ("prove evening.db --position 0", "from 1 to "),
        ("prove evening.db --position 99999", "got 99999"),
        ("prove evening.db --position x", "such as 12, got 'x'"),
        ("prove evening.db --position 1 --size 3", "expected a checkpoint over 3 entries, got those over "),
        ("prove evening.db --from no-such.txt", "cannot read the checkpoint"),
        ("prove evening.db --from new.pub", "(new.pub)"),
        ("prove evening.db --position 1 -o no-such/p.json", "cannot write"),
        ("check no-such.json", "cannot read the proof 'no-such.json'"),
        ("check old.txt", "not a proof of `taisai audit prove`: "),
        ("check evening.db", "not a proof"),
        ("check .", "cannot read the proof '.'"),
        ("check", "PROOF"),
    ],
)
def test_what_cannot_be_done_is_refused(taisai: Taisai, journal: str, words: str, says: str) -> None:
    assert journal
    ran = taisai("audit", *words.split())
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1), ran
    assert says in ran.err

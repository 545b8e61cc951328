"""`taisai study journal`, as typed."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from taisai.cli import main

ROOT = Path(__file__).parents[3]
ROUND = str(ROOT / "cases/playbooks/rws-wrong-result.round")


def typed(*words: str) -> int:
    return main(list(words))


@pytest.fixture
def journal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    path = str(tmp_path / "evening.db")
    assert typed("table", "play", ROUND, "--journal", path) == 0
    capsys.readouterr()
    return path


def test_a_journal_and_its_export_tell_the_same_and_corrections_count(
    journal: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The playbook's first round was settled on a wrong result, then corrected: the correction counts."""
    export = str(tmp_path / "evening.jsonl")
    assert typed("audit", "export", journal, "--format", "jsonl", "-o", export) == 0
    assert typed("study", "journal", journal, "--json") == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert typed("study", "journal", export, "--json") == 0
    again = json.loads(capsys.readouterr().out)
    assert told.pop("source") != again.pop("source")
    assert told == again
    assert (told["rounds"], told["staked"], told["returned"]) == (2, 4500, 69_000)
    areas = {area["id"]: area for area in told["areas"]}
    assert (areas["total-17"]["staked"], areas["total-17"]["returned"]) == (1000, 65_000)
    assert Fraction(areas["small"]["exact_edge"]) == Fraction(1, 36)


def test_it_prints_and_draws(journal: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "edges.svg"
    assert typed("study", "journal", journal, "--table", "SB1", "--plot", str(picture)) == 0
    assert "All bets together" in capsys.readouterr().out
    assert picture.read_text("utf-8").count("<svg") == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("/no/such.db",), "/no/such.db"),
        ((str(ROOT / "README.md"),), "expected a journal or an export of one"),
        (("{journal}", "--table", "SB9"), "expected at least 1 settled bet"),
        (("{journal}", "--plot", "x.doc"), "expected a picture's file name to end in"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    journal: str, words: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed("study", "journal", *(word.format(journal=journal) for word in words)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert expected in printed.err
    assert len(printed.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("bets.parquet", "--offer", "triple-1=180 to 1"), "--set and --offer need --book"),
        (("bets.parquet", "--set", "no_roll=void"), "--set and --offer need --book"),
        (("",), "cannot read the Parquet file '': no such file"),
        ((ROUND,), "rws-wrong-result.round': it is not a Parquet file"),
    ],
)
def test_what_cannot_be_settled_again_is_one_line(
    words: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed("study", "resettle", *words) == 2
    printed = capsys.readouterr()
    assert (printed.out, len(printed.err.splitlines())) == ("", 1)
    assert expected in printed.err

"""Files that the study's commands make: new ones, whole or not at all, and no result lost over one."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Taisai
from tests.cli.journals import play
from tests.cli.test_misuse import one_clear_line

RWS = "rws-sic-bo-etg-v8"
SHORT = f"simulate {RWS} --bet small=100 --rounds 100"
FILES = {
    f"{SHORT} -o": "x.json",
    f"{SHORT} --output": "x.parquet",
    f"{SHORT} --plot": "x.svg",
    f"session {RWS} --bet small=100 --rounds 10 --distribution": "x.json",
    f"session {RWS} --bet small=100 --rounds 2 --distribution": "x.parquet",
    f"session {RWS} --bet small=100 --rounds 10 --plot": "x.png",
    f"ruin {RWS} --bet small=100 --bankroll 500 --target 900 --plot": "x.svg",
    "shoe mbs-3-card-sic-bo --decks 2 --plot": "x.pdf",
    "shoe mbs-3-card-sic-bo --decks 2 --removal --plot": "x.svg",
    f"par {RWS} -o": "x.html",
    f"par {RWS} --output": "x.pdf",
    f"rules show {RWS} --svg": "x.svg",
    "dice export --bytes 100 -o": "x.bin",
    "study journal evening.db --plot": "x.svg",
}


@pytest.fixture
def _evening(taisai: Taisai) -> None:
    assert play(taisai).code == 0


@pytest.mark.usefixtures("_evening")
@pytest.mark.parametrize(("line", "name"), FILES.items())
def test_a_file_is_made_once_and_never_written_over(
    taisai: Taisai, tmp_path: Path, line: str, name: str
) -> None:
    words = (*line.split(), name)
    assert taisai(*words).code == 0
    made = (tmp_path / name).read_bytes()
    assert len(made) >= 100
    ran = taisai(*words)
    assert one_clear_line(ran), ran
    assert ran.err == f"taisai: file exists: {name}; choose a new file\n"
    assert (tmp_path / name).read_bytes() == made
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.usefixtures("_evening")
@pytest.mark.parametrize(("line", "name"), FILES.items())
def test_a_disk_that_is_full_leaves_no_file_and_loses_no_result(
    taisai: Taisai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, name: str
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    ran = taisai(*line.split(), name)
    assert ran.code == 2
    assert ran.err == f"taisai: cannot write '{name}': No space left on device\n"
    assert not list(tmp_path.glob("x.*"))
    is_told = not line.startswith(("par", "rules", "dice"))  # these print where the file is, and no more
    assert bool(ran.out) is is_told


@pytest.mark.parametrize("line", [line for line in FILES if "evening" not in line])
@pytest.mark.parametrize("folder", ["nowhere", "/proc"])
def test_a_file_that_cannot_be_made_is_refused_before_the_work(
    taisai: Taisai, line: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def worked(*_: object, **__: object) -> None:
        raise AssertionError("the work was begun")

    monkeypatch.setattr("taisai.cli.study.sessions.total_after", worked)
    monkeypatch.setattr("taisai.cli.study.sessions.ends_of", worked)
    monkeypatch.setattr("taisai.cli.study.simulate.simulated", worked)
    ran = taisai(*line.split(), f"{folder}/{FILES[line]}")
    assert one_clear_line(ran), ran
    assert "cannot write" in ran.err


def test_a_par_sheet_in_a_file_is_shown_to_machines_as_well(taisai: Taisai, tmp_path: Path) -> None:
    ran = taisai("par", RWS, "-o", "sheet.html", "--json")
    assert ran.out == taisai("par", RWS, "--json").out
    assert json.loads(ran.out)["digest"] in (tmp_path / "sheet.html").read_text("utf-8")

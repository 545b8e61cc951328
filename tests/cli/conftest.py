"""The taisai command run in this process, as a person would run it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from taisai.cli import main


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Taisai = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No colours, no width and no files from the surroundings."""
    for name in ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may look into, unlike those that pytest makes."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def taisai(capsys: pytest.CaptureFixture[str]) -> Taisai:
    """Runs a command given word by word."""

    def run(*words: str) -> Ran:
        capsys.readouterr()
        code = main(words)
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run

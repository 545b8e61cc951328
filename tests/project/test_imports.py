"""The layers of the packages: a wrong import in a copy of the package must turn the contract red."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.tree import ROOT, SRC

LINT = Path(sys.executable).with_name("lint-imports")
PACKAGES = (
    "rules",
    "bulk",
    "game",
    "cage",
    "journal",
    "audit",
    "study",
    "school",
    "protocol",
    "server",
    "client",
    "demo",
    "cli",
)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the project in which every room of the design exists."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    package = tmp_path / "src" / "taisai"
    shutil.copytree(SRC, package, ignore=shutil.ignore_patterns("__pycache__"))
    for room in PACKAGES:
        (package / room).mkdir(exist_ok=True)
        (package / room / "__init__.py").touch()
    return tmp_path


def lint(project: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(project / "src")}
    return subprocess.run(
        [LINT, "--no-logo", "--no-cache"],
        cwd=project,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )


def test_the_layers_hold() -> None:
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout


def test_the_layers_hold_when_every_package_exists(house: Path) -> None:
    (house / "src" / "taisai" / "client" / "talk.py").write_text("import json, taisai.protocol\n")
    (house / "src" / "taisai" / "study" / "ruin.py").write_text("import taisai.bulk, taisai.rules\n")
    done = lint(house)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("room", "imported", "contract"),
    [
        ("rules", "taisai.bulk", "layers"),
        ("protocol", "taisai.server", "layers"),
        ("journal", "taisai.study", "layers"),
        ("bulk", "taisai.game", "layers"),
        ("extra", "json", "layers"),
        ("study", "taisai.game", "study imports no game"),
        ("client", "taisai.rules", "client imports protocol alone"),
        ("school", "taisai.protocol", "layers"),
        ("server", "taisai.school", "results of dice and cards come in through one module"),
        ("server", "taisai.game.dice.seeds", "results of dice and cards come in through one module"),
        ("rules", "rich", "rules import the standard library alone"),
        ("rules", "numpy.random", "rules import the standard library alone"),
    ],
)
def test_sabotage_a_wrong_import_is_seen(house: Path, room: str, imported: str, contract: str) -> None:
    folder = house / "src" / "taisai" / room
    folder.mkdir(exist_ok=True)
    (folder / "__init__.py").touch()
    (folder / "sabotage.py").write_text(f"import {imported}\n")
    done = lint(house)
    assert done.returncode == 1
    broken = [line for line in done.stdout.splitlines() if "BROKEN" in line]
    assert any(contract in line for line in broken), done.stdout

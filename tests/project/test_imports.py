"""The storeys of the house: a wrong import in a copy of the package must turn the contract red."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.tree import ROOT, SRC

LINT = Path(sys.executable).with_name("lint-imports")
ROOMS = ("rules", "bulk", "game", "house", "study", "school", "wire", "floor", "client", "cli")


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the project in which every room of the design exists."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    package = tmp_path / "src" / "taisai"
    shutil.copytree(SRC, package, ignore=shutil.ignore_patterns("__pycache__"))
    for room in ROOMS:
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


def test_the_storeys_hold() -> None:
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout


def test_the_storeys_hold_in_a_house_with_every_room(house: Path) -> None:
    (house / "src" / "taisai" / "client" / "talk.py").write_text("import json, taisai.protocol\n")
    (house / "src" / "taisai" / "study" / "ruin.py").write_text("import taisai.bulk, taisai.rules\n")
    done = lint(house)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("room", "imported", "contract"),
    [
        ("rules", "taisai.bulk", "storeys"),
        ("wire", "taisai.server", "storeys"),
        ("house", "taisai.study", "storeys"),
        ("bulk", "taisai.game", "storeys"),
        ("attic", "json", "storeys"),
        ("study", "taisai.game", "study uses no game"),
        ("client", "taisai.rules", "client uses wire alone"),
        ("school", "taisai.protocol", "storeys"),
        ("floor", "taisai.school", "what dice or cards show has one door"),
        ("floor", "taisai.game.seeds", "what dice or cards show has one door"),
        ("rules", "rich", "rules use the standard library alone"),
        ("rules", "numpy.random", "rules use the standard library alone"),
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

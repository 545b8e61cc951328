"""What a user installs: the wheel and the source archive, built here without a network."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.project.tree import ROOT, SRC

LOAD_EVERY_BOOK = """
import sys
sys.path.insert(0, sys.argv[1])
import taisai.rules
assert taisai.rules.__file__.startswith(sys.argv[1]), taisai.rules.__file__
for book in sys.argv[2:]:
    print(taisai.rules.rulebook(book).id)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    return folder


def package_files() -> set[str]:
    paths = (path.relative_to(SRC.parent) for path in SRC.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if "__pycache__" not in path.parts}


def test_the_wheel_holds_the_whole_package_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == package_files()
    assert "taisai/py.typed" in names
    assert {name for name in names if name.startswith("taisai/rules/books/")}


def test_the_wheel_brings_the_command_and_the_licence(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        about = {
            name.partition(".dist-info/")[2]: name for name in archive.namelist() if ".dist-info/" in name
        }
        assert "taisai = taisai.cli:main" in archive.read(about["entry_points.txt"]).decode()
    assert "licenses/LICENSE" in about


def test_the_source_archive_holds_the_package_and_its_papers(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in package_files()} <= names
    assert {
        "LICENSE",
        "README.md",
        "Makefile",
        "pyproject.toml",
        "requirements/dev.txt",
        "tools/setup",
    } <= names
    assert not {name for name in names if name.startswith((".venv", "build/"))}


def test_every_rulebook_loads_from_the_wheel(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    books = sorted(path.stem for path in (SRC / "rules" / "books").glob("*.toml"))
    load = [sys.executable, "-I", "-c", LOAD_EVERY_BOOK, str(tmp_path), *books]
    assert subprocess.run(load, check=True, capture_output=True, text=True).stdout.split() == books

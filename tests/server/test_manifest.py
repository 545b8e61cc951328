"""The manifest: the same for a checkout and a wheel, another for any other byte or file."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from taisai.server.runtime.environment import manifest, manifest_lines
from tests.project.tree import ROOT, SRC


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "taisai"
    (folder / "rules" / "__pycache__").mkdir(parents=True)
    (folder / "__init__.py").write_text("x = 1\n")
    (folder / "rules" / "book.toml").write_text("a = 1\n")
    (folder / "rules" / "__pycache__" / "x.cpython-311.pyc").write_bytes(b"made")
    return folder


def test_it_is_the_digest_of_a_list_that_anyone_can_make(package: Path) -> None:
    lines = "".join(
        f"{sha256(text).hexdigest()}  {name}\n"
        for name, text in (("__init__.py", b"x = 1\n"), ("rules/book.toml", b"a = 1\n"))
    )
    assert manifest(package) == "sha256:" + sha256(lines.encode()).hexdigest()


def test_whatever_python_makes_does_not_count(package: Path) -> None:
    before = manifest(package)
    shutil.rmtree(package / "rules" / "__pycache__")
    assert manifest(package) == before


@pytest.mark.parametrize("change", ["changed", "added", "removed", "renamed", "planted"])
def test_whatever_else_changes_it(package: Path, change: str) -> None:
    before, book = manifest(package), package / "rules" / "book.toml"
    match change:
        case "changed":
            book.write_text("a = 2\n")
        case "added":
            (package / "page.html").touch()
        case "removed":
            book.unlink()
        case "renamed":
            book.rename(package / "rules" / "cook.toml")
        case _:  # Python would load it without a source beside it, or before the source
            (package / "rules" / "book.pyc").touch()
    assert manifest(package) != before


def test_our_own_is_that_of_this_package() -> None:
    assert manifest() == manifest(SRC)
    names = {line.split("  ")[1].strip() for line in manifest_lines(SRC)}
    assert {"__init__.py", "rules/books/us-sic-bo.toml", "py.typed", "server/runtime/environment.py"} <= names


def test_a_wheel_has_the_manifest_of_the_checkout(tmp_path: Path) -> None:
    copy = tmp_path / "copy"  # others may be writing in the checkout
    (copy / "tools").mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE", "hatch_build.py", "tools/pages.py"):
        shutil.copy(ROOT / name, copy / name)
    shutil.copytree(SRC, copy / "src" / "taisai")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(build, cwd=copy, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    assert manifest(tmp_path / "installed" / "taisai") == manifest(copy / "src" / "taisai")

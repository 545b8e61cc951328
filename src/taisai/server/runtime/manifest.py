"""The software's own digest: which program runs, to the byte."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Final

import taisai

CACHE: Final = "__pycache__"
"""Python makes it anew from the rest, on every machine differently. Whatever else lies there counts."""


def manifest(package: Path | None = None) -> str:
    """The SHA-256 over path and SHA-256 of every file of the program, sorted by path.

    It is the same for a checkout and for what is installed from it.
    """
    folder = Path(taisai.__file__).parent if package is None else package
    return "sha256:" + sha256("".join(manifest_lines(folder)).encode()).hexdigest()


def manifest_lines(package: Path) -> list[str]:
    """One line a file, as `sha256sum` writes it, so that anyone can make the list again."""
    found = {
        path.relative_to(package).as_posix(): path
        for path in package.rglob("*")
        if path.is_file() and CACHE not in path.relative_to(package).parts
    }
    return [f"{sha256(path.read_bytes()).hexdigest()}  {name}\n" for name, path in sorted(found.items())]

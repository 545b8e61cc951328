"""Builds the API reference out of the types and docstrings: python -W error tools/api.py FOLDER."""

from __future__ import annotations

import pkgutil
import sys
from pathlib import Path

import pdoc

import taisai


def build(folder: Path) -> None:
    """Write a page for the package and one for what each of its rooms offers."""
    rooms = [room.name for room in pkgutil.iter_modules(taisai.__path__, "taisai.")]
    pdoc.pdoc("taisai", *rooms, output_directory=folder)


if __name__ == "__main__":
    build(Path(sys.argv[1]))

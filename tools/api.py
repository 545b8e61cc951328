"""Builds the API reference out of the types and docstrings: python -W error tools/api.py FOLDER."""

from __future__ import annotations

import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import get_type_hints

import pdoc

import taisai

LEFT_OUT = ("taisai.__main__", "taisai.cli")  # the command is no library: its help is its reference


def build(folder: Path) -> None:
    """Write a page for the package and one for what each of its rooms offers."""
    found = pkgutil.walk_packages(taisai.__path__, "taisai.")
    modules = [module.name for module in found if not module.name.startswith(LEFT_OUT)]
    for name in ("taisai", *modules):
        module = import_module(name)
        for offered in getattr(module, "__all__", ()):  # pdoc does not ask for what is loaded later
            setattr(module, offered, getattr(module, offered))
        _resolve_named_tuples(module)
    pdoc.pdoc("taisai", *(name for name in modules if name.count(".") == 1), output_directory=folder)


def _resolve_named_tuples(module: ModuleType) -> None:
    # A NamedTuple's constructor does not know its module, so pdoc cannot look the names of its types up.
    for thing in vars(module).values():
        if isinstance(thing, type) and hasattr(thing, "_fields"):
            try:
                thing.__new__.__annotations__ = get_type_hints(thing)
            except NameError:  # a name that only type checkers import: the constructor is shown without types
                thing.__new__.__annotations__ = {}


if __name__ == "__main__":
    build(Path(sys.argv[1]))

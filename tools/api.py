"""Builds the API reference out of the types and docstrings: tools/api.py FOLDER [PACKAGE ...]."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import get_type_hints

import pdoc

import taisai

LEFT_OUT = ("taisai.__main__", "taisai.cli")  # the command is no library: its help is its reference


def packages() -> list[str]:
    """The packages that the reference describes."""
    found = (module.name for module in pkgutil.iter_modules(taisai.__path__, "taisai."))
    return [name for name in found if name not in LEFT_OUT]


def build(folder: Path, only: Collection[str] = ()) -> None:
    """Write a page for the package and one for what each of its rooms offers."""
    chosen = [name for name in packages() if not only or name in only]
    modules = [module for name in chosen for module in (name, *_inside(name))]
    for name in ("taisai", *modules):
        module = import_module(name)
        for offered in getattr(module, "__all__", ()):  # pdoc does not ask for what is loaded later
            setattr(module, offered, getattr(module, offered))
        _resolve_named_tuples(module)
    pdoc.pdoc("taisai", *chosen, output_directory=folder)


def _inside(package: str) -> list[str]:
    path = getattr(import_module(package), "__path__", ())
    return [module.name for module in pkgutil.walk_packages(path, f"{package}.")]


def _resolve_named_tuples(module: ModuleType) -> None:
    # A NamedTuple's constructor does not know its module, so pdoc cannot look the names of its types up.
    for thing in vars(module).values():
        if isinstance(thing, type) and hasattr(thing, "_fields"):
            try:
                thing.__new__.__annotations__ = get_type_hints(thing)
            except NameError:  # a name that only type checkers import: the constructor is shown without types
                thing.__new__.__annotations__ = {}


if __name__ == "__main__":
    build(Path(sys.argv[1]), sys.argv[2:])

"""The rulebooks that come with the package, as text and as data, and ways to alter them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import taisai.rules
from taisai.rules import Rulebook, rulebook_ids

KeyPath = tuple[str | int, ...]
"""The way to a value of a parsed book: keys of tables, places in lists."""

BOOKS = Path(taisai.rules.__file__).parent / "books"
IDS = rulebook_ids()
FILE = "my.toml"


@cache
def text_of(book: str) -> str:
    """A rulebook as it is written."""
    return (BOOKS / f"{book}.toml").read_text("utf-8")


@cache
def data_of(book: str) -> dict[str, Any]:
    """A rulebook as it is parsed; shared by all tests, so to be altered with `edited` alone."""
    return tomllib.loads(text_of(book))


def paths(value: object, path: KeyPath = ()) -> Iterator[KeyPath]:
    """The way to everything within a value, the value itself left out."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from paths(value[key], (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from paths(item, (*path, place))


def at(value: Any, path: KeyPath) -> Any:
    """What lies at the end of a way."""
    for step in path:
        value = value[step]
    return value


def edited(value: Any, path: KeyPath, new: object) -> Any:
    """The same with one thing changed or added; what the change does not touch is shared."""
    if not path:
        return new
    first, *rest = path
    other = copy(value)
    other[first] = edited(value[first], tuple(rest), new) if rest else new
    return other


def without(value: Any, path: KeyPath) -> Any:
    """The same with one thing gone."""
    holder = copy(at(value, path[:-1]))
    del holder[path[-1]]
    return edited(value, path[:-1], holder)


def named(path: KeyPath) -> str:
    """A way as an error names it: places count from 1, and a place within a row is a cell.

    >>> named(("layout", 0, "block", 2, "cells", 0, 4, "odds_of"))
    'layout 1, block 3, cells 1, cell 5, odds_of'
    """
    words: list[str] = []
    for n, step in enumerate(path):
        if isinstance(step, str):
            words.append(step)
        elif isinstance(path[n - 1], int):
            words.append(f"cell {step + 1}")
        else:
            words[-1] += f" {step + 1}"
    return ", ".join(words)


def loaded(data: dict[str, Any]) -> Rulebook:
    """A rulebook from parsed data, read to the end."""
    return Rulebook(data, FILE).check()


def replaced(text: str, cut: str, put: str) -> str:
    """The text with the first occurrence of `cut` replaced; there must be one."""
    assert cut in text, f"the rulebook no longer has {cut!r}"
    return text.replace(cut, put, 1)


def saved(folder: Path, text: str | bytes, name: str = FILE) -> Path:
    """A rulebook file of one's own."""
    path = folder / name
    path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
    return path

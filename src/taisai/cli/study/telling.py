"""How every command of the study answers: for people, or for machines."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from contextlib import ExitStack
from typing import IO, TypeVar

from taisai.cli import asked
from taisai.cli.printing import as_json, line, show, writing
from taisai.study.report import Told

T = TypeVar("T", bound=Told)
Keeps = Callable[[T, str, IO[bytes]], object]
"""Writes a result into an open file, in the form that the file's name asks for."""


def told_and_kept(arguments: Namespace, work: Callable[[], T], *files: tuple[str | None, Keeps[T]]) -> T:
    """Does the work, keeps what came of it in the files that are named, and prints it.

    Each file is opened first, so that one that cannot be made costs no work; and should it fail in the end,
    the result is printed nevertheless.
    """
    result: T | None = None
    try:
        with ExitStack() as stack:
            opened = [
                (keep, name, stack.enter_context(writing(name))) for name, keep in files if name is not None
            ]
            result = work()
            for keep, name, file in opened:
                keep(result, name, file)
    finally:
        if result is not None:
            tell(result, arguments)
    return result


def tell(result: Told, arguments: Namespace) -> int:
    """Prints a result."""
    if arguments.json:
        as_json(result.facts())
        return 0
    report = result.report()
    for sheet in report.sheets:
        show(sheet.rich())
    for note in report.notes:
        line(note)
    if terms := asked.terms(arguments):
        line(f"All of it{terms}.")
    return 0

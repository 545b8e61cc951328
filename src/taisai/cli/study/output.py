"""How every command of the study answers: for people, or for machines.

A bar for long work: how far, how fast, how long still. Only where somebody looks at it.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, TypeVar

from taisai.cli import asked
from taisai.cli.printing import as_json, line, show, writing
from taisai.study.report import Describable

T = TypeVar("T", bound=Describable)
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


def tell(result: Describable, arguments: Namespace) -> int:
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


@contextmanager
def shown_progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yields what is called with each amount done; on a terminal it draws a bar on standard error."""
    if not sys.stderr.isatty():
        yield lambda _done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """So many a second."""

        def render(self, task: Task) -> Text:
            return Text(f"{_short(task.speed or 0)} {what}/s")

    columns = (TextColumn("{task.percentage:>5.1f} %"), BarColumn(), Rate(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=total)
    try:  # not `with bar`: Ctrl-C while it starts would leave it drawing, and the cursor hidden
        bar.start()
        yield lambda done: bar.advance(task, done)
    finally:
        bar.stop()


def _short(number: float) -> str:
    """Such as 1.3e9, or 950."""
    return f"{number:.3g}" if number < 10_000 else f"{number:.1e}".replace("e+0", "e").replace("e+", "e")

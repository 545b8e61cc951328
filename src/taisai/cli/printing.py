"""Output for people and programs: JSON, lines, tables, drawn dice, results of a study, progress bars."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Final, Literal, TypeVar

from taisai.rules import Odds
from taisai.rules.outcomes import Outcome

if TYPE_CHECKING:
    from argparse import Namespace

    from rich.console import Console, RenderableType
    from rich.table import Table

    from taisai.study.report import Describable

T = TypeVar("T", bound="Describable")
Saves = Callable[[T, str, IO[bytes]], object]
"""Writes a result to an open file, in the form that the file's name asks for."""

ON_DICE: Final = ("", " on one die", " on two dice", " on three dice")
"""How odds for a number of dice are written; 0 where an area has one figure."""
WIDTH: Final = 110
"""Columns of output that goes to a file or a pipe."""
_PIPS: Final = {
    1: ("       ", "   ●   ", "       "),
    2: (" ●     ", "       ", "     ● "),
    3: (" ●     ", "   ●   ", "     ● "),
    4: (" ●   ● ", "       ", " ●   ● "),
    5: (" ●   ● ", "   ●   ", " ●   ● "),
    6: (" ●   ● ", " ●   ● ", " ●   ● "),
}


def as_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")


def line(text: str = "") -> None:
    """Prints one line of text."""
    sys.stdout.write(text + "\n")


def wrapped(text: str) -> None:
    """Prints a long line, broken at words."""
    import textwrap

    line(textwrap.fill(text, max(_width(), 20), subsequent_indent="  ", break_on_hyphens=False))


def _width() -> int:
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH


def drawing_console(file: IO[str]) -> Console:
    """A console of rich that draws into a file, as wide as the terminal."""
    from rich.console import Console

    # Brackets and colons in a rulebook's words are not markup.
    return Console(
        file=file, force_terminal=sys.stdout.isatty(), width=_width(), markup=False, emoji=False,
        highlight=False,
    )  # fmt: skip


def show(drawn: RenderableType) -> None:
    from io import StringIO

    text = StringIO()
    drawing_console(text).print(drawn)
    for row in text.getvalue().splitlines():
        line(row.rstrip())


def table(title: str, columns: Iterable[str], *, right: Iterable[str] = ()) -> Table:
    """An empty table; the columns named in `right` hold numbers."""
    from rich import box
    from rich.table import Table

    empty = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    numbers = set(right)
    for n, column in enumerate(columns):
        # People type cells again, so no cell is cut off, and the first column is never broken.
        side: Literal["left", "right"] = "right" if column in numbers else "left"
        empty.add_column(column, justify=side, overflow="fold", no_wrap=n == 0)
    return empty


def show_table(
    title: str, columns: Iterable[str], rows: Iterable[Iterable[object]], *, right: Iterable[str] = ()
) -> None:
    """Prints a table with these rows."""
    filled = table(title, columns, right=right)
    for row in rows:
        filled.add_row(*map(str, row))
    show(filled)


def percent(value: Fraction) -> str:
    """A rounded percentage; the exact value is in the JSON."""
    return f"{float(value) * 100:.3f} %"


def dice(outcome: Outcome) -> str:
    """Three dice, drawn."""
    rows = ["┌───────┐ " * 3]
    rows += ["".join(f"│{_PIPS[face][row]}│ " for face in outcome.faces) for row in range(3)]
    rows += ["└───────┘ " * 3]
    return "\n".join(row.rstrip() for row in rows)


def plain(value: object) -> Any:
    """A value for JSON: records as objects by field name, odds as text."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Odds | datetime.date):
        return str(value)
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    raise TypeError(f"expected a record of the rules, got {type(value).__name__}")


# Results of a study


def print_and_save(arguments: Namespace, work: Callable[[], T], *files: tuple[str | None, Saves[T]]) -> T:
    """Does the work, saves the result to the named files, and prints it.

    The files are opened first, so that a file that cannot be written costs no work. If saving fails, the
    result is printed nevertheless.
    """
    from taisai.cli.files import writing

    result: T | None = None
    try:
        with ExitStack() as stack:
            opened = [
                (save, name, stack.enter_context(writing(name))) for name, save in files if name is not None
            ]
            result = work()
            for save, name, file in opened:
                save(result, name, file)
    finally:
        if result is not None:
            print_result(result, arguments)
    return result


def print_result(result: Describable, arguments: Namespace) -> int:
    """Prints a result as tables and notes, or as JSON."""
    from taisai.cli.values import terms

    if arguments.json:
        as_json(result.facts())
        return 0
    report = result.report()
    for sheet in report.sheets:
        show(sheet.rich())
    for note in report.notes:
        line(note)
    if given := terms(arguments):
        line(f"All of it{given}.")
    return 0


def check_picture(name: str | None) -> None:
    """Refuses a file name that no picture can have, before the work begins."""
    if name is not None:
        from taisai.study.plotting import picture_path

        picture_path(name)


@contextmanager
def drawn_bar(
    rate: Callable[[float], str], total: int | None, doing: str = ""
) -> Iterator[Callable[..., None] | None]:
    """Yields a function that moves a bar on standard error; None if it is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(rate(task.finished_speed or task.speed or 0))

    texts = (TextColumn("{task.description}"),) if doing else ()
    columns = (*texts, TextColumn("{task.percentage:>5.1f} %"), BarColumn(), Rate(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(doing, total=total)
    try:  # not `with bar`: Ctrl-C while it starts would leave it drawing, and the cursor hidden
        bar.start()
        yield partial(bar.update, task)
    finally:
        bar.stop()


@contextmanager
def progress_bar(unit: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Yields a function that takes each amount done; a terminal shows a bar."""
    with drawn_bar(lambda speed: f"{_short(speed)} {unit}/s", total) as update:
        yield lambda done: update(advance=done) if update else None


def _short(number: float) -> str:
    """Such as 1.3e9, or 950."""
    return f"{number:.3g}" if number < 10_000 else f"{number:.1e}".replace("e+0", "e").replace("e+", "e")

"""Output for people and programs: tables, percentages, drawn dice, JSON, and new files."""

from __future__ import annotations

import datetime
import errno
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Literal

from taisai.rules import Odds
from taisai.rules.errors import RulesError, printable
from taisai.rules.outcomes import Outcome

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

ON_DICE: Final = ("", " on one die", " on two dice", " on three dice")
"""How odds for so many dice are told; 0 where an area has one figure."""
WIDTH: Final = 110
"""Columns of output that goes to no terminal."""
_PIPS: Final = {
    1: ("       ", "   ●   ", "       "),
    2: (" ●     ", "       ", "     ● "),
    3: (" ●     ", "   ●   ", "     ● "),
    4: (" ●   ● ", "       ", " ●   ● "),
    5: (" ●   ● ", "   ●   ", " ●   ● "),
    6: (" ●   ● ", " ●   ● ", " ●   ● "),
}


def as_json(value: Any) -> None:
    """One line of JSON."""
    sys.stdout.write(json.dumps(value) + "\n")


def line(text: str = "") -> None:
    """One line of text."""
    sys.stdout.write(text + "\n")


def wrapped(text: str) -> None:
    """A long line, broken at words."""
    import textwrap

    line(textwrap.fill(text, _width(), subsequent_indent="  ", break_on_hyphens=False))


def show(made: RenderableType) -> None:
    """A table, as wide as the terminal, or as WIDTH where there is none."""
    from io import StringIO

    from rich.console import Console

    drawn = StringIO()
    # A rulebook's words are words: brackets and colons in them are no markup.
    console = Console(
        file=drawn, force_terminal=sys.stdout.isatty(), width=_width(), markup=False, emoji=False,
        highlight=False,
    )  # fmt: skip
    console.print(made)
    for row in drawn.getvalue().splitlines():
        line(row.rstrip())


def _width() -> int:
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH


def table(title: str, columns: Iterable[str], *, right: Iterable[str] = ()) -> Table:
    """An empty table; the columns named in `right` hold numbers."""
    from rich import box
    from rich.table import Table

    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    numbers = set(right)
    for n, column in enumerate(columns):
        # What a person has to type again is never cut off, and the first column never broken.
        side: Literal["left", "right"] = "right" if column in numbers else "left"
        made.add_column(column, justify=side, overflow="fold", no_wrap=n == 0)
    return made


def percent(value: Fraction) -> str:
    """For the eye; the exact value is in the JSON."""
    return f"{float(value) * 100:.3f} %"


def dice(outcome: Outcome) -> str:
    """Three dice, drawn."""
    rows = ["┌───────┐ " * 3]
    rows += ["".join(f"│{_PIPS[face][row]}│ " for face in outcome.faces) for row in range(3)]
    rows += ["└───────┘ " * 3]
    return "\n".join(row.rstrip() for row in rows)


def plain(value: object) -> Any:
    """Records as objects by field name, odds as printed, the rest as it is."""
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


STDOUT: Final = "-"
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What only a file that is written can fail with: other failures may be of what is read for it."""


@contextmanager
def writing(out: str) -> Iterator[IO[bytes]]:
    """A new file that is there once all of it is written, and not before; or standard output."""
    if out == STDOUT:
        sys.stdout.flush()
        yield sys.stdout.buffer
        return
    path = Path(out)
    if os.path.lexists(path):
        raise _is_there(path)
    unfinished = path.with_name(f"{path.name}.part")
    try:
        file = unfinished.open("xb")
    except FileExistsError:
        raise _is_there(unfinished) from None
    except (OSError, ValueError) as error:
        raise _cannot_be_written(out, error) from None
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _put_in_place(unfinished, path)
    except OSError as error:
        if error.errno in _FULL:
            raise _cannot_be_written(out, error) from None
        raise
    finally:
        unfinished.unlink(missing_ok=True)


def _put_in_place(unfinished: Path, path: Path) -> None:
    """Under its own name, unless someone else took it meanwhile."""
    try:
        os.link(unfinished, path)
    except FileExistsError:
        raise _is_there(path) from None
    except OSError:  # a disk without links
        unfinished.rename(path)


def _is_there(path: Path) -> RulesError:
    return RulesError(f"expected no file there yet, got one ({printable(str(path))})")


def _cannot_be_written(out: str, error: OSError | ValueError) -> RulesError:
    why = error.strerror if isinstance(error, OSError) else "no name of a file"
    return RulesError(f"expected a file that can be written, got {printable(repr(out))}: {why}")

"""What people and machines read: tables, percentages, drawn dice, JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal

from taisai.rules.outcomes import Outcome

if TYPE_CHECKING:  # --json never needs rich, which is slow to import
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

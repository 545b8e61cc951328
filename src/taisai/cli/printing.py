"""What people and machines read: tables, percentages, drawn dice, JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from taisai.rules.outcomes import Outcome

if TYPE_CHECKING:  # rich is a third of a second's worth of imports that --json never needs
    from rich.console import Console
    from rich.table import Table

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


def console() -> Console:
    """Where tables are printed; a pipe gets 110 columns whatever the terminal has."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 110, soft_wrap=False)


def table(title: str, columns: Iterable[str], *, right: Iterable[str] = ()) -> Table:
    """An empty table; the columns named in `right` hold numbers."""
    from rich import box
    from rich.table import Table

    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    numbers = set(right)
    for column in columns:
        made.add_column(column, justify="right" if column in numbers else "left")
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

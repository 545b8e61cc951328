"""Results as reports: tables and notes for a terminal, a file or a notebook, facts for machines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from html import escape
from io import StringIO
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from rich.console import RenderableType


MOST_DECIMALS: Final = 20
"""Decimals that a report shows at most: more is for machines."""
_PIECE: Final = 4_000  # digits that Python turns into text without being told that it may


def whole_text(number: int) -> str:
    """A whole number in decimals, however long."""
    if number < 0:
        return f"-{whole_text(-number)}"
    pieces = []
    piece: int = 10**_PIECE
    while number >= piece:
        number, rest = divmod(number, piece)
        pieces.append(f"{rest:0{_PIECE}d}")
    return "".join((str(number), *reversed(pieces)))


def fraction_text(value: Fraction) -> str:
    """A fraction as '1/36', a whole number as '7'."""
    if value.denominator == 1:
        return whole_text(value.numerator)
    return f"{whole_text(value.numerator)}/{whole_text(value.denominator)}"


def decimal_text(value: Fraction, most: int = MOST_DECIMALS) -> str:
    """A fraction in decimals, rounded to so many, without zeros at the end."""
    scaled = round(value * 10**most)
    whole, rest = divmod(abs(scaled), 10**most)
    text = f"{whole}.{rest:0{most}d}".rstrip("0").rstrip(".")
    return f"-{text}" if scaled < 0 else text


def certain_decimals(error: float, most: int = MOST_DECIMALS) -> int:
    """How many decimals of a figure with this error are right, give or take one in the last."""
    return most if error <= 0 else max(0, min(most, floor(-log10(2 * error))))


def printed_decimals(error: float) -> int:
    """How many decimals it takes that rounding to them is no more than this error."""
    return MOST_DECIMALS if error <= 0 else max(0, ceil(-log10(2 * error)))


def got(value: object) -> str:
    """What was given instead of a whole number, or a whole number outside its bounds, for an error."""
    return f"{value:,}" if type(value) is int else repr(value)


def told(value: Fraction | float, error: float) -> str:
    """A probability for the eye: a percentage as exact as it is known, at most twelve decimals of it."""
    exact = Fraction(value)
    if error > 0 and exact <= Fraction(error):
        return f"below {error:.0e}"
    if 0 < exact < Fraction(1, 10**8):
        return power_text(exact)
    decimals = max(0, min(6, certain_decimals(error) - 2))
    return f"{round(exact * 100 * 10**decimals) / 10**decimals:.{decimals}f} %"


def power_text(value: Fraction) -> str:
    """A very small fraction as 1.23e-45, whatever a float could hold."""
    digits = len(whole_text(value.denominator)) - len(whole_text(value.numerator))
    scaled = value * Fraction(10) ** digits
    if scaled < 1:
        scaled, digits = scaled * 10, digits + 1
    return f"{float(scaled):.2f}e-{digits}"


WIDTH: Final = 110
"""Columns of a report that goes to no terminal."""


class ReportColumn(NamedTuple):
    """The head of a column; numbers stand to the right."""

    name: str
    is_number: bool = False
    is_long: bool = False
    """Its words may break into lines, so that the figures beside them need not."""


class Sheet(NamedTuple):
    """One table of a report: every cell is text already."""

    title: str
    columns: tuple[ReportColumn, ...]
    rows: tuple[tuple[str, ...], ...]

    def rich(self) -> RenderableType:
        """For a terminal."""
        from taisai.study.terminal_table import SheetInTerminal

        return SheetInTerminal(self)

    def text(self, width: int = WIDTH) -> str:
        """For a file."""
        return _drawn(self.rich(), width)


class StudyReport(NamedTuple):
    """What is to be read: tables, then notes in plain sentences."""

    sheets: tuple[Sheet, ...]
    notes: tuple[str, ...] = ()

    def rich(self) -> RenderableType:
        """For a terminal."""
        from rich.console import Group
        from rich.text import Text

        return Group(*(sheet.rich() for sheet in self.sheets), *(Text(note) for note in self.notes))

    def text(self, width: int = WIDTH) -> str:
        """For a file."""
        return _drawn(self.rich(), width)

    def html(self) -> str:
        """For a notebook."""
        return _html(self)


class Told(ABC):
    """A result with a report: `print(result)` and a notebook show it, `facts` are for machines."""

    __slots__ = ()

    @abstractmethod
    def report(self) -> StudyReport:
        """What a person reads."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """The same, exact and stable: fractions as text, such as '1/36'."""

    def __str__(self) -> str:
        return self.report().text()

    def __rich__(self) -> RenderableType:
        return self.report().rich()

    def _repr_html_(self) -> str:
        return self.report().html()


def columns(*names: str, numbers: Sequence[str] = ()) -> tuple[ReportColumn, ...]:
    """Heads of columns, those among `numbers` to the right."""
    return tuple(ReportColumn(name, name in numbers) for name in names)


def counted(number: int, word: str, plural: str = "") -> str:
    """Such as '1 round' or '1,042 rounds'."""
    return f"{number:,} {word if number == 1 else plural or f'{word}s'}"


def _drawn(what: RenderableType, width: int) -> str:
    from rich.console import Console

    drawn = StringIO()
    Console(file=drawn, width=width, markup=False, emoji=False, highlight=False).print(what)
    return "\n".join(line.rstrip() for line in drawn.getvalue().rstrip().splitlines())


_TABLE: Final = "border-collapse:collapse;margin:0.5em 0 1em"
_CAPTION: Final = "text-align:left;font-style:italic;padding-bottom:0.3em;white-space:nowrap"
_CELL: Final = "padding:0.15em 0.8em 0.15em 0;text-align:left"
_FIGURE: Final = "padding:0.15em 0.8em 0.15em 0;text-align:right;font-variant-numeric:tabular-nums"


def _html(report: StudyReport) -> str:
    """Tables, then notes. The styles stand in the elements: a notebook keeps none that stand apart."""
    notes = [f"<p>{escape(note)}</p>" for note in report.notes]
    return "\n".join([*map(_html_table, report.sheets), *notes])


def _html_table(sheet: Sheet) -> str:
    styles = [_FIGURE if column.is_number else _CELL for column in sheet.columns]

    def row(kind: str, cells: tuple[str, ...]) -> str:
        made = (
            f'<{kind} style="{how}">{escape(cell)}</{kind}>' for cell, how in zip(cells, styles, strict=True)
        )
        return f"<tr>{''.join(made)}</tr>"

    head = row("th", tuple(column.name for column in sheet.columns))
    rows = "".join(row("td", cells) for cells in sheet.rows)
    caption = f'<caption style="{_CAPTION}">{escape(sheet.title)}</caption>'
    return f'<table style="{_TABLE}">{caption}<thead>{head}</thead><tbody>{rows}</tbody></table>'

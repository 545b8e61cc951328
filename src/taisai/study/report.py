"""Reports: tables and notes for a terminal, a file or a notebook; facts for programs; files of figures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from html import escape
from io import StringIO
from math import ceil, floor, log10
from typing import IO, TYPE_CHECKING, Any, Final, Literal, NamedTuple

from taisai.rules.errors import RulesError
from taisai.study import needed

if TYPE_CHECKING:  # imported on first use: the command must start quickly
    from pathlib import Path

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.table import Table

MOST_DECIMALS: Final = 20  # the most decimals that a report shows; `facts` have more
_PIECE: Final = 4_000  # digits; Python limits how many it turns into text at once


def whole_text(number: int) -> str:
    """A whole number of any length in decimal digits."""
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
    """A fraction rounded to at most this many decimals, without trailing zeros."""
    scaled = round(value * 10**most)
    whole, rest = divmod(abs(scaled), 10**most)
    text = f"{whole}.{rest:0{most}d}".rstrip("0").rstrip(".")
    return f"-{text}" if scaled < 0 else text


def certain_decimals(error: float, most: int = MOST_DECIMALS) -> int:
    """How many decimals of a figure with this error are correct, up to one unit in the last."""
    return most if error <= 0 else max(0, min(most, floor(-log10(2 * error))))


def printed_decimals(error: float) -> int:
    """How many decimals keep the rounding error below this error."""
    return MOST_DECIMALS if error <= 0 else max(0, ceil(-log10(2 * error)))


def got(value: object) -> str:
    """An invalid value as an error message quotes it."""
    return f"{value:,}" if type(value) is int else repr(value)


def probability_text(value: Fraction | float, error: float) -> str:
    """A probability as a percentage, with the decimals that are certain and at most six."""
    exact = Fraction(value)
    if error > 0 and exact <= Fraction(error):
        return f"below {error:.0e}"
    if 0 < exact < Fraction(1, 10**8):
        return power_text(exact)
    decimals = max(0, min(6, certain_decimals(error) - 2))
    return f"{round(exact * 100 * 10**decimals) / 10**decimals:.{decimals}f} %"


def power_text(value: Fraction) -> str:
    """A very small fraction as 1.23e-45, also below the range of a float."""
    digits = len(whole_text(value.denominator)) - len(whole_text(value.numerator))
    scaled = value * Fraction(10) ** digits
    if scaled < 1:
        scaled, digits = scaled * 10, digits + 1
    return f"{float(scaled):.2f}e-{digits}"


WIDTH: Final = 110  # columns of a report that is not printed to a terminal
GAP: Final = 3  # characters between two columns; one more on each side of the table
MOST_LINES: Final = 2  # about how many lines a cell of words takes


class ReportColumn(NamedTuple):
    """The head of a column; numbers are right-aligned."""

    name: str
    is_number: bool = False
    is_long: bool = False  # its text may wrap, so that the figures beside it need not


class Sheet(NamedTuple):
    """One table of a report; every cell is text."""

    title: str
    columns: tuple[ReportColumn, ...]
    rows: tuple[tuple[str, ...], ...]

    def rich(self) -> RenderableType:
        return SheetInTerminal(self)

    def text(self, width: int = WIDTH) -> str:
        return _plain_text(self.rich(), width)


class StudyReport(NamedTuple):
    """Tables, then notes."""

    sheets: tuple[Sheet, ...]
    notes: tuple[str, ...] = ()

    def rich(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        return Group(*(sheet.rich() for sheet in self.sheets), *(Text(note) for note in self.notes))

    def text(self, width: int = WIDTH) -> str:
        return _plain_text(self.rich(), width)

    def html(self) -> str:
        """The report for a notebook. Styles are inline, because notebooks drop style sheets."""
        notes = [f"<p>{escape(note)}</p>" for note in self.notes]
        return "\n".join([*map(_html_table, self.sheets), *notes])


class Describable(ABC):
    """A result of the study. `print` and notebooks show its report; programs read its facts."""

    __slots__ = ()

    @abstractmethod
    def report(self) -> StudyReport:
        """The result for people."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """The result for programs. Keys are stable, and exact figures are text such as '1/36'."""

    def __str__(self) -> str:
        return self.report().text()

    def __rich__(self) -> RenderableType:
        return self.report().rich()

    def _repr_html_(self) -> str:
        return self.report().html()


def columns(*names: str, numbers: Sequence[str] = ()) -> tuple[ReportColumn, ...]:
    """Column heads; those in `numbers` are right-aligned, and come last if they are not among the names."""
    heads = (*names, *(number for number in numbers if number not in names))
    return tuple(ReportColumn(name, name in numbers) for name in heads)


def counted(number: int, word: str, plural: str = "") -> str:
    """Such as '1 round' or '1,042 rounds'."""
    return f"{number:,} {word if number == 1 else plural or f'{word}s'}"


def _plain_text(what: RenderableType, width: int) -> str:
    from rich.console import Console

    file = StringIO()
    Console(file=file, width=width, markup=False, emoji=False, highlight=False).print(what)
    return "\n".join(line.rstrip() for line in file.getvalue().rstrip().splitlines())


_TABLE: Final = "border-collapse:collapse;margin:0.5em 0 1em"
_CAPTION: Final = "text-align:left;font-style:italic;padding-bottom:0.3em;white-space:nowrap"
_CELL: Final = "padding:0.15em 0.8em 0.15em 0;text-align:left"
_FIGURE: Final = "padding:0.15em 0.8em 0.15em 0;text-align:right;font-variant-numeric:tabular-nums"


def _html_table(sheet: Sheet) -> str:
    styles = [_FIGURE if column.is_number else _CELL for column in sheet.columns]

    def row(tag: str, cells: tuple[str, ...]) -> str:
        styled = zip(cells, styles, strict=True)
        html = "".join(f'<{tag} style="{style}">{escape(cell)}</{tag}>' for cell, style in styled)
        return f"<tr>{html}</tr>"

    head = row("th", tuple(column.name for column in sheet.columns))
    rows = "".join(row("td", cells) for cells in sheet.rows)
    caption = f'<caption style="{_CAPTION}">{escape(sheet.title)}</caption>'
    return f'<table style="{_TABLE}">{caption}<thead>{head}</thead><tbody>{rows}</tbody></table>'


class SheetInTerminal:
    """A sheet under its title. A sheet that is too wide continues below, and repeats its first column."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._texts = [
            [column.name, *(row[place] for row in sheet.rows)] for place, column in enumerate(sheet.columns)
        ]
        self._least = [self._least_width(place) for place in range(len(sheet.columns))]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        del console
        yield Text(self._sheet.title, style="italic")  # a title of the table could not be wider than it
        for places in self._parts(options.max_width):
            yield self._table(places, options.max_width)

    def _parts(self, width: int) -> Iterator[list[int]]:
        places = [0]
        for place in range(1, len(self._sheet.columns)):
            if len(places) > 1 and _total_width(self._least[at] for at in [*places, place]) > width:
                yield places
                places = [0]
            places.append(place)
        yield places

    def _table(self, places: list[int], width: int) -> Table:
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for place, column_width in zip(places, self._widths(places, width), strict=True):
            column = self._sheet.columns[place]
            side: Literal["left", "right"] = "right" if column.is_number else "left"
            table.add_column(column.name, justify=side, overflow="fold", width=column_width or None)
        for row in self._sheet.rows:
            table.add_row(*(row[place] for place in places))
        return table

    def _widths(self, places: list[int], width: int) -> list[int]:
        """The widths of columns in one part. Spare width goes to column names first, then to texts."""
        from rich.cells import cell_len

        widths = [self._least[place] for place in places]
        most = [max(map(cell_len, self._texts[place])) for place in places]
        names = [cell_len(self._texts[place][0]) for place in places]

        def rank(at: int) -> tuple[bool, float, int]:
            lacking = names[at] - widths[at]  # the name that lacks least comes first
            return lacking <= 0, lacking if lacking > 0 else widths[at] / most[at], at

        while _total_width(widths) < width and (
            narrow := [rank(at) for at in range(len(places)) if widths[at] < most[at]]
        ):
            widths[min(narrow)[-1]] += 1
        return widths

    def _least_width(self, place: int) -> int:
        """The least width of a column. Texts may wrap; figures and row names may not."""
        from rich.cells import cell_len

        name, *cells = self._texts[place]
        column = self._sheet.columns[place]
        share = 0
        if column.is_long or (place > 0 and not column.is_number):
            share = -(-max(map(cell_len, cells), default=0) // MOST_LINES)
            cells = [word for cell in cells for word in cell.split()]
        return max([share, *map(cell_len, [*name.split(), *cells])])


def _total_width(widths: Iterable[int]) -> int:
    each = list(widths)
    return sum(each) + GAP * (len(each) - 1) + 2


# ── files of figures ─────────────────────────────────────────────────────────────────────────────────

ENDINGS: Final = (".json", ".parquet")


def data_path(text: str) -> Path:
    """The path of a JSON or Parquet file. Raises an error for another ending, or without pyarrow."""
    from pathlib import Path

    path = Path(text)
    if path.suffix.lower() not in ENDINGS:
        raise RulesError(f"expected a file name that ends in {' or '.join(ENDINGS)}, got {text!r}")
    if path.suffix.lower() == ".parquet":
        with needed("pyarrow", "study"):
            import pyarrow  # noqa: F401
    return path


@contextmanager
def data_file(path: Path, into: IO[bytes] | None) -> Iterator[IO[bytes]]:
    """The file to write to: `into` if it is given, else a new file at the path."""
    try:
        if into is not None:
            yield into
        else:
            with path.open("wb") as file:
                yield file
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise RulesError(f"cannot write {str(path)!r}: {problem}") from error

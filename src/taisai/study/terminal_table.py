"""Tables of a report in a terminal: a table that is too wide continues below, and no figure is cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from taisai.study.report import Sheet


BETWEEN: Final = 3
"""Cells between two columns; around all of them there is one on each side."""
MOST_LINES: Final = 2
"""Into which a cell of words is broken, about."""


class SheetInTerminal:
    """A sheet under its title. Its first column says what the others speak of, so it begins every part."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._words = [
            [column.name, *(row[place] for row in sheet.rows)] for place, column in enumerate(sheet.columns)
        ]
        self._least = [self._least_of(place) for place in range(len(sheet.columns))]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console
        yield Text(self._sheet.title, style="italic")
        for places in self._parts(options.max_width):
            yield self._table(places, options.max_width)

    def _parts(self, width: int) -> Iterator[list[int]]:
        """Columns that stand beside each other."""
        places = [0]
        for place in range(1, len(self._sheet.columns)):
            if len(places) > 1 and _together(self._least[one] for one in [*places, place]) > width:
                yield places
                places = [0]
            places.append(place)
        yield places

    def _table(self, places: list[int], width: int) -> Table:
        # The title stands above: as part of the table it would be no wider than that.
        made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for place, fits in zip(places, self._widths(places, width), strict=True):
            column = self._sheet.columns[place]
            side: Literal["left", "right"] = "right" if column.is_number else "left"
            made.add_column(column.name, justify=side, overflow="fold", width=fits or None)
        for row in self._sheet.rows:
            made.add_row(*(row[place] for place in places))
        return made

    def _widths(self, places: list[int], width: int) -> list[int]:
        """Of columns beside each other: what is left goes to their names, then to words, in turn."""
        widths = [self._least[place] for place in places]
        most = [max(map(cell_len, self._words[place])) for place in places]
        names = [cell_len(self._words[place][0]) for place in places]

        def turn(at: int) -> tuple[bool, float, int]:
            lacks = names[at] - widths[at]  # the name that lacks least is whole first
            return lacks <= 0, lacks if lacks > 0 else widths[at] / most[at], at

        while _together(widths) < width and (
            wanting := [turn(at) for at in range(len(places)) if widths[at] < most[at]]
        ):
            widths[min(wanting)[-1]] += 1
        return widths

    def _breaks(self, place: int) -> bool:
        """Whether cells may take a few lines: words may, figures and names of rows stay whole."""
        column = self._sheet.columns[place]
        return column.is_long or (place > 0 and not column.is_number)

    def _least_of(self, place: int) -> int:
        """How narrow a column may be."""
        name, *cells = self._words[place]
        share = 0
        if self._breaks(place):
            share = -(-max(map(cell_len, cells), default=0) // MOST_LINES)
            cells = [word for cell in cells for word in cell.split()]
        return max([share, *map(cell_len, [*name.split(), *cells])])


def _together(widths: Iterable[int]) -> int:
    each = list(widths)
    return sum(each) + BETWEEN * (len(each) - 1) + 2

"""Results that print themselves: in a terminal, in a notebook, and as facts for machines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:  # facts for machines never need rich, which is slow to import
    from rich.console import RenderableType

WIDTH: Final = 110
"""Columns of a report that goes to no terminal."""


class Column(NamedTuple):
    """The head of a column; numbers stand to the right."""

    name: str
    is_number: bool = False
    is_long: bool = False
    """Its words may break into lines, so that the figures beside them need not."""


class Sheet(NamedTuple):
    """One table of a report: every cell is text already."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]

    def rich(self) -> RenderableType:
        """For a terminal. The title stands above: as part of the table it would be no wider than that."""
        from rich import box
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for place, column in enumerate(self.columns):
            side: Literal["left", "right"] = "right" if column.is_number else "left"
            is_whole = place == 0 and not column.is_long
            made.add_column(column.name, justify=side, overflow="fold", no_wrap=is_whole)
        for row in self.rows:
            made.add_row(*row)
        return Group(Text(self.title, style="italic"), made)

    def text(self, width: int = WIDTH) -> str:
        """For a file."""
        return _drawn(self.rich(), width)


class Report(NamedTuple):
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
        made = [_html_table(sheet) for sheet in self.sheets]
        made += [f"<p>{escape(note)}</p>" for note in self.notes]
        return "\n".join(made)


class Told(ABC):
    """A result with a report: `print(result)` and a notebook show it, `facts` are for machines."""

    __slots__ = ()

    @abstractmethod
    def report(self) -> Report:
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


def columns(*names: str, numbers: Sequence[str] = ()) -> tuple[Column, ...]:
    """Heads of columns, those among `numbers` to the right."""
    return tuple(Column(name, name in numbers) for name in names)


def counted(number: int, word: str, plural: str = "") -> str:
    """Such as '1 round' or '1,042 rounds'."""
    return f"{number:,} {word if number == 1 else plural or f'{word}s'}"


def _drawn(what: RenderableType, width: int) -> str:
    from rich.console import Console

    drawn = StringIO()
    Console(file=drawn, width=width, markup=False, emoji=False, highlight=False).print(what)
    return "\n".join(line.rstrip() for line in drawn.getvalue().rstrip().splitlines())


def _html_table(sheet: Sheet) -> str:
    side = [' style="text-align:right"' if column.is_number else "" for column in sheet.columns]
    head = "".join(
        f"<th{at}>{escape(column.name)}</th>" for column, at in zip(sheet.columns, side, strict=True)
    )
    rows = "".join(
        "<tr>" + "".join(f"<td{at}>{escape(cell)}</td>" for cell, at in zip(row, side, strict=True)) + "</tr>"
        for row in sheet.rows
    )
    return (
        f"<table><caption>{escape(sheet.title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )

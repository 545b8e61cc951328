"""Results that print themselves: in a terminal, in a notebook, and as facts for machines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any, Final, NamedTuple

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
        """For a terminal."""
        from taisai.study.in_terminal import SheetInTerminal

        return SheetInTerminal(self)

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
        from taisai.study.in_notebook import html_of

        return html_of(self)


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

"""The books: every account, and what a gaming day came to."""

from __future__ import annotations

from taisai.protocol.views.console import Flight
from taisai.protocol.views.texts import Part


class Books(Part, frozen=True, kw_only=True):
    """The accounts of a table, or of the House."""

    of: str
    """A table's name; '' for the House."""
    accounts: dict[str, int]
    """Account → balance, on its own side."""
    held: int
    """What is held or due, all together."""
    owed: int
    """What is owed, all together."""


class BooksView(Part, frozen=True, kw_only=True):
    """Every account of House and tables."""

    currency: str
    books: tuple[Books, ...]
    in_transit: tuple[Flight, ...]
    sum: int
    """What is held less what is owed, over all books: zero."""
    balanced: bool
    off: tuple[str, ...]
    """What does not agree."""


class TakingsLine(Part, frozen=True, kw_only=True):
    """What a table took in a gaming day, or in one shift of it."""

    table: str
    currency: str
    day: str
    shift: str
    """'' for the day as a whole."""
    drop: int
    """Cash that players paid at the table."""
    tickets_in: int
    tickets_out: int
    fills: int
    credits: int
    """Chips that went back to the cage."""
    handle: int
    """Stakes that were settled."""
    collected: int
    won: int
    """By players above their stakes."""
    win: int
    """Collected less won: the house's."""
    hold: str | None
    """Win over drop, exactly, such as '1/5'; None without a drop."""
    hold_percent: str | None
    """The same in percent, to two places."""
    rounds: int
    void: int


class ReportView(Part, frozen=True, kw_only=True):
    """Drop, win and hold of a gaming day."""

    day: str
    tables: tuple[TakingsLine, ...]
    """A line for each table and day, and one for each of its shifts."""
    totals: tuple[TakingsLine, ...]
    """A line for each currency, over all tables."""

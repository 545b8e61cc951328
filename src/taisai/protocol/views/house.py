"""All tables and the House together: the lobby, the pit, the cage, the books and the report of a day."""

from __future__ import annotations

from taisai.protocol.views.console import Flight, ReferralLine
from taisai.protocol.views.history import Shown
from taisai.protocol.views.parts import ClaimLine, Part, View, Words


class LobbyTable(Part, frozen=True, kw_only=True):
    """A table that one may go to."""

    name: str
    title: Words
    operator: str
    """Whose rules it is played by."""
    rulebook: str
    phase: str
    label: Words
    bets_open: bool
    number: int
    last: Shown | None
    least: int
    """The least minimum of any area."""
    most: int
    """The greatest maximum of any area."""
    currency: str
    demonstration: bool
    shut: bool


class LobbyView(View, frozen=True, kw_only=True, tag="lobby"):
    """Every table."""

    tables: tuple[LobbyTable, ...]


class PitTable(Part, frozen=True, kw_only=True):
    """A table as the pit watches it."""

    name: str
    title: Words
    phase: str
    label: Words
    number: int
    dealer: str | None
    shut: str | None
    hold: str | None
    says: Words | None
    clause: str | None
    referrals: tuple[ReferralLine, ...]
    staked: int
    worst: int
    """What the house would lose on the worst outcome."""


class Alarm(Part, frozen=True, kw_only=True):
    """Something that someone has to look at."""

    at: int
    about: str
    """A table, a device, or 'floor'."""
    says: Words


class LargeWin(Part, frozen=True, kw_only=True):
    """A seat that won much in a round."""

    table: str
    round: int
    seat: str
    won: int


class PitView(View, frozen=True, kw_only=True, tag="pit"):
    """Every table, and what needs someone's attention."""

    tables: tuple[PitTable, ...]
    alarms: tuple[Alarm, ...]
    wins: tuple[LargeWin, ...]
    """The latest first."""
    locked: tuple[str, ...]
    """People who cannot sign in until two others unlock them."""


class TableClaims(Part, frozen=True, kw_only=True):
    """The open claims of a table."""

    table: str
    to_players: int
    by_players: int
    claims: tuple[ClaimLine, ...]


class CageView(View, frozen=True, kw_only=True, tag="cage"):
    """The cage."""

    house: str
    currency: str
    quick: tuple[int, ...]
    """Amounts that are sold often: chips of the house's tables."""
    cash: int
    """Cash and chips at the cage."""
    outstanding: int
    """What the tickets that nobody has redeemed are worth."""
    flights: tuple[Flight, ...]
    claims: tuple[TableClaims, ...]


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

"""All tables and the House together: the lobby, the pit, the cage, the books and the report of a day."""

from __future__ import annotations

from taisai.protocol.views.console import ReferralLine, TransferInTransit
from taisai.protocol.views.parts import ClaimLine, Part, View, Words
from taisai.protocol.views.rounds import PastResult


class LobbyTable(Part, frozen=True, kw_only=True):
    """An open table."""

    name: str
    title: Words
    operator: str
    """The operator whose rulebook the table uses."""
    rulebook: str
    phase: str
    label: Words
    bets_open: bool
    number: int
    last: PastResult | None
    least: int
    """The least minimum of any area."""
    most: int
    """The greatest maximum of any area."""
    currency: str
    demonstration: bool
    shut: bool


class LobbyView(View, frozen=True, kw_only=True, tag="lobby"):
    """Every open table."""

    tables: tuple[LobbyTable, ...]


class PitTable(Part, frozen=True, kw_only=True):
    """A table as the pit sees it."""

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
    reports: int
    """How many reports wait for a second person."""
    staked: int
    worst: int
    """What the house would lose on the worst outcome."""


class Alarm(Part, frozen=True, kw_only=True):
    """Something that needs attention."""

    at: int
    about: str
    """A table, a device, or 'house'."""
    says: Words


class LargeWin(Part, frozen=True, kw_only=True):
    """A large win of a seat in a round."""

    table: str
    round: int
    seat: str
    won: int


class PitView(View, frozen=True, kw_only=True, tag="pit"):
    """Every table, and what needs attention."""

    tables: tuple[PitTable, ...]
    alarms: tuple[Alarm, ...]
    wins: tuple[LargeWin, ...]
    """Latest first."""
    locked: tuple[str, ...]
    """People who are locked. Unlocking needs two people."""
    no_money: Words | None = None
    """Why no money leaves the house now: a witness of the journal is silent, or contradicts it."""
    unopened: tuple[str, ...] = ()
    """Tables of casino.toml that were never opened: a supervisor opens them with `open-table`."""


class SystemAlarm(Part, frozen=True, kw_only=True):
    """Something is wrong with the server, its machine or its journal."""

    name: str
    """The condition, such as 'disk-low'."""
    at: int
    """When it was raised."""
    until: int | None
    """When it ended; None while it goes on."""
    grave: bool
    """Whether play or money is in danger. Otherwise it is a warning."""
    says: Words


class AlarmsView(View, frozen=True, kw_only=True, tag="alarms"):
    """The alarms of the server itself. They come also while the journal's writer stands still."""

    standing: tuple[SystemAlarm, ...]
    """Those that go on, grave ones first."""
    ended: tuple[SystemAlarm, ...]
    """Those that are over, latest first."""


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
    """Common amounts of tickets: chips of the house's tables."""
    cash: int
    """Cash and chips at the cage."""
    outstanding: int
    """The value of all tickets that are not redeemed."""
    in_transit: tuple[TransferInTransit, ...]
    claims: tuple[TableClaims, ...]


class Books(Part, frozen=True, kw_only=True):
    """The accounts of a table, or of the House."""

    of: str
    """A table's name; '' for the House."""
    accounts: dict[str, int]
    """Account → balance."""
    held: int
    """The sum of accounts that are held or due."""
    owed: int
    """The sum of accounts that are owed."""


class BooksView(Part, frozen=True, kw_only=True):
    """Every account of House and tables."""

    currency: str
    books: tuple[Books, ...]
    in_transit: tuple[TransferInTransit, ...]
    sum: int
    """Held less owed over all books; zero if they balance."""
    balanced: bool
    off: tuple[str, ...]
    """The disagreements that were found."""


class TakingsLine(Part, frozen=True, kw_only=True):
    """The takings of a table in a gaming day, or in one shift of it."""

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
    """Chips sent back to the cage."""
    handle: int
    """The sum of settled stakes."""
    collected: int
    won: int
    """What players won, without their stakes."""
    win: int
    """Collected less won: the win of the house."""
    hold: str | None
    """Win divided by drop, exact, such as '1/5'; None without a drop."""
    hold_percent: str | None
    """The hold in percent, with two decimal places."""
    rounds: int
    void: int
    record_corrections: int
    """How often the record of the chips was corrected."""
    by_hand: int = 0
    """How many rounds were played or settled by hand, and entered afterwards."""


class ReportView(Part, frozen=True, kw_only=True):
    """Drop, win and hold of a gaming day."""

    day: str
    tables: tuple[TakingsLine, ...]
    """A line for each table, and one for each of its shifts."""
    totals: tuple[TakingsLine, ...]
    """A line for each currency, over all tables."""

"""Commands and events: opening a table, its days and shifts, its limits and odds."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct, field

from taisai.game.messages import Command, Event


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Minimum and maximum per player and area, and what the house may lose on one outcome."""

    least: int
    most: int
    groups: dict[str, tuple[int, int]] = field(default_factory=dict)
    """(least, most) for a family of areas, such as 'triple' or 'even-money', or for one area."""
    exposure: int | None = None


class OpenTable(Command, frozen=True, kw_only=True, tag="open-table"):
    """The first command of a table's stream."""

    from_clients: ClassVar[bool] = False
    before_opening: ClassVar[bool] = True
    table: str
    limits: Limits
    currency: str
    day: str
    """The gaming day, such as '2026-11-15'."""
    zone: str
    """The time zone of the casino, such as 'Asia/Singapore'."""
    rank: str
    """The rank of the person who opens the table."""
    settings: dict[str, str] = field(default_factory=dict)
    offers: dict[str, str] = field(default_factory=dict)
    """Area → odds offered above a floor."""
    layout: str | None = None
    """The layout of a live table, and the default of terminals."""
    demonstration: bool = False
    """Whether terminals may replace the chips of a live table."""


class CloseTable(Command, frozen=True, kw_only=True, tag="close-table"):
    """The table closes: no further round is played."""


class BeginDay(Command, frozen=True, kw_only=True, omit_defaults=True, tag="begin-day"):
    """A new gaming day: the calendar's, or with a second person the day after it."""

    day: str
    calendar: str = ""
    """The gaming day by the clock of the server, which fills it in; empty where no calendar is kept."""
    second: str | None = None


class BeginShift(Command, frozen=True, kw_only=True, tag="begin-shift"):
    """A new shift."""

    shift: str


class SetLimits(Command, frozen=True, kw_only=True, tag="set-limits"):
    """Changes the limits, under dual control and without live bets."""

    limits: Limits
    second: str | None = None


class OfferOdds(Command, frozen=True, kw_only=True, tag="offer-odds"):
    """Changes the odds above the document's floors, under dual control and without live bets."""

    offers: dict[str, str]
    second: str | None = None


class Shut(Command, frozen=True, kw_only=True, tag="shut"):
    """No round opens until the table is reopened."""

    reason: str


class Reopen(Command, frozen=True, kw_only=True, tag="reopen"):
    """A shut table may be played again."""

    reason: str
    second: str | None = None


class TableOpened(Event, frozen=True, kw_only=True, tag="table-opened"):
    """The first event: it pins the rulebook and everything chosen."""

    table: str
    rulebook: str
    digest: str
    settings: dict[str, str]
    offers: dict[str, str]
    limits: Limits
    layout: str
    currency: str
    day: str
    zone: str
    rank: str
    demonstration: bool


class TableClosed(Event, frozen=True, kw_only=True, tag="table-closed"):
    """The table closes: no further round is played."""


class DayBegun(Event, frozen=True, kw_only=True, omit_defaults=True, tag="day-begun"):
    """A new gaming day."""

    day: str
    second: str | None = None
    """The second person, where the day began before the calendar's."""


class ShiftBegun(Event, frozen=True, kw_only=True, tag="shift-begun"):
    """A new shift: inspections of the last one no longer count."""

    shift: str


class LimitsSet(Event, frozen=True, kw_only=True, tag="limits-set"):
    """Other limits are in force."""

    limits: Limits
    second: str


class OddsOffered(Event, frozen=True, kw_only=True, tag="odds-offered"):
    """Other odds are in force."""

    offers: dict[str, str]
    second: str


class TableShut(Event, frozen=True, kw_only=True, tag="table-shut"):
    """No round opens until the table is reopened."""

    reason: str


class TableReopened(Event, frozen=True, kw_only=True, tag="table-reopened"):
    """The table may be played again."""

    reason: str
    second: str

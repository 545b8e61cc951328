"""The floor as a whole: the lobby, the pit and the cage."""

from __future__ import annotations

from taisai.protocol.views.console import ClaimLine, Flight, ReferralLine
from taisai.protocol.views.history import Shown
from taisai.protocol.views.texts import Part, View, Words


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

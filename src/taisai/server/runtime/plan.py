"""The plan of a house, beside its journal: its tables, its limits, and its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from taisai import __version__
from taisai.cage import AmountLimits
from taisai.game.terms.messages import Limits
from taisai.rules.book import Rulebook
from taisai.server.auth.permissions import RateLimit
from taisai.server.auth.sessions import SessionPolicy
from taisai.server.config.tables import DiceIn
from taisai.server.runtime.environment import JournalPlace


class ConnectionLimits(NamedTuple):
    """How many connections there may be, and how many requests each client may make."""

    sockets: int = 5_000
    asks_a_second: int = 50
    burst: int = 200
    requests_a_second: int = 50
    """Over HTTP, from one address; four times as many at once."""
    sockets_of_device: int = 1
    sockets_of_person: int = 20
    """Pages of one person: some at the desk, some on a tablet, some forgotten."""
    bets_a_round: int = 1_000
    """Of one terminal in a round, those taken back included: nine favourites of 104 areas, and more."""


class Thresholds(NamedTuple):
    """The figures from which on the House notes something."""

    large_win: int = 10_000_00
    """Minor units, above the stake, of one seat in one round."""
    clock_jump: int = 2_000
    """Milliseconds."""
    watch: Fraction = Fraction(1, 1000)
    """The chance at which fair dice ever raise the alarm."""
    stall: int = 3_000
    """Milliseconds that the event loop or the journal's writer may stand still."""
    disk_low: int = 5_000_000_000
    """Free bytes of the journal's disk below which there is a warning."""
    disk_full: int = 1_000_000_000
    """Free bytes below which play is in danger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePlan:
    """A table as the house wants it, open or not."""

    name: str
    book: Rulebook
    limits: Limits
    layout: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    offers: Mapping[str, str] = field(default_factory=dict)
    editions: Sequence[Rulebook] = ()
    """The editions that it may be opened by, the newest first; `book` alone where this is empty."""
    window: int | None = None
    """Milliseconds for which bets are open; None where no clock runs."""
    demonstration: bool = False
    dice: DiceIn = DiceIn.KEYS
    """Whether a device's readings are taken; the demonstration's own shaker draws all the same."""
    edges: bool = False
    """Whether players may know the house edge of each area."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HousePlan:
    """How a house is run: what its journal does not have."""

    house: str
    currency: str
    zone: str
    tables: Sequence[TablePlan] = ()
    origins: frozenset[str] = frozenset()
    """The origins of pages that may connect."""
    behind_proxy: bool = False
    metrics_token: Callable[[], str | None] = lambda: None
    """What a monitor on another machine sends now to see the inside of the server; it may be renewed."""
    bounds: ConnectionLimits = field(default_factory=ConnectionLimits)
    policy: SessionPolicy = field(default_factory=SessionPolicy)
    sign_ins: RateLimit | None = None
    thresholds: Thresholds = field(default_factory=Thresholds)
    amounts: AmountLimits | None = None
    """What one person may sell and redeem alone, and the most of one fill; None: no limit."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What the journal records of the settings in force."""
    program: str = f"taisai {__version__}"
    """The name and version of this program, as the journal records them at each start."""
    manifest: str = "none"
    seal_every: int = 1_000
    seal_minutes: int = 15
    checkpoints: Path | None = None
    place: JournalPlace | None = None
    """Where the journal's file is; None where that is not recorded."""
    restored: Path | None = None
    """The note of `taisai restore` beside the journal, until a start has recorded it."""
    behind: int = 0
    """Milliseconds that the clock is behind the last entry, where the start accepted that."""
    free: Callable[[], int] | None = None
    """The free bytes of the journal's disk; None for a journal without a file."""
    day: Callable[[int], str] | None = None
    """The gaming day of a moment."""
    approved: Callable[[Rulebook, int], str | None] | None = None
    """Why a rulebook may not be played for money at a moment; None where no approval is needed."""

    def table(self, name: str) -> TablePlan | None:
        return next((table for table in self.tables if table.name == name), None)

    def edition(self, table: TablePlan, now: int) -> Rulebook:
        """The newest edition of a table's rulebook that may be played now; the newest if none may be."""
        editions = table.editions or (table.book,)
        approved = self.approved
        allowed = (book for book in editions if approved is None or approved(book, now) is None)
        return next(allowed, editions[0])

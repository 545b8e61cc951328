"""Rounds retold, and what a result would do."""

from __future__ import annotations

from taisai.protocol.views.console import Extreme
from taisai.protocol.views.parts import Part, Words


class RuledBet(Part, frozen=True, kw_only=True):
    """How a bet was treated, and by whom."""

    how: str
    """'returned' by decision, 'withdrawn' where players were given the option, 'moved' here by decision."""
    by: str
    second: str | None = None
    reason: str = ""


class BetLine(Part, frozen=True, kw_only=True):
    """A bet, and what became of it."""

    id: str
    seat: str
    layout: str
    area: str
    label: Words
    stake: int
    state: str
    """'stands', 'gone' before the close, 'withdrawn' by option, 'won', 'lost', 'void', or 'returned' by the
    limits or by decision."""
    won: int = 0
    returned: int = 0
    kept_out: int = 0
    """How much of the stake the limits kept out of the game."""
    clause: str | None = None
    kept_out_by: str | None = None
    lay: bool = True
    """Whether it lay on the layout at the close, or lies there."""
    ruled: RuledBet | None = None


class RoundTotals(Part, frozen=True, kw_only=True):
    """What the bets that are told come to."""

    bets: int
    staked: int
    won: int
    returned: int


class Incident(Part, frozen=True, kw_only=True):
    """Something that happened in the round beside its course."""

    at: int
    by: str
    what: str
    says: Words
    clause: str
    second: str | None = None
    reason: str = ""
    """What was written down with it: for staff, and for the player whose affair it is."""


class RoundView(Part, frozen=True, kw_only=True):
    """A round retold."""

    table: str
    number: int
    day: str
    opened_at: int
    phase: str
    """'between' once it is over."""
    label: Words
    faces: tuple[int, int, int] | None
    total: int | None
    entered: tuple[int, ...] | None
    """What was keyed in at first, where the result was corrected."""
    void: bool
    clause: str | None
    """By which it is void."""
    decided: bool
    """Whether what every bet gets is known: it is settled, or void."""
    bets: tuple[BetLine, ...]
    left_out: int
    """Bets that are not told, because there are too many."""
    totals: RoundTotals
    lit: dict[str, tuple[str, ...]]
    """Layout → the areas that the outcome illuminates."""
    says: dict[str, str]
    """Clause → what it says, of every clause that is told here."""
    seat: str | None
    """Whose bets alone are told."""
    incidents: tuple[Incident, ...]
    recalled: bool
    """Whether its incidents, what was keyed at first and the clause of a void are told: of the last ten."""


class PreviewView(Part, frozen=True, kw_only=True):
    """What a result would do, before it is committed."""

    faces: tuple[int, int, int]
    total: int
    lit: dict[str, tuple[str, ...]]
    """Layout → the winning areas."""
    staked: int
    won: int
    """By winning bets above their stakes."""
    returned: int
    """In all."""
    collected: int
    """Of losing bets."""
    house: Extreme
    differs: bool
    """Whether the latest reading of a device says otherwise."""

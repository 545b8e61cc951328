"""A round and what became of its bets; past rounds, and the roads over them."""

from __future__ import annotations

from msgspec import field

from taisai.protocol.views.parts import Part, Words
from taisai.rules.settlement import BetState


class RuledBet(Part, frozen=True, kw_only=True):
    """How a bet was treated outside the settlement, and by whom."""

    how: str
    """'returned' by decision, 'withdrawn' by its player's choice, or 'moved' to this area by decision."""
    by: str
    second: str | None = None
    reason: str = ""


class BetLine(Part, frozen=True, kw_only=True):
    """A bet and what became of it."""

    id: str
    seat: str
    layout: str
    area: str
    label: Words
    stake: int
    means: str = ""
    """What the player played with; the stake of 'colour-chips' is in money here."""
    state: BetState
    won: int = 0
    """Winnings without the stake."""
    returned: int = 0
    """Everything that came back in the round; 0 for a bet that was taken back before the close."""
    kept_out: int = 0
    """The part of the stake that the limits kept out of the settlement."""
    clause: str | None = None
    """The clause by which it won, lost or came back."""
    kept_out_by: str | None = None
    lay: bool = True
    """Whether it was on the layout at the close, or is there now."""
    ruled: RuledBet | None = None


class RoundTotals(Part, frozen=True, kw_only=True):
    """The sums of the bets of a round, or of one seat."""

    bets: int
    staked: int
    won: int
    returned: int


class Incident(Part, frozen=True, kw_only=True):
    """An irregularity, a referral or a correction in the round."""

    at: int
    by: str
    what: str
    says: Words
    clause: str
    second: str | None = None
    reason: str = ""
    """The reason that staff entered; only staff and the player concerned receive it."""


class RoundView(Part, frozen=True, kw_only=True):
    """A round."""

    table: str
    number: int
    day: str
    opened_at: int
    phase: str
    """'between' if the round is over."""
    label: Words
    faces: tuple[int, int, int] | None
    total: int | None
    entered: tuple[int, ...] | None
    """The result that was entered first, if it was corrected."""
    void: bool
    clause: str | None
    """The clause by which the round is void."""
    decided: bool
    """Whether the round is settled or void."""
    bets: tuple[BetLine, ...]
    left_out: int
    """The number of bets beyond the limit of one reply."""
    totals: RoundTotals
    lit: dict[str, tuple[str, ...]]
    """Layout → the areas that the outcome illuminates."""
    says: dict[str, str]
    """Clause → its text, for every clause in this view."""
    seat: str | None
    """The seat whose bets these are; None for all bets."""
    incidents: tuple[Incident, ...]
    by_hand: bool = False
    """Whether it was played or settled by hand while the system was down, and entered afterwards."""
    recalled: bool
    """Whether `incidents`, `entered` and `clause` are known. The server remembers the last ten rounds."""


# Past rounds


class PastResult(Part, frozen=True, kw_only=True):
    """The result of a past round."""

    number: int
    void: bool = False
    """A void round is listed, and counts nowhere."""
    faces: tuple[int, int, int] | None = None
    """None if the round has no result."""
    total: int | None = None
    size: str | None = None
    """'small', 'big' or 'triple'."""
    parity: str | None = None
    """'odd', 'even' or 'triple'; None if the rulebook has no such areas."""
    by_hand: bool = False
    """Whether it was played or settled by hand, and entered afterwards."""


class RoadColumn(Part, frozen=True, kw_only=True):
    """A column of a road: rounds in a row with the same mark."""

    mark: str
    rounds: tuple[int, ...]


class HistoryView(Part, frozen=True, kw_only=True):
    """The last results, the oldest first, and their roads and frequencies."""

    results: tuple[PastResult, ...] = ()
    sizes: tuple[RoadColumn, ...] = ()
    """The road of big and small."""
    parities: tuple[RoadColumn, ...] = ()
    """The road of odd and even."""
    totals: dict[int, int] = field(default_factory=dict)
    """Total → its number of rounds, without void rounds."""
    counted: int = 0
    """The number of these rounds without the void ones."""

"""A round: its bets by area and purse, its phase, its result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from taisai.game.betting.messages import BetRegistered
from taisai.game.money.packed_sums import Column, PackedSums
from taisai.game.vocabulary import SHAKER, DeviceFault
from taisai.rules.clauses import Clause
from taisai.rules.outcomes import Outcome
from taisai.rules.vocabulary import Act, Phase

ColumnsByArea = dict[str, list[Column | None]]
"""layout → row → the stakes on that area by purse."""
RowTotals = dict[str, list[int]]
"""layout → row → all stakes on that area together."""


KeptOut = dict[tuple[str, int, int], int]
"""(layout, row, index of the purse) → how much of a stake the limits keep out of the settlement."""


class DeviceReading(NamedTuple):
    """What a device reported of a shake."""

    id: str
    by: str
    device: str
    shake: int
    faces: tuple[int, ...]
    fault: DeviceFault | None
    cards: tuple[int, ...] = ()
    """The cards of each face from which the demonstration shaker drew."""


class SettlementTotals(NamedTuple):
    """The sums of a settlement."""

    staked: int
    collected: int
    won: int
    stakes_back: int
    """Stakes that came back."""


class RoundSettlement(NamedTuple):
    """A settlement: its sums, and what each purse gets."""

    staked: int
    collected: int
    won: int
    stakes_back: int
    by_purse: Column
    """Stakes and winnings that come back to each purse."""


@dataclass(slots=True, eq=False)
class Round:
    """One round of play."""

    number: int
    phase: Phase
    day: str
    terms: str
    """The digest of everything in force when it opened."""
    opened_at: int
    acts: set[Act] = field(default_factory=set)
    """The acts since bets were last opened."""
    bets: dict[str, BetRegistered] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    """Bets that were taken back, withdrawn or returned."""
    columns: ColumnsByArea = field(default_factory=dict)
    totals: RowTotals = field(default_factory=dict)
    laid_on: dict[str, str] = field(default_factory=dict)
    """Bet that was moved → the area where it was placed first."""
    stay: set[str] = field(default_factory=set)
    """Bets that were on the layout when bets were opened again."""
    stay_by: Clause | None = None
    """The clause by which they stay."""
    dealt: int = 0
    """Cards dealt in this round."""
    shuffle: int = 0
    """The shuffle that they came from."""
    staked: int = 0
    counted: int = 0
    """The part of it that the limits leave in play."""
    returned: PackedSums = 0
    """What would come back on each outcome, in 1/unit, packed into one integer."""
    bound: int = 0
    """An upper bound of what any outcome returns, for a cheap check before the exact one."""
    outside: set[tuple[str, str, int]] = field(default_factory=set)
    """(seat, layout, row) of stakes outside the limits, if the rules record them so."""
    kept_out: KeptOut = field(default_factory=dict)
    tolerated: set[str] = field(default_factory=set)
    """Players whose bet under the minimum was settled."""
    sessions: dict[str, int] = field(default_factory=dict)
    """Seat → the session that bet in this round."""
    tumbles: int = 0
    shakes: int = 1
    """One more than how often bets were opened again."""
    readings: dict[str, DeviceReading] = field(default_factory=dict)
    """Id → reading, in the order of arrival."""
    seen: bool = False
    """Whether a concealed die was declared seen."""
    result: Outcome | None = None
    settled: RoundSettlement | None = None
    voided: bool = False
    choices: dict[str, bool] = field(default_factory=dict)
    """Seat → whether its player chose to withdraw, while that choice is open."""
    witness: str | None = None
    """The rank that must witness the settlement."""

    @property
    def reading(self) -> DeviceReading | None:
        """The latest reading of the current shake."""
        return next((one for one in reversed(self.readings.values()) if one.shake == self.shakes), None)

    @property
    def drawn(self) -> DeviceReading | None:
        """The draw of the demonstration shaker in the current shake."""
        drawn = (one for one in self.readings.values() if one.by == SHAKER and one.faces)
        return next((one for one in drawn if one.shake == self.shakes), None)

    def live(self) -> list[BetRegistered]:
        """The bets that stand, in the order of registration."""
        return [bet for name, bet in self.bets.items() if name not in self.gone]

    def seats(self) -> list[str]:
        """The seats with standing bets."""
        return list(dict.fromkeys(bet.seat for bet in self.live()))

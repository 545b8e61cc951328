"""A round: its bets by area and purse, where it stands, what became of it."""

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
    """What a device told of a shake."""

    id: str
    by: str
    device: str
    shake: int
    faces: tuple[int, ...]
    fault: DeviceFault | None
    cards: tuple[int, ...] = ()
    """Cards of each face that the demonstration shaker drew from."""


class SettlementTotals(NamedTuple):
    """What a settlement comes to for the house."""

    staked: int
    collected: int
    won: int
    stakes_back: int
    """Stakes that came back."""


class RoundSettlement(NamedTuple):
    """What a settlement comes to, the totals first."""

    staked: int
    collected: int
    won: int
    stakes_back: int
    by_purse: Column
    """What comes back to each purse, winnings included."""


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
    """What has been done since bets were last opened."""
    bets: dict[str, BetRegistered] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    """Bets that were taken back, withdrawn or returned."""
    columns: ColumnsByArea = field(default_factory=dict)
    totals: RowTotals = field(default_factory=dict)
    laid_on: dict[str, str] = field(default_factory=dict)
    """Where bets that were moved were laid at first."""
    stay: set[str] = field(default_factory=set)
    """Bets that lay there when bets were opened again."""
    stay_by: Clause | None = None
    """By which clause they stay."""
    dealt: int = 0
    """Cards dealt in this round."""
    shuffle: int = 0
    """The shuffle that they came from."""
    staked: int = 0
    counted: int = 0
    """What of it the limits leave in the game."""
    returned: PackedSums = 0
    """What would come back on each outcome, in 1/unit, packed into one integer."""
    bound: int = 0
    """No outcome would return more than this; a cheap check before the exact one."""
    outside: set[tuple[str, str, int]] = field(default_factory=set)
    """(seat, layout, row) of stakes outside the limits, where they are recorded as they lie."""
    kept_out: KeptOut = field(default_factory=dict)
    tolerated: set[str] = field(default_factory=set)
    """Players whose bet under the minimum was settled."""
    sessions: dict[str, int] = field(default_factory=dict)
    """Which session of a seat bet in this round."""
    tumbles: int = 0
    shakes: int = 1
    """One more than how often bets were opened again."""
    readings: dict[str, DeviceReading] = field(default_factory=dict)
    """By their ids, in the order they came."""
    seen: bool = False
    """Whether a concealed die was declared seen."""
    result: Outcome | None = None
    settled: RoundSettlement | None = None
    voided: bool = False
    choices: dict[str, bool] = field(default_factory=dict)
    """Seats that chose to withdraw or not, while the option stands."""
    witness: str | None = None
    """The rank that must be present at the settlement."""

    @property
    def reading(self) -> DeviceReading | None:
        """The latest of the present shake."""
        return next((one for one in reversed(self.readings.values()) if one.shake == self.shakes), None)

    @property
    def drawn(self) -> DeviceReading | None:
        """What the demonstration shaker drew in the present shake."""
        drawn = (one for one in self.readings.values() if one.by == SHAKER and one.faces)
        return next((one for one in drawn if one.shake == self.shakes), None)

    def live(self) -> list[BetRegistered]:
        """The bets that stand, in the order they came."""
        return [bet for name, bet in self.bets.items() if name not in self.gone]

    def seats(self) -> list[str]:
        """The seats with bets that stand."""
        return list(dict.fromkeys(bet.seat for bet in self.live()))

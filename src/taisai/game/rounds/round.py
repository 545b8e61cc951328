"""A round: its bets by area and purse, where it stands, what became of it."""

from __future__ import annotations

from typing import NamedTuple

from taisai.game.betting.messages import BetRegistered
from taisai.game.money.packed_sums import Column
from taisai.game.vocabulary import SHAKER, DeviceFault
from taisai.rules.clauses import Clause
from taisai.rules.outcomes import Outcome
from taisai.rules.vocabulary import Act, Phase

Columns = dict[str, list[Column | None]]
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


class Round:
    """One round of play."""

    __slots__ = (
        "acts", "bets", "bound", "choices", "columns", "counted", "day", "dealt", "gone", "kept_out",
        "laid_on", "number", "opened_at", "outside", "phase", "readings", "result", "returned", "seen",
        "sessions", "settled", "shakes", "shuffle", "staked", "stay", "stay_by", "terms", "tolerated",
        "totals", "tumbles", "voided", "witness",
    )  # fmt: skip

    def __init__(  # noqa: PLR0915  what a round is, in one place
        self, number: int, phase: Phase, day: str, terms: str, opened_at: int
    ) -> None:
        self.number = number
        self.opened_at = opened_at
        self.phase = phase
        self.day = day
        self.terms = terms
        """The digest of everything in force when it opened."""
        self.acts: set[Act] = set()
        """What has been done since bets were last opened."""
        self.bets: dict[str, BetRegistered] = {}
        self.gone: set[str] = set()
        """Bets that were taken back, withdrawn or returned."""
        self.columns: Columns = {}
        self.totals: RowTotals = {}
        self.laid_on: dict[str, str] = {}
        """Where bets that were moved were laid at first."""
        self.stay: set[str] = set()
        """Bets that lay there when bets were opened again."""
        self.stay_by: Clause | None = None
        """By which clause they stay."""
        self.dealt = 0
        """Cards dealt in this round."""
        self.shuffle = 0
        """The shuffle that they came from."""
        self.staked = 0
        self.counted = 0
        """What of it the limits leave in the game."""
        self.returned = 0
        """What would come back on each outcome, in 1/unit, packed into one integer."""
        self.bound = 0
        """No outcome would return more than this; a cheap check before the exact one."""
        self.outside: set[tuple[str, str, int]] = set()
        """(seat, layout, row) of stakes outside the limits, where they are recorded as they lie."""
        self.kept_out: KeptOut = {}
        self.tolerated: set[str] = set()
        """Players whose bet under the minimum was settled."""
        self.sessions: dict[str, int] = {}
        """Which session of a seat bet in this round."""
        self.tumbles = 0
        self.shakes = 1
        """One more than how often bets were opened again."""
        self.readings: dict[str, DeviceReading] = {}
        """By their ids, in the order they came."""
        self.seen = False
        """Whether a concealed die was declared seen."""
        self.result: Outcome | None = None
        self.settled: RoundSettlement | None = None
        self.voided = False
        self.choices: dict[str, bool] = {}
        """Seats that chose to withdraw or not, while the option stands."""
        self.witness: str | None = None
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

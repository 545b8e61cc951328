"""A round: its bets by area and purse, its phase, its result; and the past rounds of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, overload

from taisai.game.betting.messages import BetRegistered
from taisai.game.money.packed_sums import Column, PackedSums
from taisai.game.vocabulary import SHAKER, DeviceFault
from taisai.rules.clauses import Clause
from taisai.rules.irregularities import Ruling
from taisai.rules.outcomes import Outcome
from taisai.rules.vocabulary import Act, Irregularity, Phase

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


class SeatedPlayer(NamedTuple):
    """Who sat on a seat when bets could be placed in a round."""

    session: int
    player: str
    memory_key: str
    """Whose under-minimum bets are remembered."""
    colour_value: int
    """The value of the player's colour chips; 0 if there were none."""


class ReportedIrregularity(NamedTuple):
    """A report on a round, and its ruling."""

    event: Irregularity
    phase: Phase
    ruling: Ruling
    clause: Clause
    to: str | None = None
    """The rank that decides a referral."""
    item: str | None = None
    """The equipment that failed, if the report names it."""
    seen: bool = False
    waits: str | None = None
    """The held report that a second person has not confirmed."""


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
    seated: dict[str, SeatedPlayer] = field(default_factory=dict)
    """Seat → who sat there while bets were open, at tables where the record of the chips can be corrected."""
    restaked: dict[int, int] = field(default_factory=dict)
    """Purse → by how much a correction of the record changed its stakes, until the round is resettled."""
    passed_on: dict[int, int] = field(default_factory=dict)
    """Cash chips of it that nobody owes: another player's, and what was collected as it lay."""
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
    by_hand: bool = False
    """Whether it was played or settled by hand while the system was down."""
    void_by: Clause | None = None
    """The clause by which it is void as soon as the settlement made by hand is entered."""
    withdrawn: set[str] = field(default_factory=set)
    """Players who withdrew after an interruption and are out of the round, as `SeatedPlayer.memory_key`."""
    irregularities: list[ReportedIrregularity] = field(default_factory=list)
    """What was reported of the round, in that order."""
    voided_in: Phase | None = None
    """The phase in which it was voided, if it was in play then."""

    @property
    def reading(self) -> DeviceReading | None:
        """The latest reading of the current shake."""
        readings = reversed(self.readings.values())
        return next((reading for reading in readings if reading.shake == self.shakes), None)

    @property
    def drawn(self) -> DeviceReading | None:
        """The draw of the demonstration shaker in the current shake."""
        draws = (reading for reading in self.readings.values() if reading.by == SHAKER and reading.faces)
        return next((reading for reading in draws if reading.shake == self.shakes), None)

    def forget(self, event: Irregularity) -> None:
        """Reports of an irregularity are in force no longer; those that wait for a second person stay."""
        self.irregularities = [
            report for report in self.irregularities if report.event is not event or report.waits is not None
        ]

    def forget_no_roll(self) -> None:
        """A No Roll, and all that it decided, is in force no longer; what waits for a second person stays."""
        self.irregularities = [
            report
            for report in self.irregularities
            if report.ruling is not Ruling.NO_ROLL or report.waits is not None
        ]

    def live(self) -> list[BetRegistered]:
        """The bets that stand, in the order of registration."""
        return [bet for name, bet in self.bets.items() if name not in self.gone]

    def seats(self) -> list[str]:
        """The seats with standing bets."""
        return list(dict.fromkeys(bet.seat for bet in self.live()))


Load = Callable[[int], Round]
"""A round's number, from 1 → the round as it was last stored."""


class PastRounds(Sequence[Round]):
    """The past rounds of a table; round 1 is at place 0.

    All rounds stay in memory until `put_away` is called, which needs a way to load them again.
    """

    __slots__ = ("_count", "_in_memory", "_load", "_unsaved")

    def __init__(self, count: int = 0, load: Load | None = None) -> None:
        """The first `count` rounds are stored elsewhere, and `load` reads them."""
        if count < 0 or (count and load is None):
            raise ValueError(f"expected `load` for the {count} stored rounds, got None")
        self._count = count
        self._load = load
        self._in_memory: dict[int, Round] = {}
        self._unsaved: set[int] = set()
        """Numbers of the rounds that are new or were corrected since they were stored."""

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Round: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Round]: ...
    def __getitem__(self, place: int | slice) -> Round | Sequence[Round]:
        """One round, which then stays in memory; or a slice, whose rounds are loaded and not kept."""
        if isinstance(place, slice):
            return _Range(self, range(self._count)[place])
        if not -self._count <= place < self._count:
            raise IndexError(f"expected a place among {self._count} rounds, got {place}")
        number = place % self._count + 1
        round_ = self._in_memory.get(number)
        if round_ is None:
            round_ = self._in_memory[number] = self.glance(number)
        return round_

    def __iter__(self) -> Iterator[Round]:
        """Every round, loaded and not kept in memory: a table may have a hundred thousand."""
        return map(self.glance, range(1, self._count + 1))

    def __repr__(self) -> str:
        return f"<PastRounds: {self._count}, {len(self._in_memory)} in memory, {len(self._unsaved)} unsaved>"

    def append(self, round_: Round) -> None:
        """Adds a round that is over."""
        number = self._count + 1
        if round_.number != number:
            raise ValueError(f"expected round {number} after {self._count} rounds, got {round_.number}")
        self._count = number
        self._in_memory[number] = round_
        self._unsaved.add(number)

    def glance(self, number: int) -> Round:
        """A round by its number, for reading only; it is not kept in memory."""
        round_ = self._in_memory.get(number)
        if round_ is not None:
            return round_
        assert self._load is not None  # otherwise all rounds are in memory
        round_ = self._load(number)
        if round_.number != number:
            raise ValueError(f"expected round {number} to be loaded, got {round_.number}")
        return round_

    def to_correct(self, number: int) -> Round:
        """A round by its number that is about to change, and must be stored again."""
        round_ = self[number - 1]
        self._unsaved.add(number)
        return round_

    def unsaved(self) -> dict[int, Round]:
        """Number → round, of all that are new or were corrected since rounds were last stored."""
        return {number: self._in_memory[number] for number in sorted(self._unsaved)}

    def put_away(self, *, keep: int = 0) -> None:
        """Drops the stored rounds from memory, except the latest `keep`, which late retries need."""
        if self._load is None:
            raise ValueError("expected `load` before rounds are put away, got None")
        self._unsaved.clear()
        first = self._count - keep + 1
        self._in_memory = {number: round_ for number, round_ in self._in_memory.items() if number >= first}


class _Range(Sequence[Round]):
    """A slice of the rounds, which are loaded and not kept in memory."""

    __slots__ = ("_places", "_rounds")

    def __init__(self, rounds: PastRounds, places: range) -> None:
        self._rounds = rounds
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Round: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Round]: ...
    def __getitem__(self, place: int | slice) -> Round | Sequence[Round]:
        if isinstance(place, slice):
            return _Range(self._rounds, self._places[place])
        return self._rounds.glance(self._places[place] + 1)

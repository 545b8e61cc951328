"""A table: everything that its stream of events has made of it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from taisai.game.equipment.items import Equipment, Shoe
from taisai.game.messages import Command, Event
from taisai.game.money.ledger import Ledger
from taisai.game.money.packed_sums import Column
from taisai.game.refusals import Refusal
from taisai.game.rounds.round import PastRounds, Round
from taisai.game.snapshot_codec import Derived
from taisai.game.terms.messages import Limits
from taisai.game.terms.terms import InForce, Terms
from taisai.game.vocabulary import Hold, Means, Subject, TransferKind, folded
from taisai.rules.book import Rulebook
from taisai.rules.clauses import Clause
from taisai.rules.irregularities import Irregularities
from taisai.rules.people import People
from taisai.rules.procedure import Procedure
from taisai.rules.vocabulary import Act, Irregularity, Phase

ORDER: Final = Clause("house:order")
DUAL_CONTROL: Final = Clause("house:dual-control")
SHUT: Final = Clause("house:shut")
NO_LIMITS: Final = Limits(least=1, most=1)
"""Of a table that is not open yet."""
MOST_SEATS: Final = 2_000  # terminals that one table reaches in well under a second
MOST_ROUNDS: Final = 10_000_000  # of one table: at a round a minute, nineteen years of days and nights
MOST_TUMBLES: Final = 1_000  # of one activation; more is a typing mistake
MOST_BETS: Final = 1_000_000  # of one round
MOST_IN_BATCH: Final = 500  # of one command; the largest layout has 104 areas
MOST_TEXT: Final = 500  # characters of a reason or detail
MOST_CALLS: Final = 5  # of one seat that are open at once
MOST_REFERRED: Final = 20  # reports of one round that wait for a decision at once: later ones wait with them
MOST_REFERRALS: Final = 1_000  # that are open: each waits for a person, who has decided none of them
MOST_DECIDED: Final = 100  # of the latest decided ones, so that who decides late reads by whom it was done
MOST_CLAIMS: Final = 10_000  # open ones. More follow where they must; only the pit is warned
MOST_WAIVED: Final = 10_000  # claims, which a later correction of their round still has to know
MOST_TERMS: Final = 2_000  # different limits and odds: two a week for twenty years
MOST_TERMINALS: Final = 2 * MOST_SEATS  # whose latest seat is remembered; a round of replacements
MOST_TOLERATED: Final = 100_000  # players whose bet under the minimum was settled; the first are forgotten
MOST_RETIRED: Final = 20_000  # sets of dice and other items that do not come back: two a day for 27 years
MOST_HELD: Final = 20  # reports by one person that wait at once: by then somebody else has to come


class Person(NamedTuple):
    """Someone at the table."""

    rank: str
    position: str
    """The position that the person is assigned to and acts in."""


class Claim(NamedTuple):
    """Money that is owed between a player and the house."""

    id: str
    round: int
    seat: str
    session: int
    amount: int
    of_player: bool
    """Whether it is owed to the player."""


class TableTransfer(NamedTuple):
    """What this stream booked of a transfer between table and House."""

    kind: TransferKind
    amount: int
    """Due from the House where positive, owed to it where negative."""
    subject: str = ""
    """The seat or claim that it concerns."""


class ArchivedTransfers(NamedTuple):
    """What is left in the state of transfers that are over: their number and their sums, of one stream."""

    number: int = 0
    due: int = 0
    owed: int = 0

    def plus(self, amounts: Iterable[int]) -> ArchivedTransfers:
        """With transfers that were booked as due (positive) or owed (negative)."""
        booked = list(amounts)
        due = sum(amount for amount in booked if amount > 0)
        return ArchivedTransfers(self.number + len(booked), self.due + due, self.owed + due - sum(booked))


class Referral(NamedTuple):
    """A question that waits for someone, or has been decided."""

    id: str
    subject: Irregularity | Subject
    round: int | None
    to: str
    clause: Clause
    holds: bool
    seat: str | None
    decided_by: str | None = None
    detail: str = ""
    """What was written down with it."""


class HeldReport(NamedTuple):
    """A report by one person that waits for a second person."""

    id: str
    by: str
    irregularity: Irregularity
    round: int | None
    through: int | None
    seen: bool
    faces: tuple[int, ...]
    item: str | None
    detail: str
    clause: Clause

    @property
    def content(self) -> tuple[object, ...]:
        """What it says."""
        return (
            self.irregularity, self.round, self.through, self.seen, self.faces, self.item, self.detail,
        )  # fmt: skip


class SeedCommitment(NamedTuple):
    """A seed that the demonstration shaker is bound to and has not revealed."""

    round: int
    commitment: str
    """Its SHA-256, in hexadecimal."""
    source: str


class RevealedSeed(NamedTuple):
    """A seed that was revealed, and what it was drawn with."""

    round: int
    seed: str
    shake: int
    close: int
    hash: str
    faces: tuple[int, ...]


class ActiveHold(NamedTuple):
    """Why the round waits, and by which clause."""

    hold: Hold
    clause: Clause


class Purse:
    """The money of a seat in one kind: credits, colour chips, or cash chips that come from the pocket."""

    __slots__ = ("_at_risk", "_credits", "_nets", "_payable", "index", "means", "seat")

    def __init__(
        self, seat: Seat, means: Means, columns: tuple[Column, Column, Column, Column], index: int
    ) -> None:
        """The columns are the table's: with them a settlement reaches all purses at once."""
        self._credits, self._at_risk, self._payable, self._nets = columns
        self.index = index
        """Its place in every column."""
        self.seat = seat
        self.means = means

    @property
    def credits(self) -> int:
        """On the terminal, or in colour chips; nothing for cash chips, which go back to the pocket."""
        return self._credits[self.index]

    @credits.setter  # noqa: A003  the word is the game's
    def credits(self, amount: int) -> None:
        self._credits[self.index] = amount

    @property
    def at_risk(self) -> int:
        """What lies on the layout."""
        return self._at_risk[self.index]

    @property
    def payable(self) -> int:
        """What a settlement brought and is not yet paid."""
        return self._payable[self.index]

    @property
    def net(self) -> int:
        """The result of this session's settled rounds: returned less staked, corrections included."""
        return self._nets[self.index]

    @net.setter
    def net(self, amount: int) -> None:
        self._nets[self.index] = amount


@dataclass(slots=True, eq=False)
class Seat:
    """A place at the table; a terminal has one too."""

    name: str
    player: str = ""
    terminal: str | None = None
    layout: str = ""
    terms: Derived[Terms | None] = None
    purses: Derived[dict[Means, Purse]] = field(default_factory=dict)
    purse: Derived[Purse | None] = None
    """The purse of credits, where the seat is a terminal."""
    taken: bool = False
    session: int = 0
    """How many sessions there have been: what is owed to one player is not another's."""
    since: int = 0
    """When the latest session began, in milliseconds since 1970."""
    dispensed: tuple[str, ...] = ()
    """The latest transfers of this session by which credits went out."""
    colour: str | None = None
    colour_value: int = 0

    @property
    def at_risk(self) -> int:
        """What the player has on the layout."""
        return sum(purse.at_risk for purse in self.purses.values())

    @property
    def net(self) -> int:
        """The result of this session's settled rounds for the player."""
        return sum(purse.net for purse in self.purses.values())

    @property
    def memory_key(self) -> str:
        """Whose under-minimum bets are remembered: the player's by name, else those of this session."""
        return f"player {folded(self.player)}" if self.player else f"seat {self.name}, session {self.session}"

    @property
    def held(self) -> int:
        """Everything of the player's that the seat holds."""
        return sum(purse.credits + purse.at_risk + purse.payable for purse in self.purses.values())


@dataclass(slots=True, eq=False, repr=False)
class Table:
    """One table. Made from a rulebook; its first event opens it."""

    book: Derived[Rulebook]
    rounds: Derived[PastRounds] = field(default_factory=PastRounds)
    """The finished rounds, the first at index 0."""
    ranks: Derived[People] = field(init=False)
    procedure: Derived[Procedure] = field(init=False)
    irregularities: Derived[Irregularities] = field(init=False)
    means: Derived[dict[str, Clause]] = field(init=False)
    """What a bet may be made with → the clause that allows it."""
    name: str = ""
    open: bool = False
    bet_clause: Clause = ORDER
    """The clause under which bets are accepted."""
    settings: dict[str, str] = field(default_factory=dict)
    offers: dict[str, str] = field(default_factory=dict)
    limits: Limits = NO_LIMITS
    layout: str = ""
    terms: Derived[dict[str, Terms]] = field(default_factory=dict)
    digest: str = ""
    """The digest of everything in force."""
    in_force: InForce = field(init=False)
    """Digest → the terms that were in force under it, for finished rounds."""
    currency: str = ""
    day: str = ""
    zone: str = ""
    shift: str = ""
    demonstration: bool = False
    people: dict[str, Person] = field(default_factory=dict)
    equipment: Equipment = field(init=False)
    shoe: Shoe = field(init=False)
    seats: dict[str, Seat] = field(default_factory=dict)
    purses: Derived[list[Purse]] = field(default_factory=list)
    credits: Column = field(default_factory=lambda: array("q"))
    """What each purse has to bet with."""
    at_risk: Column = field(default_factory=lambda: array("q"))
    """What each purse has on the layout."""
    payable: Column = field(default_factory=lambda: array("q"))
    """What a settlement brought to each purse, until it is paid."""
    nets: Column = field(default_factory=lambda: array("q"))
    """The result of the session's settled rounds for each purse: returned less staked."""
    terminals: dict[str, str] = field(default_factory=dict)
    """Terminal → its latest seat."""
    latest: int = 0
    """The latest time of any event: a clock that goes back makes nothing younger."""
    colours: dict[str, str] = field(default_factory=dict)
    """Colour → the seat that plays it."""
    ledger: Ledger = field(default_factory=Ledger)
    round: Round | None = None
    """The current round."""
    holds: dict[Hold, Clause] = field(default_factory=dict)
    """What the round waits for → the clause."""
    claims_made: int = 0
    waived: list[Claim] = field(default_factory=list)
    """Waived claims: if the round is corrected again, the money that was kept counts as received."""
    tolerated: dict[str, int] = field(default_factory=dict)
    """Player → rounds in which a bet under the minimum was settled for them, as long as it is remembered."""
    freed: dict[str, dict[int, int]] = field(default_factory=dict)
    """Player → round no longer tolerated → the latest round opened until then, for which it still counts."""
    shut: str | None = None
    """Why no round opens."""
    shut_by: Clause = SHUT
    """The clause by which it is shut."""
    shut_after: str | None = None
    """Why the table will be shut after the current round."""
    witnessed_by: Clause = DUAL_CONTROL
    """The clause that requires a witness, and then shuts the table."""
    referrals: dict[str, Referral] = field(default_factory=dict)
    """Those that are open, and the latest that were decided."""
    referrals_made: int = 0
    """How many there ever were."""
    reports: dict[str, HeldReport] = field(default_factory=dict)
    """Reports that wait for a second person."""
    reports_held: int = 0
    """How many reports ever waited for a second person."""
    claims: dict[str, Claim] = field(default_factory=dict)
    transfers: dict[str, TableTransfer] = field(default_factory=dict)
    archived: ArchivedTransfers = field(default_factory=ArchivedTransfers)
    commitment: SeedCommitment | None = None
    """The open seed of the demonstration shaker."""
    revealed: RevealedSeed | None = None
    """The seed that was revealed last."""

    def __post_init__(self) -> None:
        book = self.book
        self.ranks, self.procedure, self.irregularities = book.people, book.procedure, book.irregularities
        self.means = {means: item.clause for item in book.equipment for means in item.means}
        self.in_force = InForce(book)
        self.equipment = Equipment({item.id: item for item in book.equipment})
        self.shoe = Shoe(book.chance_rule)

    @property
    def columns(self) -> tuple[Column, Column, Column, Column]:
        """What each purse has, kind by kind."""
        return self.credits, self.at_risk, self.payable, self.nets

    @property
    def current(self) -> Round:
        """The current round, where the events before make sure that there is one."""
        assert self.round is not None
        return self.round

    @property
    def phase(self) -> Phase:
        """The phase of the current round, or between rounds."""
        return self.round.phase if self.round else Phase.BETWEEN

    @property
    def practice(self) -> int:
        """The version of what the program does at this table, by its rulebook."""
        return self.book.practice

    @property
    def held(self) -> ActiveHold | None:
        """Why the round waits, if it does; the first of several reasons."""
        return next((ActiveHold(hold, clause) for hold, clause in self.holds.items()), None)

    def clause_of(self, act: Act) -> Clause:
        """The clause of an act of the book's procedure under the settings in force."""
        for step in self.procedure.steps:
            if step.act is act and (step.when is None or step.when.holds(self.settings)):
                return step.clause
        return ORDER

    def past(self, number: int) -> Round | None:
        """A round that is over."""
        return self.rounds[number - 1] if 0 < number <= len(self.rounds) else None

    def glance(self, number: int) -> Round | None:
        """The same, to be looked at and not kept in memory: a retry may name any round, however old."""
        return self.rounds.glance(number) if 0 < number <= len(self.rounds) else None

    def to_change(self, number: int) -> Round:
        """The current or a finished round by its number: it is about to change."""
        if self.round is not None and self.round.number == number:
            return self.round
        return self.rounds.to_correct(number)

    def in_transit(self) -> dict[str, int]:
        """Transfer → what this stream booked as due (positive) or owed (negative)."""
        return {name: transfer.amount for name, transfer in self.transfers.items()}

    def dealer(self) -> str | None:
        """Who deals."""
        lowest = self.ranks.ladder[0].id
        return next((name for name, person in self.people.items() if person.position == lowest), None)


Deciders = dict[type[Command], Callable[[Table, Any], tuple[Event, ...] | Refusal]]
"""Kind of command → what decides it: events, none where it is a retry, or a refusal with its clause."""
Effects = dict[type[Event], Callable[[Table, Any], None]]
"""Kind of event → how it changes the table."""

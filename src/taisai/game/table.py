"""A table: everything that its stream of events has made of it."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from taisai.game.equipment.items import Equipment
from taisai.game.equipment.shoe import Shoe
from taisai.game.messages import Command, Event
from taisai.game.money.ledger import Ledger
from taisai.game.money.packed_sums import Column
from taisai.game.refusals import Refusal
from taisai.game.rounds.past_rounds import PastRounds
from taisai.game.rounds.round import Round
from taisai.game.seating.seats import Purse, Seat
from taisai.game.terms.messages import Limits
from taisai.game.terms.terms import InForce, Terms
from taisai.game.vocabulary import Hold, Subject, TransferKind
from taisai.rules.book import Rulebook
from taisai.rules.clauses import Clause
from taisai.rules.irregularities import Irregularities
from taisai.rules.people import People
from taisai.rules.procedure import Procedure
from taisai.rules.vocabulary import Act, Irregularity, Phase

MOST_SEATS: Final = 2_000  # terminals that one table reaches in well under a second
MOST_ROUNDS: Final = 100_000  # of one stream: at a round a minute, ten weeks of days and nights
MOST_BETS: Final = 1_000_000  # of one round
MOST_IN_BATCH: Final = 500  # of one command; the largest layout has 104 areas
MOST_TEXT: Final = 500  # characters of a reason or detail
MOST_CALLS: Final = 5  # of one seat that are open at once


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


class Table:
    """One table. Made from a rulebook; its first event opens it."""

    __slots__ = (
        "at_risk", "bet_clause", "book", "claims", "claims_made", "colours", "commitment", "credits",
        "currency", "day", "demonstration", "digest", "equipment", "holds", "in_force", "irregularities",
        "latest", "layout", "ledger", "limits", "means", "name", "nets", "offers", "open", "payable",
        "people", "procedure", "purses", "ranks", "referrals", "revealed", "round", "rounds", "seats",
        "settings", "shift", "shoe", "shut", "shut_after", "terminals", "terms", "tolerated", "transfers",
        "waived", "witnessed_by", "zone",
    )  # fmt: skip

    def __init__(  # noqa: PLR0915  what a table is, in one place
        self, book: Rulebook, rounds: PastRounds | None = None
    ) -> None:
        self.book = book
        self.ranks: People = book.people
        self.procedure: Procedure = book.procedure
        self.irregularities: Irregularities = book.irregularities
        self.means: dict[str, Clause] = {
            means: item.clause for item in book.equipment for means in item.means
        }
        """What a bet may be made with, by which clause."""
        self.name = ""
        self.open = False
        self.bet_clause = Clause("house:order")
        """The clause by which bets are taken."""
        self.settings: dict[str, str] = {}
        self.offers: dict[str, str] = {}
        self.limits = Limits(least=1, most=1)
        self.layout = ""
        self.terms: dict[str, Terms] = {}
        self.digest = ""
        """Of everything in force."""
        self.in_force = InForce(book)
        """Digest → the terms that were in force under it, for rounds that are over."""
        self.currency = self.day = self.zone = self.shift = ""
        self.demonstration = False
        self.people: dict[str, Person] = {}
        self.equipment = Equipment(book.equipment)
        self.shoe = Shoe(book.chance_rule)
        self.seats: dict[str, Seat] = {}
        self.purses: list[Purse] = []
        self.credits: Column = array("q")
        """What each purse has to bet with."""
        self.at_risk: Column = array("q")
        """What each purse has on the layout."""
        self.payable: Column = array("q")
        """What a settlement brought to each purse, until it is paid."""
        self.nets: Column = array("q")
        """What the settled rounds of this session came to for each purse: returned less staked."""
        self.terminals: dict[str, str] = {}
        """Terminal → the seat that it last had."""
        self.latest = 0
        """The latest moment of any event: a clock that goes back makes nothing younger."""
        self.colours: dict[str, str] = {}
        """Colour → the seat that plays it."""
        self.ledger = Ledger()
        self.rounds = PastRounds() if rounds is None else rounds
        """The rounds that are over, the first at place 0."""
        self.round: Round | None = None
        """The round in hand."""
        self.holds: dict[Hold, Clause] = {}
        """What the round waits for, by which clause."""
        self.claims_made = 0
        self.waived: list[Claim] = []
        """Claims that were given up: who kept the money has had it, should the round be corrected again."""
        self.tolerated: dict[str, int] = {}
        """Player → rounds of the day in which a bet of his under the minimum was settled."""
        self.shut: str | None = None
        """Why no round opens."""
        self.shut_after: str | None = None
        """Why the table will be shut when the round in hand is over."""
        self.witnessed_by = Clause("house:dual-control")
        """The clause that asks for a witness, and then shuts the table."""
        self.referrals: dict[str, Referral] = {}
        self.claims: dict[str, Claim] = {}
        self.transfers: dict[str, TableTransfer] = {}
        self.commitment: SeedCommitment | None = None
        """The seed of the demonstration shaker that is open."""
        self.revealed: RevealedSeed | None = None
        """The one that was revealed last."""

    @property
    def columns(self) -> tuple[Column, Column, Column, Column]:
        """What each purse has, kind by kind."""
        return self.credits, self.at_risk, self.payable, self.nets

    @property
    def phase(self) -> Phase:
        """Where the round in hand stands; between rounds where there is none."""
        return self.round.phase if self.round else Phase.BETWEEN

    @property
    def held(self) -> ActiveHold | None:
        """Why the round waits, if it does; the first of several reasons."""
        return next((ActiveHold(hold, clause) for hold, clause in self.holds.items()), None)

    @property
    def live_bets(self) -> bool:
        """Whether bets lie on the layout."""
        return self.round is not None and self.round.staked > 0

    def clause_of(self, act: Act) -> Clause:
        """The clause of an act of the book's procedure under the settings in force."""
        for step in self.procedure.steps:
            if step.act is act and (step.when is None or step.when.holds(self.settings)):
                return step.clause
        return Clause("house:order")

    def past(self, number: int) -> Round | None:
        """A round that is over."""
        return self.rounds[number - 1] if 0 < number <= len(self.rounds) else None

    def glance(self, number: int) -> Round | None:
        """The same, to be looked at and not kept in memory: a retry may name any round, however old."""
        return self.rounds.glance(number) if 0 < number <= len(self.rounds) else None

    def to_change(self, number: int) -> Round:
        """The round in hand or one that is over, by its number: it is about to change."""
        if self.round is not None and self.round.number == number:
            return self.round
        return self.rounds.to_correct(number)

    def in_transit(self) -> dict[str, int]:
        """Transfer → what this stream booked as due (positive) or owed (negative)."""
        return {name: transfer.amount for name, transfer in self.transfers.items()}

    def dealer(self) -> str | None:
        """Who deals."""
        lowest = self.ranks.ladder[0].id
        return next((name for name, one in self.people.items() if one.position == lowest), None)


Deciders = dict[type[Command], Callable[[Table, Any], tuple[Event, ...] | Refusal]]
"""Kind of command → what decides it: events, none where it is a retry, or a refusal with its clause."""
Effects = dict[type[Event], Callable[[Table, Any], None]]
"""Kind of event → how it changes the table."""

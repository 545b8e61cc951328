"""Every command decided again by the stored rulebooks and compared; every draw made again from its seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from msgspec import structs

from taisai.audit.replay import JournalReplay
from taisai.cage.values import clock
from taisai.game.dice.draw import Throw
from taisai.game.dice.seeds import drawn_by
from taisai.game.events import (
    BetsClosed,
    BetsOpened,
    BetsReopened,
    ReadingTaken,
    RecordCorrected,
    RecordedBet,
    RoundConcluded,
    RoundVoided,
    SeedCommitted,
    SeedRevealed,
    TableOpened,
    UnrecordedDeclared,
)
from taisai.game.messages import tag_of
from taisai.game.money.ledger import Account
from taisai.game.refusals import Refusal
from taisai.game.table import Table
from taisai.game.vocabulary import SHAKER
from taisai.journal.codec import HOUSE_STREAM, AnyEvent, Entry, table_of
from taisai.journal.errors import DamagedError
from taisai.journal.streams import Aggregate, HouseStream, TableStream
from taisai.rules.errors import printable

MOST_TOLD: Final = 600  # characters of the text of a correction
MOST_RECORD_CORRECTIONS: Final = 100  # in a report; all are counted


class RulesCheck(JournalReplay):
    """Decides every command again, and evolves the tables by its own decisions."""

    def __init__(self) -> None:
        super().__init__()
        self.events: dict[type[AnyEvent], int] = {}
        """Kind of event → number of entries."""
        self.decisions = 0
        self.clock_went_back = 0
        """Entries with an earlier time than an entry before them in their stream."""
        self.record_corrections: list[str] = []
        """What the first corrections of the record say."""
        self.not_adopted: list[str] = []
        """Tables that were opened for money before the interpretations of their rulebook were adopted."""
        self.draws = DrawCheck()
        self._latest: dict[str, int] = {}
        """Stream → the latest time of its entries."""

    def take(self, entry: Entry) -> None:
        kind, at = type(entry.event), entry.event.at
        self.events[kind] = self.events.get(kind, 0) + 1
        if at < self._latest.get(entry.stream, 0):
            self.clock_went_back += 1
        else:
            self._latest[entry.stream] = at
        if (
            isinstance(entry.event, RecordCorrected)
            and len(self.record_corrections) < MOST_RECORD_CORRECTIONS
        ):
            self.record_corrections.append(_corrected(entry, entry.event))
        if isinstance(entry.event, TableOpened) and self._lacks_adoption(entry.event):
            self.not_adopted.append(printable(entry.event.table))
        self.draws.follow(entry)
        super().take(entry)

    def adoptions(self) -> tuple[str, ...]:
        """Who adopted the interpretations of which edition, as the House recorded it."""
        house = self.aggregate(HOUSE_STREAM)
        adopted = house.house.adopted.values() if isinstance(house, HouseStream) else ()
        return tuple(
            f"{printable(one.rulebook)}, edition {one.edition}: {printable(one.by)}, {clock(one.at)}"
            for one in adopted
        )

    def _lacks_adoption(self, event: TableOpened) -> bool:
        book = self.books.get(event.digest)
        if event.demonstration or book is None or book.adoption is None:
            return False
        house = self.aggregate(HOUSE_STREAM)
        return not isinstance(house, HouseStream) or event.digest not in house.house.adopted

    def decision(self, aggregate: Aggregate, entries: list[Entry]) -> None:
        """Decides the command again; the decision must equal the written entries."""
        first = entries[0]
        self.decisions += 1
        decided = aggregate.decide(first.asked)
        if isinstance(decided, Refusal):
            raise DamagedError(first.position, f"the rules refuse this command: {decided}")
        if decided != tuple([entry.event for entry in entries]):
            raise _difference(entries, decided)
        for event in decided:
            aggregate.evolve(event)
        for entry in entries:
            self.draws.follow(entry)
            self.draws.take(entry)
        last = type(decided[-1])
        if (last is RoundConcluded or last is RoundVoided) and isinstance(aggregate, TableStream):
            check_books(aggregate.table, entries[-1].position)


def check_books(table: Table, position: int) -> None:
    """The ledger balances, and the accounts of the players equal the sums of their purses."""
    balances = table.ledger.balances
    pairs = (
        (table.ledger.difference, 0, "the difference between assets and liabilities"),
        (sum(table.credits), balances[Account.CREDITS], "the players' credits"),
        (sum(table.at_risk), balances[Account.AT_RISK], "the bets on the layout"),
        (sum(table.payable), balances[Account.PAYABLE], "the winnings to be paid"),
    )
    for got, expected, what in pairs:
        if got != expected:
            raise DamagedError(position, f"expected {what} to be {expected}, got {got}")


def _corrected(entry: Entry, event: RecordCorrected) -> str:
    """A correction of the record in one line: where, who, what, why, and what shows it."""
    people = event.by if event.second is None else f"{event.by} with {event.second}"
    now = " and ".join(_told(bet) for bet in (event.after, event.part) if bet is not None) or "nothing"
    text = (
        f"entry {entry.position}, table {table_of(entry.stream)}, round {event.round}: "
        f"{people}, {event.change}: "
        f"{_told(event.before)} → {now}; {event.reason}; {event.evidence}"
    )
    return printable(text, MOST_TOLD)


def _told(bet: RecordedBet | None) -> str:
    return "nothing" if bet is None else f"bet {bet.id} of seat {bet.seat}, {bet.stake} on {bet.area}"


def _difference(entries: list[Entry], decided: tuple[AnyEvent, ...]) -> DamagedError:
    """The first entry that differs from the decision of the rules."""
    for entry, expected in zip(entries, decided, strict=False):
        if entry.event != expected:
            return DamagedError(entry.position, f"expected {_differing(expected, entry.event)}")
    problem = f"expected a decision of {len(decided)} entries, got {len(entries)}"
    return DamagedError(entries[-1].position, problem)


def _differing(expected: Any, got: Any) -> str:
    if type(expected) is not type(got):
        return f"{tag_of(type(expected))} by the rules, got {tag_of(type(got))}"
    fields = [
        f"{name} {printable(repr(getattr(expected, name)))}, got {printable(repr(getattr(got, name)))}"
        for name in structs.asdict(expected)
        if getattr(expected, name) != getattr(got, name)
    ]
    return f"{tag_of(type(expected))} with {'; '.join(fields)}"


# Draws


@dataclass(slots=True)
class _CommittedSeed:
    """A committed seed, and what happened in its round so far."""

    round: int
    is_open: bool = False
    shake: int = 1
    closes: dict[int, tuple[int, str]] = field(default_factory=dict)
    """Shake → position and hash of the entry that closed the bets."""
    drawn: dict[int, ReadingTaken] = field(default_factory=dict)
    """Shake → the reading of the demonstration shaker."""


class DrawCheck:
    """Makes every draw of the demonstration shaker again, from the revealed seed and the close of bets."""

    def __init__(self) -> None:
        self.proven = 0
        self._seeds: dict[str, _CommittedSeed] = {}
        """Stream → its seed that is not revealed yet."""
        self._commitments: set[bytes] = set()
        self._closing: tuple[int, _CommittedSeed] | None = None
        """The position of the latest close and its seed; the next entry carries the hash of the close."""

    def follow(self, entry: Entry) -> None:
        """Learns the hash of a close from the entry after it, of any stream."""
        if self._closing is not None and self._closing[0] == entry.position - 1:
            position, seed = self._closing
            seed.closes[seed.shake] = (position, entry.previous)
            self._closing = None

    def take(self, entry: Entry) -> None:
        """Takes an entry that the rules have confirmed."""
        event, stream = entry.event, entry.stream
        if isinstance(event, SeedCommitted):
            self._commit(event, stream, entry.position)
            return
        seed = self._seeds.get(stream)
        if seed is None:
            return
        if isinstance(event, SeedRevealed):
            self._prove(seed, event, stream, entry.position)
            del self._seeds[stream]
        elif isinstance(event, BetsOpened):
            seed.is_open = event.round == seed.round
        elif seed.is_open and isinstance(event, BetsReopened):
            seed.shake += 1
        elif seed.is_open and isinstance(event, BetsClosed):
            self._closing = (entry.position, seed)
        elif isinstance(event, UnrecordedDeclared) and event.called:
            if seed.is_open and seed.shake not in seed.closes:  # the call was not recorded, and is declared
                self._closing = (entry.position, seed)
        elif isinstance(event, ReadingTaken) and event.by == SHAKER and event.faces:
            seed.drawn[event.shake] = event

    def _commit(self, event: SeedCommitted, stream: str, position: int) -> None:
        commitment = bytes.fromhex(event.commitment)
        if commitment in self._commitments:
            raise DamagedError(position, "the seed was used in an earlier round: each round needs a new seed")
        self._commitments.add(commitment)
        self._seeds[stream] = _CommittedSeed(event.round)

    def _prove(self, seed: _CommittedSeed, event: SeedRevealed, stream: str, position: int) -> None:
        """Checks that the named close is the real one, and that seed and close give every draw."""
        close = seed.closes.get(event.shake)
        if event.faces and close != (event.close, event.hash):
            what = f"the close that round {event.round} was drawn by"
            expected = "none" if close is None else f"entry {close[0]} with the hash {close[1][:16]}…"
            got = f"entry {event.close} with {event.hash[:16]}…"
            raise DamagedError(position, f"expected {what}, {expected}, got {got}")
        for shake, drawn in seed.drawn.items():
            if shake not in seed.closes:
                problem = f"expected the close of bets before shake {shake}, got a draw before it"
                raise DamagedError(position, problem)
            throw = Throw(table_of(stream) or "", seed.round, shake, bytes.fromhex(seed.closes[shake][1]))
            faces = drawn_by(bytes.fromhex(event.seed), throw, drawn.cards)
            if faces != drawn.faces:
                expected, got = (" ".join(map(str, some)) for some in (faces, drawn.faces))
                where = f"in shake {shake} of round {seed.round} by seed and close"
                raise DamagedError(position, f"expected {expected} {where}, got {got}")
            self.proven += 1

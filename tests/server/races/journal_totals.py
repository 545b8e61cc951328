"""What a journal says of bets and money after a race, by its entries and by nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from taisai.audit import verified
from taisai.game.events import BetRegistered, BetsClosed, BetsOpened, BetsReopened, RoundVoided
from taisai.journal import Codec, Engine, Journal, JournalError, open_store
from taisai.journal.codec import AnyEvent
from taisai.server.handlers.transfers import ticket_numbers
from taisai.server.projections.house_views import books_view
from tests.server.races.race_house import KEY, WAITS, journal_in


class Registered(NamedTuple):
    """A bet that the journal has, and where."""

    position: int
    bet: BetRegistered


class Moment(NamedTuple):
    """Where in the journal something is, and when it was asked for."""

    position: int
    at: int


class Reckoning:
    """A journal that nobody writes to any more, gone through once."""

    def __init__(self, folder: Path) -> None:
        self.path = journal_in(folder)
        self.bets: dict[str, Registered] = {}
        self.opened: dict[int, Moment] = {}
        """Round → its opening."""
        self.closed: dict[int, Moment] = {}
        """Round → its close."""
        self.twice: list[str] = []
        """Bets that are there more than once."""
        self.others: list[AnyEvent] = []
        """Whatever is no bet."""
        store = open_store(self.path, wait=WAITS)
        codec, number, is_open = Codec(), 0, False
        self.late: list[str] = []
        """Bets that were registered when none were to be."""
        for row in store.rows():
            entry = codec.decode(row.body, row.position)
            event, position = entry.event, entry.position
            if isinstance(event, BetRegistered):
                if event.id in self.bets:
                    self.twice.append(event.id)
                if not is_open:
                    self.late.append(event.id)
                self.bets[event.id] = Registered(position, event)
                continue
            self.others.append(event)
            if isinstance(event, BetsOpened):
                number, is_open = number + 1, True
                self.opened[number] = Moment(position, event.at)
            elif isinstance(event, BetsReopened):
                is_open = True
            elif isinstance(event, BetsClosed):
                is_open = False
                self.closed[number] = Moment(position, event.at)
            elif isinstance(event, RoundVoided):
                is_open = False
        store.close()

    def wrongs(self) -> Iterator[str]:
        """What no race may leave behind."""
        if self.twice:
            yield f"expected every bet once, got {len(self.twice)} twice, such as {self.twice[0]}"
        if self.late:
            yield f"expected no bet after the close, got {len(self.late)}, such as {self.late[0]}"
        waited = [
            id_
            for id_, (_, bet) in self.bets.items()
            if bet.round in self.closed and bet.at > self.closed[bet.round].at
        ]
        if waited:
            got = f"{len(waited)} bets that came after it, such as {waited[0]}"
            yield f"expected a close that waits for nobody, got {got}"

    def kept(self) -> Iterator[str]:
        """Whether the books balance, nothing is on its way, and an audit comes to the same."""
        try:
            report = verified(self.path, key=KEY.public)
        except JournalError as error:
            yield f"expected a journal that an audit passes, got {error}"
            return
        if report.in_transit:
            yield f"expected nothing on its way, got {report.in_transit_told}"
        yield from self.books()

    def unredeemed(self) -> dict[str, int]:
        """Tickets that the House has still to pay for, by their ids."""
        store = open_store(self.path, wait=WAITS)
        try:
            tickets = Engine(Journal(store)).house().tickets.values()
            return {one.id: one.amount for one in tickets if one.redeemed is None}
        finally:
            store.close()

    def id_of(self, number: str) -> str:
        """The id of a ticket, by its number."""
        store = open_store(self.path, wait=WAITS)
        try:
            return ticket_numbers(Engine(Journal(store)), bytes(32)).id_of(number)
        finally:
            store.close()

    def books(self) -> Iterator[str]:
        """Whether the books balance."""
        store = open_store(self.path, wait=WAITS)
        try:
            engine = Engine(Journal(store))
            books = books_view(engine.house(), {name: engine.table(name) for name in engine.tables()})
            if not books.balanced or books.sum:
                yield f"expected books that balance, got {books.sum}: {books.off}"
        finally:
            store.close()

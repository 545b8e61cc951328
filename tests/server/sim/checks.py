"""What must hold when the evening is over, whatever was drawn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

import msgspec

from taisai.audit.sources import Body, SourcePiece
from taisai.audit.verify import _Audit
from taisai.client import Client, Disconnected
from taisai.game.events import BetRegistered, BetsClosed, BetsOpened, BetsReopened, CreditsBought, RoundVoided
from taisai.journal import Codec, JournalError
from taisai.journal.codec import Entry
from taisai.journal.stores.contract import StoredCheckpoint
from taisai.protocol.commands import tag_of
from taisai.protocol.replies import DoneReply
from taisai.protocol.requests import DoRequest
from taisai.protocol.views import View
from taisai.server.handlers.transfers import ticket_numbers
from taisai.server.projections.house_feeds import HouseFeeds
from taisai.server.projections.house_views import books_view
from taisai.server.projections.seats import seat_view
from tests.server.sim.people import Heard
from tests.server.sim.sim_house import TABLE
from tests.server.sim.world import World

QUIET: Final = 3.0  # virtual seconds until everyone is connected again and has been told everything
_encode: Final = msgspec.json.Encoder().encode


async def wrongs(world: World) -> list[str]:
    """Everything that is wrong when the evening is over, in words."""
    for _ in range(100):
        await asyncio.sleep(QUIET)
        if all(client.is_connected or client.is_over for client in world.clients):
            break
    entries = _entries(world)
    return list(
        chain(
            world.wrong,
            _views(world),
            _gaps(world.clients),
            _answers(world),
            _bets(world, entries),
            _closes(entries),
            _money(world, entries),
            _books(world),
            _audit(world),
        )
    )


def _entries(world: World) -> list[Entry]:
    codec = Codec()
    return [codec.decode(row.body, row.position) for row in world.store.rows()]


async def look(world: World) -> None:
    """Stops everybody in the middle of a round until nothing is on its way, and compares what they see."""
    world.going.clear()
    crashes, found = world.crashes, ["never looked at"]
    for _ in range(4):
        await asyncio.sleep(QUIET / 2)
        found = list(_views(world, connected=True))
        if not found or world.crashes > crashes:  # which cut everybody off
            break
    else:
        world.wrong += found
    world.going.set()


def _views(world: World, *, connected: bool = False) -> Iterator[str]:
    """Each client shows what it would be shown if it came now."""
    if world.casino is None:
        return
    for client in world.clients:
        if client.is_over:
            continue
        if not client.is_connected:
            if not connected:
                yield f"expected {client.who} to be connected again, got none"
            continue
        for feed in client.followed:
            expected, got = _encode(_fresh(world.casino.queue.projections, feed)), _encode(client.view(feed))
            if expected != got:
                yield f"expected {feed} of {client.who} as it is, got {_difference(expected, got)}"


def _fresh(boards: HouseFeeds, feed: str) -> View:
    """What a feed shows, made from nothing but the tables and the House."""
    table = boards._engine.table(TABLE)
    if feed.startswith("seat:"):
        return seat_view(table, feed.partition("/")[2])
    return boards.tables[TABLE].view(table, feed) if ":" in feed else boards._house_view(feed)


def _difference(expected: bytes, got: bytes) -> str:
    right, wrong = msgspec.json.decode(expected), msgspec.json.decode(got)
    parts = [name for name in right if right[name] != wrong.get(name)]
    return "; ".join(f"{name}: {wrong.get(name)} instead of {right[name]}" for name in parts)


def _gaps(clients: Sequence[Client]) -> Iterator[str]:
    for client in clients:
        yield from (f"expected feeds without gaps, got {gap} ({client.who})" for gap in client.gaps)


def _answers(world: World) -> Iterator[str]:
    """Every ask that the server heard was answered, or its connection was cut."""
    for line in world.network.open_lines:
        if line.unanswered:
            yield f"expected an answer to every ask, got none to {line.unanswered}"


def _bets(world: World, entries: Sequence[Entry]) -> Iterator[str]:
    """What was said to be registered is in the journal; what was refused is not."""
    known = {entry.event.id for entry in entries if isinstance(entry.event, BetRegistered)}
    for heard in world.heard:
        if not _is(heard, "place-bets"):
            continue
        ask: Any = heard.ask
        sent = ask.do
        ids = {slip.id for slip in sent.bets}
        if heard.tell is not None and not ids <= known:
            yield f"expected bets that were acknowledged in the journal, got none of {sorted(ids - known)}"
        if heard.is_refused and ids & known:
            says = f"{sorted(ids & known)} in the journal ({heard.error})"
            yield f"expected bets that were refused nowhere, got {says}"


def _money(world: World, entries: Sequence[Entry]) -> Iterator[str]:
    """Every ticket that was told of is one; and what may not be sent twice was not done twice."""
    house = world.engine.house()
    numbers = ticket_numbers(world.engine, bytes(32))
    for heard in world.heard:
        told = heard.tell.ticket if isinstance(heard.tell, DoneReply) else None
        if told and numbers.held(house, told) not in house.tickets:
            yield f"expected the ticket that was told of, got none: {heard.tell}"
    bought = sum(isinstance(entry.event, CreditsBought) for entry in entries)
    asked = [heard for heard in world.heard if _is(heard, "buy-credits")]
    done = sum(heard.tell is not None for heard in asked)
    doubtful = sum(isinstance(heard.error, Disconnected) for heard in asked)
    if not done <= bought <= done + doubtful:
        yield f"expected credits bought {done} to {done + doubtful} times, got {bought}"


def _is(heard: Heard, tag: str) -> bool:
    return isinstance(heard.ask, DoRequest) and tag_of(heard.ask.do) == tag


def _closes(entries: Sequence[Entry]) -> Iterator[str]:
    """No bet comes after the close."""
    is_open = False
    for entry in entries:
        event = entry.event
        if isinstance(event, BetsOpened | BetsReopened):
            is_open = True
        elif isinstance(event, BetsClosed | RoundVoided):
            is_open = False
        elif isinstance(event, BetRegistered) and not is_open:
            yield f"expected no bet after the close, got {event.id} at {entry.position}"


def _books(world: World) -> Iterator[str]:
    """Every ledger balances, and nothing is on its way."""
    engine = world.engine
    books = books_view(engine.house(), {name: engine.table(name) for name in engine.tables()})
    if not books.balanced or books.sum:
        yield f"expected books that balance, got {books.sum}: {books.off}"
    if books.in_transit:
        yield f"expected nothing on its way, got {books.in_transit}"


class _Rows:
    """A store's rows as an audit reads them."""

    def __init__(self, world: World) -> None:
        self.name = f"seed {world.seed}"
        self._store = world.store
        self.total = self.done = 0

    def pieces(self) -> Iterator[SourcePiece]:
        """Entries, with the checkpoints in their places."""
        waiting = list(self._store.checkpoints())
        for row in self._store.rows():
            yield Body(row.body, row)
            while waiting and waiting[0].size == row.position:
                yield StoredCheckpoint(*waiting.pop(0))

    def close(self) -> None:
        """Nothing to let go of."""


def _audit(world: World) -> Iterator[str]:
    """An audit that decides every command again comes to the same."""
    try:
        _Audit(_Rows(world), None, ()).run(None)
    except JournalError as error:
        yield f"expected a journal that an audit passes, got {error}"

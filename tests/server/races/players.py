"""Players at terminals that come back by themselves, and what each of their bets was answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from taisai.client import Disconnected, Pace, Refused, Terminal, at
from taisai.client.connection import Connection
from taisai.protocol.commands import command
from taisai.protocol.views import SeatView, TableView
from tests.server.races.journal_totals import Reckoning
from tests.server.races.race_house import terminal
from tests.server.races.server_processes import Server

PACE: Final = Pace(reply=30.0, welcome=30.0, first=0.02, most=0.3, tries=10_000)
PATIENCE: Final = 30.0
STAKE: Final = 100
WHY_NOT: Final = frozenset({"late", "out-of-order", "wrong-round", "on-hold", "table-shut", "credits-short"})
"""Why a good bet may be refused, whenever it comes."""
AT_ONCE: Final = 50  # terminals that come in side by side


class Player:
    """One of them."""

    def __init__(self, server: Server, seat: int, patience: float = PATIENCE) -> None:
        """`patience`: seconds until what should be seen will not be."""
        self.seat = str(seat)
        self.patience = patience
        self.connections = 0
        """How often he has found a server."""
        self._dial = at(server.url)
        self.terminal = Terminal(self._found, terminal(self.seat), pace=PACE)
        self.registered: set[str] = set()
        """Bets that the server said are registered."""
        self.refused: dict[str, Refused] = {}
        """Bets that it said are not."""
        self.in_doubt: set[str] = set()
        """Bets of which it said nothing."""
        self.tickets: dict[str, int] = {}
        """Tickets in his hands, and what they are worth."""
        self._made = 0
        self._hands = asyncio.Lock()  # with a ticket in them he does nothing else

    async def _found(self) -> Connection:
        connection = await self._dial()
        self.connections += 1
        return connection

    async def bet(self, area: str, *, round_: int | None = None) -> None:
        """One bet, whatever becomes of it."""
        self._made += 1
        id_ = f"{self.seat}-{self._made}"
        number = self.terminal.table.round.number if round_ is None else round_
        slip = {"id": id_, "area": area, "stake": STAKE}
        sent = command("place-bets", seat=self.seat, round=number, bets=[slip])
        try:
            await self.terminal.send(sent, table=self.terminal.table_name)
            self.registered.add(id_)
        except Refused as error:
            self.refused[id_] = error
        except Disconnected:
            self.in_doubt.add(id_)

    async def cash(self) -> None:
        """Puts his ticket into the terminal, or has all credits as one; whatever becomes of it."""
        async with self._hands:
            try:
                if self.tickets:
                    ticket = next(iter(self.tickets))
                    await self.terminal.ticket_in(ticket)
                    del self.tickets[ticket]
                else:
                    told = await self.terminal.ticket_out()
                    assert told.ticket is not None
                    assert told.amount is not None
                    self.tickets[told.ticket] = told.amount
            except Refused:
                pass  # then it is as it was
            except Disconnected as error:
                self.in_doubt.add(f"ticket: {error}")

    async def sees(self, table: Callable[[TableView], bool], seat: Callable[[SeatView], bool]) -> None:
        """Waits until his screens show it."""
        await self.terminal.until(self.terminal.table_feed, table, within=self.patience)
        await self.terminal.until(self.terminal.seat_feed, seat, within=self.patience)

    @property
    def epoch(self) -> str | None:
        """Of the server that his screens are from."""
        table, seat = (self.terminal.position(feed)[0] for feed in self._feeds)
        return table if table == seat else None

    @property
    def _feeds(self) -> tuple[str, str]:
        return self.terminal.table_feed, self.terminal.seat_feed

    async def back(self, before: str | None) -> None:
        """Waits until both his screens are from another server than before."""
        for feed in self._feeds:
            await self.terminal.until(feed, partial(self._is_other, feed, before), within=self.patience)

    def _is_other(self, feed: str, before: str | None, _view: object) -> bool:
        return self.terminal.position(feed)[0] != before


async def seated(server: Server, many: int, patience: float = PATIENCE) -> list[Player]:
    """So many players, all connected."""
    players = [Player(server, seat, patience) for seat in range(many)]
    for start in range(0, many, AT_ONCE):
        await asyncio.gather(*(one.terminal.start() for one in players[start : start + AT_ONCE]))
    return players


async def gone(players: Sequence[Player]) -> None:
    """All of them leave."""
    await asyncio.gather(*(one.terminal.close() for one in players))


def wrongs(players: Sequence[Player], journal: Reckoning) -> Iterator[str]:
    """What is wrong between what players were told and what the journal has, so far."""
    yield from journal.wrongs()
    for one in players:
        if one.terminal.gaps:
            yield f"expected feeds without gaps, got {one.terminal.gaps} (seat {one.seat})"
        if lost := one.registered - journal.bets.keys():
            yield f"expected every registered bet in the journal, got {sorted(lost)} lost"
        if both := one.refused.keys() & journal.bets.keys():
            yield f"expected refused bets nowhere, got {[(id_, one.refused[id_]) for id_ in sorted(both)]}"
        odd = {(error.reason, error.clause) for error in one.refused.values()}
        if not all(reason in WHY_NOT and clause for reason, clause in odd):
            yield f"expected bets to be refused for {sorted(WHY_NOT)}, by a clause, got {odd}"
        if one.in_doubt:
            yield f"expected every bet to be answered in the end, got {sorted(one.in_doubt)} in doubt"

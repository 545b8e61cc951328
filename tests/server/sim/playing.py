"""The players of a simulated table: they bet, take back, bet too late, and come and go with tickets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from taisai.client import ClientError, Disconnected, Refused
from taisai.protocol.views import TableView
from tests.server.sim.people import Player
from tests.server.sim.sim_house import CASHIER, CREDITS, TABLE, crew_of, device, terminal_name
from tests.server.sim.world import PACE, World

AREAS: Final = ("small", "big", "any-triple", "total-9", "total-12", "double-5", "single-3", "odd")
WATCHED: Final = 0.6  # of the evenings with consoles


class Guest:
    """One player at one terminal."""

    def __init__(self, world: World, seat: str) -> None:
        self._world = world
        self.seat = seat
        self._chance = world.drawn(f"player {seat}")
        self.terminal = Player(
            world.network.dial(), device(terminal_name(seat)), pace=PACE,
            entropy=world.drawn(f"terminal {seat}").randbytes,
        )  # fmt: skip
        self.terminal.noted(world.heard, world.clients)

    async def run(self) -> None:
        """Sits down, plays until the evening is over, and sometimes takes his credits along."""
        world, chance, terminal = self._world, self._chance, self.terminal
        await world.comes(terminal)
        while not world.is_over and not terminal.seat.taken:
            await self._try(lambda: terminal.sit_down(f"player {self.seat}"))
            await asyncio.sleep(chance.uniform(0.05, 0.3))
        await self._try(lambda: terminal.buy_credits(CREDITS))
        last = 0
        while not world.is_over:
            await world.going.wait()
            if terminal.seat.withdrawal:
                await self._try(lambda: terminal.choose_withdrawal(withdraw=chance.random() < 0.5))
            if chance.random() < 0.1:
                await self._ticket()
            table = await self._open(last)
            if table is None:
                continue
            last = table.round.number
            for _ in range(chance.randint(0, 4)):
                await asyncio.sleep(chance.uniform(0, 1.5))
                await self._act(last)
        if chance.random() < 0.5:
            await self._ticket_out()

    async def _open(self, last: int) -> TableView | None:
        """The table when its bets are open in another round than the last."""
        terminal = self.terminal

        def is_next(table: TableView) -> bool:
            return self._world.is_over or (table.round.bets_open and table.round.number != last)

        try:
            await terminal.until(terminal.table_feed, is_next, within=1.0)
        except Disconnected:
            return None
        return terminal.table if terminal.table.round.bets_open else None

    async def _act(self, number: int) -> None:
        await self._world.going.wait()
        terminal, kind = self.terminal, self._chance.random()
        if kind < 0.65:  # which is too late, if the table has gone on meanwhile
            areas = self._chance.sample(AREAS[:-1], self._chance.randint(1, 3))
            bets = {area: 100 * self._chance.randint(1, 8) * 2 for area in areas}
            await self._try(lambda: terminal.place(bets, round_=number))
        elif kind < 0.75:
            await self._try(terminal.undo)
        elif kind < 0.80:
            await self._try(terminal.clear)
        elif kind < 0.87:
            await self._try(terminal.double)
        elif kind < 0.94:
            await self._try(terminal.repeat)
        else:
            standing = [bet.id for bet in terminal.seat.bets]
            if standing:
                await self._try(lambda: terminal.take_back(self._chance.choice(standing)))

    async def _ticket(self) -> None:
        """A ticket goes in, or one comes out and goes in again."""
        if not self._world.tickets or self._chance.random() < 0.4:
            await self._ticket_out()
        if self._world.tickets:
            ticket = self._world.tickets.pop(0)
            done = await self._try(lambda: self.terminal.ticket_in(ticket))
            if isinstance(done, Disconnected):
                self._world.tickets.append(ticket)

    async def _ticket_out(self) -> None:
        done = await self._try(self.terminal.ticket_out)
        if not isinstance(done, ClientError) and done.ticket is not None:
            self._world.tickets.append(done.ticket)

    async def _try(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """What it comes to, or the refusal or the cut that it ended with."""
        try:
            return await work()
        except (Refused, Disconnected) as error:
            self._world.note(f"seat {self.seat}: {error}")
            return error


async def watch(world: World) -> None:
    """Someone follows everything there is, now and then; he signs in again where his session is over."""
    if not world.with_consoles or world.drawn("watch").random() > WATCHED:
        return
    feeds = [
        "pit",
        "lobby",
        "cage",
        f"table:{TABLE}",
        f"console:{TABLE}",
        f"seat:{TABLE}/1",
        f"seat:{TABLE}/2",
    ]
    watcher = None
    while not world.is_over:
        if watcher is None or watcher.is_over:
            watcher = await world.watcher(
                crew_of(world.book).head, feeds[: 2 if "us-" in world.book else None]
            )
        await asyncio.sleep(0.5)


async def cage(world: World) -> None:
    """The cage sells tickets and pays others, over connections of its own."""
    chance = world.drawn("cage")
    while not world.is_over:
        await asyncio.sleep(chance.uniform(2, 6))
        await world.going.wait()
        cashier = await world.cashier(CASHIER)
        if cashier is None:
            continue
        try:
            if chance.random() < 0.6:
                sold = await cashier.sell_ticket(100 * chance.randint(1, 100))
                if sold.ticket is not None:
                    world.tickets.append(sold.ticket)
            elif world.tickets:
                await cashier.redeem(world.tickets.pop(0))
        except (Refused, Disconnected) as error:
            world.note(f"cage: {error}")
        finally:
            await cashier.close()

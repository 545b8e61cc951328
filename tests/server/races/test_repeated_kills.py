"""Kill after kill, at moments that a seed draws, while people bet and the Dealer deals: nothing is lost."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from random import Random
from typing import Final

import pytest
import uvloop
from msgspec.structs import replace

from tests.server.races.journal_totals import Reckoning
from tests.server.races.players import Player, gone, seated, wrongs
from tests.server.races.race_house import CARDS, MBS, RWS, US, furnish
from tests.server.races.server_process import Order, Wish
from tests.server.races.server_processes import Server, Servers
from tests.tiers import count

pytestmark = pytest.mark.part(name="kills")

KILLS = count(2, 20)
"""At a table of each of the four rulebooks."""
PLAYERS = 30
MOST_STEPS = 12
AREAS: Final = ("small", "big", "any-triple", "total-9", "total-12")  # on every layout


class Evening:
    """One table and its players, over as many servers as are killed."""

    def __init__(self, processes: Servers, folder: Path, book: str, seed: int, sabotage: str | None) -> None:
        self.wrongs: list[str] = []
        self._processes = processes
        self._folder = folder
        self._order = Order(folder=str(folder / "floor"), book=book, sabotage=sabotage)
        self._random = Random(f"{book} {seed}")
        self._players: list[Player] = []
        self._bets: list[asyncio.Future[None]] = []

    async def play(self, kills: int) -> None:
        """So many servers are killed; the last one stops as it should."""
        folder = self._folder / "floor"
        folder.mkdir(exist_ok=True)
        furnish(folder, self._order.book, PLAYERS)
        server = await self._processes.open(self._order)
        self._order = replace(self._order, port=server.port)
        self._players = await seated(server, PLAYERS)
        for number in range(kills):
            before = self._players[0].epoch
            await self._round(server)
            await self._kill(server)
            self._look(number)
            server = await self._opened()
            await asyncio.gather(*(one.back(before) for one in self._players))
        await asyncio.gather(*self._bets)
        await gone(self._players)
        await server.stop()
        self.wrongs += [*wrongs(self._players, journal := Reckoning(folder)), *journal.kept()]
        held = {
            journal.id_of(ticket): amount for one in self._players for ticket, amount in one.tickets.items()
        }
        if journal.unredeemed() != held:
            self.wrongs.append(f"expected the tickets in players' hands, {held}, got {journal.unredeemed()}")

    async def _round(self, server: Server) -> None:
        """Some steps of whatever the table is at, with bets between them."""
        for _ in range(self._random.randint(1, MOST_STEPS)):
            phase = (await server.wish(Wish(step=True))).phase
            for _ in range(4 if phase.startswith("open") else 1):
                self._some_bet()
            if self._random.random() < 0.5:
                await asyncio.wait(self._bets[-PLAYERS:])
        is_to_open = self._random.random() < 0.6
        for _ in range(MOST_STEPS * is_to_open):  # most bets are lost, if any are, while they may be made
            if (await server.wish(Wish(step=True))).phase.startswith("open"):
                break

    def _some_bet(self) -> None:
        """And some cash their credits, or put their tickets in."""
        for player in self._random.sample(self._players, self._random.randint(1, PLAYERS)):
            is_cashing = self._random.random() < 0.1
            work = player.cash() if is_cashing else player.bet(self._random.choice(AREAS))
            self._bets.append(asyncio.ensure_future(work))

    async def _kill(self, server: Server) -> None:
        """In the middle of bets, perhaps of a step too, perhaps before any of it is answered."""
        self._some_bet()
        step = asyncio.ensure_future(server.wish(Wish(step=True))) if self._random.random() < 0.5 else None
        if self._random.random() < 0.7:
            await asyncio.wait(self._bets[-3:], return_when=asyncio.FIRST_COMPLETED)
        server.kill()
        if step is not None:
            await asyncio.wait((step,))
            step.exception()

    async def _opened(self) -> Server:
        """The next server; now and then one is killed while it opens."""
        while self._random.random() < 0.3:
            opening = self._processes.forked(self._order)
            # How far it comes in this time is the machine's to say: any moment will do.
            await asyncio.sleep(self._random.uniform(0, 0.4))
            opening.kill()
        return await self._processes.open(self._order)

    def _look(self, number: int) -> None:
        """At a copy of what the killed server has left, before anyone opens it."""
        left = self._folder / f"left {number}"
        shutil.copytree(self._folder / "floor", left)
        journal = Reckoning(left)
        self.wrongs += [
            f"kill {number}: {one}" for one in (*wrongs(self._players, journal), *journal.books())
        ]
        shutil.rmtree(left)


def evening(
    processes: Servers, folder: Path, book: str, kills: int, sabotage: str | None = None
) -> list[str]:
    """Everything that is wrong after an evening of kills."""
    one = Evening(processes, folder, book, 1, sabotage)
    uvloop.run(one.play(kills))
    return one.wrongs


@pytest.mark.parametrize("book", [RWS, MBS, CARDS, US])
def test_kill_after_kill_loses_nothing(processes: Servers, tmp_path: Path, book: str) -> None:
    assert evening(processes, tmp_path, book, KILLS) == []


def test_sabotage_an_acknowledgement_before_the_append_is_found(processes: Servers, tmp_path: Path) -> None:
    found = evening(processes, tmp_path, RWS, 3, "early")
    assert any("expected every registered bet in the journal" in one for one in found), found

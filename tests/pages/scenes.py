"""Scenes: an evening that has been played for a while, so that pages have something to show."""

from __future__ import annotations

from typing import Final

from taisai.client import Terminal
from tests.pages.dealing import OPEN, Crew
from tests.pages.server_process import DEMONSTRATION, House

ROUNDS: Final = 6
"""Played at every table before anyone looks."""
BETS: Final = ({"small": 10_00, "total-9": 5_00}, {"big": 25_00, "any-triple": 5_00}, {"total-12": 10_00})
"""What each of three players bets, round after round: areas that every layout has."""


class Evening:
    """Four tables with players, bets that stand and rounds that are over."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.crews: dict[str, Crew] = {}
        self._players: list[Terminal] = []

    async def begin(self) -> None:
        """Plays some rounds at every table, and opens the next with bets on it."""
        for one in DEMONSTRATION:
            crew = self.crews[one.name] = await Crew(self.house, one.name).__aenter__()
            players = [await self.house.player(one.name, buys=1_000_00) for _ in BETS]
            self._players += players
            for _ in range(ROUNDS):
                await self._bets(crew, players)
                await crew.to("between")
            await self._bets(crew, players)

    async def _bets(self, crew: Crew, players: list[Terminal]) -> None:
        await crew.to(OPEN)
        number = crew.dealer.table.round.number
        for player, bets in zip(players, BETS, strict=True):
            await player.until(player.table_feed, lambda table: table.round.bets_open, within=5)
            await player.place(bets, round_=number)

    async def end(self) -> None:
        """Everyone goes home."""
        for player in self._players:
            await player.close()
        for crew in self.crews.values():
            await crew.__aexit__(None, None, None)

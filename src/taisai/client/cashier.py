"""The cage: tickets, fills, drops, claims and the books."""

from __future__ import annotations

from taisai.client.client import Client
from taisai.protocol import requests
from taisai.protocol.message import Tell
from taisai.protocol.replies import TellBooks, TellDone, TellReport
from taisai.protocol.views import BooksView, CageView, ReportView


class Cashier(Client):
    """A person at the cage."""

    feed = "cage"

    async def _begin(self) -> None:
        await self.follow(self.feed)

    @property
    def cage(self) -> CageView:
        """The cage as it is now."""
        return self.showing(self.feed, CageView)

    async def sell_ticket(self, amount: int) -> TellDone:
        """A ticket for cash; its number is told."""
        return await self.told(requests.AskSellTicket(id=self.fresh_id(), amount=amount), TellDone)

    async def redeem(self, ticket: str) -> Tell:
        """Cash for a ticket."""
        return await self.do("redeem-ticket", ticket=ticket)

    async def bring_in(
        self, amount: int, *, movement: str | None = None, approval: str | None = None
    ) -> Tell:
        """The owners bring money into the cage."""
        return await self.do("bring-in", id=movement or self.fresh_id(), amount=amount, approval=approval)

    async def take_out(
        self, amount: int, *, movement: str | None = None, approval: str | None = None
    ) -> Tell:
        """The owners take money out of the cage."""
        return await self.do("take-out", id=movement or self.fresh_id(), amount=amount, approval=approval)

    async def fill(self, table: str, amount: int, *, approval: str | None = None) -> TellDone:
        """Chips from the cage into a table's tray."""
        ask = requests.AskFill(id=self.fresh_id(), table=table, amount=amount, approval=approval)
        return await self.told(ask, TellDone)

    async def count_drop(
        self, table: str, transfer: str, counted: int, *, approval: str | None = None
    ) -> TellDone:
        """What was found in a drop box that left a table."""
        ask = requests.AskCountDrop(
            id=self.fresh_id(), table=table, transfer=transfer, counted=counted, approval=approval
        )
        return await self.told(ask, TellDone)

    async def settle_claim(self, table: str, claim: str, *, approval: str | None = None) -> TellDone:
        """Pays a player's claim, or collects the house's."""
        ask = requests.AskSettleClaim(id=self.fresh_id(), table=table, claim=claim, approval=approval)
        return await self.told(ask, TellDone)

    async def books(self) -> BooksView:
        """Every account, and whether they balance."""
        return (await self.told(requests.AskBooks(id=self.fresh_id()), TellBooks)).books

    async def report(self, day: str | None = None) -> ReportView:
        """Drop, win and hold of a gaming day."""
        return (await self.told(requests.AskReport(id=self.fresh_id(), day=day), TellReport)).report

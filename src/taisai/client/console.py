"""Clients for staff: the Game Console of a table, and the cage."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence

from taisai.client.client import Client
from taisai.client.connection import ClientError, Dial, Pace, Who
from taisai.protocol import requests
from taisai.protocol.commands import command
from taisai.protocol.message import Tell
from taisai.protocol.replies import TellBooks, TellDone, TellPreview, TellReport, TellRounds
from taisai.protocol.views import (
    BooksView,
    CageView,
    ConsoleView,
    Offer,
    PreviewView,
    ReportView,
    RoundView,
    TableView,
)

Faces = Sequence[int]


class Console(Client):
    """Staff at one table: what may be done now is in its offers, what was done in its views."""

    def __init__(
        self,
        dial: Dial,
        who: Who,
        *,
        table: str,
        pace: Pace | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        entropy: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        super().__init__(dial, who, pace=pace, sleep=sleep, entropy=entropy)
        self.table_name = table

    async def _begin(self) -> None:
        await self.follow(self.table_feed)
        await self.follow(self.console_feed)

    @property
    def table_feed(self) -> str:
        """The feed of the table, for everyone."""
        return f"table:{self.table_name}"

    @property
    def console_feed(self) -> str:
        """The feed of the table, for its staff."""
        return f"console:{self.table_name}"

    @property
    def table(self) -> TableView:
        """The table as everyone sees it now."""
        return self.showing(self.table_feed, TableView)

    @property
    def console(self) -> ConsoleView:
        """The table as its staff see it now."""
        return self.showing(self.console_feed, ConsoleView)

    @property
    def offers(self) -> tuple[Offer, ...]:
        """What may be done now, by whom, and by which clause."""
        return self.console.acts

    @property
    def next_offer(self) -> Offer | None:
        """The next step of the round, if there is one."""
        return next((offer for offer in self.offers if offer.main), None)

    async def take_position(self, position: str) -> TellDone:
        """Comes to the table in a position that one's rank lets one fill."""
        ask = requests.AskTakePosition(id=self.fresh_id(), table=self.table_name, position=position)
        return await self.told(ask, TellDone)

    async def perform(self, act: str, *, approval: str | None = None, **fields: object) -> Tell:
        """An act of the round: `perform("tumble", tumbles=3)`."""
        return await self.at_table("perform", approval=approval, act=act, **fields)

    async def preview(self, faces: Faces) -> PreviewView:
        """What a result would do, before it is committed."""
        first, second, third = faces
        ask = requests.AskPreview(id=self.fresh_id(), table=self.table_name, faces=(first, second, third))
        return (await self.told(ask, TellPreview)).preview

    async def enter(
        self,
        faces: Faces,
        *,
        agreed: Callable[[PreviewView], bool] = lambda _preview: True,
        approval: str | None = None,
    ) -> PreviewView:
        """Enters a result, if whoever looks at what it would do agrees."""
        preview = await self.preview(faces)
        if not agreed(preview):
            raise ClientError(f"expected a result that is agreed to, got {' '.join(map(str, faces))}")
        await self.perform("enter-result", faces=tuple(faces), approval=approval)
        return preview

    async def report(self, irregularity: str, *, approval: str | None = None, **fields: object) -> Tell:
        """Something went wrong: the table's rules order what follows."""
        return await self.at_table("report", approval=approval, event=irregularity, **fields)

    async def take(self, offer: Offer, *, approval: str | None = None, **filled: object) -> Tell:
        """Does what was offered, with the blanks filled in."""
        sent = command(offer.command, **{**offer.preset, **filled})
        return await self.send(sent, table=self.table_name, approval=approval)

    async def at_table(self, tag: str, /, *, approval: str | None = None, **fields: object) -> Tell:
        """Any command at this table."""
        return await self.send(command(tag, **fields), table=self.table_name, approval=approval)

    async def rounds(
        self, number: int | None = None, *, seat: str | None = None, most: int = 10
    ) -> tuple[RoundView, ...]:
        """The last rounds, or one, with everybody's bets or a seat's."""
        ask = requests.AskRounds(
            id=self.fresh_id(), table=self.table_name, seat=seat, round=number, most=most
        )
        return (await self.told(ask, TellRounds)).rounds


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

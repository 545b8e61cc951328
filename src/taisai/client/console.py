"""Clients for staff: the Game Console of a table, and the cage."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence

from taisai.client.client import Client
from taisai.client.connection import ClientError, Dial, Pace, Who
from taisai.protocol import requests
from taisai.protocol.commands import command
from taisai.protocol.message import ServerMessage
from taisai.protocol.replies import BooksReply, DoneReply, PreviewReply, ReportReply, RoundsReply
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

    async def take_position(self, position: str) -> DoneReply:
        """Comes to the table in a position that one's rank lets one fill."""
        ask = requests.TakePositionRequest(id=self.fresh_id(), table=self.table_name, position=position)
        return await self.told(ask, DoneReply)

    async def perform(self, act: str, *, approval: str | None = None, **fields: object) -> ServerMessage:
        """An act of the round: `perform("tumble", tumbles=3)`."""
        return await self.at_table("perform", approval=approval, act=act, **fields)

    async def preview(self, faces: Faces) -> PreviewView:
        """What a result would do, before it is committed."""
        first, second, third = faces
        ask = requests.PreviewRequest(id=self.fresh_id(), table=self.table_name, faces=(first, second, third))
        return (await self.told(ask, PreviewReply)).preview

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

    async def report(
        self, irregularity: str, *, approval: str | None = None, **fields: object
    ) -> ServerMessage:
        """Something went wrong: the table's rules order what follows."""
        return await self.at_table("report", approval=approval, event=irregularity, **fields)

    async def take(self, offer: Offer, *, approval: str | None = None, **filled: object) -> ServerMessage:
        """Does what was offered, with the blanks filled in."""
        sent = command(offer.command, **{**offer.preset, **filled})
        return await self.send(sent, table=self.table_name, approval=approval)

    async def at_table(self, tag: str, /, *, approval: str | None = None, **fields: object) -> ServerMessage:
        """Any command at this table."""
        return await self.send(command(tag, **fields), table=self.table_name, approval=approval)

    async def rounds(
        self, number: int | None = None, *, seat: str | None = None, most: int = 10
    ) -> tuple[RoundView, ...]:
        """The last rounds, or one, with everybody's bets or a seat's."""
        ask = requests.RoundsRequest(
            id=self.fresh_id(), table=self.table_name, seat=seat, round=number, most=most
        )
        return (await self.told(ask, RoundsReply)).rounds


class Cashier(Client):
    """A person at the cage."""

    feed = "cage"

    async def _begin(self) -> None:
        await self.follow(self.feed)

    @property
    def cage(self) -> CageView:
        """The cage as it is now."""
        return self.showing(self.feed, CageView)

    async def sell_ticket(self, amount: int) -> DoneReply:
        """A ticket for cash; its number is told."""
        return await self.told(requests.SellTicketRequest(id=self.fresh_id(), amount=amount), DoneReply)

    async def redeem(self, ticket: str) -> ServerMessage:
        """Cash for a ticket."""
        return await self.do("redeem-ticket", ticket=ticket)

    async def bring_in(
        self, amount: int, *, movement: str | None = None, approval: str | None = None
    ) -> ServerMessage:
        """The owners bring money into the cage."""
        return await self.do("bring-in", id=movement or self.fresh_id(), amount=amount, approval=approval)

    async def take_out(
        self, amount: int, *, movement: str | None = None, approval: str | None = None
    ) -> ServerMessage:
        """The owners take money out of the cage."""
        return await self.do("take-out", id=movement or self.fresh_id(), amount=amount, approval=approval)

    async def fill(self, table: str, amount: int, *, approval: str | None = None) -> DoneReply:
        """Chips from the cage into a table's tray."""
        ask = requests.FillRequest(id=self.fresh_id(), table=table, amount=amount, approval=approval)
        return await self.told(ask, DoneReply)

    async def count_drop(
        self, table: str, transfer: str, counted: int, *, approval: str | None = None
    ) -> DoneReply:
        """What was found in a drop box that left a table."""
        ask = requests.CountDropRequest(
            id=self.fresh_id(), table=table, transfer=transfer, counted=counted, approval=approval
        )
        return await self.told(ask, DoneReply)

    async def settle_claim(self, table: str, claim: str, *, approval: str | None = None) -> DoneReply:
        """Pays a player's claim, or collects the house's."""
        ask = requests.SettleClaimRequest(id=self.fresh_id(), table=table, claim=claim, approval=approval)
        return await self.told(ask, DoneReply)

    async def books(self) -> BooksView:
        """Every account, and whether they balance."""
        return (await self.told(requests.BooksRequest(id=self.fresh_id()), BooksReply)).books

    async def report(self, day: str | None = None) -> ReportView:
        """Drop, win and hold of a gaming day."""
        return (await self.told(requests.ReportRequest(id=self.fresh_id(), day=day), ReportReply)).report

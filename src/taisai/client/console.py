"""The Game Console: a person at a table."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence

from taisai.client.client import Client
from taisai.client.connection import Dial
from taisai.client.errors import ClientError
from taisai.client.pace import Pace
from taisai.client.who import Who
from taisai.protocol import requests
from taisai.protocol.commands import command
from taisai.protocol.message import Tell
from taisai.protocol.replies import TellDone, TellPreview, TellRounds
from taisai.protocol.views import ConsoleView, Offer, PreviewView, RoundView, TableView

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

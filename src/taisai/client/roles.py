"""Clients by role: Player Terminal, display, Game Console and cage."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence

from taisai.client.client import Client, T
from taisai.client.connection import ClientError, Dial, Pace, Who
from taisai.protocol import replies, requests, views
from taisai.protocol.commands import command
from taisai.protocol.message import Request, ServerMessage


class Display(Client):
    """A display at a table. It follows the table's feed."""

    async def _begin(self) -> None:
        await self.follow(self.table_feed)

    @property
    def table_name(self) -> str:
        """The device's own table."""
        name = self.welcome.table if self.welcome is not None else None
        if name is None:
            raise ClientError("this device has no table")
        return name

    @property
    def table_feed(self) -> str:
        return f"table:{self.table_name}"

    @property
    def table(self) -> views.TableView:
        return self.view_as(self.table_feed, views.TableView)

    async def bets_open(self, *, within: float | None = None) -> int:
        """Waits until bets are open; returns the number of the round."""
        await self.until(self.table_feed, lambda table: table.round.bets_open, within=within)
        return self.table.round.number

    async def felt(self, layout: str | None = None) -> views.FeltView:
        """A layout: areas, odds, limits, drawing."""
        return (
            await self.query(requests.FeltRequest, replies.FeltReply, table=self.table_name, layout=layout)
        ).felt


class Terminal(Display):
    """A Player Terminal at a seat. It follows the feeds of its table and its seat."""

    async def _begin(self) -> None:
        await super()._begin()
        await self.follow(self.seat_feed)

    @property
    def seat_name(self) -> str:
        """The terminal's own seat."""
        name = self.welcome.seat if self.welcome is not None else None
        if name is None:
            raise ClientError("this terminal has no seat")
        return name

    @property
    def seat_feed(self) -> str:
        return f"seat:{self.table_name}/{self.seat_name}"

    @property
    def seat(self) -> views.SeatView:
        return self.view_as(self.seat_feed, views.SeatView)

    # The player

    async def sit_down(self, player: str = "", *, layout: str | None = None) -> None:
        """Begins a player's session."""
        terminal = self.welcome.name if self.welcome is not None else None
        await self._do("take-seat", player=player, terminal=terminal, layout=layout)

    async def leave(self) -> None:
        """Ends the session. The seat must have no credits left."""
        await self._do("leave-seat")

    async def show_layout(self, layout: str) -> None:
        """Shows another layout. The seat must have no bets in the round."""
        await self._do("show-layout", layout=layout)

    # Money

    async def buy_credits(self, amount: int) -> None:
        await self._do("buy-credits", amount=amount)

    async def ticket_in(self, ticket: str) -> replies.DoneReply:
        """Redeems a ticket for credits."""
        return await self._own(requests.TicketInRequest, replies.DoneReply, ticket=ticket)

    async def ticket_out(self) -> replies.DoneReply:
        """Issues a ticket for all credits; the reply has its number and amount."""
        return await self._own(requests.TicketOutRequest, replies.DoneReply)

    async def tickets(self) -> tuple[replies.TicketLine, ...]:
        """The tickets issued to this player and not redeemed yet, latest first."""
        return (await self._own(requests.TicketsRequest, replies.TicketsReply)).tickets

    # Bets

    async def place(self, bets: Mapping[str, int], *, round_: int | None = None) -> tuple[str, ...]:
        """Places bets (area → stake), all or none; returns their ids once they are registered."""
        slips = [{"id": self.fresh_id(), "area": area, "stake": stake} for area, stake in bets.items()]
        number = self.table.round.number if round_ is None else round_
        await self._do("place-bets", round=number, bets=slips)
        return tuple(str(slip["id"]) for slip in slips)

    async def take_back(self, *ids: str) -> None:
        """Takes bets back, all of them or none."""
        await self._do("take-back", round=self.table.round.number, ids=ids)

    async def undo(self) -> ServerMessage:
        """Takes back the bets that were placed last."""
        return await self._own(requests.UndoRequest, ServerMessage)

    async def clear(self) -> ServerMessage:
        """Takes back every bet of the round."""
        return await self._own(requests.ClearRequest, ServerMessage)

    async def double(self) -> ServerMessage:
        """Places every bet of the round once more."""
        return await self._own(requests.DoubleRequest, ServerMessage)

    async def repeat(self) -> ServerMessage:
        """Places the bets of the seat's last round again."""
        return await self._own(requests.RepeatRequest, ServerMessage)

    async def choose_withdrawal(self, *, withdraw: bool) -> None:
        """Withdraws all bets or none, while players have that option."""
        await self._do("choose-withdrawal", withdraw=withdraw)

    # Favourites, rounds, help

    async def keep_favourite(self, name: str, bets: Mapping[str, int]) -> None:
        """Saves a set of bets under a name; an empty set deletes the name."""
        stakes = tuple(requests.PlacedStake(area, stake) for area, stake in bets.items())
        await self._own(requests.KeepFavouriteRequest, ServerMessage, name=name, bets=stakes)

    async def favourites(self) -> tuple[replies.Favourite, ...]:
        return (await self._own(requests.FavouritesRequest, replies.FavouritesReply)).favourites

    async def rounds(self, number: int | None = None, *, most: int = 10) -> tuple[views.RoundView, ...]:
        """The last rounds, or one, with the seat's own bets."""
        return (await self._own(requests.RoundsRequest, replies.RoundsReply, round=number, most=most)).rounds

    async def call_attendant(self, detail: str = "", *, subject: str = "call") -> None:
        await self._do("call-attendant", subject=subject, detail=detail)

    async def dispute(self, round_: int, detail: str) -> None:
        await self._do("call-attendant", subject="dispute", round=round_, detail=detail)

    async def _own(self, kind: type[Request], reply: type[T], **fields: object) -> T:
        """Sends a request for the terminal's own seat."""
        return await self.query(kind, reply, table=self.table_name, seat=self.seat_name, **fields)

    async def _do(self, tag: str, **fields: object) -> ServerMessage:
        return await self.send(command(tag, seat=self.seat_name, **fields), table=self.table_name)


class Console(Display):
    """The Game Console of a table. `offers` has what may be done now, the views have the state."""

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
        self._table_name = table

    async def _begin(self) -> None:
        await super()._begin()
        await self.follow(self.console_feed)

    @property
    def table_name(self) -> str:
        return self._table_name

    @property
    def console_feed(self) -> str:
        return f"console:{self.table_name}"

    @property
    def console(self) -> views.ConsoleView:
        """The table as its staff see it."""
        return self.view_as(self.console_feed, views.ConsoleView)

    @property
    def offers(self) -> tuple[views.Offer, ...]:
        """The commands that are possible now, with positions and clauses."""
        return self.console.offers

    @property
    def next_offer(self) -> views.Offer | None:
        """The next step of the round; None if there is none."""
        return next((offer for offer in self.offers if offer.main), None)

    async def take_position(self, position: str) -> replies.DoneReply:
        """Takes a position at the table that the person's rank allows."""
        return await self.query(
            requests.TakePositionRequest, replies.DoneReply, table=self.table_name, position=position
        )

    async def perform(self, act: str, *, approval: str | None = None, **fields: object) -> ServerMessage:
        """Performs an act of the round: `perform("tumble", tumbles=3)`."""
        return await self.at_table("perform", approval=approval, act=act, **fields)

    async def preview(self, faces: Sequence[int]) -> views.PreviewView:
        """What a result would light and pay, before it is entered."""
        fields = {"table": self.table_name, "faces": tuple(faces)}
        return (await self.query(requests.PreviewRequest, replies.PreviewReply, **fields)).preview

    async def enter(
        self,
        faces: Sequence[int],
        *,
        agreed: Callable[[views.PreviewView], bool] = lambda _preview: True,
        approval: str | None = None,
    ) -> views.PreviewView:
        """Enters a result if `agreed` accepts its preview."""
        preview = await self.preview(faces)
        if not agreed(preview):
            raise ClientError(f"the preview of {' '.join(map(str, faces))} was not accepted")
        await self.perform("enter-result", faces=tuple(faces), approval=approval)
        return preview

    async def report(
        self, irregularity: str, *, approval: str | None = None, **fields: object
    ) -> ServerMessage:
        """Reports an irregularity. The rulebook decides what follows."""
        return await self.at_table("report", approval=approval, event=irregularity, **fields)

    async def take(
        self, offer: views.Offer, *, approval: str | None = None, **filled: object
    ) -> ServerMessage:
        """Sends an offered command with its blanks filled in."""
        sent = command(offer.command, **{**offer.preset, **filled})
        return await self.send(sent, table=self.table_name, approval=approval)

    async def at_table(self, tag: str, /, *, approval: str | None = None, **fields: object) -> ServerMessage:
        """Sends any command to this table."""
        return await self.send(command(tag, **fields), table=self.table_name, approval=approval)

    async def rounds(
        self, number: int | None = None, *, seat: str | None = None, most: int = 10
    ) -> tuple[views.RoundView, ...]:
        """The last rounds, or one, with the bets of all seats or of one."""
        fields = {"table": self.table_name, "seat": seat, "round": number, "most": most}
        return (await self.query(requests.RoundsRequest, replies.RoundsReply, **fields)).rounds


class Cashier(Client):
    """The cage. It follows the cage's feed."""

    feed = "cage"

    async def _begin(self) -> None:
        await self.follow(self.feed)

    @property
    def cage(self) -> views.CageView:
        return self.view_as(self.feed, views.CageView)

    async def sell_ticket(self, amount: int, *, approval: str | None = None) -> replies.DoneReply:
        """Sells a ticket for cash; the reply has its number."""
        fields = {"amount": amount, "approval": approval}
        return await self.query(requests.SellTicketRequest, replies.DoneReply, **fields)

    async def redeem(self, ticket: str, *, approval: str | None = None) -> ServerMessage:
        """Pays a ticket in cash."""
        return await self.do("redeem-ticket", ticket=ticket, approval=approval)

    async def bring_in(
        self, amount: int, *, movement: str | None = None, approval: str | None = None
    ) -> ServerMessage:
        """Records money that the owners bring into the cage."""
        return await self.do("bring-in", id=movement or self.fresh_id(), amount=amount, approval=approval)

    async def take_out(
        self, amount: int, *, movement: str | None = None, approval: str | None = None
    ) -> ServerMessage:
        """Records money that the owners take out of the cage."""
        return await self.do("take-out", id=movement or self.fresh_id(), amount=amount, approval=approval)

    async def fill(self, table: str, amount: int, *, approval: str | None = None) -> replies.DoneReply:
        """Sends chips from the cage to a table's tray."""
        return await self.query(
            requests.FillRequest, replies.DoneReply, table=table, amount=amount, approval=approval
        )

    async def count_drop(
        self, table: str, transfer: str, counted: int, *, approval: str | None = None
    ) -> replies.DoneReply:
        """Records what was counted in a table's drop box."""
        fields = {"table": table, "transfer": transfer, "counted": counted, "approval": approval}
        return await self.query(requests.CountDropRequest, replies.DoneReply, **fields)

    async def settle_claim(self, table: str, claim: str, *, approval: str | None = None) -> replies.DoneReply:
        """Pays a player's claim, or collects the house's."""
        fields = {"table": table, "claim": claim, "approval": approval}
        return await self.query(requests.SettleClaimRequest, replies.DoneReply, **fields)

    async def books(self) -> views.BooksView:
        """Every account, and whether the books balance."""
        return (await self.query(requests.BooksRequest, replies.BooksReply)).books

    async def report(self, day: str | None = None) -> views.ReportView:
        """Drop, win and hold of a gaming day."""
        return (await self.query(requests.ReportRequest, replies.ReportReply, day=day)).report

"""A Player Terminal, and the display."""

from __future__ import annotations

from collections.abc import Mapping

from taisai.client.client import Client
from taisai.client.connection import ClientError
from taisai.protocol import requests
from taisai.protocol.commands import command
from taisai.protocol.message import ServerMessage
from taisai.protocol.replies import (
    DoneReply,
    Favourite,
    FavouritesReply,
    FeltReply,
    RoundsReply,
    TicketLine,
    TicketsReply,
)
from taisai.protocol.views import FeltView, RoundView, SeatView, TableView


class AtTable(Client):
    """A device with a table of its own, whose feed it follows from the start."""

    async def _begin(self) -> None:
        await self.follow(self.table_feed)

    @property
    def table_name(self) -> str:
        """Its own table."""
        name = self.welcome.table if self.welcome is not None else None
        if name is None:
            raise ClientError("expected a device with a table of its own, got another")
        return name

    @property
    def table_feed(self) -> str:
        """The feed of its table."""
        return f"table:{self.table_name}"

    @property
    def table(self) -> TableView:
        """Its table as it is now."""
        return self.showing(self.table_feed, TableView)

    async def bets_open(self, *, within: float | None = None) -> int:
        """The number of the round in hand, as soon as its bets are open."""
        await self.until(self.table_feed, lambda table: table.round.bets_open, within=within)
        return self.table.round.number

    async def felt(self, layout: str | None = None) -> FeltView:
        """A layout: areas, odds, limits, drawing."""
        ask = requests.FeltRequest(id=self.fresh_id(), table=self.table_name, layout=layout)
        return (await self.told(ask, FeltReply)).felt


class Display(AtTable):
    """The room's display: it shows, and nothing else."""


class Terminal(AtTable):
    """A Player Terminal with a seat of its own."""

    async def _begin(self) -> None:
        await super()._begin()
        await self.follow(self.seat_feed)

    @property
    def seat_name(self) -> str:
        """Its own seat."""
        name = self.welcome.seat if self.welcome is not None else None
        if name is None:
            raise ClientError("expected a terminal with a seat of its own, got another")
        return name

    @property
    def seat_feed(self) -> str:
        """The feed of its seat."""
        return f"seat:{self.table_name}/{self.seat_name}"

    @property
    def seat(self) -> SeatView:
        """Its seat as it is now."""
        return self.showing(self.seat_feed, SeatView)

    # The player

    async def sit_down(self, player: str = "", *, layout: str | None = None) -> None:
        """A player's session begins."""
        terminal = self.welcome.name if self.welcome is not None else None
        await self._do("take-seat", player=player, terminal=terminal, layout=layout)

    async def leave(self) -> None:
        """The session ends, with nothing left on the seat."""
        await self._do("leave-seat")

    async def show_layout(self, layout: str) -> None:
        """Shows another layout, under no live bets."""
        await self._do("show-layout", layout=layout)

    # Money

    async def buy_credits(self, amount: int) -> None:
        """Credits for cash."""
        await self._do("buy-credits", amount=amount)

    async def ticket_in(self, ticket: str) -> DoneReply:
        """A ticket becomes credits."""
        ask = requests.TicketInRequest(
            id=self.fresh_id(), table=self.table_name, seat=self.seat_name, ticket=ticket
        )
        return await self.told(ask, DoneReply)

    async def ticket_out(self) -> DoneReply:
        """All credits become a ticket, whose number and amount are told."""
        ask = requests.TicketOutRequest(id=self.fresh_id(), table=self.table_name, seat=self.seat_name)
        return await self.told(ask, DoneReply)

    async def tickets(self) -> tuple[TicketLine, ...]:
        """Those that came out since the player sat down and that nobody has redeemed, the latest first."""
        ask = requests.TicketsRequest(id=self.fresh_id(), table=self.table_name, seat=self.seat_name)
        return (await self.told(ask, TicketsReply)).tickets

    # Bets

    async def place(self, bets: Mapping[str, int], *, round_: int | None = None) -> tuple[str, ...]:
        """Bets, area → stake, all or none: their ids, once they are registered."""
        slips = [{"id": self.fresh_id(), "area": area, "stake": stake} for area, stake in bets.items()]
        number = self.table.round.number if round_ is None else round_
        await self._do("place-bets", round=number, bets=slips)
        return tuple(str(slip["id"]) for slip in slips)

    async def take_back(self, *ids: str) -> None:
        """Bets go back, all of these or none."""
        await self._do("take-back", round=self.table.round.number, ids=ids)

    async def undo(self) -> ServerMessage:
        """Takes back the bets that came last."""
        return await self.ask(
            requests.UndoRequest(id=self.fresh_id(), table=self.table_name, seat=self.seat_name)
        )

    async def clear(self) -> ServerMessage:
        """Takes back every bet of the round."""
        return await self.ask(
            requests.ClearRequest(id=self.fresh_id(), table=self.table_name, seat=self.seat_name)
        )

    async def double(self) -> ServerMessage:
        """Places every bet of the round once more."""
        return await self.ask(
            requests.DoubleRequest(id=self.fresh_id(), table=self.table_name, seat=self.seat_name)
        )

    async def repeat(self) -> ServerMessage:
        """Places the bets of the seat's last round again."""
        return await self.ask(
            requests.RepeatRequest(id=self.fresh_id(), table=self.table_name, seat=self.seat_name)
        )

    async def choose_withdrawal(self, *, withdraw: bool) -> None:
        """Withdraws all bets or none, while there is the option."""
        await self._do("choose-withdrawal", withdraw=withdraw)

    # Favourites, rounds, help

    async def keep_favourite(self, name: str, bets: Mapping[str, int]) -> None:
        """Keeps a set of bets under a name; an empty set is forgotten."""
        laid = tuple(requests.PlacedStake(area, stake) for area, stake in bets.items())
        ask = requests.KeepFavouriteRequest(
            id=self.fresh_id(), table=self.table_name, seat=self.seat_name, name=name, bets=laid
        )
        await self.ask(ask)

    async def favourites(self) -> tuple[Favourite, ...]:
        """The sets of bets that were kept."""
        ask = requests.FavouritesRequest(id=self.fresh_id(), table=self.table_name, seat=self.seat_name)
        return (await self.told(ask, FavouritesReply)).favourites

    async def rounds(self, number: int | None = None, *, most: int = 10) -> tuple[RoundView, ...]:
        """The last rounds, or one, with the seat's own bets."""
        ask = requests.RoundsRequest(
            id=self.fresh_id(), table=self.table_name, seat=self.seat_name, round=number, most=most
        )
        return (await self.told(ask, RoundsReply)).rounds

    async def call_attendant(self, detail: str = "", *, subject: str = "call") -> None:
        """Someone comes."""
        await self._do("call-attendant", subject=subject, detail=detail)

    async def dispute(self, round_: int, detail: str) -> None:
        """The player objects to a round."""
        await self._do("call-attendant", subject="dispute", round=round_, detail=detail)

    async def _do(self, tag: str, **fields: object) -> ServerMessage:
        return await self.send(command(tag, seat=self.seat_name, **fields), table=self.table_name)

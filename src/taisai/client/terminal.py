"""A Player Terminal, and the display."""

from __future__ import annotations

from collections.abc import Mapping

from taisai.client.client import Client
from taisai.client.connection import ClientError
from taisai.protocol import requests
from taisai.protocol.commands import command
from taisai.protocol.message import Tell
from taisai.protocol.replies import (
    Favourite,
    TellDone,
    TellFavourites,
    TellFelt,
    TellRounds,
    TellTickets,
    TicketLine,
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
        ask = requests.AskFelt(id=self.fresh_id(), table=self.table_name, layout=layout)
        return (await self.told(ask, TellFelt)).felt


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

    async def ticket_in(self, ticket: str) -> TellDone:
        """A ticket becomes credits."""
        ask = requests.AskTicketIn(
            id=self.fresh_id(), table=self.table_name, seat=self.seat_name, ticket=ticket
        )
        return await self.told(ask, TellDone)

    async def ticket_out(self) -> TellDone:
        """All credits become a ticket, whose number and amount are told."""
        ask = requests.AskTicketOut(id=self.fresh_id(), table=self.table_name, seat=self.seat_name)
        return await self.told(ask, TellDone)

    async def tickets(self) -> tuple[TicketLine, ...]:
        """Those that came out since the player sat down and that nobody has redeemed, the latest first."""
        ask = requests.AskTickets(id=self.fresh_id(), table=self.table_name, seat=self.seat_name)
        return (await self.told(ask, TellTickets)).tickets

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

    async def undo(self) -> Tell:
        """Takes back the bets that came last."""
        return await self.ask(
            requests.AskUndo(id=self.fresh_id(), table=self.table_name, seat=self.seat_name)
        )

    async def clear(self) -> Tell:
        """Takes back every bet of the round."""
        return await self.ask(
            requests.AskClear(id=self.fresh_id(), table=self.table_name, seat=self.seat_name)
        )

    async def double(self) -> Tell:
        """Places every bet of the round once more."""
        return await self.ask(
            requests.AskDouble(id=self.fresh_id(), table=self.table_name, seat=self.seat_name)
        )

    async def repeat(self) -> Tell:
        """Places the bets of the seat's last round again."""
        return await self.ask(
            requests.AskRepeat(id=self.fresh_id(), table=self.table_name, seat=self.seat_name)
        )

    async def choose_withdrawal(self, *, withdraw: bool) -> None:
        """Withdraws all bets or none, while there is the option."""
        await self._do("choose-withdrawal", withdraw=withdraw)

    # Favourites, rounds, help

    async def keep_favourite(self, name: str, bets: Mapping[str, int]) -> None:
        """Keeps a set of bets under a name; an empty set is forgotten."""
        laid = tuple(requests.Laid(area, stake) for area, stake in bets.items())
        ask = requests.AskKeepFavourite(
            id=self.fresh_id(), table=self.table_name, seat=self.seat_name, name=name, bets=laid
        )
        await self.ask(ask)

    async def favourites(self) -> tuple[Favourite, ...]:
        """The sets of bets that were kept."""
        ask = requests.AskFavourites(id=self.fresh_id(), table=self.table_name, seat=self.seat_name)
        return (await self.told(ask, TellFavourites)).favourites

    async def rounds(self, number: int | None = None, *, most: int = 10) -> tuple[RoundView, ...]:
        """The last rounds, or one, with the seat's own bets."""
        ask = requests.AskRounds(
            id=self.fresh_id(), table=self.table_name, seat=self.seat_name, round=number, most=most
        )
        return (await self.told(ask, TellRounds)).rounds

    async def call_attendant(self, detail: str = "", *, subject: str = "call") -> None:
        """Someone comes."""
        await self._do("call-attendant", subject=subject, detail=detail)

    async def dispute(self, round_: int, detail: str) -> None:
        """The player objects to a round."""
        await self._do("call-attendant", subject="dispute", round=round_, detail=detail)

    async def _do(self, tag: str, **fields: object) -> Tell:
        return await self.send(command(tag, seat=self.seat_name, **fields), table=self.table_name)

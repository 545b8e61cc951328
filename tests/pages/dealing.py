"""Dealing without a page: a dealer and the head of a table, who take a round to where a test wants it."""

from __future__ import annotations

from functools import partial
from itertools import count
from operator import is_not
from types import TracebackType
from typing import Final, Self

import msgspec

from taisai.client import Console, Staff
from taisai.demo.staff import filled, needs_second
from taisai.protocol.commands import command
from taisai.protocol.requests import DoRequest
from taisai.protocol.views import Offer
from taisai.rules.procedure import CLOCK
from tests.pages.server_process import HEADS, House, kind_of

WITHIN: Final = 10.0  # seconds for what a step changes to be seen
MOST_STEPS: Final = 60
"""From any phase to any other, with everything that makes a table ready in between."""
BETWEEN: Final = "between"
OPEN: Final = "open"
_BY_ANOTHER: Final = frozenset({"confirm-report", "contest-report"})
"""What is not for the person who reported."""
Faces = tuple[int, int, int]
_LEAST_FIRST: Final = ("stands", "continue", "void", "void-rounds", "shut")
"""What the head decides, the first that may be: as little as possible."""


class Crew:
    """People at a table who do what the console offers: `async with Crew(house, table) as crew:`."""

    def __init__(self, house: House, table: str) -> None:
        self.house = house
        self.table = table
        self.head_rank = HEADS[kind_of(table)]
        self.faces: Faces | None = None if house.tables[table].shaker else (1, 2, 3)
        """What they key in; None where they key what the shaker shows."""
        self._serials = count(1)

    async def __aenter__(self) -> Self:
        self.dealer = await self.house.staff("dealer", self.table)
        self.head = await self.house.staff(self.head_rank, self.table)
        self._others: dict[str, Console] = {}
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for console in self._all:
            await console.close()

    @property
    def _all(self) -> tuple[Console, ...]:
        return (self.dealer, self.head, *self._others.values())

    @property
    def phase(self) -> str:
        """Where the round stands, as the dealer sees it."""
        return self.dealer.table.round.phase

    def due(self, command: str, **preset: str) -> bool:
        """Whether the next step is this one."""
        offer = self._next
        return offer is not None and offer.command == command and preset.items() <= offer.preset.items()

    async def to(self, phase: str) -> None:
        """Goes on, step by step, until the round is in a phase, with nothing that holds it."""
        for _ in range(MOST_STEPS):
            if self.phase == phase and self.dealer.table.stoppage.hold is None and self._next is not None:
                return
            await self.step()
        raise AssertionError(
            f"expected {self.table} to come to {phase}, got {self.phase} after {MOST_STEPS} steps"
        )

    async def ready(self) -> None:
        """Everything is done that has to be before bets can open."""
        await self.to(BETWEEN)
        while self._next is not None and self._next.preset.get("act") != "open-bets":
            await self.step()

    async def round(self) -> int:
        """One whole round; its number."""
        await self.to(OPEN)
        number = self.dealer.table.round.number
        await self.to(BETWEEN)
        return number

    async def step(self) -> None:
        """The one next step, by whoever may do it."""
        offer = self._next
        if offer is None:
            raise AssertionError(f"expected {self.table} to have a next step in {self.phase}, got none")
        if offer.by == (CLOCK,):
            seen = self.seen
            await self.house.time_is_up(self.table)
            await self.sees(seen)
        else:
            await self.take(await self._who(offer), offer)

    async def _who(self, offer: Offer) -> Console:
        """Who does what is offered: the dealer where they may, else the head, else the rank that must."""
        if offer.command in _BY_ANOTHER:
            return self.head
        if "dealer" in offer.by or self.head_rank in offer.by:
            return self.dealer if "dealer" in offer.by else self.head
        rank = offer.by[0]
        if rank not in self._others:
            self._others[rank] = await self.house.staff(rank, self.table)
            await self.catches_up()
        return self._others[rank]

    async def take(self, console: Console, offer: Offer) -> None:
        """Does what is offered, with everything filled in, and waits until both see it."""
        if self.faces is None and offer.preset.get("act") == "open-bets":
            await self._committed(console)
        seen = self.seen
        fields = await self._fields(console, offer)
        sent = command(offer.command, **{**offer.preset, **fields})
        approval = None
        if needs_second(offer):
            ask = DoRequest(id="agreed", do=sent, table=self.table)
            assert isinstance(console.who, Staff)
            approval = await self.house.agreed(ask, console.who.token)
        await console.send(sent, table=self.table, approval=approval)
        await self.sees(seen)

    @property
    def seen(self) -> list[tuple[Console, object]]:
        """What both see now."""
        return [(one, one.console) for one in self._all]

    async def sees(self, seen: list[tuple[Console, object]]) -> None:
        """Waits until both see something else than before."""
        for console, before in seen:
            await console.until(console.console_feed, partial(is_not, before), within=WITHIN)

    async def catches_up(self) -> None:
        """Both see whatever was done before: an answer comes after what came before it."""
        for console in self._all:
            await console.felt()  # comes in turn like the rounds, for which nobody may ask so often

    @property
    def _next(self) -> Offer | None:
        decisions = [one for one in self.head.offers if one.command == "decide-referral"]
        for treatment in _LEAST_FIRST:
            for one in decisions:
                if one.preset["treatment"] == treatment:
                    return one
        return self.dealer.next_offer

    async def _fields(self, console: Console, offer: Offer) -> dict[str, object]:
        asked = [one.field for one in offer.blanks if (one.field, one.kind) == ("faces", "faces")]
        faces = dict.fromkeys(asked, await self._shown(console)) if asked else {}
        blank = tuple(one for one in offer.blanks if one.field not in faces)
        rest = msgspec.structs.replace(offer, blanks=blank)
        found = await filled(console, rest, serial=f"{self.table}-{next(self._serials)}")
        if found is None:
            raise AssertionError(f"expected {offer.command} to be filled in, got blanks {offer.blanks}")
        return {**found, **faces}

    async def _committed(self, console: Console) -> None:
        """The shaker draws for rounds to which it was committed before their bets opened, and no others."""
        number = console.table.round.number + 1
        await console.until(console.table_feed, lambda view: view.draw.round == number, within=WITHIN)

    async def _shown(self, console: Console) -> Faces:
        """What the dice show: whatever was arranged, or what the shaker read, which takes it a moment."""
        if self.faces is not None:
            return self.faces
        await console.until(console.console_feed, lambda view: view.reading is not None, within=WITHIN)
        assert console.console.reading is not None
        assert console.console.reading.faces is not None
        return console.console.reading.faces

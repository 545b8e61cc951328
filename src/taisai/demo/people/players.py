"""Virtual players: each at a terminal of his own, with a temper of his own, and back after every cut."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random
from typing import Final

import structlog

from taisai.client import ClientError, Device, Dial, Pace, Refused, Terminal
from taisai.demo.people.pauses import Waits
from taisai.demo.people.temperaments import Sight, Stakes, Temperament
from taisai.protocol.views import FeltView

BUYS: Final = 500_00  # minor units of play money at a time
SHARE: Final = 10  # a player who has less than a tenth of that buys again
_CALLS: Final = ("Could I have some water?", "How do I bet on a pair?", "Where is the lobby, please?")
_log = structlog.get_logger(__name__)


class Turnstile:
    """Lets so many bets a second through, of all players together; whoever comes too soon does not bet."""

    def __init__(self, a_second: float, now: Callable[[], int]) -> None:
        self._a_second = a_second
        self._now = now
        self._left = a_second
        self._at = now()

    def takes(self, bets: int) -> bool:
        """Whether so many may go through now."""
        now = self._now()
        self._left = min(2 * self._a_second, self._left + (now - self._at) / 1000 * self._a_second)
        self._at = now
        if self._left < bets:
            return False
        self._left -= bets
        return True


class Player:
    """A virtual player."""

    def __init__(
        self,
        dial: Dial,
        device: Device,
        name: str,
        temperament: Temperament,
        *,
        turnstile: Turnstile,
        waits: Waits,
        random: Random,
        now: Callable[[], int],
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._dial = dial
        self._device = device
        self._name = name
        self._temper = temperament
        self._turnstile = turnstile
        self._waits = waits
        self._random = random
        self._now = now
        self._sleep = sleep
        self._before: Stakes = {}
        self._ticket: str | None = None

    async def run(self) -> None:
        """Plays until somebody ends it."""
        while True:
            try:
                async with Terminal(self._dial, self._device, pace=Pace(tries=3)) as terminal:
                    await self._evening(terminal)
            except ClientError as error:
                _log.info("a virtual player comes back", player=self._name, why=str(error))
            await self._sleep(self._waits.about(self._waits.again, self._random))

    async def _evening(self, terminal: Terminal) -> None:
        felt: FeltView | None = None
        number = 0
        while True:
            is_next = _next_round(number)
            await terminal.until(terminal.table_feed, is_next)
            number = terminal.table.round.number
            try:
                if not terminal.seat.taken:
                    await terminal.sit_down(self._name)
                    await self._seated(terminal)
                    felt = None
                if felt is None or felt.layout != terminal.seat.layout:
                    felt = await terminal.felt(terminal.seat.layout or None)
                await self._credit(terminal)
                await self._round(terminal, felt, number)
                await self._afterwards(terminal, number)
            except Refused as error:  # late, out of money, shut: a player shrugs
                _log.debug("a virtual player was refused", player=self._name, why=str(error))
                await self._sleep(self._waits.step)

    async def _seated(self, terminal: Terminal) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._waits.again):
                await terminal.until(terminal.seat_feed, lambda seat: seat.taken)

    async def _credit(self, terminal: Terminal) -> None:
        """Puts his ticket in, or buys credits when he runs low."""
        if self._ticket is not None:
            ticket, self._ticket = self._ticket, None
            await terminal.ticket_in(ticket)
        elif terminal.seat.credits < BUYS // SHARE:
            await terminal.buy_credits(BUYS)

    async def _round(self, terminal: Terminal, felt: FeltView, number: int) -> None:
        temper, random = self._temper, self._random
        if random.random() > temper.plays:
            return
        await self._sleep(self._until_turn(terminal))
        if (terminal.table.round.number, terminal.table.round.bets_open) != (number, True):
            return
        stakes = self._stakes(terminal, felt)
        if not stakes or not self._turnstile.takes(len(stakes)):
            return
        if self._before and random.random() < temper.repeats:
            await terminal.repeat()
        else:
            await terminal.place(stakes, round_=number)
            self._before = stakes
        if random.random() < temper.undoes:
            await self._sleep(self._waits.about(self._waits.step, random))
            await terminal.undo()
        elif random.random() < temper.doubles and self._turnstile.takes(len(stakes)):
            await terminal.double()

    def _until_turn(self, terminal: Terminal) -> float:
        """Seconds until he lays his chips: somewhere about his own moment of the time that is left."""
        closes_at = terminal.table.countdown.closes_at
        if closes_at is None:
            return self._waits.about(self._waits.step, self._random)
        left = max(0.0, (closes_at - self._now()) / 1000)
        return left * min(0.97, max(0.02, self._random.gauss(self._temper.late, 0.15)))

    def _stakes(self, terminal: Terminal, felt: FeltView) -> Stakes:
        """What he lays, as far as his credits go."""
        seat = terminal.seat
        sight = Sight(felt, seat.credits, seat.last, self._before, self._random)
        left, found = seat.credits, Stakes()
        for area, stake in self._temper.bets(sight).items():
            if stake <= left:
                found[area] = stake
                left -= stake
        return found

    async def _afterwards(self, terminal: Terminal, number: int) -> None:
        """Calls someone, or takes a ticket once his round is over, and leaves his seat for a while."""
        temper, random = self._temper, self._random
        if random.random() < temper.calls:
            await terminal.call_attendant(random.choice(_CALLS))
        if random.random() >= temper.cashes:
            return
        is_over = _is_over(number)
        await terminal.until(terminal.table_feed, is_over)
        if terminal.seat.credits and not terminal.seat.at_risk:
            self._ticket = (await terminal.ticket_out()).ticket
            await terminal.leave()
            await self._sleep(self._waits.about(self._waits.patience, random))


def _next_round(after: int) -> Callable[[object], bool]:
    def holds(table: object) -> bool:
        round_ = table.round  # type: ignore[attr-defined]
        return bool(round_.bets_open and round_.number != after)

    return holds


def _is_over(number: int) -> Callable[[object], bool]:
    def holds(table: object) -> bool:
        round_ = table.round  # type: ignore[attr-defined]
        return bool(round_.number > number or round_.phase == "between")

    return holds

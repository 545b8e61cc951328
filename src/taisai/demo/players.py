"""Virtual players: how and when they bet."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from random import Random
from typing import Final, NamedTuple

import structlog

from taisai.client import ClientError, Device, Dial, Pace, Refused, Terminal
from taisai.protocol.views import FeltArea, FeltView, LastRound, TableView


class Waits(NamedTuple):
    """Waiting times, in seconds."""

    window: float
    """How long bets are open."""
    lead: float
    """How long before the end a dealer gets ready to close bets."""
    step: float
    """From one act of a round to the next."""
    look: float
    """Between rounds."""
    patience: float
    """Before a supervisor acts."""
    again: float
    """After a refusal or a lost connection."""

    def about(self, seconds: float, random: Random) -> float:
        """A random time near the given one."""
        return seconds * random.uniform(0.7, 1.3)


LIVELY: Final = Waits(window=20.0, lead=2.5, step=1.3, look=5.0, patience=8.0, again=2.0)
FAST: Final = Waits(window=0.9, lead=0.3, step=0.03, look=0.2, patience=0.3, again=0.2)
"""For tests: a round takes about two seconds."""


Stakes = dict[str, int]
"""Area → stake."""


class PlayerSight(NamedTuple):
    """What a player knows when they choose bets."""

    felt: FeltView
    credits: int
    last: LastRound | None
    before: Stakes
    """Their bets in the round before."""
    random: Random

    def areas(self, *families: str) -> list[FeltArea]:
        """The areas of these families; all areas if the layout has none of them."""
        areas = [area for area in self.felt.areas if area.family in families]
        return areas or list(self.felt.areas)

    def some_area(self, *families: str) -> FeltArea:
        return self.random.choice(self.areas(*families))


def stake_on(area: FeltArea, wanted: int) -> int:
    """The greatest allowed stake on the area that is not above the wanted one; at least the minimum."""
    step = max(1, area.step)
    least = -(-area.least // step) * step
    return max(least, min(wanted, area.most) // step * step)


def _steady(sight: PlayerSight) -> Stakes:
    """The minimum on an even chance."""
    area = sight.some_area("even-money")
    return {area.id: stake_on(area, area.least)}


def _doubling(sight: PlayerSight) -> Stakes:
    """Twice the stake after a loss, up to the maximum; a small stake after a win."""
    lost = sight.last is not None and sight.last.returned < sight.last.staked
    if lost and len(sight.before) == 1:
        name, stake = next(iter(sight.before.items()))
        area = next((area for area in sight.felt.areas if area.id == name), None)
        if area is not None and 2 * stake <= area.most:
            return {name: stake_on(area, 2 * stake)}
    area = sight.some_area("even-money")
    return {area.id: stake_on(area, 2 * area.least)}


def _triples(sight: PlayerSight) -> Stakes:
    """Small stakes on triples."""
    chosen = [sight.some_area("triple", "any-triple") for _ in range(2)]
    return {area.id: stake_on(area, 2 * area.least) for area in chosen}


def _scattered(sight: PlayerSight) -> Stakes:
    """Small stakes on five random areas."""
    areas = sight.random.sample(list(sight.felt.areas), k=min(5, len(sight.felt.areas)))
    return {area.id: stake_on(area, area.least * sight.random.choice((1, 1, 2))) for area in areas}


def _totals(sight: PlayerSight) -> Stakes:
    """The minimum on three totals."""
    areas = sight.areas("total")
    chosen = sight.random.sample(areas, k=min(3, len(areas)))
    return {area.id: stake_on(area, area.least) for area in chosen}


def _numbers(sight: PlayerSight) -> Stakes:
    """The minimum on areas with one number."""
    lucky = sight.random.randint(1, 6)
    areas = [area for area in sight.areas("single", "double", "pair", "total") if lucky in area.numbers]
    chosen = sight.random.sample(areas or list(sight.felt.areas), k=min(3, len(areas) or 1))
    return {area.id: stake_on(area, area.least) for area in chosen}


def _high(sight: PlayerSight) -> Stakes:
    """A high stake on an even chance, and another on a double or total."""
    main, side = sight.some_area("even-money"), sight.some_area("double", "total")
    return {main.id: stake_on(main, main.most // 10), side.id: stake_on(side, side.most // 10)}


class Temperament(NamedTuple):
    name: str
    bets: Callable[[PlayerSight], Stakes]
    late: float
    """When they bet in the time for bets: 0 at once, 1 at the last moment."""
    plays: float = 0.9
    """The chance of betting in a round."""
    undoes: float = 0.0
    repeats: float = 0.0
    """The chance of repeating the bets of the round before."""
    doubles: float = 0.0
    calls: float = 0.0
    """The chance of calling an attendant."""
    cashes: float = 0.0
    """The chance of taking a ticket after a round, and coming back with it later."""


STEADY: Final = Temperament("small and steady", _steady, late=0.3, plays=0.98, repeats=0.4, cashes=0.01)
DOUBLING: Final = Temperament("doubles after a loss", _doubling, late=0.4, cashes=0.01)
DREAMER: Final = Temperament("dreams of triples", _triples, late=0.5, repeats=0.5)
LAST_SECOND: Final = Temperament("at the last second", _totals, late=0.93, plays=0.85, undoes=0.1)
TOURIST: Final = Temperament(
    "a tourist", _scattered, late=0.5, plays=0.7, undoes=0.25, calls=0.06, cashes=0.03
)
LUCKY: Final = Temperament("has a lucky number", _numbers, late=0.35, repeats=0.3, doubles=0.1)
HIGH: Final = Temperament("plays high", _high, late=0.6, plays=0.6, doubles=0.15, cashes=0.02)

OF: Final[Mapping[str, Temperament]] = {
    "Bo": STEADY, "Dolores": DREAMER, "Teng": HIGH,
    "Marta": DOUBLING, "Ingrid": LAST_SECOND, "Wei": LUCKY,
    "Kofi": STEADY, "Yuki": TOURIST, "Paolo": DOUBLING,
    "Earl": TOURIST, "June": LUCKY, "Hank": LAST_SECOND,
}  # fmt: skip
"""Player → temperament."""


BUYS: Final = 500_00  # minor units of play money at a time
SHARE: Final = 10  # a player with less than a tenth of that buys again
_CALLS: Final = ("Could I have some water?", "How do I bet on a pair?", "Where is the lobby, please?")
_log = structlog.get_logger(__name__)


class BetLimiter:
    """Limits the bets of all virtual players together to so many a second."""

    def __init__(self, a_second: float, now: Callable[[], int]) -> None:
        self._a_second = a_second
        self._now = now
        self._left = a_second
        self._at = now()

    def takes(self, bets: int) -> bool:
        now = self._now()
        self._left = min(2 * self._a_second, self._left + (now - self._at) / 1000 * self._a_second)
        self._at = now
        if self._left < bets:
            return False
        self._left -= bets
        return True


@dataclass
class Player:
    dial: Dial
    device: Device
    name: str
    temperament: Temperament
    _: KW_ONLY
    limiter: BetLimiter
    waits: Waits
    random: Random
    now: Callable[[], int]
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    before: Stakes = field(default_factory=dict)
    """The bets of the round before."""
    ticket: str | None = None

    async def run(self) -> None:
        """Plays until the task is cancelled."""
        while True:
            try:
                async with Terminal(self.dial, self.device, pace=Pace(tries=3)) as terminal:
                    await self._evening(terminal)
            except ClientError as error:
                _log.info("a virtual player reconnects", player=self.name, why=str(error))
            await self.sleep(self.waits.about(self.waits.again, self.random))

    async def _evening(self, terminal: Terminal) -> None:
        felt: FeltView | None = None
        number = 0
        while True:
            await terminal.until(terminal.table_feed, partial(_is_next, number))
            number = terminal.table.round.number
            try:
                if not terminal.seat.taken:
                    await terminal.sit_down(self.name)
                    await self._seated(terminal)
                    felt = None
                if felt is None or felt.layout != terminal.seat.layout:
                    felt = await terminal.felt(terminal.seat.layout or None)
                await self._credit(terminal)
                await self._round(terminal, felt, number)
                await self._afterwards(terminal, number)
            except Refused as error:  # too late, out of credits, or the table is shut
                _log.debug("a virtual player was refused", player=self.name, why=str(error))
                await self.sleep(self.waits.step)

    async def _seated(self, terminal: Terminal) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self.waits.again):
                await terminal.until(terminal.seat_feed, lambda seat: seat.taken)

    async def _credit(self, terminal: Terminal) -> None:
        """Redeems the ticket, or buys credits if few are left."""
        if self.ticket is not None:
            ticket, self.ticket = self.ticket, None
            await terminal.ticket_in(ticket)
        elif terminal.seat.credits < BUYS // SHARE:
            await terminal.buy_credits(BUYS)

    async def _round(self, terminal: Terminal, felt: FeltView, number: int) -> None:
        temperament, random = self.temperament, self.random
        if random.random() > temperament.plays:
            return
        await self.sleep(self._until_turn(terminal))
        if (terminal.table.round.number, terminal.table.round.bets_open) != (number, True):
            return
        stakes = self._stakes(terminal, felt)
        if not stakes or not self.limiter.takes(len(stakes)):
            return
        if self.before and random.random() < temperament.repeats:
            await terminal.repeat()
        else:
            await terminal.place(stakes, round_=number)
            self.before = stakes
        if random.random() < temperament.undoes:
            await self.sleep(self.waits.about(self.waits.step, random))
            await terminal.undo()
        elif random.random() < temperament.doubles and self.limiter.takes(len(stakes)):
            await terminal.double()

    def _until_turn(self, terminal: Terminal) -> float:
        """Seconds until the player bets."""
        closes_at = terminal.table.countdown.closes_at
        if closes_at is None:
            return self.waits.about(self.waits.step, self.random)
        left = max(0.0, (closes_at - self.now()) / 1000)
        return left * min(0.97, max(0.02, self.random.gauss(self.temperament.late, 0.15)))

    def _stakes(self, terminal: Terminal, felt: FeltView) -> Stakes:
        """The bets that the player's credits allow."""
        seat = terminal.seat
        sight = PlayerSight(felt, seat.credits, seat.last, self.before, self.random)
        left, stakes = seat.credits, Stakes()
        for area, stake in self.temperament.bets(sight).items():
            if stake <= left:
                stakes[area] = stake
                left -= stake
        return stakes

    async def _afterwards(self, terminal: Terminal, number: int) -> None:
        """Calls an attendant, or takes a ticket after the round and leaves for a while."""
        temperament, random = self.temperament, self.random
        if random.random() < temperament.calls:
            await terminal.call_attendant(random.choice(_CALLS))
        if random.random() >= temperament.cashes:
            return
        await terminal.until(terminal.table_feed, partial(_is_over, number))
        if terminal.seat.credits and not terminal.seat.at_risk:
            self.ticket = (await terminal.ticket_out()).ticket
            await terminal.leave()
            await self.sleep(self.waits.about(self.waits.patience, random))


def _is_next(after: int, table: TableView) -> bool:
    return table.round.bets_open and table.round.number != after


def _is_over(number: int, table: TableView) -> bool:
    return table.round.number > number or table.round.phase == "between"

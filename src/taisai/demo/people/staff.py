"""Virtual staff: a dealer who takes the next step, and a supervisor who decides."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random
from typing import Any, Final, NamedTuple

import structlog

from taisai.client import ClientError, Console, Dial, Disconnected, Pace, Refused, Staff
from taisai.demo.people.players import Waits
from taisai.protocol.commands import SentCommand, command
from taisai.protocol.views import Blank, Offer

SECOND: Final = "second"
_TRIED: Final = (1, 2, 4)
"""What is keyed into a device that lights areas, to see whether the right ones light."""
_REASON: Final = "decided by a virtual supervisor"


def needs_second(offer: Offer) -> bool:
    """Whether somebody else has to agree."""
    return any(blank.kind == SECOND for blank in offer.blanks)


async def filled(console: Console, offer: Offer, *, serial: str, day: str) -> dict[str, Any] | None:
    """The blanks filled in; None where something is missing that only the dice, or someone else, can tell."""
    found: dict[str, Any] = {}
    fields = {blank.field for blank in offer.blanks}
    for blank in offer.blanks:
        if blank.kind == SECOND:
            continue
        if blank.field in ("entered", "lit"):
            if fields >= {"entered", "lit"}:
                preview = await console.preview(_TRIED)
                found |= {"entered": _TRIED, "lit": preview.lit[console.table.table.layout]}
            continue
        if blank.optional and blank.field != "serial":
            continue
        value = _value(console, blank, serial=serial, day=day)
        if value is None:
            return None
        found[blank.field] = value
    return found


def _value(console: Console, blank: Blank, *, serial: str, day: str) -> Any:
    reading = console.console.reading
    match blank.kind:
        case "faces":
            return reading.faces if reading is not None else None
        case "whole":
            return blank.least
        case "yes-no":
            return True
        case "choice":
            return blank.choices[0].value if blank.choices else None
        case "text":
            return {"serial": serial, "day": day, "shift": "next"}.get(blank.field, _REASON)
        case _:
            return None


DEALER: Final = "dealer"
OPEN: Final = "open-bets"
CLOSE: Final = "close-bets"
DECIDE: Final = "decide-referral"
_TREATMENTS: Final = ("stands", "continue", "void", "void-rounds", "shut")
"""What a head decides, the first that may be: as little as possible."""
_VOID: Final = ("void", "void-rounds", "shut")
REVEALED: Final = "revealed"
UNDRAWN: Final = "the demonstration shaker had committed itself to no seed when bets opened"
_log = structlog.get_logger(__name__)


class VirtualSession(NamedTuple):
    """A virtual person's session."""

    token: str
    agree: Callable[[SentCommand], str | None]
    """Asks somebody else to agree to exactly this; None where nobody does."""


Admit = Callable[[], Awaitable[VirtualSession]]


class WorkSwitch:
    """Whether a virtual person is at work, or someone else does its part."""

    def __init__(self) -> None:
        self._works = asyncio.Event()
        self._works.set()

    @property
    def is_working(self) -> bool:
        """Whether it is at work."""
        return self._works.is_set()

    def pause(self, *, working: bool) -> None:
        """Lets it work, or not."""
        if working:
            self._works.set()
        else:
            self._works.clear()

    async def until_working(self) -> None:
        """Waits until it may."""
        await self._works.wait()


def is_undrawn(console: Console) -> bool:
    """Whether a person opened bets before the shaker was ready: no dice are in this round, nor will be."""
    table = console.table
    has_seed = table.draw.round == table.round.number
    return table.round.phase == REVEALED and not has_seed and console.console.reading is None


class VirtualPerson:
    """A virtual person at one table. It knows no rules: it takes what is offered to its position."""

    position = DEALER

    def __init__(
        self,
        dial: Dial,
        admit: Admit,
        *,
        table: str,
        stand: WorkSwitch,
        waits: Waits,
        random: Random,
        now: Callable[[], int],
        day: Callable[[int], str],
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._dial = dial
        self._admit = admit
        self._table = table
        self._stand = stand
        self._waits = waits
        self._random = random
        self._now = now
        self._day = day
        self._sleep = sleep

    async def run(self) -> None:
        """Comes in and works, again and again: a cut connection is no reason to stay away."""
        while True:
            try:
                signed = await self._admit()
                who = Staff(signed.token)
                async with Console(self._dial, who, table=self._table, pace=Pace(tries=3)) as console:
                    await self._work(console, signed)
            except ClientError as error:
                _log.info(
                    "a virtual person comes back", table=self._table, position=self.position, why=str(error)
                )
            await self._sleep(self._waits.again)

    async def _work(self, console: Console, signed: VirtualSession) -> None:
        while True:
            await self._stand.until_working()
            seen = console.console, console.table
            try:
                if await self._step(console, signed):
                    continue
            except Refused as error:
                _log.info("a virtual person was refused", table=self._table, why=str(error))
                await self._sleep(self._waits.again)
            except Disconnected as error:
                if error.in_doubt:
                    _log.info("nobody knows what became of it", table=self._table)
                raise
            await self._change(console, seen)

    async def _change(self, console: Console, seen: tuple[object, object]) -> None:
        """Waits for something else on the console, or for a moment: the clock moves too."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._waits.again):
                await console.until(console.console_feed, lambda view: view is not seen[0])

    async def _step(self, console: Console, signed: VirtualSession) -> bool:
        """Does one thing, if there is one; says so."""
        offer = self._wanted(console)
        if offer is None:
            return False
        await self._sleep(self._before(console, offer))
        if not self._stand.is_working or not await self._arrived(console):
            return True
        if self._wanted(console) != offer:
            return True  # something happened meanwhile
        return await self._take(console, signed, offer)

    async def _take(self, console: Console, signed: VirtualSession, offer: Offer) -> bool:
        now = self._now()
        fields = await filled(console, offer, serial=f"demo-{now}", day=self._day(now))
        if fields is None:
            return False
        sent = command(offer.command, **{**offer.preset, **fields})
        approval = signed.agree(sent) if needs_second(offer) else None
        await console.send(sent, table=self._table, approval=approval)
        return True

    async def _arrived(self, console: Console) -> bool:
        """Comes to the table, if it is not there; the console shows it in a moment."""
        name = console.welcome.name if console.welcome is not None else ""
        if any((one.name, one.position) == (name, self.position) for one in console.console.people):
            return True
        await console.take_position(self.position)
        return True

    # What to do, and when

    def _wanted(self, console: Console) -> Offer | None:
        offer = console.next_offer
        return offer if offer is not None and self.position in offer.by else None

    def _before(self, console: Console, offer: Offer) -> float:
        """How long until it is done."""
        waits, table = self._waits, console.table
        closes_at = table.countdown.closes_at
        if table.round.bets_open and closes_at is not None:
            left = (closes_at - self._now()) / 1000
            return max(0.0, left if offer.preset.get("act") == CLOSE else left - waits.lead)
        is_next_round = offer.command == "perform" and table.round.phase == "between"
        return waits.about(waits.look if is_next_round else waits.step, self._random)


class VirtualDealer(VirtualPerson):
    """A virtual dealer: one step after the other; what the shaker reads is committed as it is."""

    def _wanted(self, console: Console) -> Offer | None:
        """Bets are opened when the shaker has committed itself: else it would never draw for that round."""
        offer, table = super()._wanted(console), console.table
        if offer is not None and offer.preset.get("act") == OPEN:
            is_committed = table.draw.round is not None and table.draw.round > table.round.number
            return offer if is_committed else None
        return offer

    async def _step(self, console: Console, signed: VirtualSession) -> bool:
        reading = console.console.reading
        if is_undrawn(console) and not console.console.referrals:
            await self._sleep(self._waits.about(self._waits.step, self._random))
            await console.send(command("report", event="other", detail=UNDRAWN), table=self._table)
            return True
        if reading is not None and reading.fault is not None and reading.suggested is not None:
            await self._sleep(self._waits.about(self._waits.step, self._random))
            sent = command("report", event=reading.suggested.id)
            await console.send(sent, table=self._table)
            return True
        return await super()._step(console, signed)


class VirtualSupervisor(VirtualPerson):
    """A virtual supervisor: what a dealer may not do, and questions that wait for someone."""

    def __init__(self, *arguments: Any, position: str, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.position = position

    def _wanted(self, console: Console) -> Offer | None:
        offer = super()._wanted(console)
        is_void = is_undrawn(console)  # then the round cannot go on, whatever else is offered first
        if offer is not None and DEALER not in offer.by and not is_void:
            return offer
        mine = [one for one in console.offers if self.position in one.by and DEALER not in one.by]
        decisions = [one for one in mine if one.command == DECIDE]
        for treatment in _VOID if is_void else _TREATMENTS:
            for one in decisions:
                if one.preset["treatment"] == treatment:
                    return one
        if console.console.day < self._day(self._now()):
            return next((one for one in mine if one.command == "begin-day"), None)
        return None

    def _before(self, _console: Console, _offer: Offer) -> float:
        return self._waits.about(self._waits.patience, self._random)

"""Virtual staff: a dealer who takes the next step, and a supervisor who decides."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from random import Random
from typing import Any, Final, NamedTuple

import structlog

from taisai.client import ClientError, Console, Dial, Disconnected, Pace, Refused, Staff
from taisai.demo.players import Waits
from taisai.protocol.commands import SentCommand, command
from taisai.protocol.views import Blank, Offer

SECOND: Final = "second"
_TRIED: Final = (1, 2, 4)
"""The numbers for the inspection of a device that lights areas."""
_REASON: Final = "decided by a virtual supervisor"


def needs_second(offer: Offer) -> bool:
    return any(blank.kind == SECOND for blank in offer.blanks)


async def filled(console: Console, offer: Offer, *, serial: str) -> dict[str, Any] | None:
    """The filled-in blanks; None if a value is missing, such as the dice."""
    values: dict[str, Any] = {}
    fields = {blank.field for blank in offer.blanks}
    for blank in offer.blanks:
        if blank.kind == SECOND or not blank.is_asked(values):
            continue
        if blank.field in ("entered", "lit"):
            if fields >= {"entered", "lit"}:
                preview = await console.preview(_TRIED)
                values |= {"entered": _TRIED, "lit": preview.lit[console.table.table.layout]}
            continue
        if blank.optional and blank.field != "serial":
            continue
        value = _value(console, blank, serial=serial)
        if value is None:
            return None
        values[blank.field] = value
    return values


def _value(console: Console, blank: Blank, *, serial: str) -> Any:
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
            return {"serial": serial}.get(blank.field, _REASON)
        case _:
            return None


DEALER: Final = "dealer"
OPEN: Final = "open-bets"
CLOSE: Final = "close-bets"
DECIDE: Final = "decide-referral"
CONFIRM: Final = "confirm-report"
DECLARE: Final = "declare"
UNRECORDED: Final = "declare-unrecorded"
UNSEEN: Final = "unseen"
BY_WITNESSES: Final = frozenset({UNRECORDED, "enter-settlement"})
"""Only people who were there know what happened while the server was down, and what was handed back."""
_TREATMENTS: Final = ("stands", "continue", "void", "void-rounds", "shut")
"""The treatments that a supervisor chooses, in order: the least first."""
_VOID: Final = ("void", "void-rounds", "shut")
REVEALED: Final = "revealed"
UNDRAWN: Final = "the demonstration shaker had committed itself to no seed when bets opened"
_log = structlog.get_logger(__name__)


class VirtualSession(NamedTuple):
    token: str
    approve: Callable[[SentCommand], str | None]
    """The id of a second person's approval of a command; None without one."""


Admit = Callable[[], Awaitable[VirtualSession]]


class WorkSwitch:
    """Whether a virtual person works, or is paused while a visitor does their work."""

    def __init__(self) -> None:
        self.works = asyncio.Event()
        self.works.set()

    @property
    def is_working(self) -> bool:
        return self.works.is_set()

    def pause(self, *, working: bool) -> None:
        if working:
            self.works.set()
        else:
            self.works.clear()


def is_undrawn(console: Console) -> bool:
    """Whether a person opened bets before the shaker had committed to a seed: the round will get no dice."""
    table = console.table
    has_seed = table.draw.round == table.round.number
    return table.round.phase == REVEALED and not has_seed and console.console.reading is None


def declaration(console: Console) -> Offer | None:
    """The declaration at a live table that nothing happened while the server was down; else None."""
    offered = {(offer.command, offer.preset.get("declared")): offer for offer in console.offers}
    if (UNRECORDED, None) not in offered or console.next_offer is None:
        return None
    return offered.get((DECLARE, UNSEEN)) if console.next_offer.command == DECLARE else None


@dataclass
class VirtualPerson:
    """A virtual person at one table. They know no rules and do what is offered to their position."""

    dial: Dial
    admit: Admit
    _: KW_ONLY
    table: str
    switch: WorkSwitch
    waits: Waits
    random: Random
    now: Callable[[], int]
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    position: str = DEALER

    async def run(self) -> None:
        """Connects and works; reconnects after every error."""
        while True:
            try:
                signed = await self.admit()
                who = Staff(signed.token)
                async with Console(self.dial, who, table=self.table, pace=Pace(tries=3)) as console:
                    await self._work(console, signed)
            except ClientError as error:
                _log.info(
                    "a virtual person reconnects", table=self.table, position=self.position, why=str(error)
                )
            await self.sleep(self.waits.again)

    async def _work(self, console: Console, signed: VirtualSession) -> None:
        while True:
            await self.switch.works.wait()
            seen = console.console, console.table
            try:
                if await self._step(console, signed):
                    continue
            except Refused as error:
                _log.info("a virtual person was refused", table=self.table, why=str(error))
                await self.sleep(self.waits.again)
            except Disconnected as error:
                if error.in_doubt:
                    _log.info("it is not known whether the request was carried out", table=self.table)
                raise
            await self._change(console, seen)

    async def _change(self, console: Console, seen: tuple[object, object]) -> None:
        """Waits for a change of the console, or for a moment."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.waits.again):
                await console.until(console.console_feed, lambda view: view is not seen[0])

    async def _step(self, console: Console, signed: VirtualSession) -> bool:
        """Does the next thing; returns whether there was one."""
        offer = self._wanted(console)
        if offer is None:
            return False
        await self.sleep(self._before(console, offer))
        if not self.switch.is_working:
            return True
        name = console.welcome.name if console.welcome is not None else ""
        if (name, self.position) not in {(person.name, person.position) for person in console.console.people}:
            await console.take_position(self.position)
        if self._wanted(console) != offer:
            return True  # something changed in the meantime
        fields = await filled(console, offer, serial=f"demo-{self.now()}")
        if fields is None:
            return False
        sent = command(offer.command, **{**offer.preset, **fields})
        approval = signed.approve(sent) if needs_second(offer) else None
        await console.send(sent, table=self.table, approval=approval)
        return True

    # Choosing the next step

    def _wanted(self, console: Console) -> Offer | None:
        offer = declaration(console) or console.next_offer
        if offer is None or self.position not in offer.by or offer.command in BY_WITNESSES:
            return None
        return offer

    def _before(self, console: Console, offer: Offer) -> float:
        """Seconds until the step is done."""
        waits, table = self.waits, console.table
        closes_at = table.countdown.closes_at
        if table.round.bets_open and closes_at is not None:
            left = (closes_at - self.now()) / 1000
            return max(0.0, left if offer.preset.get("act") == CLOSE else left - waits.lead)
        is_next_round = offer.command == "perform" and table.round.phase == "between"
        return waits.about(waits.look if is_next_round else waits.step, self.random)


class VirtualDealer(VirtualPerson):
    """A virtual dealer: does one step after the other, and enters what the shaker reads."""

    def _wanted(self, console: Console) -> Offer | None:
        """Opens bets only after the shaker has committed to a seed, because else it would not draw."""
        offer, table = super()._wanted(console), console.table
        if offer is not None and offer.preset.get("act") == OPEN:
            is_committed = table.draw.round is not None and table.draw.round > table.round.number
            return offer if is_committed else None
        return offer

    async def _step(self, console: Console, signed: VirtualSession) -> bool:
        reading = console.console.reading
        if is_undrawn(console) and not console.console.referrals:
            await self.sleep(self.waits.about(self.waits.step, self.random))
            await console.send(command("report", event="other", detail=UNDRAWN), table=self.table)
            return True
        if reading is not None and reading.fault is not None and reading.suggested is not None:
            await self.sleep(self.waits.about(self.waits.step, self.random))
            sent = command("report", event=reading.suggested.id)
            await console.send(sent, table=self.table)
            return True
        return await super()._step(console, signed)


class VirtualSupervisor(VirtualPerson):
    """A virtual supervisor: does what a dealer may not do, confirms reports, and decides referrals."""

    def _wanted(self, console: Console) -> Offer | None:
        offer = super()._wanted(console)
        is_void = is_undrawn(console)  # then the round can only be void
        if offer is not None and DEALER not in offer.by and not is_void:
            return offer
        own = [offer for offer in console.offers if self.position in offer.by and DEALER not in offer.by]
        waiting = next((offer for offer in own if offer.command == CONFIRM), None)
        if waiting is not None:
            return waiting
        decisions = [offer for offer in own if offer.command == DECIDE]
        for treatment in _VOID if is_void else _TREATMENTS:
            for decision in decisions:
                if decision.preset["treatment"] == treatment:
                    return decision
        return None

    def _before(self, _console: Console, _offer: Offer) -> float:
        return self.waits.about(self.waits.patience, self.random)

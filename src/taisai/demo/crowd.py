"""All virtual people of the demonstration, and their pauses while a visitor does their work."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Coroutine, Mapping
from functools import partial
from random import Random
from typing import Any, Final

import structlog

from taisai.cage.messages import DeviceKind, EnrolDevice
from taisai.client import Device, Dial, Disconnected
from taisai.demo import house
from taisai.demo.players import OF, BetLimiter, Player, Waits
from taisai.demo.sign_in import Demonstration
from taisai.demo.staff import (
    DEALER,
    VirtualDealer,
    VirtualPerson,
    VirtualSession,
    VirtualSupervisor,
    WorkSwitch,
)
from taisai.game.refusals import Refusal
from taisai.journal import Engine
from taisai.journal.codec import HOUSE_STREAM
from taisai.protocol.commands import SentCommand
from taisai.protocol.requests import DoRequest
from taisai.rules.errors import RulesError
from taisai.server.auth.permissions import SUPERVISING
from taisai.server.auth.sessions import Session
from taisai.server.auth.sign_in_refusals import SignInRefused
from taisai.server.handlers.context import approved_form
from taisai.server.runtime.house_server import HouseServer

BETS_A_SECOND: Final = 5.0
GRACE: Final = 8_000  # ms without a connection: a visitor may reload the page
CHECK_EVERY: Final = 0.5  # seconds between checks for visitors who left
_KEYS: Final = "demonstration/terminals"
_ADDRESS: Final = "the demonstration itself"
_log = structlog.get_logger(__name__)


class Crowd:
    """Virtual dealers, supervisors and players. The dealers can be paused."""

    def __init__(
        self,
        house_server: HouseServer,
        demonstration: Demonstration,
        dial: Dial,
        *,
        waits: Waits,
        random: Random,
        dealing: Mapping[str, WorkSwitch],
    ) -> None:
        """`dealing`: table → whether its virtual dealer deals."""
        self._house_server = house_server
        self._demonstration = demonstration
        self._dial = dial
        self._waits = waits
        self._random = random
        self._dealing = dealing
        self._ruling = {setup.name: WorkSwitch() for setup in house.TABLES.values()}
        self._inspecting = {setup.name: WorkSwitch() for setup in house.TABLES.values() if setup.floor}
        self._visitors: dict[str, tuple[WorkSwitch, int]] = {}
        """Session of a visitor → the switch of the paused person, and when it last had a connection."""
        self._tasks: list[asyncio.Task[None]] = []

    # Pausing

    @property
    def tables(self) -> dict[str, bool]:
        """Table → whether its virtual dealer deals."""
        return {name: switch.is_working for name, switch in self._dealing.items()}

    def relieved(self, rank: str, table: str, session: str) -> None:
        """Pauses a virtual person while the visitor's session has a connection."""
        if rank == DEALER:
            switch: WorkSwitch | None = self._dealing[table]
        elif rank == house.VIRTUAL[house.FLOORPERSON]:
            switch = self._inspecting.get(table)
        else:
            switch = self._ruling[table] if rank in SUPERVISING else None
        if switch is not None:
            switch.pause(working=False)
            self._visitors[session] = (switch, self._house_server.clock.now())

    # Starting and stopping

    async def start(self) -> None:
        await self._enrol()
        limiter = BetLimiter(BETS_A_SECOND, self._house_server.clock.now)
        for setup in house.TABLES.values():
            self._begin(self._staff(VirtualDealer, setup, setup.dealer, self._dealing[setup.name]).run())
            self._begin(self._staff(VirtualSupervisor, setup, setup.head, self._ruling[setup.name]).run())
            if setup.floor is not None:
                inspecting = self._inspecting[setup.name]
                self._begin(self._staff(VirtualSupervisor, setup, setup.floor, inspecting).run())
        for device, name in (await self._devices()).values():
            player = Player(
                self._dial, device, name, OF[name], limiter=limiter, waits=self._waits,
                random=self._own_random(), now=self._house_server.clock.now,
            )  # fmt: skip
            self._begin(player.run())
        self._begin(self._watch())

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _own_random(self) -> Random:
        """Each person has a generator of their own, so that the order of their actions changes nothing."""
        return Random(self._random.random())  # noqa: S311  for behaviour alone

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.get_running_loop().create_task(work))

    def _staff(
        self, kind: type[VirtualPerson], setup: house.TableSetup, person: str, switch: WorkSwitch
    ) -> VirtualPerson:
        return kind(
            self._dial, partial(self._admit, person, setup.name), table=setup.name, switch=switch,
            waits=self._waits, random=self._own_random(), now=self._house_server.clock.now,
            position=house.VIRTUAL[person],
        )  # fmt: skip

    async def _admit(self, person: str, table: str) -> VirtualSession:
        signed = await self._house_server.authentication.admitted(
            person, address=_ADDRESS, now=self._house_server.clock.now()
        )
        if isinstance(signed, SignInRefused):
            raise Disconnected(signed.message)
        return VirtualSession(signed.token, partial(self._approve, signed.session, table))

    def _approve(self, asker: Session, table: str, sent: SentCommand) -> str | None:
        form = approved_form(DoRequest(id="approved", do=sent, table=table))
        approval = self._demonstration.asked_and_approved(asker, form, table)
        return None if isinstance(approval, str) else approval.id

    # Terminals

    async def _devices(self) -> dict[str, tuple[Device, str]]:
        """Each virtual player's terminal. Its key is the same after every start."""

        def key(engine: Engine) -> bytes:
            store = engine.journal.store
            stored = store.secret(_KEYS)
            if stored is None:
                stored = self._house_server.entropy(32)
                store.keep_secret(_KEYS, stored)
            return stored

        secret = await self._house_server.queue.run(key)
        return {
            name: (Device.of(name, hmac.digest(secret, name.encode(), "sha256")), player)
            for setup in house.TABLES.values()
            for seat, player in enumerate(setup.players, 1)
            for name in (house.terminal_of(setup.name, str(seat)),)
        }

    async def _enrol(self) -> None:
        for name, (device, _player) in (await self._devices()).items():
            table, _, seat = name.rpartition("-")
            command = EnrolDevice(
                at=self._house_server.clock.now(), by=house.ADMINISTRATOR, device=name,
                kind=DeviceKind.TERMINAL, key=device.public, table=table, seat=seat,
            )  # fmt: skip
            answer = await self._house_server.queue.execute(HOUSE_STREAM, command)
            if isinstance(answer, Refusal):
                raise RulesError(str(answer))

    # Visitors

    async def _watch(self) -> None:
        """Lets virtual people work again when the visitor has left, and frees empty seats."""
        while True:
            await asyncio.sleep(CHECK_EVERY)
            await self._demonstration.tidy()
            now = self._house_server.clock.now()
            connected = {socket.principal.session for socket in self._house_server.dispatcher.sockets}
            for session, (switch, seen) in list(self._visitors.items()):
                if session in connected:
                    self._visitors[session] = (switch, now)
                elif now - seen > GRACE:
                    del self._visitors[session]
                    if all(other is not switch for other, _ in self._visitors.values()):
                        switch.pause(working=True)
                    await self._house_server.authentication.sign_out(session, now=now)

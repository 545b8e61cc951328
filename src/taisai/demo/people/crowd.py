"""The crowd: every virtual person of the demonstration, and who of them stands back for a visitor."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable, Coroutine
from functools import partial
from random import Random
from typing import Any, Final

import structlog

from taisai.cage.messages import DeviceKind, EnrolDevice
from taisai.client import Device, Dial, Disconnected
from taisai.demo import cast
from taisai.demo.people.players import OF, Player, Turnstile, Waits
from taisai.demo.people.staff import DEALER, VirtualDealer, VirtualSession, VirtualSupervisor, WorkSwitch
from taisai.demo.sign_in import Demonstration
from taisai.game.refusals import Refusal
from taisai.journal import Engine
from taisai.journal.codec import HOUSE
from taisai.protocol.commands import SentCommand
from taisai.protocol.requests import DoRequest
from taisai.rules.errors import RulesError
from taisai.server.auth.permissions import SUPERVISING
from taisai.server.auth.sessions import Session
from taisai.server.auth.verification import SignInRefused
from taisai.server.connections.dispatcher import approved_form
from taisai.server.runtime.house_server import HouseServer

BETS_A_SECOND: Final = 5.0
GRACE: Final = 8_000  # ms: a visitor who reloads his page is not gone
LOOKS: Final = 0.5  # seconds between looks for visitors who are gone
_KEYS: Final = "demonstration/terminals"
_HERE: Final = "the demonstration itself"
_log = structlog.get_logger(__name__)


class Crowd:
    """Virtual dealers, heads and players; for the floor, the dealers that can be paused."""

    def __init__(
        self,
        house_server: HouseServer,
        demonstration: Demonstration,
        dial: Dial,
        *,
        waits: Waits,
        random: Random,
    ) -> None:
        self._house_server = house_server
        self._demonstration = demonstration
        self._dial = dial
        self._waits = waits
        self._random = random
        self._dealing = {spot.name: WorkSwitch() for spot in cast.SPOTS}
        self._ruling = {spot.name: WorkSwitch() for spot in cast.SPOTS}
        self._visitors: dict[str, tuple[WorkSwitch, int]] = {}
        """Session → for whom it stands in, and when it was last seen connected."""
        self._tasks: list[asyncio.Task[None]] = []

    # As the floor sees it

    @property
    def tables(self) -> dict[str, bool]:
        """Table → whether its virtual dealer deals."""
        return {name: stand.is_working for name, stand in self._dealing.items()}

    def pause(self, table: str, *, dealing: bool) -> None:
        """Lets a table's virtual dealer deal, or not."""
        self._dealing[table].pause(working=dealing)

    def relieved(self, rank: str, table: str, session: str) -> None:
        """A visitor takes a virtual person's part for as long as his session has a connection."""
        stand = self._dealing[table] if rank == DEALER else self._ruling[table]
        if rank == DEALER or rank in SUPERVISING:
            stand.pause(working=False)
            self._visitors[session] = (stand, self._house_server.clock.now())

    # Coming and going

    async def start(self) -> None:
        """Everyone comes in."""
        await self._enrol()
        turnstile = Turnstile(BETS_A_SECOND, self._house_server.clock.now)
        for spot in cast.SPOTS:
            self._begin(self._staff(VirtualDealer, spot, spot.dealer, self._dealing[spot.name]).run())
            head = partial(VirtualSupervisor, position=cast.VIRTUAL[spot.head])
            self._begin(self._staff(head, spot, spot.head, self._ruling[spot.name]).run())
        for device, name in (await self._devices()).values():
            player = Player(
                self._dial, device, name, OF[name], turnstile=turnstile, waits=self._waits,
                random=self._own_random(), now=self._house_server.clock.now,
            )  # fmt: skip
            self._begin(player.run())
        self._begin(self._watch())

    async def stop(self) -> None:
        """Everyone leaves."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _own_random(self) -> Random:
        """Everyone draws for himself, so that nobody's chance hangs on who was first."""
        return Random(self._random.random())  # noqa: S311  for behaviour alone

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.get_running_loop().create_task(work))

    def _staff(
        self,
        kind: Callable[..., VirtualDealer | VirtualSupervisor],
        spot: cast.Spot,
        person: str,
        stand: WorkSwitch,
    ) -> VirtualDealer | VirtualSupervisor:
        plan = self._house_server.plan
        return kind(
            self._dial, partial(self._admit, person, spot.name), table=spot.name, stand=stand,
            waits=self._waits, random=self._own_random(), now=self._house_server.clock.now,
            day=plan.day or (lambda _now: ""),
        )  # fmt: skip

    async def _admit(self, person: str, table: str) -> VirtualSession:
        signed = await self._house_server.authentication.admitted(
            person, address=_HERE, now=self._house_server.clock.now()
        )
        if isinstance(signed, SignInRefused):
            raise Disconnected(signed.message)
        return VirtualSession(signed.token, partial(self._agree, signed.session, table))

    def _agree(self, asker: Session, table: str, sent: SentCommand) -> str | None:
        form = approved_form(DoRequest(id="agreed", do=sent, table=table))
        granted = self._demonstration.agreed(asker, form, table)
        return None if isinstance(granted, str) else granted.token

    # Terminals

    async def _devices(self) -> dict[str, tuple[Device, str]]:
        """Each virtual player's terminal, whose key is the same after every start."""

        def key(engine: Engine) -> bytes:
            store = engine.journal.store
            kept = store.secret(_KEYS)
            if kept is None:
                kept = self._house_server.entropy(32)
                store.keep_secret(_KEYS, kept)
            return kept

        secret = await self._house_server.queue.run(key)
        return {
            name: (Device.of(name, hmac.digest(secret, name.encode(), "sha256")), player)
            for spot in cast.SPOTS
            for seat, player in enumerate(spot.players, 1)
            for name in (cast.terminal_of(spot.name, str(seat)),)
        }

    async def _enrol(self) -> None:
        for name, (device, _player) in (await self._devices()).items():
            table, _, seat = name.rpartition("-")
            command = EnrolDevice(
                at=self._house_server.clock.now(), by=cast.ADMINISTRATOR, device=name,
                kind=DeviceKind.TERMINAL, key=device.public, table=table, seat=seat,
            )  # fmt: skip
            answer = await self._house_server.queue.execute(HOUSE, command)
            if isinstance(answer, Refusal):
                raise RulesError(str(answer))

    # Visitors

    async def _watch(self) -> None:
        """Whoever was relieved goes on when the visitor is gone; a seat that he left empty is free again."""
        while True:
            await asyncio.sleep(LOOKS)
            await self._demonstration.tidy()
            now = self._house_server.clock.now()
            connected = {socket.principal.session for socket in self._house_server.dispatcher.sockets}
            for session, (stand, seen) in list(self._visitors.items()):
                if session in connected:
                    self._visitors[session] = (stand, now)
                elif now - seen > GRACE:
                    del self._visitors[session]
                    if all(other is not stand for other, _ in self._visitors.values()):
                        stand.pause(working=True)
                    await self._house_server.authentication.sign_out(session, now=now)

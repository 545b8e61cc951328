"""The demonstration in virtual time: the house, its crowd and a network without delays, in one process."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from functools import partial
from hashlib import sha256
from itertools import count
from random import Random
from typing import Any, Final, TypeVar

from taisai.client import Console, Device, Staff, Terminal
from taisai.demo import house as demo_house
from taisai.demo.crowd import Crowd
from taisai.demo.house import furnish, plan
from taisai.demo.players import LIVELY, Waits
from taisai.demo.sign_in import Demonstration
from taisai.demo.staff import WorkSwitch
from taisai.journal import Engine, Journal, MemoryStore, SigningKey, stream_of
from taisai.protocol.bodies import EnterResponse
from taisai.server.runtime.house_server import HouseServer
from tests.server.sim import virtual
from tests.server.sim.network import ORIGIN, Network
from tests.server.sim.simulated_queue import SimulatedQueue
from tests.server.sim.virtual import VirtualClock, VirtualLoop

T = TypeVar("T")
KEY: Final = SigningKey.new("demonstrated", seed=bytes(32))


class _AtOnce(Random):
    """A disk that is always as quick as it can be."""

    def uniform(self, a: float, b: float) -> float:  # noqa: ARG002  the names are theirs
        return a


class Evening:
    """A demonstration, from the moment that everyone is in."""

    def __init__(self, loop: VirtualLoop, *, seed: int = 1, waits: Waits = LIVELY) -> None:
        self.clock = VirtualClock(loop)
        self.store = MemoryStore()
        journal = Journal.opened(
            self.store, journal="demonstrated", key=KEY.public, at=self.clock.now(), by="Ada Stone",
            program="taisai", demonstration=True,
        )  # fmt: skip
        self.engine = engine = Engine(journal)
        furnish(engine, now=self.clock.now())
        drawn = count(seed * 1_000_000)
        dealing = {setup.name: WorkSwitch() for setup in demo_house.TABLES.values()}
        self.casino = HouseServer(
            engine,
            plan(window=round(waits.window * 1000), origins=frozenset({ORIGIN})),
            clock=self.clock,
            entropy=lambda size: sha256(b"%d" % next(drawn)).digest()[:size],
            key=KEY,
            make_queue=partial(SimulatedQueue, chance=_AtOnce(), slow=0.0),
            dealers={table: switch.works for table, switch in dealing.items()},
        )
        self.network = Network(Random(seed), slow=0.01)
        self.network.dispatcher = self.casino.dispatcher
        self.demonstration = Demonstration(self.casino)
        self.crowd = Crowd(
            self.casino,
            self.demonstration,
            self.network.dial(),
            waits=waits,
            random=Random(seed),
            dealing=dealing,
        )
        self.demonstration.dealers = self.crowd

    async def begin(self) -> None:
        """Everyone comes in."""
        await self.casino.start()
        await self.crowd.start()

    async def end(self) -> None:
        """Everyone leaves."""
        await self.crowd.stop()
        await self.casino.stop()

    async def goes_on(self, seconds: float) -> None:
        """So long in virtual time."""
        await asyncio.sleep(seconds)

    async def entered(self, role: str, table: str | None = None, key: str | None = None) -> EnterResponse:
        """A visitor in a role."""
        found = await self.demonstration.enter(role, table, key, address="127.0.0.1")
        assert isinstance(found, EnterResponse), found
        return found

    async def console(self, role: str, table: str) -> Console:
        """A visitor at a table's console, in the position of his rank."""
        entered = await self.entered(role, table)
        console = Console(self.network.dial(), Staff(entered.token or ""), table=table)
        await console.start()
        await console.take_position(role)
        return console

    async def player(self, table: str) -> Terminal:
        """A visitor who sits down at a terminal."""
        device = Device.of("visitor", sha256(table.encode()).digest())
        entered = await self.entered("player", table, device.public)
        own = Device(entered.device or "", device.key)
        terminal = await Terminal(self.network.dial(), own).start()
        await terminal.sit_down("Visitor")
        return terminal

    # What came of it

    def events(self, table: str | None = None) -> list[Any]:
        """What the journal says, of one table or of all streams."""
        stream = None if table is None else stream_of(table)
        return [one.event for one in self.engine.journal.entries(stream=stream)]

    def counted(self, table: str | None = None) -> Counter[str]:
        """Event → how often."""
        return Counter(type(event).__name__ for event in self.events(table))

    def concluded(self) -> dict[str, int]:
        """Table → rounds that came to their end."""
        return {
            name: self.counted(name)["RoundConcluded"] + self.counted(name)["RoundVoided"]
            for name in demo_house.TABLES
        }


def run(main: Callable[[Evening], Coroutine[Any, Any, T]], *, most: float = 7_200.0, **given: Any) -> T:
    """Runs something over an evening, in virtual time."""

    async def whole(loop: VirtualLoop) -> T:
        evening = Evening(loop, **given)
        await evening.begin()
        try:
            return await main(evening)
        finally:
            await evening.end()

    return virtual.run(whole, most=most)

"""A world: a server, its people, its network and its disk, all drawn from a seed and run in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from random import Random
from typing import Any, Final, cast

from taisai.client import ClientError, Disconnected, Pace
from taisai.client.connection import Staff
from taisai.journal import Engine, Journal, Store
from taisai.protocol.message import Request
from taisai.protocol.views import Words
from taisai.server.auth.approvals import Approval, RequestToApprove, digest_of
from taisai.server.auth.credentials import Cost, Passwords
from taisai.server.auth.permissions import SECOND_PERSONS, role_of
from taisai.server.auth.sessions import NewSession, Session
from taisai.server.auth.sign_in_refusals import STOPPING
from taisai.server.handlers.context import approved_form
from taisai.server.runtime.house_server import HouseServer
from taisai.server.runtime.plan import ConnectionLimits, HousePlan, TablePlan
from tests.server.sim.network import ORIGIN, Network
from tests.server.sim.people import Cage, Dealer, Heard, Noted, Watcher
from tests.server.sim.sim_house import (
    BOOKS,
    KEY,
    LIMITS,
    PROGRAM,
    SECRET,
    TABLE,
    book_of,
    codec_of,
    crew_of,
)
from tests.server.sim.simulated_queue import SimulatedQueue
from tests.server.sim.storage import InMemory, Storage
from tests.server.sim.virtual import VirtualClock, VirtualLoop

PACE: Final = Pace(reply=8.0, welcome=4.0, first=0.05, most=0.8, tries=10_000)


@cache
def _passwords() -> Passwords:
    """Nobody signs in by a password here, so that one costs nothing."""
    return Passwords(bytes, Cost(time=1, memory=8, parallelism=1))


CONSOLES: Final = 0.15  # of all evenings: what a console shows takes longer than all the rest together


class World:
    """Everything that a seed decides, and everything that came of it."""

    def __init__(
        self,
        seed: int,
        loop: VirtualLoop,
        storage: Callable[[str], Storage] = InMemory,
        *,
        edition: str = "",
    ) -> None:
        """`storage` is made for a rulebook; `edition` is added to its id, such as "@1"."""
        self.seed = seed
        self.loop = loop
        self.clock = VirtualClock(loop)
        self.chance = self.drawn("world")
        self.book = BOOKS[0] if self.chance.random() < 0.4 else self.chance.choice(BOOKS)
        self.book += edition
        self.crew = crew_of(self.book)
        self.storage = storage(self.book)
        self.rounds = self.chance.choice((1, 1, 1, 2, 2, 3))
        self.with_consoles = self.chance.random() < CONSOLES
        self.window = self.chance.choice((2_000, 4_000, 6_000))
        self.snapshot_every = self.chance.choice((20, 60, 10_000))
        self.slow_disk = self.chance.choice((0.0, 0.01, 0.25))
        self.network = Network(
            self.drawn("network"),
            slow=self.chance.choice((0.0, 0.02, 0.3)),
            cut_after=self.chance.choice((0.0, 0.0, 0.04)),
        )
        self.casino: HouseServer | None = None
        self.queue: SimulatedQueue | None = None
        self.make_queue: Callable[..., SimulatedQueue] = SimulatedQueue
        self.over = asyncio.Event()
        self.crashes = 0
        self.heard: list[Heard] = []
        self.clients: list[Noted] = []
        """Everyone who ever came."""
        self.going = asyncio.Event()
        """Unset while everybody waits, so that someone can look."""
        self.going.set()
        self.wrong: list[str] = []
        """What someone who looked has found."""
        self.tickets: list[str] = []
        """Tickets in players' hands."""
        self.log: list[str] = []
        """What happened, for whoever has to find out why."""
        self._gone: list[HouseServer] = []
        """Those that crashed, with whatever they were about to do."""
        self._disk = self.drawn("disk")
        self._entropy = self.drawn("entropy")

    @property
    def is_over(self) -> bool:
        """Whether the last round has been played."""
        return self.over.is_set()

    def end(self) -> None:
        """The last round has been played."""
        self.over.set()

    def drawn(self, what: str) -> Random:
        """Chance for one part of the world, which no other part disturbs."""
        return Random(f"{self.seed} {what}")

    def note(self, what: str) -> None:
        """Writes down what happened."""
        self.log.append(f"{self.loop.time():9.3f} {what}")

    def entropy(self, size: int) -> bytes:
        """The server's own chance."""
        return self._entropy.randbytes(size)

    @property
    def store(self) -> Store:
        """What holds the journal now."""
        return self.storage.store

    # The server

    async def open(self) -> None:
        """Opens the journal, recovers, and lets the server answer."""
        secret = SECRET if self.store.head() is not None else None  # a stored house of format 1 has none
        journal = Journal(self.store, codec_of(self.book), secret=secret)
        engine = Engine(journal, snapshot_every=self.snapshot_every)
        if self.crashes:
            engine.recover(at=self.clock.now())
        plan = HousePlan(
            house="Sim", currency="PLAY", zone="Asia/Singapore", origins=frozenset({ORIGIN}),
            bounds=ConnectionLimits(asks_a_second=1_000, burst=1_000, bets_a_round=10**9),
            tables=[
                TablePlan(
                    name=TABLE, book=book_of(self.book), limits=LIMITS, window=self.window, demonstration=True
                )
            ],
            program=PROGRAM, seal_every=60,
        )  # fmt: skip
        casino = HouseServer(
            engine, plan, clock=self.clock, entropy=self.entropy, key=KEY,
            make_queue=partial(self.make_queue, chance=self._disk, slow=self.slow_disk),
            passwords=_passwords(),
        )  # fmt: skip
        self.casino, self.queue = casino, cast("SimulatedQueue", casino.queue)
        await casino.start()
        self.network.dispatcher = casino.dispatcher
        self.note(f"opened, {journal.size} entries")

    async def crash(self) -> None:
        """The machine stops, mostly in the middle of whatever it does, and starts again a while later."""
        casino, queue = self.casino, self.queue
        if casino is None or queue is None:
            return
        self.crashes += 1
        chance = self.drawn(f"crash {self.crashes}")
        how = chance.choice(("before", "after", "now", "stop"))
        self.note(f"crash, {how}")
        if how == "stop":  # as it should be
            self.network.dispatcher = None
            await casino.stop()
        elif how != "now":  # in the middle of a write, if there is one soon
            queue.doom = how
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await queue.died.wait()
        queue.crash()
        self._gone.append(casino)
        self.casino = None
        self.storage.crash(chance)
        for task in casino._tasks:
            task.cancel()
        await self.network.crash()
        await asyncio.sleep(chance.uniform(0.1, 3))
        await self.open()

    @property
    def engine(self) -> Engine:
        """The one at work."""
        assert self.queue is not None
        return self.queue.engine

    # Coming in

    async def staff(self, person: str) -> tuple[Staff, Session] | None:
        """A session for someone; none while there is no server."""
        casino = self.casino
        if casino is None or self.network.dispatcher is None:
            return None
        admitted = asyncio.ensure_future(
            casino.authentication.admitted(person, address="sim", now=self.clock.now())
        )
        done, _ = await asyncio.wait((admitted,), timeout=2)
        if not done:  # the server is gone, and never answers
            admitted.cancel()
            return None
        signed = admitted.result()
        if signed == STOPPING:
            return None
        assert isinstance(signed, NewSession), signed
        return Staff(signed.token), signed.session

    def approval(self, ask: Request, session: Session, by: str) -> str | None:
        """A second person's agreement."""
        if self.casino is None:
            return None
        approvals, now = self.casino.authentication.approvals, self.clock.now()
        request = RequestToApprove(digest_of(approved_form(ask)), SECOND_PERSONS, Words("a step", "步骤"))
        asked = approvals.asked(request, asker=session, now=now)
        assert isinstance(asked, Approval), asked
        role = role_of(self.engine.house().people[by])
        granted = approvals.approved(asked.id, person=by, role=role, now=now)
        return granted.id if isinstance(granted, Approval) else None

    async def dealer(self, person: str) -> tuple[Dealer, Session]:
        """Someone of the staff, at his console, as often as it takes."""
        while True:
            known = await self.staff(person)
            if known is not None:
                who, session = known
                console = Dealer(
                    self.network.dial(), who, table=TABLE, pace=PACE,
                    entropy=self.drawn(f"{person} {self.loop.time()}").randbytes,
                )  # fmt: skip
                console.with_console = self.with_consoles
                try:
                    return await console.noted(self.heard, self.clients).start(), session
                except ClientError as error:
                    self.note(f"{person} could not come in: {error}")
            await asyncio.sleep(0.3)

    async def cashier(self, person: str) -> Cage | None:
        """Someone at the cage."""
        known = await self.staff(person)
        if known is None:
            return None
        cage = Cage(
            self.network.dial(),
            known[0],
            pace=PACE,
            entropy=self.drawn(f"{person} {self.loop.time()}").randbytes,
        )
        try:
            return await cage.noted(self.heard, self.clients).start()
        except ClientError:
            return None

    async def watcher(self, person: str, feeds: list[str]) -> Watcher | None:
        """Someone who follows these feeds."""
        known = await self.staff(person)
        if known is None:
            return None
        watcher = Watcher(
            self.network.dial(),
            known[0],
            pace=PACE,
            entropy=self.drawn(f"{person} {self.loop.time()}").randbytes,
        )
        try:
            await watcher.noted(self.heard, self.clients).start()
            for feed in feeds:
                await watcher.follow(feed)
        except ClientError:
            await watcher.close()
            return None
        return watcher

    async def comes(self, client: Any) -> None:
        """A device comes in, as often as it takes."""
        while True:
            with suppress(Disconnected):
                await client.start()
                return
            await asyncio.sleep(0.2)

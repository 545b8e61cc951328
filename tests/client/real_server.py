"""A real server behind a real socket, in the test's own process: nothing is scripted, and nothing is kept."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from secrets import token_bytes
from typing import Final, NamedTuple

from taisai.client import Console, Staff, at
from taisai.journal import Engine, Journal
from taisai.server.auth.credentials import Cost, Passwords, step_of
from taisai.server.auth.sessions import NewSession
from taisai.server.runtime.house_server import HouseServer
from taisai.server.runtime.plan import HousePlan, TablePlan
from taisai.server.runtime.serving import Serving, listening
from tests.server.enrolling import code_at, with_credentials
from tests.server.sim.sim_house import BOOKS, KEY, LIMITS, TABLE, book_of, furnished
from tests.server.sim.virtual import START

PASSWORD: Final = "a lotus in the rain 7"
BOOK: Final = BOOKS[0]


class TestClock:
    """Runs as any clock does, from the evening of the tests on."""

    __test__ = False

    def __init__(self) -> None:
        self._began = time.monotonic_ns()
        self.ahead = 0
        """Milliseconds that it was set forward."""

    def now(self) -> int:
        """Milliseconds since 1970."""
        return START + self.steady() + self.ahead

    def steady(self) -> int:
        """Milliseconds since it began."""
        return (time.monotonic_ns() - self._began) // 1_000_000


class Served(NamedTuple):
    """A server, and where it is."""

    casino: HouseServer
    clock: TestClock
    http: str
    socket: str
    secrets: dict[str, bytes]
    """Person → what his authenticator has."""

    def code(self, person: str) -> str:
        """What a person's authenticator shows; a later code each time, since each is good once."""
        self.clock.ahead += 30_000
        return code_at(self.secrets[person], step_of(self.clock.now()))

    async def token(self, person: str) -> str:
        """A session of someone, as a demonstration gives it."""
        signed = await self.casino.authentication.admitted(person, address="test", now=self.clock.now())
        assert isinstance(signed, NewSession)
        return signed.token

    async def console(self, person: str) -> Console:
        """Someone at the table's console."""
        console = await Console(at(self.socket), Staff(await self.token(person)), table=TABLE).start()
        await console.take_position("dealer")
        return console


@asynccontextmanager
async def served(*people: str, window: int = 600, proxies: Sequence[str] = ()) -> AsyncIterator[Served]:
    """A server that is served; these people have passwords."""
    clock = TestClock()
    engine = Engine(Journal(furnished(BOOK)))
    listener = listening("127.0.0.1", 0)
    host = f"127.0.0.1:{listener.getsockname()[1]}"
    plan = HousePlan(
        house="Served", currency="PLAY", zone="Asia/Singapore", origins=frozenset({f"http://{host}"}),
        tables=[TablePlan(name=TABLE, book=book_of(BOOK), limits=LIMITS, window=window, demonstration=True)],
    )  # fmt: skip
    cheap = Passwords(token_bytes, Cost(time=1, memory=8, parallelism=1))
    casino = HouseServer(engine, plan, clock=clock, entropy=token_bytes, key=KEY, passwords=cheap)
    await casino.start()
    secrets: dict[str, bytes] = {}
    for person in people:
        second = "mia" if person == "sue" else "sue"
        secrets[person] = await with_credentials(
            casino.authentication, person, PASSWORD, by="ada", now=clock.now(), second=second
        )
    ready = asyncio.Event()
    serving = Serving(casino, listener, signals=False, proxies=proxies, on_ready=ready.set)
    running = asyncio.ensure_future(serving.run())
    await ready.wait()
    try:
        yield Served(casino, clock, f"http://{host}", f"ws://{host}/socket", secrets)
    finally:
        serving.stop()
        await running

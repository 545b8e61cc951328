"""A server for the examples of pages: served in a thread, over a real socket, in time that stands still."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from secrets import token_bytes
from typing import Any

from taisai.game.commands import Perform
from taisai.game.refusals import Refusal
from taisai.journal import Engine, Journal, stream_of
from taisai.journal.codec import HOUSE_STREAM, AnyCommand
from taisai.protocol.views import ConsoleView
from taisai.rules import Act
from taisai.server.auth.credentials import Passwords
from taisai.server.auth.permissions import Role
from taisai.server.config.tables import DiceIn
from taisai.server.runtime.house_server import HouseServer
from taisai.server.runtime.plan import HousePlan, TablePlan
from taisai.server.runtime.serving import Serving, listening
from tests.server.sim import virtual
from tests.server.virtual_server import LIMITS, PEOPLE, TINY, furnished


class _Clock:
    """Time that stands still: whatever comes first comes first by the journal."""

    def now(self) -> int:
        return virtual.START

    def steady(self) -> int:
        return 0


class House:
    """A server that is served in a thread, with the hands of its Dealer."""

    def __init__(self) -> None:
        self.engine = Engine(Journal(furnished()))
        self._at = listening("127.0.0.1", 0)
        self.url = f"ws://127.0.0.1:{self._at.getsockname()[1]}/socket"
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        origin = self.url.replace("ws://", "http://").removesuffix("/socket")
        tables = [
            TablePlan(name=name, book=self.engine.table(name).book, limits=LIMITS, dice=DiceIn.DEVICE)
            for name in self.engine.tables()
        ]
        plan = HousePlan(
            house="Lotus", currency="SGD", zone="Asia/Singapore", origins=frozenset({origin}), tables=tables
        )
        self.casino = HouseServer(
            self.engine, plan, clock=_Clock(), entropy=token_bytes, passwords=Passwords(token_bytes, TINY)
        )
        self._serving = Serving(self.casino, self._at, signals=False, on_ready=self._ready.set)
        await self._serving.run()

    def start(self) -> None:
        """Until it takes connections."""
        self._thread.start()
        assert self._ready.wait(30)

    def stop(self) -> None:
        """As a house is stopped."""
        self._loop.call_soon_threadsafe(self._serving.stop)
        self._thread.join(30)
        assert not self._thread.is_alive()

    def _in_loop(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def ask(self, command: AnyCommand, stream: str = HOUSE_STREAM) -> None:
        """Something that must be done."""
        answer = self._in_loop(self.casino.queue.execute(stream, command))
        assert not isinstance(answer, Refusal), answer

    def perform(self, act: Act, **fields: Any) -> None:
        """The Dealer's act at T1, or the clock's."""
        by = "clock" if act is Act.CLOSE_BETS else PEOPLE[Role.DEALER]
        self.ask(Perform(at=virtual.START, by=by, act=act, **fields), stream_of("T1"))

    def to_the_dice(self) -> None:
        """A round from its opening until the dice have tumbled."""
        for act in (Act.OPEN_BETS, Act.CLOSE_BETS):
            self.perform(act)
        self.perform(Act.TUMBLE, tumbles=3)

    def console(self) -> ConsoleView:
        """What the Dealer is shown."""
        boards = self.casino.queue.projections
        found = self._in_loop(self.casino.queue.run(lambda _engine: boards.snapshot("console:T1"))).view
        assert isinstance(found, ConsoleView)
        return found

    def events(self, kind: type[Any]) -> list[Any]:
        """The journal's events of a kind."""
        found: list[Any] = self._in_loop(
            self.casino.queue.run(lambda engine: [one.event for one in engine.journal.entries()])
        )
        return [event for event in found if isinstance(event, kind)]


@contextmanager
def opened() -> Iterator[House]:
    """A server as long as it is needed."""
    house = House()
    house.start()
    try:
        yield house
    finally:
        house.stop()

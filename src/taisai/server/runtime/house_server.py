"""The casino: queue, floor and everything that acts by itself, put together, started and stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import structlog

from taisai.cage.messages import NoteStart, NoteStop, TakeSettings
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import FLOOR
from taisai.journal import Engine, JournalError, SigningKey
from taisai.journal.codec import HOUSE_STREAM
from taisai.server.auth.authentication import Authentication
from taisai.server.auth.credentials import Passwords
from taisai.server.auth.permissions import RateLimiter
from taisai.server.auth.sessions import StaffSessions
from taisai.server.connections.dispatcher import Dispatcher
from taisai.server.connections.feeds import Feeds
from taisai.server.dice.shaker import Shaker
from taisai.server.http.public import our_pages
from taisai.server.projections.feed_writer import Frame
from taisai.server.projections.house_feeds import HouseFeeds
from taisai.server.runtime.betting_clock import Countdown
from taisai.server.runtime.command_queue import CommandQueue
from taisai.server.runtime.environment import Clock, Entropy, copy_checkpoint
from taisai.server.runtime.metrics import Metrics
from taisai.server.runtime.monitors import Monitors
from taisai.server.runtime.plan import HousePlan, TablePlan
from taisai.server.runtime.reconciliation import PositionReconciler, finish

REFRESH: Final = 0.5  # seconds between looks of consoles and pit at bets that have come meanwhile
FORGET: Final = 60.0  # seconds between looks at feeds that nobody follows: twice seen, no longer worked out
TICK: Final = 1.0  # seconds between looks at sessions and the clock
_log = structlog.get_logger(__name__)


class HouseServer:
    """Everything that runs over one journal. Made in the loop, after the tables have recovered."""

    def __init__(
        self,
        engine: Engine,
        plan: HousePlan,
        *,
        clock: Clock,
        entropy: Entropy,
        key: SigningKey | None = None,
        make_queue: Callable[..., CommandQueue] = CommandQueue,
        dealers: Mapping[str, asyncio.Event] | None = None,
        passwords: Passwords | None = None,
    ) -> None:
        """`key` signs checkpoints; `dealers`: table → set while its virtual dealer deals.

        A simulation gives a `make_queue` that needs no thread.
        """
        identity = engine.journal.identity
        if identity is None:
            raise JournalError("expected a journal that was opened, got an empty one")
        self.plan = plan
        self.clock = clock
        self.entropy = entropy
        self.demonstration = identity.demonstration
        self._key = key
        self._sealed = engine.journal.size
        self._sealed_at = clock.steady()
        self._tasks: list[asyncio.Task[None]] = []
        windows = {table.name: table.window for table in plan.tables}
        projections = HouseFeeds(engine, windows, now=clock.now)
        feeds = Feeds(entropy(8).hex())
        metrics = Metrics()
        self.queue = make_queue(engine, projections, feeds, on_durable=metrics.durable)
        self.authentication = Authentication(
            self.queue,
            entropy=entropy,
            issuer=plan.house,
            passwords=passwords,
            sessions=StaffSessions(entropy, plan.policy),
            rates=RateLimiter(plan.sign_ins) if plan.sign_ins else None,
            generic=self.demonstration,
        )
        self.dispatcher = Dispatcher(
            self.queue,
            self.authentication,
            plan,
            clock=clock,
            entropy=entropy,
            demonstration=self.demonstration,
            metrics=metrics,
            pages=our_pages(),
            dealers=dealers,
        )
        self._positions = PositionReconciler(self.queue, clock=clock)
        self._monitors = Monitors(self.queue, clock=clock, thresholds=plan.thresholds)
        self._countdowns: dict[str, Countdown] = {}
        self._shakers: dict[str, Shaker] = {}
        self._known = frozenset(engine.tables())
        for table in plan.tables:
            self._attend(table)

    def _attend(self, table: TablePlan) -> None:
        if table.window is not None:
            self._countdowns[table.name] = Countdown(
                self.queue, table.name, window=table.window, clock=self.clock, on_prompt=self._prompt
            )
        if table.demonstration and self.demonstration:
            self._shakers[table.name] = Shaker(self.queue, table.name, clock=self.clock, entropy=self.entropy)

    # Starting

    async def start(self) -> list[str]:
        """Before any socket opens: old sessions are ended, transfers finished; what is left to people."""
        now = self.clock.now()
        await self.authentication.begin(now)
        await self._note(TakeSettings(at=now, by=FLOOR, settings=dict(self.plan.settings)))
        await self._note(NoteStart(at=now, by=FLOOR, program=self.plan.program, manifest=self.plan.manifest))
        await self._positions.reconcile()
        left = await finish(self.queue, self.clock, entropy=self.entropy)
        for sentence in left:
            _log.warning("a transfer waits for someone", says=sentence)
        self._monitors.begin(sorted(self._known & {table.name for table in self.plan.tables}))
        for name in self._known & self._countdowns.keys():
            self._countdowns[name].resume()
        for shaker in self._shakers.values():
            self._spawn(shaker.run())
        self._spawn(self._every(TICK, self._tick))
        self._spawn(self._every(REFRESH, self._refresh))
        self._spawn(self._every(FORGET, self._forget))
        return left

    async def _note(self, command: Any) -> None:
        answer = await self.queue.execute(HOUSE_STREAM, command)
        if isinstance(answer, Refusal):
            raise JournalError(f"expected the House to note {type(command).__name__}, got {answer}")

    def _spawn(self, work: Any) -> None:
        self._tasks.append(asyncio.get_running_loop().create_task(work))

    async def _every(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await work()
            except Exception:  # noqa: BLE001  the next time it may do
                _log.exception("something that is done again and again failed", what=work.__name__)

    async def _tick(self) -> None:
        self._monitors.tick()
        self._positions.tick()
        await self.authentication.tick(self.clock.now())
        await self._seal_when_due()

    async def _refresh(self) -> None:
        projections = self.queue.projections
        self.queue.submit_job(lambda _engine: projections.refresh(), self._refreshed)

    def _prompt(self, table: str, until: int) -> None:
        projections = self.queue.projections
        self.queue.submit_job(lambda _engine: projections.ring(table, until), self._refreshed)

    async def _forget(self) -> None:
        projections, feeds = self.queue.projections, self.queue.feeds
        followed = feeds.followed()
        self.queue.submit_job(lambda _engine: projections.forget(followed), self._forgotten)

    def _forgotten(self, names: list[str] | BaseException) -> None:
        if isinstance(names, BaseException):
            _log.error("feeds that nobody follows could not be forgotten", error=str(names))
            return
        self.queue.feeds.forget(names)

    def _refreshed(self, frames: list[Frame] | BaseException) -> None:
        """In the turn in which they come: whatever was decided after them has later numbers."""
        if isinstance(frames, BaseException):
            _log.error("what is shown could not be refreshed", error=str(frames))
            return
        for frame in frames:
            self.queue.feeds.publish(frame)

    # Sealing

    async def _seal_when_due(self) -> None:
        if self._key is None:
            return
        size = await self.queue.run(lambda engine: engine.journal.size)
        is_late = self.clock.steady() - self._sealed_at >= self.plan.seal_minutes * 60_000
        if size - self._sealed >= self.plan.seal_every or (is_late and size > self._sealed):
            await self.seal()

    async def seal(self) -> None:
        """Signs all entries so far, and sends the checkpoint to where this machine's journal cannot reach."""
        if self._key is None:
            return
        key, now = self._key, self.clock.now()
        text = await self.queue.run(lambda engine: engine.journal.seal(key, at=now))
        self._sealed = await self.queue.run(lambda engine: engine.journal.size)
        self._sealed_at = self.clock.steady()
        await self.queue.run(lambda _engine: self.queue.projections.save())
        if self.plan.checkpoints is not None:
            try:
                await asyncio.to_thread(copy_checkpoint, self.plan.checkpoints, text)
            except JournalError as error:  # the journal has it all the same
                _log.error("a checkpoint could not be copied", error=str(error))

    # Stopping

    async def stop(self) -> None:
        """A graceful stop: sessions end, it is noted and sealed; rounds stay as recovery expects them."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for countdown in self._countdowns.values():
            countdown.stop()
        for socket in list(self.dispatcher.sockets):
            socket.end("stopped", "expected a floor at work, got one that stops", 1012)
        await self.dispatcher.finished()
        await self._written(self.authentication.finish(self.clock.now()))
        await self._written(self._note(NoteStop(at=self.clock.now(), by=FLOOR)))
        await self._written(self.seal())
        await asyncio.get_running_loop().run_in_executor(None, self.queue.close)

    async def _written(self, work: Awaitable[None]) -> None:
        """One part of a stop; the others are done whatever becomes of it."""
        try:
            await work
        except JournalError as error:
            _log.error("the stop could not be written", error=str(error))

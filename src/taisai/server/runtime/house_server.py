"""The server of a house: its parts, how they start, work and stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import structlog

from taisai.cage.messages import NoteStart, NoteStop, TakeSettings
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import FLOOR
from taisai.journal import Engine, JournalError, SigningKey
from taisai.journal.codec import HOUSE_STREAM
from taisai.protocol.views import Alarm, Words
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
from taisai.server.runtime.environment import Clock, Entropy
from taisai.server.runtime.metrics import Metrics
from taisai.server.runtime.monitors import Monitors
from taisai.server.runtime.plan import HousePlan, TablePlan
from taisai.server.runtime.reconciliation import PositionReconciler, finish
from taisai.server.runtime.sealing import SEAL, Sealing
from taisai.server.runtime.witness_links import WitnessLink

REFRESH: Final = 0.5  # seconds between updates of consoles and pit with new bets
FORGET: Final = 60.0  # seconds; a feed without followers at two looks is no longer made
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
        links: Sequence[WitnessLink] = (),
        notes: Sequence[Words] = (),
    ) -> None:
        """`key` signs checkpoints; `dealers`: table → set while its virtual dealer deals.

        `links`: the witnesses; `notes`: what the start found that the pit should know.

        A simulation gives a `make_queue` that needs no thread.
        """
        identity = engine.journal.identity
        if identity is None:
            raise JournalError("the journal is empty: it has no opening entry")
        self.plan = plan
        self.clock = clock
        self.entropy = entropy
        self.demonstration = identity.demonstration
        self._notes = notes
        self._tasks: list[asyncio.Task[None]] = []
        windows = {table.name: table.window for table in plan.tables}
        projections = HouseFeeds(engine, windows, now=clock.now)
        feeds = Feeds(entropy(8).hex())
        metrics = Metrics()
        self.queue = make_queue(engine, projections, feeds, on_durable=metrics.durable)
        self.sealing = Sealing(
            self.queue, engine, plan, key=key, clock=clock, links=links, tell=self._tell_pit
        )
        if links:
            silent = "Seconds since a witness answered last; 0 while all answer"
            metrics.gauge("taisai_witness_silent_seconds", silent, lambda: self.sealing.silent_seconds)
        tail = "Entries that are not sealed yet, or that a witness has not seen yet"
        metrics.gauge("taisai_unsealed_entries", tail, lambda: max(0, metrics.journal - self.sealing.covered))
        self.authentication = Authentication(
            self.queue, entropy=entropy, issuer=plan.house, passwords=passwords,
            sessions=StaffSessions(entropy, plan.policy), generic=self.demonstration,
            rates=RateLimiter(plan.sign_ins) if plan.sign_ins else None,
        )  # fmt: skip
        self.dispatcher = Dispatcher(
            self.queue, self.authentication, plan, clock=clock, entropy=entropy, metrics=metrics,
            demonstration=self.demonstration, pages=our_pages(), dealers=dealers,
            gate=self.sealing,
        )  # fmt: skip
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
        """Ends old sessions and finishes transfers; returns what people have to do. No socket is open yet."""
        now = self.clock.now()
        await self.authentication.begin(now)
        await self._note(TakeSettings(at=now, by=FLOOR, settings=dict(self.plan.settings)))
        await self._note(NoteStart(at=now, by=FLOOR, program=self.plan.program, manifest=self.plan.manifest))
        await self._positions.reconcile()
        left = await finish(self.queue, self.clock, entropy=self.entropy)
        for sentence in left:
            _log.warning("a transfer waits for a person to finish it", text=sentence)
        self._monitors.begin(sorted(self._known & {table.name for table in self.plan.tables}))
        for name in self._known & self._countdowns.keys():
            self._countdowns[name].resume()
        for shaker in self._shakers.values():
            self._spawn(shaker.run())
        for note in self._notes:
            _log.warning("found at the start", text=note.en)
            self._tell_pit(Alarm(at=now, about="house", says=note))
        self._spawn(self._every(TICK, self._tick))
        self._spawn(self._every(SEAL, self.sealing.tick))
        self._spawn(self._every(REFRESH, self._refresh))
        self._spawn(self._every(FORGET, self._forget))
        return left

    async def _note(self, command: Any) -> None:
        answer = await self.queue.execute(HOUSE_STREAM, command)
        if isinstance(answer, Refusal):
            raise JournalError(f"the House refused {type(command).__name__}: {answer}")

    def _spawn(self, work: Any) -> None:
        self._tasks.append(asyncio.get_running_loop().create_task(work))

    async def _every(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await work()
            except Exception:  # noqa: BLE001  the next time it may do
                _log.exception("a repeated task failed", what=work.__name__)

    async def _tick(self) -> None:
        self._monitors.tick()
        self._positions.tick()
        await self.authentication.tick(self.clock.now())

    async def _refresh(self) -> None:
        self.queue.submit_job(lambda _engine: self.queue.projections.refresh(), self._publish)

    async def seal(self) -> None:
        """Seals all entries so far, and keeps the checkpoint for ever."""
        await self.sealing.keep()

    def _tell_pit(self, alarm: Alarm | None, no_money: Words | None = None) -> None:
        self.queue.submit_job(lambda _engine: self.queue.projections.tell_pit(alarm, no_money), self._publish)

    def _prompt(self, table: str, until: int) -> None:
        self.queue.submit_job(lambda _engine: self.queue.projections.ring(table, until), self._publish)

    async def _forget(self) -> None:
        followed = self.queue.feeds.followed()
        self.queue.submit_job(lambda _engine: self.queue.projections.forget(followed), self._forgotten)

    def _forgotten(self, names: list[str] | BaseException) -> None:
        if isinstance(names, BaseException):
            _log.error("feeds without followers could not be dropped", error=str(names))
            return
        self.queue.feeds.forget(names)

    def _publish(self, frames: list[Frame] | BaseException) -> None:
        """Publishes frames in the turn in which they come: later decisions have later numbers."""
        if isinstance(frames, BaseException):
            _log.error("the views could not be refreshed", error=str(frames))
            return
        for frame in frames:
            self.queue.feeds.publish(frame)

    # Stopping

    async def stop(self) -> None:
        """Ends sessions, records and seals the stop; rounds stay as recovery expects them."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for countdown in self._countdowns.values():
            countdown.stop()
        for socket in list(self.dispatcher.sockets):
            socket.end("stopped", "the server stops: connect again later", 1012)
        await self.dispatcher.finished()
        await self._written(self.authentication.finish(self.clock.now()))
        await self._written(self._note(NoteStop(at=self.clock.now(), by=FLOOR)))
        await self._written(self.seal())
        await self.sealing.close()
        await asyncio.get_running_loop().run_in_executor(None, self.queue.close)

    async def _written(self, work: Awaitable[None]) -> None:
        """Does one part of a stop; a failure does not prevent the others."""
        try:
            await work
        except JournalError as error:
            _log.error("the stop could not be recorded", error=str(error))

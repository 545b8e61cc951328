"""The server of a house: its parts, how they start, work and stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import structlog

from taisai.cage.messages import LimitAmounts, NoteClock, NotePlace, NoteStart, NoteStop, TakeSettings
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import FLOOR
from taisai.journal import Engine, FencedError, JournalError, SigningKey
from taisai.journal.codec import HOUSE_STREAM
from taisai.protocol.views import Words
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
from taisai.server.projections.house_views import audit_alarm, storage_alarm
from taisai.server.runtime.agreed_witnesses import AgreedWitnesses
from taisai.server.runtime.alarms import Alarms
from taisai.server.runtime.archiving import Archiving
from taisai.server.runtime.background_audit import BackgroundAudit
from taisai.server.runtime.betting_clock import Countdown
from taisai.server.runtime.command_queue import CommandQueue
from taisai.server.runtime.environment import Clock, Entropy, own_machine_id
from taisai.server.runtime.gaming_days import GamingDays
from taisai.server.runtime.machine import RESTORED_ALARM, RESTORED_WORDS, Machine, moved_words
from taisai.server.runtime.metrics import Metrics
from taisai.server.runtime.monitors import Monitors
from taisai.server.runtime.plan import HousePlan, TablePlan
from taisai.server.runtime.reconciliation import PositionReconciler, finish
from taisai.server.runtime.sealing import SEAL, Sealing
from taisai.server.runtime.witness_links import WitnessLink

REFRESH: Final = 0.5  # seconds between updates of consoles and pit with new bets, and looks for alarms
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
        audit: BackgroundAudit | None = None,
        links: Sequence[WitnessLink] = (),
        notes: Mapping[str, Words] | None = None,
    ) -> None:
        """`key` signs checkpoints; `dealers`: table → set while its virtual dealer deals; `audit` is closed.

        `links`: the witnesses; `notes`: the alarms that the start found, by name.

        A simulation gives a `make_queue` that needs no thread.
        """
        identity = engine.journal.identity
        if identity is None:
            raise JournalError("the journal is empty: it has no opening entry")
        self.plan = plan
        self.clock = clock
        self.entropy = entropy
        self.demonstration = identity.demonstration
        self._audit = audit
        self._told_distrusted = 0
        self.unwritten: str | None = None
        """Why the stop could not be written to the journal."""
        self._tasks: list[asyncio.Task[None]] = []
        windows = {table.name: table.window for table in plan.tables}
        projections = HouseFeeds(engine, windows, now=clock.now)
        feeds = Feeds(entropy(8).hex())
        metrics = Metrics()
        self.queue = make_queue(engine, projections, feeds, on_durable=metrics.durable)
        self.alarms = Alarms(clock, self._publish)
        self.sealing = Sealing(
            self.queue, engine, plan, key=key, clock=clock, links=links, hold_money=self._hold_money
        )
        self.sealing.count(metrics)
        self._witnesses = AgreedWitnesses(links, self.sealing, engine.house().settings)
        self.authentication = Authentication(
            self.queue, entropy=entropy, issuer=plan.house, passwords=passwords,
            sessions=StaffSessions(entropy, plan.policy), generic=self.demonstration,
            rates=RateLimiter(plan.sign_ins) if plan.sign_ins else None,
        )  # fmt: skip
        self.dispatcher = Dispatcher(
            self.queue, self.authentication, plan, clock=clock, entropy=entropy, metrics=metrics,
            demonstration=self.demonstration, pages=our_pages(), dealers=dealers, alarms=self.alarms,
            gate=self.sealing,
        )  # fmt: skip
        self._positions = PositionReconciler(self.queue, clock=clock)
        self._days = None if plan.day is None else GamingDays(
            self.queue, clock=self.clock, calendar=plan.day, approved=plan.approved
        )  # fmt: skip
        self._archiving = Archiving(self.queue, clock=self.clock)
        self._machine = Machine(clock=clock, thresholds=plan.thresholds, free=plan.free)
        self._machine.watch(self.alarms)
        self.sealing.watch(self.alarms, notes or {})
        self._monitors = Monitors(self.queue, clock=clock, thresholds=plan.thresholds, machine=self._machine)
        self._machine.count(metrics)
        metrics.alarms = self.alarms
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
        await self._note(TakeSettings(at=now, by=FLOOR, settings=await self._settings()))
        if (limits := self.plan.amounts) is not None:
            await self._note(LimitAmounts(at=now, by=FLOOR, **limits._asdict()))
        await self._note(NoteStart(at=now, by=FLOOR, program=self.plan.program, manifest=self.plan.manifest))
        if self.plan.behind:
            await self._note(NoteClock(at=now, by=FLOOR, jump=-self.plan.behind))
        left = await self._note_place(now)
        await self._positions.reconcile()
        left += await finish(self.queue, self.clock, entropy=self.entropy)
        for sentence in left:
            _log.warning("people have something to do", text=sentence)
        self._monitors.begin(sorted(self._known & {table.name for table in self.plan.tables}))
        for name in self._known & self._countdowns.keys():
            self._countdowns[name].resume()
        for shaker in self._shakers.values():
            self._spawn(shaker.run())
        self._spawn(self._every(TICK, self._tick))
        self._spawn(self._every(SEAL, self._look_and_seal))
        self._spawn(self._every(REFRESH, self._refresh))
        self._spawn(self._every(FORGET, self._forget))
        if self._audit is not None:
            self._spawn(self._every(TICK, self._audit_further))
        return left

    async def _settings(self) -> dict[str, str]:
        """The settings in force, and what is known of the witnesses."""
        if not self._witnesses.matter:
            return dict(self.plan.settings)
        known, size = await self.queue.run(lambda engine: (engine.house().settings, engine.journal.size))
        return self._witnesses.settings(self.plan.settings, known, size=size)

    async def _note_witnesses(self) -> None:
        """Records what has become known of a witness since the start, or that two people agreed to it."""
        if self._witnesses.has_news():
            now = self.clock.now()
            await self._note(TakeSettings(at=now, by=FLOOR, settings=await self._settings()))

    async def _note_place(self, now: int) -> list[str]:
        """Records where the journal is; says what people must make sure of if it is not where it was."""
        place, note = self.plan.place, self.plan.restored
        if place is None:
            return []
        before = await self.queue.run(lambda engine: (engine.house().machine, engine.house().file))
        await self._note(
            NotePlace(at=now, by=FLOOR, machine=place.machine, file=place.file, restored=note is not None)
        )
        if note is not None:
            with suppress(OSError):  # the next start only says it again
                note.unlink()
            self._machine.restored = RESTORED_ALARM
            return [RESTORED_WORDS]
        if before in (("", ""), place):
            return []
        has_id = own_machine_id() is not None
        self._machine.moved = moved_words(machine=before[0] != place.machine, has_id=has_id)
        return [self._machine.moved.en]

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
        if self._days is not None:
            self._days.tick()
        self._archiving.tick()
        self._monitors.tick()
        self._positions.tick()
        await self._note_witnesses()
        await self.authentication.tick(self.clock.now())

    async def _refresh(self) -> None:
        self._machine.beat(round(REFRESH * 1_000))
        self.alarms.look()
        self.queue.feeds.flush()
        self.queue.submit_job(lambda _engine: self.queue.projections.refresh(), self._publish)

    async def seal(self) -> None:
        """Seals all entries so far, and keeps the checkpoint for ever."""
        await self.sealing.keep()

    def _hold_money(self, why: Words | None) -> None:
        self.queue.submit_job(lambda _engine: self.queue.projections.hold_money(why), self._publish)

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

    # What is stored

    async def _look_and_seal(self) -> None:
        """Both in one turn of the writer's thread. The store itself refuses to seal for another server."""
        await asyncio.gather(self._look_at_storage(), self.sealing.tick())

    async def _look_at_storage(self) -> None:
        """Shows the pit what had no valid code; if another server took the journal, this one stops.

        Known networks are stored in the same turn.
        """
        networks = self.authentication.known.to_store(self.clock.now())

        def look(engine: Engine) -> list[Frame]:
            journal = engine.journal
            try:
                journal.store.expect_writer()
            except FencedError as error:
                engine.trouble = str(error)
                raise
            self.authentication.keep_networks(networks, engine)
            found = journal.distrusted[self._told_distrusted :]
            self._told_distrusted += len(found)
            for distrusted in found:
                _log.error("stored bytes without a valid code", kind=distrusted.kind, name=distrusted.name)
            alarms = [storage_alarm(distrusted, self.clock.now()) for distrusted in found]
            return self.queue.projections.warn(alarms) if alarms else []

        try:
            frames = await self.queue.run(look)
        except FencedError as error:
            self.queue.give_up(str(error))
        else:
            self._publish(frames)

    async def _audit_further(self) -> None:
        """One step of the background audit; the pit gets an alarm at the first difference, which ends it."""
        audit = self._audit
        if audit is None:
            return
        try:
            if not await asyncio.to_thread(audit.step):
                return
            _log.info("the background audit is through", entries=audit.done)
        except JournalError as error:
            _log.error("the background audit found a difference", error=str(error))
            alarms = [audit_alarm(str(error), self.clock.now())]
            self._publish(await self.queue.run(lambda _engine: self.queue.projections.warn(alarms)))
        self._audit = None
        audit.close()

    # Stopping

    async def stop(self) -> None:
        """Ends sessions, records and seals the stop; rounds stay as recovery expects them."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._audit is not None:
            self._audit.close()
        for countdown in self._countdowns.values():
            countdown.stop()
        self.disconnect_everybody()
        await self.dispatcher.finished()
        await self._written(self.authentication.finish(self.clock.now()))
        await self._written(self._note(NoteStop(at=self.clock.now(), by=FLOOR)))
        await self._written(self.seal())
        await self.sealing.close()
        await asyncio.get_running_loop().run_in_executor(None, self.queue.close)

    def disconnect_everybody(self) -> None:
        for socket in list(self.dispatcher.sockets):
            socket.end("stopped", "the server stops: connect again later", 1012)

    async def _written(self, work: Awaitable[None]) -> None:
        """Does one part of a stop; a failure does not prevent the others."""
        try:
            await work
        except JournalError as error:
            self.unwritten = self.unwritten or str(error)
            _log.error("the stop could not be recorded", error=str(error))

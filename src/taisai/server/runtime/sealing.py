"""Sealing: new entries are signed within a second, and every witness has seen them before money leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Final

import structlog

from taisai.cage.messages import WitnessOverridden
from taisai.cage.values import MOST_OVERRIDE
from taisai.journal import Engine, JournalError, SigningKey
from taisai.journal.codec import HOUSE_STREAM
from taisai.journal.seals.merkle import leaf_hash
from taisai.journal.stores.contract import StoredCheckpoint
from taisai.protocol.views import Words
from taisai.server.runtime.alarms import Alarms
from taisai.server.runtime.command_queue import CommandQueue, Committed
from taisai.server.runtime.environment import Clock, copy_checkpoint
from taisai.server.runtime.metrics import Metrics
from taisai.server.runtime.plan import HousePlan
from taisai.server.runtime.witness_links import Sealed, WitnessLink

SEAL: Final = 1.0  # seconds between looks for entries to seal
ASK_AGAIN: Final = 30_000  # ms after which an idle house asks its witnesses whether they still answer
ALARM_AFTER: Final = 5_000  # ms of silence before the pit has an alarm: a restart of a witness takes less
SLOW: Final = 60_000  # ms that a clock may be set back without ending an override
TAIL_STAYS: Final = 3_600_000  # ms that the pit shows an unsealed tail: nothing says that people looked
NO_WITNESS: Final = "no-witness"
"""The alarm of a house without a witness, which a start finds."""
UNSEALED_TAIL: Final = "unsealed-tail"
"""The alarm of entries that the last stop left unsealed, which a start finds."""
_log = structlog.get_logger(__name__)


class Sealing:
    """Seals the journal and sends its checkpoints to the witnesses. It belongs to the loop."""

    def __init__(
        self,
        queue: CommandQueue,
        engine: Engine,
        plan: HousePlan,
        *,
        key: SigningKey | None,
        clock: Clock,
        links: Sequence[WitnessLink] = (),
        hold_money: Callable[[Words | None], None] = lambda _why: None,
    ) -> None:
        """Made before the queue begins to work. Without a key nothing is sealed, and no money waits.

        `hold_money` shows the pit why no money leaves, or that it may leave again.
        """
        self._queue = queue
        self._plan = plan
        self._key = key
        self._clock = clock
        self._links = links
        self._hold_money = hold_money
        self._sealed: Sealed | None = None
        """The newest checkpoint; the journal's thread makes it."""
        self._covered: Sealed | None = None
        """The newest checkpoint that every witness has seen, with their cosignatures."""
        self._kept_size, self._kept_at = engine.journal.size, clock.steady()
        self._round = asyncio.Lock()
        self._begun = 0
        self._asked_at = clock.steady()
        self._heard_at = clock.steady()
        """When all witnesses answered last."""
        self._shown: Words | None = None
        self._failure: str | None = None
        """Why the journal could not be sealed the last time."""
        self._overridden_until = engine.house().witness_overridden
        self.removed: Words | None = None
        """Which witness of the start before is gone or has forgotten, until two people override it."""
        self._at_work: set[asyncio.Task[None]] = set()
        if links:
            engine.journal.recent = []
        queue.listeners.append(self._on_commit)

    # Whether money may leave

    def refusal(self) -> str | None:
        """Why no money may leave the house now."""
        removed = None if self.removed is None else self.removed.en
        return self._contradiction or (None if self._is_overridden else removed or self._problem)

    async def cover(self) -> str | None:
        """Seals all entries so far, and waits until every witness has seen them; or why one has not."""
        if self._key is None:
            return None
        if self._is_overridden and self._problem is not None:
            await self._seal_now()
        else:
            await self._sealed_and_sent()
        return self.refusal()

    async def _sealed_and_sent(self) -> None:
        """Seals all entries so far and sends the checkpoint; those who wait meanwhile share the next one."""
        wanted = self._begun + 1  # a round that has begun already may lack the latest entries
        async with self._round:
            if self._begun >= wanted:
                return
            self._begun += 1
            try:
                sealed = await self._seal_now()
                if sealed.size != self.covered or self._problem is not None or self._is_time_to_ask:
                    await self._send(sealed)
            except BaseException:
                self._begun -= 1  # nobody may rely on a round that failed
                raise

    @property
    def _contradiction(self) -> str | None:
        """Why the journal is not what a witness has seen: the first of several."""
        return next((link.contradiction for link in self._links if link.contradiction is not None), None)

    @property
    def _problem(self) -> str | None:
        return next((link.problem for link in self._links if link.problem is not None), None)

    @property
    def _is_overridden(self) -> bool:
        # A clock that was ahead when they decided, or is set back, gives nobody more hours.
        return 0 < self._overridden_until - self._clock.now() <= MOST_OVERRIDE * 3_600_000 + SLOW

    @property
    def _is_time_to_ask(self) -> bool:
        return self._clock.steady() - self._asked_at >= ASK_AGAIN

    def _on_commit(self, committed: Committed) -> None:
        for event in committed.events if committed.stream == HOUSE_STREAM else ():
            if isinstance(event, WitnessOverridden):
                self._overridden_until = event.until
                self.removed = None

    # Every second

    async def tick(self) -> None:
        """Seals new entries, sends the checkpoint, and keeps one for ever when that is due."""
        if self._key is None:
            return
        try:
            sealed = await self._seal_now()
        except JournalError as error:
            self._note_failure(str(error))
            return
        self._failure = None
        is_due = self._is_time_to_ask or self._problem is not None
        if self._links and not self._round.locked() and (is_due or sealed.size != self.covered):
            task = asyncio.get_running_loop().create_task(self._send_alone())
            self._at_work.add(task)
            task.add_done_callback(self._at_work.discard)
        elif not self._links:
            self._covered = sealed
        self._show_money()
        is_late = self._clock.steady() - self._kept_at >= self._plan.seal_minutes * 60_000
        if sealed.size - self._kept_size >= self._plan.seal_every or (
            is_late and sealed.size > self._kept_size
        ):
            is_newer = self._problem is None and self.covered > self._kept_size
            await self._keep(self._covered if is_newer and self._covered is not None else sealed)

    async def keep(self) -> None:
        """Seals all entries so far, and keeps the checkpoint for ever, with what the witnesses signed."""
        if self._key is None:
            return
        await self.cover()
        sealed = await self._seal_now()
        covers_all = self._covered is not None and self._covered.size == sealed.size
        await self._keep(self._covered if covers_all and self._covered is not None else sealed)

    async def close(self) -> None:
        """Ends what waits for a witness."""
        for task in list(self._at_work):
            task.cancel()
        await asyncio.gather(*self._at_work, return_exceptions=True)
        for link in self._links:
            link.witness.close()

    # Figures and alarms

    @property
    def covered(self) -> int:
        """Entries that are sealed, and that every witness has seen."""
        return 0 if self._covered is None else self._covered.size

    @property
    def silent_seconds(self) -> float:
        """Seconds since the last answer of all witnesses; 0 while they answer, and without one."""
        return 0.0 if self._problem is None else (self._clock.steady() - self._heard_at) / 1_000

    def count(self, metrics: Metrics) -> None:
        """Adds the figures to the metrics."""
        if self._links:
            silent = "Seconds since a witness answered last; 0 while all answer"
            metrics.gauge("taisai_witness_silent_seconds", silent, lambda: self.silent_seconds)
        tail = "Entries that are not sealed yet, or that a witness has not seen yet"
        metrics.gauge("taisai_unsealed_entries", tail, lambda: max(0, metrics.journal - self.covered))

    def watch(self, alarms: Alarms, found: Mapping[str, Words]) -> None:
        """Adds the conditions of sealing; `found`: the alarms that the start found, by name."""
        started = self._clock.steady()

        def tail() -> Words | None:
            is_new = self._clock.steady() - started < TAIL_STAYS
            return found.get(UNSEALED_TAIL) if is_new else None

        alarms.add("journal-unsealed", self._cannot_seal, is_grave=True)
        alarms.add("witness-contradicts", self._contradicted, is_grave=True)
        alarms.add("witness-silent", self._silent, is_grave=True)
        alarms.add("witness-removed", lambda: self.removed, is_grave=True)
        alarms.add(NO_WITNESS, lambda: found.get(NO_WITNESS), is_grave=False)
        alarms.add(UNSEALED_TAIL, tail, is_grave=False)

    def _cannot_seal(self) -> Words | None:
        error = self._failure
        if error is None:
            return None
        return Words(f"The journal cannot be sealed: {error}", f"日志无法封存：{error}")

    def _contradicted(self) -> Words | None:
        problem = self._contradiction
        return None if problem is None else _no_money(problem)

    def _silent(self) -> Words | None:
        problem = self._problem
        if problem is None or self._contradiction is not None or not self._is_silent:
            return None
        return _no_money(problem)

    # The parts

    async def _seal_now(self) -> Sealed:
        """The checkpoint over all entries so far; nothing is signed where there is no new entry."""
        key, now = self._key, self._clock.now()
        if key is None:
            raise JournalError("the journal cannot be sealed: this server has no key")
        least = min((link.growth.base for link in self._links), key=lambda tree: tree.size, default=None)

        def seal(engine: Engine) -> tuple[Sealed, list[bytes]]:
            journal, sealed, leaves = engine.journal, self._sealed, list[bytes]()
            if sealed is None or sealed.size != journal.size:
                sealed = Sealed(journal.seal_newest(key, at=now, seen=least), journal.tree())
                self._sealed = sealed
                if journal.recent is not None:
                    leaves, journal.recent = journal.recent, []
            return sealed, leaves

        sealed, leaves = await self._queue.run(seal)
        for link in self._links:
            link.extend(leaves, after=sealed.size - len(leaves))
        return sealed

    async def _send(self, sealed: Sealed) -> None:
        """Sends a checkpoint to every witness."""
        self._asked_at = self._clock.steady()
        notes = await asyncio.gather(*(link.submit(sealed, self._leaves) for link in self._links))
        if self._problem is None:
            self._heard_at = self._clock.steady()
            if sealed.size >= self.covered:
                lines = [note.line for note in notes if note is not None]
                self._covered = sealed._replace(text=sealed.text + "".join(lines))

    async def _send_alone(self) -> None:
        try:
            await self._sealed_and_sent()
        except JournalError as error:
            self._note_failure(str(error))

    async def _leaves(self, after: int, most: int) -> list[bytes]:
        return await self._queue.run(
            lambda engine: [
                leaf_hash(row.body) for row in islice(engine.journal.store.rows(after=after), most)
            ]
        )

    async def _keep(self, sealed: Sealed) -> None:
        checkpoint = StoredCheckpoint(sealed.size, sealed.text)
        await self._queue.run(lambda engine: engine.journal.keep_checkpoint(checkpoint))
        self._kept_size, self._kept_at = sealed.size, self._clock.steady()
        await self._queue.run(lambda _engine: self._queue.projections.save())
        if self._plan.checkpoints is not None:
            try:
                await asyncio.to_thread(copy_checkpoint, self._plan.checkpoints, sealed.text)
            except JournalError as error:  # the journal has it all the same
                _log.error("a checkpoint could not be copied", error=str(error))

    # The pit

    def _note_failure(self, error: str) -> None:
        """The journal cannot be sealed: the pit has an alarm, and no money leaves before it can."""
        if error != self._failure:
            self._failure = error
            _log.error("the journal cannot be sealed", error=error)

    def _show_money(self) -> None:
        """Shows the pit when no money leaves the house any more, why, and when it may leave again."""
        refusal = self.refusal()
        is_known = self._is_silent or self._contradiction is not None or self.removed is not None
        no_money = None if refusal is None or not is_known else Words(refusal, refusal)
        if no_money != self._shown:
            self._shown = no_money
            self._hold_money(no_money)

    @property
    def _is_silent(self) -> bool:
        return self._clock.steady() - self._heard_at >= ALARM_AFTER


def _no_money(problem: str) -> Words:
    return Words(f"No money leaves the house: {problem}", f"资金不得离场：{problem}")

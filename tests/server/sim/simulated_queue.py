"""The command queue without a thread: groups as the real one does, and takes as long as a disk might."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

from taisai.server.runtime.command_queue import MOST_AT_ONCE, CommandQueue, QueuedWork, Steps


class SimulatedQueue(CommandQueue):
    """Decides and appends what waits when the disk is ready, and lets the loop deliver it a bit later.

    Between the append and the delivery a crash finds what is durable and unacknowledged.
    """

    def __init__(self, *given: Any, chance: Random, slow: float, **named: Any) -> None:
        """`slow`: the longest that the disk takes, in seconds."""
        self._chance = chance
        self._slow = slow
        self._waiting_batches: list[tuple[list[QueuedWork], float]] = []
        self._written: tuple[Steps, float] | None = None
        """What was appended and is not delivered yet."""
        self._is_at_work = False
        self._is_dead = False
        self.doom: str | None = None
        """'before' or 'after': when, around its next append, it dies."""
        self.died: asyncio.Event = asyncio.Event()
        super().__init__(*given, **named)
        self.engine = self._engine

    def _start(self) -> None:
        """There is no thread."""

    def _push(self) -> None:
        submitted, self._submitted = self._submitted, []
        if submitted:
            self._waiting_batches.append((submitted, self._loop.time()))
            self._go()

    def close(self) -> None:
        """Answers whoever still waits, and ends."""
        if not self._is_dead and self._written is not None:
            self._loop.call_soon(self._deliver, *self._written)
        while self._waiting_batches and not self._is_dead:
            self._loop.call_soon(self._deliver, *self._write())
        self._is_dead = True

    def crash(self) -> None:
        """The machine is gone: nobody is answered any more."""
        self._is_dead = True
        self.died.set()

    def _go(self) -> None:
        if not self._is_at_work and not self._is_dead:
            self._is_at_work = True
            self._loop.call_later(self._chance.uniform(0, self._slow), self._begin)

    def _begin(self) -> None:
        if self.doom == "before":
            self.crash()
        if not self._is_dead:
            self._written = self._write()
            if self.doom == "after":
                self.crash()
            self._loop.call_later(self._chance.uniform(0, self._slow / 4), self._end)

    def _write(self) -> tuple[Steps, float]:
        batches, self._waiting_batches = (
            self._waiting_batches[:MOST_AT_ONCE],
            self._waiting_batches[MOST_AT_ONCE:],
        )
        since = batches[0][1] if batches else 0.0
        return self._work([pending for batch, _ in batches for pending in batch]), since

    def _end(self) -> None:
        if self._is_dead or self._written is None:
            return
        self._loop.call_soon(self._deliver, *self._written)
        self._written = None
        self._is_at_work = False
        if self._waiting_batches:
            self._go()
        else:
            self._engine.save()

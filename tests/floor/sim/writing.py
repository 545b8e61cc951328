"""The journal's writer without a thread: groups as the real one does, and takes as long as the disk is drawn to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any

from taisai.floor.host import Told
from taisai.house import Ask, Keeper
from taisai.house.writer import MOST_AT_ONCE

Errand = tuple[Callable[[Keeper], Any], Callable[[Any], None]]


class InlineWriter:
    """Takes whatever waits, decides and appends it when the disk is ready, and tells those who asked a bit later.

    Between the append and the telling a crash finds what is durable and unacknowledged.
    """

    def __init__(self, keeper: Keeper, after: Callable[[], None], *, chance: Random, slow: float) -> None:
        """`slow`: the longest that the disk takes, in seconds."""
        self.keeper = keeper
        self.groups = 0
        self._after = after
        self._chance = chance
        self._slow = slow
        self._queue: list[tuple[Ask, Told] | Errand] = []
        self._is_at_work = False
        self._is_dead = False
        self._loop = asyncio.get_running_loop()

    def submit(self, ask: Ask, answered: Told) -> None:
        """Puts a command in the queue."""
        self._queue.append((ask, answered))
        self._go()

    def run(self, job: Callable[[Keeper], Any], done: Callable[[Any], None]) -> None:
        """Puts a job in the queue."""
        self._queue.append((job, done))
        self._go()

    def close(self) -> None:
        """Answers whoever still waits, and ends."""
        if not self._is_dead:
            self._after()
        while self._queue and not self._is_dead:
            self._write()
            self._after()
        self._is_dead = True

    def crash(self) -> None:
        """The machine is gone: nobody is answered any more."""
        self._is_dead = True

    def _go(self) -> None:
        if not self._is_at_work and not self._is_dead:
            self._is_at_work = True
            self._loop.call_later(self._chance.uniform(0, self._slow), self._write)

    def _write(self) -> None:
        if self._is_dead:
            return
        group, self._queue = self._queue[:MOST_AT_ONCE], self._queue[MOST_AT_ONCE:]
        self.groups += 1
        together: list[tuple[Ask, Told]] = []
        for first, second in group:
            if isinstance(first, Ask):
                together.append((first, second))
            else:
                self._answer(together)
                together = []
                self._do(first, second)
        self._answer(together)
        self._loop.call_later(self._chance.uniform(0, self._slow / 4), self._tell)

    def _tell(self) -> None:
        if self._is_dead:
            return
        self._after()
        self._is_at_work = False
        if self._queue:
            self._go()
        else:
            self.keeper.save()

    def _answer(self, group: list[tuple[Ask, Told]]) -> None:
        if group:
            answers = self.keeper.outcomes([ask for ask, _ in group])
            for (_, answered), answer in zip(group, answers, strict=True):
                answered(answer)

    def _do(self, job: Callable[[Keeper], Any], done: Callable[[Any], None]) -> None:
        try:
            found = job(self.keeper)
        except Exception as error:  # noqa: BLE001  as the real one does
            found = error
        done(found)

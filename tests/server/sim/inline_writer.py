"""The journal's writer without a thread: groups as the real one does, and takes as long as a disk might."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

from taisai.journal import Answer, Engine, Submission
from taisai.journal.writer import MOST_AT_ONCE

Answers = list[Answer | BaseException]


class _Batch(NamedTuple):
    asks: Sequence[Submission]
    answered: Callable[[Answers], None]


class _Errand(NamedTuple):
    job: Callable[[Engine], Any]
    done: Callable[[Any], None]


class InlineWriter:
    """Takes whatever waits, decides and appends it when the disk is ready, and tells who asked a bit later.

    Between the append and the telling a crash finds what is durable and unacknowledged.
    """

    def __init__(self, engine: Engine, after: Callable[[], None], *, chance: Random, slow: float) -> None:
        """`slow`: the longest that the disk takes, in seconds."""
        self.engine = engine
        self._after = after
        self._chance = chance
        self._slow = slow
        self._queue: list[_Batch | _Errand] = []
        self._is_at_work = False
        self._is_dead = False
        self.doom: str | None = None
        """'before' or 'after': when, around its next append, it dies."""
        self.died: asyncio.Event = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def submit_all(self, asks: Sequence[Submission], answered: Callable[[Answers], None]) -> None:
        """Puts commands in the queue."""
        self._queue.append(_Batch(asks, answered))
        self._go()

    def run(self, job: Callable[[Engine], Any], done: Callable[[Any], None]) -> None:
        """Puts a job in the queue."""
        self._queue.append(_Errand(job, done))
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
        self.died.set()

    def _go(self) -> None:
        if not self._is_at_work and not self._is_dead:
            self._is_at_work = True
            self._loop.call_later(self._chance.uniform(0, self._slow), self._work)

    def _work(self) -> None:
        if self.doom == "before":
            self.crash()
        if not self._is_dead:
            self._write()
            if self.doom == "after":
                self.crash()
            self._loop.call_later(self._chance.uniform(0, self._slow / 4), self._tell)

    def _write(self) -> None:
        group, self._queue = self._queue[:MOST_AT_ONCE], self._queue[MOST_AT_ONCE:]
        together: list[_Batch] = []
        for one in group:
            if isinstance(one, _Batch):
                together.append(one)
            else:
                self._answer(together)
                together = []
                self._do(one)
        self._answer(together)

    def _tell(self) -> None:
        if self._is_dead:
            return
        self._after()
        self._is_at_work = False
        if self._queue:
            self._go()
        else:
            self.engine.save()

    def _answer(self, group: list[_Batch]) -> None:
        if group:
            answers: Answers = list(self.engine.outcomes([ask for batch in group for ask in batch.asks]))
            for batch in group:
                batch.answered(answers[: len(batch.asks)])
                del answers[: len(batch.asks)]

    def _do(self, errand: _Errand) -> None:
        try:
            found = errand.job(self.engine)
        except Exception as error:  # noqa: BLE001  as the real one does
            found = error
        errand.done(found)

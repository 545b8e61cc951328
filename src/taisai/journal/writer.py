"""The writer: one thread that answers whoever asks, so many at once as wait when the disk is ready again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread, current_thread
from typing import Any, Final, NamedTuple

from taisai.game.refusals import Reason, Refusal
from taisai.journal.engine import Answer, Engine, Submission
from taisai.journal.errors import JournalError
from taisai.rules.clauses import Clause

MOST_AT_ONCE: Final = 2_000  # commands of one group; beyond it the first would wait for the last too long
MOST_WAITING: Final = 100_000  # commands; beyond it, some seconds of work, a newcomer is refused at once

_log = logging.getLogger(__name__)

Answered = Callable[[Answer | BaseException], None]
Job = Callable[[Engine], Any]
"""Something to be done with the engine, in its thread, between commands: a look at a table, a seal."""


class _Waiting(NamedTuple):
    ask: Submission
    answered: Answered


class _Batch(NamedTuple):
    """Commands of many who asked at about the same time; their answers come together."""

    asks: Sequence[Submission]
    answered: Callable[[list[Answer | BaseException]], None]


class _Errand(NamedTuple):
    job: Job
    done: Callable[[Any], None]


class Writer:
    """Owns an engine: nobody else may ask it anything while the thread runs."""

    def __init__(self, engine: Engine, *, after: Callable[[], None] | None = None) -> None:
        """`after` is called in the thread whenever those who waited together have been answered."""
        self._engine = engine
        self._after = after
        self._queue: SimpleQueue[_Waiting | _Batch | _Errand | None] = SimpleQueue()
        self._closed = False
        self._closing = Lock()  # nobody comes after the last
        self._thread = Thread(target=self._run, name="journal writer", daemon=True)
        self._thread.start()

    def submit(self, ask: Submission, answered: Answered) -> None:
        """Puts a command in the queue; `answered` is called in the writer's thread, once it is durable."""
        with self._closing:
            if self._closed:
                raise JournalError("expected a writer at work, got one that was closed")
            if self._queue.qsize() < MOST_WAITING:
                self._queue.put(_Waiting(ask, answered))
                return
        answered(_TOO_MANY)

    def submit_all(
        self, asks: Sequence[Submission], answered: Callable[[list[Answer | BaseException]], None]
    ) -> None:
        """The same for many at once: one callback with all answers, in order."""
        with self._closing:
            if self._closed:
                raise JournalError("expected a writer at work, got one that was closed")
            if self._queue.qsize() < MOST_WAITING:
                self._queue.put(_Batch(asks, answered))
                return
        answered([_TOO_MANY] * len(asks))

    def run(self, job: Job, done: Callable[[Any], None]) -> None:
        """Puts a job in the queue, in order with the commands; `done` gets what it returns or raises."""
        with self._closing:
            if self._closed:
                raise JournalError("expected a writer at work, got one that was closed")
            self._queue.put(_Errand(job, done))

    def ask(self, ask: Submission) -> Answer:
        """Puts a command in the queue and waits for its answer."""
        waiting: Future[Answer] = Future()

        def answered(answer: Answer | BaseException) -> None:
            if isinstance(answer, BaseException):
                waiting.set_exception(answer)
            else:
                waiting.set_result(answer)

        self.submit(ask, answered)
        return waiting.result()

    def close(self) -> None:
        """Answers whoever still waits, and ends the thread."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        if current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        going_on = True
        while going_on:
            group = [self._queue.get()]
            many = _many(group[0])
            while many < MOST_AT_ONCE:
                try:
                    group.append(self._queue.get_nowait())
                except Empty:
                    break
                many += _many(group[-1])
            going_on = None not in group
            self._go_through(group)
            if self._after is not None:
                try:
                    self._after()
                except Exception:  # noqa: BLE001  those who ask next are answered all the same
                    _log.exception("what comes after a group of commands failed")
            if self._queue.empty():  # nobody waits for what is only there for the next start
                with suppress(Exception):
                    self._engine.save()

    def _go_through(self, group: Sequence[_Waiting | _Batch | _Errand | None]) -> None:
        """Commands are decided together, as far as no job stands between them."""
        together: list[_Waiting | _Batch] = []
        for one in (*group, None):
            if isinstance(one, _Waiting | _Batch):
                together.append(one)
                continue
            self._answer(together)
            together = []
            if one is not None:
                self._do(one)

    def _answer(self, group: Sequence[_Waiting | _Batch]) -> None:
        asks: list[Submission] = []
        for one in group:
            if isinstance(one, _Batch):
                asks += one.asks
            else:
                asks.append(one.ask)
        answers = self._outcomes(asks) if asks else []
        first = 0
        for one in group:
            last = first + _many(one)
            with suppress(Exception):  # he may be gone; those after him still wait
                if isinstance(one, _Batch):
                    one.answered(answers[first:last])
                else:
                    one.answered(answers[first])
            first = last

    def _outcomes(self, asks: Sequence[Submission]) -> list[Answer | BaseException]:
        try:
            return [*self._engine.outcomes(asks)]
        except BaseException as error:  # noqa: BLE001  it belongs to those who asked, and the thread lives on
            return [error] * len(asks)

    def _do(self, errand: _Errand) -> None:
        found: Any
        try:
            found = errand.job(self._engine)
        except BaseException as error:  # noqa: BLE001  as above
            found = error
        with suppress(Exception):
            errand.done(found)


def _many(one: _Waiting | _Batch | _Errand | None) -> int:
    return len(one.asks) if isinstance(one, _Batch) else 1


_TOO_MANY: Final = Refusal(
    Reason.TOO_MANY, Clause("house:most"), f"expected fewer than {MOST_WAITING} commands to wait, got as many"
)

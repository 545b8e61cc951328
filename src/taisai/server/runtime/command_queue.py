"""The one queue between the connections and the engine: decide, append, publish, acknowledge, in that order.

A thread owns the engine and the projections. It takes all commands that wait, decides them, appends what
they come to in one synced write, and makes frames of it. The event loop then publishes the frames and calls
the replies, in this order, so that a reply always comes after what it acknowledges is durable and published.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from queue import Empty, SimpleQueue
from threading import Lock, Thread, current_thread
from typing import Any, Final, NamedTuple, TypeVar, cast

import structlog
from msgspec import Struct

from taisai.game.events import BetRegistered
from taisai.game.refusals import Reason, Refusal
from taisai.journal import Answer, Engine, JournalError, Submission
from taisai.journal.codec import AnyCommand, AnyEvent
from taisai.journal.engine import Prepare
from taisai.rules.book import Rulebook
from taisai.rules.clauses import Clause
from taisai.server.connections.feeds import Feeds
from taisai.server.projections.feed_writer import Frame
from taisai.server.projections.house_feeds import HouseFeeds

T = TypeVar("T")
AnswerCallback = Callable[[Answer | BaseException], None]
"""Receives what a command came to."""
Job = Callable[[Engine], T]
"""Reads or does something with the engine, in its turn between commands."""

MOST_WAITING: Final = 50_000  # commands, some seconds of work; one more is refused at once
MOST_AT_ONCE: Final = 2_000  # commands of one write; with more, the first would wait too long for the last
_TOO_MANY: Final = Refusal(
    Reason.TOO_MANY, Clause("house:most"), f"too many commands wait: expected fewer than {MOST_WAITING}"
)
_log = structlog.get_logger(__name__)


class QueuedWork(Struct):  # the collector watches it: an error that it answers leads back to it
    """A command or a job that waits, and in the end what it came to."""

    work: Submission | Job[Any]
    reply: Callable[[Any], None] | None
    answer: Any = ()
    """Of a command, its answer or why its stream failed; of a job, what it returned or raised."""


class Committed(NamedTuple):
    """What a command came to, for the parts of the server that act upon it."""

    stream: str
    command: AnyCommand
    events: tuple[AnyEvent, ...]


Listener = Callable[[Committed], None]
Steps = list[Frame | QueuedWork]
"""What the loop has to do after a write: frames to publish and replies to call, in order."""


class CommandQueue:
    """Commands go in; frames and replies come out. Its public methods belong to the loop."""

    def __init__(
        self,
        engine: Engine,
        projections: HouseFeeds,
        feeds: Feeds,
        *,
        on_durable: Callable[[float], None] | None = None,
    ) -> None:
        """`on_durable` receives, for each write, the seconds from its first submission to its replies."""
        self.feeds = feeds
        self.projections = projections
        self.trouble: str | None = None
        """Why the journal could not be written, the last time that it could not."""
        self.in_doubt = asyncio.Event()
        """Set when it is unknown what the journal holds; a new start, which recovers, finds out."""
        self.waiting = 0
        """Commands that have no answer yet."""
        self.listeners: list[Listener] = []
        self._engine = engine
        self._on_durable = on_durable
        self._submitted: list[QueuedWork] = []
        """What was submitted in this turn of the loop; it enters the queue together."""
        self._loop = asyncio.get_running_loop()
        self._batches: SimpleQueue[tuple[list[QueuedWork], float] | None] = SimpleQueue()
        """What was submitted in one turn, and when; None ends the thread."""
        self._is_closed = False
        self._closing = Lock()  # nothing enters the queue after its end
        self._start()

    # In the loop

    def submit(self, submission: Submission, reply: AnswerCallback | None = None) -> None:
        """Submits a command; `reply` is called when it is durable and published, or refused."""
        if self.waiting >= MOST_WAITING:
            if reply is not None:
                self._loop.call_soon(reply, _TOO_MANY)
            return
        self.waiting += 1
        if not self._submitted:
            self._loop.call_soon(self._push)
        self._submitted.append(QueuedWork(submission, reply))

    def submit_job(self, job: Job[T], reply: Callable[[T | BaseException], None]) -> None:
        """Submits a job; `reply` is called in order with the frames and the replies of commands."""
        self._submitted.append(QueuedWork(job, reply))
        self._push()

    async def execute(
        self, stream: str, command: AnyCommand | Prepare, book: Rulebook | None = None
    ) -> Answer:
        """What a command comes to, durably; a function makes it in the engine's turn from the state there."""
        future: asyncio.Future[Answer] = self._loop.create_future()
        self.submit(Submission(stream, command, book), partial(_resolve, future))
        return await future

    async def run(self, job: Job[T]) -> T:
        """What a job returns."""
        future: asyncio.Future[T] = self._loop.create_future()
        self.submit_job(job, partial(_resolve, future))
        return await future

    def _push(self) -> None:
        """Puts what was submitted in the queue; a simulation, which has no thread, does it in its own way."""
        submitted, self._submitted = self._submitted, []
        if not submitted:
            return
        with self._closing:
            if not self._is_closed:
                self._batches.put((submitted, self._loop.time()))
                return
        for pending in submitted:
            pending.answer = JournalError("the command queue is closed: the server stops")
        self._loop.call_soon(self._deliver, submitted, self._loop.time())

    def _deliver(self, steps: Sequence[Frame | QueuedWork], since: float) -> None:  # noqa: C901  every bet passes here
        """Publishes the frames and calls the replies of one write; then the listeners."""
        publish, committed = self.feeds.publish, list[Committed]()
        for step in steps:
            if type(step) is Frame:
                publish(step)
                continue
            pending = cast("QueuedWork", step)
            work, answer = pending.work, pending.answer
            if type(work) is Submission:
                self.waiting -= 1
                if type(answer) is tuple and answer:
                    if type(answer[0]) is not BetRegistered:  # no listener acts upon bets
                        command = cast("AnyCommand", work.command)
                        committed.append(Committed(work.stream, command, answer))
                elif type(answer) is Refusal:
                    self._note_trouble(answer)
            if pending.reply is not None:
                try:
                    pending.reply(answer)
                except Exception:  # noqa: BLE001  the next ones still wait
                    _log.exception("a reply failed")
        self.feeds.flush()
        if self._on_durable is not None:
            self._on_durable(self._loop.time() - since)
        for event in committed:
            for listener in self.listeners:
                try:
                    listener(event)
                except Exception:  # noqa: BLE001  as above
                    _log.exception("a listener failed")

    def _note_trouble(self, refusal: Refusal) -> None:
        if refusal.reason is Reason.JOURNAL_UNWRITABLE:
            self.trouble = str(refusal)
        if refusal.reason is Reason.JOURNAL_IN_DOUBT:
            self.give_up(str(refusal))

    def give_up(self, trouble: str) -> None:
        """Makes the server refuse everybody and stop: only a new start can go on."""
        self.trouble = trouble
        self.in_doubt.set()

    # In the thread

    def _start(self) -> None:
        self._thread = Thread(target=self._run, name="journal writer", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answers all that waits, and ends the thread."""
        with self._closing:
            if not self._is_closed:
                self._is_closed = True
                self._batches.put(None)
        if current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while (batch := self._batches.get()) is not None:
            group, since = batch
            while batch is not None and len(group) < MOST_AT_ONCE:
                try:
                    batch = self._batches.get_nowait()
                except Empty:
                    break
                if batch is not None:
                    group += batch[0]
            steps = self._work(group)
            with suppress(RuntimeError):  # the loop is closed: no client waits for a reply
                self._loop.call_soon_threadsafe(self._deliver, steps, since)
            if batch is None:
                return
            if self._batches.empty():  # no command waits for what only makes the next start quick
                with suppress(Exception):
                    self._engine.save()

    def _work(self, group: Sequence[QueuedWork]) -> Steps:
        """Does what waits, in order; commands are decided together as far as no job is between them."""
        steps = Steps()
        for is_job, part in groupby(group, lambda pending: type(pending.work) is not Submission):
            if is_job:
                steps += map(self._done, part)
                continue
            commands = list(part)
            submissions = [cast("Submission", pending.work) for pending in commands]
            answers: Sequence[Answer | BaseException]
            try:
                answers = self._engine.outcomes(submissions)
            except BaseException as error:  # noqa: BLE001  it answers them all, and the thread goes on
                answers = [error] * len(commands)
            for pending, answer in zip(commands, answers, strict=True):
                pending.answer = answer
            try:
                steps += self.projections.frames(
                    (submission.stream, answer)
                    for submission, answer in zip(submissions, answers, strict=True)
                )
                steps += commands
            except Exception:  # noqa: BLE001  the commands are durable all the same, and are acknowledged
                _log.exception("the projections failed and are made again")
                begin_again = QueuedWork(
                    lambda _: self.projections.begin_again(), lambda _: self.feeds.begin_again()
                )
                steps += [*commands, self._done(begin_again)]
        return steps

    def _done(self, pending: QueuedWork) -> QueuedWork:
        """A job with what it returned or raised."""
        try:
            pending.answer = cast("Job[Any]", pending.work)(self._engine)
        except BaseException as error:  # noqa: BLE001  as above
            pending.answer = error
        return pending


def _resolve(future: asyncio.Future[T], answer: T | BaseException) -> None:
    if future.done():
        return
    if isinstance(answer, BaseException):
        future.set_exception(answer)
    else:
        future.set_result(answer)

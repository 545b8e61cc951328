"""The host: decide, append, publish, acknowledge, in that order, for whoever asks from the loop.

The writer's thread owns every table and the House. Whatever it has made durable it turns into frames for
the feeds, and hands frames and answers over together, so that nobody is answered before what he asked for
can be seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, Protocol, TypeVar, cast

import structlog
from msgspec import Struct

from taisai.game.events import BetRegistered
from taisai.game.refusals import Reason, Refusal
from taisai.journal import Answer, Engine, JournalError, Submission
from taisai.journal.codec import AnyCommand, AnyEvent
from taisai.rules.book import Rulebook
from taisai.rules.clauses import Clause
from taisai.server.connections.feeds import Feeds, Frame
from taisai.server.projections.house_feeds import HouseFeeds

T = TypeVar("T")
_log = structlog.get_logger(__name__)
Told = Callable[[Answer | BaseException], None]


class WriterLike(Protocol):
    """The thread that writes; a simulation has none and writes in its own time."""

    def submit_all(
        self, asks: Sequence[Submission], answered: Callable[[list[Answer | BaseException]], None]
    ) -> None:
        """Puts commands in the queue; their answers come together."""

    def run(self, job: Callable[[Engine], Any], done: Callable[[Any], None]) -> None:
        """Puts a job in the queue."""

    def close(self) -> None:
        """Answers whoever still waits, and ends."""


MOST_WAITING: Final = 50_000  # commands, some seconds of work: a newcomer is refused at once
_TOO_MANY: Final = Refusal(
    Reason.TOO_MANY, Clause("house:most"), f"expected fewer than {MOST_WAITING} commands to wait, got as many"
)


class Bettor(Protocol):
    """Whoever bets, and may follow the seat that he bets at."""

    follows_seat: bool

    def told(self, re: str, answer: Answer | BaseException) -> None:
        """Hears what came of a bet, where the seat's own feed does not tell him."""


class PendingCommand(Struct, gc=False):
    """A command, who asked for it and under which id, and in the end what came of it."""

    ask: Submission
    told: Told | None = None
    re: str | None = None
    bettor: Bettor | None = None
    """Whom a frame tells of success, if he follows by then."""
    answer: Answer | BaseException = ()


class Committed(NamedTuple):
    """What a command came to, for those on the floor who act upon it."""

    stream: str
    command: AnyCommand
    events: tuple[AnyEvent, ...]


Listener = Callable[[Committed], None]
_Step = Frame | PendingCommand | Callable[[], None]


class CommandQueue:
    """Loop and writer, joined; every method is the loop's unless it says otherwise."""

    def __init__(
        self,
        projections: HouseFeeds,
        feeds: Feeds,
        make_writer: Callable[[Callable[[], None]], WriterLike],
        *,
        hand_over: Callable[[Callable[[], None]], object] | None = None,
    ) -> None:
        """`make_writer` gets what to call after each group; `hand_over` calls something in the loop."""
        self.feeds = feeds
        self.projections = projections
        self.trouble: str | None = None
        """Why the journal could last not be written."""
        self.waiting = 0
        """Commands that are with the writer."""
        self.on_durable: Callable[[float], None] | None = None
        """Hears, once for a group of commands, how many seconds it took from the asking to the answers."""
        self.on_doubt: Callable[[], None] | None = None
        """Called when nobody knows what the journal holds: only a start anew, which recovers, can tell."""
        self.listeners: list[Listener] = []
        self._asked: list[PendingCommand] = []
        """What was asked in this turn of the loop: it goes to the writer together."""
        self._waiting: list[PendingCommand] = []
        self._steps: list[_Step] = []
        self._loop = asyncio.get_running_loop()
        self._hand_over = hand_over or self._loop.call_soon_threadsafe
        self._writer = make_writer(self._after)

    # In the loop

    def submit(self, ask: Submission, told: Told | None = None) -> None:
        """Asks for a command; `told` is called in the loop, when it is durable and published."""
        self._put(PendingCommand(ask, told))

    def bet(self, ask: Submission, bettor: Bettor, re: str) -> None:
        """Asks for bets; a `bettor` who follows his seat when they are published has them from there."""
        self._put(PendingCommand(ask, None, re, bettor))

    def _put(self, asked: PendingCommand) -> None:
        if self.waiting + len(self._asked) >= MOST_WAITING:
            asked.answer = _TOO_MANY
            self._loop.call_soon(_tell, asked)
            return
        if not self._asked:
            self._loop.call_soon(self._push)
        self._asked.append(asked)

    def _push(self) -> None:
        asked, self._asked = self._asked, []
        if asked:
            told = partial(self._answered, asked, self._loop.time())
            self._writer.submit_all([one.ask for one in asked], told)
            self.waiting += len(asked)

    async def execute(self, stream: str, command: AnyCommand, book: Rulebook | None = None) -> Answer:
        """What a command comes to, durably."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def told(answer: Answer | BaseException) -> None:
            if future.done():
                return
            if isinstance(answer, BaseException):
                future.set_exception(answer)
            else:
                future.set_result(answer)

        self.submit(Submission(stream, command, book), told)
        return await future

    async def run(self, job: Callable[[Engine], T]) -> T:
        """What a job finds, done in the writer's thread between commands."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.submit_job(job, partial(_settle, future))
        return await future

    def submit_job(self, job: Callable[[Engine], T], told: Callable[[T | BaseException], None]) -> None:
        """The same with a callback, which comes in order with frames and answers."""

        def published(engine: Engine) -> T:
            self._publish()  # what was decided before the look is told before what it found
            return job(engine)

        self._push()
        self._writer.run(published, partial(self._found, told))

    def close(self) -> None:
        """Answers whoever still waits, and ends the writer; the loop must have handed over what was asked."""
        self._writer.close()

    # In the writer's thread

    def _answered(
        self, asked: Sequence[PendingCommand], since: float, answers: list[Answer | BaseException]
    ) -> None:
        self._steps.append(partial(self._measure, since, len(asked)))
        for one, answer in zip(asked, answers, strict=True):
            one.answer = answer
        self._waiting += asked

    def _found(self, told: Callable[[Any], None], found: object) -> None:
        self._steps.append(partial(told, found))

    def _publish(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        try:
            self._steps += self.projections.frames(waiting)
        except Exception:  # noqa: BLE001  it is durable all the same, and whoever asked must hear of it
            _log.exception("the projections failed, and begin again")
            for one in waiting:
                if one.bettor is not None:
                    one.told, one.bettor = partial(one.bettor.told, one.re or ""), None
            self._steps += waiting
            self._steps.append(self.feeds.begin_again)
            self.projections.begin_again()
        else:
            self._steps += waiting

    def _after(self) -> None:
        self._publish()
        steps, self._steps = self._steps, []
        if steps:
            self._hand_over(partial(self._deliver, steps))

    # In the loop again

    def _deliver(self, steps: Sequence[_Step]) -> None:
        publish, heard = self.feeds.publish, list[Committed]()
        for step in steps:
            if type(step) is Frame:
                publish(step)
            elif type(step) is PendingCommand:
                answer, bettor = step.answer, step.bettor
                if type(answer) is tuple and answer:
                    if type(answer[0]) is not BetRegistered:  # of which nobody here makes anything
                        events = cast("tuple[AnyEvent, ...]", answer)
                        heard.append(Committed(step.ask.stream, step.ask.command, events))
                    elif bettor is not None and bettor.follows_seat:
                        continue
                else:
                    self._note(answer)
                _tell(step)
            else:
                _call(step)  # type: ignore[arg-type]
        self.feeds.flush()
        for one in heard:
            for listener in self.listeners:
                _call(listener, one)

    def _measure(self, since: float, count: int) -> None:
        self.waiting -= count
        if self.on_durable is not None:
            self.on_durable(self._loop.time() - since)

    def _note(self, answer: Answer | BaseException) -> None:
        if not isinstance(answer, Refusal):
            return
        if answer.reason in (Reason.JOURNAL_UNWRITABLE, Reason.JOURNAL_IN_DOUBT):
            self.trouble = str(answer)
        if answer.reason is Reason.JOURNAL_IN_DOUBT and self.on_doubt is not None:
            self.on_doubt()


def _tell(asked: PendingCommand) -> None:
    if asked.bettor is not None:
        _call(asked.bettor.told, asked.re or "", asked.answer)
    elif asked.told is not None:
        _call(asked.told, asked.answer)


def _call(told: Callable[..., None], *what: object) -> None:
    """Calls someone; should he fail, those after him still wait."""
    try:
        told(*what)
    except Exception:  # noqa: BLE001  as above
        _log.exception("someone who was told failed")


def _settle(future: asyncio.Future[T], found: T | BaseException) -> None:
    if future.done():
        return
    if isinstance(found, BaseException):
        future.set_exception(found)
    else:
        future.set_result(found)


__all__ = ["CommandQueue", "Committed", "JournalError", "Listener", "PendingCommand", "Told", "WriterLike"]

"""The host: decide, append, publish, acknowledge, in that order, for whoever asks from the loop.

The writer's thread owns every table and the House. Whatever it has made durable it turns into frames for
the feeds, and hands frames and answers over together, so that nobody is answered before what he asked for
can be seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

from taisai.floor.boards import Boards
from taisai.floor.feeds import Feeds, Frame
from taisai.game.refusals import Refusal
from taisai.house import Answer, Ask, JournalError, Keeper
from taisai.house.codec import AnyCommand, AnyEvent
from taisai.rules.book import Rulebook

T = TypeVar("T")
Told = Callable[[Answer | BaseException], None]


class WriterLike(Protocol):
    """The thread that writes; a simulation has none and writes in its own time."""

    def submit(self, ask: Ask, answered: Told) -> None:
        """Puts a command in the queue."""

    def run(self, job: Callable[[Keeper], Any], done: Callable[[Any], None]) -> None:
        """Puts a job in the queue."""

    def close(self) -> None:
        """Answers whoever still waits, and ends."""


class Answered(NamedTuple):
    """A command that was decided: who asked, under which id, and what came of it."""

    stream: str
    command: AnyCommand
    re: str | None
    told: Told | None
    answer: Answer | BaseException


class Happened(NamedTuple):
    """What a command came to, for those on the floor who act upon it."""

    stream: str
    command: AnyCommand
    events: tuple[AnyEvent, ...]


Listener = Callable[[Happened], None]
_Step = Frame | Answered | Callable[[], None]


class Host:
    """Loop and writer, joined; every method is the loop's unless it says otherwise."""

    def __init__(
        self,
        boards: Boards,
        feeds: Feeds,
        make_writer: Callable[[Callable[[], None]], WriterLike],
        *,
        hand_over: Callable[[Callable[[], None]], object] | None = None,
    ) -> None:
        """`make_writer` gets what to call after each group; `hand_over` calls something in the loop."""
        self.feeds = feeds
        self.boards = boards
        self.trouble: str | None = None
        """Why the journal could last not be written."""
        self.listeners: list[Listener] = []
        self._waiting: list[Answered] = []
        self._steps: list[_Step] = []
        self._hand_over = hand_over or asyncio.get_running_loop().call_soon_threadsafe
        self._writer = make_writer(self._after)

    # In the loop

    def submit(self, ask: Ask, told: Told | None = None, *, re: str | None = None) -> None:
        """Asks for a command; `told` is called in the loop, when it is durable and published."""
        self._writer.submit(ask, partial(self._answered, ask, re, told))

    async def ask(self, stream: str, command: AnyCommand, book: Rulebook | None = None) -> Answer:
        """What a command comes to, durably."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def told(answer: Answer | BaseException) -> None:
            if future.done():
                return
            if isinstance(answer, BaseException):
                future.set_exception(answer)
            else:
                future.set_result(answer)

        self.submit(Ask(stream, command, book), told)
        return await future

    async def look(self, job: Callable[[Keeper], T]) -> T:
        """What a job finds, done in the writer's thread between commands."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.run(job, partial(_settle, future))
        return await future

    def run(self, job: Callable[[Keeper], T], told: Callable[[T | BaseException], None]) -> None:
        """The same with a callback, which comes in order with frames and answers."""

        def published(keeper: Keeper) -> T:
            self._publish()  # what was decided before the look is told before what it found
            return job(keeper)

        self._writer.run(published, partial(self._found, told))

    def close(self) -> None:
        """Answers whoever still waits, and ends the writer."""
        self._writer.close()

    # In the writer's thread

    def _answered(self, ask: Ask, re: str | None, told: Told | None, answer: Answer | BaseException) -> None:
        self._waiting.append(Answered(ask.stream, ask.command, re, told, answer))

    def _found(self, told: Callable[[Any], None], found: object) -> None:
        self._steps.append(partial(told, found))

    def _publish(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._steps += self.boards.frames(waiting)
            self._steps += waiting

    def _after(self) -> None:
        self._publish()
        steps, self._steps = self._steps, []
        if steps:
            self._hand_over(partial(self._deliver, steps))

    # In the loop again

    def _deliver(self, steps: Sequence[_Step]) -> None:
        publish, feeds, heard = self.feeds.publish, self.feeds, []
        for step in steps:
            if type(step) is Frame:
                publish(step)
            elif type(step) is Answered:
                if step.told is not None:
                    step.told(step.answer)
                if type(step.answer) is tuple and step.answer:
                    heard.append(step)
                else:
                    self._note(step.answer)
            else:
                step()  # type: ignore[operator]
        feeds.flush()
        for one in heard:
            happened = Happened(one.stream, one.command, one.answer)  # type: ignore[arg-type]
            for listener in self.listeners:
                listener(happened)

    def _note(self, answer: Answer | BaseException) -> None:
        if isinstance(answer, Refusal) and answer.reason.startswith("journal-"):
            self.trouble = str(answer)


def _settle(future: asyncio.Future[T], found: T | BaseException) -> None:
    if future.done():
        return
    if isinstance(found, BaseException):
        future.set_exception(found)
    else:
        future.set_result(found)


__all__ = ["Answered", "Happened", "Host", "JournalError", "Listener", "Told", "WriterLike"]

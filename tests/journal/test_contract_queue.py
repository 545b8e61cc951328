"""The command queue: answers come after the disk, in order, to everyone who submitted; errors too."""

from __future__ import annotations

import asyncio
import gc
import time
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager
from threading import Event, Thread
from typing import Any

import msgspec
import pytest

from taisai.cage.messages import BringIn
from taisai.game import Refusal
from taisai.game.commands import Assign
from taisai.game.refusals import Reason
from taisai.journal.codec import HOUSE_STREAM, stream_of
from taisai.journal.engine import Answer, Engine, Submission
from taisai.journal.errors import ConflictError, JournalError, UnwritableError
from taisai.journal.journal import Journal
from taisai.journal.stores.contract import Head, MemoryStore, Row, Store
from taisai.rules import rulebook
from taisai.server.connections.feeds import Feeds
from taisai.server.projections.house_feeds import HouseFeeds
from taisai.server.runtime import command_queue as module
from taisai.server.runtime.command_queue import CommandQueue
from tests.game.past_rounds import compiled_once
from tests.journal.contract import MakeStore, asks, differences, opened, play
from tests.journal.evening import BOOK, START, evening
from tests.journal.test_contract_engine import BETTING, EVENING, OPENING, at_the_first_bet

PATIENCE = 10  # seconds that a thread is waited for before the test has failed


@pytest.fixture(scope="module", autouse=True)
def _terms_compiled_once() -> Iterator[None]:
    with compiled_once():
        yield


class Gate:
    """A store whose disk takes its time: until the gate is open, nothing of an append is written."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.appends: list[int] = []
        """How many rows were written at once."""
        self.reached = Event()
        self.open = Event()
        self.open.set()
        self.errors: list[Exception] = []

    def append(self, rows: Sequence[Row], head: Head | None = None) -> None:
        """Waits, then raises or appends."""
        self.reached.set()
        assert self.open.wait(PATIENCE)
        if self.errors:
            raise self.errors.pop(0)
        self._store.append(rows, head)
        self.appends.append(len(rows))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class Answers:
    """What was answered, in this order."""

    def __init__(self) -> None:
        self.given: list[Answer | BaseException] = []
        self._one = asyncio.Event()

    def __call__(self, answer: Answer | BaseException) -> None:
        """Takes an answer."""
        self.given.append(answer)
        self._one.set()

    async def wait(self) -> list[Answer | BaseException]:
        """All of them, when there is one."""
        async with asyncio.timeout(PATIENCE):
            await self._one.wait()
        return self.given


def queue_over(engine: Engine) -> CommandQueue:
    """A queue with its thread, and feeds that nobody follows."""
    return CommandQueue(engine, HouseFeeds(engine, {}, now=lambda: START), Feeds("epoch"))


@asynccontextmanager
async def writing(make_store: MakeStore) -> AsyncIterator[tuple[CommandQueue, Gate]]:
    """A queue at work at a table that takes bets."""
    at_the_first_bet(make_store)
    gate = Gate(make_store())
    queue = queue_over(Engine(Journal(gate)))
    try:
        yield queue, gate
    finally:
        gate.open.set()
        await asyncio.to_thread(queue.close)


async def reached(gate: Gate) -> None:
    """Until something is on its way to the disk."""
    assert await asyncio.to_thread(gate.reached.wait, PATIENCE)


async def submit(queue: CommandQueue, submission: Submission, answers: Callable[[Any], None]) -> None:
    """Submits a command in a turn of the loop of its own."""
    queue.submit(submission, answers)
    await asyncio.sleep(0)


def execute(queue: CommandQueue, submission: Submission) -> Coroutine[Any, Any, Answer]:
    """The answer to a command."""
    return queue.execute(submission.stream, submission.command, submission.book)


BETS = asks(EVENING[BETTING])[:1] + asks(EVENING[BETTING + 1])[:1] + asks(EVENING[BETTING + 2])[:1]


def test_nobody_is_answered_before_it_is_durable(make_store: MakeStore) -> None:
    async def story() -> None:
        async with writing(make_store) as (queue, gate):
            gate.open.clear()
            answers = Answers()
            queue.submit(BETS[0], answers)
            await reached(gate)
            assert answers.given == []  # it is decided, and on its way to the disk
            size = Journal(gate._store).size
            gate.open.set()
            (answer,) = await answers.wait()
            assert isinstance(answer, tuple)
            assert answer
            assert Journal(gate._store).size == size + len(answer)

    asyncio.run(story())


def test_anyone_who_comes_while_the_disk_is_busy_is_written_together(make_store: MakeStore) -> None:
    async def story() -> None:
        async with writing(make_store) as (queue, gate):
            gate.open.clear()
            first, *others = [Answers() for _ in BETS]
            queue.submit(BETS[0], first)
            await reached(gate)
            for submission, answers in zip(BETS[1:], others, strict=True):
                await submit(queue, submission, answers)
            gate.open.set()
            written = [len(_done((await answers.wait())[0])) for answers in (first, *others)]
            assert gate.appends == [written[0], sum(written[1:])]

    asyncio.run(story())


def _done(answer: Answer | BaseException) -> tuple[object, ...]:
    assert isinstance(answer, tuple), answer
    return answer


def test_no_more_are_written_together_than_the_limit(make_store: MakeStore) -> None:
    coins = [BringIn(at=START, by="ann", id=f"coin {number}", amount=1, second="sue") for number in range(7)]

    async def story() -> None:
        async with writing(make_store) as (queue, gate):
            gate.open.clear()
            waiting = [Answers() for _ in coins]
            for command, answers in zip(coins, waiting, strict=True):
                await submit(queue, Submission(HOUSE_STREAM, command), answers)
                await reached(gate)
            gate.open.set()
            for answers in waiting:
                await answers.wait()
            assert gate.appends == [1, 3, 3]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "MOST_AT_ONCE", 3)
        asyncio.run(story())


def test_commands_of_a_stream_are_answered_in_order(make_store: MakeStore) -> None:
    batches = evening(seats=2, rounds=2).batches
    answers = None

    async def story() -> None:
        nonlocal answers
        queue, answers = queue_over(Engine(opened(make_store()))), Answers()
        for batch in batches:
            for submission in asks(batch):
                queue.submit(submission, answers)
        await asyncio.sleep(0)
        await asyncio.to_thread(queue.close)
        await asyncio.sleep(0)

    asyncio.run(story())
    assert answers is not None
    assert answers.given == play(Engine(opened(MemoryStore())), batches)
    assert differences(Engine(Journal(make_store())), batches) == []


def test_many_submit_at_once_and_each_table_keeps_its_own_order(make_store: MakeStore) -> None:
    names = ("SB1", "SB2", "SB3", "SB4")
    book = rulebook(BOOK)

    async def open_and_assign(queue: CommandQueue, name: str) -> None:
        await queue.execute(stream_of(name), msgspec.structs.replace(OPENING, table=name), book)
        for number in range(20):
            person = f"dealer {number}"
            command = Assign(at=START, by="house", person=person, rank="dealer", position="dealer")
            await queue.execute(stream_of(name), command)

    async def story() -> None:
        queue = queue_over(Engine(opened(make_store())))
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(open_and_assign(queue, name) for name in names))
        await asyncio.to_thread(queue.close)

    asyncio.run(story())
    journal = Journal(make_store())
    for name in names:
        events: list[Any] = [entry.event for entry in journal.entries(after=1, stream=stream_of(name))]
        assert [event.person for event in events] == [f"dealer {number}" for number in range(20)]


# Errors


def test_an_error_answers_all_and_the_queue_goes_on(make_store: MakeStore) -> None:
    async def story() -> None:
        async with writing(make_store) as (queue, gate):
            gate.errors.append(ConflictError("expected to be the only writer, got another"))
            with pytest.raises(ConflictError, match="got another"):
                await execute(queue, BETS[0])
            assert await execute(queue, BETS[0])

    asyncio.run(story())


def test_a_journal_that_cannot_be_written_is_an_answer(make_store: MakeStore) -> None:
    async def story() -> None:
        async with writing(make_store) as (queue, gate):
            gate.errors.append(UnwritableError("expected room, got none"))
            answer = await execute(queue, BETS[0])
            assert isinstance(answer, Refusal)
            assert answer.reason is Reason.JOURNAL_UNWRITABLE
            assert queue.trouble == str(answer)
            assert await execute(queue, BETS[0])

    asyncio.run(story())


def test_one_who_is_gone_does_not_keep_the_others_waiting(make_store: MakeStore) -> None:
    def gone(_answer: Answer | BaseException) -> None:
        raise RuntimeError("the connection was closed")

    async def story() -> None:
        async with writing(make_store) as (queue, gate):
            gate.open.clear()
            queue.submit(BETS[0], gone)
            await reached(gate)
            answers = Answers()
            queue.submit(BETS[1], gone)
            queue.submit(BETS[2], answers)
            await asyncio.sleep(0)
            gate.open.set()
            assert await answers.wait()

    asyncio.run(story())


# The end


def test_closing_answers_anyone_who_waits(make_store: MakeStore) -> None:
    async def story() -> None:
        async with writing(make_store) as (queue, gate):
            gate.open.clear()
            waiting = [Answers() for _ in BETS]
            for submission, answers in zip(BETS, waiting, strict=True):
                await submit(queue, submission, answers)
                await reached(gate)  # the first is on its way to the disk, the others wait
            closing = Thread(target=queue.close)
            closing.start()
            _until(lambda: queue._is_closed)
            gate.open.set()
            await asyncio.to_thread(closing.join, PATIENCE)
            await asyncio.sleep(0)
            assert [len(answers.given) for answers in waiting] == [1, 1, 1]

    asyncio.run(story())


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "expected it to hold by now"
        time.sleep(0.001)


def test_nothing_is_taken_after_the_end(make_store: MakeStore) -> None:
    async def story() -> None:
        async with writing(make_store) as (queue, _):
            await asyncio.to_thread(queue.close)
            await asyncio.to_thread(queue.close)  # twice is once
            async with asyncio.timeout(PATIENCE):
                with pytest.raises(JournalError, match="the command queue is closed"):
                    await execute(queue, BETS[0])
                with pytest.raises(JournalError, match="the command queue is closed"):
                    await queue.run(lambda engine: engine.journal.size)
            assert queue.waiting == 0

    asyncio.run(story())


def test_anyone_who_was_taken_is_answered_though_it_closes_at_the_same_moment(make_store: MakeStore) -> None:
    async def story() -> None:
        async with writing(make_store) as (queue, _):
            batches, closing = queue._batches, Thread(target=queue.close)

            class Slow:
                """A queue in which a command takes its place just as the queue is closed."""

                def put(self, batch: Any) -> None:
                    if batch is not None:
                        closing.start()
                        closing.join(0.2)  # as long as it takes, unless it has to wait
                    batches.put(batch)

                def __getattr__(self, name: str) -> Any:
                    return getattr(batches, name)

            answers = Answers()
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(queue, "_batches", Slow())
                await submit(queue, BETS[0], answers)
                await asyncio.to_thread(closing.join, PATIENCE)
            assert await answers.wait()

    asyncio.run(story())


def test_jobs_and_commands_that_fail_leave_nothing_in_memory(make_store: MakeStore) -> None:
    errors: list[weakref.ref[JournalError]] = []

    def fail(*_: object) -> Any:
        error = JournalError("no such table")
        errors.append(weakref.ref(error))
        raise error

    async def story() -> None:
        async with writing(make_store) as (queue, _gate):
            for work in (lambda: queue.run(fail), lambda: queue.execute(stream_of("T9"), fail)) * 5:
                try:
                    await work()
                except JournalError:
                    continue

    asyncio.run(story())
    gc.collect()
    assert len(errors) == 10
    assert [error for error in errors if error() is not None] == []

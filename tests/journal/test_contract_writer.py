"""The writer's thread: answers come after the disk, in order, to everyone who asked; errors too."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import msgspec
import pytest

from taisai.cage.messages import BringIn
from taisai.game import Refusal
from taisai.game.commands import Assign
from taisai.game.refusals import Reason
from taisai.journal import writer as module
from taisai.journal.codec import HOUSE_STREAM, stream_of
from taisai.journal.engine import Answer, Engine, Submission
from taisai.journal.errors import ConflictError, JournalError, UnwritableError
from taisai.journal.journal import Journal
from taisai.journal.stores.contract import Row, Store
from taisai.journal.stores.memory import MemoryStore
from taisai.journal.writer import Writer
from taisai.rules import rulebook
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

    def append(self, rows: Sequence[Row]) -> None:
        """Waits, then raises or appends."""
        self.reached.set()
        assert self.open.wait(PATIENCE)
        if self.errors:
            raise self.errors.pop(0)
        self._store.append(rows)
        self.appends.append(len(rows))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class Answers:
    """What was answered, in this order."""

    def __init__(self) -> None:
        self.given: list[Answer | BaseException] = []
        self._one = Event()

    def __call__(self, answer: Answer | BaseException) -> None:
        """Takes an answer."""
        self.given.append(answer)
        self._one.set()

    def wait(self) -> list[Answer | BaseException]:
        """All of them, when there is one."""
        assert self._one.wait(PATIENCE), "expected an answer, got none"
        return self.given


@contextmanager
def writing(make_store: MakeStore) -> Iterator[tuple[Writer, Gate]]:
    """A writer at work at a table that takes bets."""
    at_the_first_bet(make_store)
    gate = Gate(make_store())
    writer = Writer(Engine(Journal(gate)))
    try:
        yield writer, gate
    finally:
        gate.open.set()
        writer.close()


BETS = asks(EVENING[BETTING])[:1] + asks(EVENING[BETTING + 1])[:1] + asks(EVENING[BETTING + 2])[:1]


def test_nobody_is_answered_before_it_is_durable(make_store: MakeStore) -> None:
    with writing(make_store) as (writer, gate):
        gate.open.clear()
        answers = Answers()
        writer.submit(BETS[0], answers)
        assert gate.reached.wait(PATIENCE)
        assert answers.given == []  # it is decided, and on its way to the disk
        size = Journal(gate._store).size
        gate.open.set()
        (answer,) = answers.wait()
        assert isinstance(answer, tuple)
        assert answer
        assert Journal(gate._store).size == size + len(answer)


def test_whoever_comes_while_the_disk_is_busy_is_written_together(make_store: MakeStore) -> None:
    with writing(make_store) as (writer, gate):
        gate.open.clear()
        first, *others = [Answers() for _ in BETS]
        writer.submit(BETS[0], first)
        assert gate.reached.wait(PATIENCE)
        for ask, answers in zip(BETS[1:], others, strict=True):
            writer.submit(ask, answers)
        gate.open.set()
        written = [len(_done(answers.wait()[0])) for answers in (first, *others)]
        assert gate.appends == [written[0], sum(written[1:])]


def _done(answer: Answer | BaseException) -> tuple[object, ...]:
    assert isinstance(answer, tuple), answer
    return answer


def test_no_more_are_written_together_than_the_limit(make_store: MakeStore) -> None:
    coins = [BringIn(at=START, by="ann", id=f"coin {number}", amount=1, second="sue") for number in range(7)]
    with pytest.MonkeyPatch.context() as patched, writing(make_store) as (writer, gate):
        patched.setattr(module, "MOST_AT_ONCE", 3)
        gate.open.clear()
        waiting = [Answers() for _ in coins]
        for command, answers in zip(coins, waiting, strict=True):
            writer.submit(Submission(HOUSE_STREAM, command), answers)
            assert gate.reached.wait(PATIENCE)
        gate.open.set()
        for answers in waiting:
            answers.wait()
        assert gate.appends == [1, 3, 3]


def test_what_is_asked_of_a_stream_is_answered_in_order(make_store: MakeStore) -> None:
    batches = evening(seats=2, rounds=2).batches
    writer = Writer(Engine(opened(make_store())))
    answers = Answers()
    for batch in batches:
        for ask in asks(batch):
            writer.submit(ask, answers)
    writer.close()
    assert answers.given == play(Engine(opened(MemoryStore())), batches)
    assert differences(Engine(Journal(make_store())), batches) == []


def test_many_threads_ask_and_each_table_keeps_its_own_order(make_store: MakeStore) -> None:
    names = ("SB1", "SB2", "SB3", "SB4")
    book = rulebook(BOOK)
    writer = Writer(Engine(opened(make_store())))

    def open_and_assign(name: str) -> None:
        writer.ask(Submission(stream_of(name), msgspec.structs.replace(OPENING, table=name), book))
        for number in range(20):
            person = f"dealer {number}"
            command = Assign(at=START, by="house", person=person, rank="dealer", position="dealer")
            writer.ask(Submission(stream_of(name), command))

    threads = [Thread(target=open_and_assign, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    writer.close()
    journal = Journal(make_store())
    for name in names:
        events: list[Any] = [entry.event for entry in journal.entries(after=1, stream=stream_of(name))]
        assert [event.person for event in events] == [f"dealer {number}" for number in range(20)]


# Errors


def test_an_error_is_told_to_all_who_asked_and_the_writer_goes_on(make_store: MakeStore) -> None:
    with writing(make_store) as (writer, gate):
        gate.errors.append(ConflictError("another process is writing to the journal"))
        with pytest.raises(ConflictError, match="another process"):
            writer.ask(BETS[0])
        assert writer.ask(BETS[0])


def test_a_journal_that_cannot_be_written_is_an_answer(make_store: MakeStore) -> None:
    with writing(make_store) as (writer, gate):
        gate.errors.append(UnwritableError("expected room, got none"))
        answer = writer.ask(BETS[0])
        assert isinstance(answer, Refusal)
        assert answer.reason is Reason.JOURNAL_UNWRITABLE
        assert writer.ask(BETS[0])


def test_one_who_is_gone_does_not_keep_the_others_waiting(make_store: MakeStore) -> None:
    def gone(_answer: Answer | BaseException) -> None:
        raise RuntimeError("the connection was closed")

    with writing(make_store) as (writer, gate):
        gate.open.clear()
        writer.submit(BETS[0], gone)
        assert gate.reached.wait(PATIENCE)
        answers = Answers()
        writer.submit(BETS[1], gone)
        writer.submit(BETS[2], answers)
        gate.open.set()
        assert answers.wait()


# The end


def test_closing_answers_whoever_waits(make_store: MakeStore) -> None:
    with writing(make_store) as (writer, gate):
        gate.open.clear()
        waiting = [Answers() for _ in BETS]
        for ask, answers in zip(BETS, waiting, strict=True):
            writer.submit(ask, answers)
            assert gate.reached.wait(PATIENCE)  # the first is on its way to the disk, the others wait
        closing = Thread(target=writer.close)
        closing.start()
        _until(lambda: writer._closed)
        gate.open.set()
        closing.join(PATIENCE)
        assert [len(answers.given) for answers in waiting] == [1, 1, 1]


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "expected it to hold by now"
        time.sleep(0.001)


def test_nothing_is_taken_after_the_end(make_store: MakeStore) -> None:
    with writing(make_store) as (writer, _):
        writer.close()
        writer.close()  # twice is once
        with pytest.raises(JournalError, match="expected a writer at work, got one that was closed"):
            writer.submit(BETS[0], Answers())


def test_whoever_was_taken_is_answered_though_it_closes_at_the_same_moment(make_store: MakeStore) -> None:
    with writing(make_store) as (writer, _):
        queue, closing = writer._queue, Thread(target=writer.close)

        class Slow:
            """A queue in which someone takes his place just as the writer is closed."""

            def put(self, waiting: Any) -> None:
                if waiting is not None:
                    closing.start()
                    closing.join(0.2)  # as long as it takes, unless it has to wait
                queue.put(waiting)

            def __getattr__(self, name: str) -> Any:
                return getattr(queue, name)

        answers = Answers()
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(writer, "_queue", Slow())
            writer.submit(BETS[0], answers)
            closing.join(PATIENCE)
        assert answers.wait()

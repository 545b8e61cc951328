"""Reconciliation of tables with the House: positions of staff, and transfers that a stop interrupted."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from functools import partial
from typing import Final, NamedTuple

import structlog

from taisai.cage import MissingSide, StreamError, UnfinishedTransfer, how_to_finish, unfinished
from taisai.cage.messages import PersonDismissed, PersonEnrolled
from taisai.game.commands import Leave
from taisai.game.events import PersonAssigned, TableOpened
from taisai.game.refusals import Reason, Refusal
from taisai.game.vocabulary import HOUSE as BY_THE_HOUSE
from taisai.game.vocabulary import TransferKind
from taisai.journal import Answer, Engine, Submission, stream_of, table_of
from taisai.journal.codec import HOUSE_STREAM, AnyCommand
from taisai.rules.errors import RulesError
from taisai.server.handlers.transfers import KEY_BYTES, arriving, issuing, second_of, ticket_numbers
from taisai.server.runtime.command_queue import CommandQueue, Committed
from taisai.server.runtime.environment import Clock, Entropy

_DONE: Final = frozenset({Reason.UNKNOWN_PERSON, Reason.TABLE_NOT_OPEN})
"""Refusals after which the person holds no position."""
_log = structlog.get_logger(__name__)


class OutdatedPosition(NamedTuple):
    """Someone who holds a position under another rank than the staff list has."""

    table: str
    person: str


class PositionReconciler:
    """Ends positions that the staff list no longer allows: the House knows no tables, and tables no list."""

    def __init__(self, queue: CommandQueue, *, clock: Clock) -> None:
        self._queue = queue
        self._clock = clock
        self._again = False
        """Whether something could not be read or written."""
        queue.listeners.append(self._on_commit)

    def _on_commit(self, committed: Committed) -> None:
        name = table_of(committed.stream)
        for event in committed.events:
            if committed.stream == HOUSE_STREAM and isinstance(event, PersonEnrolled | PersonDismissed):
                self._look(person=event.person)
            elif name is not None and isinstance(event, PersonAssigned | TableOpened):
                # The staff list may have changed after it was read, and before they came.
                self._look(table=name)

    def tick(self) -> None:
        if self._again:
            self._again = False
            self._look()

    async def reconcile(self) -> None:
        """At a start: ends the positions that a stop kept from being ended."""
        for position in await self._queue.run(out_of_place):
            stream = stream_of(position.table)
            self._left(position, await self._queue.execute(stream, self._leave(position)))

    def _look(self, *, table: str | None = None, person: str | None = None) -> None:
        self._queue.submit_job(lambda engine: out_of_place(engine, table=table, person=person), self._end_all)

    def _end_all(self, positions: Iterable[OutdatedPosition] | BaseException) -> None:
        if isinstance(positions, BaseException):
            self._again = True
            _log.error("the staff list could not be compared with the tables", error=str(positions))
            return
        for position in positions:
            submission = Submission(stream_of(position.table), self._leave(position))
            self._queue.submit(submission, partial(self._left, position))

    def _leave(self, position: OutdatedPosition) -> Leave:
        return Leave(at=self._clock.now(), by=BY_THE_HOUSE, person=position.person)

    def _left(self, position: OutdatedPosition, answer: Answer | BaseException) -> None:
        table, person = position
        if isinstance(answer, BaseException) or (isinstance(answer, Refusal) and answer.reason not in _DONE):
            self._again = True
            _log.error("a position could not be ended", table=table, person=person, error=str(answer))
        else:
            _log.info("a position was ended", table=table, person=person)


def out_of_place(
    engine: Engine, *, table: str | None = None, person: str | None = None
) -> list[OutdatedPosition]:
    """The positions of people who have another rank now, or none; in the writer's thread."""
    outdated = []
    for name in engine.tables() if table is None else [table]:
        try:
            people = engine.table(name).people
        except (RulesError, StreamError) as error:  # of one table: the others are still compared
            _log.error("a table could not be compared with the staff list", table=name, error=str(error))
            continue
        listed = engine.house().people
        outdated += [
            OutdatedPosition(name, someone)
            for someone, here in people.items()
            if person in (None, someone) and listed.get(someone) != here.rank
        ]
    return outdated


class Due(NamedTuple):
    """A transfer that one side alone has booked, and what would finish it, if the system itself may."""

    sentence: str
    stream: str
    command: AnyCommand | None


async def finish(queue: CommandQueue, clock: Clock, entropy: Entropy = secrets.token_bytes) -> list[str]:
    """Finishes every transfer that it may; what people have to do about the others, a sentence each.

    To be called at a start, and after a fault; twice is as good as once, also while play goes on.
    """
    at, fresh = clock.now(), entropy(KEY_BYTES)
    left = []
    for sentence, stream, command in await queue.run(lambda engine: due(engine, at=at, fresh=fresh)):
        answer = None if command is None else await queue.execute(stream, command)
        if answer is None:
            left.append(sentence)
        elif isinstance(answer, Refusal):
            left.append(f"{sentence} It was refused: {answer}.")
    return left


def due(engine: Engine, *, at: int, fresh: bytes) -> list[Due]:
    """Every transfer that only the House or only a table has booked; in the writer's thread."""
    tables = {name: engine.table(name).in_transit() for name in engine.tables()}
    transfers = unfinished(engine.house(), tables)
    return [_due(engine, transfer, at=at, fresh=fresh) for transfer in transfers]


def _due(engine: Engine, half: UnfinishedTransfer, *, at: int, fresh: bytes) -> Due:
    sentence, booked = how_to_finish(half), half.booked_by_table
    if half.missing is MissingSide.TABLE and half.transfer is not None:
        arrives = arriving(half.transfer, at=at, second=second_of(engine, half.transfer))
        return Due(sentence, stream_of(half.table), arrives)
    if half.missing is MissingSide.HOUSE and half.transfer is None and booked is not None:
        moved = engine.table(half.table).transfers[half.id]
        if moved.kind is TransferKind.DISPENSED:
            numbers = ticket_numbers(engine, fresh)
            command = issuing(half.id, half.table, -booked, at=at, numbers=numbers)
            return Due(sentence, HOUSE_STREAM, command)
    return Due(sentence, HOUSE_STREAM, None)

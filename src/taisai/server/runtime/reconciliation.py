"""Reconciliation of tables with the House: positions of staff, and transfers that a stop interrupted."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

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
from taisai.server.handlers.ticket_numbers import KEY_BYTES, tickets_key
from taisai.server.handlers.transfers import arriving, issuing, second_of
from taisai.server.runtime.command_queue import CommandQueue, Committed
from taisai.server.runtime.environment import Clock

if TYPE_CHECKING:
    from taisai.server.runtime.command_queue import CommandQueue
    from taisai.server.runtime.environment import Clock, Entropy

_DONE: Final = frozenset({Reason.UNKNOWN_PERSON, Reason.TABLE_NOT_OPEN})
"""Refusals that say that they stand there no more."""
_log = structlog.get_logger(__name__)


class OutdatedPosition(NamedTuple):
    """Someone who stands at a table as what the roll does not have them."""

    table: str
    person: str


class PositionReconciler:
    """Listens to the House and to every table. The House itself knows no tables, and they know no roll."""

    def __init__(self, queue: CommandQueue, *, clock: Clock) -> None:
        self._queue = queue
        self._clock = clock
        self._again = False
        """Whether something could not be looked at or written."""
        queue.listeners.append(self._heard)

    def _heard(self, one: Committed) -> None:
        name = table_of(one.stream)
        for event in one.events:
            if one.stream == HOUSE_STREAM and isinstance(event, PersonEnrolled | PersonDismissed):
                self._look(person=event.person)
            elif name is not None and isinstance(event, PersonAssigned | TableOpened):
                # The roll may have changed after it was asked, and before they came.
                self._look(table=name)

    def tick(self) -> None:
        """Tries once more what could not be done."""
        if self._again:
            self._again = False
            self._look()

    async def reconcile(self) -> None:
        """At a start: what a stop kept the tables from hearing."""
        for one in await self._queue.run(out_of_place):
            self._told(one, await self._queue.execute(stream_of(one.table), self._leave(one)))

    def _look(self, *, table: str | None = None, person: str | None = None) -> None:
        self._queue.submit_job(lambda engine: out_of_place(engine, table=table, person=person), self._found)

    def _found(self, found: Iterable[OutdatedPosition] | BaseException) -> None:
        if isinstance(found, BaseException):
            self._again = True
            _log.error("the roll could not be compared with the tables", error=str(found))
            return
        for one in found:
            self._queue.submit(
                Submission(stream_of(one.table), self._leave(one)),
                lambda answer, one=one: self._told(one, answer),  # type: ignore[misc]
            )

    def _leave(self, one: OutdatedPosition) -> Leave:
        return Leave(at=self._clock.now(), by=BY_THE_HOUSE, person=one.person)

    def _told(self, one: OutdatedPosition, answer: Answer | BaseException) -> None:
        if isinstance(answer, BaseException) or (isinstance(answer, Refusal) and answer.reason not in _DONE):
            self._again = True
            _log.error("someone keeps a position", table=one.table, person=one.person, error=str(answer))
        else:
            _log.info("left by the roll", table=one.table, person=one.person)


def out_of_place(
    engine: Engine, *, table: str | None = None, person: str | None = None
) -> list[OutdatedPosition]:
    """Who stands at a table under another rank than the roll's, or is not on it; in the writer's thread."""
    found = []
    for name in engine.tables() if table is None else [table]:
        try:
            people = engine.table(name).people
        except (RulesError, StreamError) as error:  # of one table, which nobody can ask anything
            _log.error("a table could not be compared with the roll", table=name, error=str(error))
            continue
        roll = engine.house().people
        found += [
            OutdatedPosition(name, one)
            for one, here in people.items()
            if person in (None, one) and roll.get(one) != here.rank
        ]
    return found


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
    for one in await queue.run(lambda engine: due(engine, at=at, fresh=fresh)):
        answer = None if one.command is None else await queue.execute(one.stream, one.command)
        if answer is None:
            left.append(one.sentence)
        elif isinstance(answer, Refusal):
            left.append(f"{one.sentence} It was refused: {answer}.")
    return left


def due(engine: Engine, *, at: int, fresh: bytes) -> list[Due]:
    """Every transfer on which the House and a table are not at one; in the writer's thread."""
    tables = {name: engine.table(name).in_transit() for name in engine.tables()}
    found = unfinished(engine.house(), tables)
    return [_due(engine, one, at=at, fresh=fresh) for one in found]


def _due(engine: Engine, one: UnfinishedTransfer, *, at: int, fresh: bytes) -> Due:
    sentence, booked = how_to_finish(one), one.booked_by_table
    if one.missing is MissingSide.TABLE and one.transfer is not None:
        command = arriving(one.transfer, at=at, second=second_of(engine, one.transfer))
        return Due(sentence, stream_of(one.table), command)
    if one.missing is MissingSide.HOUSE and one.transfer is None and booked is not None:
        moved = engine.table(one.table).transfers[one.id]
        if moved.kind is TransferKind.DISPENSED:
            key = tickets_key(engine, fresh)
            return Due(sentence, HOUSE_STREAM, issuing(one.id, one.table, -booked, at=at, key=key))
    return Due(sentence, HOUSE_STREAM, None)

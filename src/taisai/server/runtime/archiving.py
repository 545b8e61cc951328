"""Tickets and transfers that are over leave the state of House and tables, a few hundred at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

import structlog

from taisai.cage import House, HouseTransfer, Ticket
from taisai.cage.archive import KEPT_FOR, is_old, is_over
from taisai.cage.house import transfers_of
from taisai.cage.messages import ArchiveTickets
from taisai.game import Table
from taisai.game.commands import ArchiveTransfers
from taisai.game.money.archive import MOST_ARCHIVED
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import CAGE, FLOOR
from taisai.journal import Answer, Submission, stream_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.server.runtime.command_queue import MOST_WAITING, CommandQueue
from taisai.server.runtime.environment import Clock

EVERY: Final = 600_000  # milliseconds between two looks
_log = structlog.get_logger(__name__)


class Over(NamedTuple):
    """What may leave the state of the House, and table → the transfers that it forgets with it."""

    tickets: tuple[str, ...]
    others: tuple[str, ...]
    """Transfers that are of no ticket."""
    transfers: dict[str, tuple[str, ...]]


class Archiving:
    """Looks for what is over, and archives it at the House and at the tables in one write."""

    def __init__(self, queue: CommandQueue, *, clock: Clock) -> None:
        self._queue = queue
        self._clock = clock
        self._next = clock.steady()
        self._waiting = 0
        """Answers that have not come: two writes at once could name the same ticket."""

    def tick(self) -> None:
        if self._waiting == 0 and self._clock.steady() >= self._next:
            self._next = self._clock.steady() + EVERY
            self._waiting = 1
            now = self._clock.now()
            tables = self._queue.projections.readable
            self._queue.submit_job(lambda engine: over(engine.house(), tables(), now), self._found)

    def _found(self, found: Over | BaseException) -> None:
        self._waiting = 0
        if isinstance(found, BaseException):
            _log.error("what is over could not be archived", error=str(found))
            return
        if not found.transfers and not found.tickets:
            return
        if self._queue.waiting > MOST_WAITING // 2:
            return  # none of the commands below may be refused for a full queue
        now = self._clock.now()
        forgotten = ArchiveTickets(at=now, by=FLOOR, tickets=found.tickets, transfers=found.others)
        commands = [Submission(HOUSE_STREAM, forgotten)]
        for table, transfers in found.transfers.items():
            archived = ArchiveTransfers(at=now, by=CAGE, transfers=transfers)
            commands.append(Submission(stream_of(table), archived))
        # All are submitted in one turn, so that they are decided and written together: a transfer that one
        # side alone had forgotten would be taken for unfinished.
        self._waiting = len(commands)
        for submission in commands:
            self._queue.submit(submission, self._answered)
        if len(found.tickets) + len(found.others) >= MOST_ARCHIVED // 2:
            self._next = self._clock.steady()  # there may be more

    def _answered(self, answer: Answer | BaseException) -> None:
        self._waiting -= 1
        if isinstance(answer, Refusal | BaseException):
            _log.error("what is over could not be archived", error=str(answer))


def over(house: House, tables: Mapping[str, Table], now: int) -> Over:
    """The first tickets and transfers that are over, with the tables' side; in the writer's thread."""
    most = MOST_ARCHIVED // 2  # each ticket has up to two transfers, which may be at one table
    tickets = list(islice(_tickets_over(house, tables, now), most))
    others = list(islice(_others_over(house, tables, now), most - len(tickets)))
    transfers = dict[str, list[str]]()
    for name in (*(name for ticket in tickets for name in transfers_of(ticket)), *others):
        transfers.setdefault(house.transfers[name].table, []).append(name)
    return Over(
        tuple(ticket.id for ticket in tickets), tuple(others),
        {table: tuple(names) for table, names in transfers.items()},
    )  # fmt: skip


def _others_over(house: House, tables: Mapping[str, Table], now: int) -> Iterator[str]:
    for name in house.booked_at:
        if not is_old(house, name, now):
            return  # they are in the order of their booking
        if _is_finished(house.transfers[name], tables):
            yield name


def _tickets_over(house: House, tables: Mapping[str, Table], now: int) -> Iterator[Ticket]:
    for ticket in house.tickets.values():
        if now - ticket.at < KEPT_FOR:
            return  # they are in the order of their issue
        moved = (house.transfers[name] for name in transfers_of(ticket))
        if is_over(ticket, now) and all(_is_finished(transfer, tables) for transfer in moved):
            yield ticket


def _is_finished(transfer: HouseTransfer, tables: Mapping[str, Table]) -> bool:
    """Whether the table has booked the other side."""
    table = tables.get(transfer.table)
    booked = None if table is None else table.transfers.get(transfer.id)
    return booked is not None and booked.amount + transfer.signed == 0

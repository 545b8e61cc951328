"""The roll at the tables: whoever has another rank, or is dismissed, loses every position that he holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import structlog

from taisai.cage import StreamError
from taisai.cage.messages import PersonDismissed, PersonEnrolled
from taisai.game.commands import Leave
from taisai.game.events import PersonAssigned, TableOpened
from taisai.game.refusals import Reason, Refusal
from taisai.game.words import HOUSE as BY_THE_HOUSE
from taisai.journal import Answer, Ask, Keeper, stream_of, table_of
from taisai.journal.codec import HOUSE
from taisai.rules.errors import RulesError
from taisai.server.runtime.clock import Clock
from taisai.server.runtime.host import Happened, Host

_DONE: Final = frozenset({Reason.UNKNOWN_PERSON, Reason.TABLE_NOT_OPEN})
"""Refusals that say that he stands there no more."""
_log = structlog.get_logger(__name__)


class Standing(NamedTuple):
    """Someone who stands at a table as what the roll does not have him."""

    table: str
    person: str


class Roll:
    """Listens to the House and to every table. The House itself knows no tables, and they know no roll."""

    def __init__(self, host: Host, *, clock: Clock) -> None:
        self._host = host
        self._clock = clock
        self._again = False
        """Whether something could not be looked at or written."""
        host.listeners.append(self._heard)

    def _heard(self, one: Happened) -> None:
        name = table_of(one.stream)
        for event in one.events:
            if one.stream == HOUSE and isinstance(event, PersonEnrolled | PersonDismissed):
                self._look(person=event.person)
            elif name is not None and isinstance(event, PersonAssigned | TableOpened):
                # The roll may have changed after it was asked, and before he came.
                self._look(table=name)

    def tick(self) -> None:
        """Tries once more what could not be done."""
        if self._again:
            self._again = False
            self._look()

    async def reconcile(self) -> None:
        """At a start: what a stop kept the tables from hearing."""
        for one in await self._host.look(out_of_place):
            self._told(one, await self._host.ask(stream_of(one.table), self._leave(one)))

    def _look(self, *, table: str | None = None, person: str | None = None) -> None:
        self._host.run(lambda keeper: out_of_place(keeper, table=table, person=person), self._found)

    def _found(self, found: Iterable[Standing] | BaseException) -> None:
        if isinstance(found, BaseException):
            self._again = True
            _log.error("the roll could not be compared with the tables", error=str(found))
            return
        for one in found:
            self._host.submit(
                Ask(stream_of(one.table), self._leave(one)),
                lambda answer, one=one: self._told(one, answer),  # type: ignore[misc]
            )

    def _leave(self, one: Standing) -> Leave:
        return Leave(at=self._clock.now(), by=BY_THE_HOUSE, person=one.person)

    def _told(self, one: Standing, answer: Answer | BaseException) -> None:
        if isinstance(answer, BaseException) or (isinstance(answer, Refusal) and answer.reason not in _DONE):
            self._again = True
            _log.error("someone keeps a position", table=one.table, person=one.person, error=str(answer))
        else:
            _log.info("left by the roll", table=one.table, person=one.person)


def out_of_place(keeper: Keeper, *, table: str | None = None, person: str | None = None) -> list[Standing]:
    """Who stands at a table under another rank than the roll's, or is not on it; in the writer's thread."""
    found = []
    for name in keeper.tables() if table is None else [table]:
        try:
            people = keeper.table(name).people
        except (RulesError, StreamError) as error:  # of one table, which nobody can ask anything
            _log.error("a table could not be compared with the roll", table=name, error=str(error))
            continue
        roll = keeper.house().people
        found += [
            Standing(name, one)
            for one, here in people.items()
            if person in (None, one) and roll.get(one) != here.rank
        ]
    return found

"""The gaming day follows the calendar: the server begins it at every table when its time has come."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

import structlog

from taisai.game import Table
from taisai.game.commands import BeginDay
from taisai.game.refusals import Reason, Refusal
from taisai.game.terms.opening import latest_day
from taisai.game.vocabulary import FLOOR
from taisai.journal import Answer, Engine, Submission, stream_of, table_of
from taisai.rules.book import Rulebook
from taisai.rules.clauses import Clause
from taisai.server.runtime.command_queue import CommandQueue, Committed
from taisai.server.runtime.environment import Clock

DAY: Final = 24 * 3_600_000  # milliseconds
_log = structlog.get_logger(__name__)


def house_day(calendar: str, tables: Iterable[Table]) -> str:
    """The gaming day of the whole house: the calendar's, or the next one where two people began it early."""
    latest = latest_day(calendar)
    is_early = any(table.open and table.day == latest for table in tables)
    return latest if is_early else calendar


class GamingDays:
    """Begins the day of the house at each table that is behind it, as soon as the table is between rounds."""

    def __init__(
        self,
        queue: CommandQueue,
        *,
        clock: Clock,
        calendar: Callable[[int], str],
        approved: Callable[[Rulebook, int], str | None] | None,
    ) -> None:
        """`calendar`: the gaming day of a moment; `approved`: why a rulebook may not be played at one."""
        self._queue = queue
        self._clock = clock
        self._calendar = calendar
        self._approved = approved
        self._behind: frozenset[str] = frozenset()
        """Tables whose day is over, as of the latest look."""
        self._refused: dict[str, str] = {}
        """Table → why its day could not begin, so that the log says it once."""
        queue.listeners.append(self._on_commit)

    def tick(self) -> None:
        """Looks which tables are behind. A table in a round follows when the round ends."""
        self._queue.submit_job(self._look, self._looked)

    def _look(self, _engine: Engine) -> frozenset[str]:
        tables = self._queue.projections.readable()
        day = self._day(tables.values())
        return frozenset(name for name, table in tables.items() if table.open and table.day < day)

    def _day(self, tables: Iterable[Table]) -> str:
        return house_day(self._calendar(self._clock.now()), tables)

    def _looked(self, behind: frozenset[str] | BaseException) -> None:
        if isinstance(behind, BaseException):
            _log.error("the gaming day of the tables could not be looked at", error=str(behind))
            return
        self._behind = behind
        for name in sorted(behind):
            self._begin(name)

    def _on_commit(self, committed: Committed) -> None:
        name = table_of(committed.stream)
        if name in self._behind:
            self._begin(name)

    def _begin(self, name: str) -> None:
        submission = Submission(stream_of(name), partial(self._command, name))
        self._queue.submit(submission, partial(self._begun, name))

    def _command(self, name: str, engine: Engine) -> BeginDay | Answer:
        """The command for a table between rounds, in the engine's turn; nothing where it must wait."""
        table, now = engine.table(name), self._clock.now()
        day = self._day(self._queue.projections.readable().values())
        if not table.open or table.round is not None or table.day >= day:
            return ()
        calendar = self._calendar(now)
        if self._approved is not None:
            problem = self._approved(table.book, now + (day != calendar) * DAY)
            if problem is not None:
                return Refusal(Reason.RULED_OUT, Clause("house:approvals"), problem)
        return BeginDay(at=now, by=FLOOR, day=day, calendar=calendar)

    def _begun(self, name: str, answer: Answer | BaseException) -> None:
        if answer == ():
            return
        if not isinstance(answer, Refusal | BaseException):
            self._behind -= {name}
            self._refused.pop(name, None)
        elif self._refused.get(name) != (problem := str(answer)):
            self._refused[name] = problem
            _log.error("the gaming day of a table could not begin", table=name, problem=problem)

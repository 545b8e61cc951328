"""Reading tables for the boards: one that cannot be read is left out, and silences no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

import structlog

from taisai.game import Table
from taisai.journal import Engine, stream_of
from taisai.server.projections import Stories

T = TypeVar("T")
AGAIN: Final = 60_000  # ms until a table that could not be read is tried again: that may read all its entries
LATEST: Final = 50_000
"""Entries of a table that a start looks at for the stories of its last rounds: half a second or so."""
_log = structlog.get_logger(__name__)


class Fault(NamedTuple):
    """Why a table could not be read, and when it was last tried."""

    says: str
    at: int


class Reader:
    """The tables that can be read."""

    def __init__(
        self, engine: Engine, now: Callable[[], int], on_fault: Callable[[str, Fault], None]
    ) -> None:
        """`on_fault` hears of each table that cannot be read any more, once."""
        self._engine = engine
        self._now = now
        self._on_fault = on_fault
        self.faults: dict[str, Fault] = {}
        """Tables that cannot be read now."""

    def table(self, name: str) -> Table | None:
        """A table to be looked at; None where it cannot be read."""
        return self.read(name, self._engine.table)

    def read(self, name: str, look: Callable[[str], T]) -> T | None:
        """What a look at a table finds; None where it cannot be read."""
        fault = self.faults.get(name)
        if fault is not None and 0 <= self._now() - fault.at < AGAIN:
            return None
        try:
            found = look(name)
        except Exception as error:  # noqa: BLE001  whatever it is, the other tables go on
            now = Fault(str(error) or type(error).__name__, self._now())
            self.faults[name] = now
            if fault is None:
                _log.exception("a table cannot be read, and is left out", table=name)
                self._on_fault(name, now)
            return None
        if fault is not None:
            del self.faults[name]
            _log.info("a table can be read again", table=name)
        return found

    def is_back(self, name: str) -> None:
        """Something was decided at a table: it can be read, whatever was the matter."""
        self.faults.pop(name, None)


def stories_of(engine: Engine, name: str) -> Stories:
    """The stories of a table's last rounds, as far as its latest entries tell them from their beginning."""
    stream = stream_of(name)
    after = max(0, engine.journal.version(stream) - LATEST)
    return Stories.of(event for _, event in engine.journal.events(stream, after=after))

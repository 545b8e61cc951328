"""The background audit: slowly hashes and decides again what a start accepted from a snapshot."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Final

from taisai.audit.chain import Chain, wrong_root
from taisai.audit.rules_check import RulesCheck
from taisai.audit.sources import Body
from taisai.journal import open_reader

AT_ONCE: Final = 250
"""Entries of one step, which takes about five milliseconds. With a step a second, a million take an hour."""


class BackgroundAudit:
    """Reads a journal from its first entry to those that a start found, in steps."""

    def __init__(self, place: str | Path, *, size: int, root: bytes) -> None:
        """`place`: a path or a URL; `size` and `root`: of the journal as the start has authenticated it."""
        self._size, self._root = size, root
        self._reader = open_reader(place)
        self._chain, self._rules = Chain(), RulesCheck()
        self._lock = Lock()  # a stop must not close what a step still reads
        self._is_closed = False

    @property
    def done(self) -> int:
        """How many entries it has read."""
        return self._chain.size

    def step(self, most: int = AT_ONCE) -> bool:
        """Checks the next entries; returns whether it is through. A DamagedError is the first difference."""
        with self._lock:
            if self._is_closed:
                return True
            rows = self._reader.rows(after=self.done)
            for row in islice(rows, min(most, self._size - self.done)):
                self._rules.take(self._chain.take(Body(row.body, row)))
            del rows  # ends the reading of the file, so that its log can be shortened
            if self.done == self._size and self._chain.tree.root() != self._root:
                raise wrong_root(self._root, self._chain.tree)
            return self.done >= self._size

    def close(self) -> None:
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._rules.close()
                self._reader.close()

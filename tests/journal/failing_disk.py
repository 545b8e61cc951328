"""An evening on a disk that fails: asked on, asked again when it is healed, and looked at in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from taisai.game.commands import PlaceBets
from taisai.journal.engine import Answer, Engine
from taisai.journal.errors import DamagedError, JournalError
from tests.game.snapshots import snapshot
from tests.journal.evening import NAME, START
from tests.journal.evening_journal import (
    KEY,
    SEAL_EVERY,
    Expected,
    asks,
    differences,
    flaws,
    is_unwritable,
    keeping,
    on_disk,
)

PATIENCE: Final = 3
"""How often one thing may fail on a disk that was healed: when asked, when opened again, and no more."""
FURTHER: Final = 4
"""Batches for which play goes on after the last trouble, before the end is looked at."""


@dataclass(slots=True)
class Trouble:
    """Plays an evening through whatever the disk does, and notes what should not have happened."""

    directory: Path
    right: Expected
    heal: Callable[[], None]
    """Called after a failure was seen: from then on the disk is whole."""
    vfs: str | None = None
    acknowledged: Callable[[int], None] = lambda _size: None
    """Told how many entries are sure, as often as that is known."""
    may_be_there: bool = False
    """Whether a batch that is in doubt may show at once; else only when the journal is opened again."""
    wrong: list[str] = field(default_factory=list)
    refused: int = 0
    """Batches that could not be written."""
    failed: int = 0
    """Openings and checkpoints that could not be."""
    _engine: Engine | None = None
    _attempts: int = 0

    def play(self, *, to_the_end: bool = False) -> list[str]:
        """The evening; what is wrong with it in words."""
        number, last = 0, len(self.right.evening.batches)
        while number < last and not self.wrong:
            troubles = self.refused + self.failed
            if self._ask(number):
                number += 1
            if troubles != self.refused + self.failed and not to_the_end:
                last = min(len(self.right.evening.batches), number + FURTHER)
        return self.wrong or self._end(last)

    def _ask(self, number: int) -> bool:
        """Asks a batch; whether it is in the journal, now or already."""
        before, after = self.right.sizes[number : number + 2]
        engine = self._open()
        if engine is None:
            return False
        if engine.journal.size == after != before:  # the write that nobody knew the end of has come through
            self._ask_again(engine, number)
        elif engine.journal.size != before:
            self.wrong.append(f"batch {number}: expected {before} entries, got {engine.journal.size}")
        else:
            try:
                answers = engine.answer_all(asks(self.right.evening.batches[number]))
            except DamagedError:  # SQLite's word for a file that cannot be read
                self._unreadable(engine, before)
                return False
            if any(map(is_unwritable, answers)):
                self._unwritable(engine, number, answers)
                return False
            if answers != self.right.answers[number]:
                self.wrong.append(f"batch {number}: expected {self.right.answers[number]}, got {answers}")
        self._attempts = 0
        self.acknowledged(after)
        return self._sealed(engine, number)

    def _ask_again(self, engine: Engine, number: int) -> None:
        """Bets that are there already change nothing; of other commands a second one may be refused."""
        batch = self.right.evening.batches[number]
        if all(isinstance(asked.command, PlaceBets) for asked in batch) and any(
            engine.answer_all(asks(batch))
        ):
            self.wrong.append(f"batch {number}: expected bets asked again to change nothing, got more")

    def _unreadable(self, engine: Engine, before: int) -> None:
        """Whoever asked has no answer, and nothing has happened."""
        self.heal()
        self.wrong += (f"unreadable after {before} entries: {says}" for says in self._moved(engine, before))
        self._fail()

    def _unwritable(self, engine: Engine, number: int, answers: list[Answer]) -> None:
        """Nothing of it has happened: the table is what it was, and what the disk says."""
        self.refused += 1
        self._attempts += 1
        before, after = self.right.sizes[number : number + 2]
        if not all(map(is_unwritable, answers)):
            self.wrong.append(f"batch {number}: expected all of it to be refused, got {answers}")
        if engine.trouble is None:
            self.wrong.append(f"batch {number}: expected the engine to say what the trouble is, got nothing")
        self.heal()
        moved = self._moved(engine, before)
        if moved and not (self.may_be_there and not self._moved(engine, after)):
            self.wrong += (f"batch {number}, refused: {says}" for says in moved)
        if self._attempts > 1:  # it was told to be opened again
            self._close()
        if self._attempts > PATIENCE:
            self.wrong.append(f"batch {number}: expected a healed disk to be written, got {answers[0]}")

    def _moved(self, engine: Engine, size: int) -> list[str]:
        """What is otherwise than after so many entries, in memory or on the disk."""
        wrong: list[str] = []
        if NAME in engine.tables() and snapshot(engine.table(NAME)) != snapshot(self.right.table(size)):
            wrong.append("expected the table as it was, got another")
        if engine.house() != self.right.house(size):
            wrong.append("expected the House as it was, got another")
        if len(list(engine.journal.store.rows())) != size:
            wrong.append(f"expected {size} entries on the disk, got others")
        return wrong

    def _sealed(self, engine: Engine, number: int) -> bool:
        """Signs a checkpoint where one is due; a failure of it undoes nothing."""
        if number % SEAL_EVERY == SEAL_EVERY - 1:
            try:
                engine.journal.seal(KEY, at=START + number)
            except JournalError:
                self._fail()
        return True

    def _open(self) -> Engine | None:
        """The engine, over the journal opened again where it was closed."""
        if self._engine is None:
            try:
                store = on_disk(self.directory, vfs=self.vfs)
                try:
                    self._engine = keeping(store)
                except BaseException:
                    store.close()
                    raise
            except JournalError as error:
                self._attempts += 1
                self._fail()
                if self._attempts > PATIENCE:
                    self.wrong.append(f"expected a healed disk to be opened, got {error}")
        return self._engine

    def _fail(self) -> None:
        self.failed += 1
        self.heal()
        self._close()

    def _close(self) -> None:
        if self._engine is not None:
            self._engine.journal.close()
        self._engine = None

    def _end(self, batches: int) -> list[str]:
        """The journal is that of an evening without trouble."""
        self.heal()
        self._attempts = 0
        self._close()
        engine = self._open()
        assert engine is not None, self.wrong
        self.wrong += differences(engine, self.right, self.right.sizes[batches])
        self._close()
        self.wrong += flaws(self.directory)
        return self.wrong

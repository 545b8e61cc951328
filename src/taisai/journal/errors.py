"""What goes wrong with a journal: said in one sentence, with the position where there is one."""

from __future__ import annotations

from taisai.rules.errors import RulesError


class JournalError(RulesError):
    """A journal that cannot do what was asked of it."""


class UnwritableError(JournalError):
    """Nothing was written, and nothing happened; it may be tried again."""


class InDoubtError(UnwritableError):
    """A write whose end nobody knows: only what a fresh start finds on the disk is true."""


class ConflictError(JournalError):
    """Someone else has written meanwhile, or is about to."""


class DamagedError(JournalError):
    """An entry, or its place, that cannot be what was written; at position 0, the file as a whole."""

    def __init__(self, position: int, says: str) -> None:
        self.position = position
        self.says = says
        super().__init__(f"entry {position}: {says}" if position else says)

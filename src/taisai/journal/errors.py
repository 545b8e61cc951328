"""The errors of a journal."""

from __future__ import annotations

from taisai.rules.errors import RulesError


class JournalError(RulesError):
    """A journal that cannot do what was requested."""


class UnwritableError(JournalError):
    """Nothing was written. The caller may try again."""


class InDoubtError(UnwritableError):
    """A failed write that may or may not be on the disk. Only opening the journal again shows which."""


class FencedError(UnwritableError):
    """Nothing was written, and never will be: another process has written to the journal since."""


class ConflictError(JournalError):
    """Another writer has changed the journal, or has it open."""


class DamagedError(JournalError):
    """A damaged entry; at position 0, a damaged file."""

    def __init__(self, position: int, problem: str) -> None:
        self.position = position
        self.problem = problem
        super().__init__(f"entry {position}: {problem}" if position else problem)

"""What the rules say when something cannot be read: expected, got, where."""

from __future__ import annotations


class RulesError(ValueError):
    """Something asked of the rules that they cannot answer."""


class BookError(RulesError):
    """A rulebook that cannot be accepted."""

    def __init__(self, *, file: str, key: str, expected: str, got: str) -> None:
        self.file = file
        self.key = key
        self.expected = expected
        self.got = got
        super().__init__(f"expected {expected}, got {got} ({file}, {key})")

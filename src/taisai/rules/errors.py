"""Errors of the rules: what was expected, what was given, and where."""

from __future__ import annotations

MAX_QUOTED = 200  # characters of a quoted input in one message
MAX_EXPECTED = 600  # characters; the longest list of choices has about 400


def printable(text: str, most: int = MAX_QUOTED) -> str:
    """A text as one printable line of bounded length."""
    line = text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return line if len(line) <= most else line[: most - 1] + "…"


class RulesError(ValueError):
    """An invalid argument or input, such as an unknown area or rulebook."""


class OfferError(RulesError):
    """Odds that a clause does not let the house offer."""

    def __init__(self, message: str, clause: str) -> None:
        self.clause = clause
        super().__init__(message)


class BookError(RulesError):
    """An invalid rulebook file."""

    def __init__(self, *, file: str, key: str, expected: str, got: str) -> None:
        self.file = printable(file)
        self.key = printable(key)
        self.expected = printable(expected, MAX_EXPECTED)
        self.got = printable(got)
        super().__init__(f"expected {self.expected}, got {self.got} ({self.file}, {self.key})")

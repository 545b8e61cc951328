"""What the rules say when something cannot be read: expected, got, where."""

from __future__ import annotations

MAX_QUOTED = 200  # characters of what was typed or written, in one message
MAX_EXPECTED = 600  # characters of what was expected: the longest list of choices has about 400


def printable(text: str, most: int = MAX_QUOTED) -> str:
    """A text as one line of bounded length, whatever is in it."""
    line = text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return line if len(line) <= most else line[: most - 1] + "…"


class RulesError(ValueError):
    """Something asked of the rules that they cannot answer."""


class BookError(RulesError):
    """A rulebook that cannot be accepted."""

    def __init__(self, *, file: str, key: str, expected: str, got: str) -> None:
        self.file = printable(file)
        self.key = printable(key)
        self.expected = printable(expected, MAX_EXPECTED)
        self.got = printable(got)
        super().__init__(f"expected {self.expected}, got {self.got} ({self.file}, {self.key})")

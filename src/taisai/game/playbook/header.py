"""The header of a playbook: which book, under which terms, opened by whom, and who is at the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from taisai.game.playbook.command_lines import CommandLine, limits_of
from taisai.game.playbook.values import PlaybookSyntaxError, UnknownWordError, pieces, value_of
from taisai.game.terms.messages import OpenTable
from taisai.game.vocabulary import HOUSE

START: Final = 1_794_715_200_000  # 2026-11-15, noon in Singapore
NEEDED: Final = ("book", "opened by", "limits")
UNSAID: Final[dict[str, Any]] = {
    "table": "SB1",
    "currency": "SGD",
    "day": "2026-11-15",
    "zone": "Asia/Singapore",
    "settings": {},
    "offers": {},
    "layout": None,
    "demonstration": False,
}
"""What a header need not say: the fields of the opening that bear the names of their keys."""


def _text(text: str) -> str:
    if not text:
        raise PlaybookSyntaxError("a value", "nothing")
    return text


def _name_and_rank(text: str) -> tuple[str, str]:
    name, _, rank = text.rpartition(" ")
    if not name.strip():
        raise PlaybookSyntaxError("a name and a rank, such as 'Dan dealer'", text)
    return name.strip(), rank


def _people(text: str) -> list[tuple[str, str]]:
    return [_name_and_rank(" ".join(words)) for words in pieces(text)]


def _pairs(text: str) -> dict[str, str]:
    found = {}
    for name, *words in pieces(text):
        if not words or name in found:
            raise PlaybookSyntaxError("a name and a value, such as 'no_roll void', each name once", name)
        found[name] = " ".join(words)
    return found


_READ: Final[dict[str, Callable[[str], Any]]] = {
    "book": _text,
    "table": _text,
    "opened by": _name_and_rank,
    "people": _people,
    "limits": lambda text: limits_of(pieces(text)),
    "settings": _pairs,
    "offers": _pairs,
    "layout": _text,
    "demonstration": lambda text: value_of(bool, [text], "demonstration"),
    "currency": _text,
    "day": _text,
    "zone": _text,
}


class Header:
    """The lines of a header, as they are read."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.lines: dict[str, int] = {}

    def read(self, number: int, text: str) -> None:
        """One line such as `limits: 100 to 5000`."""
        key, colon, value = text.partition(":")
        key = key.strip()
        if not colon or key not in _READ:
            raise UnknownWordError(key, _READ, of=" and a colon, or '> who: command'" if not colon else "")
        if key in self.values:
            raise PlaybookSyntaxError(f"'{key}:' once", text)
        self.values[key] = _READ[key](value.strip())
        self.lines[key] = number

    def missing(self) -> str | None:
        """A line that is needed and not there."""
        return next((key for key in NEEDED if key not in self.values), None)

    def opening(self) -> OpenTable:
        """The command that opens the table."""
        by, rank = self.values["opened by"]
        said = {key: self.values.get(key, value) for key, value in UNSAID.items()}
        return OpenTable(at=START, by=by, rank=rank, limits=self.values["limits"], **said)

    def people(self) -> tuple[tuple[int, CommandLine], ...]:
        """Line and assignment of everyone whom the House signs in before play."""
        return tuple(
            (
                self.lines["people"],
                CommandLine(HOUSE, "assign", {"person": person, "rank": rank, "position": rank}),
            )
            for person, rank in self.values.get("people", ())
        )

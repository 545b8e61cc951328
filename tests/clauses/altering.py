"""A rulebook with one thing wrong, and the clause whose tests have to turn red."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from taisai.rules import HOUSE_PROCEDURES

Data = Mapping[str, Any]
Path = tuple[str | int, ...]
GONE: Final = object()
"""In place of a value: the key or the entry is taken out."""


@dataclass(frozen=True, slots=True)
class Alteration:
    """A rulebook with one thing wrong."""

    entry: str
    """What was altered: a pay line, a ruling, a step."""
    what: str
    clause: str | None
    """The clause whose tests must notice; None where any test of the book may."""
    data: Data

    def __str__(self) -> str:
        return f"{self.entry}: {self.what} ({self.clause or 'any test'})"


def put(data: Any, path: Path, value: Any) -> Any:
    """The data with another value at a path; whatever lies off the path is shared, not copied."""
    here, *rest = path
    inner = value if not rest else put(data[here], tuple(rest), value)
    if isinstance(data, list):
        assert isinstance(here, int)
        return [*data[:here], *([] if inner is GONE else [inner]), *data[here + 1 :]]
    changed = {**data, here: inner}
    if inner is GONE:
        del changed[here]
    return changed


def at(data: Any, path: Path) -> Any:
    """What lies at a path."""
    for key in path:
        data = data[key]
    return data


class Entry:
    """One entry of a book, and the alterations of it."""

    def __init__(self, book: Data, path: Path, clause: str | None) -> None:
        self.book = book
        self.path = path
        self.clause = clause if clause and clause[0].isdigit() else None
        self.data: Any = at(book, path)
        self.name = ", ".join(f"{key + 1}" if isinstance(key, int) else key for key in path)

    def altered(self, what: str, data: Data) -> Alteration:
        """An alteration of this entry."""
        return Alteration(self.name, what, self.clause, data)

    def with_key(self, key: str | int, value: Any) -> Alteration:
        """The entry with another value under a key."""
        was = self.data.get(key, "nothing") if isinstance(self.data, dict) else self.data[key]
        became = "nothing" if value is GONE else value
        return self.altered(f"{key} {was} → {became}", put(self.book, (*self.path, key), value))

    def without(self) -> Alteration:
        """The book without the entry."""
        return self.altered("taken out", put(self.book, self.path, GONE))

    def other_clause(self, key: str = "clause") -> Alteration:
        """The entry with a wrong clause."""
        return self.with_key(key, next_clause(self.book, self.data[key]))

    def each_other(self, key: str, choices: Sequence[str]) -> Iterator[Alteration]:
        """The entry with each other word under a key."""
        for word in choices:
            if word != self.data.get(key):
                yield self.with_key(key, str(word))

    def next_word(self, key: str, choices: type[StrEnum]) -> Alteration:
        """The entry with the next word of a closed list under a key."""
        words = list(choices)
        return self.with_key(key, str(words[(words.index(choices(self.data[key])) + 1) % len(words)]))


def next_clause(book: Data, clause: str) -> str:
    """A clause that exists and is the wrong one: the document's next, or another of the house's."""
    known = [str(one) for one in HOUSE_PROCEDURES] if clause.startswith("house:") else list(book["clauses"])
    return known[(known.index(clause) + 1) % len(known)]


def entries(book: Data, *path: str | int, clause: str | None = "clause") -> Iterator[Entry]:
    """The entries of a list in the book, each tied to the clause that it cites under a key."""
    for n, data in enumerate(at(book, path)):
        yield Entry(book, (*path, n), data.get(clause) if clause else None)


def phases_of(book: Data) -> list[str]:
    """The phases of the book's procedure, in order."""
    return [phase["id"] for phase in book["procedure"]["phase"]]


def ranks_of(book: Data) -> list[str]:
    """The book's ladder."""
    return [rank["id"] for rank in book["people"]["rank"]]


def worded(book: Data) -> Iterator[dict[str, str]]:
    """Every condition there can be on a setting that is a choice between words."""
    for one in book["setting"]:
        for value in one.get("choices", []):
            yield {one["id"]: value}

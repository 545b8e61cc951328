"""Rulebooks with one thing wrong, made by the thousand, and what is amiss in how the loader takes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any, NamedTuple

from taisai.rules import BookError
from taisai.rules.toml_reader import MAX_CHARACTERS
from tests.rules.books import KeyPath, at, data_of, edited, loaded, named, paths, without
from tests.tiers import LONG

Shape = tuple[str, ...]
"""A way without places in lists and without clause numbers: what a key is, whichever entry it is in."""

OPTIONAL: frozenset[Shape] = frozenset(
    tuple(line.split())
    for line in """
    version
    edition
    practice
    effective
    change
    record
    adoption
    area loses_on_triple
    area wins_on_triple
    pay_table pay instead
    layout block cells area
    layout block cells figures
    layout block cells note
    layout block cells odds_of
    layout block cells dice
    people placing
    procedure step when
    procedure step needs
    procedure step needs unmet
    procedure step proposed
    procedure out_of_order
    procedure refused
    procedure recovery declared
    irregularities ruling instead
    irregularities ruling seen
    irregularities sight
    irregularities sight after_close
    irregularities precedence
    irregularities precedence events
    irregularities pair
    irregularities pair then
    irregularities pair events phases
    irregularities pair events item
    equipment when
    equipment excludes
    equipment custody
    equipment tumbles
    equipment means
    interpretation
    interpretation setting
    erratum
    erratum source
    """.strip().splitlines()
)
"""What a book may do without, though a book that had it may no longer hold together."""

DECLARED: frozenset[Shape] = frozenset({("setting",), ("clauses", "*")})
"""What a book may do without unless it refers to it, and then the reference is at fault."""

MEETING_A_NEED: frozenset[Shape] = frozenset(
    {("equipment", "inspection"), ("equipment", "least_tumbles"), ("equipment", "hours_on_table")}
)
"""What a book may do without unless a step needs it, and then the step is at fault."""

EITHER: frozenset[Shape] = frozenset({("irregularities", "pair", "prevails")})
"""A pair has either a ruling or this; where both are gone, the ruling is named."""
NOT_REQUIRED = OPTIONAL | DECLARED | MEETING_A_NEED | EITHER

CELL: Shape = ("layout", "block", "cells")
TYPES: tuple[object, ...] = (5, "a text", True, 1.5, [], {}, date(2026, 1, 1), [[]], {"a": 1})
STRANGER = "stranger"


class Mutant(NamedTuple):
    """A rulebook in which one key is wrong."""

    path: KeyPath
    data: dict[str, Any]


def shape(path: KeyPath) -> Shape:
    """What the key at the end of a way is."""
    words = tuple(step for step in path if isinstance(step, str))
    return ("clauses", "*", *words[2:]) if words[0] == "clauses" and len(words) > 1 else words


def deletions(book: str) -> Iterator[Mutant]:
    """Every required key gone, one at a time."""
    data = data_of(book)
    for path in paths(data):
        if isinstance(path[-1], str) and shape(path) not in NOT_REQUIRED:
            yield Mutant(path, without(data, path))


def strangers(book: str) -> Iterator[Mutant]:
    """A key that nobody knows, in every table."""
    data = data_of(book)
    for path in ((), *paths(data)):
        if isinstance(at(data, path), dict) and path != ("clauses",):
            yield Mutant((*path, STRANGER), edited(data, (*path, STRANGER), "x"))


def other_types(book: str) -> Iterator[Mutant]:
    """Every value replaced by one of another type; by all other types in a long run."""
    data = data_of(book)
    for n, path in enumerate(paths(data)):
        others = [other for other in TYPES if not _fits(other, at(data, path), shape(path))]
        for other in others if LONG else [others[n % len(others)]]:
            yield Mutant(path, edited(data, path, other))


def _fits(other: object, value: object, what: Shape) -> bool:
    if what == ("effective",):
        return isinstance(other, date)
    return type(other) is type(value) or (what == CELL and isinstance(other, str | dict))


def bad_texts(book: str) -> Iterator[Mutant]:
    """Texts empty and over-long: the first and the last of each shape, in a long run all."""
    data = data_of(book)
    texts = [path for path in paths(data) if isinstance(at(data, path), str)]
    ends = [*{shape(p): p for p in reversed(texts)}.values(), *{shape(p): p for p in texts}.values()]
    for path in texts if LONG else ends:
        yield Mutant(path, edited(data, path, "x" * (MAX_CHARACTERS + 1)))
        if shape(path) != CELL:  # an empty cell is a blank one
            yield Mutant(path, edited(data, path, " "))


def names(error: BookError, path: KeyPath) -> bool:
    """Whether an error names a key: itself, something in its new value, or what holds it and its word."""
    here = named(path)
    if error.key == here or error.key.startswith((f"{here} ", f"{here}, ")):
        return True
    said = f"{error.expected} {error.got}"
    return error.key == named(path[:-1]) and (isinstance(path[-1], int) or path[-1] in said)


def complaint(mutant: Mutant) -> str | None:
    """What is amiss in how the loader takes a mutant; nothing, if it is refused with the right key named."""
    try:
        loaded(mutant.data)
    except BookError as error:
        return None if names(error, mutant.path) else f"{named(mutant.path)}: {error}"
    except Exception as error:  # noqa: BLE001  any other exception is what we look for
        return f"{named(mutant.path)}: {error!r}"
    return f"{named(mutant.path)}: accepted"


def complaints(mutants: Iterable[Mutant]) -> list[str]:
    """What is amiss in how the loader takes these mutants."""
    return [said for said in map(complaint, mutants) if said]

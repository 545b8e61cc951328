"""Areas: places on the layout that take bets. The catalogue gives each kind of bet one id.

Documents say "Specific Doubles", "Double Dice" or "Two of a kind"; the ids are `double-1` … `double-6`.
The catalogue has the numbers of each area. The rulebook says when the area wins.
"""

from __future__ import annotations

import re
from itertools import combinations, product
from typing import Final, NamedTuple, NewType

from taisai.rules.clauses import Clause
from taisai.rules.toml_reader import Section

AreaId = NewType("AreaId", str)

_FACES: Final = "123456"
_OWN_ID: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
MAX_ID_CHARACTERS: Final = 40  # an id must fit into a column of a printed report


def _catalogue() -> dict[str, tuple[int, ...]]:
    numbers: dict[str, tuple[int, ...]] = {
        "small": tuple(range(4, 11)),
        "big": tuple(range(11, 18)),
        "odd": tuple(range(5, 18, 2)),
        "even": tuple(range(4, 17, 2)),
        "any-triple": (),
    }
    numbers |= {f"triple-{n}": (int(n),) * 3 for n in _FACES}
    numbers |= {f"double-{n}": (int(n),) * 2 for n in _FACES}
    numbers |= {f"total-{n}": (n,) for n in range(4, 18)}
    numbers |= {f"single-{n}": (int(n),) for n in _FACES}
    for family, size in (("pair", 2), ("three", 3), ("four", 4)):
        for faces in combinations(_FACES, size):
            numbers[f"{family}-{''.join(faces)}"] = tuple(map(int, faces))
    for twice, once in product(_FACES, repeat=2):
        if twice != once:
            numbers[f"double-single-{twice}{twice}{once}"] = (int(twice), int(twice), int(once))
    return numbers


CATALOGUE: Final = _catalogue()
"""Area id → its numbers: faces or totals."""


def is_area_id(text: str) -> bool:
    return len(text) <= MAX_ID_CHARACTERS and _OWN_ID.fullmatch(text) is not None


class Area(NamedTuple):
    """A place on the layout that takes bets, with its labels and the clauses that decide it."""

    id: AreaId
    label: str
    label_zh: str
    numbers: tuple[int, ...]
    """Faces or totals, such as (2, 2) for double-2."""
    loses: Clause
    loses_on_triple: Clause
    wins_on_triple: Clause | None
    """The clause for a win on a triple; None if it is the clause of the pay line."""


def read_areas(book: Section) -> dict[AreaId, Area]:
    read: dict[AreaId, Area] = {}
    for entry in book.tables("area"):
        ids = entry.texts("ids")
        own = _own_numbers(entry, ids)
        loses = entry.clause("loses")
        on_triple = entry.clause("loses_on_triple") if entry.has("loses_on_triple") else loses
        wins_on_triple = entry.clause("wins_on_triple") if entry.has("wins_on_triple") else None
        for n, text in enumerate(ids):
            if text in read or text in ids[:n]:
                raise entry.error("ids", "each area declared once", f"{text!r} twice")
        english, chinese = _label(entry, "en", ids), _label(entry, "zh", ids)
        for area in map(AreaId, ids):
            numbers = own or CATALOGUE[area]
            words = " ".join(map(str, numbers))
            labels = english.replace("{n}", words), chinese.replace("{n}", words)
            read[area] = Area(area, *labels, numbers, loses, on_triple, wins_on_triple)
    return read


def _label(entry: Section, language: str, ids: tuple[str, ...]) -> str:
    """Reads a label; a label of several areas must contain {n} for their numbers."""
    label = entry.text(language)
    rest = label.replace("{n}", "")
    if "{" in rest or "}" in rest or (len(ids) > 1 and rest == label):
        expected = "with {n} for the numbers" if len(ids) > 1 else "without braces, except {n}"
        raise entry.error(language, f"a label {expected}", repr(label))
    return label


def _own_numbers(entry: Section, ids: tuple[str, ...]) -> tuple[int, ...] | None:
    if not ids:
        raise entry.error("ids", "at least one area", "an empty list")
    if not entry.has("numbers"):
        for text in ids:
            if text not in CATALOGUE:
                raise entry.error("ids", "area ids of the catalogue, or one new id with numbers", repr(text))
        return None
    if len(ids) != 1 or ids[0] in CATALOGUE or not is_area_id(ids[0]):
        expected = "one new id such as 'low-odd', because numbers are given"
        raise entry.error("ids", expected, ", ".join(map(repr, ids)))
    return entry.wholes("numbers", 1, 18)

"""The catalogue of areas: one id for one thing, whatever a document calls it.

A document's "Specific Doubles", "Double Dice" and "Two of a kind" are all `double-1` … `double-6`.
The catalogue knows the numbers an area is about; what wins on them is a rulebook's word.
"""

from __future__ import annotations

import re
from itertools import combinations, product
from typing import Final, NewType

AreaId = NewType("AreaId", str)

_FACES: Final = "123456"
_OWN_ID: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
MOST_ID_CHARACTERS: Final = 40  # an id has to fit a column of a printed report


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
"""Canonical id → the faces or totals that the area is about."""


def is_area_id(text: str) -> bool:
    """Whether a rulebook may call an area so."""
    return len(text) <= MOST_ID_CHARACTERS and _OWN_ID.fullmatch(text) is not None

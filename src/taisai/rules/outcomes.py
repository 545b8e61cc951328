"""The 56 outcomes of three dice, or of three cards that stand for dice."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations_with_replacement
from typing import Final, NewType

from taisai.rules.errors import RulesError

Face = NewType("Face", int)

FACES: Final[tuple[Face, ...]] = tuple(Face(n) for n in range(1, 7))
DICE: Final = 3
_WAYS_BY_DISTINCT_FACES: Final = {1: 1, 2: 3, 3: 6}


class Outcome:
    """What three dice show, in any order.

    >>> Outcome.of(5, 2, 3)
    Outcome.of(2, 3, 5)
    >>> Outcome.of(5, 2, 3) is Outcome.parse("235"), Outcome.of(5, 2, 3).total
    (True, 10)
    """

    __slots__ = ("faces", "index", "total", "ways")

    faces: tuple[Face, Face, Face]
    index: int
    """The position among the 56 outcomes, sorted by faces."""
    total: int
    ways: int
    """How many of the 216 rolls give this outcome."""

    def __init__(self, faces: tuple[Face, Face, Face], index: int) -> None:
        ways = _WAYS_BY_DISTINCT_FACES[len(set(faces))]
        for name, value in (("faces", faces), ("index", index), ("total", sum(faces)), ("ways", ways)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, _value: object) -> None:
        raise AttributeError(f"cannot set {name!r}: an Outcome is immutable")

    @staticmethod
    def of(*faces: int) -> Outcome:
        """The outcome with these three faces, in any order."""
        if len(faces) != DICE:
            raise RulesError(f"expected 3 faces from 1 to 6, got {len(faces)} ({_listed(faces)})")
        for place, face in enumerate(faces, 1):
            if type(face) is not int or not 1 <= face <= 6:
                raise RulesError(
                    f"expected a face from 1 to 6, got {face!r} (face {place} of {_listed(faces)})"
                )
        return _BY_NAME["".join(map(str, sorted(faces)))]

    @staticmethod
    def parse(text: str) -> Outcome:
        """The outcome with a name such as '235'."""
        if text not in _BY_NAME:
            raise RulesError(f"expected an outcome such as '235', with ascending faces, got {text!r}")
        return _BY_NAME[text]

    def __str__(self) -> str:
        return "".join(map(str, self.faces))

    def __repr__(self) -> str:
        return f"Outcome.of({', '.join(map(str, self.faces))})"

    def __copy__(self) -> Outcome:
        return self

    def __deepcopy__(self, _memo: object) -> Outcome:
        return self

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Outcome.parse, (str(self),)


def _listed(faces: Iterable[object]) -> str:
    return ", ".join(map(str, faces)) or "no faces"


OUTCOMES: Final[tuple[Outcome, ...]] = tuple(
    Outcome((a, b, c), index) for index, (a, b, c) in enumerate(combinations_with_replacement(FACES, DICE))
)
_BY_NAME: Final = {str(outcome): outcome for outcome in OUTCOMES}

MIRRORED: Final[tuple[int, ...]] = tuple(Outcome.of(*(7 - face for face in o.faces)).index for o in OUTCOMES)
"""Outcome index → the index when each face is replaced by the opposite face of the die."""

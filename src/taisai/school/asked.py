"""Which exercise is asked for: all that it takes to make it, and to make it again when it is judged."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from taisai.rules.errors import RulesError, printable

LEVELS: Final = (1, 2, 3)
GREATEST_SEED: Final = 2**53 - 1
"""Beyond it a browser could not hold the number exactly, and would be judged on another exercise."""


class Kind(StrEnum):
    """What is practised."""

    SETTLE = "settle"
    """To say what comes back of every bet on a layout."""
    KEY = "key"
    """To key what dice or cards show, and to know which areas light."""
    RULING = "ruling"
    """To say what the rules order when something goes wrong."""


class Asked(NamedTuple):
    """An exercise, by all that it follows from."""

    kind: Kind
    book: str
    layout: str
    level: int
    seed: int

    @staticmethod
    def of(kind: str, book: str, layout: str, *, level: int, seed: int) -> Asked:
        """From plain values; whether there are such a book and layout is for the shelf to know."""
        if kind not in tuple(Kind):
            raise RulesError(f"expected a kind of exercise ({', '.join(Kind)}), got {shown(kind)}")
        whole("a level", level, LEVELS[0], LEVELS[-1])
        whole("a seed", seed, 0, GREATEST_SEED)
        return Asked(Kind(kind), book, layout, level, seed)


def whole(what: str, value: int, least: int, most: int) -> int:
    """A whole number within its bounds."""
    if type(value) is not int or not least <= value <= most:
        raise RulesError(f"expected {what} from {least} to {most}, got {shown(value)}")
    return value


def shown(value: object) -> str:
    """What was got, as an error quotes it."""
    return printable(repr(value))

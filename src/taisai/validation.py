"""Checks values from outside: settings of casino.toml, fields of commands, words of the command line.

A `ValueKind` says in words what a value must be, and checks it. Every error has one form:
`expected a whole number from 1 to 65535, got 'x' (casino.toml, listen.port)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from taisai.rules.errors import RulesError, printable

if TYPE_CHECKING:  # loaded by the functions that need them: every command imports this module
    from datetime import date
    from enum import StrEnum
    from fractions import Fraction

T = TypeVar("T")
Word = TypeVar("Word", bound="StrEnum")

MOST_QUOTED_DIGITS: Final = 20  # of a number that an error quotes
MOST_DIGITS: Final = 100  # of a number on the command line
MOST_NUMBERS: Final = 2_000  # of a list on the command line
_NUMBER: Final = re.compile(r"(-?[0-9]+(?:_[0-9]+)*)(?:\.([0-9]+))?(?:[eE]\+?([0-9]{1,3}))?", re.ASCII)
_SHARE: Final = re.compile(r"[0-9]{0,3}\.[0-9]{1,20}|[0-9]{1,20}(?:/[0-9]{1,20})?", re.ASCII)
_LIST_ITEM: Final = re.compile(r"-?[0-9]{1,100}", re.ASCII)


class InvalidValueError(RulesError):
    def __init__(self, expected: str, got: str, place: str = "") -> None:
        self.expected, self.got = expected, got
        super().__init__(f"expected {expected}, got {got}" + (f" ({place})" if place else ""))


def quoted(value: object) -> str:
    """A value as an error quotes it, on one line of bounded length."""
    match value:
        case None:
            shown = "nothing"
        case bool():
            shown = str(value).lower()
        case str():
            shown = printable(repr(value[:MOST_NUMBERS]), 128)
        case int() if abs(value) >= 10**MOST_QUOTED_DIGITS:
            shown = f"a number of more than {MOST_QUOTED_DIGITS} digits"
        case int() | float():
            shown = str(value)
        case list():
            shown = "a list" if value else "an empty list"
        case dict():
            shown = "a table"
        case _:
            shown = f"a {type(value).__name__}"
    return shown


class ValueKind(Generic[T]):
    """What a value must be: `expected` in words, `parse` raises a ValueError for other values."""

    def __init__(self, expected: str, parse: Callable[[Any], T]) -> None:
        self.expected, self._parse = expected, parse

    def check(self, value: object, place: str = "") -> T:
        """The parsed value; an InvalidValueError that names the place if it is not of this kind."""
        try:
            return self._parse(value)
        except InvalidValueError as error:  # about a part of the value
            raise InvalidValueError(error.expected, error.got, place) from None
        except (ValueError, TypeError):
            raise InvalidValueError(self.expected, quoted(value), place) from None

    def accepts(self, value: object) -> bool:
        try:
            self._parse(value)
        except (ValueError, TypeError):
            return False
        return True


def typed(expected: str, type_: Any) -> ValueKind[Any]:
    """A kind whose values msgspec converts to a type; the type may be annotated with constraints."""
    from msgspec import convert

    return ValueKind(expected, lambda value: convert(value, type_))


def passing(expected: str, is_valid: Callable[[Any], object]) -> ValueKind[Any]:
    """A kind whose values pass a test."""

    def parse(value: Any) -> Any:
        if not is_valid(value):
            raise ValueError
        return value

    return ValueKind(expected, parse)


def whole(least: int, most: int, unit: str = "") -> ValueKind[int]:
    """A whole number within bounds."""
    expected = f"a whole number{unit and ' of ' + unit} from {least} to {most}"
    return passing(expected, lambda value: type(value) is int and least <= value <= most)


def number(least: float, most: float) -> ValueKind[float]:
    """A number within bounds; neither infinity nor NaN."""
    from typing import Annotated

    from msgspec import Meta

    return typed(f"a number from {least} to {most}", Annotated[float, Meta(ge=least, le=most)])


def flag() -> ValueKind[bool]:
    return typed("true or false", bool)


def choice(words: type[Word]) -> ValueKind[Word]:
    return typed(f"one of {', '.join(repr(str(word)) for word in words)}", words)


def text(expected: str, pattern: str) -> ValueKind[str]:
    """A text that matches a pattern as a whole."""
    compiled = re.compile(pattern)
    return passing(expected, lambda value: type(value) is str and compiled.fullmatch(value))


def printable_text(least: int, most: int) -> ValueKind[str]:
    """A text of printable characters, of bounded length."""
    bounds = f"{least} to {most}" if least else f"at most {most}"
    return passing(
        f"{bounds} printable characters",
        lambda value: type(value) is str and least <= len(value) <= most and value.isprintable(),
    )


# Words of the command line


def parse_whole(text: str) -> int:
    """A whole number such as 1000, 1_000, 1e9 or 1.5e6, exactly."""
    match = _NUMBER.fullmatch(text) if len(text) <= MOST_DIGITS + 1 else None
    if match is None:
        raise ValueError
    digits, decimals, power = match[1].replace("_", ""), match[2] or "", int(match[3] or 0)
    whole_number, rest = divmod(int(digits + decimals) * int(10**power), int(10 ** len(decimals)))
    if rest or abs(whole_number) >= 10**MOST_DIGITS:
        raise ValueError
    return whole_number


def any_whole_text(such_as: str) -> ValueKind[int]:
    """A whole number as it is typed, below 0 or above."""
    return ValueKind(f"a whole number of at most {MOST_DIGITS} digits, such as {such_as}", parse_whole)


def whole_text(least: int, most: int, such_as: str = "1000 or 1e3") -> ValueKind[int]:
    """A whole number within bounds, as it is typed."""

    def parse(typed_text: str) -> int:
        value = parse_whole(typed_text)
        if not least <= value <= most:
            raise ValueError
        return value

    bounds = f"from {_short(least)} to {_short(most)}"
    return ValueKind(f"a whole number {bounds}" + (such_as and f", such as {such_as}"), parse)


def _short(bound: int) -> str:
    """1e15 for a long round number, else with commas."""
    power = len(str(abs(bound))) - 1
    sign = "-" if bound < 0 else ""
    return f"{sign}1e{power}" if power >= 7 and abs(bound) == 10**power else f"{bound:,}"


def parse_share(text: str) -> Fraction:
    """A part of a whole, above 0 and at most 1: 0.75, .75 or 3/4."""
    from fractions import Fraction

    above, _, below = text.partition("/")
    if not _SHARE.fullmatch(text) or (below and not int(below)):
        raise ValueError
    share = Fraction(above) / int(below or 1)
    if not 0 < share <= 1:
        raise ValueError
    return share


SHARE_TEXT: Final = ValueKind("a share above 0 and at most 1, such as 0.75 or 3/4", parse_share)


def parse_numbers(text: str) -> tuple[int, ...]:
    """Numbers such as 2,3,5; the rules check whether they are faces."""
    words = [word.strip() for word in text.split(",")]
    if len(words) > MOST_NUMBERS:
        raise InvalidValueError(f"at most {MOST_NUMBERS} numbers", str(len(words)))
    if not all(_LIST_ITEM.fullmatch(word) for word in words):
        raise ValueError
    return tuple(map(int, words))


NUMBERS_TEXT: Final = ValueKind("numbers with commas between them, such as 2,3,5", parse_numbers)


def parse_day(text: str) -> date:
    """A day such as 2026-11-16; Python itself would also take 20261116."""
    from datetime import date

    day = date.fromisoformat(text)
    if day.isoformat() != text:
        raise ValueError
    return day


DAY_TEXT: Final = ValueKind("a day such as 2026-11-16", parse_day)


def split_pairs(words: Iterable[str], expected: str) -> list[tuple[str, str]]:
    """Words such as small=100, split into name and value."""
    pairs = []
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise InvalidValueError(expected, quoted(word))
        pairs.append((name.strip(), value.strip()))
    return pairs

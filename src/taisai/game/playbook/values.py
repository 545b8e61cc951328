"""Values as a playbook writes them: `field value` in pieces with commas between, read and written alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from types import NoneType
from typing import Any, Final, get_args, get_origin

from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from taisai.rules.errors import RulesError, printable

KEYWORDS: Final = {
    "second": "with",
    "reason": "because",
    "detail": "note",
    "faces": "showing",
    "paid_with": "for",
}
"""Fields that a person calls otherwise."""
_WHOLE: Final = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_PIECE: Final = re.compile(r'(?:[^",]|"[^"]*")+')
_TOKEN: Final = re.compile(r'"([^"]*)"|([^\s"]+)')


class PlaybookError(RulesError):
    """A playbook that cannot be read: which line, what was expected there, what stands there."""

    def __init__(self, file: str, line: int, message: str) -> None:
        self.file, self.line = file, line
        super().__init__(f"{printable(file)}:{line}: {message}")


class PlaybookSyntaxError(ValueError):
    """Words that make no sense, before it is known on which line."""

    def __init__(self, expected: str, got: object) -> None:
        super().__init__(f"expected {expected}, got {_quoted(got)}")


class UnknownWordError(PlaybookSyntaxError):
    """A word that is none of those known: the ones near it, or all where none is."""

    def __init__(self, got: str, known: Iterable[str], *, of: str = "", expected: str = "one of") -> None:
        from difflib import get_close_matches

        names = [str(one) for one in known]
        near = get_close_matches(got[:40].lower(), names, n=3)
        told = f"; near it are {', '.join(near)}" if near else f", expected {expected} {', '.join(names)}{of}"
        ValueError.__init__(self, f"got {_quoted(got)}{of if near else ''}{told}")


def _quoted(got: object) -> str:
    return printable(repr(str(got)), 80)


@cache  # asking msgspec anew would take most of the time of a playing
def fields_of(kind: type[Struct]) -> tuple[FieldInfo, ...]:
    """The fields of a kind of command or event."""
    return fields(kind)


def keyword(field: str) -> str:
    """What a field is called in a playbook."""
    return KEYWORDS.get(field, field.replace("_", "-"))


def pieces(text: str) -> list[list[str]]:
    """The pieces between commas, each as its words; what stands in double quotes is one word."""
    if text.count('"') % 2:
        raise PlaybookSyntaxError("a second quotation mark on the line", text)
    found = [piece.strip() for piece in _PIECE.findall(text)]
    if text.strip() and len(found) != 1 + re.sub(r'"[^"]*"', "", text).count(","):
        raise PlaybookSyntaxError("something between commas", text)
    return [[quoted or plain for quoted, plain in _TOKEN.findall(piece)] for piece in found]


def whole(text: str, what: str = "a whole number") -> int:
    """A whole number, which may be too small or too great for the table to take."""
    if not _WHOLE.fullmatch(text):
        raise PlaybookSyntaxError(what, text)
    return int(text)


def value_of(kind: Any, words: list[str], what: str) -> object:
    """Words as the value of a field of this type."""
    options = [one for one in get_args(kind) if one is not NoneType]
    if get_origin(kind) is not tuple and options:
        kind = options[0]
    if get_origin(kind) is tuple:
        inner = get_args(kind)[0]
        return tuple(value_of(inner, [word], what) for word in words)
    if not words:
        raise PlaybookSyntaxError(f"a value for {what}", "nothing")
    text = " ".join(words)
    if kind is bool:
        if text not in ("yes", "no"):
            raise PlaybookSyntaxError(f"yes or no for {what}", text)
        return text == "yes"
    if kind is int:
        return whole(text, f"a whole number for {what}")
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        if text not in {str(one) for one in kind}:
            raise UnknownWordError(text, kind, of=f" for {what}")
        return kind(text)
    return text


def two_amounts(words: list[str], what: str) -> tuple[int, int]:
    """Amounts such as `100 to 5000`."""
    match words:
        case [least, "to", most]:
            return whole(least, f"the least for {what}"), whole(most, f"the most for {what}")
        case _:
            raise PlaybookSyntaxError(f"limits such as '100 to 5000' for {what}", " ".join(words))


def written(value: object) -> str:
    """A value as a playbook writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return " ".join(written(one) for one in value)
    if isinstance(value, Mapping):
        return " ".join(f"{name} {written(one)}" for name, one in value.items())
    text = str(value).replace('"', "'")
    return f'"{text}"' if not text or "," in text or text != " ".join(text.split()) else text

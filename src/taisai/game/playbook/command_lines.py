"""Command lines of a playbook: `Dan: tumble 3`, `T07: place-bets small 1000, total-8 200`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from types import NoneType
from typing import Any, Final, NamedTuple, get_args, get_origin

from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from taisai.game.betting.messages import Slip
from taisai.game.by_hand.messages import BetByHand
from taisai.game.commands import COMMANDS
from taisai.game.messages import Command, tag_of
from taisai.game.rounds.messages import Perform
from taisai.game.table import Table
from taisai.game.terms.messages import Limits, OpenTable
from taisai.game.vocabulary import Means
from taisai.rules.errors import RulesError, printable
from taisai.rules.vocabulary import Act

KEYWORDS: Final = {
    "second": "with",
    "reason": "because",
    "detail": "note",
    "faces": "showing",
    "paid_with": "for",
}
"""Field → its keyword in a playbook, where it is another word."""
_WHOLE: Final = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_PIECE: Final = re.compile(r'(?:[^",]|"[^"]*")+')
_TOKEN: Final = re.compile(r'"([^"]*)"|([^\s"]+)')


class PlaybookError(RulesError):
    """A playbook that cannot be read, with the line and what was expected there."""

    def __init__(self, file: str, line: int, message: str) -> None:
        self.file, self.line = file, line
        super().__init__(f"{printable(file)}:{line}: {message}")


class PlaybookSyntaxError(ValueError):
    """Words that cannot be read; the caller adds the line."""

    def __init__(self, expected: str, got: object) -> None:
        super().__init__(f"expected {expected}, got {_quoted(got)}")


class UnknownWordError(PlaybookSyntaxError):
    """An unknown word, with similar words, or with all known words if none is similar."""

    def __init__(self, got: str, known: Iterable[str], *, of: str = "", expected: str = "one of") -> None:
        from difflib import get_close_matches

        names = [str(word) for word in known]
        near = get_close_matches(got[:40].lower(), names, n=3)
        hint = f"; near it are {', '.join(near)}" if near else f", expected {expected} {', '.join(names)}{of}"
        ValueError.__init__(self, f"got {_quoted(got)}{of if near else ''}{hint}")


def _quoted(got: object) -> str:
    return printable(repr(str(got)), 80)


@cache  # without it, msgspec would take most of the time of a playbook
def fields_of(kind: type[Struct]) -> tuple[FieldInfo, ...]:
    return fields(kind)


def keyword(field: str) -> str:
    """The word of a playbook for a field."""
    return KEYWORDS.get(field, field.replace("_", "-"))


def pieces(text: str) -> list[list[str]]:
    """The pieces between commas, each split into words; double quotes make one word."""
    if text.count('"') % 2:
        raise PlaybookSyntaxError("a second quotation mark on the line", text)
    parts = [piece.strip() for piece in _PIECE.findall(text)]
    if text.strip() and len(parts) != 1 + re.sub(r'"[^"]*"', "", text).count(","):
        raise PlaybookSyntaxError("a piece between two commas", text)
    return [[quoted or plain for quoted, plain in _TOKEN.findall(piece)] for piece in parts]


def whole(text: str, what: str = "a whole number") -> int:
    """A whole number; the table may still refuse it."""
    if not _WHOLE.fullmatch(text):
        raise PlaybookSyntaxError(what, text)
    return int(text)


def value_of(kind: Any, words: list[str], what: str) -> object:
    """Words as the value of a field of this type."""
    options = [option for option in get_args(kind) if option is not NoneType]
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
        if text not in {str(member) for member in kind}:
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
        return " ".join(written(item) for item in value)
    if isinstance(value, Mapping):
        return " ".join(f"{name} {written(item)}" for name, item in value.items())
    text = str(value).replace('"', "'")
    return f'"{text}"' if not text or "," in text or text != " ".join(text.split()) else text


_OBJECTS: Final = {
    "begin-day": "day",
    "begin-shift": "shift",
    "assign": "person",
    "leave": "person",
    "place-item": "item",
    "remove-item": "item",
    "repair-item": "item",
    "inspect": "item",
    "load-shoe": "decks",
    "count-cards": "found",
    "take-seat": "seat",
    "leave-seat": "seat",
    "show-layout": "seat",
    "buy-credits": "amount",
    "buy-colour": "colour",
    "cash-colour": "pieces",
    "receive-ticket": "amount",
    "dispense-credits": "seat",
    "archive-transfers": "transfers",
    "receive-fill": "amount",
    "send-credit": "amount",
    "send-drop": "transfer",
    "settle-claim": "claim",
    "take-back": "ids",
    "move-bet": "id",
    "correct-record": "change",
    "report": "event",
    "call-attendant": "subject",
    "decide-referral": "referral",
    "declare": "declared",
    "confirm-report": "report",
    "contest-report": "report",
    "take-reading": "reading",
    "commit-seed": "commitment",
    "reveal-seed": "seed",
    str(Act.TUMBLE): "tumbles",
    str(Act.ENTER_RESULT): "faces",
}
"""Verb → the field whose value may follow the verb without its keyword."""
_DEFAULTS: Final[dict[str, dict[str, object]]] = {"inspect": {"runs": 1, "passed": True}}
"""Verb → fields that a line may leave out, and their values then."""
_FROM_TABLE: Final = ("round", "seat")
"""Fields that the table fills in: the current round, and the seat of the terminal that gives the command."""
RETURNED: Final = "returned"
_BETTING: Final = ("place-bets", "record-bets")
VERBS: Final[dict[str, type[Command]]] = {
    **{tag_of(kind): kind for kind in COMMANDS if kind not in (OpenTable, Perform)},
    **{str(act): Perform for act in Act},
}
"""Verb → its command: the tags of commands, and the acts of a round."""


class CommandLine(NamedTuple):
    """A parsed command line; the table fills in the round and the seat if they are left out."""

    by: str
    verb: str
    values: dict[str, Any]

    @property
    def bets(self) -> int:
        """How many bets the line places."""
        return len(self.values["bets"]) if self.verb in _BETTING else 0

    def command(self, table: Table, at: int) -> Command:
        kind, values = VERBS[self.verb], dict(self.values)
        names = {field.name: field.required for field in fields_of(kind)}
        if names.get("round") and "round" not in values:
            values["round"] = table.round.number if table.round else max(1, len(table.rounds))
        if names.get("seat") and "seat" not in values:
            values["seat"] = next(
                (seat.name for seat in table.seats.values() if seat.taken and seat.terminal == self.by), ""
            )
        return kind(at=at, by=self.by, **values)


def parsed_command(by: str, text: str, bets_before: int) -> CommandLine:
    """Parses a command line; a bet without an id gets its number in the playbook, `b7` after six others."""
    verb, _, rest = text.strip().partition(" ")
    verb = verb.rstrip(",")
    if verb not in VERBS:
        raise UnknownWordError(verb, VERBS)
    kind = VERBS[verb]
    reader = _Reader(verb, kind, bets_before)
    for place, words in enumerate(pieces(rest)):
        reader.read(words, first=place == 0)
    values = reader.all_values()
    for field in fields_of(kind):
        if field.required and field.name not in values and field.name not in ("at", "by", *_FROM_TABLE):
            raise PlaybookSyntaxError(f"{keyword(field.name)} with {verb}", rest or "nothing")
    return CommandLine(by, verb, values)


class _Reader:
    """Reads the pieces of one line, field by field."""

    def __init__(self, verb: str, kind: type[Command], bets_before: int) -> None:
        self.verb, self.bets_before = verb, bets_before
        self.types: dict[str, Any] = {field.name: field.type for field in fields_of(kind)}
        hidden = {"at", "by", "bets", "limits", "offers", RETURNED} | ({"act"} if kind is Perform else set())
        self.keywords = {keyword(name): name for name in self.types if name not in hidden}
        self.values: dict[str, Any] = {"act": Act(verb)} if kind is Perform else {}
        self.slips: list[Slip] = []
        self.treated: dict[str, str | None] = {}
        self.returned: dict[str, int] = {}
        self.by_hand: list[BetByHand] = []
        self.offers: dict[str, str] = {}
        self.limits: list[list[str]] = []

    def read(self, words: list[str], *, first: bool) -> None:
        head, rest = words[0], words[1:]
        is_object = first and self.verb in _OBJECTS and not rest  # 'correct-record stake': a value, no field
        if head in self.keywords and not is_object:
            self._set(self.keywords[head], rest)
        elif first and self.verb in _OBJECTS:
            self._set(_OBJECTS[self.verb], words)
        elif "offers" in self.types:
            self.offers[head] = " ".join(rest)
        elif "limits" in self.types:
            self.limits.append(words)
        elif self.verb in _BETTING:
            self.slips.append(self._slip(words))
        elif self.verb == "decide-referral" and head == "bet":
            self._treat(rest)
        elif RETURNED in self.types and head == RETURNED:
            self._hand_back(rest)
        elif self.verb == "enter-round" and head == "bet":
            self.by_hand.append(_bet_by_hand(rest))
        else:
            raise UnknownWordError(head, self.keywords, of=f" with {self.verb}")

    def all_values(self) -> dict[str, Any]:
        """The values of all fields, with the defaults of those left out."""
        values = {**_DEFAULTS.get(self.verb, {}), **self.values}
        if self.verb == "assign":
            values.setdefault("rank", values.get("position"))
        if self.verb in _BETTING:
            values["bets"] = tuple(self.slips)
        if self.treated:
            values["bets"] = self.treated
        if RETURNED in self.types:
            values[RETURNED] = self.returned
        if self.verb == "enter-round":
            values["bets"] = tuple(self.by_hand)
        if "offers" in self.types:
            values["offers"] = self.offers
        if "limits" in self.types:
            values["limits"] = limits_of(self.limits)
        return values

    def _set(self, name: str, words: list[str]) -> None:
        if name in self.values:
            raise PlaybookSyntaxError(f"{keyword(name)} once", " ".join(words))
        self.values[name] = value_of(self.types[name], words, keyword(name))

    def _slip(self, words: list[str]) -> Slip:
        match words:
            case [area, stake]:
                name = f"b{self.bets_before + len(self.slips) + 1}"
            case [area, stake, "as", name]:
                pass
            case _:
                raise PlaybookSyntaxError("a bet such as 'small 1000' or 'small 1000 as b7'", " ".join(words))
        return Slip(name, area, whole(stake, f"a stake on {area}"))

    def _treat(self, words: list[str]) -> None:
        match words:
            case [name, area]:
                self.treated[name] = None if area == RETURNED else area
            case _:
                raise PlaybookSyntaxError("'bet b1 big' or 'bet b1 returned'", " ".join(words))

    def _hand_back(self, words: list[str]) -> None:
        match words:
            case [seat, amount] if seat not in self.returned:
                self.returned[seat] = whole(amount, f"an amount for seat {seat}")
            case _:
                expected = "'returned 1 2000', a seat and an amount, each seat once"
                raise PlaybookSyntaxError(expected, " ".join(words))


def _bet_by_hand(words: list[str]) -> BetByHand:
    match words:
        case [seat, means, area, stake] if means in {str(kind) for kind in Means}:
            return BetByHand(seat, Means(means), area, whole(stake, f"a stake on {area}"))
        case _:
            raise PlaybookSyntaxError("'bet 1 cash-chips small 1000'", " ".join(words))


def limits_of(pieces_: list[list[str]]) -> Limits:
    """Limits such as `100 to 5000, triple 100 to 500, exposure 90000`."""
    least_most: tuple[int, int] | None = None
    exposure: int | None = None
    groups: dict[str, tuple[int, int]] = {}
    for words in pieces_:
        match words:
            case ["exposure", amount]:
                exposure = whole(amount, "an exposure")
            case [_, "to", _]:
                least_most = two_amounts(words, "the table")
            case [name, *amounts]:
                groups[name] = two_amounts(amounts, name)
            case _:
                pass
    if least_most is None:
        raise PlaybookSyntaxError("the table's limits, such as '100 to 5000'", "none")
    return Limits(least=least_most[0], most=least_most[1], groups=groups, exposure=exposure)

"""What messages say of themselves: the meaning of every field, and its type in JSON's own words."""

from __future__ import annotations

import ast
import enum
import inspect
from functools import cache
from importlib import import_module
from itertools import pairwise
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, Meta, Struct, UnsetType

from taisai.protocol.commands import AT_HOUSE, AT_TABLE, BY_TAG
from taisai.protocol.message import PROTOCOL_VERSION
from taisai.protocol.replies import SERVER_MESSAGES
from taisai.protocol.requests import REQUESTS
from taisai.protocol.views import VIEWS

MESSAGES: Final[tuple[type[Struct], ...]] = (*REQUESTS, *SERVER_MESSAGES, *AT_TABLE, *AT_HOUSE)
"""Whose fields all have a meaning."""
MEANINGS: Final = {
    "act": "What is done.",
    "after": "The last number that the client has of the feed.",
    "amount": "In minor units.",
    "approval": "Of a second person, for exactly this; told once by `POST /api/approvals`.",
    "area": "The area's id, such as `total-8`.",
    "bet": "The bet that it is about.",
    "bets": "Area and stake of each.",
    "books": "Every account.",
    "changes": "The parts that are different.",
    "claim": "The claim's id, as console and cage show it.",
    "clause": "The clause of the document, or `house:` and a procedure of the house.",
    "colour": "The colour of the chips.",
    "counted": "What was found, in minor units.",
    "day": "A gaming day, such as `2026-11-16`.",
    "dealing": "Whether the virtual dealer deals.",
    "decks": "How many.",
    "declared": "What the two declare.",
    "demonstration": "Whether nothing here is worth anything.",
    "detail": "In words.",
    "device": "Under which name the device was enrolled.",
    "do": "The command, below.",
    "epoch": "The epoch of that number; another start has another.",
    "event": "What went wrong.",
    "faces": "What the dice or cards show, in any order.",
    "fault": "Why there are no faces: [dice in](../how-to/connect-a-device.md#a-device-that-sees-the-dice).",
    "favourites": "In the order in which they were first kept.",
    "feed": "`lobby`, `table:T`, `console:T`, `seat:T/S`, `pit` or `cage`.",
    "felt": "The layout.",
    "found": "Cards of each face, ones first.",
    "how": "How it ends.",
    "id": "An id of its own.",
    "ids": "The bets' ids.",
    "item": "What the rulebook calls it.",
    "layout": "A layout of the rulebook, such as `B`; the table's own unless said.",
    "limits": "The new ones.",
    "means": "What the bets are made with.",
    "message": "What was expected, and what came; for people.",
    "most": "At most so many.",
    "name": "The name.",
    "nonce": "32 random bytes, hexadecimal: what a device signs.",
    "number": "Where the feed stands.",
    "offers": "Area → odds, such as `180 to 1`.",
    "paid_with": "Cash, or cash chips.",
    "passed": "Whether all was as it should be.",
    "person": "A name on the staff roll.",
    "pieces": "How many chips.",
    "player": "What the player is called, if he likes.",
    "position": "At the table, such as `dealer`.",
    "preview": "What would be.",
    "program": "Which program speaks.",
    "reading": "An id that no other reading of the round has.",
    "reason": "Why; of a refusal, a word that programs can rely on.",
    "referral": "The referral's id, as the console shows it.",
    "report": "Of the day.",
    "role": "As what it is connected: [access](permissions.md).",
    "round": "The round's number.",
    "rounds": "The latest first.",
    "runs": "Trial runs.",
    "seat": "A seat of the table; a terminal's own.",
    "serial": "The serial number, where it has one.",
    "shake": "1, and one more for each time that bets of the round were opened again.",
    "shift": "What the shift is called.",
    "subject": "A call, or a dispute.",
    "table": "The table's name.",
    "terminal": "The terminal's name, where one stands there.",
    "through": "The last round affected, where a range is.",
    "ticket": "The ticket's number, as printed.",
    "transfer": "Under which it moves between a table and the cage.",
    "treatment": "What is decided.",
    "value": "Of one chip, in minor units.",
    "view": "The feed as it stands.",
    "why": "A word that programs can rely on.",
    "tickets": "Those of this session that are still good.",
    "protocol": f"The version of the protocol, {PROTOCOL_VERSION}.",
    "withdraw": "All of his bets, or none.",
}
"""What fields of messages mean wherever the message itself does not say it."""
_PLAIN: Final = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    Any: "any",
}


def meaning(kind: type[Struct], field: str) -> str:
    """What a field means; a part of a view may say nothing where its name says it all."""
    return said(kind).get(field) or (MEANINGS.get(field, "") if kind in MESSAGES else "")


@cache
def said(kind: type[Struct]) -> dict[str, str]:
    """Field → the text that stands under it, in the class or in one that it comes from."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        if one is not Struct and issubclass(one, Struct):
            found |= _said_in(one)
    return found


def _said_in(kind: type[Struct]) -> dict[str, str]:
    classes = [node for node in _tree(kind.__module__).body if isinstance(node, ast.ClassDef)]
    body = next((node.body for node in classes if node.name == kind.__name__), [])
    return {
        node.target.id: " ".join(str(below.value.value).split())
        for node, below in pairwise(body)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    }


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(import_module(module)))


def typed(kind: Any) -> str:
    """A type as a page tells it."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return typed(inner[0]) + "".join(_bounded(note) for note in inner[1:] if isinstance(note, Meta))
    if origin in (Union, UnionType):
        return _union([one for one in inner if one is not UnsetType])
    if origin is tuple:
        return f"list of {typed(inner[0])}" if inner[-1] is Ellipsis else f"{len(inner)} × {typed(inner[0])}"
    if origin is dict:
        return f"object: {typed(inner[0])} → {typed(inner[1])}"
    return _PLAIN[kind] if kind in _PLAIN else f"[{kind.__name__}](#{anchor(kind)})"


def anchor(kind: type[Any]) -> str:
    """Where a page tells of a struct, or of a list of words."""
    name = kind.__name__.lower()
    return f"{name}-words" if issubclass(kind, enum.Enum) else name


def _union(kinds: list[Any]) -> str:
    structs = {one for one in kinds if isinstance(one, type) and issubclass(one, Struct)}
    if len(structs) < 2:
        return " or ".join(map(typed, kinds))
    if structs == set(BY_TAG.values()):
        return "a [command](#commands)"
    return "a [view](#views)" if structs == set(VIEWS) else "changes of a [view](#views)"


def _bounded(note: Meta) -> str:
    if note.max_length is not None:
        return f", {note.min_length or 0} to {note.max_length} long"
    return "" if note.ge is None else f" from {note.ge} to {note.le}"


def default(one: msgspec.structs.FieldInfo) -> str:
    """What a field is unless said, as JSON."""
    if one.default is not NODEFAULT:
        return f"`{msgspec.json.encode(one.default).decode()}`"
    if one.default_factory is not NODEFAULT:
        return f"`{msgspec.json.encode(one.default_factory()).decode()}`"
    return "must be given"

"""What messages say of themselves: the meaning of every field, and its type in JSON's own words."""

from __future__ import annotations

import ast
import enum
import inspect
import re
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
"""Messages whose fields all need a meaning."""
MEANINGS: Final = {
    "act": "The act of the round.",
    "after": "The last number that the client has of the feed.",
    "amount": "In minor units.",
    "approval": "The token of a second person's approval of exactly this request (`POST /api/approvals`).",
    "area": "The area's id, such as `total-8`.",
    "bet": "The id of the bet that it concerns.",
    "bets": "Area and stake of each bet.",
    "books": "Every account.",
    "change": "What is put right.",
    "changes": "The parts that changed.",
    "claim": "The id of the claim, as console and cage show it.",
    "clause": "The clause of the document, or `house:` and a house procedure.",
    "colour": "The colour of the chips.",
    "counted": "The counted amount, in minor units.",
    "day": "A gaming day, such as `2026-11-16`.",
    "dealing": "Whether the virtual dealer deals.",
    "decks": "The number of decks.",
    "declared": "What the Dealer and the supervisor declare.",
    "demonstration": "Whether the server plays for play money.",
    "detail": "A description in words.",
    "device": "The name under which the device is enrolled.",
    "do": "The command, below.",
    "edition": "The number of the edition.",
    "epoch": "The epoch of the number in `after`. Each start of the server has its own epoch.",
    "event": "The irregularity.",
    "evidence": "Where it can be seen, such as the camera and the time.",
    "faces": "What the dice or cards show, in any order.",
    "fault": "Why there are no faces: [devices](../how-to/connect-a-device.md#a-device-that-sees-the-dice).",
    "favourites": "In the order in which they were first stored.",
    "feed": "`lobby`, `table:T`, `console:T`, `seat:T/S`, `pit`, `cage` or `alarms`.",
    "felt": "The layout.",
    "found": "The number of cards of each face, from 1 to 6.",
    "how": "How the claim is settled.",
    "ids": "The ids of the bets.",
    "item": "The id of the equipment in the rulebook.",
    "layout": "A layout of the rulebook, such as `B`. Default: the layout of the table.",
    "limits": "The new limits.",
    "means": "What the bets are made with: credits or chips.",
    "message": "The problem in one sentence, for people.",
    "most": "The greatest number of rounds.",
    "name": "The name.",
    "nonce": "32 random bytes in hexadecimal, for a device to sign.",
    "number": "The number of the feed's latest change.",
    "offers": "Area → odds, such as `180 to 1`.",
    "paid_with": "Cash, or cash chips.",
    "passed": "Whether the inspection found everything in order.",
    "person": "A name on the staff list.",
    "pieces": "The number of chips.",
    "player": "The name of the player; may be empty.",
    "position": "The position at the table, such as `dealer`.",
    "preview": "What the result would light and pay.",
    "program": "Name and version of the program.",
    "reading": "An id that no other reading of the round has.",
    "reason": "The reason, in words.",
    "referral": "The referral's id, as the console shows it.",
    "report": "The report of the day.",
    "role": "The role of the connection: [permissions](permissions.md).",
    "round": "The round's number.",
    "rounds": "The latest round first.",
    "runs": "The number of trial runs.",
    "rulebook": "The id of the rulebook, without its edition.",
    "seat": "A seat of the table; for a terminal its own seat.",
    "serial": "The serial number, if it has one.",
    "shake": "1, and one more each time the bets of the round were opened again.",
    "shift": "The name of the shift.",
    "subject": "A call or a dispute.",
    "table": "The table's name.",
    "terminal": "The name of the terminal, if there is one.",
    "through": "The last affected round, if several rounds are affected.",
    "ticket": "The ticket's number, as printed.",
    "transfer": "The id under which it moves between a table and the cage.",
    "treatment": "The decision.",
    "value": "The value of one chip, in minor units.",
    "view": "The whole view.",
    "why": "A word for programs.",
    "tickets": "The tickets of this session that are still valid.",
    "protocol": f"The version of the protocol, {PROTOCOL_VERSION}.",
    "withdraw": "True: all bets. False: none.",
}
"""Field → its meaning, where the class of the message has no docstring for it."""
_PLAIN: Final = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    Any: "any",
}


def meaning(kind: type[Struct], field: str) -> str:
    """What a field means; empty where a part of a view has no docstring for it."""
    text = said(kind).get(field) or (MEANINGS.get(field, "") if kind in MESSAGES else "")
    return re.sub(r"\bNone\b", "null", text)  # as JSON writes it


@cache
def said(kind: type[Struct]) -> dict[str, str]:
    """Field → its docstring, in the class or in a base class."""
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
    """A type as the page shows it."""
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
    """The heading of a struct, or of a list of words."""
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
    """The default of a field, as JSON."""
    if one.default is not NODEFAULT:
        return f"`{msgspec.json.encode(one.default).decode()}`"
    if one.default_factory is not NODEFAULT:
        return f"`{msgspec.json.encode(one.default_factory()).decode()}`"
    return "required"

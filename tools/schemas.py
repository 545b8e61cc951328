"""Prints, as one JSON Schema, all that a page and the floor say to each other: its types are made of it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from functools import reduce
from hashlib import sha256
from operator import or_
from types import UnionType
from typing import Any, Final, get_args

import msgspec
from msgspec import NODEFAULT, Struct, UnsetType

from taisai.protocol import bodies
from taisai.protocol.commands import BY_TAG
from taisai.protocol.replies import SERVER_MESSAGES
from taisai.protocol.requests import REQUESTS
from taisai.protocol.views import CHANGES, VIEWS
from taisai.server.http import school_bodies

_MODULES: Final = (bodies, school_bodies)
"""Where bodies of requests and answers are."""
UNIONS: Final[dict[str, Any]] = {
    "AnyRequest": reduce(or_, REQUESTS),
    "AnyServerMessage": reduce(or_, SERVER_MESSAGES),
    "AnyCommand": reduce(or_, BY_TAG.values()),
    "AnyView": reduce(or_, VIEWS),
    "AnyChanges": reduce(or_, CHANGES.values()),
    **{
        name: kinds
        for module in _MODULES
        for name, kinds in vars(module).items()
        if isinstance(kinds, UnionType) and not name.startswith("_")
    },
}
"""Messages of which one is meant, told apart by their tag."""
_BODIES: Final = tuple(
    kind
    for module in _MODULES
    for name, kind in inspect.getmembers(module, inspect.isclass)
    if issubclass(kind, Struct) and kind.__module__ == module.__name__
    if kind not in (bodies.RequestBody, bodies.ResponseBody) and not name.startswith("_")
)
_HEARD: Final = (*REQUESTS, *(kind for kind in _BODIES if issubclass(kind, bodies.RequestBody)))
_TOLD: Final = (*SERVER_MESSAGES, *(kind for kind in _BODIES if issubclass(kind, bodies.ResponseBody)))


def schema() -> dict[str, Any]:
    """Every message and body, every part of one, and every list of words, by name."""
    made, parts = msgspec.json.schema_components([*UNIONS.values(), *_BODIES], ref_template="#/$defs/{name}")
    named = dict(zip(UNIONS, made, strict=False))
    if clash := named.keys() & parts.keys():
        raise SystemExit(f"expected names of unions that no message has, got {', '.join(sorted(clash))}")
    for kind in _reached(_TOLD) - _reached(_HEARD):
        parts[kind.__name__]["required"] = _always_told(kind, parts[kind.__name__])
    return {"$defs": {**_with_names(parts, named), **named}}


def digest() -> str:
    """Of the schema: what is made from it says so in its first line."""
    return sha256(msgspec.json.encode(schema(), order="sorted")).hexdigest()[:16]


def _always_told(kind: type[Struct], part: dict[str, Any]) -> list[str]:
    """The fields that a server message always has: all of them, except those left out at their default."""
    fields = msgspec.structs.fields(kind)
    leaves_out = kind.__struct_config__.omit_defaults
    left_out = {
        one.encode_name
        for one in fields
        if UnsetType in get_args(one.type)
        or (leaves_out and not (one.default is NODEFAULT and one.default_factory is NODEFAULT))
    }
    return [name for name in part["properties"] if name not in left_out]


def _reached(kinds: Iterable[Any]) -> set[type[Struct]]:
    """Every struct that these are made of."""
    found: set[type[Struct]] = set()
    waiting = list(kinds)
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, type) and issubclass(kind, Struct) and kind not in found:
            found.add(kind)
            waiting += [one.type for one in msgspec.structs.fields(kind)]
        waiting += get_args(kind)
    return found


def _with_names(part: Any, named: dict[str, Any]) -> Any:
    """The same, with the name of a union wherever one stands in full."""
    if isinstance(part, list):
        return [_with_names(one, named) for one in part]
    if not isinstance(part, dict):
        return part
    for name, union in named.items():
        if part.get("anyOf") == union["anyOf"]:
            return {"$ref": f"#/$defs/{name}"}
    return {key: _with_names(one, named) for key, one in part.items()}


if __name__ == "__main__":
    sys.stdout.write(msgspec.json.encode({"digest": digest(), "schema": schema()}).decode())

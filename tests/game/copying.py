"""Deep copies of tables and Houses: what `copy.deepcopy` makes, without a call for every number in a list."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from copy import copy, deepcopy
from enum import Enum
from functools import cache
from types import FunctionType, NoneType
from typing import Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import astuple

T = TypeVar("T")
_PLAIN: Final[set[type]] = {int, str, bool, bytes, float, NoneType, FunctionType, type}
"""What cannot change, and holds nothing that can; kinds of enumerations join them as they are met."""


def deeply_copied(thing: T, shared: Iterable[object] = ()) -> T:
    """A copy that shares with the thing only what is named, and what cannot change."""
    made: T = _copied(thing, {id(one): one for one in shared})
    return made


def _copied(thing: Any, known: dict[int, Any]) -> Any:  # noqa: PLR0911  one kind of thing after the other
    kind: Any = type(thing)
    if kind in _PLAIN:
        return thing
    if isinstance(thing, Enum):
        _PLAIN.add(kind)
        return thing
    found = known.get(id(thing), known)  # `known` itself is never among what it knows
    if found is not known:
        return found
    if kind is dict or kind is list or kind is set or kind is array:
        return _container(thing, kind, known)
    if isinstance(thing, tuple):
        return _tuple(thing, kind, known)
    slots = _slots(kind)
    if slots is None:
        is_plain = isinstance(thing, Struct) and kind.__struct_config__.frozen and _is_plain(astuple(thing))
        return thing if is_plain else deepcopy(thing, known)
    other = known[id(thing)] = kind.__new__(kind)
    for name in slots:
        if hasattr(thing, name):
            setattr(other, name, _copied(getattr(thing, name), known))
    return other


def _is_plain(things: Any) -> bool:
    return _PLAIN.issuperset(map(type, things))


def _container(thing: Any, kind: type, known: dict[int, Any]) -> Any:
    if kind is array or (_is_plain(thing) and (kind is not dict or _is_plain(thing.values()))):
        other = known[id(thing)] = copy(thing)
    elif kind is dict:
        other = known[id(thing)] = {}  # before what is in it, which may lead back here
        other.update((_copied(key, known), _copied(value, known)) for key, value in thing.items())
    else:
        other = known[id(thing)] = kind()
        put = other.append if kind is list else other.add
        for one in thing:
            put(_copied(one, known))
    return other


def _tuple(thing: Any, kind: Any, known: dict[int, Any]) -> Any:
    if _is_plain(thing):
        return thing
    parts = [_copied(one, known) for one in thing]
    if all(one is other for one, other in zip(thing, parts, strict=True)):
        return thing
    other = known[id(thing)] = tuple(parts) if kind is tuple else kind._make(parts)
    return other


@cache
def _slots(kind: type) -> tuple[str, ...] | None:
    """All that an object of a class has, where it has slots and nothing special; else None."""
    special = ("__deepcopy__", "__copy__", "__getstate__", "__setstate__", "__reduce__", "__setattr__")
    is_usual = all(getattr(kind, name, None) is getattr(object, name, None) for name in special)
    classes = [one for one in kind.__mro__ if one is not object]
    if not is_usual or kind.__dictoffset__:
        return None
    if any("__slots__" not in vars(one) for one in classes):
        return None
    return tuple(name for one in classes for name in vars(one)["__slots__"] if name != "__weakref__")

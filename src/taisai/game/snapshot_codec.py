"""Snapshots as canonical JSON, derived from the annotations of the classes that hold state.

A state class is a dataclass. Every field of it is stored, except those marked `Derived`. A new field
therefore needs no other place, and a snapshot without it is not read: the journal is replayed.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from operator import attrgetter
from types import GenericAlias, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    NamedTuple,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Struct, defstruct, structs

from taisai.game.money import packed_sums
from taisai.rules.outcomes import OUTCOMES, Outcome

VERSION: Final = 5
"""The version of all snapshots. A snapshot of another version is not read: the journal is replayed."""
_DERIVED: Final = "derived"
_Value = TypeVar("_Value")
Derived = Annotated[_Value, _DERIVED]
"""Marks a field that follows from the rulebook or from other fields: snapshots do not store it."""


class SnapshotError(Exception):
    """A snapshot that cannot be read, or that contradicts its rulebook, its rounds or itself."""


def check_equal(what: str, expected: object, got: object) -> None:
    """Raises where a snapshot has another value than it must have."""
    if expected != got:
        raise SnapshotError(f"expected the {what} {expected}, got {got} in the snapshot")


class Form(NamedTuple):
    """How the values of a type are stored: the type that msgspec reads, and the conversions, if any."""

    stored: Any
    store: Callable[[Any], Any] | None = None
    restore: Callable[[Any], Any] | None = None


@cache
def form_of(kind: Any) -> Form:
    """How the values of a type are stored."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated and packed_sums.PACKED in kind.__metadata__:
        return Form(list[int], _unpacked, lambda sums: packed_sums.packed(array("q", sums)))
    if origin is dict:
        return _dict_form(*arguments)
    if origin is list:
        return _list_form(form_of(arguments[0]))
    if origin is set:
        return Form(GenericAlias(list, arguments), sorted, set)
    if origin is UnionType:
        return _union_form(kind, [option for option in arguments if option is not NoneType])
    if is_dataclass(kind):
        return _state_form(kind)
    if _is_message(kind):
        return _message_form(kind)
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _record_form(kind)
    return Form(kind)


def _is_message(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct) and kind.__struct_config__.tag is not None


def _unpacked(sums: int) -> list[int]:
    return packed_sums.unpacked(sums, len(OUTCOMES)).tolist() if sums else []


def _list_form(inner: Form) -> Form:
    stored, store, restore = inner
    if store is None or restore is None:
        return Form(GenericAlias(list, (stored,)))
    return Form(
        GenericAlias(list, (stored,)),
        lambda items: [store(item) for item in items],
        lambda items: [restore(item) for item in items],
    )


def _dict_form(key: Any, value: Any) -> Form:
    """Pairs in their order; or the records alone, where each has its key as its id or name."""
    inner = form_of(value)
    items = _list_form(inner)
    keep = items.store or list
    own_key = next((name for name in ("id", "name") if name in getattr(value, "__annotations__", ())), None)
    if own_key is not None:
        key_of, restore = attrgetter(own_key), inner.restore

        def restored(records: list[Any]) -> dict[Any, Any]:
            return {key_of(record): record for record in (map(restore, records) if restore else records)}

        if _is_message(value):  # in one generated expression: two calls for each bet would take a sixth more
            code = f"lambda rows: {{row.{own_key}: {_call(value)} for row in rows}}"
            restored = eval(code, {"kind": value})  # noqa: S307
        return Form(items.stored, lambda values: keep(values.values()), restored)
    stored = GenericAlias(list, (GenericAlias(tuple, (key, inner.stored)),))
    if inner.store is None or inner.restore is None:
        return Form(stored, lambda values: list(values.items()), dict)
    store_one, restore_one = inner.store, inner.restore
    return Form(
        stored,
        lambda values: [(name, store_one(item)) for name, item in values.items()],
        lambda pairs: {name: restore_one(item) for name, item in pairs},
    )


def _union_form(kind: Any, options: list[Any]) -> Form:
    if len(options) > 1:  # enumerations that have no word in common
        if not all(issubclass(option, StrEnum) for option in options):
            raise TypeError(f"expected a union of enumerations or with None, got {kind}")
        words = {str(word): word for option in options for word in option}
        return Form(str, str, words.__getitem__)
    stored, store, restore = form_of(options[0])
    if store is None or restore is None:
        return Form(kind)
    return Form(
        stored | None,
        lambda value: None if value is None else store(value),
        lambda value: None if value is None else restore(value),
    )


def _record_form(kind: Any) -> Form:
    """A named tuple: as it is, where msgspec can read all of its fields."""
    forms = [form_of(hint) for hint in get_type_hints(kind, include_extras=True).values()]
    if all(form.store is None for form in forms):
        return Form(kind)

    def store(record: Any) -> tuple[Any, ...]:
        return tuple(
            form.store(value) if form.store else value for form, value in zip(forms, record, strict=True)
        )

    def restore(values: tuple[Any, ...]) -> Any:
        return kind(
            *(form.restore(value) if form.restore else value
              for form, value in zip(forms, values, strict=True))
        )  # fmt: skip

    return Form(GenericAlias(tuple, tuple(form.stored for form in forms)), store, restore)


def _message_form(kind: Any) -> Form:
    """A command or an event: its values alone, since a round may have a million bets."""
    row = defstruct(
        kind.__name__, [(field.name, field.type) for field in structs.fields(kind)],
        array_like=True, frozen=True, forbid_unknown_fields=True, gc=False,
    )  # fmt: skip
    return Form(row, structs.astuple, eval(f"lambda row: {_call(kind)}", {"kind": kind}))  # noqa: S307


def _call(kind: Any) -> str:
    """The code that makes a message from its row, written out: a dictionary for each bet is slower."""
    return f"kind({', '.join(f'{name}=row.{name}' for name in kind.__struct_fields__)})"


def _state_form(kind: Any) -> Form:
    """A state class: an object with a key for each stored field."""
    hints = get_type_hints(kind, include_extras=True)
    names = [field.name for field in fields(kind) if not _is_derived(hints[field.name])]
    forms = [form_of(hints[name]) for name in names]
    snapshot = defstruct(
        f"{kind.__name__}Snapshot", [(name, form.stored) for name, form in zip(names, forms, strict=True)],
        frozen=True, forbid_unknown_fields=True,
    )  # fmt: skip
    storing = [(place, form.store) for place, form in enumerate(forms) if form.store is not None]
    restoring = [(name, form.restore) for name, form in zip(names, forms, strict=True) if form.restore]

    def store(state: Any) -> Struct:
        values = [getattr(state, name) for name in names]
        for place, convert in storing:
            values[place] = convert(values[place])
        return snapshot(*values)

    def restore(stored: Struct) -> Any:
        values = structs.asdict(stored)
        for name, convert in restoring:
            values[name] = convert(values[name])
        return kind(**values)

    return Form(snapshot, store, restore)


def _is_derived(hint: Any) -> bool:
    return get_origin(hint) is Annotated and _DERIVED in hint.__metadata__


def fill(state: Any, stored: Struct) -> None:
    """Puts the stored values into a new object, which has its derived fields already."""
    hints = get_type_hints(type(state), include_extras=True)
    for name, value in structs.asdict(stored).items():
        if is_dataclass(hints[name]):
            fill(getattr(state, name), value)
        else:
            restore = form_of(hints[name]).restore
            setattr(state, name, restore(value) if restore else value)


def _write_leaf(value: Any) -> Any:
    if isinstance(value, array):
        return value.tolist()
    if isinstance(value, Outcome):
        return str(value)
    raise NotImplementedError(f"a snapshot cannot store {value!r}")


def _read_leaf(kind: type, value: Any) -> Any:
    try:
        return array("q", value) if kind is array else Outcome.parse(value)
    except OverflowError as error:
        raise ValueError(str(error)) from error


_ENCODER: Final = msgspec.json.Encoder(order="sorted", enc_hook=_write_leaf)
_State = TypeVar("_State")


class SnapshotCodec(Generic[_State]):
    """Writes and reads the snapshots of one state class; the same state gives the same bytes."""

    def __init__(self, kind: type[_State], **about: Any) -> None:
        """`about`: the other fields of a snapshot, each with its type."""
        self.name = kind.__name__
        self._form: Form = form_of(cast("Any", kind))
        self._envelope: Any = defstruct(
            f"{self.name}Snapshot",
            [("version", int), *about.items(), ("state", self._form.stored)],
            kw_only=True, frozen=True, forbid_unknown_fields=True,
        )  # fmt: skip
        self._decoder = msgspec.json.Decoder(self._envelope, dec_hook=_read_leaf)

    def write(self, state: _State, **about: Any) -> bytes:
        """The snapshot of a state, as canonical JSON."""
        assert self._form.store is not None
        return _ENCODER.encode(self._envelope(version=VERSION, state=self._form.store(state), **about))

    def parse(self, data: bytes) -> Any:
        """A snapshot from its bytes: version, state and what else it carries."""
        try:
            snapshot: Any = self._decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise SnapshotError(f"not a {self.name} snapshot of version {VERSION}: {error}") from error
        check_equal("version", VERSION, snapshot.version)
        return snapshot

    def read(self, data: bytes) -> _State:
        """The state of a snapshot."""
        assert self._form.restore is not None
        stored = self.parse(data).state
        try:
            state: _State = self._form.restore(stored)
        except (KeyError, ValueError, OverflowError) as error:
            raise SnapshotError(f"not a {self.name} snapshot: {error!r}") from error
        return state

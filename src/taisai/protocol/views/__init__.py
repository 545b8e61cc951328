"""Views: what the server shows of tables, seats and the House, and the changes of those views."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from msgspec import UNSET, UnsetType

from taisai.game.commands import Slip
from taisai.protocol.views.approvals import *
from taisai.protocol.views.console import *
from taisai.protocol.views.house import *
from taisai.protocol.views.parts import *
from taisai.protocol.views.rounds import *
from taisai.protocol.views.table import *

VIEWS: Final[tuple[type[View], ...]] = (
    TableView, ConsoleView, SeatView, LobbyView, PitView, CageView, ApprovalsView, AlarmsView,
)  # fmt: skip
"""Every view of a feed."""

_BETS: Final = "bets"
_BY_BET: Final[tuple[tuple[str, Any, Any], ...]] = (
    ("cleared", bool, False),
    ("gone", tuple[str, ...], ()),
    ("placed", tuple[Slip, ...], ()),
)
"""A seat's bets change one by one: `cleared` removes all, then `gone` some, then `placed` adds bets."""


def changes_of(view: type[View]) -> type[Changes]:
    """The struct of a view's changes: the same fields, each set only if it differs."""
    fields: list[tuple[str, Any, Any]] = []
    for field in msgspec.structs.fields(view):
        if view is SeatView and field.name == _BETS:
            fields += _BY_BET
        else:
            fields.append((field.name, field.type | UnsetType, UNSET))
    name = f"{view.__name__.removesuffix('View')}Changes"
    changes = msgspec.defstruct(
        name, fields, bases=(Changes,), namespace={"__doc__": f"The changed fields of {view.__name__}."},
        module=__name__, frozen=True, kw_only=True, tag_field="of", tag=view.__struct_config__.tag,
        omit_defaults=True, gc=False,
    )  # fmt: skip
    return cast("type[Changes]", changes)


CHANGES: Final[Mapping[type[View], type[Changes]]] = {view: changes_of(view) for view in VIEWS}
"""View → the struct of its changes."""

if TYPE_CHECKING:
    AnyView = View
    AnyChanges = Changes
else:
    AnyView = reduce(or_, VIEWS)
    AnyChanges = reduce(or_, CHANGES.values())


def difference(before: View, after: View) -> Changes | None:
    """The changes from one view to another of the same type; None if they are equal."""
    if type(before) is not type(after):
        raise TypeError(
            f"expected two views of one type, got {type(before).__name__} and {type(after).__name__}"
        )
    fields: dict[str, Any] = {}
    for name in after.__struct_fields__:
        was, now = getattr(before, name), getattr(after, name)
        if was is now or was == now:
            continue
        if name == _BETS and isinstance(after, SeatView):
            fields |= _by_bet(was, now)
        else:
            fields[name] = now
    return CHANGES[type(after)](**fields) if fields else None


def _by_bet(before: tuple[Slip, ...], after: tuple[Slip, ...]) -> dict[str, Any]:
    """The changes from some bets to others, in order."""
    remaining = set(after)
    kept = tuple(bet for bet in before if bet in remaining)
    if before and (not kept or after[: len(kept)] != kept):
        return {"cleared": True, "placed": after}
    kept_ids = {bet.id for bet in kept}
    gone = tuple(bet.id for bet in before if bet.id not in kept_ids)
    return {"gone": gone, "placed": after[len(kept) :]}


def changed(view: View, changes: Changes) -> View:
    """The view after its changes."""
    if CHANGES[type(view)] is not type(changes):
        raise TypeError(f"expected changes of a {type(view).__name__}, got {type(changes).__name__}")
    fields = {
        name: value
        for name in view.__struct_fields__
        if (value := getattr(changes, name, UNSET)) is not UNSET
    }
    if isinstance(view, SeatView):
        fields[_BETS] = _with_bets(view.bets, changes)
    return msgspec.structs.replace(view, **fields)


def _with_bets(bets: tuple[Slip, ...], changes: Any) -> tuple[Slip, ...]:
    if changes.cleared:
        bets = ()
    if changes.gone:
        gone = set(changes.gone)
        bets = tuple(bet for bet in bets if bet.id not in gone)
    return (*bets, *changes.placed)

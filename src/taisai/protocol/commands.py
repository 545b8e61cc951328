"""The commands that clients send: the game's commands without actor, time and second person.

The server fills those in: the actor is the person or device of the connection, the time is the server's
clock, and the second person is the one who approved exactly this request.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from msgspec import Struct

from taisai.cage import messages as house
from taisai.cage.messages import HouseCommand
from taisai.game import commands as game
from taisai.game.commands import Command

AT_TABLE: Final[tuple[type[Command], ...]] = tuple(
    sorted((kind for kind in game.COMMANDS if kind.from_clients), key=lambda kind: kind.__name__)
)
"""Commands of a table that a client may send. Commands that only the system gives are not among them."""

AT_HOUSE: Final[tuple[type[HouseCommand], ...]] = (
    house.AdoptInterpretations,
    house.BringIn,
    house.OverrideWitness,
    house.RedeemTicket,
    house.TakeOut,
)
"""Commands of the House that a client may send. The others have requests or endpoints of their own."""

_FILLED_IN: Final = frozenset({"alone", "ask", "at", "by", "calendar", "second"})


class SentCommand(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A command as it is sent."""


def _stripped(kind: type[Struct]) -> type[SentCommand]:
    """The command without the fields that the server fills in."""
    fields: list[Any] = []
    for field in msgspec.structs.fields(kind):
        if field.name in _FILLED_IN:
            continue
        if field.default is not msgspec.NODEFAULT:
            fields.append((field.name, field.type, field.default))
        elif field.default_factory is not msgspec.NODEFAULT:
            fields.append((field.name, field.type, msgspec.field(default_factory=field.default_factory)))
        else:
            fields.append((field.name, field.type))
    stripped = msgspec.defstruct(
        kind.__name__, fields, bases=(SentCommand,), namespace={"__doc__": kind.__doc__},
        module=__name__, frozen=True, kw_only=True, tag_field="command", tag=kind.__struct_config__.tag,
        forbid_unknown_fields=True, omit_defaults=kind.__struct_config__.omit_defaults, gc=False,
    )  # fmt: skip
    return cast("type[SentCommand]", stripped)


BY_TAG: Final[Mapping[str, type[SentCommand]]] = {
    str(kind.__struct_config__.tag): _stripped(kind) for kind in (*AT_TABLE, *AT_HOUSE)
}
"""Tag → the command as it is sent."""
_KINDS: Final[tuple[type[Command | HouseCommand], ...]] = (*AT_TABLE, *AT_HOUSE)
_COMPLETE: Final[Mapping[type[SentCommand], type[Command | HouseCommand]]] = {
    BY_TAG[str(kind.__struct_config__.tag)]: kind for kind in _KINDS
}
NEEDS_SECOND: Final = frozenset(
    tag for tag, sent in BY_TAG.items() if "second" in _COMPLETE[sent].__struct_fields__
)
"""Tags of commands that a second person may have to approve."""

if TYPE_CHECKING:
    AnySentCommand = SentCommand
else:
    AnySentCommand = reduce(or_, BY_TAG.values())


def tag_of(sent: SentCommand) -> str:
    """The tag of a command."""
    return str(sent.__struct_config__.tag)


def completed(sent: SentCommand, *, at: int, by: str, second: str | None = None) -> Command | HouseCommand:
    """The game's command, with the fields that the server fills in."""
    kind = _COMPLETE[type(sent)]
    fields: dict[str, Any] = {name: getattr(sent, name) for name in sent.__struct_fields__}
    if second is not None:
        fields["second"] = second
    return kind(at=at, by=by, **fields)


def command(tag: str, /, **fields: object) -> SentCommand:
    """A command to send: `command("perform", act="tumble", tumbles=3)`."""
    return msgspec.convert(msgspec.to_builtins(fields) | {"command": tag}, type=AnySentCommand)

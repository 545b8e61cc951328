"""What every command and every event carries, and the tags that journals store."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar, Final, TypeVar

from msgspec import Struct

from taisai.rules.clauses import Clause

LATEST: Final = 253_402_300_799_999  # the end of the year 9999, in milliseconds: no later date can be shown
Faces = tuple[int, ...]
_BASES: Final = frozenset({"Message", "Command", "Event", "HouseCommand", "HouseEvent"})


def required_tag(name: str) -> str:
    """Refuse a message without a tag of its own: journals store the tag, so it must outlive class names."""
    if name in _BASES:
        return name
    raise TypeError(f'{name} has no tag: declare it as `class {name}(..., tag="...")`')


def tag_of(kind: type[Struct]) -> str:
    """The word that names this kind of message in journals, playbooks and in the protocol."""
    return str(kind.__struct_config__.tag)


class Message(Struct, frozen=True, kw_only=True, tag=required_tag, forbid_unknown_fields=True, gc=False):
    """What commands and events have in common, those of the House too."""

    since: ClassVar[int] = 1
    """The version of the journal's format that first has this kind."""
    at: int
    """Milliseconds since 1970 in UTC, by the clock of the server."""
    by: str
    """A person, a terminal, or one of the system's own actors."""


class Command(Message, frozen=True, kw_only=True, tag_field="command"):
    """A request to a table."""

    from_clients: ClassVar[bool] = True
    """Whether clients may send this command. If not, only the server gives it."""
    before_opening: ClassVar[bool] = False
    """Whether a table that was not opened yet takes this command."""
    after_closing: ClassVar[bool] = False
    """Whether a closed table still takes this command: a wrong result is corrected whenever it is found."""


class Event(Message, frozen=True, kw_only=True, tag_field="event"):
    """Something that happened at a table."""

    clause: Clause
    """A clause of the document, or `house:…` if the documents have none."""


Events = tuple[Event, ...]
_Kind = TypeVar("_Kind", bound=Message)


def messages_in(module: ModuleType, base: type[_Kind]) -> list[type[_Kind]]:
    """The commands or the events that a module defines, in the order of their definition."""
    kinds = (kind for kind in vars(module).values() if isinstance(kind, type) and kind is not base)
    return [kind for kind in kinds if issubclass(kind, base) and kind.__module__ == module.__name__]

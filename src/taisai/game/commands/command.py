"""What every command carries."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

Faces = tuple[int, ...]
_BASES: Final = frozenset({"Command", "Event", "HouseCommand", "HouseEvent"})


def required_tag(name: str) -> str:
    """Refuse a message without a tag of its own: journals store the tag, so it must outlive class names."""
    if name in _BASES:
        return name
    raise TypeError(f'{name} has no tag: declare it as `class {name}(..., tag="...")`')


def tag_of(kind: type[Struct]) -> str:
    """The word that names this kind of message in journals, playbooks and in the protocol."""
    return str(kind.__struct_config__.tag)


class Command(
    Struct,
    frozen=True,
    kw_only=True,
    tag_field="command",
    tag=required_tag,
    forbid_unknown_fields=True,
    gc=False,
):
    """Something asked of a table."""

    at: int
    """Milliseconds since 1970 in UTC, by the clock of whoever runs the table."""
    by: str
    """A person, a terminal, or one of the system's own actors."""

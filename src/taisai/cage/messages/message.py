"""What every command and event of the House has."""

from __future__ import annotations

from msgspec import Struct

from taisai.game.messages import required_tag
from taisai.rules.clauses import Clause


class HouseCommand(
    Struct,
    frozen=True,
    kw_only=True,
    tag_field="command",
    tag=required_tag,
    forbid_unknown_fields=True,
    gc=False,
):
    """Something asked of the House."""

    at: int
    """Milliseconds since 1970 in UTC, by the clock of whoever runs the House."""
    by: str
    """A person, a terminal, or one of the system's own actors."""


class HouseEvent(
    Struct,
    frozen=True,
    kw_only=True,
    tag_field="event",
    tag=required_tag,
    forbid_unknown_fields=True,
    gc=False,
):
    """Something that happened at the House."""

    at: int
    by: str
    clause: Clause
    """One of the house's own: no document speaks of the cage."""

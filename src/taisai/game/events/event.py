"""What every event carries."""

from __future__ import annotations

from msgspec import Struct

from taisai.game.commands import required_tag
from taisai.rules.clauses import Clause


class Event(
    Struct,
    frozen=True,
    kw_only=True,
    tag_field="event",
    tag=required_tag,
    forbid_unknown_fields=True,
    gc=False,
):
    """Something that happened."""

    at: int
    by: str
    clause: Clause
    """The document's, or `house:…` where no document speaks."""

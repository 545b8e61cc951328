"""What every event carries."""

from __future__ import annotations

from msgspec import Struct

from taisai.game.commands import kebab
from taisai.rules.clauses import Clause


class Event(
    Struct, frozen=True, kw_only=True, tag_field="event", tag=kebab, forbid_unknown_fields=True, gc=False
):
    """Something that happened."""

    at: int
    by: str
    clause: Clause
    """The document's, or `house:…` where no document speaks."""

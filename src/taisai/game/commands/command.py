"""What every command carries."""

from __future__ import annotations

from msgspec import Struct

Faces = tuple[int, ...]


def kebab(name: str) -> str:
    """'PlaceBets' → 'place-bets'."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("-")


class Command(
    Struct, frozen=True, kw_only=True, tag_field="command", tag=kebab, forbid_unknown_fields=True, gc=False
):
    """Something asked of a table."""

    at: int
    """Milliseconds since 1970 in UTC, by the clock of whoever runs the table."""
    by: str
    """A person, a terminal, or one of the system's own actors."""

"""What every message is: an ask goes to the floor, a tell comes from it; the first key says which."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

WIRE: Final = 1
"""The version of the wire: it changes when a message means something else than before."""
MOST_MESSAGE: Final = 64 * 1024  # bytes of an ask: 500 bets of one batch, with room
MOST_ID: Final = 64  # characters of an ask's own id


def _tag(name: str) -> str:
    """'AskTicketOut' → 'ticket-out'."""
    plain = name.removeprefix("Ask").removeprefix("Tell")
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in plain).lstrip("-")


class Ask(Struct, frozen=True, kw_only=True, tag_field="ask", tag=_tag, forbid_unknown_fields=True, gc=False):
    """From a terminal, a console, a display or a device to the floor: one a message."""

    id: Annotated[str, Meta(min_length=1, max_length=MOST_ID)]
    """The client's own, which the answer repeats: every ask is answered."""


class Tell(Struct, frozen=True, kw_only=True, tag_field="tell", tag=_tag, omit_defaults=True, gc=False):
    """From the floor: a message is a list of them."""

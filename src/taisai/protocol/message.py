"""What every message has: requests go to the server; replies and notices come from it."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

PROTOCOL_VERSION: Final = 2
"""The version of the protocol. It goes up when an existing message changes its form or meaning."""
MOST_MESSAGE: Final = 64 * 1024  # bytes of a request: 500 bets of one batch, with room
MOST_ID: Final = 64  # characters of a request's own id
TYPE: Final = "type"
"""The key that every message has: it names the kind of message."""


def _tag(name: str) -> str:
    """'TicketOutRequest' → 'ticket-out'."""
    plain = name.removesuffix("Request").removesuffix("Reply").removesuffix("Notice")
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in plain).lstrip("-")


class Request(
    Struct, frozen=True, kw_only=True, tag_field=TYPE, tag=_tag, forbid_unknown_fields=True, gc=False
):
    """What a terminal, a console, a display or a device sends to the server. Each is one text message."""

    id: Annotated[str, Meta(min_length=1, max_length=MOST_ID)]
    """The client chooses it, and the reply repeats it. Every request gets a reply."""


class ServerMessage(
    Struct, frozen=True, kw_only=True, tag_field=TYPE, tag=_tag, omit_defaults=True, gc=False
):
    """What the server sends. A text message is a list of them."""


class Reply(ServerMessage, frozen=True, kw_only=True):
    """The answer to one request."""

    to: str
    """The id of the request."""


class Notice(ServerMessage, frozen=True, kw_only=True):
    """What the server sends without a request, above all the frames of feeds."""


class _RepeatedKeyError(ValueError):
    """An object of JSON has a key twice."""


def _once(pairs: list[tuple[str, Any]]) -> None:
    keys = set[str]()
    for key, _ in pairs:
        if key in keys:
            raise _RepeatedKeyError(key)
        keys.add(key)


_look: Final = json.JSONDecoder(object_pairs_hook=_once, parse_int=bool, parse_float=bool).decode


def repeated_key(text: str) -> str | None:
    """The first key that stands twice in an object of valid JSON: two programs may read two things in it."""
    try:
        _look(text)
    except _RepeatedKeyError as error:
        return str(error)
    return None

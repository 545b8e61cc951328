"""Replies and notices: everything that the server sends to a client; and the schema of all messages."""

from __future__ import annotations

from functools import cache, reduce
from operator import or_
from typing import Any, Final

import msgspec
from msgspec import Struct

from taisai.protocol.message import MOST_MESSAGE, PROTOCOL_VERSION, Notice, Reply, ServerMessage
from taisai.protocol.requests import REQUESTS, PlacedStake
from taisai.protocol.views import AnyChanges, AnyView, BooksView, FeltView, PreviewView, ReportView, RoundView

# Connecting


class ChallengeNotice(Notice, frozen=True, kw_only=True):
    """The first message on a connection: what a device signs, and the state of the server."""

    protocol: int
    program: str
    nonce: str
    epoch: str
    """It names this start of the server. In each epoch feeds are numbered from the beginning."""
    demonstration: bool
    now: int
    """The server's clock, in milliseconds since 1970. All times in messages are by this clock."""
    pages: str
    """The build of the pages that the server serves. A page of another build loads itself again.
    Empty if the server has no pages."""


class WelcomeReply(Reply, frozen=True, kw_only=True):
    """The server knows the client: its role and its name."""

    role: str
    name: str
    table: str | None = None
    seat: str | None = None
    currency: str = ""
    """The currency of the house. All amounts of money are in its minor units."""
    replaced: int = 0
    """How many older connections of this device or person were closed for this one."""


class PongReply(Reply, frozen=True, kw_only=True):
    """The server is there."""

    now: int
    """The server's clock, as in the challenge."""


# Done and refused


class DoneReply(Reply, frozen=True, kw_only=True):
    """The request is carried out, and stored durably."""

    ticket: str | None = None
    """The number of the ticket, where the request issued or redeemed one."""
    amount: int | None = None
    transfer: str | None = None
    """The id of the transfer between a table and the cage, where the request made one."""
    again: bool = False
    """Whether an earlier request with the same ids had done it already."""


class RefusedReply(ServerMessage, frozen=True, kw_only=True):
    """The request is not carried out: why, and by which clause."""

    reason: str
    """A word for programs, such as `late`."""
    message: str
    """The problem in one English sentence, for programs and logs."""
    to: str | None = None
    """The id of the request; `null` if the server could not read one."""
    clause: str | None = None
    bet: str | None = None
    sums: tuple[int, ...] = ()
    """The expected amount and the actual one, where the refusal is about money. A page needs them to explain
    the refusal in the reader's language."""


# Feeds


class SnapshotNotice(Notice, frozen=True, kw_only=True):
    """The whole view of a feed, after `number` changes."""

    feed: str
    number: int
    view: AnyView
    to: str | None = None
    """The id of the `follow` that it answers; `null` if the server sent it by itself."""


class ChangeNotice(Notice, frozen=True, kw_only=True):
    """The next change of a feed: those fields of its view that are different now."""

    feed: str
    number: int
    changes: AnyChanges
    what: tuple[str, ...] = ()
    """The events that made the change."""


class FollowingReply(Reply, frozen=True, kw_only=True):
    """The client has every change of the feed up to `number`, and receives the next ones."""

    feed: str
    number: int


# Queries


class Favourite(Struct, frozen=True, kw_only=True):
    """A set of bets under a name."""

    name: str
    bets: tuple[PlacedStake, ...]


class FavouritesReply(Reply, frozen=True, kw_only=True):
    """The seat's favourites."""

    favourites: tuple[Favourite, ...]


class TicketLine(Struct, frozen=True, kw_only=True):
    """A ticket that a terminal issued."""

    ticket: str
    """Its number."""
    amount: int
    at: int
    """When it was issued, in milliseconds since 1970."""


class TicketsReply(Reply, frozen=True, kw_only=True):
    """The seat's tickets, latest first."""

    house: str
    """The name of the House, as it is printed on tickets."""
    tickets: tuple[TicketLine, ...]


class FeltReply(Reply, frozen=True, kw_only=True):
    """A layout."""

    felt: FeltView


class RoundsReply(Reply, frozen=True, kw_only=True):
    """Past rounds, latest first."""

    rounds: tuple[RoundView, ...]


class PreviewReply(Reply, frozen=True, kw_only=True):
    """What a result would pay and light."""

    preview: PreviewView


class BooksReply(Reply, frozen=True, kw_only=True):
    """Every account of the House and the tables."""

    books: BooksView


class ReportReply(Reply, frozen=True, kw_only=True):
    """Drop, win and hold of each table."""

    report: ReportView


# Disconnecting


class EndNotice(Notice, frozen=True, kw_only=True):
    """The server closes the connection: why."""

    why: str
    message: str


SERVER_MESSAGES: Final[tuple[type[ServerMessage], ...]] = (
    ChallengeNotice, WelcomeReply, PongReply, DoneReply, RefusedReply, SnapshotNotice, ChangeNotice,
    FollowingReply, FavouritesReply, TicketsReply, FeltReply, RoundsReply, PreviewReply, BooksReply,
    ReportReply, EndNotice,
)  # fmt: skip
"""Every reply and every notice."""


# The published schema

REFERENCE: Final = "#/$defs/{name}"


@cache
def socket_schema() -> dict[str, Any]:
    """One document: what a client may send, and the lists of messages that it receives.

    JSON Schema takes both 1 and 1.0 for an integer. The server accepts only 1.
    """
    (requests, messages), parts = msgspec.json.schema_components(
        [reduce(or_, REQUESTS), list[reduce(or_, SERVER_MESSAGES)]],  # type: ignore[misc]
        ref_template=REFERENCE,
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The Taisai socket",
        "description": f"Version {PROTOCOL_VERSION}. A message is JSON text of at most {MOST_MESSAGE} bytes; "
        "a client sends one request in each and receives a list of messages in each.",
        "$comment": "Integers are written without a decimal point: 1.0 is refused where 1 is expected.",
        "properties": {"requests": requests, "messages": messages},
        "$defs": parts,
    }

"""Requests: everything that a client can send to the server."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from taisai.protocol.commands import AnySentCommand
from taisai.protocol.message import Request

RequestName = Annotated[str, Meta(min_length=1, max_length=64)]
Amount = Annotated[int, Meta(ge=1, le=2**53 - 1)]
ThreeFaces = tuple[int, int, int]

# Connecting, and following feeds


class HelloRequest(Request, frozen=True, kw_only=True):
    """The first request on a connection: the protocol's version, and who the client is.

    A visitor gives neither token nor device.
    """

    protocol: int
    token: str | None = None
    """The token of a staff session."""
    device: str | None = None
    signature: str | None = None
    """The device's signature under the challenge, hexadecimal."""


def device_text(device: str, nonce: bytes) -> bytes:
    """The text that a device signs. No name has a line break, so the text is unambiguous."""
    return b"taisai device 1\n" + device.encode() + b"\n" + nonce


class FollowRequest(Request, frozen=True, kw_only=True):
    """Follows a feed. With `epoch` and `after` it continues where the client was, if the server still can."""

    feed: str
    epoch: str | None = None
    after: int | None = None


class UnfollowRequest(Request, frozen=True, kw_only=True):
    """Stops following a feed."""

    feed: str


class PingRequest(Request, frozen=True, kw_only=True):
    """Asks whether the server is there. It does not keep a session from expiring."""


class _TableRequest(Request, frozen=True, kw_only=True):
    table: RequestName


class _SeatRequest(_TableRequest, frozen=True, kw_only=True):
    seat: RequestName


# Commands


class DoRequest(Request, frozen=True, kw_only=True, omit_defaults=True):
    """Carries out a command at a table, or at the House if no table is given."""

    do: AnySentCommand
    table: str | None = None
    approval: str | None = None
    """The approval of a second person for exactly this request."""


class OpenTableRequest(_TableRequest, frozen=True, kw_only=True):
    """Opens a configured table for the first time, under its configured terms."""


class TakePositionRequest(_TableRequest, frozen=True, kw_only=True):
    """Puts the member of staff into a position at a table that their rank allows."""

    position: RequestName


# Terminals


class UndoRequest(_SeatRequest, frozen=True, kw_only=True):
    """Takes back the bets that were placed last."""


class ClearRequest(_SeatRequest, frozen=True, kw_only=True):
    """Takes back every bet of the round."""


class DoubleRequest(_SeatRequest, frozen=True, kw_only=True):
    """Places every bet of the round once more."""


class RepeatRequest(_SeatRequest, frozen=True, kw_only=True):
    """Places the bets of the seat's last round again."""


class PlacedStake(Struct, frozen=True, forbid_unknown_fields=True):
    """A stake on an area."""

    area: RequestName
    stake: Amount


class KeepFavouriteRequest(_SeatRequest, frozen=True, kw_only=True):
    """Saves a set of bets under a name. An empty set deletes the name."""

    name: RequestName
    bets: Annotated[tuple[PlacedStake, ...], Meta(max_length=104)]


class FavouritesRequest(_SeatRequest, frozen=True, kw_only=True):
    """Asks for the seat's favourites."""


class TicketInRequest(_SeatRequest, frozen=True, kw_only=True):
    """Redeems a ticket at a terminal."""

    ticket: RequestName


class TicketOutRequest(_SeatRequest, frozen=True, kw_only=True):
    """Issues a ticket for all credits of a terminal."""


class TicketsRequest(_SeatRequest, frozen=True, kw_only=True):
    """Asks for the tickets that the terminal issued to this player and that are not redeemed yet."""


# Queries


class FeltRequest(_TableRequest, frozen=True, kw_only=True):
    """Asks for a layout: areas, labels, odds, limits, drawing."""

    layout: str | None = None


class RoundsRequest(_TableRequest, frozen=True, kw_only=True):
    """Asks for past rounds: with all bets for staff, with their own bets of the last ten for a player."""

    seat: str | None = None
    round: int | None = None
    most: Annotated[int, Meta(ge=1, le=10)] = 10


class PreviewRequest(_TableRequest, frozen=True, kw_only=True):
    """Asks what a result would light and pay, before it is committed."""

    faces: ThreeFaces


# The cage


class SellTicketRequest(Request, frozen=True, kw_only=True):
    """Sells a ticket for cash. The server makes its number. Above the amount for one it takes two people."""

    amount: Amount
    approval: str | None = None


class FillRequest(_TableRequest, frozen=True, kw_only=True):
    """Sends chips from the cage to a table's tray."""

    amount: Amount
    approval: str | None = None


class TakeCreditRequest(_TableRequest, frozen=True, kw_only=True):
    """Sends chips from a table's tray to the cage."""

    amount: Amount
    transfer: str | None = None
    """A transfer that left the tray and has not arrived yet: this request finishes it."""
    approval: str | None = None


class TakeDropRequest(_TableRequest, frozen=True, kw_only=True):
    """Takes a table's drop box to the count."""

    approval: str | None = None


class CountDropRequest(_TableRequest, frozen=True, kw_only=True):
    """Records what was counted in a drop box that left a table."""

    transfer: RequestName
    counted: Annotated[int, Meta(ge=0, le=2**53 - 1)]
    approval: str | None = None


class SettleClaimRequest(_TableRequest, frozen=True, kw_only=True):
    """Pays a player's claim, or collects the house's, at the cage."""

    claim: RequestName
    approval: str | None = None


class BooksRequest(Request, frozen=True, kw_only=True):
    """Asks for every account of the House and the tables, and whether they balance."""


class ReportRequest(Request, frozen=True, kw_only=True):
    """Asks for drop, win and hold of each table, for a gaming day; by default for the current day."""

    day: str | None = None


# Results


class ReadingRequest(_TableRequest, frozen=True, kw_only=True):
    """What a shaker that recognises dice saw, or why it saw nothing."""

    reading: RequestName
    faces: ThreeFaces | None = None
    fault: str | None = None
    round: int | None = None
    """The round's number; by default the current round. A device that may send a reading twice gives it."""
    shake: Annotated[int, Meta(ge=1, le=100)] = 1


# The demonstration


class VirtualDealerRequest(_TableRequest, frozen=True, kw_only=True):
    """Pauses the virtual dealer of a table, or lets them continue."""

    dealing: bool


REQUESTS: Final[tuple[type[Request], ...]] = (
    HelloRequest, FollowRequest, UnfollowRequest, PingRequest, DoRequest, OpenTableRequest,
    TakePositionRequest, UndoRequest, ClearRequest, DoubleRequest, RepeatRequest, KeepFavouriteRequest,
    FavouritesRequest, TicketInRequest, TicketOutRequest, TicketsRequest, FeltRequest, RoundsRequest,
    PreviewRequest, SellTicketRequest, FillRequest, TakeCreditRequest, TakeDropRequest, CountDropRequest,
    SettleClaimRequest, BooksRequest, ReportRequest, ReadingRequest, VirtualDealerRequest,
)  # fmt: skip
"""Every request."""

"""Asks: everything that a client can say to the floor."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from taisai.protocol.commands import AnyWireCommand
from taisai.protocol.message import Ask

Name = Annotated[str, Meta(min_length=1, max_length=64)]
Amount = Annotated[int, Meta(ge=1, le=2**53 - 1)]
Faces = tuple[int, int, int]

# Coming in, and following


class AskHello(Ask, frozen=True, kw_only=True):
    """The first ask: which version, and who; a visitor gives neither token nor device."""

    wire: int
    token: str | None = None
    """Of a staff session."""
    device: str | None = None
    signature: str | None = None
    """By the device's own key, over the challenge: hexadecimal."""


class AskFollow(Ask, frozen=True, kw_only=True):
    """Follows a feed, from where the client last was, if the floor still knows."""

    feed: str
    epoch: str | None = None
    after: int | None = None


class AskUnfollow(Ask, frozen=True, kw_only=True):
    """Follows a feed no longer."""

    feed: str


class AskBeat(Ask, frozen=True, kw_only=True):
    """Asks whether the floor is there, where nothing was heard for a while; it keeps no session open."""


# Doing


class AskDo(Ask, frozen=True, kw_only=True):
    """Asks for a command at a table, or at the House where no table is named."""

    do: AnyWireCommand
    table: str | None = None
    approval: str | None = None
    """Of a second person, for exactly this."""


class AskOpenTable(Ask, frozen=True, kw_only=True):
    """Opens a table of the house's configuration for the first time, under the terms that stand there."""

    table: Name


class AskTakePosition(Ask, frozen=True, kw_only=True):
    """A member of staff comes to a table, in a position that his rank lets him fill."""

    table: Name
    position: Name


# A terminal's own


class AskUndo(Ask, frozen=True, kw_only=True):
    """Takes back the bets that came last."""

    table: Name
    seat: Name


class AskClear(Ask, frozen=True, kw_only=True):
    """Takes back every bet of the round."""

    table: Name
    seat: Name


class AskDouble(Ask, frozen=True, kw_only=True):
    """Places every bet of the round once more."""

    table: Name
    seat: Name


class AskRepeat(Ask, frozen=True, kw_only=True):
    """Places the bets of the seat's last round again."""

    table: Name
    seat: Name


class Laid(Struct, frozen=True, forbid_unknown_fields=True):
    """A stake on an area."""

    area: Name
    stake: Amount


class AskKeepFavourite(Ask, frozen=True, kw_only=True):
    """Keeps a set of bets under a name; an empty set is forgotten."""

    table: Name
    seat: Name
    name: Name
    bets: Annotated[tuple[Laid, ...], Meta(max_length=104)]


class AskFavourites(Ask, frozen=True, kw_only=True):
    """The seat's favourites."""

    table: Name
    seat: Name


class AskTicketIn(Ask, frozen=True, kw_only=True):
    """Puts a ticket into a terminal."""

    table: Name
    seat: Name
    ticket: Name


class AskTicketOut(Ask, frozen=True, kw_only=True):
    """All credits of a terminal as a ticket."""

    table: Name
    seat: Name


class AskTickets(Ask, frozen=True, kw_only=True):
    """The tickets that came out of a terminal since its player sat down, and that nobody has redeemed."""

    table: Name
    seat: Name


# Looking


class AskFelt(Ask, frozen=True, kw_only=True):
    """The layout: areas, labels, odds, limits, drawing."""

    table: Name
    layout: str | None = None


class AskRounds(Ask, frozen=True, kw_only=True):
    """The last rounds, or one: everybody's bets for staff; for a player what he bet in the last ten."""

    table: Name
    seat: str | None = None
    round: int | None = None
    most: Annotated[int, Meta(ge=1, le=10)] = 10


class AskPreview(Ask, frozen=True, kw_only=True):
    """What would light, and what it would cost, before a result is committed."""

    table: Name
    faces: Faces


# The cage


class AskSellTicket(Ask, frozen=True, kw_only=True):
    """Sells a ticket for cash: the floor makes its number."""

    amount: Amount


class AskFill(Ask, frozen=True, kw_only=True):
    """Chips from the cage into a table's tray."""

    table: Name
    amount: Amount
    approval: str | None = None


class AskTakeCredit(Ask, frozen=True, kw_only=True):
    """Chips from a table's tray into the cage."""

    table: Name
    amount: Amount
    transfer: str | None = None
    """One that left the tray and never arrived, to be finished."""
    approval: str | None = None


class AskTakeDrop(Ask, frozen=True, kw_only=True):
    """A table's drop box leaves for the count."""

    table: Name
    approval: str | None = None


class AskCountDrop(Ask, frozen=True, kw_only=True):
    """What was found in a drop box that left a table."""

    table: Name
    transfer: Name
    counted: Annotated[int, Meta(ge=0, le=2**53 - 1)]
    approval: str | None = None


class AskSettleClaim(Ask, frozen=True, kw_only=True):
    """The cage pays a player's claim, or collects the house's."""

    table: Name
    claim: Name
    approval: str | None = None


class AskBooks(Ask, frozen=True, kw_only=True):
    """Every account of House and tables, and whether they balance."""


class AskReport(Ask, frozen=True, kw_only=True):
    """Drop, win and hold per table, for a gaming day or the day in hand."""

    day: str | None = None


# Dice in


class AskReading(Ask, frozen=True, kw_only=True):
    """What a recognising shaker saw, or why it saw nothing."""

    table: Name
    reading: Name
    faces: Faces | None = None
    fault: str | None = None
    round: int | None = None
    """Of which round; the one in hand unless said. A device that may repeat itself says it."""
    shake: Annotated[int, Meta(ge=1, le=100)] = 1


# The demonstration


class AskVirtual(Ask, frozen=True, kw_only=True):
    """Pauses the virtual dealer of a table, or lets it go on."""

    table: Name
    dealing: bool


ASKS: Final[tuple[type[Ask], ...]] = (
    AskHello, AskFollow, AskUnfollow, AskBeat, AskDo, AskOpenTable, AskTakePosition, AskUndo, AskClear,
    AskDouble, AskRepeat,
    AskKeepFavourite, AskFavourites, AskTicketIn, AskTicketOut, AskTickets, AskFelt, AskRounds,
    AskPreview,
    AskSellTicket, AskFill, AskTakeCredit, AskTakeDrop, AskCountDrop, AskSettleClaim, AskBooks, AskReport,
    AskReading, AskVirtual,
)  # fmt: skip
"""Every ask there is."""

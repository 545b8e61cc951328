"""Seats, chips, credits and bets."""

from __future__ import annotations

from msgspec import Struct

from taisai.game.commands.command import Command
from taisai.game.vocabulary import ClaimEnd, Means

# Seats, chips and credits


class TakeSeat(Command, frozen=True, kw_only=True, tag="take-seat"):
    """A player's session at a seat begins; at a terminal, with its layout."""

    seat: str
    player: str = ""
    terminal: str | None = None
    layout: str | None = None


class LeaveSeat(Command, frozen=True, kw_only=True, tag="leave-seat"):
    """The session ends, with nothing left on the seat."""

    seat: str


class ShowLayout(Command, frozen=True, kw_only=True, tag="show-layout"):
    """A terminal shows another layout, under no live bets of its own."""

    seat: str
    layout: str


class BuyCredits(Command, frozen=True, kw_only=True, tag="buy-credits"):
    """Credits for cash at a terminal."""

    seat: str
    amount: int


class BuyColour(Command, frozen=True, kw_only=True, tag="buy-colour"):
    """Colour chips at a value that the player sets, for cash or cash chips."""

    seat: str
    colour: str
    value: int
    pieces: int
    paid_with: Means
    marker: int | None = None
    """The value of the marker or cash chip that shows the value of the chips."""


class CashColour(Command, frozen=True, kw_only=True, tag="cash-colour"):
    """Colour chips go back for cash chips."""

    seat: str
    pieces: int


class ReceiveTicket(Command, frozen=True, kw_only=True, tag="receive-ticket"):
    """The value of a ticket that the House took in arrives at a terminal."""

    transfer: str
    seat: str
    amount: int
    session: int
    """The session of the seat in which the ticket was put in."""


class DispenseCredits(Command, frozen=True, kw_only=True, tag="dispense-credits"):
    """All credits of a terminal go out, to become a ticket."""

    transfer: str
    seat: str


class ReceiveFill(Command, frozen=True, kw_only=True, tag="receive-fill"):
    """Chips from the cage arrive in the tray."""

    transfer: str
    amount: int
    second: str | None = None


class SendCredit(Command, frozen=True, kw_only=True, tag="send-credit"):
    """Chips leave the tray for the cage."""

    transfer: str
    amount: int
    second: str | None = None


class SendDrop(Command, frozen=True, kw_only=True, tag="send-drop"):
    """The drop box leaves for the count with all that is in it."""

    transfer: str
    second: str | None = None


class SettleClaim(Command, frozen=True, kw_only=True, tag="settle-claim"):
    """A claim is paid, collected or given up: at the table, or by the cage under a transfer."""

    claim: str
    how: ClaimEnd
    transfer: str | None = None
    reason: str = ""
    second: str | None = None


# Bets


class Slip(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One bet of a batch: area, stake, and an id that no other bet of the round has, at any terminal."""

    id: str
    area: str
    stake: int


class PlaceBets(Command, frozen=True, kw_only=True, omit_defaults=True, tag="place-bets"):
    """A terminal's bets, all or none; an id that is known already changes nothing."""

    round: int
    seat: str
    bets: tuple[Slip, ...]
    means: Means | None = None
    """Credits unless said, or the colour chips that the seat bought; the stake is in money all the same."""


class RecordBets(Command, frozen=True, kw_only=True, tag="record-bets"):
    """Chips as they lie on a live table, by staff or a chip reader, for a seat or a colour."""

    round: int
    bets: tuple[Slip, ...]
    """The stake of colour chips is in pieces."""
    means: Means
    seat: str | None = None
    colour: str | None = None
    at_request: bool = False
    """Whether staff laid them because the player asked."""


class TakeBack(Command, frozen=True, kw_only=True, tag="take-back"):
    """Bets go back before the close, all or none."""

    round: int
    seat: str
    ids: tuple[str, ...]


class MoveBet(Command, frozen=True, kw_only=True, tag="move-bet"):
    """Staff record that a bet lies on another area than recorded, until positions count."""

    round: int
    id: str
    area: str
    second: str | None = None
    """Who sees it too, after the close."""

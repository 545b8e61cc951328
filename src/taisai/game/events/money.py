"""Seats, chips, credits and bets."""

from __future__ import annotations

from taisai.game.events.event import Event
from taisai.game.vocabulary import ClaimEnd, Means

# Seats, chips and credits


class SeatTaken(Event, frozen=True, kw_only=True, tag="seat-taken"):
    """A player's session begins."""

    seat: str
    player: str
    terminal: str | None
    layout: str


class SeatLeft(Event, frozen=True, kw_only=True, tag="seat-left"):
    """The session is over."""

    seat: str


class LayoutShown(Event, frozen=True, kw_only=True, tag="layout-shown"):
    """A terminal shows another layout."""

    seat: str
    layout: str


class CreditsBought(Event, frozen=True, kw_only=True, tag="credits-bought"):
    """Cash fell into the drop box, credits came onto the terminal."""

    seat: str
    amount: int


class ColourBought(Event, frozen=True, kw_only=True, tag="colour-bought"):
    """Colour chips at the value that the player set."""

    seat: str
    colour: str
    value: int
    pieces: int
    paid_with: Means
    marker: int | None


class ColourCashed(Event, frozen=True, kw_only=True, tag="colour-cashed"):
    """Colour chips went back for cash chips."""

    seat: str
    pieces: int
    amount: int


class TicketReceived(Event, frozen=True, kw_only=True, tag="ticket-received"):
    """A ticket's value is on the terminal, or is the player's claim where the seat was left meanwhile."""

    transfer: str
    seat: str
    amount: int
    claimed: bool


class CreditsDispensed(Event, frozen=True, kw_only=True, tag="credits-dispensed"):
    """A terminal's credits are on their way to become a ticket."""

    transfer: str
    seat: str
    amount: int


class FillReceived(Event, frozen=True, kw_only=True, tag="fill-received"):
    """Chips came into the tray."""

    transfer: str
    amount: int
    second: str


class CreditSent(Event, frozen=True, kw_only=True, tag="credit-sent"):
    """Chips left the tray."""

    transfer: str
    amount: int
    second: str


class DropSent(Event, frozen=True, kw_only=True, tag="drop-sent"):
    """The drop box went to the count."""

    transfer: str
    amount: int
    second: str


class ClaimSettled(Event, frozen=True, kw_only=True, tag="claim-settled"):
    """A claim was paid, collected or given up."""

    claim: str
    how: ClaimEnd
    transfer: str | None
    reason: str
    second: str


# Bets


class BetRegistered(Event, frozen=True, kw_only=True, tag="bet-registered"):
    """A bet stands: from here on it is settled, or returned, and never lost."""

    round: int
    id: str
    seat: str
    means: Means
    layout: str
    area: str
    stake: int
    """In the smallest money unit, whatever it was made with."""
    at_request: bool = False


class BetTakenBack(Event, frozen=True, kw_only=True, tag="bet-taken-back"):
    """A bet went back before the close."""

    round: int
    id: str


class BetMoved(Event, frozen=True, kw_only=True, tag="bet-moved"):
    """A bet counts on another area: so it lies, or so it was decided."""

    round: int
    id: str
    area: str
    second: str | None


class BetReturned(Event, frozen=True, kw_only=True, tag="bet-returned"):
    """A bet was returned by decision."""

    round: int
    id: str

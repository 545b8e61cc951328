"""Commands and events: credits, chips, tickets, fills, the drop box and claims."""

from __future__ import annotations

from typing import ClassVar

from taisai.game.messages import Command, Event
from taisai.game.vocabulary import ClaimEnd, Means


class BuyCredits(Command, frozen=True, kw_only=True, omit_defaults=True, tag="buy-credits"):
    """Credits for cash at a terminal."""

    seat: str
    amount: int
    alone: int | None = None
    """The amount above which it takes two people; the server fills it in. None: nobody set one."""
    second: str | None = None


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

    from_clients: ClassVar[bool] = False
    after_closing: ClassVar[bool] = True
    transfer: str
    seat: str
    amount: int
    session: int
    """The session of the seat in which the ticket was put in."""


class DispenseCredits(Command, frozen=True, kw_only=True, tag="dispense-credits"):
    """All credits of a terminal go out, to become a ticket."""

    from_clients: ClassVar[bool] = False
    after_closing: ClassVar[bool] = True
    transfer: str
    seat: str


class ArchiveTransfers(Command, frozen=True, kw_only=True, tag="archive-transfers"):
    """Transfers that are over leave the state of the table; the journal's entries keep all of them."""

    since: ClassVar[int] = 2
    from_clients: ClassVar[bool] = False
    after_closing: ClassVar[bool] = True
    transfers: tuple[str, ...]


class TransfersArchived(Event, frozen=True, kw_only=True, tag="transfers-archived"):
    """Transfers that both sides booked a while ago left the state."""

    since: ClassVar[int] = 2
    transfers: tuple[str, ...]


class ReceiveFill(Command, frozen=True, kw_only=True, tag="receive-fill"):
    """Chips from the cage arrive in the tray."""

    from_clients: ClassVar[bool] = False
    after_closing: ClassVar[bool] = True
    transfer: str
    amount: int
    second: str | None = None


class SendCredit(Command, frozen=True, kw_only=True, tag="send-credit"):
    """Chips leave the tray for the cage."""

    from_clients: ClassVar[bool] = False
    after_closing: ClassVar[bool] = True
    transfer: str
    amount: int
    second: str | None = None


class SendDrop(Command, frozen=True, kw_only=True, tag="send-drop"):
    """The drop box leaves for the count with all that is in it."""

    from_clients: ClassVar[bool] = False
    after_closing: ClassVar[bool] = True
    transfer: str
    second: str | None = None


class SettleClaim(Command, frozen=True, kw_only=True, tag="settle-claim"):
    """A claim is paid, collected or waived: at the table, or by the cage under a transfer."""

    after_closing: ClassVar[bool] = True
    claim: str
    how: ClaimEnd
    transfer: str | None = None
    reason: str = ""
    second: str | None = None


class CreditsBought(Event, frozen=True, kw_only=True, omit_defaults=True, tag="credits-bought"):
    """Cash fell into the drop box, credits came onto the terminal."""

    seat: str
    amount: int
    second: str | None = None
    """The second person, above the amount for one."""


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
    """A ticket's value is on the terminal, or is a claim of the player if they have left the seat."""

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
    """A claim was paid, collected or waived."""

    claim: str
    how: ClaimEnd
    transfer: str | None
    reason: str
    second: str

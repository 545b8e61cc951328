"""The owners' money, tickets, and what moves between the cage and the tables."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, UnsetType

from taisai.cage.messages.people import HouseCommand, HouseEvent

# Capital


class BringIn(HouseCommand, frozen=True, kw_only=True, tag="bring-in"):
    """The owners bring money into the cage."""

    id: str
    """The id of the movement, so that a retry changes nothing."""
    amount: int
    second: str | None = None


class CapitalBrought(HouseEvent, frozen=True, kw_only=True, tag="capital-brought"):
    """Money of the owners came into the cage."""

    id: str
    amount: int
    second: str


class TakeOut(HouseCommand, frozen=True, kw_only=True, tag="take-out"):
    """The owners take money out of the cage, no more than they brought in."""

    id: str
    """The id of the movement. A retry with the same id changes nothing."""
    amount: int
    second: str | None = None


class CapitalTaken(HouseEvent, frozen=True, kw_only=True, tag="capital-taken"):
    """Money of the owners left the cage."""

    id: str
    amount: int
    second: str


# Amounts


class LimitAmounts(HouseCommand, frozen=True, kw_only=True, tag="limit-amounts"):
    """What one person may sell and redeem alone, and the most of one fill, from now on."""

    since: ClassVar[int] = 2
    sale: int
    redemption: int
    fill: int


class AmountsLimited(HouseEvent, frozen=True, kw_only=True, tag="amounts-limited"):
    """Above these amounts it takes two people; a fill is never larger."""

    since: ClassVar[int] = 2
    sale: int
    redemption: int
    fill: int


# Tickets


class SellTicket(HouseCommand, frozen=True, kw_only=True, omit_defaults=True, tag="sell-ticket"):
    """A ticket for cash at the cage."""

    ticket: str
    amount: int
    second: str | None = None
    """A second person, above the amount for one."""


class TicketSold(HouseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="ticket-sold"):
    """A ticket was sold for cash."""

    ticket: str
    amount: int
    second: str | None = None


class IssueTicket(HouseCommand, frozen=True, kw_only=True, tag="issue-ticket"):
    """A ticket for the credits that a terminal dispensed under a transfer."""

    transfer: str
    table: str
    ticket: str
    amount: int


class TicketIssued(HouseEvent, frozen=True, kw_only=True, tag="ticket-issued"):
    """Dispensed credits became a ticket."""

    transfer: str
    table: str
    ticket: str
    amount: int


class RedeemTicket(HouseCommand, frozen=True, kw_only=True, tag="redeem-ticket"):
    """A ticket is cashed at the cage."""

    ticket: str
    ask: str | None = None
    """The id of the request: the same id from the same cashier is a retry, another id a second customer."""
    second: str | UnsetType = UNSET
    """A second person, above the amount for one."""


class TicketRedeemed(HouseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="ticket-redeemed"):
    """A ticket was cashed, and is worth nothing from here on."""

    ticket: str
    amount: int
    ask: str | None = None
    second: str | None = None


class SendTicket(HouseCommand, frozen=True, kw_only=True, tag="send-ticket"):
    """A ticket is put into a terminal, and its value is to go there under a transfer."""

    ticket: str
    transfer: str
    table: str
    seat: str
    session: int
    """The session of the seat in which the ticket was put in."""


class TicketAccepted(HouseEvent, frozen=True, kw_only=True, tag="ticket-accepted"):
    """A ticket's value is on its way to a terminal, and the ticket is worth nothing from here on."""

    ticket: str
    transfer: str
    table: str
    seat: str
    session: int
    amount: int


class ArchiveTickets(HouseCommand, frozen=True, kw_only=True, omit_defaults=True, tag="archive-tickets"):
    """What is over leaves the state of the House; the journal's entries keep all of it."""

    since: ClassVar[int] = 2
    tickets: tuple[str, ...]
    transfers: tuple[str, ...] = ()
    """Those that are of no ticket: fills, credits, drop boxes and claims."""


class TicketsArchived(HouseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="tickets-archived"):
    """Tickets that were redeemed a while ago left the state, with their transfers, and other transfers."""

    since: ClassVar[int] = 2
    tickets: tuple[str, ...]
    transfers: tuple[str, ...] = ()


# Between the cage and the tables


class SendFill(HouseCommand, frozen=True, kw_only=True, tag="send-fill"):
    """Chips leave the cage for a table's tray."""

    transfer: str
    table: str
    amount: int
    second: str | None = None


class FillSent(HouseEvent, frozen=True, kw_only=True, tag="fill-sent"):
    """Chips left the cage."""

    transfer: str
    table: str
    amount: int
    second: str


class ReceiveCredit(HouseCommand, frozen=True, kw_only=True, tag="receive-credit"):
    """Chips from a table's tray arrive at the cage."""

    transfer: str
    table: str
    amount: int


class CreditReceived(HouseEvent, frozen=True, kw_only=True, tag="credit-received"):
    """Chips came into the cage."""

    transfer: str
    table: str
    amount: int


class CountDrop(HouseCommand, frozen=True, kw_only=True, tag="count-drop"):
    """A drop box is counted: what the table declared, and what was in it; both may be 0."""

    transfer: str
    table: str
    declared: int
    counted: int
    second: str | None = None


class DropCounted(HouseEvent, frozen=True, kw_only=True, tag="drop-counted"):
    """The cash of a drop box came into the cage, and the difference was booked as over or short."""

    transfer: str
    table: str
    declared: int
    counted: int
    second: str


class PayClaim(HouseCommand, frozen=True, kw_only=True, tag="pay-claim"):
    """The cage pays a player's claim for a table."""

    transfer: str
    table: str
    claim: str
    amount: int
    second: str | None = None


class ClaimPaid(HouseEvent, frozen=True, kw_only=True, tag="claim-paid"):
    """The cage paid a player's claim."""

    transfer: str
    table: str
    claim: str
    amount: int
    second: str


class CollectClaim(HouseCommand, frozen=True, kw_only=True, tag="collect-claim"):
    """The cage collects for a table what a player owes."""

    transfer: str
    table: str
    claim: str
    amount: int
    second: str | None = None


class ClaimCollected(HouseEvent, frozen=True, kw_only=True, tag="claim-collected"):
    """The cage collected what a player owed."""

    transfer: str
    table: str
    claim: str
    amount: int
    second: str


# Money that leaves while a witness is silent


class OverrideWitness(HouseCommand, frozen=True, kw_only=True, tag="override-witness"):
    """Money may leave the house for some hours although a witness is silent: two people decide it."""

    since: ClassVar[int] = 2
    hours: int
    """For how long, from now on; at most 8."""
    reason: str
    second: str | None = None


class WitnessOverridden(HouseEvent, frozen=True, kw_only=True, tag="witness-overridden"):
    """Money may leave the house for some hours although a witness is silent."""

    since: ClassVar[int] = 2
    hours: int
    reason: str
    second: str

    @property
    def until(self) -> int:
        return self.at + self.hours * 3_600_000

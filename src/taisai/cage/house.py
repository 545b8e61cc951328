"""The House: its state, what each event changes and books, and its snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Final, NamedTuple

from taisai.cage import messages
from taisai.cage.access import AdoptedEdition, EnrolledDevice, StreamError, Win, apply_access, forget_person
from taisai.cage.credentials import Activation, RecoveredAccess
from taisai.game.money.ledger import Account, Ledger, LedgerEntry
from taisai.game.snapshot_codec import SnapshotCodec, SnapshotError
from taisai.game.table import ArchivedTransfers
from taisai.game.vocabulary import folded, is_name


class HouseTransferKind(StrEnum):
    """What moves between the House and a table."""

    TICKET_ISSUED = "ticket-issued"
    TICKET_ACCEPTED = "ticket-accepted"
    FILL = "fill"
    CREDIT = "credit"
    DROP = "drop"
    CLAIM_PAID = "claim-paid"
    CLAIM_COLLECTED = "claim-collected"


class Direction(StrEnum):
    """What the House booked against a table."""

    DUE = "due"
    OWED = "owed"


class HouseTransfer(NamedTuple):
    """The House's side of a transfer between the cage and a table."""

    id: str
    kind: HouseTransferKind
    table: str
    amount: int
    direction: Direction
    seat: str | None = None
    session: int | None = None
    """The session of the seat in which a ticket was put in."""
    claim: str | None = None
    ticket: str | None = None
    counted: int | None = None
    """What was found in a drop box."""

    @property
    def signed(self) -> int:
        """Positive where the House booked it as due, negative where as owed."""
        return self.amount if self.direction is Direction.DUE else -self.amount


class Redemption(NamedTuple):
    """When and how a ticket was redeemed: at the cage, or into a terminal under a transfer."""

    at: int
    by: str
    transfer: str | None = None
    table: str | None = None
    seat: str | None = None
    session: int | None = None
    ask: str | None = None
    """The id of the request at the cage."""


class CapitalMovement(NamedTuple):
    """Money of the owners that came or went, and which two people moved it."""

    id: str
    amount: int
    brought: bool
    """Whether it came into the cage; else it left."""
    by: str
    second: str


class Ticket(NamedTuple):
    """A ticket, from its sale or issue on."""

    id: str
    amount: int
    at: int
    by: str
    transfer: str | None
    """The transfer that it was issued under; None where it was sold for cash."""
    redeemed: Redemption | None = None


class AmountLimits(NamedTuple):
    """What one person may sell and redeem alone, and the most of one fill; in minor units."""

    sale: int
    redemption: int
    fill: int


@dataclass(slots=True, repr=False)
class House:
    """The House. Its first event opens it."""

    name: str = ""
    currency: str = ""
    ladder: tuple[str, ...] = ()
    second_rank: str = ""
    opened_by: str = ""
    people: dict[str, str] = field(default_factory=dict)
    """Person → rank: the staff list."""
    names: dict[str, str] = field(default_factory=dict)
    """Folded name → the person on the staff list who has it."""
    staffed: bool = False
    """Whether two people who can be second persons have ever been on the staff list together."""
    movements: dict[str, CapitalMovement] = field(default_factory=dict)
    tickets: dict[str, Ticket] = field(default_factory=dict)
    transfers: dict[str, HouseTransfer] = field(default_factory=dict)
    booked_at: dict[str, int] = field(default_factory=dict)
    """Transfer that is of no ticket → when the House booked it, the oldest first."""
    archived: ArchivedTransfers = field(default_factory=ArchivedTransfers)
    """Of what is over and left the state."""
    claims: dict[tuple[str, str], str] = field(default_factory=dict)
    """(table, claim) → the transfer under which the cage paid or collected it."""
    ledger: Ledger = field(default_factory=Ledger)
    amounts: AmountLimits | None = None
    """None until a server has set them, which before release 0.3 none did."""
    devices: dict[str, EnrolledDevice] = field(default_factory=dict)
    device_names: dict[str, str] = field(default_factory=dict)
    """Folded name → the device that has it."""
    terminals: dict[tuple[str, str], str] = field(default_factory=dict)
    """(table, seat) → the terminal that is there."""
    failures: dict[str, int] = field(default_factory=dict)
    """Person → failures to sign in since the last success."""
    locked: set[str] = field(default_factory=set)
    """People who cannot sign in until two others unlock them, also after they left the staff list."""
    sessions: dict[str, str] = field(default_factory=dict)
    """Open session → person."""
    credentials: set[str] = field(default_factory=set)
    """People whose password and second factor have been set."""
    commitments: dict[str, str] = field(default_factory=dict)
    """Person → the keyed hash that their stored credentials must match."""
    activations: dict[str, Activation] = field(default_factory=dict)
    """Person → the code for their first sign-in, while it is not used."""
    guarded: bool = False
    """Whether people set their own credentials, and two supervisors who can sign in always remain."""
    recovered: dict[str, RecoveredAccess] = field(default_factory=dict)
    """Person → how access was recovered for them at the command line; until another one acknowledges it."""
    settings: dict[str, str] = field(default_factory=dict)
    """The settings that the system runs under."""
    wins: dict[Win, int] = field(default_factory=dict)
    """(table, round, seat) → amount of the latest large wins, the oldest first."""
    machine: str = ""
    """The machine that the journal's file was on at the latest start that noted it; empty: not noted yet."""
    file: str = ""
    """Which file it was."""
    adopted: dict[str, AdoptedEdition] = field(default_factory=dict)
    """Digest of a rulebook → who adopted its interpretations."""
    witness_overridden: int = 0
    """Until when two people let money leave although a witness is silent; 0 if they never did."""

    @property
    def open(self) -> bool:
        """Whether its first event has happened."""
        return self.name != ""

    @property
    def outstanding(self) -> int:
        """The value of all tickets that are not redeemed."""
        return sum(ticket.amount for ticket in self.tickets.values() if ticket.redeemed is None)

    def called(self, name: object) -> str | None:
        """The person on the staff list with a name, without regard to case."""
        return self.names.get(folded(name)) if is_name(name) else None

    def supervising(self, rank: object) -> bool:
        """Whether a rank is the second rank or above."""
        return rank in self.ladder and self.ladder.index(rank) >= self.ladder.index(self.second_rank)

    def __repr__(self) -> str:
        return (
            f"<House {self.name!r}: {len(self.people)} people, {len(self.tickets)} tickets, "
            f"{len(self.transfers)} transfers>"
        )


_Change = tuple[Account, int]
_CHANGES: Final[Mapping[type[messages.HouseEvent], tuple[_Change, _Change]]] = {
    messages.CapitalBrought: ((Account.CAGE, 1), (Account.CAPITAL, 1)),
    messages.CapitalTaken: ((Account.CAGE, -1), (Account.CAPITAL, -1)),
    messages.TicketSold: ((Account.CAGE, 1), (Account.TICKETS, 1)),
    messages.TicketIssued: ((Account.TRANSIT_DUE, 1), (Account.TICKETS, 1)),
    messages.TicketRedeemed: ((Account.CAGE, -1), (Account.TICKETS, -1)),
    messages.TicketAccepted: ((Account.TICKETS, -1), (Account.TRANSIT_OWED, 1)),
    messages.FillSent: ((Account.CAGE, -1), (Account.TRANSIT_DUE, 1)),
    messages.CreditReceived: ((Account.CAGE, 1), (Account.TRANSIT_OWED, 1)),
    messages.ClaimPaid: ((Account.CAGE, -1), (Account.TRANSIT_DUE, 1)),
    messages.ClaimCollected: ((Account.CAGE, 1), (Account.TRANSIT_OWED, 1)),
}
"""Which accounts grow (1) or shrink (-1) by the amount of an event."""

_KINDS: Final[Mapping[type[messages.HouseEvent], tuple[HouseTransferKind, Direction]]] = {
    messages.TicketIssued: (HouseTransferKind.TICKET_ISSUED, Direction.DUE),
    messages.TicketAccepted: (HouseTransferKind.TICKET_ACCEPTED, Direction.OWED),
    messages.FillSent: (HouseTransferKind.FILL, Direction.DUE),
    messages.CreditReceived: (HouseTransferKind.CREDIT, Direction.OWED),
    messages.DropCounted: (HouseTransferKind.DROP, Direction.OWED),
    messages.ClaimPaid: (HouseTransferKind.CLAIM_PAID, Direction.DUE),
    messages.ClaimCollected: (HouseTransferKind.CLAIM_COLLECTED, Direction.OWED),
}


def entries(event: messages.HouseEvent) -> tuple[LedgerEntry, ...]:
    """What an event books; each account once at most."""
    changes: tuple[_Change, ...]
    if isinstance(event, messages.DropCounted):
        over = event.counted - event.declared
        changes = (
            (Account.CAGE, event.counted),
            (Account.TRANSIT_OWED, event.declared),
            (Account.COUNT_OVER, max(over, 0)),
            (Account.COUNT_SHORT, max(-over, 0)),
        )
    else:
        amount: int = getattr(event, "amount", 0)
        changes = tuple((account, sign * amount) for account, sign in _CHANGES.get(type(event), ()))
    return tuple(LedgerEntry(account, change, event.clause) for account, change in changes if change)


def transfer_of(event: messages.HouseEvent) -> HouseTransfer | None:
    """The transfer that an event is the House's side of."""
    if type(event) not in _KINDS:
        return None
    kind, direction = _KINDS[type(event)]
    fields = {name: getattr(event, name) for name in event.__struct_fields__ if name in HouseTransfer._fields}
    if isinstance(event, messages.DropCounted):
        fields["amount"] = event.declared  # what the table booked when the box left
    return HouseTransfer(id=getattr(event, "transfer", ""), kind=kind, direction=direction, **fields)


def limits_of(event: messages.AmountsLimited) -> AmountLimits:
    return AmountLimits(event.sale, event.redemption, event.fill)


def movement_of(event: messages.HouseEvent) -> CapitalMovement | None:
    """The movement of the owners' money that an event records."""
    if not isinstance(event, messages.CapitalBrought | messages.CapitalTaken):
        return None
    brought = isinstance(event, messages.CapitalBrought)
    return CapitalMovement(event.id, event.amount, brought=brought, by=event.by, second=event.second)


def evolve_house(house: House, event: messages.HouseEvent) -> House:
    """The House after an event: the same object, changed."""
    if house.open == isinstance(event, messages.HouseOpened):
        raise StreamError(f"expected HouseOpened once and first, got {event}")
    moved = transfer_of(event)
    if moved and moved.id in house.transfers:
        raise StreamError(f"transfer booked twice: {event} after {house.transfers[moved.id]}")
    _apply(house, event)
    house.ledger.latest = []
    house.ledger.post(*entries(event))
    if moved:
        house.transfers[moved.id] = moved
        if moved.ticket is None:
            house.booked_at[moved.id] = event.at
        if moved.claim is not None:
            house.claims[moved.table, moved.claim] = moved.id
    return house


def _apply(house: House, event: messages.HouseEvent) -> None:
    match event:
        case messages.HouseOpened():
            house.name, house.currency = event.house, event.currency
            house.ladder, house.second_rank = event.ladder, event.second_rank
            house.opened_by = event.by
        case messages.PersonEnrolled() | messages.AccessRecovered():
            _enrol(house, event)
            apply_access(house, event)
        case messages.PersonDismissed():
            del house.people[event.person], house.names[folded(event.person)]
            forget_person(house, event.person)
        case messages.CapitalBrought() | messages.CapitalTaken():
            _move(house, event)
        case messages.AmountsLimited():
            house.amounts = limits_of(event)
        case messages.TicketSold() | messages.TicketIssued():
            _add_ticket(house, event)
        case messages.TicketRedeemed() | messages.TicketAccepted():
            _redeem(house, event)
        case messages.TicketsArchived():
            _archive(house, event)
        case _ if not apply_access(house, event) and type(event) not in (*_CHANGES, *_KINDS):
            raise StreamError(f"expected an event of the House, got {event}")


def _enrol(house: House, event: messages.PersonEnrolled | messages.AccessRecovered) -> None:
    namesake = house.names.setdefault(folded(event.person), event.person)
    if namesake != event.person:
        raise StreamError(f"name used twice: {event} with {namesake!r} on the staff list")
    house.people[event.person] = event.rank
    if not house.staffed and house.supervising(event.rank):
        house.staffed = sum(map(house.supervising, house.people.values())) > 1


def _move(house: House, event: messages.CapitalBrought | messages.CapitalTaken) -> None:
    moved = movement_of(event)
    assert moved is not None
    if moved.id in house.movements:
        raise StreamError(f"movement booked twice: {event} after {house.movements[moved.id]}")
    house.movements[moved.id] = moved


def _add_ticket(house: House, event: messages.TicketSold | messages.TicketIssued) -> None:
    if event.ticket in house.tickets:
        raise StreamError(f"ticket issued twice: {event} after {house.tickets[event.ticket]}")
    under = event.transfer if isinstance(event, messages.TicketIssued) else None
    house.tickets[event.ticket] = Ticket(event.ticket, event.amount, event.at, event.by, under)


def _redeem(house: House, event: messages.TicketRedeemed | messages.TicketAccepted) -> None:
    ticket = house.tickets.get(event.ticket)
    if ticket is None or ticket.redeemed or ticket.amount != event.amount:
        raise StreamError(f"expected a ticket to redeem for its value, got {event} for {ticket}")
    if isinstance(event, messages.TicketAccepted):
        where = (event.table, event.seat, event.session)
        redemption = Redemption(event.at, event.by, event.transfer, *where)
    else:
        redemption = Redemption(event.at, event.by, ask=event.ask)
    house.tickets[event.ticket] = ticket._replace(redeemed=redemption)


def transfers_of(ticket: Ticket) -> tuple[str, ...]:
    """The transfers under which a ticket was issued and put into a terminal."""
    accepted = None if ticket.redeemed is None else ticket.redeemed.transfer
    return tuple(transfer for transfer in (ticket.transfer, accepted) if transfer is not None)


def _archive(house: House, event: messages.TicketsArchived) -> None:
    tickets = [house.tickets.pop(name) for name in event.tickets]
    moved = [house.transfers.pop(name) for ticket in tickets for name in transfers_of(ticket)]
    for name in event.transfers:
        transfer = house.transfers.pop(name)
        del house.booked_at[name]
        if transfer.claim is not None:  # the table has settled it, and pays no claim that is not open there
            house.claims.pop((transfer.table, transfer.claim), None)
        moved.append(transfer)
    house.archived = house.archived.plus(transfer.signed for transfer in moved)


@cache
def _snapshots() -> SnapshotCodec[House]:
    return SnapshotCodec(House)


def write_house(house: House) -> bytes:
    """The snapshot of the House."""
    return _snapshots().write(house)


def read_house(data: bytes) -> House:
    """The House of a snapshot."""
    house = _snapshots().read(data)
    try:
        house.ledger.check()
    except ValueError as error:
        raise SnapshotError(f"not a House snapshot: {error}") from error
    return house


def check_house(data: bytes) -> None:
    """Raises SnapshotError where the bytes are no snapshot of the House."""
    _snapshots().parse(data)

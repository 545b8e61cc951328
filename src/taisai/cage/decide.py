"""Decides the commands of the House: the events that follow, or a refusal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from msgspec import UNSET

from taisai.cage import messages, people
from taisai.cage.access import (
    ADOPTION,
    access_limits,
    access_refusals,
    access_retry,
    adoption_refusals,
    consequences,
    failed_person,
    left_locked,
    name_taken,
)
from taisai.cage.archive import archive_refusals
from taisai.cage.house import House, HouseTransfer, Ticket, entries, limits_of, movement_of, transfer_of
from taisai.cage.messages import HouseCommand, HouseEvent
from taisai.cage.values import beyond, clock, lookup, too_many, value_refusals
from taisai.game.checks import AMOUNTS, MOST_AT_ONCE, above_most
from taisai.game.refusals import Reason, Refusal, first
from taisai.game.vocabulary import FLOOR, TABLE, is_name
from taisai.rules.clauses import Clause
from taisai.rules.settlement import GREATEST_SUM
from taisai.validation import quoted

MOST_PEOPLE: Final = 10_000  # on the staff list at a time, and locked when they left it
MOST_MOVEMENTS: Final = 1_000_000  # of the owners' money, of one stream: a retry must be known as one
MOST_TICKETS: Final = 1_000_000  # open, and redeemed in the latest days
MOST_TRANSFERS: Final = 3_000_000  # of these tickets, and as many others, which stay

MOST_HELD: Final = 1_000 * MOST_AT_ONCE
"""Of the cage's cash and of open tickets: a ninth of the greatest sum, so that what players win fits too."""

_CAGE: Final = Clause("house:cage")
_PEOPLE: Final = Clause("house:people")
_TICKETS: Final = Clause("house:tickets")
_CLAIMS: Final = Clause("house:claims")
_FLOAT: Final = Clause("house:float")
_ACCESS: Final = Clause("house:access")
_DEVICES: Final = Clause("house:devices")
_RUNNING: Final = Clause("house:running")


class _Who(Enum):
    """Who may give a command."""

    ANYONE = auto()
    """For the command that opens the House."""
    TABLE = auto()
    """A table's side of a transfer; the system gives the command."""
    FLOOR = auto()
    """The live server."""
    STAFF = auto()
    TWO = auto()
    """Staff, with a second person of the second rank or above."""
    SUPERVISOR = auto()
    """Staff of the second rank or above, or the opener of the House; to enrol a supervisor takes two."""
    SELF = auto()
    """The person concerned; otherwise the same."""


class _Act(NamedTuple):
    event: type[HouseEvent]
    clause: Clause
    who: _Who


_ACTS: Final[Mapping[type[HouseCommand], _Act]] = {
    messages.OpenHouse: _Act(messages.HouseOpened, _CAGE, _Who.ANYONE),
    messages.EnrolPerson: _Act(messages.PersonEnrolled, _PEOPLE, _Who.SUPERVISOR),
    messages.DismissPerson: _Act(messages.PersonDismissed, _PEOPLE, _Who.SUPERVISOR),
    messages.BringIn: _Act(messages.CapitalBrought, _CAGE, _Who.TWO),
    messages.TakeOut: _Act(messages.CapitalTaken, _CAGE, _Who.TWO),
    messages.LimitAmounts: _Act(messages.AmountsLimited, AMOUNTS, _Who.FLOOR),
    messages.SellTicket: _Act(messages.TicketSold, _TICKETS, _Who.STAFF),
    messages.IssueTicket: _Act(messages.TicketIssued, _TICKETS, _Who.TABLE),
    messages.RedeemTicket: _Act(messages.TicketRedeemed, _TICKETS, _Who.STAFF),
    messages.ArchiveTickets: _Act(messages.TicketsArchived, _TICKETS, _Who.FLOOR),
    messages.SendTicket: _Act(messages.TicketAccepted, _TICKETS, _Who.TABLE),
    messages.SendFill: _Act(messages.FillSent, _FLOAT, _Who.TWO),
    messages.ReceiveCredit: _Act(messages.CreditReceived, _FLOAT, _Who.STAFF),
    messages.CountDrop: _Act(messages.DropCounted, Clause("house:drop"), _Who.TWO),
    messages.PayClaim: _Act(messages.ClaimPaid, _CLAIMS, _Who.TWO),
    messages.CollectClaim: _Act(messages.ClaimCollected, _CLAIMS, _Who.TWO),
    messages.EnrolDevice: _Act(messages.DeviceEnrolled, _DEVICES, _Who.SUPERVISOR),
    messages.DismissDevice: _Act(messages.DeviceDismissed, _DEVICES, _Who.SUPERVISOR),
    messages.NoteSignIn: _Act(messages.SignedIn, _ACCESS, _Who.FLOOR),
    messages.NoteFailure: _Act(messages.SignInFailed, _ACCESS, _Who.FLOOR),
    messages.UnlockPerson: _Act(messages.PersonUnlocked, _ACCESS, _Who.SUPERVISOR),
    messages.NoteSignOut: _Act(messages.SignedOut, _ACCESS, _Who.FLOOR),
    messages.RevokeSessions: _Act(messages.SessionsRevoked, _ACCESS, _Who.SUPERVISOR),
    messages.SetCredentials: _Act(messages.CredentialsSet, _ACCESS, _Who.SELF),
    messages.IssueActivation: _Act(messages.ActivationIssued, _ACCESS, _Who.SUPERVISOR),
    messages.CommitCredentials: _Act(messages.CredentialsCommitted, _ACCESS, _Who.SELF),
    messages.AdoptCredentials: _Act(messages.CredentialsAdopted, _ACCESS, _Who.FLOOR),
    messages.RecoverAccess: _Act(messages.AccessRecovered, _ACCESS, _Who.FLOOR),
    messages.AcknowledgeRecovery: _Act(messages.RecoveryAcknowledged, _ACCESS, _Who.STAFF),
    messages.TakeSettings: _Act(messages.SettingsTaken, Clause("house:settings"), _Who.FLOOR),
    messages.OverrideWitness: _Act(messages.WitnessOverridden, Clause("house:witness"), _Who.TWO),
    messages.AdoptInterpretations: _Act(messages.InterpretationsAdopted, ADOPTION, _Who.STAFF),
    messages.NoteStart: _Act(messages.SystemStarted, _RUNNING, _Who.FLOOR),
    messages.NoteStop: _Act(messages.SystemStopped, _RUNNING, _Who.FLOOR),
    messages.NoteClock: _Act(messages.ClockJumped, Clause("house:clock"), _Who.FLOOR),
    messages.NoteWin: _Act(messages.LargeWinNoted, Clause("house:large-wins"), _Who.FLOOR),
    messages.NoteOverride: _Act(messages.OverrideNoted, Clause("house:overrides"), _Who.FLOOR),
    messages.NoteAlarm: _Act(messages.DiceAlarmNoted, Clause("house:watch"), _Who.FLOOR),
    messages.NoteOverAge: _Act(messages.OverAgeNoted, Clause("house:watch"), _Who.FLOOR),
    messages.NotePlace: _Act(messages.PlaceNoted, _RUNNING, _Who.FLOOR),
}


_ACTORS: Final[Mapping[_Who, tuple[str, str, Clause | None]]] = {
    _Who.TABLE: (TABLE, "the table's side of a transfer", Clause("house:transfers")),
    _Who.FLOOR: (FLOOR, "the live server itself", None),
}
"""The system's own actors: name, description, and the clause that refuses others (None: the command's)."""


def decide_house(house: House, command: HouseCommand) -> tuple[HouseEvent, ...] | Refusal:
    """The events that follow from a command, none if it is a retry; or a refusal."""
    act = _ACTS.get(type(command))
    if act is None or house.open == isinstance(command, messages.OpenHouse):
        wanted = "OpenHouse once, before everything else" if act else "a command of the House"
        message = f"expected {wanted}, got {type(command).__name__}"
        return Refusal(Reason.OUT_OF_ORDER, Clause("house:order"), message)
    refusals = [*_people(house, command, act), *value_refusals(command, act.clause)]
    event = _draft(house, command, act)
    again = _again(house, event)
    if isinstance(again, Refusal):
        refusals.append(again)
    elif not again:
        refusals += [*_state(house, command), *_counts(house, event), *_amounts(house, event)]
        refusals += archive_refusals(house, command)
    if refused := first(refusals):
        return refused
    if again:
        return ()
    return first(list(_money(house, event))) or (event, *consequences(house, event))


def _draft(house: House, command: HouseCommand, act: _Act) -> HouseEvent:
    """The event of a command that is not refused."""
    fields: dict[str, Any] = {name: getattr(command, name) for name in command.__struct_fields__}
    if isinstance(command, messages.RedeemTicket | messages.SendTicket):
        ticket = lookup(house.tickets, command.ticket)
        fields["amount"] = ticket.amount if ticket else 0
        if fields.get("second") is UNSET:
            del fields["second"]
    elif isinstance(command, messages.NoteFailure):
        fields |= failed_person(house, command)
    return act.event(clause=act.clause, **fields)


def _again(house: House, event: HouseEvent) -> Refusal | bool:
    """Whether the command is a retry; a refusal if its id belongs to something else."""
    if moved := transfer_of(event):
        kept = lookup(house.transfers, moved.id)
        if kept is None or kept == moved:
            return kept is not None
        message = f"the id belongs to another transfer: {_described(kept)}"
        return Refusal(Reason.DIFFERENT_CONTENT, Clause("house:transfers"), message)
    if brought := movement_of(event):
        known = lookup(house.movements, brought.id)
        if known is None or known == brought:
            return known is not None
        way = "brought in" if known.brought else "taken out"
        booked = f"{known.amount} {way} by {known.by!r} and {known.second!r}"
        message = f"the id {known.id!r} belongs to another movement: {booked}"
        return Refusal(Reason.DIFFERENT_CONTENT, _CAGE, message)
    if isinstance(event, messages.TicketSold) and (ticket := lookup(house.tickets, event.ticket)):
        # The same ticket from another cashier is no retry: two customers would hold one ticket.
        same = (ticket.amount, ticket.by, ticket.transfer) == (event.amount, event.by, None)
        return same or _issued(ticket)
    if isinstance(event, messages.TicketRedeemed) and event.ask is not None:
        ticket = lookup(house.tickets, event.ticket)
        redeemed = None if ticket is None else ticket.redeemed
        return redeemed is not None and (redeemed.by, redeemed.ask) == (event.by, event.ask)
    if isinstance(event, messages.AmountsLimited):
        return house.amounts == limits_of(event)
    if isinstance(event, messages.PersonEnrolled) and (rank := lookup(house.people, event.person)):
        return rank == event.rank
    if isinstance(event, messages.InterpretationsAdopted) and (
        earlier := lookup(house.adopted, event.digest)
    ):
        return earlier.by == event.by
    return access_retry(house, event)


# People


def _people(house: House, command: HouseCommand, act: _Act) -> Iterator[Refusal]:
    """Why these people may not give the command."""
    who = act.who
    if who in _ACTORS:
        actor, what, clause = _ACTORS[who]
        if command.by != actor:
            message = f"expected {what} ({actor!r}), got {quoted(command.by)}"
            yield Refusal(Reason.NOT_PERMITTED, clause or act.clause, message)
    elif isinstance(command, messages.UnlockPerson) and command.by == FLOOR:
        # Given at the command line with the house's key, when no two people are left who can sign in.
        if command.second is not None:
            yield from people.second_person(house, command.second, command.by, command.person)
    elif who is not _Who.ANYONE:
        yield from _staff(house, command, who)


def _staff(house: House, command: HouseCommand, who: _Who) -> Iterator[Refusal]:
    rank = lookup(house.people, command.by)
    is_self = who is _Who.SELF and rank is not None and command.by == getattr(command, "person", None)
    if who is _Who.SELF:
        who = _Who.STAFF if is_self else _Who.SUPERVISOR
    opener = who is _Who.SUPERVISOR and command.by == house.opened_by and not house.guarded
    if rank is None and not opener:
        message = f"expected a person on the staff list, got {quoted(command.by)}"
        yield Refusal(Reason.UNKNOWN_PERSON, _PEOPLE, message)
    elif rank is not None and who is _Who.SUPERVISOR and not opener:
        yield from people.supervising(house, command, rank)
    if who is _Who.TWO:
        yield from people.second_person(house, getattr(command, "second", None), command.by)
    yield from people.by_two(house, command, is_self=is_self, opener=opener)


# The state of the House


def _state(house: House, command: HouseCommand) -> Iterator[Refusal]:
    """Why the state of the House does not allow the command."""
    match command:
        case messages.EnrolPerson() | messages.RecoverAccess():
            yield from _enrollable(house, command)
            yield from access_refusals(house, command)
        case messages.AdoptInterpretations():
            yield from adoption_refusals(house, command)
        case messages.DismissPerson():
            if lookup(house.people, command.person) is None:
                message = f"expected a person on the staff list, got {quoted(command.person)}"
                yield Refusal(Reason.UNKNOWN_PERSON, _PEOPLE, message)
            yield from access_refusals(house, command)
        case messages.IssueTicket():
            if ticket := lookup(house.tickets, command.ticket):
                yield _issued(ticket)
        case messages.RedeemTicket() | messages.SendTicket():
            yield from _redeemable(house, command.ticket)
        case messages.PayClaim() | messages.CollectClaim():
            if under := lookup(house.claims, (command.table, command.claim)):
                message = f"claim {command.claim!r} was settled already: {_described(house.transfers[under])}"
                yield Refusal(Reason.RULED_OUT, _CLAIMS, message)
        case _:
            yield from access_refusals(house, command)


def _enrollable(house: House, command: messages.EnrolPerson | messages.RecoverAccess) -> Iterator[Refusal]:
    if command.rank not in house.ladder:
        message = f"unknown rank {quoted(command.rank)}; known: {', '.join(house.ladder)}"
        yield Refusal(Reason.BAD_VALUE, _PEOPLE, message)
    if not is_name(command.person):
        return  # and its value is refused
    yield from name_taken(house, command.person, _PEOPLE)
    yield from left_locked(house, command.person)


def _redeemable(house: House, name: str) -> Iterator[Refusal]:
    ticket = lookup(house.tickets, name)
    if ticket is None:
        message = f"the House has no ticket {quoted(name)}"
        yield Refusal(Reason.BAD_VALUE, _TICKETS, message)
    elif ticket.redeemed:
        at, by, transfer, table, seat, session, _ = ticket.redeemed
        how = f"put into seat {seat!r} of table {table!r}, session {session}, under transfer {transfer!r}"
        message = f"ticket {name!r} was {how if transfer else 'cashed at the cage'} by {by!r} at {clock(at)}"
        yield Refusal(Reason.RULED_OUT, _TICKETS, message)


def _issued(ticket: Ticket) -> Refusal:
    how = f"issued under transfer {ticket.transfer!r}" if ticket.transfer else "sold for cash"
    message = f"ticket {ticket.id!r} of {ticket.amount} was {how} by {ticket.by!r} at {clock(ticket.at)}"
    return Refusal(Reason.DIFFERENT_CONTENT, _TICKETS, message)


def _counts(house: House, event: HouseEvent) -> Iterator[Refusal]:
    """Which limit would be exceeded."""
    if isinstance(event, messages.TicketSold | messages.TicketIssued) and len(house.tickets) >= MOST_TICKETS:
        yield too_many("tickets", MOST_TICKETS)
    if transfer_of(event) and len(house.transfers) >= MOST_TRANSFERS:
        yield too_many("transfers", MOST_TRANSFERS)
    if movement_of(event) and len(house.movements) >= MOST_MOVEMENTS:
        yield too_many("movements of the owners' money", MOST_MOVEMENTS)
    arrives = isinstance(event, messages.PersonEnrolled | messages.AccessRecovered)
    if arrives and lookup(house.people, getattr(event, "person", None)) is None:
        yield from _full(house, getattr(event, "person", ""))
    yield from access_limits(house, event)


def _full(house: House, newcomer: str) -> Iterator[Refusal]:
    """Whether the staff list is full; people who left it locked count too, since their locks are kept."""
    if len(house.people) + len(house.locked) >= MOST_PEOPLE:
        known = house.people.keys() | house.locked
        if not is_name(newcomer) or len(known | {newcomer}) > MOST_PEOPLE:
            yield too_many("people", MOST_PEOPLE)


_AT_ONCE: Final = (messages.TicketSold, messages.CapitalBrought, messages.FillSent, messages.DropCounted)


def _amounts(house: House, event: HouseEvent) -> Iterator[Refusal]:
    """Why so much may not move at once, or not by one person."""
    amount, limits = getattr(event, "amount", None), house.amounts
    if isinstance(event, messages.DropCounted) and type(event.counted) is type(event.declared) is int:
        amount = max(event.counted, event.declared)
    if type(amount) is not int:
        return
    if limits and isinstance(event, _AT_ONCE):
        most = limits.fill if isinstance(event, messages.FillSent) else MOST_AT_ONCE
        if refusal := above_most(amount, most):
            yield refusal
    is_sold = isinstance(event, messages.TicketSold)
    ticket = None if is_sold else lookup(house.tickets, getattr(event, "ticket", None))
    if isinstance(event, messages.TicketSold | messages.TicketRedeemed) and not (ticket and ticket.redeemed):
        kind = "sale" if is_sold else "redemption"
        takes_two = limits is not None and amount > getattr(limits, kind)
        if takes_two or event.second is not None:  # one who is named without need is recorded too
            yield from people.second_person(house, event.second, event.by)


def _money(house: House, event: HouseEvent) -> Iterator[Refusal]:
    """Which account has too little, or would exceed the greatest sum."""
    # What comes in keeps away from the greatest sum, so that tickets can always be issued for what is there.
    comes_in = isinstance(event, messages.TicketSold | messages.CapitalBrought)
    most = MOST_HELD if comes_in and house.amounts is not None else GREATEST_SUM
    for entry in entries(event):
        account, change = entry.account, entry.amount
        balance = house.ledger.balances[account]
        if balance + change < 0:
            message = f"not enough in {account}: {-change} needed, {balance} available"
            yield Refusal(Reason.FLOAT_SHORT, _CAGE, message, sums=(-change, balance))
        elif balance + change > most:
            yield beyond(account, balance + change) if most == GREATEST_SUM else Refusal(
                Reason.BEYOND_GREATEST_SUM, AMOUNTS,
                f"expected at most {most:,} in {account}, got {balance + change:,}",
            )  # fmt: skip


def _described(kept: HouseTransfer) -> str:
    return f"the transfer {kept.id!r}, {kept.kind} of {kept.amount}, table {kept.table!r}"

"""What the House does when it is asked, and why not where it does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from taisai.cage import messages as said
from taisai.cage.access import (
    again_at_door,
    consequences,
    failed_as,
    left_locked,
    name_taken,
    not_admitted,
    too_many_at_door,
)
from taisai.cage.house import House, HouseTransfer, Ticket, entries, movement_of, transfer_of
from taisai.cage.messages import HouseCommand, HouseEvent
from taisai.cage.values import (
    beyond,
    clock,
    found,
    same_person,
    too_many,
    wrong_values,
)
from taisai.game.refusals import Reason, Refusal, first
from taisai.game.vocabulary import FLOOR, TABLE, is_name
from taisai.rules.clauses import Clause
from taisai.rules.settlement import GREATEST_SUM
from taisai.validation import quoted

MOST_PEOPLE: Final = 10_000  # on the staff list at a time, and locked when they left it
MOST_MOVEMENTS: Final = 1_000_000  # of the owners' money, of one stream: a retry must be known as one
MOST_TICKETS: Final = 1_000_000  # of one stream, redeemed ones too: a second redemption must be refused
MOST_TRANSFERS: Final = 3_000_000  # of one stream: each ticket issued and accepted, and as many others

_CAGE: Final = Clause("house:cage")
_PEOPLE: Final = Clause("house:people")
_TICKETS: Final = Clause("house:tickets")
_CLAIMS: Final = Clause("house:claims")
_FLOAT: Final = Clause("house:float")
_ACCESS: Final = Clause("house:access")
_DEVICES: Final = Clause("house:devices")
_RUNNING: Final = Clause("house:running")


class _Who(Enum):
    """Who may ask for something."""

    ANYONE = auto()
    """Anyone: the command opens the House."""
    TABLE = auto()
    """A table's side of a transfer, which the system itself carries."""
    FLOOR = auto()
    """The live server itself."""
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
    said.OpenHouse: _Act(said.HouseOpened, _CAGE, _Who.ANYONE),
    said.EnrolPerson: _Act(said.PersonEnrolled, _PEOPLE, _Who.SUPERVISOR),
    said.DismissPerson: _Act(said.PersonDismissed, _PEOPLE, _Who.SUPERVISOR),
    said.BringIn: _Act(said.CapitalBrought, _CAGE, _Who.TWO),
    said.TakeOut: _Act(said.CapitalTaken, _CAGE, _Who.TWO),
    said.SellTicket: _Act(said.TicketSold, _TICKETS, _Who.STAFF),
    said.IssueTicket: _Act(said.TicketIssued, _TICKETS, _Who.TABLE),
    said.RedeemTicket: _Act(said.TicketRedeemed, _TICKETS, _Who.STAFF),
    said.SendTicket: _Act(said.TicketAccepted, _TICKETS, _Who.TABLE),
    said.SendFill: _Act(said.FillSent, _FLOAT, _Who.TWO),
    said.ReceiveCredit: _Act(said.CreditReceived, _FLOAT, _Who.STAFF),
    said.CountDrop: _Act(said.DropCounted, Clause("house:drop"), _Who.TWO),
    said.PayClaim: _Act(said.ClaimPaid, _CLAIMS, _Who.TWO),
    said.CollectClaim: _Act(said.ClaimCollected, _CLAIMS, _Who.TWO),
    said.EnrolDevice: _Act(said.DeviceEnrolled, _DEVICES, _Who.SUPERVISOR),
    said.DismissDevice: _Act(said.DeviceDismissed, _DEVICES, _Who.SUPERVISOR),
    said.NoteSignIn: _Act(said.SignedIn, _ACCESS, _Who.FLOOR),
    said.NoteFailure: _Act(said.SignInFailed, _ACCESS, _Who.FLOOR),
    said.UnlockPerson: _Act(said.PersonUnlocked, _ACCESS, _Who.SUPERVISOR),
    said.NoteSignOut: _Act(said.SignedOut, _ACCESS, _Who.FLOOR),
    said.RevokeSessions: _Act(said.SessionsRevoked, _ACCESS, _Who.SUPERVISOR),
    said.SetCredentials: _Act(said.CredentialsSet, _ACCESS, _Who.SELF),
    said.TakeSettings: _Act(said.SettingsTaken, Clause("house:settings"), _Who.FLOOR),
    said.NoteStart: _Act(said.SystemStarted, _RUNNING, _Who.FLOOR),
    said.NoteStop: _Act(said.SystemStopped, _RUNNING, _Who.FLOOR),
    said.NoteClock: _Act(said.ClockJumped, Clause("house:clock"), _Who.FLOOR),
    said.NoteWin: _Act(said.LargeWinNoted, Clause("house:large-wins"), _Who.FLOOR),
    said.NoteOverride: _Act(said.OverrideNoted, Clause("house:overrides"), _Who.FLOOR),
    said.NoteAlarm: _Act(said.DiceAlarmNoted, Clause("house:watch"), _Who.FLOOR),
}


_ACTORS: Final[Mapping[_Who, tuple[str, str, Clause | None]]] = {
    _Who.TABLE: (TABLE, "the table's side of a transfer", Clause("house:transfers")),
    _Who.FLOOR: (FLOOR, "the live server itself", None),
}
"""What an actor of the system's own is called, and by which clause others are not it; None: by the act's."""


def decide_house(house: House, command: HouseCommand) -> tuple[HouseEvent, ...] | Refusal:
    """What happens because of a command, nothing where it is a retry; or why it is refused."""
    act = _ACTS.get(type(command))
    if act is None or house.open == isinstance(command, said.OpenHouse):
        wanted = "OpenHouse once, before everything else" if act else "a command of the House"
        got = f"expected {wanted}, got {type(command).__name__}"
        return Refusal(Reason.OUT_OF_ORDER, Clause("house:order"), got)
    refusals = [*_people(house, command, act), *wrong_values(command, act.clause)]
    event = _draft(house, command, act)
    again = _again(house, event)
    if isinstance(again, Refusal):
        refusals.append(again)
    elif not again:
        refusals += [*_state(house, command), *_counts(house, event)]
    if refused := first(refusals):
        return refused
    if again:
        return ()
    return first(list(_money(house, event))) or (event, *consequences(house, event))


def _draft(house: House, command: HouseCommand, act: _Act) -> HouseEvent:
    """What would happen, were nothing against it."""
    fields: dict[str, Any] = {name: getattr(command, name) for name in command.__struct_fields__}
    if isinstance(command, said.RedeemTicket | said.SendTicket):
        ticket = found(house.tickets, command.ticket)
        fields["amount"] = ticket.amount if ticket else 0
    elif isinstance(command, said.NoteFailure):
        fields |= failed_as(house, command)
    return act.event(clause=act.clause, **fields)


def _again(house: House, event: HouseEvent) -> Refusal | bool:
    """Whether it is done already; a refusal where its id is known for something else."""
    if moved := transfer_of(event):
        kept = found(house.transfers, moved.id)
        if kept is None or kept == moved:
            return kept is not None
        got = f"the id belongs to another transfer: {_described(kept)}"
        return Refusal(Reason.DIFFERENT_CONTENT, Clause("house:transfers"), got)
    if brought := movement_of(event):
        known = found(house.movements, brought.id)
        if known is None or known == brought:
            return known is not None
        way = "brought in" if known.brought else "taken out"
        booked = f"{known.amount} {way} by {known.by!r} and {known.second!r}"
        message = f"the id {known.id!r} belongs to another movement: {booked}"
        return Refusal(Reason.DIFFERENT_CONTENT, _CAGE, message)
    if isinstance(event, said.TicketSold) and (ticket := found(house.tickets, event.ticket)):
        # The same ticket from another cashier is no retry: two customers would hold one ticket.
        same = (ticket.amount, ticket.by, ticket.transfer) == (event.amount, event.by, None)
        return same or _issued(ticket)
    if isinstance(event, said.TicketRedeemed) and event.ask is not None:
        ticket = found(house.tickets, event.ticket)
        redeemed = None if ticket is None else ticket.redeemed
        return redeemed is not None and (redeemed.by, redeemed.ask) == (event.by, event.ask)
    if isinstance(event, said.PersonEnrolled) and (rank := found(house.people, event.person)):
        return rank == event.rank
    return again_at_door(house, event)


# People


def _people(house: House, command: HouseCommand, act: _Act) -> Iterator[Refusal]:
    """Why these people may not ask for it."""
    who = act.who
    if who in _ACTORS:
        actor, what, clause = _ACTORS[who]
        if command.by != actor:
            got = f"expected {what} ({actor!r}), got {quoted(command.by)}"
            yield Refusal(Reason.NOT_PERMITTED, clause or act.clause, got)
    elif isinstance(command, said.UnlockPerson) and command.by == FLOOR:
        # Asked beside the journal with the house's key, where no two are left who could come in to ask.
        if command.second is not None:
            yield from _second(house, command.second, command.by, command.person)
    elif who is not _Who.ANYONE:
        yield from _staff(house, command, who)


def _staff(house: House, command: HouseCommand, who: _Who) -> Iterator[Refusal]:
    rank = found(house.people, command.by)
    is_self = who is _Who.SELF and rank is not None and command.by == getattr(command, "person", None)
    if who is _Who.SELF:
        who = _Who.STAFF if is_self else _Who.SUPERVISOR
    opener = who is _Who.SUPERVISOR and command.by == house.opened_by
    if rank is None and not opener:
        got = f"expected a person on the staff list, got {quoted(command.by)}"
        yield Refusal(Reason.UNKNOWN_PERSON, _PEOPLE, got)
    elif rank is not None and who is _Who.SUPERVISOR and not opener:
        yield from _supervising(house, command, rank)
    if who is _Who.TWO:
        yield from _second(house, getattr(command, "second", None), command.by)
    match command:
        case said.EnrolPerson():
            yield from _enrolling(house, command)
        case said.UnlockPerson():
            yield from _unlocking(house, command)
        case said.SetCredentials():
            yield from _replacing(house, command, is_self=is_self)
        case _:
            pass


def _supervising(house: House, command: HouseCommand, rank: str) -> Iterator[Refusal]:
    """Why a person may not change a rank: it is their own, or above it."""
    person = getattr(command, "person", None)
    ranks = (house.second_rank, found(house.people, person), getattr(command, "rank", None))
    least = max((each for each in ranks if each in house.ladder), key=house.ladder.index)
    if house.ladder.index(rank) < house.ladder.index(least):
        got = f"only the {least} or a higher rank may do this, not {command.by!r} ({rank})"
        yield Refusal(Reason.NOT_PERMITTED, _PEOPLE, got)
    elif person == command.by:
        yield Refusal(Reason.NOT_PERMITTED, _PEOPLE, f"{person!r} cannot do this for themselves")


def _enrolling(house: House, command: said.EnrolPerson) -> Iterator[Refusal]:
    """Why two people are needed to enrol a supervisor; the opener of the House enrols the first two alone."""
    alone = command.by == house.opened_by and not house.staffed
    changed = found(house.people, command.person) != command.rank  # a retry needs no consent
    # A second person who is named without need is checked too: the event records them.
    if command.second is not None or (house.supervising(command.rank) and changed and not alone):
        yield from _second(house, command.second, command.by, command.person)


def _unlocking(house: House, command: said.UnlockPerson) -> Iterator[Refusal]:
    """Why a person may not unlock themselves, neither as the first nor as the second of two."""
    if same_person(command.by, command.person):
        got = f"{command.person!r} cannot do this for themselves"
        yield Refusal(Reason.NOT_PERMITTED, _ACCESS, got)
    yield from _second(house, command.second, command.by, command.person)


def _replacing(house: House, command: said.SetCredentials, *, is_self: bool) -> Iterator[Refusal]:
    """Why two people are needed to replace the credentials of a possible second person."""
    rank = found(house.people, command.person)
    replaced = rank is not None and command.person in house.credentials
    if command.second is not None or (replaced and house.supervising(rank) and not is_self):
        yield from _second(house, command.second, command.by, command.person)


def _second(house: House, second: str | None, *others: str) -> Iterator[Refusal]:
    """Why the second person is not accepted: not on the staff list, below the rank, or one of the others."""
    rank = found(house.people, second)
    if not house.supervising(rank) or any(same_person(second, other) for other in others):
        who = f"{quoted(second)}, {rank or 'not on the staff list'}" if second is not None else "no one"
        besides = " and ".join(quoted(other) for other in others)
        wanted = f"a second person besides {besides}, of the rank {house.second_rank} or above"
        yield Refusal(Reason.SECOND_PERSON, Clause("house:dual-control"), f"expected {wanted}, got {who}")


# The state of the House


def _state(house: House, command: HouseCommand) -> Iterator[Refusal]:
    """Why it cannot be done as things stand."""
    match command:
        case said.EnrolPerson():
            yield from _enrollable(house, command)
        case said.DismissPerson():
            if found(house.people, command.person) is None:
                got = f"expected a person on the staff list, got {quoted(command.person)}"
                yield Refusal(Reason.UNKNOWN_PERSON, _PEOPLE, got)
        case said.IssueTicket():
            if ticket := found(house.tickets, command.ticket):
                yield _issued(ticket)
        case said.RedeemTicket() | said.SendTicket():
            yield from _redeemable(house, command.ticket)
        case said.PayClaim() | said.CollectClaim():
            if under := found(house.claims, (command.table, command.claim)):
                got = f"claim {command.claim!r} was settled already: {_described(house.transfers[under])}"
                yield Refusal(Reason.RULED_OUT, _CLAIMS, got)
        case _:
            yield from not_admitted(house, command)


def _enrollable(house: House, command: said.EnrolPerson) -> Iterator[Refusal]:
    if command.rank not in house.ladder:
        got = f"unknown rank {quoted(command.rank)}; known: {', '.join(house.ladder)}"
        yield Refusal(Reason.BAD_VALUE, _PEOPLE, got)
    if not is_name(command.person):
        return  # and its value is refused
    yield from name_taken(house, command.person, _PEOPLE)
    yield from left_locked(house, command.person)


def _redeemable(house: House, name: str) -> Iterator[Refusal]:
    ticket = found(house.tickets, name)
    if ticket is None:
        got = f"the House has no ticket {quoted(name)}"
        yield Refusal(Reason.BAD_VALUE, _TICKETS, got)
    elif ticket.redeemed:
        at, by, transfer, table, seat, session, _ = ticket.redeemed
        how = f"put into seat {seat!r} of table {table!r}, session {session}, under transfer {transfer!r}"
        got = f"ticket {name!r} was {how if transfer else 'cashed at the cage'} by {by!r} at {clock(at)}"
        yield Refusal(Reason.RULED_OUT, _TICKETS, got)


def _issued(ticket: Ticket) -> Refusal:
    how = f"issued under transfer {ticket.transfer!r}" if ticket.transfer else "sold for cash"
    got = f"ticket {ticket.id!r} of {ticket.amount} was {how} by {ticket.by!r} at {clock(ticket.at)}"
    return Refusal(Reason.DIFFERENT_CONTENT, _TICKETS, got)


def _counts(house: House, event: HouseEvent) -> Iterator[Refusal]:
    """Which greatest number would be exceeded."""
    if isinstance(event, said.TicketSold | said.TicketIssued) and len(house.tickets) >= MOST_TICKETS:
        yield too_many("tickets", MOST_TICKETS)
    if transfer_of(event) and len(house.transfers) >= MOST_TRANSFERS:
        yield too_many("transfers", MOST_TRANSFERS)
    if movement_of(event) and len(house.movements) >= MOST_MOVEMENTS:
        yield too_many("movements of the owners' money", MOST_MOVEMENTS)
    if isinstance(event, said.PersonEnrolled) and found(house.people, event.person) is None:
        yield from _full(house, event.person)
    yield from too_many_at_door(house, event)


def _full(house: House, newcomer: str) -> Iterator[Refusal]:
    """Whether the staff list is full; people who left it locked count too, since their locks are kept."""
    if len(house.people) + len(house.locked) >= MOST_PEOPLE:
        known = house.people.keys() | house.locked
        if not is_name(newcomer) or len(known | {newcomer}) > MOST_PEOPLE:
            yield too_many("people", MOST_PEOPLE)


def _money(house: House, event: HouseEvent) -> Iterator[Refusal]:
    """Which account does not reach, or would grow too great."""
    for entry in entries(event):
        account, change = entry.account, entry.amount
        balance = house.ledger.balances[account]
        if balance + change < 0:
            got = f"not enough in {account}: {-change} needed, {balance} available"
            yield Refusal(Reason.FLOAT_SHORT, _CAGE, got, sums=(-change, balance))
        elif balance + change > GREATEST_SUM:
            yield beyond(account, balance + change)


def _described(kept: HouseTransfer) -> str:
    return f"the transfer {kept.id!r}, {kept.kind} of {kept.amount}, table {kept.table!r}"

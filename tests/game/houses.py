"""A House to test with, and everything that must hold of one whatever is asked of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from taisai.cage import Direction, House
from taisai.cage import decide as cage
from taisai.cage import house as cage_state
from taisai.cage.archive import KEPT_FOR
from taisai.cage.messages import (
    AcknowledgeRecovery,
    ActivationIssued,
    AdoptCredentials,
    AdoptInterpretations,
    ArchiveTickets,
    BringIn,
    CollectClaim,
    CommitCredentials,
    CountDrop,
    CredentialsSet,
    DismissPerson,
    EnrolPerson,
    HouseCommand,
    HouseEvent,
    HouseOpened,
    IssueActivation,
    IssueTicket,
    LimitAmounts,
    OpenHouse,
    OverrideWitness,
    PayClaim,
    PersonDismissed,
    PersonEnrolled,
    PersonUnlocked,
    ReceiveCredit,
    RecoverAccess,
    RedeemTicket,
    SellTicket,
    SendFill,
    SendTicket,
    SetCredentials,
    TakeOut,
    TicketAccepted,
    TicketIssued,
    TicketRedeemed,
    TicketsArchived,
    TicketSold,
)
from taisai.game.money.ledger import Account
from taisai.game.refusals import Reason, Refusal
from taisai.game.vocabulary import FLOOR, TABLE, folded
from taisai.rules.clauses import HOUSE_PROCEDURES
from tests.game import house_access
from tests.game.copying import deeply_copied
from tests.game.house_access import AT_THE_DOOR, BY_FLOOR, CODE, COMMITTED, DAY, TURNED_AWAY, Retold

NOON = house_access.NOON

LADDER = ("cashier", "supervisor", "manager")
OPENING = OpenHouse(
    at=NOON, by="owner", house="Lotus", currency="SGD", ladder=LADDER, second_rank="supervisor"
)
ROLL = {"ann": "cashier", "bob": "cashier", "sue": "supervisor", "max": "manager"}
BY_ANN: dict[str, Any] = {"at": NOON, "by": "ann"}
BY_TWO: dict[str, Any] = {"at": NOON, "by": "ann", "second": "sue"}
BY_TABLE: dict[str, Any] = {"at": NOON, "by": TABLE}
BEGINNING: tuple[HouseCommand, ...] = (
    OPENING,
    *(EnrolPerson(at=NOON, by="owner", person=person, rank=rank) for person, rank in ROLL.items()),
    BringIn(id="m1", amount=10_000, **BY_TWO),
)
ONE_OF_EACH: tuple[HouseCommand, ...] = (
    SellTicket(ticket="sold", amount=300, **BY_ANN),
    IssueTicket(transfer="t1", table="T7", ticket="issued", amount=500, **BY_TABLE),
    RedeemTicket(ticket="issued", **BY_ANN),
    SendTicket(ticket="sold", transfer="t2", table="T7", seat="5", session=3, **BY_TABLE),
    SendFill(transfer="t3", table="T7", amount=1_000, **BY_TWO),
    ReceiveCredit(transfer="t4", table="T7", amount=400, **BY_ANN),
    CountDrop(transfer="t5", table="T7", declared=250, counted=240, **BY_TWO),
    PayClaim(transfer="t6", table="T7", claim="c1", amount=70, **BY_TWO),
    CollectClaim(transfer="t7", table="T7", claim="c2", amount=30, **BY_TWO),
    LimitAmounts(at=NOON, by=FLOOR, sale=2_000, redemption=600, fill=1_000),
    BringIn(id="m2", amount=50, **BY_TWO),
    TakeOut(id="m3", amount=2_000, **BY_TWO),
    *AT_THE_DOOR,
    EnrolPerson(at=NOON, by="max", second="sue", person="ivy", rank="supervisor"),
    DismissPerson(at=NOON, by="max", person="bob"),
)
REDEEMING = (RedeemTicket(ticket="sold", **BY_ANN), RedeemTicket(ticket="issued", **BY_ANN))
TWO_CLAIMS = (
    PayClaim(transfer="t8", table="T7", claim="c1", amount=70, **BY_TWO),
    CollectClaim(transfer="t9", table="T7", claim="c2", amount=30, **BY_TWO),
)
ALONE = (
    SendFill(transfer="t10", table="T7", amount=10, **BY_ANN),
    SendFill(transfer="t11", table="T7", amount=10, at=NOON, by="ann", second="ann"),
    SendFill(transfer="t12", table="T7", amount=10, at=NOON, by="sue", second="ann"),
)
ENROLLED_ALONE = (
    EnrolPerson(at=NOON, by="owner", person="tom", rank="supervisor"),
    EnrolPerson(at=NOON, by="max", person="tom", rank="manager"),
    EnrolPerson(at=NOON, by="max", second="max", person="tom", rank="supervisor"),
    EnrolPerson(at=NOON, by="max", second="sue", person="sue", rank="manager"),
    EnrolPerson(at=NOON, by="max", person="Sue", rank="cashier"),
    *(DismissPerson(at=NOON, by="owner", person=one) for one in ("sue", "max")),
    EnrolPerson(at=NOON, by="owner", person="tom", rank="supervisor"),
)
"""A second person who is none, a namesake, and a beginning that is long over."""
GUARDED: tuple[HouseCommand, ...] = (
    SetCredentials(at=NOON, by="ivy", person="ivy"),
    AdoptCredentials(commitments={"ivy": COMMITTED}, **BY_FLOOR),
    RecoverAccess(
        person="tom", rank="supervisor", code=CODE, until=NOON + DAY, reason="a lost key", **BY_FLOOR
    ),
    CommitCredentials(at=NOON, by="tom", person="tom", commitment=COMMITTED, activation=CODE),
    AcknowledgeRecovery(at=NOON, by="ivy", person="tom"),
    IssueActivation(at=NOON, by="ivy", person="ann", code=CODE, until=NOON + DAY, second="tom"),
    SetCredentials(at=NOON, by="ivy", person="ivy"),
    DismissPerson(at=NOON, by="tom", person="ivy"),
    DismissPerson(at=NOON, by="ivy", person="tom", second="ivy"),
)
"""People set their own credentials from here on, and two supervisors remain."""
OPEN = SellTicket(ticket="open", amount=2_000, **BY_ANN)
ADOPTED = AdoptInterpretations(
    at=NOON, by="max", rulebook="my-book", edition=2, digest="sha256:" + "a" * 64, rank="manager",
    asked_by="5.10",
)  # fmt: skip
ARCHIVED: tuple[HouseCommand, ...] = (
    IssueTicket(transfer="t20", table="T7", ticket="gone", amount=40, **BY_TABLE),
    SellTicket(ticket="put in", amount=60, **BY_ANN),
    RedeemTicket(ticket="gone", **BY_ANN),
    SendTicket(ticket="put in", transfer="t21", table="T7", seat="5", session=3, **BY_TABLE),
    SendFill(transfer="t22", table="T7", amount=10, **BY_ANN, second="sue"),
    ArchiveTickets(at=NOON + KEPT_FOR, by=FLOOR, tickets=("gone", "put in"), transfers=("t22",)),
)
OVERRIDDEN = OverrideWitness(at=NOON, by="max", hours=2, reason="the line is down", second="sue")
SCRIPT = (
    *BEGINNING, OPEN, ADOPTED, OVERRIDDEN, *ARCHIVED, *ONE_OF_EACH, *ONE_OF_EACH[:-1], *REDEEMING,
    *TWO_CLAIMS, *ALONE, *TURNED_AWAY, *ENROLLED_ALONE, *GUARDED,
)  # fmt: skip
"""Every command, most of them twice, and what must be refused."""


SOLD = SellTicket(ticket="sold", amount=300, **BY_ANN)
ISSUED = IssueTicket(transfer="t1", table="T7", ticket="issued", amount=500, **BY_TABLE)
CASHED = RedeemTicket(ticket="sold", **BY_ANN)
SENT = SendTicket(ticket="sold", transfer="t2", table="T7", seat="5", session=3, **BY_TABLE)
PAID = PayClaim(transfer="t6", table="T7", claim="c1", amount=70, **BY_TWO)
ASKED = {type(command): command for command in (*BEGINNING, *ARCHIVED, *ONE_OF_EACH)}
"""The latest of each kind in the script."""


def but(command: HouseCommand, **changes: Any) -> Any:
    """The same command with other values."""
    return msgspec.structs.replace(command, **changes)


def name_of(command: object) -> str:
    """What a case of a table test is called."""
    return type(command).__name__


def refused_for(house: House, command: HouseCommand) -> Reason | None:
    """Why a command is refused, if it is."""
    return getattr(cage.decide_house(house, command), "reason", None)


def done(house: House, *commands: HouseCommand) -> tuple[HouseEvent, ...]:
    """The events of commands that must not be refused."""
    events: list[HouseEvent] = []
    for command in commands:
        decided = cage.decide_house(house, command)
        assert not isinstance(decided, Refusal), f"{decided} of {command}"
        for event in decided:
            cage_state.evolve_house(house, event)
        events += decided
    return tuple(events)


def refused(house: House, command: HouseCommand) -> Refusal:
    """The refusal of a command that must be refused."""
    decided = cage.decide_house(house, command)
    assert isinstance(decided, Refusal), decided
    assert decided.clause in HOUSE_PROCEDURES
    assert decided.message.isprintable()
    assert len(decided.message) < 500
    return decided


def begun() -> House:
    """A House with four people and 10,000 in the cage."""
    house = House()
    done(house, *BEGINNING)
    return house


def balances(house: House) -> dict[str, int]:
    """What is not zero."""
    return {str(account): amount for account, amount in house.ledger.balances.items() if amount}


class Watched:
    """A House under watch: what it was asked, what happened, and what should never have."""

    def __init__(self) -> None:
        self.house = House()
        self.events: list[HouseEvent] = []
        self.faults: list[str] = []
        self.door = Retold()

    def ask(self, command: HouseCommand) -> tuple[HouseEvent, ...] | Refusal:
        """Decides and does it, and notes every fault that shows."""
        before = deeply_copied(self.house)
        decided: tuple[HouseEvent, ...] | Refusal = ()
        try:
            decided = cage.decide_house(self.house, command)
            if self.house != before:
                self.faults.append(f"deciding on {command} changed the House")
            for event in () if isinstance(decided, Refusal) else decided:
                self.faults += lone(self.house, event, self.events)
                cage_state.evolve_house(self.house, event)
                self.events.append(event)
                self.faults += wrong(self.house, self.events)
                self.faults += self.door.wrong(self.house, event)
        except Exception as error:  # noqa: BLE001
            self.faults.append(f"{command} raised {error!r}")
        if isinstance(decided, Refusal) and decided.clause not in HOUSE_PROCEDURES:
            self.faults.append(f"{decided} cites no clause of the house")
        return decided


def lone(house: House, event: HouseEvent, before: list[HouseEvent]) -> Iterator[str]:
    """Dual control that an event lacks, with the roll as it was."""
    second = getattr(event, "second", None)
    is_small = isinstance(event, TicketSold | TicketRedeemed) and not over_limit(house, event)
    if "second" not in event.__struct_fields__ or (is_small and second is None):
        return
    others, known = {folded(event.by)}, event.by in house.people
    if isinstance(event, PersonEnrolled):
        opener = event.by == before[0].by
        if second is None and (event.rank == "cashier" or (opener and not staffed(before))):
            return
        others, known = others | {folded(event.person)}, known or opener
    if isinstance(event, PersonDismissed | ActivationIssued):
        alone = event.by == before[0].by and not house.guarded
        if isinstance(event, PersonDismissed):
            alone = not house.guarded or house.people[event.person] == "cashier"
        if second is None and alone:
            return
        others, known = others | {folded(event.person)}, known or event.by == before[0].by
    if isinstance(event, PersonUnlocked | CredentialsSet):
        if second is None and (isinstance(event, CredentialsSet) or event.by == FLOOR):
            return  # and where one was needed, the door's own checks tell
        others, known = others | {folded(event.person)}, known or event.by == before[0].by
    rank = house.people.get(second or "", "cashier")
    if not known or folded(second or event.by) in others or rank == "cashier":
        yield f"{event} was done without a second person"


def over_limit(house: House, event: TicketSold | TicketRedeemed) -> bool:
    """Whether a ticket is worth more than one person sells or redeems alone."""
    limits = house.amounts
    if limits is None:
        return False
    return event.amount > (limits.sale if isinstance(event, TicketSold) else limits.redemption)


def staffed(events: Iterable[HouseEvent]) -> bool:
    """Whether two people above cashiers have been on the roll together, as the events tell."""
    above: set[str] = set()
    most = 0
    for event in events:
        if isinstance(event, PersonEnrolled) and event.rank != "cashier":
            above.add(event.person)
        elif isinstance(event, PersonEnrolled | PersonDismissed):
            above.discard(event.person)
        most = max(most, len(above))
    return most > 1


def wrong(house: House, events: list[HouseEvent]) -> Iterator[str]:
    """What does not hold of a House after its events."""
    kept = house.ledger.balances
    if house.ledger.difference:
        yield f"held and owed differ by {house.ledger.difference}"
    if any(amount < 0 for amount in kept.values()):
        yield f"negative: {kept}"
    if house.outstanding != kept[Account.TICKETS]:
        yield f"open tickets are worth {house.outstanding}, booked are {kept[Account.TICKETS]}"
    transfers = house.transfers.values()
    for direction, account, archived in (
        (Direction.DUE, Account.TRANSIT_DUE, house.archived.due),
        (Direction.OWED, Account.TRANSIT_OWED, house.archived.owed),
    ):
        moved = archived + sum(one.amount for one in transfers if one.direction is direction)
        if moved != kept[account]:
            yield f"transfers sum to {moved}, {account} is {kept[account]}"
    if len({folded(person) for person in house.people}) != len(house.people):
        yield f"two people of one name: {sorted(house.people)}"
    yield from repeated(events)
    if events[-1].clause not in HOUSE_PROCEDURES:
        yield f"{events[-1]} cites no clause of the house"


def repeated(events: Iterable[HouseEvent]) -> Iterator[str]:  # noqa: C901  a line for each kind
    """What happened twice though it may happen once."""
    counts: Counter[tuple[str, ...]] = Counter()
    moved: dict[str, list[str]] = {}
    """Ticket → its transfers, whose ids are free again when it has left the state."""
    claims: dict[str, tuple[str, ...]] = {}
    """Transfer → the claim that it settled, likewise."""
    for event in events:
        if isinstance(event, TicketRedeemed | TicketAccepted):
            counts["ticket", event.ticket] += 1
        if isinstance(event, TicketIssued | TicketAccepted):
            moved.setdefault(event.ticket, []).append(event.transfer)
        for ticket in event.tickets if isinstance(event, TicketsArchived) else ():
            if counts.pop(("ticket", ticket)) > 1:
                yield f"{ticket} was redeemed twice before it was archived"
            for transfer in moved.pop(ticket, ()):
                del counts["transfer", transfer]
        for transfer in event.transfers if isinstance(event, TicketsArchived) else ():
            if counts.pop(("transfer", transfer)) > 1:
                yield f"{transfer} was booked twice before it was archived"
            counts.pop(claims.pop(transfer, ()), None)
        if hasattr(event, "transfer"):
            counts["transfer", event.transfer] += 1
        if hasattr(event, "id"):
            counts["movement", event.id] += 1
        if hasattr(event, "claim"):
            claim = "claim", event.table, event.claim  # type: ignore[attr-defined]
            claims[event.transfer] = claim  # type: ignore[attr-defined]
            counts[claim] += 1
        if isinstance(event, HouseOpened):
            counts["opening",] += 1
    yield from (f"{what} happened {count} times" for what, count in counts.items() if count > 1)


def replayed(events: Iterable[HouseEvent]) -> House:
    """The House that events alone make."""
    house = House()
    for event in events:
        house = cage_state.evolve_house(house, event)
    return house


def watched(commands: Iterable[HouseCommand]) -> Watched:
    """A House under watch after commands, replayed at the end."""
    under = Watched()
    for command in commands:
        under.ask(command)
    try:
        if replayed(under.events) != under.house:
            under.faults.append("a replay gives another House")
    except Exception as error:  # noqa: BLE001
        under.faults.append(f"a replay raised {error!r}")
    return under

"""The House's own stream: its messages, what each command books, and events that cannot be."""

from __future__ import annotations

from typing import Any, Union

import msgspec
import pytest

from taisai.cage import House, StreamError
from taisai.cage import decide as cage
from taisai.cage import house as cage_state
from taisai.cage import values as cage_values
from taisai.cage.messages import (
    HOUSE_COMMANDS,
    HOUSE_EVENTS,
    BringIn,
    CapitalBrought,
    CollectClaim,
    CountDrop,
    DismissPerson,
    EnrolPerson,
    HouseCommand,
    HouseEvent,
    PersonEnrolled,
    PersonLocked,
    ReceiveCredit,
    RedeemTicket,
    SellTicket,
    SendFill,
    TakeOut,
    TicketRedeemed,
)
from taisai.game.commands import COMMANDS
from taisai.game.events import EVENTS, TableClosed
from taisai.game.refusals import Reason
from taisai.rules.clauses import Clause
from tests.game.houses import (
    BY_ANN,
    BY_TWO,
    CASHED,
    ISSUED,
    NOON,
    ONE_OF_EACH,
    OPENING,
    PAID,
    SCRIPT,
    SENT,
    SOLD,
    balances,
    begun,
    but,
    done,
    name_of,
    refused,
    watched,
)

# Messages


def test_messages_of_the_house_and_of_a_table_stay_apart() -> None:
    tags = [one.__struct_config__.tag for one in (*COMMANDS, *HOUSE_COMMANDS)]
    assert len(tags) == len(set(tags))
    tags = [one.__struct_config__.tag for one in (*EVENTS, *HOUSE_EVENTS)]
    assert len(tags) == len(set(tags))


def test_every_message_is_listed_and_every_command_has_its_event() -> None:
    assert set(HOUSE_COMMANDS) == set(HouseCommand.__subclasses__()) == set(cage._ACTS)
    happening = {act.event for act in cage._ACTS.values()} | {PersonLocked}  # which only ever follows
    assert set(HOUSE_EVENTS) == set(HouseEvent.__subclasses__()) == happening


def test_every_message_comes_back_from_its_text() -> None:
    under = watched(SCRIPT)
    for kinds, messages in ((HOUSE_COMMANDS, SCRIPT), (HOUSE_EVENTS, under.events)):
        for message in messages:
            text = msgspec.json.encode(message)
            assert msgspec.json.decode(text, type=Union[kinds]) == message  # noqa: UP007


def test_every_field_of_every_command_is_looked_at() -> None:
    looked_at = {*cage_values._KINDS, *(name for _, name in cage_values._KINDS_OF)}
    looked_at |= {"second", "ladder", "second_rank", "rank", "settings", "commitments"}
    looked_at |= {"tickets", "transfers"}
    assert {name for kind in HOUSE_COMMANDS for name in kind.__struct_fields__} == looked_at


# What is booked

BOOKED = [
    (BringIn(id="m", amount=100, **BY_TWO), {"cage": 100, "capital": 100}),
    (TakeOut(id="m", amount=100, **BY_TWO), {"cage": -100, "capital": -100}),
    (SellTicket(ticket="k", amount=100, **BY_ANN), {"cage": 100, "tickets": 100}),
    (but(ISSUED, ticket="k", transfer="t"), {"in-transit-due": 500, "tickets": 500}),
    (CASHED, {"cage": -300, "tickets": -300}),
    (SENT, {"tickets": -300, "in-transit-owed": 300}),
    (SendFill(transfer="t", table="T7", amount=100, **BY_TWO), {"cage": -100, "in-transit-due": 100}),
    (ReceiveCredit(transfer="t", table="T7", amount=100, **BY_ANN), {"cage": 100, "in-transit-owed": 100}),
    (PAID, {"cage": -70, "in-transit-due": 70}),
    (
        CollectClaim(transfer="t", table="T7", claim="c", amount=70, **BY_TWO),
        {"cage": 70, "in-transit-owed": 70},
    ),
    (EnrolPerson(at=NOON, by="max", person="eve", rank="cashier"), {}),
    (DismissPerson(at=NOON, by="max", person="bob"), {}),
]


@pytest.mark.parametrize(("command", "booked"), BOOKED, ids=name_of)
def test_what_a_command_books(command: HouseCommand, booked: dict[str, int]) -> None:
    house = begun()
    done(house, SOLD)
    before = balances(house)
    [event] = done(house, command)
    after = balances(house)
    changed = {name: after.get(name, 0) - before.get(name, 0) for name in before | after}
    assert {name: amount for name, amount in changed.items() if amount} == booked
    assert {entry.account: entry.amount for entry in house.ledger.latest} == booked
    assert {entry.clause for entry in house.ledger.latest} <= {event.clause}


@pytest.mark.parametrize(
    ("declared", "counted", "booked"),
    [
        (250, 250, {"cage": 250, "in-transit-owed": 250}),
        (250, 260, {"cage": 260, "in-transit-owed": 250, "count-over": 10}),
        (250, 240, {"cage": 240, "in-transit-owed": 250, "count-short": 10}),
        (250, 0, {"in-transit-owed": 250, "count-short": 250}),
        (0, 5, {"cage": 5, "count-over": 5}),
        (0, 0, {}),
    ],
)
def test_a_counted_drop_books_the_difference(declared: int, counted: int, booked: dict[str, int]) -> None:
    house = begun()
    done(house, CountDrop(transfer="t5", table="T7", declared=declared, counted=counted, **BY_TWO))
    assert {entry.account: entry.amount for entry in house.ledger.latest} == booked
    assert house.transfers["t5"].amount == declared
    assert house.ledger.difference == 0


@pytest.mark.parametrize(
    ("command", "account", "got"),
    [
        (TakeOut(id="m", amount=10_001, **BY_TWO), "cage", "10001 needed, 10000 available"),
        (
            SendFill(transfer="t", table="T7", amount=10_001, **BY_TWO),
            "cage",
            "not enough in cage: 10001 needed",
        ),
        (but(PAID, amount=10_001), "cage", "not enough in cage: 10001 needed"),
    ],
    ids=name_of,
)
def test_the_cage_pays_only_what_it_holds(command: HouseCommand, account: str, got: str) -> None:
    refusal = refused(begun(), command)
    assert refusal.reason is Reason.FLOAT_SHORT
    assert account in refusal.message
    assert got in refusal.message


def test_a_ticket_that_the_cage_cannot_pay_stays_open() -> None:
    house = begun()
    done(house, but(ISSUED, amount=10_001))
    assert refused(house, RedeemTicket(ticket="issued", **BY_ANN)).reason is Reason.FLOAT_SHORT
    done(house, BringIn(id="m", amount=1, **BY_TWO), RedeemTicket(ticket="issued", **BY_ANN))
    assert balances(house) == {"capital": 10_001, "in-transit-due": 10_001}


def test_the_owners_take_out_no_more_than_they_brought_in() -> None:
    house = begun()
    done(house, SOLD, TakeOut(id="m", amount=10_000, **BY_TWO))
    refusal = refused(house, TakeOut(id="n", amount=1, **BY_TWO))
    assert (refusal.reason, refusal.clause) == (Reason.FLOAT_SHORT, "house:cage")
    assert "in capital" in refusal.message


# A stream that cannot be


def test_an_event_that_cannot_follow_is_a_defect() -> None:
    house = begun()
    happened = done(house, *ONE_OF_EACH)
    by: dict[str, Any] = {"at": NOON, "by": "ann", "clause": Clause("house:cage")}
    impossible: list[Any] = [
        *(event for event in happened if {"transfer", "ticket", "id"} & set(event.__struct_fields__)),
        PersonEnrolled(person="Sue", rank="cashier", **by),
        *done(House(), OPENING),
        TicketRedeemed(ticket="nobody's", amount=1, **by),
        TableClosed(**by),
    ]
    assert len(impossible) == 15
    for event in impossible:
        with pytest.raises(StreamError):
            cage_state.evolve_house(house, event)
    with pytest.raises(StreamError, match="first"):
        cage_state.evolve_house(House(), CapitalBrought(id="m", amount=1, second="sue", **by))


def test_a_house_equals_only_a_house_of_the_same_events() -> None:
    house, other = begun(), begun()
    assert house == other
    assert house != "Lotus"  # type: ignore[comparison-overlap]
    done(other, ReceiveCredit(transfer="t", table="T7", amount=1, **BY_ANN))
    assert house != other
    assert repr(other) == "<House 'Lotus': 4 people, 0 tickets, 1 transfers>"
    with pytest.raises(TypeError, match="unhashable"):
        hash(house)

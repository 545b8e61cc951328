"""The House's own stream: what each command books, who may ask for it, and what is refused."""

from __future__ import annotations

import sys
from copy import deepcopy
from typing import Any, Union

import msgspec
import pytest

from taisai.game.cage import House, StreamError
from taisai.game.cage import deciding as cage
from taisai.game.cage import house as cage_state
from taisai.game.cage import values as cage_values
from taisai.game.cage.messages import (
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
    IssueTicket,
    PayClaim,
    ReceiveCredit,
    RedeemTicket,
    SellTicket,
    SendFill,
    SendTicket,
    TakeOut,
    TicketRedeemed,
)
from taisai.game.commands import COMMANDS, CloseTable
from taisai.game.events import EVENTS, TableClosed
from taisai.game.refusals import Reason
from taisai.game.words import SYSTEM
from taisai.rules.clauses import Clause
from taisai.rules.settlement import GREATEST_SUM
from tests.game.houses import (
    BEGINNING,
    BY_ANN,
    BY_TERMINAL,
    BY_TWO,
    NOON,
    ONE_OF_EACH,
    OPENING,
    SCRIPT,
    balances,
    begun,
    done,
    refused,
    watched,
)

SOLD = SellTicket(ticket="sold", amount=300, **BY_ANN)
ISSUED = IssueTicket(transfer="t1", table="T7", ticket="issued", amount=500, **BY_TERMINAL)
CASHED = RedeemTicket(ticket="sold", **BY_ANN)
SENT = SendTicket(ticket="sold", transfer="t2", table="T7", seat="5", **BY_TERMINAL)
PAID = PayClaim(transfer="t6", table="T7", claim="c1", amount=70, **BY_TWO)
ASKED = {type(command): command for command in (*BEGINNING, *ONE_OF_EACH)}
WITH_SECOND = [command for kind, command in ASKED.items() if "second" in kind.__struct_fields__]
BY_STAFF = [command for command in ASKED.values() if command.by == "ann"]


def but(command: HouseCommand, **changes: Any) -> Any:
    """The same command with other values."""
    return msgspec.structs.replace(command, **changes)


def name_of(command: object) -> str:
    return type(command).__name__


# Messages


def test_messages_of_the_house_and_of_a_table_stay_apart() -> None:
    tags = [one.__struct_config__.tag for one in (*COMMANDS, *HOUSE_COMMANDS)]
    assert len(tags) == len(set(tags))
    tags = [one.__struct_config__.tag for one in (*EVENTS, *HOUSE_EVENTS)]
    assert len(tags) == len(set(tags))


def test_every_message_is_listed_and_every_command_has_its_event() -> None:
    assert set(HOUSE_COMMANDS) == set(HouseCommand.__subclasses__()) == set(cage._ACTS)
    assert set(HOUSE_EVENTS) == set(HouseEvent.__subclasses__()) == {act.event for act in cage._ACTS.values()}


def test_every_message_comes_back_from_its_text() -> None:
    under = watched(SCRIPT)
    for kinds, messages in ((HOUSE_COMMANDS, SCRIPT), (HOUSE_EVENTS, under.events)):
        for message in messages:
            text = msgspec.json.encode(message)
            assert msgspec.json.decode(text, type=Union[kinds]) == message  # noqa: UP007


def test_every_field_of_every_command_is_looked_at() -> None:
    looked_at = {*cage_values._IDS, *cage_values._LEAST, "at", "second", "ladder", "second_rank", "rank"}
    assert {name for kind in HOUSE_COMMANDS for name in kind.__struct_fields__} == looked_at


# What is booked

BOOKED = [
    (BringIn(amount=100, **BY_TWO), {"cage": 100, "capital": 100}),
    (TakeOut(amount=100, **BY_TWO), {"cage": -100, "capital": -100}),
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
        (TakeOut(amount=10_001, **BY_TWO), "cage", "at least 10001 in cage, got 10000"),
        (SendFill(transfer="t", table="T7", amount=10_001, **BY_TWO), "cage", "at least 10001 in cage"),
        (but(PAID, amount=10_001), "cage", "at least 10001 in cage"),
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
    done(house, BringIn(amount=1, **BY_TWO), RedeemTicket(ticket="issued", **BY_ANN))
    assert balances(house) == {"capital": 10_001, "in-transit-due": 10_001}


def test_the_owners_take_out_no_more_than_they_brought_in() -> None:
    house = begun()
    done(house, SOLD, TakeOut(amount=10_000, **BY_TWO))
    refusal = refused(house, TakeOut(amount=1, **BY_TWO))
    assert (refusal.reason, refusal.clause) == (Reason.FLOAT_SHORT, "house:cage")
    assert "in capital" in refusal.message


# The opening and the people


@pytest.mark.parametrize("command", [one for one in ASKED.values() if one != OPENING], ids=name_of)
def test_before_the_opening_everything_is_refused(command: HouseCommand) -> None:
    refusal = refused(House(), command)
    assert refusal.reason is Reason.OUT_OF_ORDER
    assert "OpenHouse once, before everything else" in refusal.message


def test_a_house_is_opened_once() -> None:
    assert refused(begun(), OPENING).reason is Reason.OUT_OF_ORDER


def test_a_command_for_a_table_is_none_for_the_house() -> None:
    for house in (House(), begun()):
        refusal = refused(house, CloseTable(**BY_ANN))  # type: ignore[arg-type]
        assert refusal.reason is Reason.OUT_OF_ORDER
        assert refusal.message == "expected a command of the House, got CloseTable"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ladder": ()}, Reason.BAD_VALUE),
        ({"ladder": ["cashier", "supervisor"]}, Reason.BAD_VALUE),
        ({"ladder": ("supervisor", "supervisor")}, Reason.BAD_VALUE),
        ({"ladder": ("supervisor", "")}, Reason.BAD_VALUE),
        ({"ladder": ("supervisor", [])}, Reason.BAD_VALUE),
        ({"second_rank": "king"}, Reason.BAD_VALUE),
        ({"house": ""}, Reason.BAD_VALUE),
        ({"by": ""}, Reason.BAD_VALUE),
        ({"ladder": tuple("abcdefghijklmnopqrstu"), "second_rank": "a"}, Reason.TOO_MANY),
    ],
)
def test_an_opening_that_is_refused(changes: dict[str, Any], reason: Reason) -> None:
    assert refused(House(), but(OPENING, **changes)).reason is reason


def test_as_many_ranks_as_there_may_be() -> None:
    done(House(), but(OPENING, ladder=tuple("abcdefghijklmnopqrst"), second_rank="a"))


@pytest.mark.parametrize("command", BY_STAFF, ids=name_of)
def test_who_is_not_on_the_roll_does_nothing_at_the_cage(command: HouseCommand) -> None:
    house = begun()
    done(house, SOLD)
    stranger: Any
    for stranger in ("eve", "owner", "", [], None):
        assert refused(house, but(command, by=stranger)).reason is Reason.UNKNOWN_PERSON
    done(house, DismissPerson(at=NOON, by="max", person="ann"))
    assert refused(house, command).reason is Reason.UNKNOWN_PERSON


def lone_commands() -> list[str]:
    """Commands under dual control that a House does with no proper second person."""
    house = begun()
    lone = []
    second: Any
    for command in WITH_SECOND:
        for second in (None, "ann", "bob", "eve", "", []):
            decided = cage.decide_house(house, but(command, second=second))
            if getattr(decided, "reason", None) is not Reason.SECOND_PERSON:
                lone.append(f"{command} with {second}")
    return lone


def test_dual_control_takes_another_person_of_the_second_rank() -> None:
    assert {name_of(command) for command in WITH_SECOND} == {
        "BringIn", "TakeOut", "SendFill", "CountDrop", "PayClaim", "CollectClaim",
    }  # fmt: skip
    assert lone_commands() == []
    for command in WITH_SECOND:
        for by, second in (("ann", "sue"), ("ann", "max"), ("max", "sue")):
            done(begun(), but(command, by=by, second=second))


def test_sabotage_dual_control_left_out_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cage, "_second", lambda *_: ())
    assert len(lone_commands()) == 6 * len(WITH_SECOND)


@pytest.mark.parametrize(
    ("by", "person", "rank", "reason"),
    [
        ("owner", "eve", "manager", None),
        ("owner", "owner", "cashier", None),
        ("max", "eve", "manager", None),
        ("sue", "eve", "supervisor", None),
        ("sue", "ann", "supervisor", None),
        ("sue", "eve", "manager", Reason.NOT_HIS_TO_DO),
        ("sue", "sue", "cashier", Reason.NOT_HIS_TO_DO),
        ("sue", "max", "cashier", Reason.NOT_HIS_TO_DO),
        ("ann", "eve", "cashier", Reason.NOT_HIS_TO_DO),
        ("eve", "eve", "manager", Reason.UNKNOWN_PERSON),
        ("max", "eve", "king", Reason.BAD_VALUE),
        ("max", "eve", None, Reason.BAD_VALUE),
        ("max", [], "cashier", Reason.BAD_VALUE),
        *(("max", actor, "cashier", Reason.BAD_VALUE) for actor in sorted(SYSTEM)),
    ],
)
def test_who_may_enrol_whom(by: str, person: Any, rank: Any, reason: Reason | None) -> None:
    house = begun()
    command = EnrolPerson(at=NOON, by=by, person=person, rank=rank)
    if reason:
        assert refused(house, command).reason is reason
        return
    done(house, command)
    assert house.people[person] == rank


@pytest.mark.parametrize(
    ("by", "person", "reason"),
    [
        ("owner", "max", None),
        ("max", "sue", None),
        ("sue", "ann", None),
        ("sue", "max", Reason.NOT_HIS_TO_DO),
        ("max", "max", Reason.NOT_HIS_TO_DO),
        ("ann", "bob", Reason.NOT_HIS_TO_DO),
        ("max", "eve", Reason.UNKNOWN_PERSON),
        ("max", [], Reason.UNKNOWN_PERSON),
    ],
)
def test_who_may_dismiss_whom(by: str, person: Any, reason: Reason | None) -> None:
    house = begun()
    command = DismissPerson(at=NOON, by=by, person=person)
    if reason:
        assert refused(house, command).reason is reason
        return
    done(house, command)
    assert person not in house.people


# Tickets


@pytest.mark.parametrize(
    ("redeemed", "how"),
    [
        (CASHED, "cashed at the cage by 'ann' at 2023-11-14T22:13:20.000Z"),
        (SENT, "put into seat '5' of table 'T7' under transfer 't2' by 'terminal-7' at 2023-11-14T22:13:20"),
    ],
)
@pytest.mark.parametrize("again", [CASHED, but(SENT, transfer="t9")])
def test_a_ticket_is_redeemed_once_and_it_is_told_how(
    redeemed: HouseCommand, how: str, again: HouseCommand
) -> None:
    house = begun()
    done(house, SOLD, SellTicket(ticket="other", amount=1_000, **BY_ANN), redeemed)
    refusal = refused(house, again)
    assert (refusal.reason, refusal.clause) == (Reason.RULED_OUT, "house:tickets")
    assert how in refusal.message


@pytest.mark.parametrize("command", [CASHED, SENT], ids=name_of)
def test_a_ticket_that_nobody_issued_is_worth_nothing(command: HouseCommand) -> None:
    refusal = refused(begun(), command)
    assert (refusal.reason, refusal.clause) == (Reason.BAD_VALUE, "house:tickets")


MOVED = [command for kind, command in ASKED.items() if "transfer" in kind.__struct_fields__]


@pytest.mark.parametrize("command", [*MOVED, SOLD], ids=name_of)
def test_a_retry_changes_nothing(command: HouseCommand) -> None:
    house = begun()
    done(house, *ONE_OF_EACH)
    before = deepcopy(house)
    assert done(house, command, but(command, at=NOON + 1)) == ()
    assert house == before


OTHER: dict[str, Any] = {
    "table": "T8", "amount": 1, "declared": 1, "counted": 1, "ticket": "other", "seat": "6", "claim": "c9",
}  # fmt: skip


@pytest.mark.parametrize(
    ("command", "field"),
    [(command, field) for command in MOVED for field in command.__struct_fields__ if field in OTHER],
    ids=lambda one: one if isinstance(one, str) else name_of(one),
)
def test_a_known_transfer_with_other_content_is_refused(command: HouseCommand, field: str) -> None:
    house = begun()
    done(house, *ONE_OF_EACH)
    refusal = refused(house, but(command, **{field: OTHER[field]}))
    assert (refusal.reason, refusal.clause) == (Reason.OTHER_CONTENT, "house:transfers")


def test_a_transfer_of_one_kind_is_none_of_another() -> None:
    house = begun()
    done(house, SendFill(transfer="t", table="T7", amount=70, **BY_TWO))
    assert refused(house, but(PAID, transfer="t")).reason is Reason.OTHER_CONTENT


@pytest.mark.parametrize(
    "command",
    [
        but(SOLD, amount=301),
        but(SOLD, by="bob"),
        but(SOLD, ticket="issued", amount=500),
        but(ISSUED, transfer="t9"),
        but(ISSUED, transfer="t9", ticket="sold", amount=300),
    ],
)
def test_a_ticket_is_issued_once(command: HouseCommand) -> None:
    house = begun()
    done(house, SOLD, ISSUED)
    refusal = refused(house, command)
    assert (refusal.reason, refusal.clause) == (Reason.OTHER_CONTENT, "house:tickets")


@pytest.mark.parametrize("kind", [PayClaim, CollectClaim])
def test_a_claim_is_settled_once(kind: type[PayClaim]) -> None:
    house = begun()
    done(house, PAID)
    again = kind(transfer="t9", table="T7", claim="c1", amount=70, **BY_TWO)
    refusal = refused(house, again)
    assert (refusal.reason, refusal.clause) == (Reason.RULED_OUT, "house:claims")
    done(house, but(again, table="T8"))


# Values

AMOUNTS = [
    (command, field)
    for command in ASKED.values()
    for field in command.__struct_fields__
    if field in {"amount", "declared", "counted"}
]
IDS = [
    (command, field)
    for command in ASKED.values()
    for field in command.__struct_fields__
    if field in {"transfer", "table", "ticket", "seat", "claim", "person", "house", "currency"}
]


@pytest.mark.parametrize(("command", "field"), AMOUNTS, ids=lambda one: one if isinstance(one, str) else "")
def test_an_amount_is_a_positive_whole_number_up_to_the_greatest_sum(
    command: HouseCommand, field: str
) -> None:
    house = begun()
    least = 1 if field == "amount" else 0
    bad: Any
    for bad in (least - 1, -(10**5_000), 1.0, float("nan"), True, "1", None, [], {}):
        assert refused(house, but(command, **{field: bad})).reason is Reason.BAD_VALUE
    for beyond in (GREATEST_SUM + 1, 10**5_000):
        assert refused(house, but(command, **{field: beyond})).reason is Reason.BEYOND_GREATEST_SUM
    done(house, but(command, **{field: least}))


def test_sabotage_a_number_written_out_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cage_values, "quoted", repr)
    assert 0 < sys.get_int_max_str_digits() < 5_000
    with pytest.raises(ValueError, match="digits"):
        refused(begun(), BringIn(amount=10**5_000, **BY_TWO))


@pytest.mark.parametrize(("command", "field"), IDS, ids=lambda one: one if isinstance(one, str) else "")
def test_an_id_is_short_and_printable(command: HouseCommand, field: str) -> None:
    house = House() if command == OPENING else begun()
    dismissal = isinstance(command, DismissPerson)
    bad: Any
    for bad in ("", "x" * 65, "x" * 10**6, "a\nb", "\ud800", "\x00", 5, None, [], {}, b"x"):
        reason = refused(house, but(command, **{field: bad})).reason
        assert reason is (Reason.UNKNOWN_PERSON if dismissal else Reason.BAD_VALUE)
    if not dismissal and not isinstance(command, RedeemTicket | SendTicket):
        done(house, but(command, **{field: "西" * 64}))


def test_a_moment_is_one_that_can_be_told() -> None:
    house = begun()
    bad: Any
    for bad in (-1, cage_values.LATEST + 1, 10**5_000, 1.0, True, None, "1"):
        assert refused(house, but(SOLD, at=bad)).reason is Reason.BAD_VALUE
    done(house, but(SOLD, at=cage_values.LATEST), but(CASHED, at=cage_values.LATEST))
    assert "9999-12-31T23:59:59.999Z" in refused(house, CASHED).message


@pytest.mark.parametrize(
    ("constant", "command", "more"),
    [
        ("MOST_TICKETS", SOLD, but(SOLD, ticket="k")),
        ("MOST_TICKETS", ISSUED, but(ISSUED, ticket="k", transfer="t")),
        ("MOST_TRANSFERS", ISSUED, but(ISSUED, ticket="k", transfer="t")),
        ("MOST_TRANSFERS", PAID, SendFill(transfer="t", table="T7", amount=1, **BY_TWO)),
    ],
)
def test_one_more_than_the_most_is_refused(
    constant: str, command: HouseCommand, more: HouseCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cage, constant, 1)
    house = begun()
    done(house, command)
    assert refused(house, more).reason is Reason.TOO_MANY
    assert done(house, command) == ()


def test_one_more_on_the_roll_than_the_most_is_refused() -> None:
    house = begun()
    enrol = EnrolPerson(at=NOON, by="owner", person="x", rank="cashier")
    done(house, *(but(enrol, person=str(one)) for one in range(cage.MOST_PEOPLE - len(house.people))))
    assert refused(house, enrol).reason is Reason.TOO_MANY
    done(house, but(enrol, person="bob", rank="supervisor"))


def test_no_balance_exceeds_the_greatest_sum() -> None:
    house = begun()
    done(house, BringIn(amount=GREATEST_SUM - 10_000, **BY_TWO))
    refusal = refused(house, BringIn(amount=1, **BY_TWO))
    assert (refusal.reason, refusal.clause) == (Reason.BEYOND_GREATEST_SUM, "house:greatest-sum")
    assert str(2**53) in refusal.message


PRECEDENCE = [
    (but(PAID, by="eve", second=None, table="", amount=0), Reason.UNKNOWN_PERSON),
    (but(PAID, second=None, table="", amount=0), Reason.SECOND_PERSON),
    (but(PAID, table="", amount=0), Reason.OTHER_CONTENT),
    (but(PAID, transfer="t9", amount=0), Reason.RULED_OUT),
    (but(PAID, transfer="t9", table="T8", amount=0), Reason.BAD_VALUE),
    (but(PAID, transfer="t9", table="T8", amount=GREATEST_SUM + 1), Reason.TOO_MANY),
    (but(PAID, transfer="t9", table="T8", amount=GREATEST_SUM), Reason.TOO_MANY),
    (but(SENT, transfer="t6", ticket="nobody's"), Reason.OTHER_CONTENT),
]


@pytest.mark.parametrize(("command", "reason"), PRECEDENCE)
def test_of_several_reasons_the_lowest_rank_is_told(
    command: HouseCommand, reason: Reason, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cage, "MOST_TRANSFERS", 1)
    house = begun()
    done(house, PAID)
    assert refused(house, command).reason is reason


# A stream that cannot be


def test_an_event_that_cannot_follow_is_a_defect() -> None:
    house = begun()
    happened = done(house, *ONE_OF_EACH)
    by: dict[str, Any] = {"at": NOON, "by": "ann", "clause": Clause("house:cage")}
    impossible: list[Any] = [
        *(event for event in happened if hasattr(event, "transfer") or hasattr(event, "ticket")),
        *done(House(), OPENING),
        TicketRedeemed(ticket="nobody's", amount=1, **by),
        TableClosed(**by),
    ]
    assert len(impossible) == 12
    for event in impossible:
        with pytest.raises(StreamError):
            cage_state.evolve_house(house, event)
    with pytest.raises(StreamError, match="first"):
        cage_state.evolve_house(House(), CapitalBrought(amount=1, second="sue", **by))


def test_a_house_equals_only_a_house_of_the_same_events() -> None:
    house, other = begun(), begun()
    assert house == other
    assert house != "Lotus"
    done(other, ReceiveCredit(transfer="t", table="T7", amount=1, **BY_ANN))
    assert house != other
    assert repr(other) == "<House 'Lotus': 4 people, 0 tickets, 1 transfers>"
    with pytest.raises(TypeError, match="unhashable"):
        hash(house)

"""What may stand in a command of the House, how many of each, and which refusal comes first."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from taisai.cage import House
from taisai.cage import decide as cage
from taisai.cage import values as cage_values
from taisai.cage.messages import (
    BringIn,
    DismissPerson,
    EnrolPerson,
    HouseCommand,
    RedeemTicket,
    SendFill,
    SendTicket,
    TakeOut,
)
from taisai.game.messages import LATEST
from taisai.game.refusals import Reason
from taisai.rules.settlement import GREATEST_SUM
from tests.game.house_access import AT_THE_DOOR
from tests.game.houses import (
    ASKED,
    BEGINNING,
    BY_TWO,
    CASHED,
    ISSUED,
    NOON,
    OPENING,
    PAID,
    SENT,
    SOLD,
    begun,
    but,
    done,
    refused,
)

AMOUNTS = [
    (command, field)
    for command in ASKED.values()
    for field in command.__struct_fields__
    if field in {"amount", "declared", "counted"}
]
IDS = [
    (command, field)
    for command in ASKED.values()
    if type(command) not in {type(one) for one in AT_THE_DOOR}  # whose values have tests of their own
    for field in command.__struct_fields__
    if field in {"transfer", "table", "ticket", "seat", "claim", "person", "house", "currency", "id"}
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
        refused(begun(), BringIn(id="m", amount=10**5_000, **BY_TWO))


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
    for bad in (-1, LATEST + 1, 10**5_000, 1.0, True, None, "1"):
        assert refused(house, but(SOLD, at=bad)).reason is Reason.BAD_VALUE
    done(house, but(SOLD, at=LATEST), but(CASHED, at=LATEST))
    assert "9999-12-31T23:59:59.999Z" in refused(house, CASHED).message


@pytest.mark.parametrize(
    ("constant", "command", "more"),
    [
        ("MOST_TICKETS", SOLD, but(SOLD, ticket="k")),
        ("MOST_TICKETS", ISSUED, but(ISSUED, ticket="k", transfer="t")),
        ("MOST_MOVEMENTS", BEGINNING[-1], BringIn(id="m", amount=1, **BY_TWO)),
        ("MOST_MOVEMENTS", BEGINNING[-1], TakeOut(id="m", amount=1, **BY_TWO)),
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


def test_one_more_on_the_staff_list_than_the_most_is_refused() -> None:
    house = begun()
    enrol = EnrolPerson(at=NOON, by="owner", person="x", rank="cashier")
    done(house, *(but(enrol, person=str(one)) for one in range(cage.MOST_PEOPLE - len(house.people))))
    assert refused(house, enrol).reason is Reason.TOO_MANY
    done(house, but(enrol, person="bob", rank="supervisor", second="sue"))


def test_no_balance_exceeds_the_greatest_sum() -> None:
    house = begun()
    done(house, BringIn(id="m", amount=GREATEST_SUM - 10_000, **BY_TWO))
    refusal = refused(house, BringIn(id="n", amount=1, **BY_TWO))
    assert (refusal.reason, refusal.clause) == (Reason.BEYOND_GREATEST_SUM, "house:greatest-sum")
    assert str(2**53) in refusal.message


PRECEDENCE = [
    (but(PAID, by="eve", second=None, table="", amount=0), Reason.UNKNOWN_PERSON),
    (but(PAID, second=None, table="", amount=0), Reason.SECOND_PERSON),
    (but(PAID, table="", amount=0), Reason.DIFFERENT_CONTENT),
    (but(PAID, transfer="t9", amount=0), Reason.RULED_OUT),
    (but(PAID, transfer="t9", table="T8", amount=0), Reason.BAD_VALUE),
    (but(PAID, transfer="t9", table="T8", amount=GREATEST_SUM + 1), Reason.TOO_MANY),
    (but(PAID, transfer="t9", table="T8", amount=GREATEST_SUM), Reason.TOO_MANY),
    (but(SENT, transfer="t6", ticket="nobody's"), Reason.DIFFERENT_CONTENT),
]


@pytest.mark.parametrize(("command", "reason"), PRECEDENCE)
def test_of_several_reasons_the_lowest_rank_is_shown(
    command: HouseCommand, reason: Reason, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cage, "MOST_TRANSFERS", 1)
    house = begun()
    done(house, PAID)
    assert refused(house, command).reason is reason

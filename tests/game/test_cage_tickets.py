"""Tickets, transfers, claims and movements of money happen once, and a retry is harmless."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from taisai.cage import decide as cage
from taisai.cage import values as cage_values
from taisai.cage.messages import (
    CollectClaim,
    EnrolPerson,
    HouseCommand,
    PayClaim,
    SellTicket,
    SendFill,
    TakeOut,
)
from taisai.game.refusals import Reason
from tests.game.houses import (
    ASKED,
    BY_ANN,
    BY_TWO,
    CASHED,
    ISSUED,
    NOON,
    ONE_OF_EACH,
    PAID,
    SENT,
    SOLD,
    begun,
    but,
    done,
    name_of,
    refused,
    refused_for,
)


@pytest.mark.parametrize(
    ("redeemed", "how"),
    [
        (CASHED, "cashed at the cage by 'ann' at 2023-11-14T22:13:20.000Z"),
        (SENT, "put into seat '5' of table 'T7', session 3, under transfer 't2' by 'table' at 2023-11-14T22"),
    ],
)
@pytest.mark.parametrize("again", [CASHED, but(SENT, transfer="t9")])
def test_a_ticket_is_redeemed_once_and_it_is_shown_how(
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


@pytest.mark.parametrize("command", [ISSUED, SENT], ids=name_of)
def test_what_a_terminal_does_comes_from_its_table_alone(command: HouseCommand) -> None:
    house = begun()
    done(house, SOLD)
    someone: Any
    for someone in ("terminal-7", "ann", "max", "owner", "cage", "Table", "", []):
        refusal = refused(house, but(command, by=someone))
        assert (refusal.reason, refusal.clause) == (Reason.NOT_PERMITTED, "house:transfers")
    done(house, command)


def test_a_ticket_keeps_the_session_it_was_put_in() -> None:
    house = begun()
    done(house, SOLD)
    bad: Any
    for bad in (0, -1, cage_values.MOST_SESSIONS + 1, 10**5_000, 1.0, True, "1", None, []):
        assert refused(house, but(SENT, session=bad)).reason is Reason.BAD_VALUE
    done(house, but(SENT, session=cage_values.MOST_SESSIONS))
    redeemed = house.tickets["sold"].redeemed
    assert redeemed
    assert redeemed.session == house.transfers["t2"].session == cage_values.MOST_SESSIONS


MOVED = [command for kind, command in ASKED.items() if "transfer" in kind.__struct_fields__]
OWNERS = [command for kind, command in ASKED.items() if "id" in kind.__struct_fields__]


@pytest.mark.parametrize("command", [*MOVED, *OWNERS, SOLD], ids=name_of)
def test_a_retry_changes_nothing(command: HouseCommand) -> None:
    house = begun()
    done(house, *ONE_OF_EACH)
    before = deepcopy(house)
    assert done(house, command, but(command, at=NOON + 1)) == ()
    assert house == before


OTHER: dict[str, Any] = {
    "table": "T8", "amount": 1, "declared": 1, "counted": 1, "ticket": "other", "seat": "6", "claim": "c9",
    "session": 4,
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
    assert (refusal.reason, refusal.clause) == (Reason.DIFFERENT_CONTENT, "house:transfers")


def movements_twice() -> list[str]:
    """Movements of the owners' money that happened under a known id."""
    house = begun()
    done(house, *ONE_OF_EACH)
    came, left = OWNERS
    others = [but(left, id="m1"), but(came, id="m3", amount=2_000), but(left, id="m2", amount=50)]
    for command in OWNERS:
        others += [but(command, amount=1), but(command, by="bob"), but(command, second="max")]
    done(house, EnrolPerson(at=NOON, by="max", person="bob", rank="cashier"))
    return [f"{one}" for one in others if refused_for(house, one) is not Reason.DIFFERENT_CONTENT]


def test_a_known_movement_with_other_content_is_refused() -> None:
    assert [name_of(command) for command in OWNERS] == ["BringIn", "TakeOut"]
    assert movements_twice() == []
    refusal = refused(begun(), TakeOut(id="m1", amount=10_000, **BY_TWO))
    assert refusal.clause == "house:cage"
    assert "the id 'm1' belongs to another movement: 10000 brought in by 'ann' and 'sue'" in refusal.message


def test_sabotage_a_movement_forgotten_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cage, "movement_of", lambda _: None)
    assert len(movements_twice()) == 9


def test_a_transfer_of_one_kind_is_none_of_another() -> None:
    house = begun()
    done(house, SendFill(transfer="t", table="T7", amount=70, **BY_TWO))
    assert refused(house, but(PAID, transfer="t")).reason is Reason.DIFFERENT_CONTENT


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
    assert (refusal.reason, refusal.clause) == (Reason.DIFFERENT_CONTENT, "house:tickets")


@pytest.mark.parametrize("kind", [PayClaim, CollectClaim])
def test_a_claim_is_settled_once(kind: type[PayClaim]) -> None:
    house = begun()
    done(house, PAID)
    again = kind(transfer="t9", table="T7", claim="c1", amount=70, **BY_TWO)
    refusal = refused(house, again)
    assert (refusal.reason, refusal.clause) == (Reason.RULED_OUT, "house:claims")
    done(house, but(again, table="T8"))

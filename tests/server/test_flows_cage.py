"""What the cage does for tables: tickets, fills, credits, drop boxes, claims; each once, with its people."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.cage.messages import RedeemTicket, SendTicket
from taisai.game.commands import (
    Assign,
    Leave,
    LeaveSeat,
    PlaceBets,
    ReceiveFill,
    ReceiveTicket,
    ReportIrregularity,
    SettleClaim,
    Slip,
)
from taisai.game.money.ledger import Account
from taisai.game.play import decide
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import CAGE, TABLE, ClaimEnd
from taisai.game.vocabulary import HOUSE as BY_THE_HOUSE
from taisai.protocol.requests import (
    CountDropRequest,
    FillRequest,
    SellTicketRequest,
    SettleClaimRequest,
    TakeCreditRequest,
    TakeDropRequest,
    TicketOutRequest,
)
from taisai.rules import Irregularity
from taisai.server.handlers import cage, tickets
from tests.server.inline import CONCLUDED, IN_THE_CAGE, InlineFloor, a_floor, perform, person, terminal, told


def tray(floor: InlineFloor) -> int:
    return floor.table().ledger.balances[Account.CHIPS]


def cash(floor: InlineFloor) -> int:
    return floor.house.ledger.balances[Account.CAGE]


# Tickets for cash


def sell(floor: InlineFloor, ask: str = "1", amount: int = 500, by: str = "cat") -> Any:
    return told(cage.sell_ticket(floor, person(by), SellTicketRequest(id=ask, amount=amount)))


def test_a_ticket_is_sold_once_however_often_it_is_asked_for() -> None:
    floor = a_floor()
    first = sell(floor)
    floor.restart()
    again = sell(floor)
    assert (first.ticket, first.again, again.ticket, again.again) == (first.ticket, False, first.ticket, True)
    assert (floor.house.outstanding, cash(floor)) == (500, IN_THE_CAGE + 500)


def test_another_ask_and_another_cashier_sell_another_ticket() -> None:
    floor = a_floor()
    assert len({sell(floor).ticket, sell(floor, "2").ticket, sell(floor, by="cid").ticket}) == 3
    assert floor.house.outstanding == 1_500


def test_an_ask_with_another_amount_or_an_hour_later_is_no_retry() -> None:
    floor = a_floor()
    sell(floor)
    assert sell(floor, amount=600).reason == "different-content"
    floor.clock.pass_(tickets.RETRIED_WITHIN)
    assert sell(floor).reason == "different-content"
    assert floor.house.outstanding == 500


# The tray


def fill(floor: InlineFloor, amount: int = 20_000, ask: str = "f1", approval: str | None = "yes") -> Any:
    asked = FillRequest(id=ask, table="T1", amount=amount, approval=approval)
    return told(cage.fill(floor, person("cat"), asked))


def test_a_fill_leaves_the_cage_and_arrives_in_the_tray() -> None:
    floor = a_floor()
    done = fill(floor)
    assert (done.amount, done.again) == (20_000, False)
    assert (tray(floor), cash(floor), floor.faults()) == (20_000, IN_THE_CAGE - 20_000, [])
    again = fill(floor, approval=None)  # whose approval is spent
    assert (again.transfer, again.again, tray(floor)) == (done.transfer, True, 20_000)


@pytest.mark.parametrize(
    ("agrees", "approval", "reason"),
    [
        ("sue", None, "second-person"),
        ("sue", "bad", "second-person"),
        ("dan", "yes", "second-person"),  # too low
        ("mia", "yes", "second-person"),  # nobody at the table
        ("cat", "yes", "second-person"),  # the same
    ],
)
def test_a_fill_takes_a_second_person_who_is_at_the_table(
    agrees: str, approval: str | None, reason: str
) -> None:
    floor = a_floor()
    floor.agrees = agrees
    assert fill(floor, approval=approval).reason == reason
    assert (tray(floor), cash(floor), floor.faults()) == (0, IN_THE_CAGE, [])


def test_nothing_leaves_for_a_table_whose_second_person_has_left_it() -> None:
    floor = a_floor()
    floor.agrees = "pat"
    floor.do(Leave(**floor.by("pat"), person="pat"))
    assert fill(floor).reason == "second-person"
    assert cash(floor) == IN_THE_CAGE


def test_a_cage_without_the_chips_and_a_table_that_is_not_refuse() -> None:
    floor = a_floor()
    assert fill(floor, IN_THE_CAGE + 1).reason == "float-short"
    asked = FillRequest(id="f", table="T9", amount=1, approval="yes")
    assert told(cage.fill(floor, person("cat"), asked)).reason == "table-not-open"
    assert floor.faults() == []


def test_the_cages_side_brings_a_fill_only_with_someone_of_rank_at_the_table() -> None:
    table = a_floor().table()
    for second in (None, "dan", "cat", CAGE, "Cage"):
        brought = ReceiveFill(at=1, by=CAGE, transfer="t", amount=1, second=second)
        answer = decide(table, brought)
        assert isinstance(answer, Refusal)
        assert answer.reason == "second-person"


def take_credit(floor: InlineFloor, amount: int = 5_000, *, by: str = "dan", **fields: Any) -> Any:
    given: dict[str, Any] = {"id": "k1", "table": "T1", "amount": amount, "approval": "yes"}
    return told(cage.take_credit(floor, person(by), TakeCreditRequest(**given | fields)))


def test_a_credit_leaves_the_tray_and_arrives_at_the_cage() -> None:
    floor = a_floor()
    fill(floor)
    done = take_credit(floor)
    assert (done.amount, tray(floor), cash(floor)) == (5_000, 15_000, IN_THE_CAGE - 15_000)
    again = take_credit(floor, approval=None)
    assert (again.transfer, again.again, tray(floor), floor.faults()) == (done.transfer, True, 15_000, [])
    assert take_credit(floor, 6_000).reason == "different-content"


def test_a_credit_needs_people_at_the_table_and_chips_in_the_tray() -> None:
    floor = a_floor()
    fill(floor)
    assert take_credit(floor, approval=None).reason == "second-person"
    assert take_credit(floor, approval="bad").reason == "second-person"
    assert take_credit(floor, 20_001).reason == "float-short"
    assert take_credit(floor, by="cat").reason == "unknown-person"
    assert take_credit(floor, table="T9").reason == "table-not-open"
    assert floor.faults() == []


def test_nobody_off_the_roll_sends_a_credit() -> None:
    floor = a_floor()
    fill(floor)
    floor.do(Assign(**floor.by(BY_THE_HOUSE), person="zoe", rank="pit-manager", position="pit-manager"))
    stranger = person("sue")._replace(name="zoe")
    asked = TakeCreditRequest(id="k", table="T1", amount=1, approval="yes")
    assert told(cage.take_credit(floor, stranger, asked)).reason == "unknown-person"
    assert (tray(floor), floor.faults()) == (20_000, [])


# The drop box


def take_drop(floor: InlineFloor, **fields: Any) -> Any:
    asked = TakeDropRequest(**{"id": "d1", "table": "T1", "approval": "yes"} | fields)
    return told(cage.take_drop(floor, person("pat"), asked))


def count(floor: InlineFloor, transfer: str, counted: int, **fields: Any) -> Any:
    given: dict[str, Any] = {
        "id": "c1",
        "table": "T1",
        "transfer": transfer,
        "counted": counted,
        "approval": "yes",
    }
    return told(cage.count_drop(floor, person("cat"), CountDropRequest(**given | fields)))


def test_a_drop_box_leaves_whole_and_is_counted_against_what_the_table_booked() -> None:
    floor = a_floor()
    gone = take_drop(floor)
    assert (gone.amount, gone.again) == (50_000, False)
    assert take_drop(floor, approval=None) == gone.__class__(
        to="d1", amount=50_000, transfer=gone.transfer, again=True
    )
    assert len(floor.faults()) == 2  # on its way
    done = count(floor, gone.transfer, 49_900)
    assert (done.amount, done.again, floor.faults()) == (49_900, False, [])
    assert floor.house.ledger.balances[Account.COUNT_SHORT] == 100
    assert count(floor, gone.transfer, 49_900, approval=None).again
    assert count(floor, gone.transfer, 50_000).reason == "different-content"
    assert cash(floor) == IN_THE_CAGE + 49_900


def test_a_drop_box_takes_two_and_something_in_it() -> None:
    floor = a_floor()
    assert take_drop(floor, approval=None).reason == "second-person"
    assert take_drop(floor, approval="bad").reason == "second-person"
    gone = take_drop(floor)
    assert take_drop(floor, id="d2").reason == "credits-short"
    assert count(floor, gone.transfer, 1, approval=None).reason == "second-person"
    assert count(floor, gone.transfer, 1, approval="bad").reason == "second-person"
    assert count(floor, "no box", 1).reason == "bad-value"
    assert count(floor, gone.transfer, 1, table="T9").reason == "table-not-open"


# Claims


def with_claim_of_player(floor: InlineFloor) -> str:
    """The value of a ticket that reached a seat after its player had left."""
    ticket = sell(floor, "for a claim", 700).ticket
    asked = cage_sent(floor, ticket)
    floor.do(LeaveSeat(**floor.by("D7"), seat="7"))
    floor.do(ReceiveTicket(**floor.by(CAGE), transfer=asked, seat="7", amount=700, session=1))
    return next(iter(floor.table().claims))


def cage_sent(floor: InlineFloor, ticket: str) -> str:
    sent: dict[str, Any] = {"ticket": ticket, "transfer": "late", "table": "T1", "seat": "7", "session": 1}
    floor.do(SendTicket(**floor.by(TABLE), **sent))
    return "late"


def with_claim_on_player(floor: InlineFloor) -> str:
    """A round was void after its winner had gone with a ticket."""
    perform(floor, "open-bets")
    floor.do(PlaceBets(**floor.by("D7"), round=1, seat="7", bets=(Slip("a", "small", 1_000),)))
    perform(floor, *CONCLUDED)
    out = told(tickets.ticket_out(floor, terminal(), TicketOutRequest(id="o", table="T1", seat="7")))
    assert out.amount == 51_000
    floor.do(RedeemTicket(**floor.by("cat"), ticket=out.ticket))
    damaged = Irregularity("die-damaged")
    floor.do(ReportIrregularity(**floor.by("dan"), event=damaged, round=1, through=1, second="pat"))
    return next(iter(floor.table().claims))


def settle(floor: InlineFloor, claim: str, *, by: str = "cat", **fields: Any) -> Any:
    asked = SettleClaimRequest(**{"id": "s1", "table": "T1", "claim": claim, "approval": "yes"} | fields)
    return told(cage.settle_claim(floor, person(by), asked))


@pytest.mark.parametrize(
    ("claimed", "credits", "amount", "change"),
    [(with_claim_of_player, 0, 700, -700), (with_claim_on_player, 50_000, 1_000, 1_000)],
)
def test_a_claim_is_settled_by_the_cage_once(claimed: Any, credits: int, amount: int, change: int) -> None:  # noqa: A002
    floor = a_floor(credits=credits)
    claim = claimed(floor)
    before = cash(floor)
    done = settle(floor, claim)
    assert (done.amount, done.again, cash(floor) - before) == (amount, False, change)
    assert (floor.table().claims, floor.faults()) == ({}, [])
    assert settle(floor, claim, approval=None).again
    assert settle(floor, claim, by="cid").reason == "bad-value"
    assert cash(floor) - before == change


@pytest.mark.parametrize("agrees", [None, "pat", "dan", "mia", "cat"])
def test_a_claim_takes_the_shift_manager_at_the_table(agrees: str | None) -> None:
    floor = a_floor(credits=0)
    claim, before = with_claim_of_player(floor), cash(floor)
    floor.agrees = agrees
    assert settle(floor, claim).reason == "second-person"
    assert (cash(floor), floor.faults()) == (before, [])


def test_a_claim_that_is_not_open_is_refused() -> None:
    floor = a_floor()
    assert settle(floor, "c1").reason == "bad-value"
    assert settle(floor, "c1", table="T9").reason == "table-not-open"
    claim = with_claim_of_player(a := a_floor(credits=0))
    assert settle(a, claim, approval="bad").reason == "second-person"


def test_the_cages_side_ends_a_claim_in_no_other_way() -> None:
    floor = a_floor(credits=0)
    claim = with_claim_of_player(floor)
    for how in (ClaimEnd.TABLE, ClaimEnd.WAIVE):
        asked = SettleClaim(at=1, by=CAGE, claim=claim, how=how, reason="why", second="sue")
        answer = decide(floor.table(), asked)
        assert isinstance(answer, Refusal)
        assert answer.reason == "unknown-person"

"""A ticket that is cashed: once, and what to pay is told as often as the same cashier asks again."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.cage import decide
from taisai.cage.messages import RedeemTicket, TicketRedeemed
from taisai.game.money.ledger import Account
from taisai.protocol.requests import SellTicketRequest
from taisai.server.handlers import cage, tickets
from tests.server.inline import IN_THE_CAGE, InlineFloor, a_floor, person, told


def sold(floor: InlineFloor) -> str:
    return str(told(cage.sell_ticket(floor, person("cat"), SellTicketRequest(id="s", amount=500))).ticket)


def redeem(floor: InlineFloor, ticket: str, ask: str = "r1", by: str = "cat") -> Any:
    return told(cage.redeem(floor, RedeemTicket(**floor.by(by), ticket=ticket), ask))


def cash(floor: InlineFloor) -> int:
    return floor.house.ledger.balances[Account.CAGE]


def test_an_answer_that_got_lost_is_told_again_and_paid_once() -> None:
    floor = a_floor()
    ticket = sold(floor)
    first = redeem(floor, ticket)
    floor.restart()
    again = redeem(floor, ticket)
    assert (first.ticket, first.amount, first.again) == (ticket, 500, False)
    assert (again.ticket, again.amount, again.again) == (ticket, 500, True)
    assert (floor.house.outstanding, cash(floor)) == (0, IN_THE_CAGE)


def test_another_ask_another_cashier_and_an_hour_later_are_a_second_customer() -> None:
    floor = a_floor()
    ticket = sold(floor)
    redeem(floor, ticket)
    assert redeem(floor, ticket, "r2").reason == "ruled-out"
    assert redeem(floor, ticket, by="cid").reason == "ruled-out"
    floor.clock.pass_(tickets.RETRIED_WITHIN)
    assert redeem(floor, ticket).reason == "different-content"
    assert cash(floor) == IN_THE_CAGE


def test_sabotage_a_floor_that_forgets_the_ask_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    drafted = decide._draft

    def forgetful(*given: Any) -> Any:
        event = drafted(*given)
        return TicketRedeemed(
            at=event.at, by=event.by, clause=event.clause, ticket=event.ticket, amount=event.amount
        ) if isinstance(event, TicketRedeemed) else event  # fmt: skip

    monkeypatch.setattr(decide, "_draft", forgetful)
    with pytest.raises(AttributeError):
        test_an_answer_that_got_lost_is_told_again_and_paid_once()

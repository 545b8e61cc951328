"""A ticket that is cashed: once, and what to pay is told as often as the same cashier asks again."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.cage import decide
from taisai.cage.messages import RedeemTicket, TicketRedeemed
from taisai.game.money.ledger import Account
from taisai.protocol.requests import SellTicketRequest
from taisai.server.handlers import cage, tickets
from tests.server.inline_server import IN_THE_CAGE, InlineServer, inline_server, person, told


def sold(server: InlineServer) -> str:
    return str(told(cage.sell_ticket(server, person("cat"), SellTicketRequest(id="s", amount=500))).ticket)


def redeem(server: InlineServer, ticket: str, ask: str = "r1", by: str = "cat") -> Any:
    return told(cage.redeem(server, RedeemTicket(**server.by(by), ticket=ticket), ask))


def cash(server: InlineServer) -> int:
    return server.house.ledger.balances[Account.CAGE]


def test_an_answer_that_got_lost_is_shown_again_and_paid_once() -> None:
    server = inline_server()
    ticket = sold(server)
    first = redeem(server, ticket)
    server.restart()
    again = redeem(server, ticket)
    assert (first.ticket, first.amount, first.again) == (ticket, 500, False)
    assert (again.ticket, again.amount, again.again) == (ticket, 500, True)
    assert (server.house.outstanding, cash(server)) == (0, IN_THE_CAGE)


def test_another_ask_another_cashier_and_an_hour_later_are_a_second_customer() -> None:
    server = inline_server()
    ticket = sold(server)
    redeem(server, ticket)
    assert redeem(server, ticket, "r2").reason == "ruled-out"
    assert redeem(server, ticket, by="cid").reason == "ruled-out"
    server.hand_clock.pass_(tickets.RETRIED_WITHIN)
    assert redeem(server, ticket).reason == "different-content"
    assert cash(server) == IN_THE_CAGE


def test_sabotage_a_server_that_forgets_the_ask_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    drafted = decide._draft

    def forgetful(*given: Any) -> Any:
        event = drafted(*given)
        return TicketRedeemed(
            at=event.at, by=event.by, clause=event.clause, ticket=event.ticket, amount=event.amount
        ) if isinstance(event, TicketRedeemed) else event  # fmt: skip

    monkeypatch.setattr(decide, "_draft", forgetful)
    with pytest.raises(AttributeError):
        test_an_answer_that_got_lost_is_shown_again_and_paid_once()

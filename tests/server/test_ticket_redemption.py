"""A ticket that is cashed: once, and what to pay is told as often as the same cashier asks again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from taisai.cage import AmountLimits, decide
from taisai.cage.messages import AmountsLimited, LimitAmounts, RedeemTicket, TicketRedeemed
from taisai.game.money.ledger import Account
from taisai.game.vocabulary import FLOOR
from taisai.protocol.commands import command
from taisai.protocol.requests import DoRequest, SellTicketRequest
from taisai.server.handlers import cage, transfers
from taisai.server.handlers.commands import do
from tests.server.inline_server import IN_THE_CAGE, InlineServer, inline_server, person, told
from tests.server.virtual_house import SEAT, TABLE, Attended, attended


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
    server.hand_clock.pass_(transfers.RETRIED_WITHIN)
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


# Above the amounts for one person


def limited() -> InlineServer:
    server = inline_server()
    server.do(LimitAmounts(**server.by(FLOOR), sale=1_000, redemption=500, fill=2_000))
    return server


def sell(server: InlineServer, amount: int, *, ask: str = "s", approval: str | None = None) -> Any:
    asked = SellTicketRequest(id=ask, amount=amount, approval=approval)
    return told(cage.sell_ticket(server, person("cat"), asked))


def test_a_sale_above_the_amount_for_one_takes_an_approval_and_a_retry_takes_none() -> None:
    server = limited()
    assert sell(server, 1_001).reason == "second-person"
    assert sell(server, 1_001, approval="bad").reason == "second-person"
    server.agrees = "cid"  # a cashier
    assert sell(server, 1_001, approval="yes").reason == "second-person"
    server.agrees = "sue"
    done = sell(server, 1_001, approval="yes")
    again = sell(server, 1_001, approval="bad")  # which is used
    assert (done.ticket, done.amount, again.ticket, again.again) == (again.ticket, 1_001, done.ticket, True)
    assert server.house.outstanding == 1_001


def test_a_redemption_above_the_amount_for_one_takes_an_approval_and_a_retry_takes_none() -> None:
    server = limited()
    ticket = str(sell(server, 501).ticket)

    def cashed(approval: str | None) -> Any:
        sent = command("redeem-ticket", ticket=ticket)
        return told(do(server, person("cat"), DoRequest(id="r", do=sent, approval=approval)))

    assert cashed(None).reason == "second-person"
    done, again = cashed("yes"), cashed("bad")
    assert (done.amount, done.again, again.amount, again.again) == (501, False, 501, True)
    assert server.house.outstanding == 0


def test_the_limits_of_the_plan_are_in_the_journal_at_the_start_and_decide_at_tables_too() -> None:
    async def played(house: Attended) -> None:
        house.plan = replace(house.plan, amounts=AmountLimits(1_000, 500, 2_000))
        await house.start()
        assert house.house.amounts == house.plan.amounts
        await house.crash_and_come_back()
        assert len(house.events(AmountsLimited)) == 1
        line = await house.signed_in(house.crew.head)
        buy = {"command": "buy-credits", "seat": SEAT, "amount": 1_001}
        reply = await line.answer("do", table=TABLE, do=buy)
        assert (reply["type"], reply["reason"], reply["clause"]) == (
            "refused", "second-person", "house:amounts",
        )  # fmt: skip

    attended(played, started=False)

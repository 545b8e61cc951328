"""Tickets in and out of terminals: once, whatever is asked twice, cut short, or asked by many at a time."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from taisai.cage.messages import RedeemTicket
from taisai.game.commands import LeaveSeat, PlaceBets, Slip
from taisai.game.money.cashier import MOST_DISPENSED
from taisai.game.money.ledger import Account
from taisai.game.refusals import Refusal
from taisai.journal.codec import HOUSE_STREAM
from taisai.protocol.replies import DoneReply, RefusedReply
from taisai.protocol.requests import SellTicketRequest, TicketInRequest, TicketOutRequest, TicketsRequest
from taisai.rules import Act
from taisai.server.handlers import tickets as money
from taisai.server.handlers import transfers
from taisai.server.handlers.cage import sell_ticket
from taisai.server.handlers.transfers import SIGNS, as_printed, ticket_number
from tests.server.inline_server import InlineServer, inline_server, perform, person, sit, terminal, told

# Numbers


def test_a_number_cannot_be_guessed_and_is_made_again_by_anyone_who_has_the_key() -> None:
    made = {ticket_number(bytes(32), "sold", "cat", str(one)) for one in range(2_000)}
    assert len(made) == 2_000
    assert {len(one) for one in made} == {33}
    assert {sign for one in made for sign in one} == set(SIGNS) | {"-"}
    assert ticket_number(bytes(32), "sold", "cat", "1") in made
    assert ticket_number(b"\x01" * 32, "sold", "cat", "1") not in made
    assert ticket_number(bytes(32), "sold", "ca", "t1") != ticket_number(bytes(32), "sold", "cat", "1")


def test_a_number_is_known_however_it_is_typed() -> None:
    printed = next(
        one for n in range(1_000) if {"0", "1"} <= set(one := ticket_number(bytes(32), "issued", str(n)))
    )
    typed = printed.replace("-", " ").lower().replace("0", "o").replace("1", "l")
    assert as_printed(typed) == printed == as_printed(printed)
    assert as_printed("no number of ours") == "no number of ours"


def test_one_wrong_sign_never_makes_another_number() -> None:
    printed = ticket_number(bytes(32), "issued", "t")
    for place, right in enumerate(printed):
        for sign in SIGNS if right != "-" else "":
            wrong = printed[:place] + sign.lower() + printed[place + 1 :]
            assert as_printed(wrong) == (printed if sign == right else wrong)


# In


def sold(server: InlineServer, amount: int = 30_000, ask: str = "sale-1", by: str = "cat") -> str:
    done = told(sell_ticket(server, person(by), SellTicketRequest(id=ask, amount=amount)))
    assert isinstance(done, DoneReply)
    assert done.ticket is not None
    return done.ticket


def put_in(server: InlineServer, ticket: str, seat: str = "7", ask: str = "in-1") -> Any:
    asked = TicketInRequest(id=ask, table="T1", seat=seat, ticket=ticket)
    return told(money.ticket_in(server, terminal(seat), asked))


def test_a_ticket_becomes_credits_once() -> None:
    server = inline_server("7", "8")
    ticket = sold(server)
    first = put_in(server, ticket.lower())
    assert (first.amount, first.again, server.credits()) == (30_000, False, 80_000)
    for again in (put_in(server, ticket), put_in(server, ticket, ask="in-2")):
        assert again == DoneReply(
            to=again.to, amount=30_000, transfer=first.transfer, again=True
        )  # whatever the ask is called
    elsewhere = put_in(server, ticket, "8")
    assert (elsewhere.reason, elsewhere.clause) == ("ruled-out", "house:tickets")
    assert "put into seat '7'" in elsewhere.message
    assert (server.credits("7"), server.credits("8"), server.faults()) == (80_000, 50_000, [])


def test_the_next_player_of_the_seat_gets_nothing_for_a_ticket_that_is_spent() -> None:
    server = inline_server("7", credits=0)
    ticket = sold(server)
    put_in(server, ticket)
    told(money.ticket_out(server, terminal(), TicketOutRequest(id="out-1", table="T1", seat="7")))
    server.do(LeaveSeat(**server.by("D7"), seat="7"))
    sit(server, "7", 0)
    assert put_in(server, ticket).reason == "ruled-out"
    assert server.credits() == 0


@pytest.mark.parametrize(
    ("seat", "ticket", "reason"),
    [
        ("7", "ABCD-0000-0000-0000-0000", "bad-value"),
        ("9", "sold", "unknown-seat"),
    ],
)
def test_what_cannot_go_in_is_refused_and_the_ticket_is_good(seat: str, ticket: str, reason: str) -> None:
    server = inline_server()
    number = sold(server)
    refused = put_in(server, number if ticket == "sold" else ticket, seat)
    assert refused.reason == reason
    assert server.house.outstanding == 30_000


def test_a_table_that_never_opened_refuses() -> None:
    server = inline_server()
    asked = TicketInRequest(id="1", table="T9", seat="7", ticket=sold(server))
    assert told(money.ticket_in(server, terminal(), asked)).reason == "table-not-open"
    out = TicketOutRequest(id="1", table="T9", seat="7")
    assert told(money.ticket_out(server, terminal(), out)).reason == "table-not-open"


def test_of_two_hundred_who_redeem_one_ticket_one_is_paid() -> None:
    for seed in range(3):
        redeemed_by_many(seed)


def redeemed_by_many(seed: int) -> None:
    """Half of them at the cage, half at ten terminals; who comes first is chance."""
    seats = [str(seat) for seat in range(1, 11)]
    server = inline_server(*seats, credits=0)
    ticket, other = sold(server), sold(server, 90_000, "sale-2")
    before = cash_of(server)

    async def all_at_once() -> list[Any]:
        asked: list[Any] = [
            server.queue.execute(
                HOUSE_STREAM, RedeemTicket(at=server.clock.now(), by=by, ticket=server.id_of(ticket))
            )
            for by in ("cat", "cid") * 50
        ]
        for number in range(100):
            seat = seats[number % 10]
            ask = TicketInRequest(id=f"in-{number}", table="T1", seat=seat, ticket=ticket)
            asked.append(money.ticket_in(server, terminal(seat), ask))
        Random(seed).shuffle(asked)
        return await asyncio.gather(*asked)

    answers = asyncio.run(all_at_once())
    paid = [one for one in answers if one and not isinstance(one, Refusal | RefusedReply)]
    first = [one for one in paid if not isinstance(one, DoneReply) or not one.again]
    assert len(first) == 1
    assert len(answers) == 200
    credited = sum(server.credits(seat) for seat in seats)
    redeemed = server.house.tickets[server.id_of(ticket)].redeemed
    assert redeemed is not None
    assert (credited, before - cash_of(server)) == ((30_000, 0) if redeemed.transfer else (0, 30_000))
    assert (
        server.house.outstanding,
        server.house.tickets[server.id_of(other)].redeemed,
        server.faults(),
    ) == (
        90_000,
        None,
        [],
    )


def cash_of(server: InlineServer) -> int:
    return server.house.ledger.balances[Account.CAGE]


# Out


def take_out(server: InlineServer, ask: str = "out-1", seat: str = "7") -> Any:
    return told(money.ticket_out(server, terminal(seat), TicketOutRequest(id=ask, table="T1", seat=seat)))


def test_all_credits_become_a_ticket_and_the_same_ask_tells_the_same_one() -> None:
    server = inline_server()
    first = take_out(server)
    assert (first.amount, first.again, server.credits()) == (50_000, False, 0)
    assert as_printed(first.ticket.lower()) == first.ticket
    again = take_out(server)
    assert (again.ticket, again.amount, again.transfer) == (first.ticket, first.amount, first.transfer)
    assert again.again
    assert (len(server.house.tickets), server.house.outstanding, server.faults()) == (1, 50_000, [])


def test_a_retry_tells_the_same_ticket_also_when_more_has_been_won_or_the_player_is_gone() -> None:
    server = inline_server()
    first = take_out(server)
    put_in(server, sold(server))
    assert take_out(server).ticket == first.ticket
    assert server.credits() == 30_000
    second = take_out(server, "out-2")
    assert (second.amount, second.ticket == first.ticket) == (30_000, False)
    server.do(LeaveSeat(**server.by("D7"), seat="7"))
    assert take_out(server).ticket == first.ticket
    assert server.faults() == []


def listed(server: InlineServer, seat: str = "7") -> list[tuple[str, int]]:
    told_ = told(money.tickets(server, terminal(seat), TicketsRequest(id="t", table="T1", seat=seat)))
    assert told_.house == server.house.name
    return [(one.ticket, one.amount) for one in told_.tickets]


def test_a_seat_is_shown_its_tickets_again_until_they_are_redeemed() -> None:
    server = inline_server()
    assert listed(server) == []
    first = take_out(server)
    put_in(server, sold(server))
    second = take_out(server, "out-2")
    server.restart()
    assert listed(server) == [(second.ticket, 30_000), (first.ticket, 50_000)]
    put_in(server, second.ticket)
    assert listed(server) == [(first.ticket, 50_000)]
    assert listed(server, "8") == []


def test_a_ticket_is_shown_to_nobody_who_sits_down_after_its_player() -> None:
    server = inline_server()
    first = take_out(server)
    server.do(LeaveSeat(**server.by("D7"), seat="7"))
    assert listed(server) == []
    sit(server, "7", 0)
    put_in(server, sold(server))
    assert listed(server) == []
    second = take_out(server, "out-2")
    assert listed(server) == [(second.ticket, 30_000)]
    assert first.ticket != second.ticket


def test_no_more_tickets_are_remembered_than_a_player_can_hold() -> None:
    server = inline_server()
    for number in range(MOST_DISPENSED + 1):
        if number:
            put_in(server, sold(server, ask=f"sale-{number}"))
        take_out(server, f"out-{number}")
    assert len(listed(server)) == MOST_DISPENSED


def test_an_id_that_comes_back_late_is_not_told_an_old_ticket() -> None:
    server = inline_server()
    first = take_out(server)
    server.hand_clock.pass_(transfers.RETRIED_WITHIN - 10_000)
    assert take_out(server).ticket == first.ticket
    server.hand_clock.pass_(10_000)
    late = take_out(server)
    assert (late.reason, first.ticket in late.message) == ("different-content", False)


def test_an_empty_terminal_gets_the_games_own_refusal() -> None:
    refused = take_out(inline_server(credits=0))
    assert (refused.reason, refused.clause) == ("credits-short", "house:credits")


def test_bets_that_lie_stay_and_only_what_is_free_goes_out() -> None:
    server = inline_server()
    perform(server, Act.OPEN_BETS)
    server.do(PlaceBets(**server.by("D7"), round=1, seat="7", bets=(Slip("a", "small", 1_000),)))
    assert take_out(server).amount == 49_000


def test_where_the_house_has_no_room_for_a_ticket_credits_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    server = inline_server()
    monkeypatch.setattr("taisai.cage.decide.MOST_TICKETS", 0)
    assert take_out(server).reason == "too-many"
    assert (server.credits(), server.faults()) == (50_000, [])


def test_the_key_of_numbers_is_made_once_and_kept() -> None:
    server = inline_server()
    first = take_out(server)
    key = server.store.secret(transfers.KEY)
    server.restart()
    assert take_out(server).ticket == first.ticket
    assert server.store.secret(transfers.KEY) == key
    with pytest.raises(ValueError, match="expected 32 random bytes"):
        transfers.tickets_key(inline_server().engine, b"short")

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
from taisai.journal.codec import HOUSE
from taisai.protocol.replies import DoneReply, RefusedReply
from taisai.protocol.requests import SellTicketRequest, TicketInRequest, TicketOutRequest, TicketsRequest
from taisai.rules import Act
from taisai.server.handlers import ticket_numbers
from taisai.server.handlers import tickets as money
from taisai.server.handlers.cage import sell_ticket
from taisai.server.handlers.ticket_numbers import SIGNS, as_printed, ticket_number
from tests.server.inline import InlineFloor, a_floor, perform, person, sit, terminal, told

# Numbers


def test_a_number_cannot_be_guessed_and_is_made_again_by_whoever_has_the_key() -> None:
    made = {ticket_number(bytes(32), "sold", "cat", str(one)) for one in range(2_000)}
    assert len(made) == 2_000
    assert {len(one) for one in made} == {24}
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


def sold(floor: InlineFloor, amount: int = 30_000, ask: str = "sale-1", by: str = "cat") -> str:
    done = told(sell_ticket(floor, person(by), SellTicketRequest(id=ask, amount=amount)))
    assert isinstance(done, DoneReply)
    assert done.ticket is not None
    return done.ticket


def put_in(floor: InlineFloor, ticket: str, seat: str = "7", ask: str = "in-1") -> Any:
    asked = TicketInRequest(id=ask, table="T1", seat=seat, ticket=ticket)
    return told(money.ticket_in(floor, terminal(seat), asked))


def test_a_ticket_becomes_credits_once() -> None:
    floor = a_floor("7", "8")
    ticket = sold(floor)
    first = put_in(floor, ticket.lower())
    assert (first.amount, first.again, floor.credits()) == (30_000, False, 80_000)
    for again in (put_in(floor, ticket), put_in(floor, ticket, ask="in-2")):
        assert again == DoneReply(
            to=again.to, amount=30_000, transfer=first.transfer, again=True
        )  # whatever the ask is called
    elsewhere = put_in(floor, ticket, "8")
    assert (elsewhere.reason, elsewhere.clause) == ("ruled-out", "house:tickets")
    assert "put into seat '7'" in elsewhere.message
    assert (floor.credits("7"), floor.credits("8"), floor.faults()) == (80_000, 50_000, [])


def test_the_next_player_of_the_seat_gets_nothing_for_a_ticket_that_is_spent() -> None:
    floor = a_floor("7", credits=0)
    ticket = sold(floor)
    put_in(floor, ticket)
    told(money.ticket_out(floor, terminal(), TicketOutRequest(id="out-1", table="T1", seat="7")))
    floor.do(LeaveSeat(**floor.by("D7"), seat="7"))
    sit(floor, "7", 0)
    assert put_in(floor, ticket).reason == "ruled-out"
    assert floor.credits() == 0


@pytest.mark.parametrize(
    ("seat", "ticket", "reason"),
    [
        ("7", "ABCD-0000-0000-0000-0000", "bad-value"),
        ("9", "sold", "unknown-seat"),
    ],
)
def test_what_cannot_go_in_is_refused_and_the_ticket_is_good(seat: str, ticket: str, reason: str) -> None:
    floor = a_floor()
    number = sold(floor)
    refused = put_in(floor, number if ticket == "sold" else ticket, seat)
    assert refused.reason == reason
    assert floor.house.outstanding == 30_000


def test_a_table_that_never_opened_refuses() -> None:
    floor = a_floor()
    asked = TicketInRequest(id="1", table="T9", seat="7", ticket=sold(floor))
    assert told(money.ticket_in(floor, terminal(), asked)).reason == "table-not-open"
    out = TicketOutRequest(id="1", table="T9", seat="7")
    assert told(money.ticket_out(floor, terminal(), out)).reason == "table-not-open"


def test_of_two_hundred_who_redeem_one_ticket_one_is_paid() -> None:
    for seed in range(3):
        redeemed_by_many(seed)


def redeemed_by_many(seed: int) -> None:
    """Half of them at the cage, half at ten terminals; who comes first is chance."""
    seats = [str(seat) for seat in range(1, 11)]
    floor = a_floor(*seats, credits=0)
    ticket, other = sold(floor), sold(floor, 90_000, "sale-2")
    before = cash_of(floor)

    async def all_at_once() -> list[Any]:
        asked: list[Any] = [
            floor.host.ask(HOUSE, RedeemTicket(at=floor.clock.now(), by=by, ticket=ticket))
            for by in ("cat", "cid") * 50
        ]
        for number in range(100):
            seat = seats[number % 10]
            ask = TicketInRequest(id=f"in-{number}", table="T1", seat=seat, ticket=ticket)
            asked.append(money.ticket_in(floor, terminal(seat), ask))
        Random(seed).shuffle(asked)
        return await asyncio.gather(*asked)

    answers = asyncio.run(all_at_once())
    paid = [one for one in answers if one and not isinstance(one, Refusal | RefusedReply)]
    first = [one for one in paid if not isinstance(one, DoneReply) or not one.again]
    assert len(first) == 1
    assert len(answers) == 200
    credited, redeemed = sum(floor.credits(seat) for seat in seats), floor.house.tickets[ticket].redeemed
    assert redeemed is not None
    assert (credited, before - cash_of(floor)) == ((30_000, 0) if redeemed.transfer else (0, 30_000))
    assert (floor.house.outstanding, floor.house.tickets[other].redeemed, floor.faults()) == (
        90_000,
        None,
        [],
    )


def cash_of(floor: InlineFloor) -> int:
    return floor.house.ledger.balances[Account.CAGE]


# Out


def take_out(floor: InlineFloor, ask: str = "out-1", seat: str = "7") -> Any:
    return told(money.ticket_out(floor, terminal(seat), TicketOutRequest(id=ask, table="T1", seat=seat)))


def test_all_credits_become_a_ticket_and_the_same_ask_tells_the_same_one() -> None:
    floor = a_floor()
    first = take_out(floor)
    assert (first.amount, first.again, floor.credits()) == (50_000, False, 0)
    assert as_printed(first.ticket.lower()) == first.ticket
    again = take_out(floor)
    assert (again.ticket, again.amount, again.transfer) == (first.ticket, first.amount, first.transfer)
    assert again.again
    assert (len(floor.house.tickets), floor.house.outstanding, floor.faults()) == (1, 50_000, [])


def test_a_retry_tells_the_same_ticket_also_when_more_has_been_won_or_the_player_is_gone() -> None:
    floor = a_floor()
    first = take_out(floor)
    put_in(floor, sold(floor))
    assert take_out(floor).ticket == first.ticket
    assert floor.credits() == 30_000
    second = take_out(floor, "out-2")
    assert (second.amount, second.ticket == first.ticket) == (30_000, False)
    floor.do(LeaveSeat(**floor.by("D7"), seat="7"))
    assert take_out(floor).ticket == first.ticket
    assert floor.faults() == []


def listed(floor: InlineFloor, seat: str = "7") -> list[tuple[str, int]]:
    told_ = told(money.tickets(floor, terminal(seat), TicketsRequest(id="t", table="T1", seat=seat)))
    assert told_.house == floor.house.name
    return [(one.ticket, one.amount) for one in told_.tickets]


def test_a_seat_is_told_its_tickets_again_until_they_are_redeemed() -> None:
    floor = a_floor()
    assert listed(floor) == []
    first = take_out(floor)
    put_in(floor, sold(floor))
    second = take_out(floor, "out-2")
    floor.restart()
    assert listed(floor) == [(second.ticket, 30_000), (first.ticket, 50_000)]
    put_in(floor, second.ticket)
    assert listed(floor) == [(first.ticket, 50_000)]
    assert listed(floor, "8") == []


def test_a_ticket_is_shown_to_nobody_who_sits_down_after_its_player() -> None:
    floor = a_floor()
    first = take_out(floor)
    floor.do(LeaveSeat(**floor.by("D7"), seat="7"))
    assert listed(floor) == []
    sit(floor, "7", 0)
    put_in(floor, sold(floor))
    assert listed(floor) == []
    second = take_out(floor, "out-2")
    assert listed(floor) == [(second.ticket, 30_000)]
    assert first.ticket != second.ticket


def test_no_more_tickets_are_remembered_than_a_player_can_hold() -> None:
    floor = a_floor()
    for number in range(MOST_DISPENSED + 1):
        if number:
            put_in(floor, sold(floor, ask=f"sale-{number}"))
        take_out(floor, f"out-{number}")
    assert len(listed(floor)) == MOST_DISPENSED


def test_an_id_that_comes_back_late_is_not_told_an_old_ticket() -> None:
    floor = a_floor()
    first = take_out(floor)
    floor.clock.pass_(money.RETRIED_WITHIN - 10_000)
    assert take_out(floor).ticket == first.ticket
    floor.clock.pass_(10_000)
    late = take_out(floor)
    assert (late.reason, first.ticket in late.message) == ("different-content", False)


def test_an_empty_terminal_gets_the_games_own_refusal() -> None:
    refused = take_out(a_floor(credits=0))
    assert (refused.reason, refused.clause) == ("credits-short", "house:credits")


def test_bets_that_lie_stay_and_only_what_is_free_goes_out() -> None:
    floor = a_floor()
    perform(floor, Act.OPEN_BETS)
    floor.do(PlaceBets(**floor.by("D7"), round=1, seat="7", bets=(Slip("a", "small", 1_000),)))
    assert take_out(floor).amount == 49_000


def test_where_the_house_has_no_room_for_a_ticket_credits_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    floor = a_floor()
    monkeypatch.setattr("taisai.cage.decide.MOST_TICKETS", 0)
    assert take_out(floor).reason == "too-many"
    assert (floor.credits(), floor.faults()) == (50_000, [])


def test_the_key_of_numbers_is_made_once_and_kept() -> None:
    floor = a_floor()
    first = take_out(floor)
    key = floor.store.secret(ticket_numbers.KEY)
    floor.restart()
    assert take_out(floor).ticket == first.ticket
    assert floor.store.secret(ticket_numbers.KEY) == key
    with pytest.raises(ValueError, match="expected 32 bytes"):
        ticket_numbers.tickets_key(a_floor().engine, b"short")

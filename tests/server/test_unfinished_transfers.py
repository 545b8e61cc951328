"""A stop between two halves: what is left is finished at the next start, or said in a sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from taisai.game.commands import Leave
from taisai.protocol.requests import (
    FillRequest,
    SellTicketRequest,
    SettleClaimRequest,
    TakeCreditRequest,
    TakeDropRequest,
    TicketInRequest,
    TicketOutRequest,
)
from taisai.server.handlers import cage
from taisai.server.handlers import tickets as money
from taisai.server.runtime.reconciliation import finish
from tests.server.inline_server import CutError, InlineServer, inline_server, person, terminal, told
from tests.server.test_cage_transfers import with_claim_of_player, with_claim_on_player

Begin = Callable[[InlineServer], Callable[[], Any]]
"""Makes ready; then asks, as often as it is called."""


class Flow(NamedTuple):
    """A flow, and how many commands it takes."""

    begin: Begin
    commands: int
    credits: int = 50_000


def ticket_in(server: InlineServer) -> Callable[[], Any]:
    sold = told(cage.sell_ticket(server, person("cat"), SellTicketRequest(id="1", amount=900)))
    ask = TicketInRequest(id="in", table="T1", seat="7", ticket=sold.ticket)
    return lambda: told(money.ticket_in(server, terminal(), ask))


def ticket_out(server: InlineServer) -> Callable[[], Any]:
    ask = TicketOutRequest(id="out", table="T1", seat="7")
    return lambda: told(money.ticket_out(server, terminal(), ask))


def fill(server: InlineServer) -> Callable[[], Any]:
    ask = FillRequest(id="fill", table="T1", amount=4_000, approval="yes")
    return lambda: told(cage.fill(server, person("cat"), ask))


def pay_claim(server: InlineServer) -> Callable[[], Any]:
    ask = SettleClaimRequest(id="claim", table="T1", claim=with_claim_of_player(server), approval="yes")
    return lambda: told(cage.settle_claim(server, person("cat"), ask))


def collect_claim(server: InlineServer) -> Callable[[], Any]:
    ask = SettleClaimRequest(id="claim", table="T1", claim=with_claim_on_player(server), approval="yes")
    return lambda: told(cage.settle_claim(server, person("cat"), ask))


FLOWS = {
    "ticket in": Flow(ticket_in, 2),
    "ticket out": Flow(ticket_out, 2),
    "fill": Flow(fill, 2),
    "claim paid": Flow(pay_claim, 2, 0),
    "claim collected": Flow(collect_claim, 2),
}


def cut(flow: Flow, after: int) -> tuple[InlineServer, Callable[[], Any]]:
    """The server after a stop in the midst of a flow."""
    server = inline_server(credits=flow.credits)
    ask = flow.begin(server)
    server.inline.left = after
    with pytest.raises(CutError):
        ask()
    server.restart()
    return server, ask


def finished(server: InlineServer) -> list[str]:
    return asyncio.run(finish(server.queue, server.clock, server.entropy))


@pytest.mark.parametrize("name", FLOWS)
def test_a_flow_takes_as_many_commands_as_are_cut_here(name: str) -> None:
    server = inline_server(credits=FLOWS[name].credits)
    ask = FLOWS[name].begin(server)
    server.inline.asked.clear()
    assert ask().again is False
    assert len(server.inline.asked) == FLOWS[name].commands
    assert server.faults() == []


@pytest.mark.parametrize("name", FLOWS)
def test_half_of_a_flow_is_finished_at_the_next_start(name: str) -> None:
    server, ask = cut(FLOWS[name], 1)
    assert server.faults()
    assert finished(server) == []
    assert server.faults() == []
    size = server.engine.journal.size
    assert finished(server) == []  # twice is as good as once
    assert server.engine.journal.size == size
    retried = ask()
    assert retried.again
    assert retried.amount > 0
    assert server.engine.journal.size == size


@pytest.mark.parametrize("name", FLOWS)
def test_a_retry_finishes_it_as_well(name: str) -> None:
    server, ask = cut(FLOWS[name], 1)
    retried = ask()
    assert (retried.amount > 0, server.faults()) == (True, [])
    size = server.engine.journal.size
    again = ask()
    assert (again.ticket, again.transfer, again.amount) == (retried.ticket, retried.transfer, retried.amount)
    assert (finished(server), server.engine.journal.size) == ([], size)


@pytest.mark.parametrize("name", FLOWS)
def test_before_the_first_half_nothing_has_happened(name: str) -> None:
    server, ask = cut(FLOWS[name], 0)
    size = server.engine.journal.size
    assert (finished(server), server.faults(), server.engine.journal.size) == ([], [], size)
    assert ask().again is False


def test_the_ticket_of_a_terminal_that_was_cut_is_shown_to_it_and_worth_its_credits() -> None:
    server, ask = cut(FLOWS["ticket out"], 1)
    assert server.credits() == 0
    finished(server)
    [ticket] = server.house.tickets.values()
    assert (ticket.amount, server.id_of(ask().ticket)) == (50_000, ticket.id)


def test_while_play_goes_on_a_flow_and_its_finishing_do_not_meet() -> None:
    for name in ("ticket in", "ticket out"):
        server = inline_server()
        server.inline.left = None
        if name == "ticket in":
            sold = told(cage.sell_ticket(server, person("cat"), SellTicketRequest(id="1", amount=900)))
            asked: Any = money.ticket_in(
                server, terminal(), TicketInRequest(id="in", table="T1", seat="7", ticket=sold.ticket)
            )
        else:
            asked = money.ticket_out(server, terminal(), TicketOutRequest(id="out", table="T1", seat="7"))

        async def both(asked: Any = asked, server: InlineServer = server) -> Any:
            # As often as a flow lets go of the loop, someone finishes what it has begun.
            flow = asyncio.ensure_future(asked)
            while not flow.done():
                assert await finish(server.queue, server.clock, server.entropy) == []
            return await flow

        assert asyncio.run(both()).amount > 0
        assert server.faults() == []


def test_what_people_have_to_do_is_said() -> None:
    server = inline_server()
    told(cage.fill(server, person("cat"), FillRequest(id="f", table="T1", amount=4_000, approval="yes")))
    gone = told(cage.take_drop(server, person("pat"), TakeDropRequest(id="d", table="T1", approval="yes")))
    server.inline.left = 1
    ask = TakeCreditRequest(id="k", table="T1", amount=300, approval="yes")
    with pytest.raises(CutError):
        told(cage.take_credit(server, person("dan"), ask))
    server.restart()
    left = finished(server)
    assert len(left) == 2
    assert all(one.startswith("Transfer ") and "table 'T1' booked" in one for one in left)
    assert any(repr(gone.transfer) in one for one in left)
    assert finished(server) == left
    assert told(cage.take_credit(server, person("dan"), ask)).again
    assert len(finished(server)) == 1


def test_a_fill_whose_second_person_has_gone_waits_for_people() -> None:
    server = inline_server()
    server.agrees = "pat"
    ask = fill(server)
    server.inline.left = 1
    with pytest.raises(CutError):
        ask()
    server.restart()
    server.do(Leave(**server.by("pat"), person="pat"))
    [left] = finished(server)
    assert "must record the arrival of a fill of 4000. It was refused: the second person" in left
    assert ask().reason == "second-person"

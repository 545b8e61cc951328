"""Strangers: whoever does not say who he is may not keep the others out."""

from __future__ import annotations

import pytest

from taisai.server.connections import sockets
from taisai.server.runtime.plan import ConnectionLimits
from tests.server.virtual_server import Connected, connected

FEW = ConnectionLimits(sockets=8, asks_a_second=10_000, burst=10_000)


@connected()
async def test_a_connection_that_says_nothing_is_ended(house: Connected) -> None:
    silent = await house.line()
    await house.pass_(sockets.HELLO_WITHIN - 1)
    assert silent.is_open
    await house.pass_(2)
    assert (silent.told[-1]["why"], silent.is_open) == ("silent", False)
    assert not house.dispatcher.sockets


@connected()
async def test_a_visitor_of_a_house_for_money_stays_unauthenticated(house: Connected) -> None:
    visitor = await house.came(None)
    await house.pass_(sockets.HELLO_WITHIN + 1)
    assert visitor.told[-1]["why"] == "silent"


@connected()
async def test_a_terminal_that_said_who_it_is_may_be_silent(house: Connected) -> None:
    terminal = await house.came("P1")
    await house.pass_(10 * sockets.HELLO_WITHIN)
    assert terminal.is_open


@connected(demonstration=True)
async def test_a_visitor_of_a_demonstration_may_stay(house: Connected) -> None:
    visitor = await house.came(None)
    await house.pass_(10 * sockets.HELLO_WITHIN)
    assert visitor.is_open


@connected(bounds=FEW)
async def test_unauthenticated_clients_from_one_address_leave_room_for_terminals(house: Connected) -> None:
    lines = [house.dials() for _ in range(7)]
    await house.settle()
    assert [line.is_open for line in lines] == [False, False, False, False, False, True, True]
    assert lines[0].told[-1]["why"] == "full"


@connected(bounds=FEW)
async def test_unauthenticated_clients_who_stay_do_not_keep_a_terminal_from_coming_in(
    house: Connected,
) -> None:
    for _ in range(20):
        house.dials()
    await house.settle()
    terminal = await house.came("P1")
    for _ in range(20):
        house.dials()
    await house.settle()
    assert terminal.is_open
    assert (await terminal.answer("follow", feed="table:T1"))["type"] == "snapshot"


@connected(bounds=FEW)
async def test_sabotage_a_server_without_limits_is_full_of_unauthenticated_clients(house: Connected) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sockets.UnauthenticatedSockets, "add", lambda *_given: None)
        for _ in range(8):
            house.dials()
        await house.settle()
        late = house.dials()
        await house.settle()
        assert late.told[-1]["why"] == "full"

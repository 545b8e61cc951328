"""The client against a real server: a round from seat to settlement, and the office over HTTP."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from taisai.client import (
    Cashier,
    Device,
    Disconnected,
    Display,
    Office,
    Refused,
    Staff,
    Terminal,
    at,
    sign_in,
)
from taisai.protocol import requests
from taisai.protocol.commands import command
from taisai.protocol.views import ApprovalLine
from taisai.server.auth.credentials import step_of
from tests.client.real_server import PASSWORD, Served, served
from tests.server.enrolling import code_at, secret_of
from tests.server.sim.sim_house import DISPLAY, TABLE, device

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-client.md"


def real(story: Coroutine[Any, Any, None]) -> None:
    """Runs in real time, and not for ever."""
    asyncio.run(asyncio.wait_for(story, 60))


async def one_round(server: Served, faces: tuple[int, int, int] = (1, 2, 3)) -> None:
    """The dealer's part of a round: the clock closes, the rest is his."""
    console = await server.console("dan")
    try:
        await console.until(console.console_feed, lambda view: view.seats.taken, within=10)
        await console.perform("open-bets")
        await console.until(console.table_feed, lambda table: table.round.phase == "closed", within=10)
        await console.perform("tumble", tumbles=3)
        await console.perform("uncover")
        preview = await console.enter(faces)
        assert preview.total == sum(faces)
        for act in ("settle", "collect-and-pay", "conclude"):
            assert console.next_offer is not None
            await console.perform(act)
    finally:
        await console.close()


def test_the_example_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    example = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)[0]
    names: dict[str, Any] = {}
    exec(compile(example, str(PAGE), "exec"), names)

    async def story() -> None:
        async with served() as server:
            await asyncio.gather(names["play"](server.socket, device("P1").key), one_round(server))

    real(story())
    assert "staked=500, returned=1000" in capsys.readouterr().out


def test_a_terminal_does_all_that_a_player_asks() -> None:
    async def story() -> None:
        async with served(window=2_000) as server, Display(at(server.socket), device(DISPLAY)) as display:
            async with Terminal(at(server.socket), device("P1")) as terminal:
                await terminal.sit_down("Ann", layout="B")
                await terminal.buy_credits(10_000)
                playing = asyncio.ensure_future(one_round(server, (4, 4, 4)))
                number = await terminal.bets_open(within=10)
                with pytest.raises(Refused, match="under the minimum on small") as refused:
                    await terminal.place({"small": 1})
                assert refused.value.clause == "3.3"
                first = await terminal.place({"big": 200})
                server.clock.ahead += 10  # what comes in one millisecond is taken back as one
                await terminal.place({"any-triple": 100, "double-4": 100})
                assert terminal.seat.at_risk == 400
                await terminal.undo()
                assert [bet.id for bet in terminal.seat.bets] == list(first)
                await terminal.double()
                assert terminal.seat.at_risk == 400
                await terminal.clear()
                assert (terminal.seat.bets, terminal.seat.credits) == ((), 10_000)
                await terminal.place({"any-triple": 100})
                await terminal.until(terminal.seat_feed, lambda seat: seat.last and not seat.bets, within=10)
                await playing
                await display.until(
                    display.table_feed, lambda table: table.round.phase == "between", within=5
                )
                assert display.table.history.results[-1].faces == (4, 4, 4)
                (told,) = await terminal.rounds(number)
                assert (told.faces, told.totals.staked) == ((4, 4, 4), 100)
                await terminal.keep_favourite("mine", {"small": 300})
                (kept,) = await terminal.favourites()
                assert (kept.name, kept.bets[0].stake) == ("mine", 300)
                assert len((await terminal.felt("B")).areas) == 104
                await terminal.call_attendant()
                await terminal.dispute(number, "I saw another die")
                out = await terminal.ticket_out()
                assert out.ticket is not None
                assert out.amount == 10_000 + told.totals.won
                await terminal.leave()
                assert not terminal.seat.taken
            async with Cashier(at(server.socket), Staff(await server.token("cat"))) as cashier:
                await cashier.redeem(out.ticket)
                sold = await cashier.sell_ticket(500)
                assert sold.ticket is not None
                await cashier.until(cashier.feed, lambda cage: cage.outstanding == 500, within=5)
                assert (await cashier.books()).balanced
                assert (await cashier.report()).tables

    real(story())


def test_an_unauthenticated_client_is_shown() -> None:
    async def story() -> None:
        async with served() as server:
            with pytest.raises(Refused, match="not-known"):
                await Terminal(at(server.socket), Device.of("P1", bytes(32))).start()
            with pytest.raises(Refused, match="not-known"):
                await Cashier(at(server.socket), Staff("nobody's")).start()
        with pytest.raises(Disconnected, match="no answer from"):
            await Display(at(server.socket), device(DISPLAY)).start()

    real(story())


# The office


def test_the_office_signs_in_and_out() -> None:
    async def story() -> None:
        async with served("ada", "dan") as server:
            token = await sign_in(server.http, "dan", PASSWORD, server.code("dan"))
            async with Office(server.http, token=token) as office:
                assert (await office.session()).role == "dealer"
                with pytest.raises(Refused, match="not-permitted"):
                    await office.staff()
                await office.sign_out()
                with pytest.raises(Refused, match="not-permitted"):
                    await office.session()
            with pytest.raises(Refused):
                await sign_in(server.http, "dan", "a wrong one 12345", server.code("dan"))
        with pytest.raises(Disconnected, match="no answer from"):
            await sign_in(server.http, "dan", PASSWORD, "000000")

    real(story())


def code_of(uri: str, server: Served) -> str:
    return code_at(secret_of(uri), step_of(server.clock.now()))


def test_the_office_keeps_staff_and_devices() -> None:
    async def story() -> None:
        async with served("ada", "sue") as server, Office(server.http) as office:
            await office.sign_in("ada", PASSWORD, server.code("ada"))
            body = {"person": "eve", "rank": "dealer", "activate": True}
            what = {"endpoint": "POST /api/staff", "body": body}
            approval = await office.ask(what)
            async with Office(server.http) as second:
                await second.sign_in("sue", PASSWORD, server.code("sue"))
                await second.approve(approval)
            activation = await office.enrol("eve", "dealer", activate=True, approval=approval)
            assert activation is not None
            async with Office(server.http) as eve:
                setup = await eve.first_sign_in("eve", activation)
                assert setup.uri.startswith("otpauth://")
                await eve.set_credentials(setup.setup, password=PASSWORD, code=code_of(setup.uri, server))
            assert "eve" in [one.person for one in await office.staff()]
            await office.revoke("eve", "a test")
            await office.dismiss("eve")
            assert "eve" not in [one.person for one in await office.staff()]
            await office.enrol_device("P9", "terminal", device("P9").public, table=TABLE, seat="9")
            assert "P9" in [one.device for one in await office.devices()]
            async with Terminal(at(server.socket), device("P9")) as terminal:
                await office.dismiss_device("P9", "broken")
                with pytest.raises(Refused, match="not-known"):
                    await terminal.until(terminal.table_feed, lambda _: False, within=10)

    real(story())


async def seen_by(second: Office) -> tuple[ApprovalLine, ...]:
    """What waits for a person, as soon as something does."""
    for _ in range(1_000):
        if waiting := (await second.approvals()).waiting:
            return waiting
        await asyncio.sleep(0.005)
    raise AssertionError("nothing waits for them")


async def approved(office: Office, ask: requests.DoRequest, second: Office) -> str:
    """What one asks for, and another approves as soon as they see it."""
    waits = asyncio.create_task(office.approval(ask, within=5, every=0.01))
    (line,) = await seen_by(second)
    assert (line.by, line.what.en) == ("cat", "Bring owners' money into the cage")
    assert [(field.label.en, field.amount) for field in line.fields] == [("Amount", 5_000)]
    await second.approve(line.id)
    return await waits


def test_what_is_declined_or_left_undecided_is_refused_to_the_asker() -> None:
    async def story() -> None:
        async with served("cat", "sue") as server, Office(server.http) as office:
            await office.sign_in("cat", PASSWORD, server.code("cat"))
            ask = requests.DoRequest(id="x", do=command("bring-in", id="m1", amount=5_000))
            with pytest.raises(Refused, match="nobody approved within"):
                await office.approval(ask, within=0.1, every=0.01)
            assert (await office.approvals()).own == ()
            async with Office(server.http) as second:
                await second.sign_in("sue", PASSWORD, server.code("sue"))
                waits = asyncio.create_task(office.approval(ask, within=5, every=0.01))
                (line,) = await seen_by(second)
                await second.decline(line.id, "count it again")
                with pytest.raises(Refused, match="declined by sue: count it again"):
                    await waits

    real(story())


def test_a_second_person_approves_one_request() -> None:
    async def story() -> None:
        async with served("cat", "sue") as server, Office(server.http) as office:
            token = await office.sign_in("cat", PASSWORD, server.code("cat"))
            async with Cashier(at(server.socket), Staff(token)) as cashier:
                sent = command("bring-in", id="m1", amount=5_000)
                ask = requests.DoRequest(id=cashier.fresh_id(), do=sent)
                async with Office(server.http) as second:
                    await second.sign_in("sue", PASSWORD, server.code("sue"))
                    approval = await approved(office, ask, second)
                    with pytest.raises(Refused, match="second-person"):
                        await cashier.bring_in(9_000, movement="m1", approval=approval)
                    approval = await approved(office, ask, second)
                before = cashier.cage.cash
                await cashier.bring_in(5_000, movement="m1", approval=approval)
                await cashier.until(cashier.feed, lambda cage: cage.cash == before + 5_000, within=5)

    real(story())

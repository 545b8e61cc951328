"""The Player Terminal tells the truth, whatever was corrected, void or cut off, whoever sat there before."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from taisai.client import Staff
from taisai.protocol.commands import command
from taisai.protocol.requests import DoRequest
from tests.pages.connections import Line
from tests.pages.dealing import BETWEEN, OPEN, WITHIN, Crew
from tests.pages.people import People
from tests.pages.screens import TerminalScreen
from tests.pages.server_process import House

pytestmark = pytest.mark.part(name="pages")

LOST, VOID = "lost", "void"


async def reported(crew: Crew, event: str, **fields: object) -> None:
    """The dealer reports something, and a supervisor agrees."""
    sent = command("report", event=event, **fields)
    assert isinstance(crew.dealer.who, Staff)
    ask = DoRequest(id="agreed", do=sent, table=crew.table)
    approval = await crew.house.agreed(ask, crew.dealer.who.token)
    await crew.dealer.send(sent, table=crew.table, approval=approval)


async def goes(crew: Crew, one: TerminalScreen) -> None:
    """The player gets up: staff say so."""
    seat = (await one.page.locator(".subtitle").inner_text()).split()[-1]
    await crew.dealer.send(command("leave-seat", seat=seat), table=crew.table)
    await expect(one.at("sit")).to_be_visible()


async def opened_drawer(one: TerminalScreen, tab: str) -> None:
    if await one.at("drawer").count():
        await one.at("close").click()
    await one.at(f"tab-{tab}").click()
    await expect(one.at("drawer")).to_be_visible()


async def test_the_net_result_follows_a_correction_of_any_round_and_a_reload(
    people: People, house: House
) -> None:
    async with Crew(house, house.fresh("RWS")) as crew:
        one = await people.terminal(crew.table)
        await one.buys()
        for number in (1, 2):
            await crew.to(OPEN)
            await one.is_open()
            await one.bets("small", 20_00)
            await opened_drawer(one, "rounds")
            # The round in hand is neither won nor lost.
            await expect(one.at(f"round-{number}")).to_contain_text("In progress")
            await expect(one.at(f"round-{number}")).not_to_contain_text("−")
            await one.at("close").click()
            await crew.to(BETWEEN)
            await one.has(net=number * 20_00, credits=500_00 + number * 20_00)
        await reported(crew, "wrong-result", round=1, faces=(6, 5, 4))
        await one.has(net=0, credits=500_00)
        await reported(crew, "wrong-result", round=2, faces=(6, 6, 6))
        await one.has(net=-40_00, credits=460_00)
        await one.page.evaluate("localStorage.setItem('taisai-visit-x', '{')")
        await one.page.reload()
        await one.is_("open")
        await one.has(net=-40_00, credits=460_00)
        await expect(one.at("session-time")).to_have_text("0 min")


async def test_rws_5_3_1_a_void_round_is_said_with_its_clause_and_the_chips_go_back(
    people: People, house: House
) -> None:
    async with Crew(house, house.fresh("RWS")) as crew:
        one = await people.terminal(crew.table)
        await one.buys()
        await crew.to(OPEN)
        await one.bets("small", 5_00)
        await house.time_is_up(crew.table)
        await one.is_closed()
        await reported(crew, "too-few-tumbles")
        await expect(one.at("void")).to_have_attribute("data-clause", "5.3.1")
        await expect(one.area("small")).to_have_attribute("data-state", VOID)
        await expect(one.area("small")).not_to_have_attribute("data-stake", "500")
        label = await one.area("small").get_attribute("aria-label") or ""
        assert "5.00 returned (void)" in label
        assert "registered" not in label
        await expect(one.at("stack-small")).to_have_css("opacity", "0")
        await one.has(credits=500_00, at_risk=0, net=0)
        await expect(one.at("last-round")).to_contain_text("void")
        await one.page.reload()
        await expect(one.at("void")).to_have_attribute("data-clause", "5.3.1")
        await crew.catches_up()
        await crew.to(OPEN)
        await one.is_open()
        await expect(one.at("void")).to_have_count(0)
        await one.is_bare("small")


async def test_after_a_reload_losers_that_were_collected_are_not_back(people: People, house: House) -> None:
    async with Crew(house, house.fresh("US")) as crew:
        one = await people.terminal(crew.table)
        await one.buys()
        await crew.to(OPEN)
        await one.bets("small", 5_00)
        await one.bets("big", 5_00)
        await crew.to("collected")
        await expect(one.area("big")).to_have_attribute("data-state", LOST)
        await one.page.reload()
        await one.is_("open")
        await expect(one.area("big")).to_have_attribute("data-state", LOST)
        await expect(one.at("stack-big")).to_have_css("opacity", "0")
        await one.lies("small", 5_00)
        await crew.to("paid")
        await expect(one.area("small")).to_have_attribute("data-state", "won")
        await crew.to(OPEN)
        await one.is_open()
        await one.bets("big", 5_00)
        await expect(one.at("stack-big")).to_have_css("opacity", "1")


async def test_a_cut_loses_no_ticket_and_a_reload_shows_it_again(people: People, house: House) -> None:
    line = Line()
    async with Crew(house, house.fresh("MBS")) as crew:
        one = await people.terminal(crew.table, line=line)
        await one.buys()
        await opened_drawer(one, "ticket")
        line.hold()
        await one.at("ticket-out").click()
        await expect(one.at("ticket-waits")).to_be_visible()
        # The server has done it, and the page was not told.
        await crew.dealer.until(
            crew.dealer.console_feed, lambda view: not view.seats.shown[0].credits, within=WITHIN
        )
        await line.cut()
        line.release()
        await expect(one.at("ticket")).to_be_visible()
        await one.has(credits=0)
        number = await one.at("ticket").get_attribute("data-ticket") or ""
        assert len(house.events(crew.table, "credits-dispensed")) == 1
        await one.page.reload()
        await one.is_("open")
        await opened_drawer(one, "ticket")
        await expect(one.at("ticket")).to_have_attribute("data-ticket", number)
        await expect(one.at("ticket").locator("svg")).to_be_visible()
        await expect(one.at("ticket-house")).not_to_be_empty()
        await expect(one.at("ticket-from")).to_contain_text(crew.table)
        await expect(one.at("ticket-from")).to_contain_text(":")
        await one.at("ticket-in-number").fill(number)
        await one.at("ticket-in").click()
        await one.has(credits=500_00)
        await expect(one.at("ticket")).to_have_count(0)


async def test_the_next_player_sees_nothing_of_the_last_ones(people: People, house: House) -> None:
    async with Crew(house, house.fresh("MBS")) as crew:
        one = await people.terminal(crew.table)
        await one.buys()
        await crew.to(OPEN)
        await one.bets("small", 5_00)
        await opened_drawer(one, "favourites")
        await one.at("favourite-name").fill("mine")
        await one.at("keep-favourite").click()
        await expect(one.at("favourite-mine")).to_be_visible()
        await crew.to(BETWEEN)
        await opened_drawer(one, "rounds")
        await expect(one.at("round-1")).to_be_visible()
        await opened_drawer(one, "ticket")
        await one.at("ticket-out").click()
        await expect(one.at("ticket")).to_be_visible()
        await goes(crew, one)
        await expect(one.at("ticket")).to_have_count(0)
        await one.at("close").click()
        await one.at("sit").click()
        await one.has(credits=0, net=0)
        for tab, kept in {"ticket": "ticket", "favourites": "favourite-mine", "rounds": "round-1"}.items():
            await opened_drawer(one, tab)
            await expect(one.at("drawer").locator("p, form").first).to_be_visible()
            await expect(one.at(kept)).to_have_count(0)


async def test_sitting_down_without_a_connection_says_so(people: People, house: House) -> None:
    line = Line()
    async with Crew(house, house.fresh("MBS")) as crew:
        one = await people.terminal(crew.table, line=line)
        await one.buys()
        await opened_drawer(one, "ticket")
        await one.at("ticket-out").click()
        await one.has(credits=0)
        await one.at("close").click()
        await goes(crew, one)
        line.hold()  # the server is not heard, so that the page stays cut off
        await line.cut()
        await one.is_("lost")
        await one.at("sit").click()
        await expect(one.refusal).to_be_visible()

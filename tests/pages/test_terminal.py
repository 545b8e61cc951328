"""The Player Terminal: a player's whole visit, bets that are never in doubt, and a page that comes back."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import expect

from taisai.server.http.public import FOLDER
from tests.pages.browser import KIOSK, PHONE, TABLET, screenshot
from tests.pages.connections import Line
from tests.pages.dealing import BETWEEN, OPEN, Crew
from tests.pages.page_checks import axe, overflow, small_targets
from tests.pages.people import People
from tests.pages.screens import PENDING, REFUSED, TerminalScreen
from tests.pages.server_process import BOOKS, House, closed, tables_of
from tests.tiers import sampled

pytestmark = pytest.mark.part(name="pages")

SIX = ("small", "big", "any-triple", "total-6", "total-12", "total-17")
"""What each of six players bets on: areas that every layout has."""


async def test_players_who_come_in_the_same_moment_get_a_seat_each(house: House) -> None:
    table = house.fresh("US")
    players = await asyncio.gather(*(house.player(table, buys=5_00) for _ in range(8)))
    assert len({player.seat_name for player in players}) == len(players)
    await closed(players)


async def test_undo_clear_double_and_repeat(people: People, house: House) -> None:
    async with Crew(house, house.fresh("MBS")) as crew:
        one = await people.terminal(crew.table)
        await one.buys()
        await crew.to(OPEN)
        await one.is_open()
        await one.bets("small", 5_00)
        await one.bets("total-9", 20_00)
        await one.at("undo").click()
        await one.has(at_risk=5_00)
        await expect(one.area("total-9")).not_to_have_attribute("data-stake", "2000")
        await one.at("double").click()
        await one.lies("small", 10_00)
        await one.at("clear").click()
        await one.has(at_risk=0, credits=500_00)
        await one.bets("big", 5_00)
        await crew.to(BETWEEN)
        await one.has(credits=495_00)
        await crew.to(OPEN)
        await one.is_open()
        await one.at("repeat").click()
        await one.lies("big", 5_00)


async def test_a_bet_by_keyboard_alone(people: People, house: House) -> None:
    async with Crew(house, house.fresh("US")) as crew:
        one = await people.terminal(crew.table)
        await crew.to(OPEN)
        await one.is_open()
        await tabbed_to(one, f"[data-testid='buy-{500_00}']")
        await one.page.keyboard.press("Enter")
        await one.has(credits=500_00)
        await tabbed_to(one, "[data-testid='chip-500']")
        await one.page.keyboard.press("Space")
        await tabbed_to(one, "[data-area='small']")
        await one.page.keyboard.press("Enter")
        await one.lies("small", 5_00)
        await tabbed_to(one, "[data-testid='undo']")
        await one.page.keyboard.press("Enter")
        await one.has(at_risk=0)


async def tabbed_to(one: TerminalScreen, selector: str) -> None:
    """Goes to something with the Tab key alone, as far round as it takes."""
    for _ in range(250):
        await one.page.keyboard.press("Tab")
        if await one.page.evaluate("(wanted) => document.activeElement?.matches(wanted) ?? false", selector):
            return
    raise AssertionError(f"expected Tab to come to {selector}, got round without it")


async def test_a_late_bet_is_refused_with_its_reason_and_nothing_is_taken(
    people: People, house: House
) -> None:
    async with Crew(house, house.fresh("MBS")) as crew:
        line = Line()
        one = await people.terminal(crew.table, line=line)
        await one.buys()
        await crew.to(OPEN)
        await one.is_open()
        line.hold()  # bets close, and this terminal does not know it yet
        await crew.to("closed-tumbled")
        await one.taps("small", 5_00)
        await one.lies("small", 5_00, PENDING)
        line.release()
        await expect(one.area("small")).to_have_attribute("data-state", REFUSED)
        await expect(one.refusal).to_be_visible()
        await one.is_closed()
        await one.has(credits=500_00, at_risk=0)
        await crew.to(BETWEEN)
        await one.has(credits=500_00)


async def test_a_cut_is_shown_at_once_and_the_page_comes_back(people: People, house: House) -> None:
    async with Crew(house, house.fresh("RWS")) as crew:
        line = Line()
        one = await people.terminal(crew.table, line=line)
        await one.buys()
        await crew.to(OPEN)
        await one.bets("big", 20_00)
        await line.cut()
        await one.is_("lost")
        await one.is_("open")
        await one.lies("big", 20_00)
        await one.has(credits=480_00, at_risk=20_00)


async def test_after_a_reload_everything_is_where_it_was(people: People, house: House) -> None:
    async with Crew(house, house.fresh("US")) as crew:
        one = await people.terminal(crew.table)
        await one.buys()
        await crew.to(OPEN)
        await one.bets("small", 20_00)
        await one.page.reload()
        await one.is_("open")
        await one.lies("small", 20_00)
        await one.has(credits=480_00, at_risk=20_00)
        await one.at("undo").click()
        await one.has(credits=500_00, at_risk=0)


async def test_credits_leave_as_a_ticket_and_come_back_at_another_table(people: People, house: House) -> None:
    one = await people.terminal(house.fresh("MBS"))
    await one.buys()
    await one.at("tab-ticket").click()
    await one.at("ticket-out").click()
    await expect(one.at("ticket")).to_be_visible()
    await expect(one.at("ticket").locator("svg")).to_be_visible()
    await one.has(credits=0)
    number = await one.at("ticket").locator(".number").inner_text()
    other = await people.terminal(house.fresh("RWS"))
    await other.at("tab-ticket").click()
    await other.at("ticket-in-number").fill(number)
    await other.at("ticket-in").click()
    await other.has(credits=500_00)


@pytest.mark.parametrize("kind", sampled("terminals by finger", BOOKS, 1))
async def test_everything_can_be_hit_with_a_finger_on_every_screen(
    people: People, house: House, kind: str
) -> None:
    async with Crew(house, house.fresh(kind)) as crew:
        one = await people.terminal(crew.table)
        await one.buys()
        await crew.to(OPEN)
        await one.bets("small", 5_00)
        for name, size in {"kiosk": KIOSK, "tablet": TABLET, "phone": PHONE}.items():
            await one.page.set_viewport_size(size)
            assert await overflow(one.page) == 0, name
            assert await small_targets(one.page) == [], name
            await screenshot(one.page, f"terminal-{kind.lower()}-{name}")


async def test_every_drawer_is_for_everyone(people: People, house: House) -> None:
    async with Crew(house, house.fresh("RWS")) as crew:
        one = await people.terminal(crew.table)
        await one.buys()
        await crew.to(OPEN)
        await one.bets("small", 5_00)
        await crew.round()
        found: dict[str, list[str]] = {}
        for tab in ("rounds", "history", "favourites", "ticket", "help"):
            await one.at(f"tab-{tab}").click()
            await expect(one.page.get_by_role("dialog")).to_be_visible()
            await screenshot(one.page, f"terminal-{tab}")
            found[tab] = await axe(one.page)
            await one.page.keyboard.press("Escape")
            await expect(one.page.get_by_role("dialog")).to_have_count(0)
        await one.area("small").click(button="right")
        await expect(one.page.get_by_role("dialog")).to_contain_text("1 to 1")
        found["about"] = await axe(one.page)
        assert {tab: wrong for tab, wrong in found.items() if wrong} == {}


# The server goes down


@pytest.fixture
def own(tmp_path: Path) -> House:
    """A house that a test may kill."""
    return House(tmp_path, tables_of(1))


async def test_killed_in_mid_round_nothing_is_in_doubt(people: People, own: House) -> None:
    people.house = own
    people.watch.allow("WebSocket connection", "ERR_CONNECTION_REFUSED")
    async with own:
        async with Crew(own, "MBS1") as crew:
            six = await people.terminals("MBS1", len(SIX))
            await asyncio.gather(*(one.buys() for one in six))
            await crew.to(OPEN)
            await asyncio.gather(*(one.bets(area, 5_00) for one, area in zip(six, SIX, strict=True)))
        await own.kill()
        await asyncio.gather(*(one.is_("lost") for one in six))
        await asyncio.gather(*(one.taps("total-9", 20_00) for one in six[:3]))
        await asyncio.gather(*(one.lies("total-9", 20_00, PENDING) for one in six[:3]))
        await own.start()
        await asyncio.gather(*(one.is_("open") for one in six))
        # What was pending is answered: until it is declared what happened unrecorded, nothing new is taken.
        for one, area in zip(six, SIX, strict=True):
            await expect(one.area("total-9")).not_to_have_attribute("data-state", PENDING)
            await one.lies(area, 5_00)
            await one.has(credits=495_00, at_risk=5_00)
        for one in six[:3]:
            await expect(one.refusal).to_contain_text("house:declaration")
        async with Crew(own, "MBS1") as crew:
            unseen = next(one for one in crew.dealer.offers if one.preset.get("declared") == "unseen")
            await crew.take(crew.dealer, unseen)
            await six[0].at("withdraw").click()  # now each may withdraw (5.13.1)
            await six[0].has(credits=500_00, at_risk=0)
            await six[1].at("stay").click()
            assert await crew.round() == 1
        await six[0].has(credits=500_00, at_risk=0)
        await six[1].has(credits=495_00, at_risk=0)


async def test_a_page_that_is_older_than_the_server_loads_itself_again(
    people: People, own: House, tmp_path: Path, built: Callable[[Path], Path]
) -> None:
    people.house = own
    people.watch.allow("WebSocket connection", "ERR_CONNECTION_REFUSED")
    async with own:
        one = await people.terminal("MBS1")
        await one.buys()
        await own.kill()
        own.built = built(tmp_path / "newer")
        await own.start()
        await expect(one.page.locator("meta[name=taisai-pages]")).to_have_attribute("content", "newer")
        await one.is_("open")
        await one.has(credits=500_00)


@pytest.fixture
def built() -> Callable[[Path], Path]:
    """The pages as they are, called newer."""

    def made(folder: Path) -> Path:
        shutil.copytree(os.environ.get("TAISAI_BUILT", FOLDER), folder)
        mine = (folder / "pages.txt").read_text("ascii").strip()
        for path in (folder / "pages.txt", *folder.glob("*.html")):
            path.write_text(path.read_text("utf-8").replace(mine, "newer"), "utf-8")
        return folder

    return made

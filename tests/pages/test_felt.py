"""The felt before a player: limits that are true, chips, the outcome, and room for it on every screen."""

from __future__ import annotations

import asyncio
import re
from typing import Final

import pytest
from playwright.async_api import Locator, ViewportSize, expect

from tests.pages.browser import KIOSK, PHONE, screenshot
from tests.pages.dealing import BETWEEN, OPEN, Crew
from tests.pages.people import People
from tests.pages.screens import TerminalScreen
from tests.pages.server_process import House

pytestmark = pytest.mark.part(name="pages")

HD: Final = ViewportSize(width=1280, height=800)
FOUR: Final = ["6 5 4 3", "6 5 3 2", "5 4 3 2", "4 3 2 1"]
_SEEN: Final = """(one) => {
    const box = one.getBoundingClientRect();
    const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return box.top >= 0 && box.left >= 0 && box.right <= innerWidth + 1 && box.bottom <= innerHeight + 1
        && (one.contains(at) || at?.contains(one) || getComputedStyle(one).pointerEvents === "none");
}"""


async def in_sight(one: Locator) -> bool:
    """Whether all of it is on the screen, and nothing lies over its middle."""
    return bool(await one.evaluate(_SEEN))


async def test_rws_3_3_the_limits_in_sight_are_those_of_the_area_that_is_looked_at(
    people: People, house: House
) -> None:
    table = house.fresh("RWS")
    one = await people.terminal(table)
    limits = one.at("limits")
    await expect(limits).to_have_text(re.compile(r"Minimum 5 · maximum 5,000"))  # of any area
    await one.area("any-triple").hover()
    await expect(limits).to_have_text("Any Triple: 5 to 500")
    await one.area("small").focus()
    await expect(limits).to_have_text("Small: 5 to 5,000")
    await one.area("total-9").hover()
    await expect(limits).to_have_text(re.compile(r": 5 to 1,000$"))
    display = await people.display(table)
    for told in ("5 – 5,000", "5 – 500", "5 – 1,000"):
        await expect(display.at("limits")).to_contain_text(told)
    console = await people.console(table)
    await expect(console.page.locator(".limits dd")).to_have_text("5 – 5,000")


async def test_on_a_telephone_everything_to_play_with_is_in_sight(people: People, house: House) -> None:
    async with Crew(house, house.fresh("RWS")) as crew:
        one = await people.terminal(crew.table, size=PHONE)
        assert await in_sight(one.at("buy-50000"))  # the one thing to do first
        await one.buys()
        await crew.to(OPEN)
        await one.is_open()
        names = ("notice", "countdown", "credits", "limits", "chip-500", "chip-50000", "undo", "repeat")
        missing = [name for name in names if not await in_sight(one.at(name))]
        assert missing == []
        assert await in_sight(one.area("big"))
        assert int(await one.page.locator("header").evaluate("(one) => one.offsetHeight")) < 60  # one row
        await one.page.mouse.wheel(0, 900)  # down to the rest, which leaves the bar where it is
        await expect(one.at("tab-help")).to_be_in_viewport()
        assert await in_sight(one.at("chip-500"))
        await one.page.mouse.wheel(0, -900)
        await expect(one.at("more-left")).to_have_count(0)
        await one.at("more-right").click()
        await one.at("more-right").click()
        await expect(one.at("more-right")).to_have_count(0)
        assert await in_sight(one.area("small"))


@pytest.mark.parametrize("layout", ["A", "B", "C"])
async def test_rws_appendices_what_is_printed_on_the_felt(people: People, house: House, layout: str) -> None:
    one = await people.terminal(house.fresh("RWS"))
    if layout != "A":
        await one.at("tab-help").click()
        await one.page.get_by_role("button", name=f"Layout {layout}").click()
        await one.at("close").click()
        await expect(one.at("felt")).to_have_attribute("data-layout", layout)
    four = one.at("felt").locator(".four .figures")
    await expect(four).to_have_text(FOUR)
    await expect(one.area("big")).to_contain_text("11–17")
    await expect(one.area("small")).to_contain_text("4–10")
    for area in ("big", "small", "odd", "even"):
        await expect(one.area(area)).to_contain_text("1 to 1 · except any triple")
    for told in ("1 to 1 on one die", "2 to 1 on two dice", "12 to 1 on three dice"):
        await expect(one.at("felt").get_by_text(told, exact=True)).to_be_visible()
    await one.at("language").select_option("zh")
    await expect(one.area("big")).to_contain_text("围骰除外")
    await expect(four).to_have_text(FOUR)
    await screenshot(one.page, f"terminal-rws-{layout.lower()}-zh")


async def test_a_felt_that_is_too_wide_says_so_and_begins_at_big_and_small(
    people: People, house: House
) -> None:
    one = await people.terminal(house.fresh("MBS"), size=KIOSK)
    assert await in_sight(one.area("big"))
    assert await in_sight(one.area("small"))
    assert not await in_sight(one.area("double-single-221"))
    await one.at("more-left").click()
    await expect(one.at("more-left")).to_have_count(0)
    assert await in_sight(one.area("double-single-221"))
    await one.page.set_viewport_size(HD)
    await expect(one.page.locator("[data-testid^='more-']")).to_have_count(0)
    assert await in_sight(one.area("double-single-221"))
    assert await in_sight(one.area("small"))
    felt, room = await one.at("felt").bounding_box(), await one.page.locator(".cloth").bounding_box()
    assert felt is not None
    assert room is not None
    assert felt["height"] > 0.95 * room["height"]  # no idle height


async def test_the_outcome_is_shown_large_then_in_words_and_stays_lit_until_the_next_opening(
    people: People, house: House
) -> None:
    async with Crew(house, house.fresh("RWS")) as crew:
        one = await people.terminal(crew.table)
        await one.buys()
        await crew.to(OPEN)
        await one.bets("small", 5_00)
        await one.taps("small", 10_00)
        await one.lies("small", 15_00)
        stack = one.at("stack-small")
        await expect(stack).to_have_attribute("data-chips", "2")
        await expect(stack.locator("text")).to_have_text("15")
        large = asyncio.ensure_future(expect(one.at("reveal")).to_be_visible())
        await crew.to(BETWEEN)
        await large
        await expect(one.at("last-round")).to_contain_text(re.compile(r"Total 6 · small.*you won 15\.00"))
        assert {"small", "total-6"} <= await one.lit_areas()
        await crew.to(OPEN)
        await one.is_open()
        await expect(one.lit).to_have_count(0)
        await expect(one.at("reveal")).to_have_count(0)
        await expect(one.at("last-round")).to_have_text("Round 1: you won 15.00")


async def test_a_player_with_colour_chips_lays_them_and_sees_their_colour(
    people: People, house: House
) -> None:
    async with Crew(house, house.fresh("MBS")) as crew:
        one = await people.terminal(crew.table)
        await expect(one.at("chip-500")).to_be_visible()
        await expect(one.at("chip-colour")).to_have_count(0)
        await crew.ready()
        seat = await seat_of(one)
        await crew.dealer.at_table(
            "buy-colour", seat=seat, colour="purple", value=20_00, pieces=10, paid_with="cash", marker=20_00
        )
        await expect(one.at("chip-colour")).to_have_attribute("data-colour", "purple")
        await expect(one.at("chip-colour")).to_have_attribute("aria-label", "Purple chip, 20.00")
        await crew.to(OPEN)
        await one.is_open()
        await one.at("chip-colour").click()
        await one.area("small").click()
        await one.lies("small", 20_00)
        await one.area("small").click()
        await one.lies("small", 40_00)
        await expect(one.at("stack-small")).to_have_attribute("data-colour", "purple")
        await expect(one.at("stack-small")).to_have_attribute("data-chips", "2")
        await one.has(credits=160_00)


async def seat_of(one: TerminalScreen) -> str:
    """The seat that a terminal says it has."""
    found = re.search(r"Seat (\S+)", await one.page.locator("header").inner_text())
    assert found is not None
    return found[1]


async def test_a_visitor_is_led_to_a_table_whose_felt_fits(visitors: People) -> None:
    page = await visitors.visitor("/", size=KIOSK)
    await expect(page.locator(".hero a.main")).to_have_attribute("href", "/terminal?table=RWS1")
    await expect(page.get_by_test_id("tour-play")).to_have_attribute("href", "/terminal?table=RWS1")

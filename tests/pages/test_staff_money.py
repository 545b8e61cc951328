"""Money at the cage and the pit: an answer that got lost is told again, and nothing is done twice."""

from __future__ import annotations

import re
from typing import Final

import pytest
from playwright.async_api import Page, expect

from tests.pages.browser import PHONE
from tests.pages.connections import Line
from tests.pages.dealing import Crew
from tests.pages.people import People, connected
from tests.pages.server_process import House

pytestmark = pytest.mark.part(name="pages")

WORTH: Final = 500_00
CASH: Final = "cash"


async def cash(page: Page) -> str:
    """What the cage says that it holds."""
    return await page.get_by_test_id(CASH).inner_text()


async def sold(page: Page) -> str:
    """A ticket for cash; its number."""
    await page.get_by_test_id("sell-amount").fill(str(WORTH // 100))
    await page.get_by_test_id("sell").click()
    await expect(page.get_by_test_id("ticket-amount")).to_contain_text("500")
    return await page.get_by_test_id("ticket-number").inner_text()


async def cut_off(page: Page, line: Line, button: str) -> None:
    """Presses a button; it is done, and the answer never comes."""
    await expect(page.get_by_test_id(button)).to_be_enabled()
    line.hold()
    await page.get_by_test_id(button).click()
    await line.lose()


async def test_a_redemption_that_was_cut_off_says_what_to_pay_and_pays_it_once(people: People) -> None:
    line = Line()
    page = await people.at("/cage", line=line)
    before = await cash(page)
    ticket = await sold(page)
    await page.get_by_test_id("redeem-number").fill(ticket)
    await cut_off(page, line, "redeem")
    await line.cut()
    line.mend()
    await connected(page)
    await expect(page.get_by_test_id("ticket")).to_contain_text("Redeemed. Pay this amount.")
    await expect(page.get_by_test_id("toast")).to_contain_text(re.compile("Pay the player .*500"))
    await expect(page.get_by_test_id(CASH)).to_have_text(before)


async def test_a_redemption_is_shown_again_to_a_page_that_was_loaded_again(people: People) -> None:
    line = Line()
    page = await people.at("/cage", line=line)
    before = await cash(page)
    ticket = await sold(page)
    await page.get_by_test_id("redeem-number").fill(ticket)
    await cut_off(page, line, "redeem")
    line.mend()
    await page.reload()
    await connected(page)
    await page.get_by_test_id("redeem-number").fill(ticket)
    await page.get_by_test_id("redeem").click()
    await expect(page.get_by_test_id("toast")).to_contain_text(re.compile("Pay the player .*500"))
    await expect(page.get_by_test_id(CASH)).to_have_text(before)
    await page.get_by_test_id("redeem-number").fill(ticket)  # and this is a second customer
    await page.get_by_test_id("redeem").click()
    await expect(page.get_by_test_id("toast").locator(".refused")).to_contain_text("already redeemed")


async def test_a_fill_that_was_cut_off_is_done_once(people: People, house: House) -> None:
    async with Crew(house, house.fresh("US")) as crew:
        line = Line()
        page = await people.at("/cage", line=line)
        await page.get_by_role("tab", name=re.compile("Transfers")).click()
        await page.get_by_test_id("fill-table").select_option(crew.table)
        await page.get_by_test_id("fill-amount").fill("700")
        before = await cash(page)
        await page.get_by_test_id("fill").click()
        await cut_off(page, line, "second-agree")
        await line.cut()
        line.mend()
        await connected(page)
        await expect(page.get_by_test_id("toast")).to_contain_text("700")
        after = await cash(page)
        assert number(before) - number(after) == 700


def number(text: str) -> float:
    """An amount as a page writes it."""
    return float(re.sub(r"[^0-9.]", "", text))


async def test_a_refusal_is_shown_in_the_readers_language_with_money(people: People) -> None:
    page = await people.at("/cage", size=PHONE)
    await page.get_by_test_id("language").select_option("zh")
    await page.get_by_test_id("redeem-number").fill("NO-SUCH-TICKET")
    await page.get_by_test_id("redeem").click()
    told = page.get_by_test_id("toast").locator(".refused")
    await expect(told).to_contain_text("没有此号码的票券")
    await expect(told).not_to_contain_text("expected")

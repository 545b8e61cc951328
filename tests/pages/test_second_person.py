"""Two people at two pages: one asks, the other approves or declines on their own screen."""

from __future__ import annotations

from itertools import product

import pytest
from playwright.async_api import Page, expect

from tests.pages.browser import PHONE, screenshot
from tests.pages.dealing import Crew
from tests.pages.page_checks import axe, overflow
from tests.pages.people import DESK, People
from tests.pages.server_process import House

pytestmark = pytest.mark.part(name="pages")

WORTH = 700_00


async def asks_for_a_fill(page: Page, table: str) -> None:
    """A cashier asks for chips for a table, which takes two."""
    await page.get_by_role("tab").nth(2).click()
    await page.get_by_test_id("fill-table").select_option(table)
    await page.get_by_test_id("fill-amount").fill(str(WORTH // 100))
    await page.get_by_test_id("fill").click()
    await expect(page.get_by_test_id("second")).to_have_attribute("data-state", "waiting")


async def test_what_one_asks_for_the_other_approves_on_their_own_screen(people: People, house: House) -> None:
    async with Crew(house, house.fresh("MBS")) as crew:
        supervisor, cashier = await people.pit(), await people.cage()
        await asks_for_a_fill(cashier, crew.table)
        await expect(cashier.get_by_test_id("second-people")).to_contain_text("Sam Rivers")
        await expect(cashier.locator('input[type="password"]')).to_have_count(0)
        card = supervisor.get_by_test_id("approval").filter(has_text=crew.table)
        for text in ("Kim Park (Cashier)", "Send chips from the cage to the tray", "Amount", "700.00"):
            await expect(card).to_contain_text(text)
        for code, size in product(("zh", "en"), (PHONE, DESK)):
            await supervisor.get_by_test_id("language").select_option(code)
            await supervisor.set_viewport_size(size)
            await screenshot(supervisor, f"second-approver-{size['width']}-{code}")
            assert await overflow(supervisor) == 0, (code, size)
        for page in (supervisor, cashier):
            assert await axe(page) == []
        await card.get_by_test_id("approve").click()
        await expect(cashier.get_by_test_id("toast")).to_contain_text("700")
        await expect(cashier.get_by_test_id("second")).to_have_count(0)
        await expect(card).to_have_count(0)
        *_, filled = house.events(crew.table, "fill-received")
        assert (filled["amount"], filled["second"]) == (WORTH, "Sam Rivers")


async def test_whoever_declines_says_why_and_nothing_is_done(people: People, house: House) -> None:
    async with Crew(house, house.fresh("MBS")) as crew:
        supervisor, cashier = await people.pit(), await people.cage()
        await cashier.get_by_test_id("language").select_option("zh")
        await asks_for_a_fill(cashier, crew.table)
        await screenshot(cashier, "second-asker-zh")
        card = supervisor.get_by_test_id("approval").filter(has_text=crew.table)
        await card.get_by_test_id("decline").click()
        await card.get_by_test_id("approval-reason").fill("count it again")
        await screenshot(supervisor, "second-declines-en")
        await card.get_by_test_id("approval-confirm").click()
        over = cashier.get_by_test_id("second-over")
        await expect(over).to_contain_text("Sam Rivers 已拒绝")
        await expect(over).to_contain_text("count it again")
        await screenshot(cashier, "second-declined-zh")
        await cashier.get_by_test_id("cancel").click()
        await expect(cashier.get_by_test_id("second")).to_have_count(0)
        assert WORTH not in [event["amount"] for event in house.events(crew.table, "fill-received")]


async def test_what_is_withdrawn_is_gone_from_the_other_page(people: People, house: House) -> None:
    async with Crew(house, house.fresh("RWS")) as crew:
        supervisor, cashier = await people.pit(), await people.cage()
        await asks_for_a_fill(cashier, crew.table)
        card = supervisor.get_by_test_id("approval").filter(has_text=crew.table)
        await expect(card).to_be_visible()
        await cashier.get_by_test_id("cancel").click()
        await expect(card).to_have_count(0)

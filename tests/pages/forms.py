"""Forms of pages: opened, filled in and sent, with pictures of them."""

from __future__ import annotations

from itertools import product
from typing import Any, Final

from playwright.async_api import Locator, Page, expect

from tests.pages.browser import PHONE, screenshot
from tests.pages.page_checks import overflow
from tests.pages.people import DESK
from tests.pages.screens import ConsoleScreen, Screen
from tests.tiers import sampled

CAMERA: Final = "camera 4, 21:03:10"
_FIELDS: Final = """(form) => [...new Set([...form.querySelectorAll("[data-testid^=field-]")]
    .map((one) => one.dataset.testid.split("-")[1]))]"""


def as_rank(rank: str) -> dict[str, Any]:
    """The rank that looks at a page; `as` is no name in Python."""
    return {"as": rank}


async def opened(console: ConsoleScreen, command: str, name: str) -> None:
    """Opens the form of an act among the others, and keeps a picture of it."""
    button = console.at(f"act-{command}").first
    if not await button.is_visible():
        await console.at("side-acts").click()
    await button.click()
    await expect(console.at("act-dialog")).to_be_visible()
    await pictured(console.page, name)


async def pictured(page: Page, name: str) -> None:
    """Keeps what the page shows."""
    await screenshot(page, f"rules-{name}")


async def filled(console: Screen, within: str = "act-dialog", **fields: str) -> None:
    """Fills in texts and amounts, and chooses from lists."""
    form = console.at(within)
    for name, value in fields.items():
        field = form.get_by_test_id(f"field-{name}")
        if await field.count() == 0:
            await form.get_by_test_id(f"field-{name}-{value}").check()
        elif await field.evaluate("(one) => one.tagName") == "SELECT":
            await field.select_option(value)
        else:
            await field.fill(value)


async def sent(console: ConsoleScreen, *, second: bool = False) -> None:
    """Sends the form, with a second person where one is needed."""
    await console.at("act-dialog").get_by_test_id("confirm").click()
    if second:
        await console.at("second-agree").click()
    await expect(console.at("act-dialog")).to_have_count(0)


async def in_both_languages(page: Page, name: str, at: Locator | None = None) -> None:
    """Keeps pictures of a page at a desk and on a phone, in English and Chinese; it fits all of them."""
    language = page.get_by_test_id("language")
    for code, size in sampled(f"pictures of {name}", product(("zh", "en"), ("phone", "desk")), 1):
        await language.select_option(code)
        await page.set_viewport_size({"phone": PHONE, "desk": DESK}[size])
        if at is not None:
            await at.scroll_into_view_if_needed()
        await pictured(page, f"{name}-{size}-{code}")
        assert await overflow(page) == 0, (name, size, code)
    await page.set_viewport_size(DESK)
    await language.select_option("en")


async def asked(screen: Screen) -> list[str]:
    """The fields that a form shows, beside the choice of what was wrong."""
    fields: list[str] = await screen.page.get_by_test_id("form").evaluate(_FIELDS)
    return [field for field in fields if field != "change"]

"""What holds of every page: it errs nowhere, everyone can use it, in both languages, on every screen."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Final

import pytest
from playwright.async_api import Page, ViewportSize, expect

from tests.pages.browser import KIOSK, PHONE, TABLET, WALL, screenshot
from tests.pages.page_checks import axe, overflow, texts
from tests.pages.people import DESK, People
from tests.pages.scenes import Evening
from tests.pages.server_process import House
from tests.project.tree import ROOT
from tests.tiers import sampled

pytestmark = pytest.mark.part(name="pages")

PLACES: Final = {
    "index": "/",
    "terminal": "/terminal?table=RWS1",
    "console": "/console?table=MBS1",
    "display": "/display?table=MBS1",
    "recorder": "/recorder?table=US1",
    "round": "/round?table=MBS1&round=1",
    "pit": "/pit",
    "cage": "/cage",
    "school": "/school",
    "office": "/office",
    "first-sign-in": "/first-sign-in",
    "account": "/account",
}
"""Page → where one sees it best."""
SIZES: Final = {"kiosk": KIOSK, "tablet": TABLET, "phone": PHONE, "desk": DESK}
DIGEST: Final = re.compile("[0-9a-f]{12}")
"""The first digits of a rulebook's digest; three letters in a row are chance."""
LATIN: Final = re.compile(r"[A-Za-z]{3,}")
CHINESE: Final = re.compile(r"[\u4e00-\u9fff]")
NAMES: Final = re.compile(
    r"\b(Taisai|PLAY|(MBS|RWS|CARD|US)\d+|Virtual \w+|[0-9a-f]{64}|"
    r"Dev Patel|Fay Lund|Pia Costa|Max Berg|Cleo Grant|Sam Rivers|Kim Park|Alma Ortiz|Ada Stone)\b"
)
"""What is called the same in every language."""


@pytest.fixture(scope="module", autouse=True)
def evening(runner: asyncio.Runner, demonstration: House) -> Iterator[Evening]:
    """Something to see."""
    made = Evening(demonstration)
    runner.run(made.begin())
    yield made
    runner.run(made.end())


async def shown(people: People, name: str) -> Page:
    """A page that has everything it waits for."""
    page = await people.visitor(PLACES[name], size=size_of(name))
    await expect(page.locator("main")).to_be_visible()
    await expect(page.locator("main")).not_to_be_empty()
    await expect(page.locator('[data-testid="connection"]:not([data-state="open"])')).to_have_count(0)
    await expect(page.get_by_text(re.compile("^(Connecting…|连接中…)$"))).to_have_count(0)
    await page.wait_for_load_state("networkidle")
    return page


def test_every_page_of_the_house_is_here() -> None:
    assert {path.stem for path in (ROOT / "frontend").glob("*.html")} == PLACES.keys()


@pytest.mark.parametrize("name", sampled("pages", PLACES, 3))
async def test_a_page_is_for_everyone(visitors: People, name: str) -> None:
    page = await shown(visitors, name)
    await screenshot(page, name)
    found: dict[str, object] = {"axe": await axe(page)}
    for size, viewport in SIZES.items():
        await page.set_viewport_size(viewport)
        if size == "phone":
            await screenshot(page, f"{name}-phone")
        found[f"wider than {size}"] = await overflow(page)
    await page.set_viewport_size(size_of(name))
    await expect(page.locator("html")).to_have_attribute("lang", re.compile("^en"))
    found["Chinese in English"] = [
        text for text in await texts(page) if CHINESE.search(text) and text != "中文"
    ]
    await page.get_by_test_id("language").select_option("zh")
    await expect(page.locator("html")).to_have_attribute("lang", re.compile("^zh"))
    found["English in Chinese"] = untold(await texts(page))
    await screenshot(page, f"{name}-zh")
    await page.get_by_test_id("theme").click()
    await expect(page.locator("html")).to_have_attribute("data-theme", "contrast")
    await page.reload()
    await expect(page.locator("html")).to_have_attribute("lang", re.compile("^zh"))
    await expect(page.locator("html")).to_have_attribute("data-theme", "contrast")
    assert {what: wrong for what, wrong in found.items() if wrong} == {}


def size_of(name: str) -> ViewportSize:
    """A page on the screen that it is made for."""
    return {"display": WALL, "terminal": KIOSK}.get(name, DESK)


def untold(found: list[str]) -> list[str]:
    """Texts that no reader of Chinese can read."""
    return [
        text
        for text in found
        if LATIN.search(NAMES.sub("", text)) and not CHINESE.search(text) and not DIGEST.fullmatch(text)
    ]


def test_sabotage_a_text_that_was_not_translated_is_found() -> None:
    assert untold(["Undo", "terminal.undo", "撤回", "MBS1", "Taisai", "5.00 PLAY", "399c09edb4ad"]) == [
        "Undo",
        "terminal.undo",
    ]

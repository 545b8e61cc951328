"""The harness itself: a server that can be killed, a browser that sees faults, and looks that find them."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.pages.browser import PHONE, screenshot
from tests.pages.conftest import attended, opened_browser
from tests.pages.dealing import OPEN, Crew
from tests.pages.page_checks import THEMES, axe, overflow, small_targets, texts
from tests.pages.people import People, Profiles
from tests.pages.server_process import BOOKS, DEMONSTRATION, House
from tests.tiers import sampled

pytestmark = pytest.mark.part(name="pages")

GOOD = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Good</title></head>
<body><main><h1>Good</h1>
<button aria-label="Undo">\u21b6</button><p>Eight to one</p></main></body></html>"""


def page_with(part: str) -> str:
    return GOOD.replace("</main>", f"{part}</main>")


# The server


async def test_a_server_is_served_with_a_table_for_every_rulebook(house: House) -> None:
    told = await house.told("GET", "/health")
    assert told["status"] == "ok"
    assert {one["rulebook"] for one in told["tables"]} == set(BOOKS.values())


async def test_the_first_page_is_shown_without_a_fault(visitors: People) -> None:
    page = await visitors.visitor("/")
    await expect(page.locator("body")).to_contain_text("Taisai")
    assert (await screenshot(page, "harness")).stat().st_size > 1_000


@pytest.mark.parametrize("kind", sampled("whole rounds by a crew", BOOKS, 1))
async def test_a_crew_deals_whole_rounds_of_every_rulebook(house: House, kind: str) -> None:
    async with Crew(house, house.fresh(kind)) as crew:
        player = await house.player(crew.table, buys=1_000_00)
        await crew.to(OPEN)
        await player.bets_open(within=5)
        await player.place({"small": 5_00})
        assert await crew.round() == 1
        # 1, 2 and 3 are small, at even money
        await player.until(player.seat_feed, lambda seat: seat.credits == 1_005_00, within=5)
        assert await crew.round() == 2
        await player.close()


async def test_a_fresh_table_is_given_once(house: House) -> None:
    assert house.fresh("US") != house.fresh("US")


async def test_a_server_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    async with House(tmp_path, DEMONSTRATION[:1]) as house:
        async with Crew(house, "MBS1") as crew:
            await crew.to(OPEN)
        url = house.url
        await house.kill()
        with pytest.raises(Exception, match="connection"):
            await house.told("GET", "/health")
        await house.start()
        assert house.url == url
        (table,) = (await house.told("GET", "/health"))["tables"]
        assert (table["number"], table["phase"]) == (1, OPEN)


async def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("no folder")
    with pytest.raises(RuntimeError, match="got one that stopped") as error:
        await House(tmp_path, DEMONSTRATION[:1]).start()
    assert "cannot make the folder" in str(error.value)


# The browser


def test_without_chromium_one_sentence_says_what_to_install(
    runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    with pytest.raises(pytest.fail.Exception, match=r"^expected chromium .* \(apt-get install -y chromium"):
        next(opened_browser(runner))


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ('<img src="/page/none.png" alt="">', "console: Failed to load resource"),
        ('<img src="/page/none.png" alt="">', "answer: GET .*none.png: 404"),
        ('<img src="http://127.0.0.1:9/x.png" alt="">', "console: .*Content Security Policy"),
        ('<p style="color: red">Red</p>', "console: .*Content Security Policy"),
        ("<script>console.log('in a line')</script>", "console: .*Content Security Policy"),
    ],
)
async def test_sabotage_a_page_that_errs_is_seen(people: People, part: str, found: str) -> None:
    await people.visitor("/bad", instead=page_with(part))
    assert any(re.search(found, str(one)) for one in people.watch.faults)
    people.watch.allow(".")


async def test_sabotage_scripts_that_err_are_seen(people: People) -> None:
    page = await people.visitor("/bad", instead=GOOD)
    assert people.watch.faults == []
    await page.evaluate("setTimeout(() => { throw new Error('thrown') })")
    await page.evaluate("setTimeout(() => Promise.reject(new Error('rejected')))")
    await page.evaluate("setTimeout(() => console.error('complained'))")
    await page.evaluate("fetch('http://127.0.0.1:9/').catch(() => 0)")
    await page.evaluate("new Promise((done) => { new WebSocket('ws://127.0.0.1:9').onerror = done })")
    seen = " ".join(map(str, people.watch.faults))
    for word in ("script: thrown", "script: rejected", "console: complained", "127.0.0.1:9/"):
        assert word in seen
    people.watch.allow(".")


def test_sabotage_a_fault_fails_its_test(
    request: pytest.FixtureRequest, runner: asyncio.Runner, profiles: Profiles, house: House
) -> None:
    attending = attended(People(profiles, house), request, runner)
    people = next(attending)
    runner.run(people.visitor("/bad", instead=page_with('<p style="color: red">Red</p>')))
    with pytest.raises(pytest.fail.Exception, match=r"do not err, got\n  console: .*style"):
        next(attending)
    assert people.pages == []


# Looking


async def test_a_good_page_has_nothing_against_it(people: People) -> None:
    page = await people.visitor("/good", size=PHONE, instead=GOOD)
    assert await axe(page) == []
    assert await page.locator("html").get_attribute("data-theme") is None
    assert await overflow(page) == 0
    assert sorted(await texts(page)) == ["Eight to one", "Good", "Undo", "\u21b6"]


async def test_sabotage_axe_finds_what_keeps_people_out(people: People) -> None:
    parts = {
        "button-name": "<p><button></button></p>",
        "image-alt": '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">',
        "color-contrast": '<p><font color="#eeeeee">Pale</font></p>',
        "heading-order": "<h4>Skipped</h4>",
        "target-size": "<button>+</button><button>-</button>",
    }
    seen = await axe(await people.visitor("/bad", instead=page_with("".join(parts.values()))))
    for theme in THEMES:
        assert {one.split(": ")[1] for one in seen if one.startswith(theme)} >= parts.keys(), seen


async def test_sabotage_what_a_finger_misses_and_what_runs_over_is_found(people: People) -> None:
    page = await people.visitor(
        "/bad",
        size=PHONE,
        instead=page_with('<table width="500"><td>Wide</table><p><a href="/">in a line</a>'),
    )
    assert [one.name for one in await small_targets(page)] == ["Undo"]
    assert await overflow(page) > 100


async def test_sabotage_a_page_with_nothing_to_press_is_no_success(people: People) -> None:
    page = await people.visitor("/bad", instead=GOOD.replace("button", "span"))
    with pytest.raises(AssertionError, match="got nothing"):
        await small_targets(page)

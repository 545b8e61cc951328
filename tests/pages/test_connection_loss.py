"""A page whose line is dead, whose server is away, whose browser is not as it should be: it goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Page, Route, WebSocketRoute, expect

from tests.pages.connections import SOCKETS, Line
from tests.pages.dealing import OPEN, Crew
from tests.pages.people import People, connected
from tests.pages.screens import PENDING, Screen
from tests.pages.server_process import House, tables_of

pytestmark = pytest.mark.part(name="pages")

SECONDS: Final = 1_000.0
LOST_WITHIN: Final = 15 * SECONDS  # a page is to see it within eight; machines that test are shared
AN_HOUR_ON: Final = "() => { const now = Date.now; Date.now = () => now() + 3600e3; }"
FAILED: Final = ("status of 502", "answer: .*: 502", "status of 429", "answer: .*: 429")
Answers = Callable[[Route], Coroutine[Any, Any, None]]


def once(status: int, body: str) -> Answers:
    """The first request is answered so, whatever it is; the others get through."""
    asked: list[Route] = []

    async def answer(route: Route) -> None:
        asked.append(route)
        if len(asked) == 1:
            await route.fulfill(status=status, body=body)
        else:
            await route.continue_()

    return answer


async def page_of(people: People) -> Page:
    """A page that has been nowhere yet."""
    return await people.visitor("/blank", instead="<!doctype html><title>Blank</title>")


# A line that says nothing


async def test_a_dead_line_is_seen_though_nobody_says_so_and_a_bet_counts_once(
    people: People, house: House
) -> None:
    async with Crew(house, house.fresh("RWS")) as crew:
        line = Line()
        one = await people.terminal(crew.table, line=line)
        await one.buys()
        await crew.to(OPEN)
        await one.is_open()
        line.die()
        await one.taps("small", 5_00)
        await expect(one.at("connection")).to_have_attribute("data-state", "lost", timeout=LOST_WITHIN)
        await one.lies("small", 5_00, PENDING)
        line.mend()
        await expect(one.at("connection")).to_have_attribute("data-state", "open", timeout=LOST_WITHIN)
        await one.lies("small", 5_00)
        await one.has(credits=495_00, at_risk=5_00)
        assert len(house.events(crew.table, "bet-registered")) == 1


async def test_a_countdown_goes_by_the_servers_clock_whatever_the_devices_own_says(
    people: People, house: House
) -> None:
    async with Crew(house, house.fresh("US")) as crew:
        one = await people.terminal(crew.table)
        wall = await people.display(crew.table)
        await crew.to(OPEN)
        await one.is_open()
        for screen in (one, wall):
            await screen.page.evaluate(AN_HOUR_ON)
            before = int(await screen.at("countdown").get_attribute("data-seconds") or 0)
            await expect(screen.at("countdown")).not_to_have_attribute("data-seconds", str(before))
            after = int(await screen.at("countdown").get_attribute("data-seconds") or 0)
            assert before - 60 < after < before, (before, after)


# A server that is busy, or away


AWAY: Final = (502, "<html>Bad gateway</html>")
BUSY: Final = (429, '{"reason": "too-often", "message": "expected less"}')


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [*((path, *AWAY) for path in ("/terminal", "/display", "/console", "/cage", "/")), ("/terminal", *BUSY)],
    ids=["terminal", "display", "console", "cage", "lobby", "terminal-busy"],
)
async def test_one_request_that_fails_does_not_leave_a_page_dark(
    people: People, house: House, path: str, status: int, body: str
) -> None:
    people.watch.allow(*FAILED)
    page = await page_of(people)
    await page.route("**/health", once(status, body))
    await page.route("**/api/demo/enter", once(status, body))
    await page.goto(path if path == "/" else f"{path}?table={next(iter(house.tables))}")
    await connected(page)


@pytest.mark.parametrize("why", ["full", "silent", "stopped"])
async def test_a_server_that_says_come_back_is_come_back_to(people: People, why: str) -> None:
    sockets: list[WebSocketRoute] = []

    def dialled(page: WebSocketRoute) -> None:
        sockets.append(page)
        page.connect_to_server()

    one = await page_of(people)
    await one.route_web_socket(SOCKETS, dialled)
    await one.goto("/cage")
    await connected(one)
    kept = await one.evaluate("sessionStorage.getItem('taisai-session')")
    sockets[0].send(json.dumps([{"type": "end", "why": why, "message": "expected room, got none"}]))
    await sockets[0].close(code=1013)
    await expect(one.get_by_test_id("connection")).to_have_attribute("data-state", "lost")
    await connected(one)
    assert len(sockets) == 2
    assert await one.evaluate("sessionStorage.getItem('taisai-session')") == kept


async def test_a_device_comes_in_by_itself_once_it_is_enrolled(people: People, house: House) -> None:
    async def at_work(route: Route) -> None:
        told = await (await route.fetch()).json()
        await route.fulfill(json={**told, "demonstration": False})

    def says_so(page: WebSocketRoute) -> None:
        server = page.connect_to_server()
        server.on_message(
            lambda said: page.send(str(said).replace('"demonstration":true', '"demonstration":false'))
        )

    page = await page_of(people)
    await page.route("**/health", at_work)
    await page.route_web_socket(SOCKETS, says_so)
    await page.goto("/display?device=WALL-77")
    key = await page.get_by_test_id("device-key").inner_text()
    enrolled = {"device": "WALL-77", "kind": "display", "key": key, "table": house.fresh("CARD")}
    await house.told("POST", "/api/devices", enrolled, token=await house.token("administrator"))
    await connected(page)
    await expect(page.get_by_test_id("device-key")).to_have_count(0)


@pytest.mark.parametrize("path", ["/pit?as=nobody", "/terminal?table=NOPE"])
async def test_a_page_that_is_not_let_in_says_why_and_does_not_seem_to_wait(
    people: People, path: str
) -> None:
    people.watch.allow("status of 4", "answer: POST .*/api/demo/enter: 4")
    page = await people.visitor(path)
    await expect(page.get_by_test_id("not-in")).to_be_visible()
    await expect(page.get_by_test_id("connecting")).to_have_count(0)
    await expect(page.get_by_test_id("again")).to_be_visible()


# A browser that is not as it should be


async def test_a_language_that_cannot_be_loaded_changes_nothing_and_can_be_chosen_later(
    people: People,
) -> None:
    people.watch.allow("ERR_FAILED")
    one = Screen(await people.at("/cage"))
    title = await one.page.locator("h1").inner_text()
    await one.page.route("**/assets/zh*", lambda route: route.abort())
    await one.at("language").select_option("zh")
    await expect(one.at("toast").locator(".refused")).to_contain_text("does not answer")
    await expect(one.at("language")).to_have_value("en")
    await expect(one.page.locator("h1")).to_have_text(title)
    await one.page.unroute("**/assets/zh*")
    await one.page.reload()
    await connected(one.page)
    await expect(one.at("language")).to_have_value("en")
    await one.at("language").select_option("zh")
    await expect(one.page.locator("h1")).not_to_have_text(title)


@pytest.mark.parametrize("kept", ["{bad", '{"token": 7}'])
async def test_a_session_that_is_kept_broken_is_no_session(people: People, kept: str) -> None:
    page = await page_of(people)
    await page.evaluate("(kept) => sessionStorage.setItem('taisai-session', kept)", kept)
    await page.goto("/cage")
    await connected(page)


async def test_a_console_that_comes_back_to_a_server_started_again_says_nothing_of_fetching(
    people: People, tmp_path: Path
) -> None:
    people.watch.allow(
        "WebSocket connection", "ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "status of 50"
    )
    own = House(tmp_path, tables_of(1)[:1])
    people.house = own
    async with own:
        one = await people.console("MBS1")
        await own.stop()
        await one.is_("lost")
        await own.start()
        await one.is_("open")
        await expect(one.at("toast")).not_to_contain_text("fetch")

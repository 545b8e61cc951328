"""People at pages: everyone has a tab of their own, where the pages keep who someone is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final
from urllib.parse import urlencode

from playwright.async_api import Browser, BrowserContext, Page, Route, ViewportSize, expect

from taisai.server.http.guard import HEADERS
from tests.pages.browser import KIOSK, PATIENCE, WALL, Watch, screenshot
from tests.pages.connections import SOCKETS, Line
from tests.pages.screens import ConsoleScreen, Screen, TerminalScreen
from tests.pages.server_process import House

DESK: Final = ViewportSize(width=1440, height=900)
CONNECTION: Final = "connection"


def replaced(body: str) -> Callable[[Route], Awaitable[None]]:
    """Answers with a text instead of what the server serves, with the server's own headers."""
    return partial(Route.fulfill, body=body, content_type="text/html", headers=HEADERS)


class Profiles:
    """One profile of a browser for each server: a tab there opens in a third of the time of a new one."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._profiles: dict[str, tuple[BrowserContext, Page]] = {}

    async def of(self, url: str) -> BrowserContext:
        """The profile for a server. An empty tab stays open in it, so that its process does."""
        if url not in self._profiles:
            profile = await self._browser.new_context(
                base_url=url, viewport=DESK, locale="en-GB", reduced_motion="reduce"
            )
            profile.set_default_timeout(PATIENCE)
            empty = await profile.new_page()
            await empty.route(f"{url}/empty", replaced("<!doctype html><title>Empty</title>"))
            await empty.goto("/empty")
            self._profiles[url] = (profile, empty)
        return self._profiles[url][0]

    async def forget(self, url: str) -> None:
        """Takes out what the pages of a server have kept, such as a theme or a language."""
        profile, empty = self._profiles[url]
        await profile.clear_cookies()
        await empty.evaluate("localStorage.clear()")


class People:
    """Whoever comes to the pages of a house during one test."""

    def __init__(self, profiles: Profiles, house: House) -> None:
        self.house = house
        self.watch = Watch()
        self.pages: list[Page] = []
        """Every page that was opened."""
        self._profiles = profiles
        self._url = ""

    # Coming and going

    async def visitor(
        self,
        path: str,
        *,
        size: ViewportSize | None = None,
        instead: str | None = None,
        line: Line | None = None,
    ) -> Page:
        """Someone who opens an address; nothing on the page moves.

        `instead` is shown there instead of what the server serves, with the server's own headers; the page's
        connection goes through `line`.
        """
        page = await self._tab(size or DESK)
        if instead is not None:
            await page.route(f"{self.house.url}{path}", replaced(instead))
        if line is not None:
            await page.route_web_socket(SOCKETS, line.connected)
        await page.goto(path)
        return page

    async def _tab(self, size: ViewportSize) -> Page:
        profile = await self._profiles.of(self.house.url)
        if not self._url:
            self._url = self.house.url
            self.watch.on(profile)
        page = await profile.new_page()
        self.pages.append(page)
        await page.set_viewport_size(size)
        return page

    async def at(
        self, path: str, *, size: ViewportSize | None = None, line: Line | None = None, **asked: str
    ) -> Page:
        """Someone at a page of the server, connected."""
        page = await self.visitor(f"{path}?{urlencode(asked)}" if asked else path, size=size, line=line)
        await connected(page)
        return page

    async def terminal(
        self, table: str, *, size: ViewportSize | None = None, line: Line | None = None
    ) -> TerminalScreen:
        """A player."""
        return TerminalScreen(await self.at("/terminal", size=size or KIOSK, line=line, table=table))

    async def terminals(self, table: str, many: int) -> list[TerminalScreen]:
        """Players who come one after the other."""
        return [await self.terminal(table) for _ in range(many)]

    async def console(self, table: str, rank: str = "dealer") -> ConsoleScreen:
        """A dealer, or someone above him."""
        return ConsoleScreen(await self.at(f"/console?as={rank}&table={table}"))

    async def display(self, table: str) -> Screen:
        """The wall."""
        return Screen(await self.at("/display", size=WALL, table=table))

    async def recorder(self, table: str) -> Page:
        """Someone who writes down how chips lie."""
        return await self.at("/recorder", table=table)

    async def pit(self) -> Page:
        """A supervisor."""
        return await self.at("/pit")

    async def cage(self) -> Page:
        """A cashier."""
        return await self.at("/cage")

    async def leave(self) -> None:
        """Everyone goes."""
        for page in self.pages:
            await page.close()
        self.pages.clear()
        if self._url:
            self.watch.off()
            await self._profiles.forget(self._url)

    async def kept(self, name: str) -> list[str]:
        """What everyone sees now, kept as pictures: a test failed."""
        return [
            str(await screenshot(page, f"failed-{name}-{number}"))
            for number, page in enumerate(self.pages, 1)
        ]


async def connected(page: Page) -> None:
    """Waits until a page says that it is connected."""
    await expect(page.get_by_test_id(CONNECTION)).to_have_attribute("data-state", "open", timeout=PATIENCE)

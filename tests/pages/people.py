"""People at pages: everyone has a context of their own, as everyone has a device of their own."""

from __future__ import annotations

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


class People:
    """Whoever comes to the pages of a house during one test."""

    def __init__(self, browser: Browser, house: House) -> None:
        self.house = house
        self.watch = Watch()
        self._browser = browser
        self._contexts: list[BrowserContext] = []

    # Coming and going

    async def visitor(
        self,
        path: str,
        *,
        size: ViewportSize | None = None,
        moves: bool = False,
        language: str = "en-GB",
        instead: str | None = None,
        line: Line | None = None,
    ) -> Page:
        """Someone who opens an address; nothing on the page moves unless that is what is tested.

        `instead` is shown there instead of what the server serves, with the server's own headers; the page's
        connection goes through `line`.
        """
        context = await self._context(size=size, moves=moves, language=language)
        if instead is not None:
            answer = partial(Route.fulfill, body=instead, content_type="text/html", headers=HEADERS)
            await context.route(f"{self.house.url}{path}", answer)
        page = await context.new_page()
        if line is not None:
            await page.route_web_socket(SOCKETS, line.connected)
        await page.goto(path)
        return page

    async def _context(
        self, *, size: ViewportSize | None = None, moves: bool = False, language: str = "en-GB"
    ) -> BrowserContext:
        context = await self._browser.new_context(
            base_url=self.house.url, viewport=size or DESK, locale=language,
            reduced_motion="no-preference" if moves else "reduce",
        )  # fmt: skip
        self._contexts.append(context)
        context.set_default_timeout(PATIENCE)
        self.watch.on(context)
        return context

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
        """Players who come one after the other, in tabs of one browser, which starts sooner than many."""
        context = await self._context(size=KIOSK)
        screens = []
        for _ in range(many):
            page = await context.new_page()
            await page.goto(f"/terminal?table={table}")
            await connected(page)
            screens.append(TerminalScreen(page))
        return screens

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

    @property
    def pages(self) -> list[Page]:
        """Every page that is open."""
        return [page for context in self._contexts for page in context.pages]

    async def leave(self) -> None:
        """Everyone goes."""
        for context in self._contexts:
            await context.close()
        self._contexts.clear()

    async def kept(self, name: str) -> list[str]:
        """What everyone sees now, kept as pictures: a test failed."""
        return [
            str(await screenshot(page, f"failed-{name}-{number}"))
            for number, page in enumerate(self.pages, 1)
        ]


async def connected(page: Page) -> None:
    """Waits until a page says that it is connected."""
    await expect(page.get_by_test_id(CONNECTION)).to_have_attribute("data-state", "open", timeout=PATIENCE)

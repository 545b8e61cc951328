"""The line between a page and the floor: it can be slow, and it can be cut, as lines are."""

from __future__ import annotations

from typing import Final

from playwright.async_api import WebSocketRoute

SOCKETS: Final = "**/socket"


class Line:
    """Carries every message as it comes, unless it is told otherwise."""

    def __init__(self) -> None:
        self._page: WebSocketRoute | None = None
        self._held: list[tuple[WebSocketRoute, str | bytes]] | None = None

    def connected(self, page: WebSocketRoute) -> None:
        """A page connects, for the first time or again."""
        floor = page.connect_to_server()
        self._page = page
        page.on_message(floor.send)
        floor.on_message(lambda message: self._tell(page, message))

    def _tell(self, page: WebSocketRoute, message: str | bytes) -> None:
        if self._held is None:
            page.send(message)
        else:
            self._held.append((page, message))

    def hold(self) -> None:
        """What the floor tells comes later; what the page asks goes through."""
        self._held = []

    def release(self) -> None:
        """What was held comes, in its order, and then everything as before."""
        held, self._held = self._held or [], None
        for page, message in held:
            page.send(message)

    async def cut(self) -> None:
        """The connection breaks off; whoever was connected may connect again."""
        assert self._page is not None
        await self._page.close(code=1001)

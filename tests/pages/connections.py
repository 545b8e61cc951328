"""The line between a page and the server: it can be slow, and it can be cut, as lines are."""

from __future__ import annotations

import asyncio
import json
from typing import Final

from playwright.async_api import WebSocketRoute

SOCKETS: Final = "**/socket"
_BEAT: Final = {"pong"}
"""What alone gets through a slow line: a silent server counts as lost, and that is another test."""


class Line:
    """Carries every message as it comes, unless it is told otherwise."""

    def __init__(self) -> None:
        self._page: WebSocketRoute | None = None
        self._held: list[tuple[WebSocketRoute, str | bytes]] | None = None
        self._spoke = asyncio.Event()
        self._is_dead = False
        self._dialling: list[WebSocketRoute] = []

    def connected(self, page: WebSocketRoute) -> None:
        """A page connects, for the first time or again; on a dead line it waits."""
        self._page = page
        if self._is_dead:
            self._dialling.append(page)
            return
        server = page.connect_to_server()
        page.on_message(lambda message: None if self._is_dead else server.send(message))
        server.on_message(lambda message: self._tell(page, message))

    def _tell(self, page: WebSocketRoute, message: str | bytes) -> None:
        if self._is_dead:
            return
        if self._held is None or {one["type"] for one in json.loads(message)} == _BEAT:
            page.send(message)
        else:
            self._held.append((page, message))
            self._spoke.set()

    def die(self) -> None:
        """Nothing gets through any more, either way, and nobody is told: a cable is out somewhere."""
        self._is_dead = True

    def mend(self) -> None:
        """Whatever is said from now on gets through; what was said meanwhile is gone."""
        self._is_dead = False
        dialling, self._dialling = self._dialling, []
        for page in dialling[-1:]:
            self.connected(page)

    def hold(self) -> None:
        """What the server tells comes later, but that it is there; what the page asks goes through."""
        self._held = []
        self._spoke.clear()

    def release(self) -> None:
        """What was held comes, in its order, and then everything as before."""
        held, self._held = self._held or [], None
        for page, message in held:
            page.send(message)

    async def lose(self) -> None:
        """Waits until the server has told something that is held: that never comes, nor anything else."""
        await self._spoke.wait()
        self.die()
        self._held = None

    async def cut(self) -> None:
        """The connection breaks off; whoever was connected may connect again."""
        assert self._page is not None
        await self._page.close(code=1001)

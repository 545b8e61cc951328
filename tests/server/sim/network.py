"""A network in memory: connections to the socket's door with delays, and cuts that lose what is under way."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from random import Random
from typing import Any, Final

import msgspec

from taisai.client import Disconnected
from taisai.server.connections.dispatcher import Dispatcher
from taisai.server.http.app import PATH, serve_socket

HOST: Final = "floor.test"
ORIGIN: Final = f"https://{HOST}"
_GONE: Final = "expected an open connection, got one that was cut"


class _Asked(msgspec.Struct):
    id: str


class _Told(msgspec.Struct):
    to: str | None = None


_asked: Final = msgspec.json.Decoder(_Asked).decode
_told: Final = msgspec.json.Decoder(list[_Told]).decode


class _Way:
    """One direction: what goes in comes out later, in its order; a cut loses what is under way."""

    def __init__(self, chance: Random, slow: float) -> None:
        self._chance = chance
        self._slow = slow
        self._under_way: deque[Any] = deque()
        self._arrived: deque[Any] = deque()
        self._last = 0.0
        self._wake: asyncio.Future[None] | None = None
        self._is_cut = False
        self._loop = asyncio.get_running_loop()

    def put(self, message: Any) -> None:
        """Under way."""
        if not self._is_cut:
            self._last = max(self._last, self._loop.time() + self._chance.uniform(0, self._slow))
            self._under_way.append(message)  # timers of one moment come in any order; messages do not
            self._loop.call_at(self._last, self._arrive)

    def _arrive(self) -> None:
        if not self._is_cut:
            self._arrived.append(self._under_way.popleft())
            self._ring()

    def _ring(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def cut(self) -> None:
        """Nothing arrives any more; what has arrived can still be read."""
        self._is_cut = True
        self._ring()

    async def get(self) -> Any:
        """What arrives next; None where nothing will."""
        while not self._arrived:
            if self._is_cut:
                return None
            self._wake = self._loop.create_future()
            await self._wake
        return self._arrived.popleft()


class Line:
    """One connection: the client's side is a Connection, the server's the two functions of ASGI."""

    def __init__(self, chance: Random, slow: float, *, cut_after: float = 0.0) -> None:
        """`cut_after`: how often it is cut just after an ask has arrived."""
        self.asked: dict[str, None] = {}
        """Ids of asks that reached the server."""
        self.told: set[str] = set()
        """Ids that the server answered."""
        self.is_cut = False
        self.opened: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._chance = chance
        self._cut_after = cut_after
        self._up = _Way(chance, slow)
        self._down = _Way(chance, slow)
        self._up.put({"type": "websocket.connect"})

    # The client's side

    async def send(self, text: str) -> None:
        """To the server."""
        if self.is_cut:
            raise Disconnected(_GONE)
        self._up.put({"type": "websocket.receive", "text": text})

    async def receive(self) -> str:
        """From the server."""
        text = await self._down.get()
        if text is None:
            self.cut()
            raise Disconnected(_GONE)
        assert isinstance(text, str)
        return text

    async def close(self) -> None:
        """The client hangs up."""
        self.cut()

    # The server's side

    async def server_receives(self) -> dict[str, Any]:
        """What ASGI gives."""
        message: dict[str, Any] | None = await self._up.get()
        if message is None:
            return {"type": "websocket.disconnect", "code": 1006}
        if "text" in message:
            self.asked[_asked(message["text"]).id] = None
            if self._cut_after and self._chance.random() < self._cut_after:
                asyncio.get_running_loop().call_later(self._chance.uniform(0, 0.2), self.cut)
        return message

    async def server_sends(self, message: Any) -> None:
        """What ASGI takes."""
        kind = message["type"]
        if self.is_cut:
            raise OSError(_GONE)
        if kind == "websocket.accept":
            self.opened.set_result(True)
        elif kind == "websocket.send":
            self.told.update(tell.to for tell in _told(message["text"]) if tell.to is not None)
            self._down.put(message["text"])
        else:
            if not self.opened.done():
                self.opened.set_result(False)
            self._down.put(None)  # after everything that was said before

    def cut(self) -> None:
        """Both directions are dead, each from a moment of its own on."""
        self.is_cut = True
        self._down.cut()
        self._up.cut()
        if not self.opened.done():
            self.opened.set_result(False)

    @property
    def unanswered(self) -> list[str]:
        """Asks that the server heard and never answered."""
        return [id_ for id_ in self.asked if id_ not in self.told]


class Network:
    """Every connection there ever was."""

    def __init__(self, chance: Random, *, slow: float, cut_after: float = 0.0) -> None:
        """`slow`: the longest that a message is under way, in seconds."""
        self.lines: list[Line] = []
        self.dispatcher: Dispatcher | None = None
        """The server that answers; None while there is none."""
        self._chance = chance
        self._slow = slow
        self._cut_after = cut_after
        self._serving: dict[Line, asyncio.Task[None]] = {}

    def dial(self) -> Callable[[], Any]:
        """Connects to whatever server is there."""

        async def connected() -> Line:
            await asyncio.sleep(self._chance.uniform(0, self._slow))
            server = self.dispatcher
            if server is None:
                raise Disconnected("expected a floor, got none")
            line = Line(self._chance, self._slow, cut_after=self._cut_after)
            self.lines.append(line)
            scope = {
                "type": "websocket",
                "path": PATH,
                "headers": [(b"host", HOST.encode())],
                "client": ("sim", 1),
            }
            serving = serve_socket(server, scope, line.server_receives, line.server_sends)
            self._serving[line] = asyncio.get_running_loop().create_task(serving)
            if not await line.opened:
                raise Disconnected("expected an open door, got a closed one")
            return line

        return connected

    @property
    def open_lines(self) -> list[Line]:
        """Those that are not cut."""
        return [line for line in self.lines if not line.is_cut]

    @property
    def repeated(self) -> int:
        """How many asks reached the server over more than one connection."""
        counted = Counter(id_ for line in self.lines for id_ in line.asked)
        return sum(many > 1 for many in counted.values())

    async def crash(self) -> None:
        """The server's machine is gone, and every connection with it."""
        self.dispatcher = None
        for line in self.open_lines:
            line.cut()
        serving, self._serving = self._serving, {}
        for task in serving.values():
            task.cancel()
        await asyncio.gather(*serving.values(), return_exceptions=True)

"""A server that says what the test tells it to, over connections that are cut when the test likes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final

import msgspec

from taisai.client import Client, Disconnected, Pace
from taisai.protocol.message import PROTOCOL_VERSION, ServerMessage
from taisai.protocol.replies import ChallengeNotice, WelcomeReply
from tests.server.sim.virtual import VirtualLoop, run

NONCE: Final = "ab" * 32
PACE: Final = Pace(reply=10.0, welcome=5.0, first=1.0, most=4.0, tries=5)


class Line:
    """One connection, with the server's side in the hands of the test."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self._to_client: asyncio.Queue[str | None] = asyncio.Queue()
        self._unread: deque[dict[str, Any]] = deque()
        self._wake = asyncio.Event()
        self.is_cut = False

    async def send(self, text: str) -> None:
        """By the client."""
        if self.is_cut:
            raise Disconnected("expected an open line, got a cut one")
        ask = msgspec.json.decode(text)
        self.sent.append(ask)
        self._unread.append(ask)
        self._wake.set()

    async def receive(self) -> str:
        """By the client."""
        text = await self._to_client.get()
        if text is None:
            raise Disconnected("expected an open line, got a cut one")
        return text

    async def close(self) -> None:
        """By the client."""
        self.cut()

    async def asked(self) -> dict[str, Any]:
        """What the client asks next."""
        while not self._unread:
            self._wake.clear()
            await self._wake.wait()
        return self._unread.popleft()

    def tell(self, *tells: ServerMessage) -> None:
        """What the server says, in one message."""
        self._to_client.put_nowait(msgspec.json.encode(list(tells)).decode())

    def say(self, text: str) -> None:
        """Whatever text it is."""
        self._to_client.put_nowait(text)

    def cut(self) -> None:
        """Nothing goes either way."""
        self.is_cut = True
        self._to_client.put_nowait(None)


class Server:
    """Takes connections, as long as it is open."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.is_open = True
        self.dialled = 0
        self.epoch = "e1"
        self._came: asyncio.Queue[Line] = asyncio.Queue()

    async def dial(self) -> Line:
        """By the client."""
        self.dialled += 1
        if not self.is_open:
            raise Disconnected("expected a floor, got none")
        line = Line()
        self.lines.append(line)
        self._came.put_nowait(line)
        return line

    async def line(self) -> Line:
        """The next connection, challenged."""
        line = await self._came.get()
        line.tell(
            ChallengeNotice(
                protocol=PROTOCOL_VERSION,
                program="script",
                nonce=NONCE,
                epoch=self.epoch,
                demonstration=False,
                now=0,
                pages="",
            )
        )
        return line

    async def welcomed(self, **fields: Any) -> Line:
        """The next connection, welcomed."""
        line = await self.line()
        hello = await line.asked()
        assert hello["type"] == "hello"
        line.tell(WelcomeReply(to=hello["id"], role="terminal", name="P1", **fields))
        return line


def client_of(server: Server, kind: type[Client] = Client, *who: Any) -> Any:
    """A client of the scripted server, whose chance is none."""
    return kind(server.dial, *who, pace=PACE, entropy=bytes)


def play(story: Callable[[Server], Coroutine[Any, Any, None]]) -> None:
    """Runs a story in virtual time: nobody sleeps, and whoever waits for ever is found out."""

    async def told(_loop: VirtualLoop) -> None:
        await story(Server())

    run(told, most=600)

"""Connections: whatever carries texts both ways; `connect` makes one over WebSocket."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import WebSocketException

from taisai.client.errors import Disconnected

MOST_TOLD: Final = 8 * 1024 * 1024  # bytes of a message from the floor, whose outbox holds half as many
OPENING: Final = 10.0  # seconds until a floor that does not open the door is taken for absent


class Connection(Protocol):
    """Carries texts, in order, until it is cut."""

    async def send(self, text: str) -> None:
        """Sends a text; Disconnected where it cannot."""

    async def receive(self) -> str:
        """The next text; Disconnected where none will come."""

    async def close(self) -> None:
        """Lets go of it."""


Dial = Callable[[], Awaitable[Connection]]
"""Makes a new connection, each time that one is needed; Disconnected where it cannot."""


class WebSocket:
    """A connection over WebSocket."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def send(self, text: str) -> None:
        """Sends a text."""
        try:
            await self._socket.send(text)
        except (WebSocketException, OSError) as error:
            raise Disconnected(f"expected an open connection, got {error}") from None

    async def receive(self) -> str:
        """The next text."""
        try:
            message = await self._socket.recv()
        except (WebSocketException, OSError) as error:
            raise Disconnected(f"expected an open connection, got {error}") from None
        if not isinstance(message, str):
            raise Disconnected("expected a text, got bytes")
        return message

    async def close(self) -> None:
        """Lets go of it."""
        await self._socket.close()


async def connect(url: str) -> Connection:
    """A connection to a floor, such as `connect("ws://localhost:8080/socket")`."""
    try:
        socket = await open_socket(url, compression=None, max_size=MOST_TOLD, open_timeout=OPENING)
    except (WebSocketException, OSError, TimeoutError) as error:
        raise Disconnected(f"expected a floor at {url}, got {error}") from None
    return WebSocket(socket)


def at(url: str) -> Dial:
    """Connects to this address, as often as it takes."""

    async def dial() -> Connection:
        return await connect(url)

    return dial

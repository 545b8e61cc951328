"""Connections to a server: identities, timeouts, errors, and the WebSocket."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import reduce
from ipaddress import ip_address
from operator import or_
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol
from urllib.parse import urlsplit

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import WebSocketException

from taisai.protocol.message import PROTOCOL_VERSION, ServerMessage
from taisai.protocol.replies import SERVER_MESSAGES
from taisai.protocol.requests import HelloRequest, device_text


class ClientError(Exception):
    """The base of all errors of a client."""


class Refused(ClientError):  # noqa: N818  the protocol's word
    """The server refused the request, with a reason, a message and a clause."""

    def __init__(
        self, reason: str, message: str, *, clause: str | None = None, bet: str | None = None
    ) -> None:
        super().__init__(f"{reason}: {message}" + (f" ({clause})" if clause else ""))
        self.reason = reason
        self.message = message
        self.clause = clause
        self.bet = bet


class Disconnected(ClientError):  # noqa: N818  as above
    """There is no connection, or no reply came in time."""

    def __init__(self, message: str, *, in_doubt: bool = False) -> None:
        super().__init__(message)
        self.in_doubt = in_doubt
        """Whether the request was sent. Then only the views show whether it was carried out."""


class Pace(NamedTuple):
    """Timeouts in seconds, and the number of tries."""

    reply: float = 15.0
    """For a reply, including reconnections."""
    welcome: float = 10.0
    """From a new connection to the server's welcome."""
    first: float = 0.2
    """Before the first reconnection."""
    most: float = 10.0
    """The longest time before a reconnection."""
    tries: int = 20
    """Failed tries in a row after which the client gives up."""

    def wait(self, tried: int, chance: float) -> float:
        """The time before the next try: it doubles with each failure, with some randomness."""
        return float(min(self.most, self.first * 2 ** min(tried, 30))) * (0.5 + chance / 2)


class Visitor(NamedTuple):
    """A client without a session or device."""


class Staff(NamedTuple):
    """A member of staff, with the token of their session."""

    token: str

    def __repr__(self) -> str:  # never the token
        return "<Staff>"


class Device(NamedTuple):
    """A terminal, a display or a shaker, with its name and private key."""

    name: str
    key: Ed25519PrivateKey

    @classmethod
    def of(cls, name: str, seed: bytes) -> Device:
        """A device whose key is made from 32 secret bytes."""
        return cls(name, Ed25519PrivateKey.from_private_bytes(seed))

    @property
    def public(self) -> str:
        """The public key for its enrolment, in hexadecimal."""
        return self.key.public_key().public_bytes_raw().hex()

    def __repr__(self) -> str:  # never the key
        return f"<Device {self.name!r}>"


Who = Visitor | Staff | Device


def hello(id_: str, who: Who, nonce: str) -> HelloRequest:
    """The first request, which answers the server's challenge."""
    if isinstance(who, Staff):
        return HelloRequest(id=id_, protocol=PROTOCOL_VERSION, token=who.token)
    if isinstance(who, Device):
        text = device_text(who.name, bytes.fromhex(nonce))
        return HelloRequest(
            id=id_, protocol=PROTOCOL_VERSION, device=who.name, signature=who.key.sign(text).hex()
        )
    return HelloRequest(id=id_, protocol=PROTOCOL_VERSION)


MOST_RECEIVED: Final = 8 * 1024 * 1024  # bytes of a message; the server's outbox holds half as many
OPENING: Final = 10.0  # seconds for a WebSocket to open


class Connection(Protocol):
    """Carries texts in order until it breaks."""

    async def send(self, text: str) -> None:
        """Sends a text; raises Disconnected if it cannot."""

    async def receive(self) -> str:
        """The next text; raises Disconnected if none will come."""

    async def close(self) -> None:
        """Closes the connection."""


Dial = Callable[[], Awaitable[Connection]]
"""Makes a new connection; raises Disconnected if it cannot."""


class WebSocket:
    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def send(self, text: str) -> None:
        try:
            await self._socket.send(text)
        except (WebSocketException, OSError) as error:
            raise Disconnected(f"the connection is closed: {error}") from None

    async def receive(self) -> str:
        try:
            message = await self._socket.recv()
        except (WebSocketException, OSError) as error:
            raise Disconnected(f"the connection is closed: {error}") from None
        if not isinstance(message, str):
            raise Disconnected("expected a text message, got a binary one")
        return message

    async def close(self) -> None:
        await self._socket.close()


def encrypted(url: str) -> str:
    """The address, if what is sent to it is encrypted or stays on this machine; else a ValueError."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    try:
        is_here = ip_address(host).is_loopback
    except ValueError:
        is_here = host == "localhost"
    if parts.scheme in ("http", "ws") and not is_here:
        raise ValueError(f"expected https:// or wss:// for another machine, got {url!r}")
    return url


async def connect(url: str) -> Connection:
    """Connects to a server, such as `connect("ws://localhost:8080/socket")`."""
    try:
        socket = await open_socket(
            encrypted(url), compression=None, max_size=MOST_RECEIVED, open_timeout=OPENING
        )
    except (WebSocketException, OSError, TimeoutError) as error:
        raise Disconnected(f"no answer from {url}: {error}") from None
    return WebSocket(socket)


def at(url: str) -> Dial:
    """A function that connects to this address."""
    encrypted(url)

    async def dial() -> Connection:
        return await connect(url)

    return dial


if TYPE_CHECKING:
    AnyServerMessage = ServerMessage
else:
    AnyServerMessage = reduce(or_, SERVER_MESSAGES)

read: Final = msgspec.json.Decoder(list[AnyServerMessage]).decode
"""Reads the messages in a text."""


async def next_messages(connection: Connection) -> list[ServerMessage]:
    """The messages in the next text that has any."""
    while not (messages := read(await connection.receive())):
        pass
    return messages

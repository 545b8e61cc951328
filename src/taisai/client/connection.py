"""Connections to a server: who connects, how long they wait, what can go wrong, and the WebSocket itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import WebSocketException

from taisai.protocol.message import PROTOCOL_VERSION, ServerMessage
from taisai.protocol.replies import SERVER_MESSAGES
from taisai.protocol.requests import HelloRequest


class ClientError(Exception):
    """Whatever a client raises."""


class Refused(ClientError):  # noqa: N818  the floor's own word for it
    """The floor has decided, and it is not done: the reason, the clause, and what was expected."""

    def __init__(
        self, reason: str, message: str, *, clause: str | None = None, bet: str | None = None
    ) -> None:
        super().__init__(f"{reason}: {message}" + (f" ({clause})" if clause else ""))
        self.reason = reason
        self.message = message
        self.clause = clause
        self.bet = bet


class Disconnected(ClientError):  # noqa: N818  as above
    """There is no connection, or no answer came in time."""

    def __init__(self, message: str, *, in_doubt: bool = False) -> None:
        super().__init__(message)
        self.in_doubt = in_doubt
        """Whether the ask went out: then nobody here knows what became of it, and the views will tell."""


class Pace(NamedTuple):
    """Seconds, and how often a client tries."""

    answer: float = 15.0
    """Until an ask that nobody answers is given up, reconnections included."""
    coming_in: float = 10.0
    """From a new connection to the floor's welcome."""
    first: float = 0.2
    """Before the first new try after a cut."""
    most: float = 10.0
    """Before any later one."""
    tries: int = 20
    """Vain tries in a row after which the client gives up."""

    def wait(self, tried: int, chance: float) -> float:
        """Before the next try, after so many in vain: twice as long each time, never all clients at once."""
        return float(min(self.most, self.first * 2 ** min(tried, 30))) * (0.5 + chance / 2)


_SAYS: Final = b"taisai device 1\n"


class Visitor(NamedTuple):
    """Nobody in particular."""


class Staff(NamedTuple):
    """A person, by the token of his session."""

    token: str

    def __repr__(self) -> str:  # never the token
        return "<Staff>"


class Device(NamedTuple):
    """A terminal, a display or a shaker, by its name and its private key."""

    name: str
    key: Ed25519PrivateKey

    @classmethod
    def of(cls, name: str, seed: bytes) -> Device:
        """A device whose key is made from 32 bytes that nobody else has."""
        return cls(name, Ed25519PrivateKey.from_private_bytes(seed))

    @property
    def public(self) -> str:
        """The key that it is enrolled with, in hexadecimal."""
        return self.key.public_key().public_bytes_raw().hex()

    def __repr__(self) -> str:  # never the key
        return f"<Device {self.name!r}>"


Who = Visitor | Staff | Device


def hello(id_: str, who: Who, nonce: str) -> HelloRequest:
    """The first ask, which answers the floor's challenge."""
    if isinstance(who, Staff):
        return HelloRequest(id=id_, protocol=PROTOCOL_VERSION, token=who.token)
    if isinstance(who, Device):
        text = _SAYS + who.name.encode() + b"\n" + bytes.fromhex(nonce)
        return HelloRequest(
            id=id_, protocol=PROTOCOL_VERSION, device=who.name, signature=who.key.sign(text).hex()
        )
    return HelloRequest(id=id_, protocol=PROTOCOL_VERSION)


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
        raise Disconnected(f"no answer from {url}: {error}") from None
    return WebSocket(socket)


def at(url: str) -> Dial:
    """Connects to this address, as often as it takes."""

    async def dial() -> Connection:
        return await connect(url)

    return dial


if TYPE_CHECKING:
    AnyServerMessage = ServerMessage
else:
    AnyServerMessage = reduce(or_, SERVER_MESSAGES)

_decode: Final = msgspec.json.Decoder(list[AnyServerMessage]).decode


def read(text: str) -> list[ServerMessage]:
    """The tells of a message."""
    return _decode(text)


async def next_tells(connection: Connection) -> list[ServerMessage]:
    """The tells of the next message that has any."""
    while True:
        told = read(await connection.receive())
        if told:
            return told

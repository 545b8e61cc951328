"""Accepts connections, so that a stranger who opens many and finishes nothing takes no place of others.

A connection is half-open until its first request is complete: in the handshake of TLS, or in the head or body
of a request. One is a stranger's until a device or a person proves on it who they are, unless its network is
known already. Strangers share a part of the files that the server may open; one network has a part of theirs.
Where there is no room, the stranger's connection that has been half-open longest is closed.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import ip_address, ip_network
from ssl import SSLContext, SSLError
from typing import Final, NamedTuple, Protocol

import structlog

from taisai.server.auth.permissions import network_of

HANDSHAKE_WITHIN: Final = 10.0  # seconds for TLS: a terminal needs a few milliseconds
ACCEPTED_AT_ONCE: Final = 64  # in one turn of the loop, so that bets have their turns in between
PAUSE: Final = 1.0  # seconds without accepting when the system has no file left
_log = structlog.get_logger(__name__)


class Room(NamedTuple):
    """How many connections may be open."""

    all: int
    strangers: int
    """The others are for known networks."""
    network: int
    """Of the strangers of one network."""


def room_for(files: int) -> Room:
    """The room in a number of files: strangers have three quarters, and one network a quarter of that."""
    strangers = max(1, files * 3 // 4)
    return Room(max(1, files), strangers, max(1, strangers // 4))


class AcceptedConnection:
    """One connection, as its protocols know it."""

    __slots__ = ("_acceptor", "client", "is_stranger", "network", "task", "transport")

    def __init__(self, acceptor: Acceptor, client: socket.socket, network: str, *, is_stranger: bool) -> None:
        self._acceptor = acceptor
        self.client = client
        self.network = network
        self.is_stranger = is_stranger
        self.transport: asyncio.BaseTransport | None = None
        self.task: asyncio.Task[None] | None = None

    def finished(self) -> None:
        """A request is complete: the connection is no longer half-open."""
        self._acceptor.finished(self)

    def admitted(self) -> None:
        """A device or a person proved on it who they are."""
        self._acceptor.admitted(self)

    def lost(self) -> None:
        self._acceptor.lost(self)

    def close(self) -> None:
        """Closes it at once, also in the handshake."""
        if isinstance(self.transport, asyncio.WriteTransport):
            self.transport.abort()
        else:
            with suppress(OSError):  # it is over already
                self.client.shutdown(socket.SHUT_RDWR)


class AcceptedProtocol(Protocol):
    """The protocol of a new connection."""

    place: AcceptedConnection | None


class Acceptor:
    """Accepts the connections of one listening socket. It stands for a server of asyncio."""

    def __init__(
        self,
        at: socket.socket,
        make_protocol: Callable[[], AcceptedProtocol],
        *,
        room: Room,
        is_known: Callable[[str], bool],
        tls: SSLContext | None = None,
        proxies: Sequence[str] = (),
        on_refused: Callable[[str], None] = lambda _network: None,
    ) -> None:
        """`is_known`: whether someone of the House came from a network; `proxies` speak for many networks.

        `on_refused` hears from which network a handshake of TLS failed.
        """
        self._on_refused = on_refused
        self._at = at
        self._make_protocol = make_protocol
        self._room = room
        self._is_known = is_known
        self._tls = tls
        self._proxies = [ip_network(proxy, strict=False) for proxy in proxies]
        self._open: dict[AcceptedConnection, None] = {}
        self._strangers: Counter[str] = Counter()
        """Network → how many of its connections are strangers'."""
        self._half_open: dict[AcceptedConnection, None] = {}
        """Of strangers, the oldest first."""
        self._half_open_of: defaultdict[str, dict[AcceptedConnection, None]] = defaultdict(dict)
        self.turned_away = 0
        """Connections that found no room, or were closed half-open to make some."""
        self._loop = asyncio.get_running_loop()
        at.settimeout(0)
        self._loop.add_reader(at.fileno(), self._accept)

    def close(self) -> None:
        """Accepts no more; connections stay."""
        self._loop.remove_reader(self._at.fileno())

    async def wait_closed(self) -> None:
        """Nothing is left to wait for."""

    def __len__(self) -> int:
        return len(self._open)

    def _accept(self) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                client, address = self._at.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                _log.error("a connection could not be accepted", error=str(error))
                self._loop.remove_reader(self._at.fileno())
                self._loop.call_later(PAUSE, self._resume)
                return
            self._take(client, str(address[0]))

    def _resume(self) -> None:
        if self._at.fileno() >= 0:
            self._loop.add_reader(self._at.fileno(), self._accept)

    def _take(self, client: socket.socket, address: str) -> None:
        network = network_of(address)
        is_stranger = not (self._is_proxy(address) or self._is_known(network))
        if not self._make_room(network, is_stranger=is_stranger):
            self.turned_away += 1
            client.close()
            return
        client.settimeout(0)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = AcceptedConnection(self, client, network, is_stranger=is_stranger)
        self._open[connection] = None
        if is_stranger:
            self._strangers[network] += 1
            self._half_open[connection] = self._half_open_of[network][connection] = None
        connection.task = self._loop.create_task(self._begin(connection))

    def _is_proxy(self, address: str) -> bool:
        if not self._proxies:
            return False
        known = ip_address(address)
        known = getattr(known, "ipv4_mapped", None) or known
        return any(known in proxy for proxy in self._proxies)

    def _make_room(self, network: str, *, is_stranger: bool) -> bool:
        """Whether there is room for one more, perhaps since a half-open one was closed."""
        if is_stranger and self._strangers[network] >= self._room.network:
            return self._close_oldest(self._half_open_of[network])
        is_full = is_stranger and self._strangers.total() >= self._room.strangers
        if is_full or len(self._open) >= self._room.all:
            return self._close_oldest(self._half_open)
        return True

    def _close_oldest(self, waiting: dict[AcceptedConnection, None]) -> bool:
        oldest = next(iter(waiting), None)
        if oldest is None:
            return False
        self.turned_away += 1
        self.lost(oldest)
        oldest.close()
        return True

    async def _begin(self, connection: AcceptedConnection) -> None:
        """Does the handshake, and hands the connection to its protocol."""

        def make() -> asyncio.BaseProtocol:
            protocol = self._make_protocol()
            protocol.place = connection
            return protocol  # type: ignore[return-value]

        within = HANDSHAKE_WITHIN if self._tls is not None else None
        try:
            connection.transport, _ = await self._loop.connect_accepted_socket(
                make, connection.client, ssl=self._tls, ssl_handshake_timeout=within
            )
        except Exception as error:  # noqa: BLE001  whatever failed is the client's: no TLS, too late, or gone
            if isinstance(error, SSLError):
                self._on_refused(connection.network)
            connection.lost()
            connection.client.close()
        else:
            if connection not in self._open:  # it was closed in between
                connection.close()

    # What becomes of a connection

    def finished(self, connection: AcceptedConnection) -> None:
        """The connection is no longer half-open."""
        self._half_open.pop(connection, None)
        waiting = self._half_open_of.get(connection.network)
        if waiting is not None:
            waiting.pop(connection, None)
            if not waiting:
                del self._half_open_of[connection.network]

    def admitted(self, connection: AcceptedConnection) -> None:
        """The connection is no stranger's any more."""
        self.finished(connection)
        if connection.is_stranger and connection in self._open:
            connection.is_stranger = False
            self._leave(connection.network)

    def lost(self, connection: AcceptedConnection) -> None:
        """The connection is over."""
        self.finished(connection)
        if connection in self._open:
            del self._open[connection]
            if connection.is_stranger:
                self._leave(connection.network)

    def _leave(self, network: str) -> None:
        self._strangers[network] -= 1
        if not self._strangers[network]:
            del self._strangers[network]

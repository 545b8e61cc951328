"""Accepts connections, so that a stranger who opens many and finishes nothing takes no place of others.

A connection is half-open until its first request is complete: in the handshake of TLS, or in the head or body
of a request. It is unproven until a device or a person proves on it who they are, and a stranger's if its
network is not known either. Strangers share a part of the files that the server may open. One network, known
or not, may have a part of theirs unproven. Where there is no room, the connection that has been half-open
longest is closed; if none is, the oldest unproven one, which somebody may hold open for nothing.
"""

from __future__ import annotations

import asyncio
import socket
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from ipaddress import IPv6Address, ip_address, ip_network
from itertools import chain
from ssl import SSLContext, SSLError
from typing import Final, NamedTuple, Protocol

import structlog

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
    """Unproven ones of one network, known or not."""


def room_for(files: int) -> Room:
    """The room in a number of files: strangers have three quarters, and one network a quarter of that."""
    strangers = max(1, files * 3 // 4)
    return Room(max(1, files), strangers, max(1, strangers // 4))


def network_of(address: str) -> str:
    """An address as the key of rate limits. For IPv6 its /64 network: one household has all of it."""
    try:
        known = ip_address(address)
    except ValueError:
        return address
    if isinstance(known, IPv6Address):
        if known.ipv4_mapped:
            return str(known.ipv4_mapped)
        return str(ip_network((int(known) >> 64 << 64, 64)))
    return str(known)


class AcceptedConnection:
    """One connection, as its protocols know it."""

    __slots__ = ("_acceptor", "client", "network", "task", "transport")

    def __init__(self, acceptor: Acceptor, client: socket.socket, network: str) -> None:
        self._acceptor = acceptor
        self.client = client
        self.network = network
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


class _ByNetwork:
    """Connections, all of them and those of each network, the oldest first."""

    def __init__(self) -> None:
        self.all: dict[AcceptedConnection, None] = {}
        self._of: defaultdict[str, dict[AcceptedConnection, None]] = defaultdict(dict)

    def of(self, network: str) -> Mapping[AcceptedConnection, None]:
        return self._of.get(network, {})

    def add(self, connection: AcceptedConnection) -> None:
        self.all[connection] = self._of[connection.network][connection] = None

    def discard(self, connection: AcceptedConnection) -> None:
        if connection in self.all:
            del self.all[connection], self._of[connection.network][connection]
            if not self._of[connection.network]:
                del self._of[connection.network]

    def __len__(self) -> int:
        return len(self._of)


class _Unproven:
    """Connections on which nobody has proved who they are."""

    def __init__(self) -> None:
        self.all = _ByNetwork()
        self.half_open = _ByNetwork()


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
        self._strangers, self._known = _Unproven(), _Unproven()
        """Of networks that nobody of the House came from, and of others."""
        self.turned_away = 0
        """Connections that found no room, or were closed to make some."""
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
        unproven = self._known if self._is_known(network) else self._strangers
        is_proxy = self._is_proxy(address)
        if not self._make_room(network, None if is_proxy else unproven):
            self.turned_away += 1
            client.close()
            return
        client.settimeout(0)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = AcceptedConnection(self, client, network)
        self._open[connection] = None
        if not is_proxy:
            unproven.all.add(connection)
            unproven.half_open.add(connection)
        connection.task = self._loop.create_task(self._begin(connection))

    def _is_proxy(self, address: str) -> bool:
        if not self._proxies:
            return False
        known = ip_address(address)
        known = getattr(known, "ipv4_mapped", None) or known
        return any(known in proxy for proxy in self._proxies)

    def _make_room(self, network: str, unproven: _Unproven | None) -> bool:
        """Whether there is room for one more, perhaps since another was closed."""
        strangers, known = self._strangers, self._known
        own = len(strangers.all.of(network)) + len(known.all.of(network))
        if unproven is not None and own >= self._room.network:
            return self._close_one(
                strangers.half_open.of(network), known.half_open.of(network),
                strangers.all.of(network), known.all.of(network),
            )  # fmt: skip
        if unproven is strangers and len(strangers.all.all) >= self._room.strangers:
            return self._close_one(strangers.half_open.all, strangers.all.all)
        if len(self._open) >= self._room.all:
            return self._close_one(
                strangers.half_open.all, known.half_open.all, strangers.all.all, known.all.all
            )
        return True

    def _close_one(self, *groups: Mapping[AcceptedConnection, None]) -> bool:
        """Closes the oldest connection of the first group that has any; returns whether one has."""
        oldest = next(chain.from_iterable(groups), None)
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
        for unproven in (self._strangers, self._known):
            unproven.half_open.discard(connection)

    def admitted(self, connection: AcceptedConnection) -> None:
        """Somebody proved on the connection who they are."""
        self.finished(connection)
        for unproven in (self._strangers, self._known):
            unproven.all.discard(connection)

    def lost(self, connection: AcceptedConnection) -> None:
        """The connection is over."""
        self.admitted(connection)
        self._open.pop(connection, None)

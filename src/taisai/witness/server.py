"""The witness's server: `add-checkpoint` over HTTP, bounded in size, time and rate."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from http import HTTPStatus
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

import uvicorn

from taisai.listening.accepting import Acceptor, Room, network_of
from taisai.listening.requests import LimitedHttpProtocol
from taisai.listening.tls import hardened
from taisai.rules.errors import printable
from taisai.witness.errors import WitnessError
from taisai.witness.protocol import MOST_REQUEST, PATH
from taisai.witness.service import WitnessReply, WitnessService

MOST_CONNECTIONS: Final = 200  # at once; a house has one
STRANGERS: Final = 150  # of them, from networks that nobody proved to be a house's
OF_NETWORK: Final = 20  # of one network, before a checkpoint on them was cosigned
HOUSES_FOR: Final = 7 * 24 * 3_600  # seconds that the network of a house stays known
MOST_HOUSES: Final = 10_000  # networks that are known at a time
A_SECOND: Final = (
    20  # requests of one network on average: a house sends one, and one more before money leaves
)
BURST: Final = 100  # requests of one network at once
MOST_ADDRESSES: Final = 10_000  # networks that are counted; the least recent are forgotten first
BODY_WITHIN: Final = 5.0  # seconds for the bytes of a request
KEEP_ALIVE: Final = 75  # seconds without a request; a house asks at least twice a minute
STOPPED_WITHIN: Final = 5  # seconds that a stop waits for answers

_Scope = Mapping[str, Any]
_Receive = Callable[[], Awaitable[dict[str, Any]]]
_Send = Callable[[dict[str, Any]], Awaitable[None]]


class WitnessApp:
    """The ASGI application of a witness."""

    def __init__(self, service: WitnessService, *, steady: Callable[[], float]) -> None:
        """`steady`: seconds since some moment."""
        self._service = service
        self._steady = steady
        self._lock = asyncio.Lock()  # what was seen is compared and written in one turn
        self._credits: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Network → its requests that are left, and when they were counted."""
        self._houses: OrderedDict[str, float] = OrderedDict()
        """Network from which a checkpoint was cosigned → when it last was."""

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        if scope["type"] == "http":
            await _answer(send, await self._reply(scope, receive))

    async def _reply(self, scope: _Scope, receive: _Receive) -> WitnessReply:
        if scope["path"] != PATH:
            return WitnessReply(404, f"expected the path {PATH}\n")
        if scope["method"] != "POST":
            return WitnessReply(405, "expected POST\n")
        network = network_of(str((scope.get("client") or ("",))[0]))
        if not self._takes(network):
            return WitnessReply(429, f"expected at most {A_SECOND} requests a second\n")
        try:
            body = await asyncio.wait_for(_body(receive), BODY_WITHIN)
        except TimeoutError:
            return WitnessReply(408, f"expected the request within {BODY_WITHIN:g} seconds\n")
        if body is None:
            return WitnessReply(413, f"expected a request of at most {MOST_REQUEST} bytes\n")
        async with self._lock:
            reply = await asyncio.to_thread(self._service.add, body)
        if reply.status == HTTPStatus.OK:
            self._houses[network] = self._steady()
            self._houses.move_to_end(network)
            if len(self._houses) > MOST_HOUSES:
                self._houses.popitem(last=False)
        return reply

    def is_house(self, network: str) -> bool:
        """Whether a checkpoint from a network was cosigned lately: only a house can sign one."""
        cosigned = self._houses.get(network)
        return cosigned is not None and self._steady() - cosigned < HOUSES_FOR

    def _takes(self, network: str) -> bool:
        """Whether a network may make one more request."""
        now = self._steady()
        left, since = self._credits.pop(network, (float(BURST), now))
        left = min(float(BURST), left + (now - since) * A_SECOND)
        is_allowed = left >= 1
        self._credits[network] = (left - 1 if is_allowed else left, now)
        while len(self._credits) > MOST_ADDRESSES:
            self._credits.popitem(last=False)
        return is_allowed


async def _body(receive: _Receive) -> bytes | None:
    """The body of a request; None if it is too large."""
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if len(body) > MOST_REQUEST:
            return None
        if message["type"] != "http.request" or not message.get("more_body"):
            return body


async def _answer(send: _Send, reply: WitnessReply) -> None:
    headers = [(b"content-type", reply.kind.encode()), (b"content-length", b"%d" % len(reply.text.encode()))]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.text.encode()})


class WitnessServer(uvicorn.Server):
    """Serves a witness at a socket until it is stopped."""

    def __init__(
        self,
        service: WitnessService,
        *,
        steady: Callable[[], float],
        tls: tuple[Path, Path] | None = None,
    ) -> None:
        """`tls`: certificate and key."""
        self._app = WitnessApp(service, steady=steady)
        super().__init__(
            uvicorn.Config(
                self._app,
                http=LimitedHttpProtocol,
                lifespan="off",
                ws="none",
                access_log=False,
                log_config=None,
                server_header=False,
                timeout_keep_alive=KEEP_ALIVE,
                timeout_graceful_shutdown=STOPPED_WITHIN,
                ssl_certfile=str(tls[0]) if tls else None,
                ssl_keyfile=str(tls[1]) if tls else None,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accepts connections so that strangers who hold many keep no house out."""
        hardened(self.config.ssl)
        room = Room(MOST_CONNECTIONS, STRANGERS, OF_NETWORK)
        acceptors: list[Any] = [
            Acceptor(at, self._protocol, room=room, is_known=self._app.is_house, tls=self.config.ssl)
            for at in sockets or ()
        ]
        self.servers = acceptors
        self.started = True

    def _protocol(self) -> LimitedHttpProtocol:
        return LimitedHttpProtocol(config=self.config, server_state=self.server_state, app_state={})

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leaves signals to the caller: uvicorn would raise them again after the end."""
        yield

    def stop(self) -> None:
        self.should_exit = True


def listening_at(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 means any free port."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else error.strerror
        raise WitnessError(f"cannot listen on {printable(host)}:{port}: {why}") from None


def is_this_machine(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"

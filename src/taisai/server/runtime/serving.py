"""Runs a house's server with uvicorn until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import uvicorn

from taisai.listening.accepting import Acceptor, room_for
from taisai.listening.requests import Headers, LimitedHttpProtocol
from taisai.listening.tls import hardened
from taisai.protocol.message import MOST_MESSAGE
from taisai.rules.errors import RulesError
from taisai.server.connections.dispatcher import Dispatcher
from taisai.server.connections.transport import protocol_within
from taisai.server.http.app import application
from taisai.server.http.guard import is_https, security_headers
from taisai.server.runtime.house_server import HouseServer

BACKLOG: Final = 2_048  # connections at one instant: every terminal of a casino after a power cut
GARBAGE: Final = (50_000, 20, 100)
"""Thresholds of the three generations of the garbage collector."""
TAKES_NOTHING: Final = 20_000  # ms that sent bytes may stay unacknowledged
FILES_A_SOCKET: Final = 2  # a new connection may overlap with one that is closing
OTHER_FILES: Final = 1_000  # the journal's, the pages', and requests'
UNKNOWN_FILES: Final = 10_000  # for connections where the system does not say how many it allows
TELLS: Final = 3.0  # seconds that a server in doubt still answers /health: monitoring looks every few seconds
STOPPED_WITHIN: Final = 10  # seconds that a stop waits for clients to disconnect


def listening(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 means any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        got = os.strerror(error.errno) if error.errno else error.strerror  # Python adds the address itself
        raise RulesError(f"cannot listen on {host}:{port}: {got}") from None
    # The system closes connections that stop reading. Without this, a closed connection with unsent data
    # would stay for as long as the client likes.
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, TAKES_NOTHING)
    return made


def _collect_seldom() -> None:
    """Makes garbage collection rare: among a million bets it would take a third of the time of each bet."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)


def allow_files(wanted: int) -> None:
    """Raises the limit of open files, as far as the system allows; a connection is an open file."""
    try:
        import resource
    except ImportError:  # not on this system
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def files_for_connections() -> int:
    """How many files the system leaves for connections; some are kept for everything else."""
    try:
        import resource
    except ImportError:  # not on this system
        return UNKNOWN_FILES
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return UNKNOWN_FILES
    return soft - min(OTHER_FILES, soft // 4)


class _Server(uvicorn.Server):
    """Accepts connections by our own rules, calls `ready` when it listens, and leaves signals to us.

    Uvicorn would raise signals before we stop.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        ready: Callable[[], None],
        dispatcher: Dispatcher,
        proxies: Sequence[str],
        headers: Headers,
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._dispatcher = dispatcher
        self._proxies = proxies
        self._headers = headers
        self._acceptors: list[Acceptor] = []

    @property
    def turned_away(self) -> int:
        """Connections of strangers that found no room."""
        return sum(acceptor.turned_away for acceptor in self._acceptors)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        room = room_for(files_for_connections())
        acceptors: list[Any] = [
            Acceptor(
                at, self._protocol, room=room, is_known=self._is_known, tls=hardened(self.config.ssl),
                proxies=self._proxies, on_refused=self._refused,
            )
            for at in sockets or ()
        ]  # fmt: skip
        self.servers = acceptors
        self._acceptors = acceptors
        self.started = True
        self._ready()

    def _protocol(self) -> LimitedHttpProtocol:
        protocol = LimitedHttpProtocol(config=self.config, server_state=self.server_state, app_state={})
        protocol.own_headers = self._headers
        return protocol

    def _is_known(self, network: str) -> bool:
        return self._dispatcher.authentication.known.has(network, self._dispatcher.clock.now())

    def _refused(self, network: str) -> None:
        self._dispatcher.security.refused("tls", what="handshake", address=network)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Serving:
    """A house's server at a socket."""

    def __init__(
        self,
        house_server: HouseServer,
        at: socket.socket,
        *,
        checks: Sequence[str] = (),
        extra: Sequence[Any] = (),
        tls: tuple[Path, Path] | None = None,
        signals: bool = True,
        proxies: Sequence[str] = (),
        on_ready: Callable[[], None] | None = None,
    ) -> None:
        """`tls`: certificate and key; `proxies`: addresses whose forwarded client addresses are believed."""
        self.house_server = house_server
        self._at = at
        plan = house_server.dispatcher.plan
        headers = security_headers(is_secure=tls is not None or is_https(plan.origins))
        config = uvicorn.Config(
            application(house_server.dispatcher, checks=checks, extra=extra),
            ws=protocol_within(house_server.dispatcher.bounds, headers),
            loop="none",
            http=LimitedHttpProtocol,
            lifespan="off",
            ws_per_message_deflate=False,
            ws_max_size=2 * MOST_MESSAGE,  # a message that is a little too long gets a refusal
            ws_ping_interval=20,
            ws_ping_timeout=20,
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=bool(proxies),
            forwarded_allow_ips=list(proxies),
            backlog=BACKLOG,
            timeout_graceful_shutdown=STOPPED_WITHIN,
            ssl_certfile=str(tls[0]) if tls else None,
            ssl_keyfile=str(tls[1]) if tls else None,
        )
        dispatcher = house_server.dispatcher
        self._server = _Server(config, on_ready or (lambda: None), dispatcher, proxies, headers)
        dispatcher.metrics.counter(
            "taisai_connections_turned_away",
            "Connections of strangers that found no room, or were closed half-open to make some",
            lambda: self._server.turned_away,
        )
        self._signals = (signal.SIGINT, signal.SIGTERM) if signals else ()

    async def run(self) -> None:
        """Serves until `stop` or a signal; then stops the house's server."""
        _collect_seldom()
        allow_files(FILES_A_SOCKET * self.house_server.dispatcher.bounds.sockets + OTHER_FILES)
        loop = asyncio.get_running_loop()
        for signal_ in self._signals:
            loop.add_signal_handler(signal_, self.stop)
        doubt = asyncio.ensure_future(self._stop_in_doubt())
        try:
            await self._server.serve(sockets=[self._at])
        finally:
            doubt.cancel()
            await self.house_server.stop()
            for signal_ in self._signals:
                loop.remove_signal_handler(signal_)

    async def _stop_in_doubt(self) -> None:
        """A server that cannot go on tells so on /health for a moment, refuses everybody, and stops."""
        await self.house_server.queue.in_doubt.wait()
        self.house_server.disconnect_everybody()
        await asyncio.sleep(TELLS)
        self._server.should_exit = True

    def stop(self) -> None:
        """Closes all connections and stops; a second call does not wait for them."""
        self._server.force_exit = self._server.should_exit
        self._server.should_exit = True

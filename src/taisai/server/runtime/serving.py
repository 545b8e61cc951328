"""Serving: a casino behind uvicorn, until someone stops it."""

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

from taisai.protocol.message import MOST_MESSAGE
from taisai.rules.errors import RulesError
from taisai.server.connections.transport import LimitedHttpProtocol, protocol_within
from taisai.server.http.app import application
from taisai.server.runtime.house_server import HouseServer

BACKLOG: Final = 2_048  # connections that come in one instant: every terminal of a floor after a power cut
GARBAGE: Final = (50_000, 20, 100)
"""New objects before the youngest are looked through for cycles; so many times, the next older ones too."""
TAKES_NOTHING: Final = 20_000  # ms that sent bytes may wait for a client to take them
FILES_A_SOCKET: Final = 2  # one that comes may meet one that is not quite gone
OTHER_FILES: Final = 1_000  # the journal's, the pages', and requests'
STOPPED_WITHIN: Final = 10  # seconds that a stop waits for clients to go


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        got = os.strerror(error.errno) if error.errno else error.strerror  # Python adds the address itself
        raise RulesError(f"expected an address to listen at, got {got} ({host}:{port})") from None
    # Whoever takes nothing any more is let go by the system itself; without it a closed connection would
    # wait for such a client, with all that is still to be sent, for as long as the client likes.
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, TAKES_NOTHING)
    return made


def _collect_seldom() -> None:
    """Bets are no garbage: looking for cycles among a million of them is a third of what each would cost."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)


def allow_files(wanted: int) -> None:
    """Lets the process have so many files open, as far as the system lets it: a connection is one."""
    try:
        import resource
    except ImportError:  # another system, with another bound
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class _Server(uvicorn.Server):
    """Says when it is ready, and leaves signals alone: uvicorn would raise them before we have stopped."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Serving:
    """A casino that is served at a socket."""

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
        """`tls`: certificate and key; `proxies` are believed about whom they speak for."""
        self.house_server = house_server
        self._at = at
        config = uvicorn.Config(
            application(house_server.dispatcher, checks=checks, extra=extra),
            ws=protocol_within(house_server.dispatcher.bounds),
            loop="none",
            http=LimitedHttpProtocol,
            lifespan="off",
            ws_per_message_deflate=False,
            ws_max_size=2 * MOST_MESSAGE,  # one that is a little too long is refused in words
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
        self._server = _Server(config, on_ready or (lambda: None))
        self._signals = (signal.SIGINT, signal.SIGTERM) if signals else ()

    async def run(self) -> None:
        """Serves until `stop` or a signal; then the casino stops as it should."""
        _collect_seldom()
        allow_files(FILES_A_SOCKET * self.house_server.dispatcher.bounds.sockets + OTHER_FILES)
        loop = asyncio.get_running_loop()
        for one in self._signals:
            loop.add_signal_handler(one, self.stop)
        doubt = asyncio.ensure_future(self._stop_in_doubt())
        try:
            await self._server.serve(sockets=[self._at])
        finally:
            doubt.cancel()
            await self.house_server.stop()
            for one in self._signals:
                loop.remove_signal_handler(one)

    async def _stop_in_doubt(self) -> None:
        await self.house_server.queue.in_doubt.wait()
        self._server.should_exit = True

    def stop(self) -> None:
        """Takes no more connections, and ends those there are; asked twice, it does not wait for them."""
        self._server.force_exit = self._server.should_exit
        self._server.should_exit = True

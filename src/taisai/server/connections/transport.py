"""Lines: connections as the server has them, let go where a client only keeps them busy or open.

Whatever comes before the floor hears of it has bounds here: a request that is never finished, a head without
an end, and frames by the thousand, each of which costs as much to read as an ask.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request
from websockets.protocol import OPEN

from taisai.server.connections.outbox import DIRECT_TRANSPORT
from taisai.server.runtime.plan import ConnectionLimits

REQUEST_WITHIN: Final = 20.0  # seconds from its first byte to its last, on the slowest network there is
MOST_HEAD: Final = 32 * 1024  # bytes of a request before its body; a page's own have a few hundred
FRAMES: Final = 4
"""Frames that a client may send for each ask that it may make: beyond the rate it is refused first."""
CLOSED_WITHIN: Final = 2.0  # seconds that a client has to agree that its connection is over


class LimitedHttpProtocol(HttpToolsProtocol):
    """A connection that brings requests, each whole within its time."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._late: asyncio.TimerHandle | None = None
        self._head = 0
        """Bytes of a head that is not whole yet."""
        self._is_in_body = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The first request is waited for."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Some of a request."""
        self._wait()
        self._head += len(data)
        super().data_received(data)
        if not self._is_in_body and self._head > MOST_HEAD:
            self._let_go()

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._is_in_body = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is whole; how long its answer takes is the floor's own affair."""
        self._is_in_body, self._head = False, 0
        self._stop_waiting()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        """From here on it brings frames."""
        self._stop_waiting()
        super().handle_websocket_upgrade()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(REQUEST_WITHIN, self._let_go)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _let_go(self) -> None:
        self._stop_waiting()
        self.transport.abort()


class LimitedWebSocketProtocol(WebSocketsSansIOProtocol):
    """A connection that brings frames, of asks or of anything else, no more than could ever be answered."""

    bounds: ClassVar[ConnectionLimits] = ConnectionLimits()

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.close_timeout = CLOSED_WITHIN
        self.on_text: Callable[[str], None] | None = None
        self._left = FRAMES * self.bounds.burst
        self._since = self.loop.time()

    def handle_connect(self, event: Request) -> None:
        """Whoever serves it may write to the line itself."""
        super().handle_connect(event)
        if not self.close_sent:
            self.scope["extensions"] = {**(self.scope["extensions"] or {}), DIRECT_TRANSPORT: {"line": self}}

    def write(self, frame: bytes) -> bool:
        """Writes a frame as it is; False where the client does not take its post, or is going."""
        conn = self.conn
        if not self.writable.is_set() or conn.state is not OPEN or conn.expect_continuation_frame:
            return False
        self.transport.write(frame)
        return True

    def handle_text(self, event: Frame) -> None:
        """A text is heard at once, where nothing waits that came before it; a part of one, or none, waits."""
        if self.on_text is None or not event.fin or self.queue.qsize() or self.close_sent:
            super().handle_text(event)
            return
        try:
            text = str(event.data, "utf-8")
        except UnicodeDecodeError:
            super().handle_text(event)
        else:
            self.on_text(text)

    def handle_events(self) -> None:
        """What has just come, unless it is more than anyone has to say."""
        self._left -= len(self.conn.events)
        if self._left < 0 and not self._has_earned():
            self.transport.abort()
            return
        super().handle_events()

    def _has_earned(self) -> bool:
        """Whether time has brought what is missing; nobody looks at a clock before something is."""
        now = self.loop.time()
        earned = int((now - self._since) * FRAMES * self.bounds.asks_a_second)
        self._left = min(FRAMES * self.bounds.burst, self._left + earned)
        self._since = now
        return self._left >= 0


def protocol_within(bounds: ConnectionLimits) -> type[LimitedWebSocketProtocol]:
    """Connections for a floor of these bounds."""
    return type("FramesWithin", (LimitedWebSocketProtocol,), {"bounds": bounds})

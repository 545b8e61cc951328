"""Transports with limits: a connection is closed if its client only keeps it busy or open.

The limits hold before the dispatcher sees a request: for a request that is never finished, a head without an
end, and frames by the thousand, each of which costs as much to read as a request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request, Response
from websockets.protocol import OPEN

from taisai.server.connections.accepting import AcceptedConnection
from taisai.server.connections.feeds import DIRECT_TRANSPORT
from taisai.server.runtime.plan import ConnectionLimits

REQUEST_WITHIN: Final = 10.0  # seconds from its first byte to its last, on the slowest network there is
MOST_HEAD: Final = 32 * 1024  # bytes of a request before its body; a page's own have a few hundred
FRAMES: Final = 4
"""Frames for each request that a client may make: a client beyond the rate is refused before it is closed."""
Headers = Sequence[tuple[str, str]]
CLOSED_WITHIN: Final = 2.0  # seconds that a client has to agree that its connection is over


class LimitedHttpProtocol(HttpToolsProtocol):
    """An HTTP connection. Each request must be complete in time."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._late: asyncio.TimerHandle | None = None
        self._head = 0
        """Bytes of an incomplete head."""
        self._is_in_body = False
        self.place: AcceptedConnection | None = None
        self.own_headers: Headers = ()
        """Of what no application answers: a request that cannot be read."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.place is not None:
            self.place.transport = transport
        self._wait()

    def data_received(self, data: bytes) -> None:
        self._wait()
        self._head += len(data)
        super().data_received(data)
        if not self._is_in_body and self._head > MOST_HEAD:
            self._abort()

    def on_headers_complete(self) -> None:
        self._is_in_body = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Ends the time limit: it holds for the request, not for its reply."""
        self._is_in_body, self._head = False, 0
        self._stop_waiting()
        if self.place is not None:
            self.place.finished()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._stop_waiting()
        if self.place is not None:
            self.place.finished()
            kind: Any = self.ws_protocol_class
            self.ws_protocol_class = partial(kind, place=self.place)  # type: ignore[assignment]
        super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        lines = [f"{name}: {value}" for name, value in self.own_headers]
        lines += [
            "Content-Type: text/plain; charset=utf-8",
            f"Content-Length: {len(msg)}",
            "Connection: close",
        ]
        head = "\r\n".join(["HTTP/1.1 400 Bad Request", *lines, "", ""])
        self.transport.write((head + msg).encode("ascii"))
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if self.place is not None:
            self.place.lost()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(REQUEST_WITHIN, self._abort)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _abort(self) -> None:
        self._stop_waiting()
        self.transport.abort()


class LimitedWebSocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket connection with a limit on frames of all kinds."""

    bounds: ClassVar[ConnectionLimits] = ConnectionLimits()
    own_headers: ClassVar[Headers] = ()
    """Of the answer to the handshake, also if it is a refusal."""

    def __init__(self, *given: Any, place: AcceptedConnection | None = None, **named: Any) -> None:
        super().__init__(*given, **named)
        self.place = place
        self.close_timeout = CLOSED_WITHIN
        self.on_text: Callable[[str], None] | None = None
        self._left = FRAMES * self.bounds.burst
        self._since = self.loop.time()
        self.conn.send_response = partial(self._with_headers, self.conn.send_response)  # type: ignore[method-assign]

    def _with_headers(self, send: Callable[[Response], None], response: Response) -> None:
        for name, value in self.own_headers:
            response.headers[name] = value
        send(response)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.place is not None:
            self.place.lost()
        super().connection_lost(exc)

    def admitted(self) -> None:
        """The client proved who it is."""
        if self.place is not None:
            self.place.admitted()

    def handle_connect(self, event: Request) -> None:
        """Offers the application to write frames directly."""
        super().handle_connect(event)
        if not self.close_sent:
            self.scope["extensions"] = {**(self.scope["extensions"] or {}), DIRECT_TRANSPORT: {"line": self}}

    def write(self, frame: bytes) -> bool:
        """Writes a frame as it is; False if the client does not read, or is closing."""
        conn = self.conn
        if not self.writable.is_set() or conn.state is not OPEN or conn.expect_continuation_frame:
            return False
        self.transport.write(frame)
        return True

    def handle_text(self, event: Frame) -> None:
        """Hands over a complete text at once if nothing older waits; other texts go through the queue."""
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
        """Counts the frames that came, and closes a connection with too many."""
        self._left -= len(self.conn.events)
        if self._left < 0 and not self._has_earned():
            self.transport.abort()
            return
        super().handle_events()

    def _has_earned(self) -> bool:
        """Whether time has brought new credit; the clock is read only when a burst is used up."""
        now = self.loop.time()
        earned = int((now - self._since) * FRAMES * self.bounds.asks_a_second)
        self._left = min(FRAMES * self.bounds.burst, self._left + earned)
        self._since = now
        return self._left >= 0


def protocol_within(bounds: ConnectionLimits, headers: Headers = ()) -> type[LimitedWebSocketProtocol]:
    """The class of WebSocket connections with these limits, and headers of their handshake."""
    return type("FramesWithin", (LimitedWebSocketProtocol,), {"bounds": bounds, "own_headers": headers})

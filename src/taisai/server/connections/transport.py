"""Transports with limits: a connection is closed if its client only keeps it busy or open.

The limits hold before the dispatcher sees a request: for a request that is never finished, a head without an
end, and frames by the thousand, each of which costs as much to read as a request.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request, Response
from websockets.protocol import OPEN

from taisai.listening.accepting import AcceptedConnection
from taisai.listening.requests import Headers
from taisai.server.connections.feeds import DIRECT_TRANSPORT
from taisai.server.runtime.plan import ConnectionLimits

FRAMES: Final = 4
"""Frames for each request that a client may make: a client beyond the rate is refused before it is closed."""
FRAMES_BEFORE_HELLO: Final = 40  # of a client that has not said who it is: it needs two
SLICE: Final = 4 * 1024
"""Bytes that are read before frames are counted: at most some 700 frames, in a millisecond."""
CLOSED_WITHIN: Final = 2.0  # seconds that a client has to agree that its connection is over


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
        self._left = min(FRAMES_BEFORE_HELLO, FRAMES * self.bounds.burst)
        self._since = self.loop.time()
        self.conn.send_response = partial(self._with_headers, self.conn.send_response)  # type: ignore[method-assign]

    def _with_headers(self, send: Callable[[Response], None], response: Response) -> None:
        for name, value in self.own_headers:
            response.headers[name] = value
        send(response)

    def data_received(self, data: bytes) -> None:
        """Reads part by part, counts the frames that came, and closes a connection with too many."""
        for start in range(0, len(data), SLICE):
            self.conn.receive_data(data[start : start + SLICE])
            if self.conn.parser_exc is not None:
                self.handle_parser_exception()
                return
            self._left -= len(self.conn.events) or 1  # a part of a long frame costs as much as a short one
            if self._left < 0 and not self._has_earned():
                self.transport.abort()
                return
            self.handle_events()
            if not self.handshake_initiated:  # it cannot be read, and no time limit would ever end it
                self.transport.abort()
            if self.transport.is_closing():
                return

    def connection_lost(self, exc: Exception | None) -> None:
        if self.place is not None:
            self.place.lost()
        super().connection_lost(exc)

    def admitted(self) -> None:
        """The client proved who it is."""
        self._left = FRAMES * self.bounds.burst
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

"""HTTP connections with limits: a connection is closed if its client only keeps it busy or open.

The limits hold before anybody reads a request: for one that is never finished, or has no end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from taisai.listening.accepting import AcceptedConnection

REQUEST_WITHIN: Final = 10.0  # seconds from its first byte to its last, on the slowest network there is
MOST_HEAD: Final = 32 * 1024  # bytes of a request before its body; a page's own have a few hundred
MOST_REQUEST: Final = 1024 * 1024
"""Bytes of a request as they come: a body of 100 KB in chunks of one byte is 600 KB."""
MOST_WAITING: Final = (
    16  # requests that were sent before the one before them was answered; browsers send none
)
SLICE: Final = 16 * 1024
"""Bytes that are read before it is asked again whether the client goes too far."""
Headers = Sequence[tuple[str, str]]


class LimitedHttpProtocol(HttpToolsProtocol):
    """An HTTP connection. Each request must be complete in time."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._late: asyncio.TimerHandle | None = None
        self._came = 0
        """Bytes of an incomplete request."""
        self._is_in_body = self._is_upgraded = False
        self._answered: RequestResponseCycle | None = None
        """The request that is answered now; others may wait behind it."""
        self.place: AcceptedConnection | None = None
        self.own_headers: Headers = ()
        """Of what no application answers: a request that cannot be read."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.place is not None:
            self.place.transport = transport
        self._wait()

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), SLICE):
            self._wait()
            part = data[start : start + SLICE]
            self._came += len(part)
            super().data_received(part)
            if self._is_upgraded:  # a WebSocket reads from here on
                return
            most = MOST_REQUEST if self._is_in_body else MOST_HEAD
            if self._came > most or len(self.pipeline) > MOST_WAITING:
                self._abort()
            if self.transport.is_closing():
                return

    def on_headers_complete(self) -> None:
        self._is_in_body = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Ends the time limit: it holds for the request, not for its reply."""
        self._is_in_body, self._came = False, 0
        self._stop_waiting()
        if self.place is not None:
            self.place.finished()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._is_upgraded = True
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

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def connection_lost(self, exc: Exception | None) -> None:
        self._give_up()
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
        self._give_up()
        self._stop_waiting()
        self.transport.abort()

    def _give_up(self) -> None:
        """Answers nothing more: a reply to nobody is a failure, and each would be in the log."""
        self.pipeline.clear()
        if self._answered is not None:
            self._answered.disconnected = True
            self._answered.message_event.set()

"""The outbox of a connection: bounded, and never waited for by whoever puts something in.

A send that can be done at once is done at once, without waking a task for it: there are thousands of
connections, and each is told something after every act. What all are told alike is made into a frame once,
and written to each line. Only where the client does not take its post does a task wait for it; what comes
meanwhile is collected, and beyond the bound the client is cut off.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Awaitable, Callable, Generator, MutableMapping
from functools import lru_cache
from typing import Any, Final, Protocol

from websockets.frames import Frame, Opcode

AsgiMessage = MutableMapping[str, Any]
Send = Callable[[AsgiMessage], Awaitable[None]]

MOST_MESSAGES: Final = 1_000  # that wait for a slow client; one more, and it is cut off
MOST_BYTES: Final = 4 * 1024 * 1024


DIRECT_TRANSPORT: Final = "taisai.line"
"""The extension of a server whose connections are lines."""


class DirectTransport(Protocol):
    """A connection that frames are written to as they are, and that is heard as soon as it says something."""

    hears: Callable[[str], None] | None
    """Called with each text; without it, texts are waited for."""

    def write(self, frame: bytes) -> bool:
        """Writes a frame; False where that cannot be done now."""


class Outbox:
    """What a client is to be told, in order, as many tells in a message as there are."""

    __slots__ = ("_bodies", "_bytes", "_close", "_is_over", "_line", "_on_end", "_send", "_waiting")

    def __init__(self, send: Send, on_end: Callable[[], None], line: DirectTransport | None = None) -> None:
        """`on_end` is called when nothing more can be told, for whatever reason."""
        self._send = send
        self._line = line
        self._on_end = on_end
        self._bodies: list[bytes] = []
        self._bytes = 0
        self._close: AsgiMessage | None = None
        self._waiting: asyncio.Task[None] | None = None
        """Waits for a client that does not take its post."""
        self._is_over = False

    def put(self, body: bytes) -> bool:
        """One more tell; False where there are too many."""
        if self._close is not None or self._is_over:
            return True
        self._bodies.append(body)
        self._bytes += len(body)
        if len(self._bodies) <= MOST_MESSAGES and self._bytes <= MOST_BYTES:
            return True
        if self._waiting is not None:
            return False
        self.flush()  # it was told much at once, and has had no chance to take any of it
        return True

    def close(self, code: int, reason: str, last: bytes) -> None:
        """One last tell, and the end; what a slow client has not taken is lost to it."""
        if self._close is None and not self._is_over:
            if self._waiting is not None:
                self._bodies.clear()
            self._bodies.append(last)
            self._close = {"type": "websocket.close", "code": code, "reason": reason}
            self.flush()

    def flush(self) -> None:
        """Sends what there is, now if that can be done now."""
        while self._waiting is None and not self._is_over:
            bodies = self._bodies
            if bodies and self._line is not None:
                frame = _framed_alone(bodies[0]) if len(bodies) == 1 else _framed(_joined(bodies))
                if self._line.write(frame):
                    self._bodies, self._bytes = [], 0
            message = self._next()
            if message is None:
                return
            self._begin(message)

    def _next(self) -> AsgiMessage | None:
        if self._bodies:
            bodies, self._bodies, self._bytes = self._bodies, [], 0
            return {"type": "websocket.send", "text": _joined(bodies).decode()}
        if self._close is not None and not self._is_over:
            message, self._is_over = self._close, True
            return message
        return None

    def _begin(self, message: AsgiMessage) -> None:
        """Takes the first step of a send by hand; most have only one."""
        try:
            sending = self._send(message).__await__()
            first = next(sending)
        except StopIteration:
            if self._is_over:
                self._on_end()
        except Exception:  # noqa: BLE001  the client is gone, and whoever reads hears of it
            self._end()
        else:
            self._waiting = asyncio.get_running_loop().create_task(self._rest(sending, first))

    async def _rest(self, sending: Generator[Any, Any, None], first: Any) -> None:
        """Waits for the client, and sends what has come meanwhile."""
        try:
            await _continued(sending, first)
            while (message := self._next()) is not None:
                await self._send(message)
        except Exception:  # noqa: BLE001  as above
            self._is_over = True
        finally:
            self._waiting = None
        if self._is_over:
            self._on_end()

    def _end(self) -> None:
        self._is_over = True
        self._bodies.clear()
        self._on_end()

    def abandon(self) -> None:
        """Nothing more is sent."""
        self._is_over = True
        self._bodies.clear()
        if self._waiting is not None:
            self._waiting.cancel()

    @property
    def is_over(self) -> bool:
        """Whether nothing more can be told."""
        return self._is_over

    @property
    def is_waiting(self) -> bool:
        """Whether the client does not take its post."""
        return self._waiting is not None


def _joined(bodies: list[bytes]) -> bytes:
    return b"[%b]" % b",".join(bodies)


def _framed(text: bytes) -> bytes:
    return Frame(Opcode.TEXT, text).serialize(mask=False)


@lru_cache(maxsize=16)
def _framed_alone(body: bytes) -> bytes:
    """A tell by itself, which many are often told alike."""
    return _framed(_joined([body]))


@types.coroutine
def _continued(sending: Generator[Any, Any, None], first: Any) -> Generator[Any, Any, None]:
    """The rest of a send whose first step was taken by hand, for a task to wait for."""
    waited_for = first
    while True:
        try:
            answer = yield waited_for
        except BaseException as error:  # noqa: BLE001  it is the send's own to deal with
            try:
                waited_for = sending.throw(error)
            except StopIteration:
                return
        else:
            try:
                waited_for = sending.send(answer)
            except StopIteration:
                return

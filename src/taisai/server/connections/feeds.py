"""Feeds: numbered frames for their followers, and the outbox of each connection.

A feed puts each frame in the outboxes of its followers, and sends the latest frames again to a client that
reconnects. An outbox is limited, and code that puts something in it never waits. A send that can be done at
once is done at once, without a task: there are thousands of connections, and each is sent something after
every act. A frame that many clients receive is encoded once. Only for a client that does not take what it is
sent does a task wait. What comes meanwhile is collected, and beyond the limit the connection is closed.
"""

from __future__ import annotations

import asyncio
import types
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Generator, Iterable, MutableMapping
from functools import lru_cache
from typing import Any, Final, Protocol

import msgspec
from websockets.frames import Frame as WebSocketFrame
from websockets.frames import Opcode

from taisai.protocol.views import View
from taisai.server.projections.feed_writer import Frame

AsgiMessage = MutableMapping[str, Any]
Send = Callable[[AsgiMessage], Awaitable[None]]

MOST_MESSAGES: Final = 1_000  # that wait for a slow client; with one more it is disconnected
MOST_BYTES: Final = 4 * 1024 * 1024
RING: Final = 64
"""Frames that a feed keeps: a client that missed more starts from a snapshot."""
MOST_ENCODED: Final = 100  # views of snapshots that are kept encoded: many clients follow few feeds
MOST_FEEDS: Final = 10_000  # kept; those without followers are dropped first
DIRECT_TRANSPORT: Final = "taisai.line"
"""The ASGI extension by which a connection offers its direct transport."""


class DirectTransport(Protocol):
    """A connection that takes frames as they are, and hands over each text as soon as it comes."""

    on_text: Callable[[str], None] | None
    """Called with each text; without it, texts have to be received."""

    def write(self, frame: bytes) -> bool:
        """Writes a frame; False where that cannot be done now."""

    def admitted(self) -> None:
        """The client proved who it is."""


class Outbox:
    """The messages for a client, in order; all that there are go in one WebSocket message."""

    __slots__ = (
        "_bodies", "_bytes", "_close", "_is_over", "_line", "_on_end", "_on_overflow", "_send", "_waiting",
    )  # fmt: skip

    def __init__(
        self,
        send: Send,
        on_end: Callable[[], None],
        line: DirectTransport | None = None,
        *,
        on_overflow: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_end` is called when nothing more can be sent, `on_overflow` when too much waits."""
        self._send = send
        self._line = line
        self._on_end = on_end
        self._on_overflow = on_overflow
        self._bodies: list[bytes] = []
        self._bytes = 0
        self._close: AsgiMessage | None = None
        self._waiting: asyncio.Task[None] | None = None
        """Waits for a client that does not take what it is sent."""
        self._is_over = False

    def put(self, body: bytes) -> None:
        """Adds a message; it is sent with the next `flush`."""
        if self._close is not None or self._is_over:
            return
        self._bodies.append(body)
        self._bytes += len(body)
        if len(self._bodies) <= MOST_MESSAGES and self._bytes <= MOST_BYTES:
            return
        if self._waiting is not None:
            self._on_overflow()
        else:
            self.flush()  # much came at once, and the client has had no chance to take any of it

    def close(self, code: int, reason: str, last: bytes) -> None:
        """Sends one last message, and closes; what a slow client has not taken is lost."""
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
                frame = _shared_frame(bodies[0]) if len(bodies) == 1 else _frame(b",".join(bodies))
                if self._line.write(frame):
                    self._bodies, self._bytes = [], 0
                    if self._close is None:
                        return
            message = self._next()
            if message is None:
                return
            self._begin(message)

    def _next(self) -> AsgiMessage | None:
        if self._bodies:
            bodies, self._bodies, self._bytes = self._bodies, [], 0
            return {"type": "websocket.send", "text": f"[{b','.join(bodies).decode()}]"}
        if self._close is not None and not self._is_over:
            message, self._is_over = self._close, True
            return message
        return None

    def _begin(self, message: AsgiMessage) -> None:
        """Takes the first step of a send; most sends have only one."""
        try:
            sending = self._send(message).__await__()
            first = next(sending)
        except StopIteration:
            if self._is_over:
                self._on_end()
        except Exception:  # noqa: BLE001  the client has disconnected, which the reader notices
            self._is_over = True
            self._bodies.clear()
            self._on_end()
        else:
            self._waiting = asyncio.get_running_loop().create_task(self._rest(sending, first))

    async def _rest(self, sending: Generator[Any, Any, None], first: Any) -> None:
        """Waits for the client, and sends what was put meanwhile."""
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

    def abandon(self) -> None:
        self._is_over = True
        self._bodies.clear()
        if self._waiting is not None:
            self._waiting.cancel()

    @property
    def is_over(self) -> bool:
        """Whether nothing more can be sent."""
        return self._is_over

    @property
    def is_waiting(self) -> bool:
        """Whether the client does not take what it is sent."""
        return self._waiting is not None


def _frame(messages: bytes) -> bytes:
    """The WebSocket frame of a list of messages, which are given with commas between them."""
    return WebSocketFrame(Opcode.TEXT, b"[%b]" % messages).serialize(mask=False)


_shared_frame: Final = lru_cache(maxsize=16)(_frame)
"""The same for one message, which many clients may receive."""


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


class Feed:
    """One feed: its latest number, its latest frames, its followers."""

    __slots__ = ("followers", "number", "ring")

    def __init__(self, number: int) -> None:
        self.number = number
        self.ring: deque[Frame] = deque(maxlen=RING)
        self.followers: dict[Outbox, Callable[[], None]] = {}
        """Outbox → makes its client start from snapshots."""

    def missed(self, after: int) -> list[Frame] | None:
        """The frames after a number; None where not all of them are kept."""
        if after == self.number:
            return []
        if not self.ring or not self.ring[0].number - 1 <= after < self.number:
            return None
        return [frame for frame in self.ring if frame.number > after]


class EncodedViews:
    """The views of snapshots, encoded: once for everyone who follows a feed at the same number."""

    def __init__(self, most: int = MOST_ENCODED) -> None:
        self._most = most
        self._latest: OrderedDict[str, tuple[View, msgspec.Raw]] = OrderedDict()

    def of(self, feed: str, view: View) -> msgspec.Raw:
        """The view of a feed, encoded. A view never changes: a feed's next number has another one."""
        latest = self._latest.get(feed)
        if latest is not None and latest[0] is view:
            self._latest.move_to_end(feed)
            return latest[1]
        encoded = msgspec.Raw(msgspec.json.encode(view))
        self._latest[feed] = view, encoded
        self._latest.move_to_end(feed)
        if len(self._latest) > self._most:
            self._latest.popitem(last=False)
        return encoded


class Feeds:
    """All feeds of one start."""

    def __init__(self, epoch: str) -> None:
        self.epoch = epoch
        self.encoded = EncodedViews()
        self._feeds: OrderedDict[str, Feed] = OrderedDict()
        self.unsent: dict[Outbox, None] = {}
        """Outboxes that `flush` will send."""

    def get(self, name: str) -> Feed | None:
        """A feed that has followers, or had some."""
        return self._feeds.get(name)

    def follow(self, name: str, outbox: Outbox, number: int, resync: Callable[[], None]) -> None:
        """Adds a follower that has the frames up to a number; `resync` makes it start from snapshots."""
        feed = self._feeds.get(name)
        if feed is None:
            self._drop_some()
            feed = self._feeds[name] = Feed(number)
        feed.followers[outbox] = resync

    def unfollow(self, name: str, outbox: Outbox) -> None:
        """Removes a follower; the feed still keeps the frames that it misses."""
        feed = self._feeds.get(name)
        if feed is not None:
            feed.followers.pop(outbox, None)
            self._feeds.move_to_end(name)

    def followed(self) -> set[str]:
        return {name for name, feed in self._feeds.items() if feed.followers}

    def forget(self, names: Iterable[str]) -> None:
        """Drops feeds that are numbered no longer; a client that follows one since then has to reconnect."""
        for name in names:
            feed = self._feeds.pop(name, None)
            for resync in list(feed.followers.values()) if feed is not None else ():
                resync()

    def publish(self, frame: Frame) -> None:
        """Puts a frame in the outbox of each follower; `flush` sends it."""
        feed = self._feeds.get(frame.feed)
        if feed is None:
            return
        feed.number = frame.number
        feed.ring.append(frame)
        body, unsent = frame.body, self.unsent
        for outbox in feed.followers:
            outbox.put(body)
            unsent[outbox] = None

    def flush(self) -> None:
        """Sends each client, in one message, all that is in its outbox."""
        unsent, self.unsent = self.unsent, {}
        for outbox in unsent:
            outbox.flush()

    def begin_again(self) -> None:
        """Begins a new epoch, in which feeds are numbered again; all followers start from snapshots."""
        followers = {
            outbox: resync for feed in self._feeds.values() for outbox, resync in feed.followers.items()
        }
        self._feeds.clear()
        self.epoch += "+"
        for resync in followers.values():
            resync()

    def _drop_some(self) -> None:
        if len(self._feeds) < MOST_FEEDS:
            return
        for name in [name for name, feed in self._feeds.items() if not feed.followers][: MOST_FEEDS // 10]:
            del self._feeds[name]

"""Sockets: one per connection, the feeds it follows, and the limits before it authenticates."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial, reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
import structlog

from taisai.game.refusals import Refusal
from taisai.journal import Answer
from taisai.listening.accepting import network_of
from taisai.protocol.message import MOST_ID, MOST_MESSAGE, Request, repeated_key
from taisai.protocol.replies import DoneReply, EndNotice, FollowingReply, RefusedReply, SnapshotNotice
from taisai.protocol.requests import REQUESTS, DoRequest
from taisai.server.auth import permissions
from taisai.server.auth.permissions import VISITOR, Principal
from taisai.server.connections.approvals_feed import APPROVALS_FEED
from taisai.server.connections.feeds import AsgiMessage, DirectTransport, Outbox, Send
from taisai.server.connections.parties import PLACE_BETS
from taisai.server.handlers.context import answer_to, refused
from taisai.server.projections.feed_writer import FeedSnapshot
from taisai.server.runtime.alarms import ALARMS

if TYPE_CHECKING:
    from taisai.protocol.message import ServerMessage
    from taisai.protocol.requests import FollowRequest, UnfollowRequest
    from taisai.server.connections.dispatcher import Dispatcher

    AnyRequest = Request
else:
    AnyRequest = reduce(or_, REQUESTS)

Receive = Callable[[], Awaitable[AsgiMessage]]

BYTES_OF_REQUEST: Final = 8 * 1024
"""Bytes of a long message that weigh as much as a request."""
HELLO_WITHIN: Final = 10.0  # seconds: a device signs a challenge in a few milliseconds
POLICY: Final = 1008
TRY_AGAIN: Final = 1013
LAST_WORD: Final = 0.5  # seconds in which a slow client may still take the reason of the close
MOST_FOLLOWED: Final = 64  # feeds of one socket
_log = structlog.get_logger(__name__)
decode_request: Final = msgspec.json.Decoder(AnyRequest, strict=True).decode
encoded: Final = msgspec.json.Encoder().encode
_any_object: Final = msgspec.json.Decoder(dict[str, Any]).decode
_UNREADABLE: Final = (msgspec.DecodeError, UnicodeEncodeError, RecursionError)


class UnauthenticatedSockets:
    """The connections without a hello: limited in number and in time."""

    def __init__(self, sockets: int) -> None:
        """`sockets`: how many connections there may be in all."""
        self.most = max(1, sockets // 2)
        self.most_of_network = max(1, sockets // 4)  # all terminals may come back from behind one address
        self._waiting: dict[Socket, tuple[str, asyncio.TimerHandle]] = {}
        self._networks: Counter[str] = Counter()

    def add(self, socket: Socket) -> None:
        """Takes a new connection; where there are too many, it closes the one that has waited longest."""
        network = network_of(socket.address)
        if self._networks[network] >= self.most_of_network:
            self._send_away(next(known for known, (of, _) in self._waiting.items() if of == network))
        elif len(self._waiting) >= self.most:
            self._send_away(next(iter(self._waiting)))
        timer = asyncio.get_running_loop().call_later(HELLO_WITHIN, self._late, socket)
        self._waiting[socket] = (network, timer)
        self._networks[network] += 1

    def remove(self, socket: Socket) -> None:
        """A connection has authenticated, or is over."""
        waiting = self._waiting.pop(socket, None)
        if waiting is not None:
            network, timer = waiting
            timer.cancel()
            self._networks[network] -= 1
            if not self._networks[network]:
                del self._networks[network]

    def _send_away(self, socket: Socket) -> None:
        """Closes the oldest silent connection, not the new one: that may be a terminal that signs at once."""
        socket.end("full", "too many connections wait without a hello: connect again later", TRY_AGAIN)
        self.remove(socket)

    def _late(self, socket: Socket) -> None:
        socket.end("silent", f"no hello came within {HELLO_WITHIN:g} seconds")
        self.remove(socket)


class Socket:
    """One connection."""

    __slots__ = (
        "_dispatcher", "_is_closing", "_line", "_reading", "_receive", "address", "following", "nonce",
        "outbox", "party", "principal", "stream", "wanted",
    )  # fmt: skip

    def __init__(
        self,
        dispatcher: Dispatcher,
        receive: Receive,
        send: Send,
        address: str,
        line: DirectTransport | None = None,
    ) -> None:
        self._dispatcher = dispatcher
        self._receive = receive
        self.outbox = Outbox(send, self._cut, line, on_overflow=self._overflow)
        self._is_closing = False
        self._line = line
        if line is not None:
            line.on_text = self.receive
        self._reading: asyncio.Task[Any] | None = None
        self.address = address
        self.party = dispatcher.parties.stranger(dispatcher.clock.steady())
        self.nonce = ""
        self.principal: Principal = VISITOR
        self.following: set[str] = set()
        self.stream = ""
        """The stream of a device's own table."""
        self.wanted: set[str] = set()
        """The feeds that it follows or will follow."""

    # Sending

    def _overflow(self) -> None:
        """Disconnects a client that does not take what it is sent; it may reconnect."""
        self._dispatcher.metrics.cuts += 1
        self.end("slow", "too many messages wait for this client", TRY_AGAIN)
        self._cut()

    def resync(self) -> None:
        """Makes the client reconnect and start from snapshots."""
        self.end("resync", "the feeds begin again: reconnect", TRY_AGAIN)

    def reply(self, to: str, answer: Answer | BaseException) -> None:
        """Replies what a command of bets came to, in one message with the frames of the same write."""
        reply = DoneReply(to=to, again=not answer) if type(answer) is tuple else answer_to(to, answer)
        self.outbox.put(encoded(reply))
        self._dispatcher.queue.feeds.unsent[self.outbox] = None
        if isinstance(answer, Refusal):
            self._dispatcher.metrics.refusals[answer.reason] += 1

    def send(self, message: ServerMessage) -> None:
        if type(message) is RefusedReply:
            self._dispatcher.metrics.refusals[message.reason] += 1
        self.outbox.put(encoded(message))
        self.outbox.flush()

    def note_refusal(self, reason: str, what: str, clause: str | None = None) -> None:
        """Puts a refusal of this client into the log."""
        who = self.principal.name
        self._dispatcher.security.refused(reason, what=what, address=self.address, who=who, clause=clause)

    def end(self, why: str, message: str, code: int = POLICY) -> None:
        """Sends the client the reason, and closes; nothing more is read from it."""
        if not self._is_closing:
            self._is_closing = True
            self.outbox.close(code, why, encoded(EndNotice(why=why, message=message)))
            if self.outbox.is_waiting:
                asyncio.get_running_loop().call_later(LAST_WORD, self._cut)

    def admitted(self) -> None:
        """The client proved who it is: its connection is no stranger's."""
        _log.info("connected", who=self.principal.name, role=str(self.principal.role), address=self.address)
        if self._line is not None:
            self._line.admitted()

    @property
    def is_closing(self) -> bool:
        """Whether nothing more is read from it."""
        return self._is_closing

    def _cut(self) -> None:
        """Closes a connection to which nothing more can be sent."""
        self._is_closing = True
        if self._reading is not None and self._reading is not asyncio.current_task():
            self._reading.cancel()

    # Receiving

    async def run(self) -> None:
        self._reading = asyncio.current_task()
        try:
            await self._read()
        except asyncio.CancelledError:
            if not self._is_closing:
                raise
        finally:
            self._reading = None
            self.outbox.abandon()
            self._dispatcher.disconnect(self)  # its requests are still carried out: money may be on its way

    async def _read(self) -> None:
        receive, handle = self._receive, self.receive
        while not self.outbox.is_over:
            message = await receive()
            if message["type"] != "websocket.receive":
                return
            handle(message.get("text"))

    def receive(self, text: str | None) -> None:
        """Handles one text; every text gets a reply."""
        if self._is_closing:
            return
        size = -1 if text is None else len(text)
        if text is not None and size > MOST_MESSAGE // 4:  # a character is up to four bytes
            size = len(text.encode("utf-8", "replace"))
            # Before it is read: to read 64 KB costs as much as fifty requests.
            if not self.party.has_earned(size // BYTES_OF_REQUEST, self._dispatcher.clock.steady()):
                self._dispatcher.refuse_too_often(self, None)
                return
        if text is None or size > MOST_MESSAGE:
            got = "bytes that are no text" if text is None else f"{size} bytes"
            self._dispatcher.refuse_unreadable(
                self, f"expected a text of at most {MOST_MESSAGE} bytes, got {got}"
            )
            return
        try:
            request = decode_request(text)
            # Bets in their shortest form, as clients send them, have no room for a key that stands twice.
            is_bets = type(request) is DoRequest and type(request.do) is PLACE_BETS and text.isascii()
            is_shortest = is_bets and len(encoded(request)) == len(text)
            if not is_shortest and (key := repeated_key(text)) is not None:
                raise msgspec.DecodeError(f"the key {key!r} stands twice in an object")
        except _UNREADABLE as error:
            problem = f"could not read the request: {str(error) or type(error).__name__}"
            self._dispatcher.refuse_unreadable(self, problem, _id_in(text))
            return
        self._dispatcher.handle(self, request)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Carries out a request that takes time, beside everything else."""
        task = asyncio.get_running_loop().create_task(work)
        for tasks in (self.party.tasks, self._dispatcher.at_work):
            tasks.add(task)
            task.add_done_callback(tasks.discard)


def _id_in(text: str) -> str | None:
    """The id of a request that cannot be read otherwise, so that the client knows which it was."""
    try:
        id_ = _any_object(text).get("id")
    except _UNREADABLE:
        return None
    return id_ if isinstance(id_, str) and 1 <= len(id_) <= MOST_ID else None


def follow(dispatcher: Dispatcher, socket: Socket, request: FollowRequest) -> None:
    """Sends what was missed, or a snapshot of the feed; from then on, every change."""
    problem = _not_permitted(dispatcher, socket, request.feed)
    if problem is not None:
        socket.note_refusal("not-permitted", f"follow {request.feed.partition(':')[0]}", "house:access")
        socket.send(refused(request.id, "not-permitted", problem, "house:access"))
        return
    if len(socket.wanted) >= MOST_FOLLOWED and request.feed not in socket.wanted:
        socket.send(refused(request.id, "too-many", f"expected at most {MOST_FOLLOWED} feeds"))
        return
    socket.wanted.add(request.feed)
    if request.feed == APPROVALS_FEED:
        dispatcher.approvals_feed.follow(socket, request.id)
        return
    feeds = dispatcher.queue.feeds
    feed = feeds.get(request.feed)
    if feed is not None and request.after is not None and request.epoch == feeds.epoch:
        missed = feed.missed(request.after)
        if missed is not None:
            for frame in missed:
                socket.outbox.put(frame.body)
            _followed(dispatcher, socket, request.feed, feed.number)
            socket.send(FollowingReply(to=request.id, feed=request.feed, number=feed.number))
            return
    if request.feed == ALARMS:  # also while the writer stands still
        _shown(dispatcher, socket, request, dispatcher.alarms.snapshot())
        feeds.flush()
        return
    projections, name = dispatcher.queue.projections, request.feed
    dispatcher.queue.submit_job(
        lambda _engine: projections.snapshot(name), partial(_shown, dispatcher, socket, request)
    )


def unfollow(dispatcher: Dispatcher, socket: Socket, request: UnfollowRequest) -> None:
    """Sends nothing more of the feed; a client that follows it again gets what it missed."""
    socket.wanted.discard(request.feed)
    socket.following.discard(request.feed)
    dispatcher.queue.feeds.unfollow(request.feed, socket.outbox)
    if request.feed == APPROVALS_FEED:
        dispatcher.approvals_feed.unfollow(socket)
    socket.send(FollowingReply(to=request.id, feed=request.feed, number=0))


def _not_permitted(dispatcher: Dispatcher, socket: Socket, feed: str) -> str | None:
    """Why a feed may not be followed."""
    kind, _, rest = feed.partition(":")
    if dispatcher.demonstration and socket.principal is VISITOR and kind in permissions.VISITORS_FOLLOW:
        return None
    table, _, seat = rest.partition("/") if kind == "seat" else (rest, "", "")
    return dispatcher.not_permitted(
        socket.principal, permissions.FEEDS.get(kind), table or None, seat or None
    )


def _shown(
    dispatcher: Dispatcher,
    socket: Socket,
    request: FollowRequest,
    snapshot: FeedSnapshot | BaseException | None,
) -> None:
    if not isinstance(snapshot, FeedSnapshot):
        socket.wanted.discard(request.feed)
        dispatcher.metrics.refusals["not-known"] += 1
        socket.outbox.put(encoded(refused(request.id, "not-known", f"unknown feed {request.feed!r}")))
        dispatcher.queue.feeds.unsent[socket.outbox] = None
        return
    if socket in dispatcher.sockets:
        if request.feed in socket.wanted:  # else it was unfollowed meanwhile
            _followed(dispatcher, socket, request.feed, snapshot.number)
        view = cast("Any", dispatcher.queue.feeds.encoded.of(request.feed, snapshot.view))
        notice = SnapshotNotice(feed=request.feed, number=snapshot.number, view=view, to=request.id)
        socket.outbox.put(encoded(notice))
        dispatcher.queue.feeds.unsent[socket.outbox] = None


def _followed(dispatcher: Dispatcher, socket: Socket, feed: str, number: int) -> None:
    dispatcher.queue.feeds.follow(feed, socket.outbox, number, socket.resync)
    socket.following.add(feed)

"""The link to a server: it reconnects, repeats requests where that is safe, and keeps feeds current."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import msgspec

from taisai.client.connection import (
    ClientError,
    Connection,
    Dial,
    Disconnected,
    Pace,
    Refused,
    Who,
    hello,
    next_messages,
    read,
)
from taisai.client.feeds import FollowedFeed
from taisai.protocol import replies, requests
from taisai.protocol.commands import tag_of
from taisai.protocol.message import Request, ServerMessage
from taisai.protocol.replies import RefusedReply

_REPEATABLE: Final = frozenset(
    {
        # they only read, or set a value
        requests.UnfollowRequest, requests.FavouritesRequest, requests.KeepFavouriteRequest,
        requests.TicketsRequest, requests.FeltRequest, requests.RoundsRequest, requests.PreviewRequest,
        requests.BooksRequest, requests.ReportRequest, requests.TakePositionRequest,
        requests.VirtualDealerRequest, requests.PingRequest,
        # the server derives ids from the request's own id, so that a repetition changes nothing
        requests.DoubleRequest, requests.RepeatRequest, requests.TicketInRequest,
        requests.TicketOutRequest, requests.SellTicketRequest, requests.FillRequest,
        requests.TakeCreditRequest, requests.TakeDropRequest, requests.CountDropRequest,
        requests.SettleClaimRequest, requests.ReadingRequest,
    }
)  # fmt: skip
_REPEATABLE_WITHIN_EPOCH: Final = frozenset({requests.UndoRequest, requests.ClearRequest})
"""The server remembers, until it stops, which bets they took back."""
_REPEATABLE_COMMANDS: Final = frozenset({"place-bets", "record-bets", "bring-in", "take-out"})
"""They carry ids of their own, and a known id changes nothing."""


_REPLACED: Final = "replaced"
"""The reason of a connection that the server closed for a newer one of the same device or person."""


def is_repeatable(request: Request, *, same_epoch: bool) -> bool:
    """Whether sending the request a second time changes nothing. An approval is valid only once.

    `same_epoch`: whether the server has run without a stop since the first time.
    """
    if getattr(request, "approval", None) is not None:
        return False
    if isinstance(request, requests.DoRequest):
        return tag_of(request.do) in _REPEATABLE_COMMANDS
    return type(request) in _REPEATABLE or (same_epoch and type(request) in _REPEATABLE_WITHIN_EPOCH)


class Pending:
    def __init__(self, request: Request, text: str) -> None:
        self.request = request
        self.text = text
        self.sent_in: str | None = None
        """The epoch in which it was sent; None if it was not sent."""
        self.reply: asyncio.Future[ServerMessage] = asyncio.get_running_loop().create_future()

    def take(self, message: ServerMessage) -> None:
        """Takes the reply. A second reply, to a repeated request, is ignored."""
        if self.reply.done():
            return
        if isinstance(message, RefusedReply):
            refusal = Refused(message.reason, message.message, clause=message.clause, bet=message.bet)
            self.reply.set_exception(refusal)
        else:
            self.reply.set_result(message)

    @property
    def is_sent(self) -> bool:
        """Whether it was sent. Then only its reply or a view shows whether it was carried out."""
        return self.sent_in is not None

    def cut(self, epoch: str | None = None) -> None:
        """The connection broke; `epoch` is that of the next one. A request that may not be repeated fails."""
        is_same = epoch is None or epoch == self.sent_in
        if self.is_sent and not is_repeatable(self.request, same_epoch=is_same):
            problem = "the connection broke before the reply; the views show whether it was carried out"
            self.fail(Disconnected(problem, in_doubt=True))

    def fail(self, why: ClientError) -> None:
        if not self.reply.done():
            self.reply.set_exception(why)
            self.reply.exception()  # marks the error as seen if the caller no longer waits


encode: Final = msgspec.json.Encoder().encode


class Link:
    """Keeps a client connected as long as possible; then everyone who waits gets the error."""

    def __init__(
        self,
        dial: Dial,
        who: Who,
        *,
        pace: Pace,
        sleep: Callable[[float], Awaitable[object]],
        entropy: Callable[[int], bytes],
    ) -> None:
        self.pending: dict[str, Pending] = {}
        self.feeds: dict[str, FollowedFeed] = {}
        self.gaps: list[str] = []
        self.welcome: replies.WelcomeReply | None = None
        self.challenge: replies.ChallengeNotice | None = None
        self.connection: Connection | None = None
        """The connection on which the server has welcomed the client."""
        self.end: ClientError | None = None
        """Why the link does not reconnect."""
        self._dial = dial
        self._who = who
        self._pace = pace
        self._sleep = sleep
        self._entropy = entropy
        self._prefix = entropy(8).hex()
        self._ids = 0
        self._welcomes = 0
        self._follows: dict[str, FollowedFeed] = {}
        """Id of a request to follow → the feed."""
        self._broken: list[FollowedFeed] = []
        """Feeds with a gap, to be followed again."""

    def fresh_id(self) -> str:
        """An id that no other client makes: a change shows all followers the request that made it."""
        self._ids += 1
        return f"{self._prefix}-{self._ids}"

    # Connecting

    async def run(self, connected: asyncio.Future[None]) -> None:
        """Makes one connection after the other until the link is stopped or refused, or the tries end."""
        tried = 0
        while self.end is None:
            before = self._welcomes
            why = await self._connection(connected)
            tried = 1 if self._welcomes > before else tried + 1
            if not isinstance(why, Disconnected) or tried > self._pace.tries or not connected.done():
                self.stop(why)
            if not connected.done():
                connected.set_exception(why)
            if self.end is None:
                await self._sleep(self._pace.wait(tried - 1, self._entropy(1)[0] / 256))

    async def _connection(self, connected: asyncio.Future[None]) -> ClientError:
        """Runs one connection from the challenge to the end; returns why it ended."""
        connection: Connection | None = None
        try:
            async with asyncio.timeout(self._pace.welcome) as timeout:
                connection = await self._dial()
                await self._begin(connection)
                timeout.reschedule(None)
                if not connected.done():
                    connected.set_result(None)
                while True:
                    await self._receive(await connection.receive())
        except TimeoutError:
            return Disconnected(f"no welcome within {self._pace.welcome:g} seconds")
        except (Disconnected, Refused) as error:
            return error
        except Exception as error:  # noqa: BLE001  any error must end the waiting
            return ClientError(f"invalid message from the server: {type(error).__name__}: {error}")
        finally:
            self._cut()
            if connection is not None:
                with suppress(Disconnected):
                    await connection.close()

    async def _begin(self, connection: Connection) -> None:
        """Answers the challenge, follows every feed again, and repeats requests where that is safe."""
        challenge, *rest = await next_messages(connection)
        _check_end(challenge, *rest)
        if not isinstance(challenge, replies.ChallengeNotice):
            raise Disconnected(f"expected a challenge, got {type(challenge).__name__}")
        request = hello(self.fresh_id(), self._who, challenge.nonce)
        await connection.send(encode(request).decode())
        welcome, *rest = await next_messages(connection)
        if isinstance(welcome, replies.RefusedReply):
            raise Refused(welcome.reason, welcome.message, clause=welcome.clause)
        _check_end(welcome)
        if not isinstance(welcome, replies.WelcomeReply):
            raise Disconnected(f"expected a welcome, got {type(welcome).__name__}")
        self.challenge, self.welcome, self.connection = challenge, welcome, connection
        self._welcomes += 1
        for message in rest:
            self._take(message)
        for feed in list(self.feeds.values()):
            await self.follow(feed)
        for pending in list(self.pending.values()):
            pending.cut(challenge.epoch)
            await self.send(pending)

    def _cut(self) -> None:
        """The connection broke: requests that may not be repeated fail."""
        self.connection = None
        self._follows.clear()
        self._broken.clear()
        for pending in self.pending.values():
            pending.cut()

    def stop(self, why: ClientError) -> None:
        """Stops reconnecting; everyone who waits gets the error."""
        if self.end is None:
            self.end = why
        for pending in self.pending.values():
            pending.fail(why)
        for feed in self.feeds.values():
            feed.stop(why)

    # Sending

    async def send(self, pending: Pending) -> None:
        """Sends a request if there is a connection; else the next connection sends it."""
        if self.connection is not None and self.challenge is not None and not pending.reply.done():
            pending.sent_in = self.challenge.epoch
            with suppress(Disconnected):  # the reading side notices it too, and reconnects
                await self.connection.send(pending.text)

    async def follow(self, feed: FollowedFeed) -> None:
        """Follows a feed from its last number. Without a connection the next one does so."""
        if self.connection is None or self.challenge is None:
            return
        id_ = self.fresh_id()
        self._follows[id_] = feed
        after = feed.number if feed.epoch == self.challenge.epoch else None
        epoch = feed.epoch if after is not None else None
        request = requests.FollowRequest(id=id_, feed=feed.name, epoch=epoch, after=after)
        with suppress(Disconnected):
            await self.connection.send(encode(request).decode())

    # Receiving

    async def _receive(self, text: str) -> None:
        for message in read(text):
            self._take(message)
        while self._broken:
            await self.follow(self._broken.pop())

    def _take(self, message: ServerMessage) -> None:
        match message:
            case replies.EndNotice():
                _check_end(message)
            case replies.ChangeNotice():
                self._change(message)
            case replies.SnapshotNotice() | replies.FollowingReply() | replies.RefusedReply():
                self._followed(message)
            case _:
                pass
        pending = self.pending.get(getattr(message, "to", None) or "")
        if pending is not None:
            pending.take(message)

    def _change(self, notice: replies.ChangeNotice) -> None:
        feed = self.feeds.get(notice.feed)
        if feed is not None and not feed.change(notice):
            self._gap(feed, f"expected {(feed.number or 0) + 1}, got {notice.number}")

    def _followed(
        self, reply: replies.SnapshotNotice | replies.FollowingReply | replies.RefusedReply
    ) -> None:
        feed = self._follows.pop(reply.to or "", None)
        if feed is None or self.challenge is None:
            return
        if isinstance(reply, replies.SnapshotNotice):
            feed.snapshot(reply, self.challenge.epoch)
        elif isinstance(reply, replies.RefusedReply):
            self.feeds.pop(feed.name, None)
            feed.stop(Refused(reply.reason, reply.message, clause=reply.clause))
        elif reply.number != feed.number:
            self._gap(feed, f"expected {reply.number} after the missed changes, got {feed.number}")

    def _gap(self, feed: FollowedFeed, problem: str) -> None:
        """A number is missing: the feed is followed again."""
        self.gaps.append(f"{feed.name}: {problem}")
        feed.number = None  # so that the next follow asks for a snapshot
        self._broken.append(feed)


def _check_end(*messages: ServerMessage) -> None:
    for message in messages:
        if isinstance(message, replies.EndNotice):
            if message.why == _REPLACED:  # to connect again would close the newer connection
                raise Refused(message.why, message.message)
            raise Disconnected(f"the server closed the connection: {message.why}, {message.message}")

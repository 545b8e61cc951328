"""The client: requests with their replies, and feeds that stay current."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Self, TypeVar

from taisai.client.connection import ClientError, Dial, Disconnected, Pace, Visitor, Who
from taisai.client.feeds import Change, FollowedFeed
from taisai.client.link import Link, Pending, encode
from taisai.protocol import replies, requests
from taisai.protocol.commands import SentCommand, command
from taisai.protocol.message import MOST_MESSAGE, Request, ServerMessage
from taisai.protocol.views import View

V = TypeVar("V", bound=View)
T = TypeVar("T", bound=ServerMessage)


class Client:
    """A connection to a server: `async with Client(at("ws://…/socket")) as client:`."""

    def __init__(
        self,
        dial: Dial,
        who: Who | None = None,
        *,
        pace: Pace | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        entropy: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        self.who: Who = who if who is not None else Visitor()
        self.pace = pace or Pace()
        self._link = Link(dial, self.who, pace=self.pace, sleep=sleep, entropy=entropy)
        self._running: asyncio.Task[None] | None = None

    # Connecting

    async def start(self) -> Self:
        """Connects. Raises Refused if the server refuses the client, Disconnected without one."""
        self._link.end = None
        self._link.feeds.clear()
        connected: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._running = asyncio.get_running_loop().create_task(self._link.run(connected))
        try:
            await connected
            await self._begin()
        except BaseException:
            await self.close()
            raise
        return self

    async def _begin(self) -> None:
        """What a role does after connecting. If it fails, the client is closed."""

    async def close(self) -> None:
        """Disconnects. Pending requests raise Disconnected."""
        self._link.stop(Disconnected("the client is closed", in_doubt=True))
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    @property
    def welcome(self) -> replies.WelcomeReply | None:
        """The server's welcome: the role and name of the client."""
        return self._link.welcome

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection on which the server has welcomed the client."""
        return self._link.connection is not None

    @property
    def end(self) -> ClientError | None:
        """Why the client will not reconnect; None if it will."""
        return self._link.end

    def fresh_id(self) -> str:
        """A new unique id, for a request or a bet."""
        return self._link.fresh_id()

    # Requests

    async def request(self, request: Request) -> ServerMessage:
        """Sends a request and returns the reply. Raises Refused, or Disconnected without a reply in time."""
        if self.end is not None:
            raise self.end
        text = encode(request).decode()
        if len(text) > MOST_MESSAGE:
            raise ValueError(f"expected a request of at most {MOST_MESSAGE} characters, got {len(text)}")
        pending = self._link.pending[request.id] = Pending(request, text)
        try:
            async with asyncio.timeout(self.pace.reply):
                await self._link.send(pending)
                return await pending.reply
        except TimeoutError:
            problem = f"no reply within {self.pace.reply:g} seconds"
            raise Disconnected(problem, in_doubt=pending.is_sent) from None
        finally:
            del self._link.pending[request.id]

    async def query(self, kind: type[Request], reply: type[T], **fields: Any) -> T:
        """Sends a request of a kind and returns its reply, which must be of the given type."""
        message = await self.request(kind(id=self.fresh_id(), **fields))
        if not isinstance(message, reply):
            raise ClientError(f"expected {reply.__name__}, got {type(message).__name__}")
        return message

    async def do(
        self, tag: str, /, *, table: str | None = None, approval: str | None = None, **fields: object
    ) -> ServerMessage:
        """Sends a command: `client.do("perform", table="T1", act="tumble", tumbles=3)`."""
        return await self.send(command(tag, **fields), table=table, approval=approval)

    async def send(
        self, sent: SentCommand, *, table: str | None = None, approval: str | None = None
    ) -> ServerMessage:
        return await self.query(requests.DoRequest, ServerMessage, do=sent, table=table, approval=approval)

    # Feeds

    @property
    def gaps(self) -> list[str]:
        """The gaps in the numbers of feeds. After a gap the feed is followed again."""
        return self._link.gaps

    @property
    def followed(self) -> list[str]:
        """The followed feeds that have a view."""
        return [name for name, feed in self._link.feeds.items() if feed.view is not None]

    async def follow(self, name: str) -> View:
        """Follows a feed and returns its view, which stays current from now on."""
        if self.end is not None:
            raise self.end
        feed = self._link.feeds.get(name)
        if feed is None:
            feed = self._link.feeds[name] = FollowedFeed(name)
            await self._link.follow(feed)
        try:
            async with asyncio.timeout(self.pace.reply):
                return await asyncio.shield(feed.ready)
        except TimeoutError:
            self._link.feeds.pop(name, None)
            raise Disconnected(f"no view of {name} within {self.pace.reply:g} seconds") from None

    async def unfollow(self, name: str) -> None:
        feed = self._link.feeds.pop(name, None)
        if feed is not None:
            feed.stop(Disconnected(f"the feed {name} is no longer followed"))
            await self.request(requests.UnfollowRequest(id=self.fresh_id(), feed=name))

    def view(self, name: str) -> View:
        """The current view of a feed."""
        view = self._feed(name).view
        if view is None:
            raise ClientError(f"the feed {name} has no view yet")
        return view

    def view_as(self, name: str, kind: type[V]) -> V:
        """The current view of a feed, which must be of the given type."""
        view = self.view(name)
        if not isinstance(view, kind):
            raise ClientError(f"expected {name} to show a {kind.__name__}, got {type(view).__name__}")
        return view

    def changes(self, name: str) -> AsyncIterator[Change]:
        """Every change of a feed, from the first step of the iterator on."""
        return self._feed(name).changes()

    async def until(self, name: str, holds: Callable[[Any], bool], *, within: float | None = None) -> View:
        """Waits for the first view of a feed for which `holds` is true; it does not poll."""
        try:
            async with asyncio.timeout(within):
                return await self._feed(name).until(holds)
        except TimeoutError:
            problem = f"no view of {name} met the condition within {within:g} seconds"
            raise Disconnected(problem) from None

    def position(self, name: str) -> tuple[str | None, int | None]:
        """The epoch and number of a feed's current view."""
        feed = self._feed(name)
        return feed.epoch, feed.number

    def _feed(self, name: str) -> FollowedFeed:
        feed = self._link.feeds.get(name)
        if feed is None:
            raise ClientError(f"the feed {name} is not followed")
        return feed

"""The client: asks with their answers, and feeds that are always current."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from types import TracebackType
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
    """Someone at the floor: `async with Client(at("ws://…/socket")) as client:` comes in, and leaves."""

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
        self._life: asyncio.Task[None] | None = None

    # Coming and going

    async def start(self) -> Self:
        """Comes in: Refused where the floor does not know it, Disconnected where there is no floor."""
        self._link.end = None
        self._link.feeds.clear()
        came: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._life = asyncio.get_running_loop().create_task(self._link.live(came))
        try:
            await came
            await self._begin()
        except BaseException:
            await self.close()
            raise
        return self

    async def _begin(self) -> None:
        """What a client of a kind does first; should it fail, nothing is left open."""

    async def close(self) -> None:
        """Leaves; whatever is still asked is Disconnected."""
        self._link.over(Disconnected("expected an open client, got one that was closed", in_doubt=True))
        if self._life is not None:
            self._life.cancel()
            with suppress(asyncio.CancelledError):
                await self._life

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def welcome(self) -> replies.WelcomeReply | None:
        """Whom the floor takes it for."""
        return self._link.welcome

    @property
    def is_connected(self) -> bool:
        """Whether the floor has welcomed it, and the connection is not known to be cut."""
        return self._link.connection is not None

    @property
    def end(self) -> ClientError | None:
        """Why it will not come back, if it will not."""
        return self._link.end

    def fresh_id(self) -> str:
        """An id that nobody else has: answers, and bets, are known by it."""
        return self._link.fresh_id()

    # Asking

    async def ask(self, ask: Request) -> ServerMessage:
        """The answer: Refused where it is not done, Disconnected where nobody knows or no floor is there."""
        if self.end is not None:
            raise self.end
        text = encode(ask).decode()
        if len(text) > MOST_MESSAGE:
            raise ValueError(f"expected an ask of at most {MOST_MESSAGE} characters, got {len(text)}")
        pending = self._link.pending[ask.id] = Pending(ask, text)
        try:
            async with asyncio.timeout(self.pace.answer):
                await self._link.send(pending)
                return await pending.answer
        except TimeoutError:
            says = f"expected an answer within {self.pace.answer:g} seconds, got none"
            raise Disconnected(says, in_doubt=pending.is_sent) from None
        finally:
            del self._link.pending[ask.id]

    async def told(self, ask: Request, kind: type[T]) -> T:
        """The answer, which is of this kind."""
        tell = await self.ask(ask)
        if not isinstance(tell, kind):
            raise ClientError(f"expected {kind.__name__}, got {type(tell).__name__}")
        return tell

    async def do(
        self, tag: str, /, *, table: str | None = None, approval: str | None = None, **fields: object
    ) -> ServerMessage:
        """Asks for a command: `client.do("perform", table="T1", act="tumble", tumbles=3)`."""
        return await self.send(command(tag, **fields), table=table, approval=approval)

    async def send(
        self, sent: SentCommand, *, table: str | None = None, approval: str | None = None
    ) -> ServerMessage:
        """Asks for a command that was made before."""
        return await self.ask(requests.DoRequest(id=self.fresh_id(), do=sent, table=table, approval=approval))

    # Feeds

    @property
    def gaps(self) -> list[str]:
        """Where a feed skipped a number; it was then followed anew."""
        return self._link.gaps

    @property
    def followed(self) -> list[str]:
        """The feeds that it follows and has seen."""
        return [name for name, feed in self._link.feeds.items() if feed.view is not None]

    async def follow(self, name: str) -> View:
        """The feed's view, which from now on is current."""
        if self.end is not None:
            raise self.end
        feed = self._link.feeds.get(name)
        if feed is None:
            feed = self._link.feeds[name] = FollowedFeed(name)
            await self._link.ask_to_follow(feed)
        try:
            async with asyncio.timeout(self.pace.answer):
                return await asyncio.shield(feed.ready)
        except TimeoutError:
            self._link.feeds.pop(name, None)
            says = f"expected the feed {name} within {self.pace.answer:g} seconds, got none"
            raise Disconnected(says) from None

    async def unfollow(self, name: str) -> None:
        """Follows a feed no longer."""
        feed = self._link.feeds.pop(name, None)
        if feed is not None:
            feed.over(Disconnected(f"expected a feed that is followed, got {name}"))
            await self.ask(requests.UnfollowRequest(id=self.fresh_id(), feed=name))

    def view(self, name: str) -> View:
        """A feed's view as it is now."""
        found = self._feed(name).view
        if found is None:
            raise ClientError(f"expected a feed with a view, got {name} before its first")
        return found

    def showing(self, name: str, kind: type[V]) -> V:
        """A feed's view, which is of this kind."""
        found = self.view(name)
        if not isinstance(found, kind):
            raise ClientError(f"expected {name} to show a {kind.__name__}, got {type(found).__name__}")
        return found

    def changes(self, name: str) -> AsyncIterator[Change]:
        """Every change of a feed, from the first time that the iterator is asked on."""
        return self._feed(name).changes()

    async def until(self, name: str, holds: Callable[[Any], bool], *, within: float | None = None) -> View:
        """The feed's first view, from now on, of which something holds; there is no polling."""
        try:
            async with asyncio.timeout(within):
                return await self._feed(name).until(holds)
        except TimeoutError:
            says = f"expected {name} to come to something within {within:g} seconds, got nothing of it"
            raise Disconnected(says) from None

    def stands(self, name: str) -> tuple[str | None, int | None]:
        """Epoch and number at which a feed stands here."""
        feed = self._feed(name)
        return feed.epoch, feed.number

    def _feed(self, name: str) -> FollowedFeed:
        feed = self._link.feeds.get(name)
        if feed is None:
            raise ClientError(f"expected a feed that is followed, got {name}")
        return feed

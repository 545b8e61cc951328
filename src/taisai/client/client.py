"""The client: asks with their answers, and feeds that are always current, over as many connections as it takes."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import msgspec

from taisai.client.connection import Connection, Dial
from taisai.client.errors import ClientError, Disconnected, Refused
from taisai.client.feeds import Change, Feed
from taisai.client.pace import Pace
from taisai.client.pending import Pending
from taisai.client.reading import next_tells, read
from taisai.client.who import Visitor, Who, hello
from taisai.wire import asks, tells
from taisai.wire.commands import WireCommand, command
from taisai.wire.message import MOST_MESSAGE, Ask, Tell
from taisai.wire.views import View

V = TypeVar("V", bound=View)
T = TypeVar("T", bound=Tell)
_encode: Final = msgspec.json.Encoder().encode


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
        self.welcome: tells.TellWelcome | None = None
        """Whom the floor takes it for."""
        self.challenge: tells.TellChallenge | None = None
        self.gaps: list[str] = []
        """Where a feed skipped a number; it was then followed anew."""
        self.connections = 0
        """How many there have been."""
        self._dial = dial
        self._sleep = sleep
        self._entropy = entropy
        self._prefix = entropy(8).hex()
        self._made = 0
        self._connection: Connection | None = None
        """The one on which the floor has welcomed the client."""
        self._pending: dict[str, Pending] = {}
        self._feeds: dict[str, Feed] = {}
        self._asked: dict[str, Feed] = {}
        """Id of an ask to follow → the feed."""
        self._lost: list[Feed] = []
        """Feeds that skipped a number, and have not been asked for anew."""
        self._life: asyncio.Task[None] | None = None
        self._end: ClientError | None = None

    # Coming and going

    async def start(self) -> Self:
        """Comes in: Refused where the floor does not know it, Disconnected where there is no floor."""
        came: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._life = asyncio.get_running_loop().create_task(self._live(came))
        try:
            await came
        except BaseException:
            await self.close()
            raise
        return self

    async def close(self) -> None:
        """Leaves; whatever is still asked is Disconnected."""
        self._over(Disconnected("expected an open client, got one that was closed", in_doubt=True))
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
    def is_connected(self) -> bool:
        """Whether the floor has welcomed it, and the connection is not known to be cut."""
        return self._connection is not None

    def fresh_id(self) -> str:
        """An id that nobody else has: answers, and bets, are known by it."""
        self._made += 1
        return f"{self._prefix}-{self._made}"

    # Asking

    async def ask(self, ask: Ask) -> Tell:
        """The answer: Refused where it is not done, Disconnected where nobody knows or no floor is there."""
        if self._end is not None:
            raise self._end
        text = _encode(ask).decode()
        if len(text) > MOST_MESSAGE:
            raise ValueError(f"expected an ask of at most {MOST_MESSAGE} characters, got {len(text)}")
        pending = self._pending[ask.id] = Pending(ask, text)
        try:
            async with asyncio.timeout(self.pace.answer):
                await self._send(pending)
                return await pending.answer
        except TimeoutError:
            says = f"expected an answer within {self.pace.answer:g} seconds, got none"
            raise Disconnected(says, in_doubt=pending.is_sent) from None
        finally:
            del self._pending[ask.id]

    async def told(self, ask: Ask, kind: type[T]) -> T:
        """The answer, which is of this kind."""
        tell = await self.ask(ask)
        if not isinstance(tell, kind):
            raise ClientError(f"expected {kind.__name__}, got {type(tell).__name__}")
        return tell

    async def do(
        self, tag: str, /, *, table: str | None = None, approval: str | None = None, **fields: object
    ) -> Tell:
        """Asks for a command: `client.do("perform", table="T1", act="tumble", tumbles=3)`."""
        return await self.send(command(tag, **fields), table=table, approval=approval)

    async def send(
        self, sent: WireCommand, *, table: str | None = None, approval: str | None = None
    ) -> Tell:
        """Asks for a command that was made before."""
        return await self.ask(asks.AskDo(id=self.fresh_id(), do=sent, table=table, approval=approval))

    # Feeds

    async def follow(self, name: str) -> View:
        """The feed's view, which from now on is current."""
        if self._end is not None:
            raise self._end
        feed = self._feeds.get(name)
        if feed is None:
            feed = self._feeds[name] = Feed(name)
            await self._ask_to_follow(feed)
        try:
            async with asyncio.timeout(self.pace.answer):
                return await asyncio.shield(feed.ready)
        except TimeoutError:
            self._feeds.pop(name, None)
            says = f"expected the feed {name} within {self.pace.answer:g} seconds, got none"
            raise Disconnected(says) from None

    async def unfollow(self, name: str) -> None:
        """Follows a feed no longer."""
        feed = self._feeds.pop(name, None)
        if feed is not None:
            feed.over(Disconnected(f"expected a feed that is followed, got {name}"))
            await self.ask(asks.AskUnfollow(id=self.fresh_id(), feed=name))

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

    def _feed(self, name: str) -> Feed:
        feed = self._feeds.get(name)
        if feed is None:
            raise ClientError(f"expected a feed that is followed, got {name}")
        return feed

    # Its life

    async def _live(self, came: asyncio.Future[None]) -> None:
        """One connection after the other, until it is closed, refused, or there is no floor to be found."""
        tried = 0
        while self._end is None:
            try:
                async with asyncio.timeout(self.pace.coming_in) as coming_in:
                    connection = await self._dial()
                    self.connections += 1
                    try:
                        await self._come_in(connection)
                        coming_in.reschedule(None)
                        tried = 0
                        if not came.done():
                            came.set_result(None)
                        while True:
                            await self._hear(await connection.receive())
                    finally:
                        self._cut()
                        await _let_go(connection)
            except TimeoutError:
                why = Disconnected(f"expected a welcome within {self.pace.coming_in:g} seconds, got none")
            except Disconnected as error:
                why = error
            except Refused as error:  # the floor does not know it, and will not the next time
                self._over(error)
            except asyncio.CancelledError:
                came.cancel()
                raise
            except Exception as error:  # noqa: BLE001  nobody waits for ever, whatever it is
                self._over(ClientError(f"expected what the wire says, got {type(error).__name__}: {error}"))
            else:
                raise AssertionError
            ...

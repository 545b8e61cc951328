"""The client: asks with their answers, feeds that are always current, over as many connections as needed."""

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
        self.welcomes = 0
        """How many connections there have been on which the floor welcomed it."""
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
        self._end = None
        self._feeds.clear()
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

    async def send(self, sent: WireCommand, *, table: str | None = None, approval: str | None = None) -> Tell:
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
            before = self.welcomes
            why = await self._one_connection(came)
            tried = 1 if self.welcomes > before else tried + 1
            if not isinstance(why, Disconnected) or tried > self.pace.tries or not came.done():
                self._over(why)
            if not came.done():
                came.set_exception(why)
            if self._end is None:
                await self._sleep(self.pace.wait(tried - 1, self._entropy(1)[0] / 256))

    async def _one_connection(self, came: asyncio.Future[None]) -> ClientError:
        """From the challenge to the end; says why it ended."""
        connection: Connection | None = None
        try:
            async with asyncio.timeout(self.pace.coming_in) as coming_in:
                connection = await self._dial()
                await self._come_in(connection)
                coming_in.reschedule(None)
                if not came.done():
                    came.set_result(None)
                while True:
                    await self._hear(await connection.receive())
        except TimeoutError:
            return Disconnected(f"expected a welcome within {self.pace.coming_in:g} seconds, got none")
        except (Disconnected, Refused) as error:
            return error
        except Exception as error:  # noqa: BLE001  nobody waits for ever, whatever it is
            return ClientError(f"expected what the wire says, got {type(error).__name__}: {error}")
        finally:
            self._cut()
            if connection is not None:
                with suppress(Disconnected):
                    await connection.close()

    async def _come_in(self, connection: Connection) -> None:
        """Answers the challenge, follows every feed again, and sends again what may be sent again."""
        challenge, *rest = await next_tells(connection)
        self._unless_ended(challenge, *rest)
        if not isinstance(challenge, tells.TellChallenge):
            raise Disconnected(f"expected a challenge, got {type(challenge).__name__}")
        said = hello(self.fresh_id(), self.who, challenge.nonce)
        await connection.send(_encode(said).decode())
        welcome, *rest = await next_tells(connection)
        if isinstance(welcome, tells.TellRefused):
            raise Refused(welcome.reason, welcome.message, clause=welcome.clause)
        self._unless_ended(welcome)
        if not isinstance(welcome, tells.TellWelcome):
            raise Disconnected(f"expected a welcome, got {type(welcome).__name__}")
        self.challenge, self.welcome, self._connection = challenge, welcome, connection
        self.welcomes += 1
        for tell in rest:
            self._take(tell)
        for feed in list(self._feeds.values()):
            await self._ask_to_follow(feed)
        for pending in list(self._pending.values()):
            pending.cut(challenge.epoch)
            await self._send(pending)

    @staticmethod
    def _unless_ended(*told: Tell) -> None:
        for tell in told:
            if isinstance(tell, tells.TellEnd):
                raise Disconnected(f"expected to stay, got the end: {tell.why}, {tell.message}")

    async def _send(self, pending: Pending) -> None:
        """Sends an ask if there is a connection; if there is none, the next one sends it."""
        connection = self._connection
        if connection is not None and self.challenge is not None and not pending.answer.done():
            pending.sent_in = self.challenge.epoch
            with suppress(Disconnected):  # whoever reads hears of it too, and starts anew
                await connection.send(pending.text)

    async def _ask_to_follow(self, feed: Feed) -> None:
        connection = self._connection
        if connection is None or self.challenge is None:
            return
        id_ = self.fresh_id()
        self._asked[id_] = feed
        after = feed.number if feed.epoch == self.challenge.epoch else None
        epoch = feed.epoch if after is not None else None
        ask = asks.AskFollow(id=id_, feed=feed.name, epoch=epoch, after=after)
        with suppress(Disconnected):
            await connection.send(_encode(ask).decode())

    def _cut(self) -> None:
        """The connection is gone: asks that may not be sent again are in doubt."""
        self._connection = None
        self._asked.clear()
        self._lost.clear()
        for pending in self._pending.values():
            pending.cut()

    def _over(self, why: ClientError) -> None:
        """No connection follows: everyone hears why."""
        if self._end is None:
            self._end = why
        for pending in self._pending.values():
            pending.fail(why)
        for feed in self._feeds.values():
            feed.over(why)

    # Hearing

    async def _hear(self, text: str) -> None:
        for tell in read(text):
            self._take(tell)
        while self._lost:
            await self._ask_to_follow(self._lost.pop())

    def _take(self, tell: Tell) -> None:
        match tell:
            case tells.TellEnd():
                self._unless_ended(tell)
            case tells.TellChange():
                self._change(tell)
            case tells.TellSnapshot() | tells.TellFollowing() | tells.TellRefused():
                self._followed(tell)
            case _:
                pass
        pending = self._pending.get(getattr(tell, "re", None) or "")
        if pending is not None:
            pending.take(tell)

    def _change(self, tell: tells.TellChange) -> None:
        feed = self._feeds.get(tell.feed)
        if feed is not None and not feed.change(tell):
            self.gaps.append(f"{tell.feed}: expected {(feed.number or 0) + 1}, got {tell.number}")
            feed.forget_place()
            self._lost.append(feed)

    def _followed(self, tell: tells.TellSnapshot | tells.TellFollowing | tells.TellRefused) -> None:
        feed = self._asked.pop(tell.re or "", None)
        if feed is None or self.challenge is None:
            return
        if isinstance(tell, tells.TellSnapshot):
            feed.snapshot(tell, self.challenge.epoch)
        elif isinstance(tell, tells.TellFollowing):
            if tell.number != feed.number:
                self.gaps.append(
                    f"{tell.feed}: expected {feed.number} after what was missed, got {tell.number}"
                )
                feed.forget_place()
                self._lost.append(feed)
        else:
            self._feeds.pop(feed.name, None)
            feed.over(Refused(tell.reason, tell.message, clause=tell.clause))

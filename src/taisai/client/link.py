"""The link to a server: it reconnects, sends requests again where that is safe, and keeps feeds current."""

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
    next_tells,
    read,
)
from taisai.client.feeds import FollowedFeed
from taisai.protocol import replies, requests
from taisai.protocol.commands import tag_of
from taisai.protocol.message import Request, ServerMessage
from taisai.protocol.replies import RefusedReply

_HARMLESS: Final = frozenset(
    {
        # they only look, or say how something is to be
        requests.UnfollowRequest,
        requests.FavouritesRequest,
        requests.KeepFavouriteRequest,
        requests.TicketsRequest,
        requests.FeltRequest,
        requests.RoundsRequest,
        requests.PreviewRequest,
        requests.BooksRequest,
        requests.ReportRequest,
        requests.TakePositionRequest,
        requests.VirtualDealerRequest,
        requests.PingRequest,
        # the floor derives what they make from the ask's own id, so the second time changes nothing
        requests.DoubleRequest,
        requests.RepeatRequest,
        requests.TicketInRequest,
        requests.TicketOutRequest,
        requests.SellTicketRequest,
        requests.FillRequest,
        requests.TakeCreditRequest,
        requests.TakeDropRequest,
        requests.CountDropRequest,
        requests.SettleClaimRequest,
        requests.ReadingRequest,
    }
)
_WITHIN_A_START: Final = frozenset({requests.UndoRequest, requests.ClearRequest})
"""The floor remembers which bets they took back, until it stops."""
_HARMLESS_COMMANDS: Final = frozenset({"place-bets", "record-bets", "bring-in", "take-out"})
"""They carry ids of their own, and a known id changes nothing."""


def is_harmless(ask: Request, *, same_start: bool) -> bool:
    """Whether the same ask a second time is as good as once; an approval is spent by the first.

    `same_start`: whether the floor has not been stopped since.
    """
    if getattr(ask, "approval", None) is not None:
        return False
    if isinstance(ask, requests.DoRequest):
        return tag_of(ask.do) in _HARMLESS_COMMANDS
    return type(ask) in _HARMLESS or (same_start and type(ask) in _WITHIN_A_START)


class Pending:
    """One ask: what was sent, and the answer, once there is one."""

    def __init__(self, ask: Request, text: str) -> None:
        self.ask = ask
        self.text = text
        self.sent_in: str | None = None
        """The epoch of the floor that it was sent in; none where it never was."""
        self.answer: asyncio.Future[ServerMessage] = asyncio.get_running_loop().create_future()

    def take(self, tell: ServerMessage) -> None:
        """The answer; a second one, to an ask that was sent twice, says nothing new."""
        if self.answer.done():
            return
        if isinstance(tell, RefusedReply):
            refusal = Refused(tell.reason, tell.message, clause=tell.clause, bet=tell.bet)
            self.answer.set_exception(refusal)
        else:
            self.answer.set_result(tell)

    @property
    def is_sent(self) -> bool:
        """Whether it went out: then only its answer, or a view, tells what became of it."""
        return self.sent_in is not None

    def cut(self, epoch: str | None = None) -> None:
        """The connection is gone, and a floor of this epoch there: what may not be sent again is in doubt."""
        is_same = epoch is None or epoch == self.sent_in
        if self.is_sent and not is_harmless(self.ask, same_start=is_same):
            says = (
                "expected an answer, got none before the connection was cut: the views tell what became of it"
            )
            self.fail(Disconnected(says, in_doubt=True))

    def fail(self, why: ClientError) -> None:
        """No answer will come."""
        if not self.answer.done():
            self.answer.set_exception(why)
            self.answer.exception()  # whoever asked may have stopped waiting


encode: Final = msgspec.json.Encoder().encode


class Link:
    """Keeps a client connected for as long as that is possible; then everyone who waits hears why not."""

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
        """The one on which the floor has welcomed the client."""
        self.end: ClientError | None = None
        """Why no connection follows."""
        self._dial = dial
        self._who = who
        self._pace = pace
        self._sleep = sleep
        self._entropy = entropy
        self._prefix = entropy(8).hex()
        self._made = 0
        self._welcomes = 0
        self._asked: dict[str, FollowedFeed] = {}
        """Id of an ask to follow → the feed."""
        self._lost: list[FollowedFeed] = []
        """Feeds that skipped a number, and have not been asked for anew."""

    def fresh_id(self) -> str:
        """An id that no other client makes: a change tells all who follow whose ask it answers."""
        self._made += 1
        return f"{self._prefix}-{self._made}"

    # Its life

    async def live(self, came: asyncio.Future[None]) -> None:
        """One connection after the other, until it is ended, refused, or there is no floor to be found."""
        tried = 0
        while self.end is None:
            before = self._welcomes
            why = await self._one_connection(came)
            tried = 1 if self._welcomes > before else tried + 1
            if not isinstance(why, Disconnected) or tried > self._pace.tries or not came.done():
                self.over(why)
            if not came.done():
                came.set_exception(why)
            if self.end is None:
                await self._sleep(self._pace.wait(tried - 1, self._entropy(1)[0] / 256))

    async def _one_connection(self, came: asyncio.Future[None]) -> ClientError:
        """From the challenge to the end; says why it ended."""
        connection: Connection | None = None
        try:
            async with asyncio.timeout(self._pace.coming_in) as coming_in:
                connection = await self._dial()
                await self._come_in(connection)
                coming_in.reschedule(None)
                if not came.done():
                    came.set_result(None)
                while True:
                    await self._hear(await connection.receive())
        except TimeoutError:
            return Disconnected(f"expected a welcome within {self._pace.coming_in:g} seconds, got none")
        except (Disconnected, Refused) as error:
            return error
        except Exception as error:  # noqa: BLE001  nobody waits for ever, whatever it is
            return ClientError(f"expected a message of the protocol, got {type(error).__name__}: {error}")
        finally:
            self._cut()
            if connection is not None:
                with suppress(Disconnected):
                    await connection.close()

    async def _come_in(self, connection: Connection) -> None:
        """Answers the challenge, follows every feed again, and sends again what may be sent again."""
        challenge, *rest = await next_tells(connection)
        _unless_ended(challenge, *rest)
        if not isinstance(challenge, replies.ChallengeNotice):
            raise Disconnected(f"expected a challenge, got {type(challenge).__name__}")
        said = hello(self.fresh_id(), self._who, challenge.nonce)
        await connection.send(encode(said).decode())
        welcome, *rest = await next_tells(connection)
        if isinstance(welcome, replies.RefusedReply):
            raise Refused(welcome.reason, welcome.message, clause=welcome.clause)
        _unless_ended(welcome)
        if not isinstance(welcome, replies.WelcomeReply):
            raise Disconnected(f"expected a welcome, got {type(welcome).__name__}")
        self.challenge, self.welcome, self.connection = challenge, welcome, connection
        self._welcomes += 1
        for tell in rest:
            self._take(tell)
        for feed in list(self.feeds.values()):
            await self.ask_to_follow(feed)
        for pending in list(self.pending.values()):
            pending.cut(challenge.epoch)
            await self.send(pending)

    def _cut(self) -> None:
        """The connection is gone: asks that may not be sent again are in doubt."""
        self.connection = None
        self._asked.clear()
        self._lost.clear()
        for pending in self.pending.values():
            pending.cut()

    def over(self, why: ClientError) -> None:
        """No connection follows: everyone hears why."""
        if self.end is None:
            self.end = why
        for pending in self.pending.values():
            pending.fail(why)
        for feed in self.feeds.values():
            feed.over(why)

    # Sending

    async def send(self, pending: Pending) -> None:
        """Sends an ask if there is a connection; if there is none, the next one sends it."""
        if self.connection is not None and self.challenge is not None and not pending.answer.done():
            pending.sent_in = self.challenge.epoch
            with suppress(Disconnected):  # whoever reads hears of it too, and starts anew
                await self.connection.send(pending.text)

    async def ask_to_follow(self, feed: FollowedFeed) -> None:
        """Asks for a feed from where it stands, if there is a connection; the next one does so anyway."""
        if self.connection is None or self.challenge is None:
            return
        id_ = self.fresh_id()
        self._asked[id_] = feed
        after = feed.number if feed.epoch == self.challenge.epoch else None
        epoch = feed.epoch if after is not None else None
        ask = requests.FollowRequest(id=id_, feed=feed.name, epoch=epoch, after=after)
        with suppress(Disconnected):
            await self.connection.send(encode(ask).decode())

    # Hearing

    async def _hear(self, text: str) -> None:
        for tell in read(text):
            self._take(tell)
        while self._lost:
            await self.ask_to_follow(self._lost.pop())

    def _take(self, tell: ServerMessage) -> None:
        match tell:
            case replies.EndNotice():
                _unless_ended(tell)
            case replies.ChangeNotice():
                self._change(tell)
            case replies.SnapshotNotice() | replies.FollowingReply() | replies.RefusedReply():
                self._followed(tell)
            case _:
                pass
        pending = self.pending.get(getattr(tell, "to", None) or "")
        if pending is not None:
            pending.take(tell)

    def _change(self, tell: replies.ChangeNotice) -> None:
        feed = self.feeds.get(tell.feed)
        if feed is not None and not feed.change(tell):
            self._gap(feed, f"expected {(feed.number or 0) + 1}, got {tell.number}")

    def _followed(self, tell: replies.SnapshotNotice | replies.FollowingReply | replies.RefusedReply) -> None:
        feed = self._asked.pop(tell.to or "", None)
        if feed is None or self.challenge is None:
            return
        if isinstance(tell, replies.SnapshotNotice):
            feed.snapshot(tell, self.challenge.epoch)
        elif isinstance(tell, replies.RefusedReply):
            self.feeds.pop(feed.name, None)
            feed.over(Refused(tell.reason, tell.message, clause=tell.clause))
        elif tell.number != feed.number:
            self._gap(feed, f"expected {tell.number} after what was missed, got {feed.number}")

    def _gap(self, feed: FollowedFeed, says: str) -> None:
        """A number is missing: the feed is asked for anew."""
        self.gaps.append(f"{feed.name}: {says}")
        feed.forget_place()
        self._lost.append(feed)


def _unless_ended(*told: ServerMessage) -> None:
    for tell in told:
        if isinstance(tell, replies.EndNotice):
            raise Disconnected(f"expected to stay, got the end: {tell.why}, {tell.message}")

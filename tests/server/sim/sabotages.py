"""What is broken on purpose, one thing at a time: each has to turn some evening red."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final, NamedTuple

import pytest

from taisai.game.betting import placing as bets
from taisai.journal import Engine, MemoryStore
from taisai.journal.journal import Decision
from taisai.journal.stores.contract import Head, Row
from taisai.rules.vocabulary import Phase
from taisai.server.connections.sockets import Socket
from taisai.server.projections import feed_writer
from taisai.server.projections.seats import SeatFeeds
from taisai.server.runtime.house_server import HouseServer
from tests.server.sim.simulated_queue import SimulatedQueue
from tests.server.sim.world import World

Patch = pytest.MonkeyPatch


class Sabotage(NamedTuple):
    """What is done, and the words by which it has to show."""

    break_: Callable[[Patch], Callable[[World], None] | None]
    """Patches something, or says what to do to a world before its evening."""
    shows: str


class _Hasty(SimulatedQueue):
    """Replies at once, and writes when there is time."""

    def __init__(self, engine: Engine, *given: Any, chance: Random, slow: float, **named: Any) -> None:
        super().__init__(engine, *given, chance=chance, slow=slow, **named)
        self._late: list[Decision] = []
        self._append = engine.journal.append
        engine.journal.append = self._later  # type: ignore[method-assign]

    def _later(self, decisions: Sequence[Decision]) -> None:
        self._late += decisions
        self._loop.call_later(0.5, self._now)

    def _now(self) -> None:
        late, self._late = self._late, []
        if late and not self._is_dead:
            self._append(late)


def _acknowledge_first(_patch: Patch) -> Callable[[World], None]:
    def hasty(world: World) -> None:
        world.make_queue = _Hasty
        world.snapshot_every = 10_000

    return hasty


def _take_late_bets(patch: Patch) -> None:
    patch.setattr(bets, "_OPEN_TUMBLED", Phase.CLOSED)


def _skip_a_number(patch: Patch) -> None:
    right = feed_writer.FeedWriter.send

    def send(self: feed_writer.FeedWriter, feed: str, changes: Any, **named: Any) -> None:
        number = self._numbers.get(feed)
        if number is not None and number % 7 == 6:
            self._numbers[feed] = number + 1
        right(self, feed, changes, **named)

    patch.setattr(feed_writer.FeedWriter, "send", send)


class _Forgetful(MemoryStore):
    """Forgets, when the power goes, what was appended last."""

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__()
        self.append(rows)
        self._last: list[Row] = []

    def append(self, rows: Sequence[Row], head: Head | None = None) -> None:
        """As it should."""
        super().append(rows, head)
        if rows:
            self._last = list(rows)

    def forget_last(self) -> None:
        """As it should not."""
        left = [row for row in self.rows() if row not in self._last]
        self._rows, self._by_stream = [], {}
        super().append(left)
        self._last = []


def _lose_the_last_append(_patch: Patch) -> Callable[[World], None]:
    def forgetful(world: World) -> None:
        store = _Forgetful(list(world.store.rows()))
        world.storage.store = store
        world.storage.crash = lambda chance: store.forget_last()  # type: ignore[method-assign]  # noqa: ARG005

    return forgetful


def _forget_to_answer(patch: Patch) -> None:
    right = Socket.send
    said = [0]

    def say(self: Socket, tell: Any) -> None:
        said[0] += 1
        if said[0] % 50:
            right(self, tell)

    patch.setattr(Socket, "send", say)


def _forget_who_staked(patch: Patch) -> None:
    right = SeatFeeds._keep

    def keep(self: SeatFeeds, name: str, whole: Any) -> Any:
        view = right(self, name, whole)
        self._at_risk.pop(name, None)
        return view

    patch.setattr(SeatFeeds, "_keep", keep)


def _publish_late(patch: Patch) -> None:
    """The refresh of the consoles comes a moment too late, after what was decided after it."""

    async def refresh(self: HouseServer) -> None:
        boards, feeds = self.queue.projections, self.queue.feeds
        frames = await self.queue.run(lambda _engine: boards.refresh())
        await asyncio.sleep(0.2)
        for frame in frames:
            feeds.publish(frame)
        feeds.flush()

    patch.setattr(HouseServer, "_refresh", refresh)


def _repeat_what_was_missed(patch: Patch) -> None:
    """Whoever comes back is told one frame too few."""
    from taisai.server.connections.feeds import Feed
    from taisai.server.projections.feed_writer import Frame

    right = Feed.missed

    def missed(self: Feed, after: int) -> list[Frame] | None:
        found = right(self, after)
        return found[1:] if found else found

    patch.setattr(Feed, "missed", missed)


SABOTAGES: Final = {
    "an acknowledgement before the append": Sabotage(_acknowledge_first, "acknowledged in the journal"),
    "a bet after the close": Sabotage(_take_late_bets, "after the close"),
    "a feed that skips a number": Sabotage(_skip_a_number, "without gaps"),
    "a crash that loses the last append": Sabotage(_lose_the_last_append, "acknowledged in the journal"),
    "an ask without an answer": Sabotage(_forget_to_answer, "answer to every ask"),
    "a settlement that some are not told": Sabotage(_forget_who_staked, "as it is, got"),
    "a refresh that comes late": Sabotage(_publish_late, "without gaps"),
    "a catch-up with a frame too few": Sabotage(_repeat_what_was_missed, "without gaps"),
}
"""Name → what is broken."""

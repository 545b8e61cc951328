"""Feeds: numbered frames for their followers, and the latest ones again for those who reconnect."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from taisai.server.connections.outbox import Outbox

RING: Final = 64
"""Frames that a feed keeps: a client that missed more starts from a snapshot."""
MOST_FEEDS: Final = 10_000  # kept; those without followers are dropped first


class Frame(Struct, frozen=True, gc=False):
    """The next frame of a feed, as it is sent."""

    feed: str
    number: int
    body: bytes


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


class Feeds:
    """All feeds of one start."""

    def __init__(self, epoch: str) -> None:
        self.epoch = epoch
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
        """The feeds that have followers."""
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

"""Feeds: numbered frames, told to whoever follows, and once more to whoever comes back."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from typing import Final, Protocol

from msgspec import Struct

RING: Final = 64
"""Frames that a feed remembers: a client that missed more starts from a snapshot."""
MOST_FEEDS: Final = 10_000  # remembered; the ones that nobody follows are forgotten first


class Frame(Struct, frozen=True, gc=False):
    """The next frame of a feed, as it is sent."""

    feed: str
    number: int
    body: bytes


class FeedFollower(Protocol):
    """Whoever is told."""

    def tell(self, body: bytes) -> None:
        """Puts a frame in the outbox."""

    def flush(self) -> None:
        """Sends what is in the outbox."""

    def resync(self) -> None:
        """Has the client come back, and start from snapshots."""


class Feed:
    """One feed: where it stands, what it remembers, who follows."""

    __slots__ = ("followers", "number", "ring")

    def __init__(self, number: int) -> None:
        self.number = number
        self.ring: deque[Frame] = deque(maxlen=RING)
        self.followers: dict[FeedFollower, None] = {}

    def missed(self, after: int) -> list[Frame] | None:
        """The frames after a number; None where not all of them are remembered."""
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
        self._told: dict[FeedFollower, None] = {}
        """Those with frames in their outbox that have not been sent."""

    def get(self, name: str) -> Feed | None:
        """A feed that someone follows or followed."""
        return self._feeds.get(name)

    def follow(self, name: str, follower: FeedFollower, number: int) -> None:
        """From here on a follower is told what comes after a number."""
        feed = self._feeds.get(name)
        if feed is None:
            self._forget_some()
            feed = self._feeds[name] = Feed(number)
        feed.followers[follower] = None

    def unfollow(self, name: str, follower: FeedFollower) -> None:
        """From here on they are not; what is told meanwhile they can still ask for."""
        feed = self._feeds.get(name)
        if feed is not None:
            feed.followers.pop(follower, None)
            self._feeds.move_to_end(name)

    def followed(self) -> set[str]:
        """The feeds that somebody follows."""
        return {name for name, feed in self._feeds.items() if feed.followers}

    def forget(self, names: Iterable[str]) -> None:
        """Feeds that are not counted any more; who has come to one in this very moment comes back."""
        for name in names:
            feed = self._feeds.pop(name, None)
            for follower in list(feed.followers) if feed is not None else ():
                follower.resync()

    def publish(self, frame: Frame) -> None:
        """Tells a frame to all who follow; `flush` sends what they were told."""
        feed = self._feeds.get(frame.feed)
        if feed is None:
            return
        feed.number = frame.number
        feed.ring.append(frame)
        body, told = frame.body, self._told
        for follower in feed.followers:
            follower.tell(body)
            told[follower] = None

    def note(self, follower: FeedFollower) -> None:
        """Someone was told something beside the feeds."""
        self._told[follower] = None

    def flush(self) -> None:
        """Each follower is sent, in one message, all that they were told."""
        told, self._told = self._told, {}
        for follower in told:
            follower.flush()

    def begin_again(self) -> None:
        """Feeds count again, in an epoch of their own; whoever followed comes back for snapshots."""
        followers = {follower: None for feed in self._feeds.values() for follower in feed.followers}
        self._feeds.clear()
        self.epoch += "+"
        for follower in followers:
            follower.resync()

    def _forget_some(self) -> None:
        if len(self._feeds) < MOST_FEEDS:
            return
        for name in [name for name, feed in self._feeds.items() if not feed.followers][: MOST_FEEDS // 10]:
            del self._feeds[name]

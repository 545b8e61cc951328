"""The names of feeds, and the frames that send changes to their followers."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any, Final, NamedTuple

import msgspec

from taisai.protocol.replies import ChangeNotice
from taisai.protocol.views import View, difference

LOBBY: Final = "lobby"
PIT: Final = "pit"
CAGE: Final = "cage"
HOUSE_FEEDS: Final = (LOBBY, PIT, CAGE)
_encode: Final = msgspec.json.Encoder().encode


class Frame(msgspec.Struct, frozen=True, gc=False):
    """The next frame of a feed, as it is sent."""

    feed: str
    number: int
    body: bytes


def table_feed(table: str) -> str:
    return f"table:{table}"


def console_feed(table: str) -> str:
    return f"console:{table}"


def seat_feed(table: str, seat: str) -> str:
    return f"seat:{table}/{seat}"


class FeedName(NamedTuple):
    """The parts of a feed's name; missing parts are empty."""

    kind: str
    table: str = ""
    seat: str = ""

    @classmethod
    def parse(cls, feed: str) -> FeedName:
        """Splits a name such as `seat:T1/4`. Any text can be split."""
        kind, _, rest = feed.partition(":")
        table, _, seat = rest.partition("/") if kind == "seat" else (rest, "", "")
        return cls(kind, table, seat)


class FeedSnapshot(NamedTuple):
    """A feed's view, and the number of its latest frame."""

    number: int
    view: View


class FeedWriter:
    """Makes and numbers the frames of followed feeds, and keeps the view that followers have."""

    def __init__(self) -> None:
        self.views: dict[str, View] = {}
        """Feed → the view that its followers have."""
        self._frames: list[Frame] = []
        self._numbers: dict[str, int] = {}
        """Feed → the number of its latest frame."""
        self._unfollowed: set[str] = set()
        """Feeds without followers at the last call of `forget`."""
        self._first = 0
        """The first number of a new feed, above all numbers of forgotten feeds, so that none repeats."""

    def follow(self, feed: str) -> int:
        """Numbers the feed's frames from now on; returns the number of its latest frame."""
        self._unfollowed.discard(feed)
        return self._numbers.setdefault(feed, self._first)

    def forget(self, followed: AbstractSet[str]) -> list[str]:
        """Stops the feeds without followers now and at the last call; returns their names."""
        forgotten = [feed for feed in self._unfollowed if feed not in followed]
        for feed in forgotten:
            self._first = max(self._first, self._numbers.pop(feed) + 1)
            self.views.pop(feed, None)
        self._unfollowed = self._numbers.keys() - followed
        return forgotten

    def __contains__(self, feed: str) -> bool:
        return feed in self._numbers

    def snapshot(self, feed: str, make_view: Callable[[], View]) -> FeedSnapshot:
        """The feed's view as its followers have it. Newer changes come in later frames."""
        if feed not in self.views:
            self.views[feed] = make_view()
        return FeedSnapshot(self.follow(feed), self.views[feed])

    def show(self, feed: str, view: View, what: tuple[str, ...] = ()) -> None:
        """Sends the difference to a new view; `what` names the events behind it."""
        changes = difference(self.views[feed], view)
        self.views[feed] = view
        if changes is not None:
            self.send(feed, changes, what=what)

    def send(self, feed: str, changes: Any, *, what: tuple[str, ...] = ()) -> None:
        """Makes the feed's next frame."""
        number = self._numbers.get(feed)
        if number is not None:
            self._numbers[feed] = number = number + 1
            notice = ChangeNotice(feed=feed, number=number, changes=changes, what=what)
            self._frames.append(Frame(feed, number, _encode(notice)))

    def take_frames(self) -> list[Frame]:
        """The frames since the last call."""
        frames, self._frames = self._frames, []
        return frames

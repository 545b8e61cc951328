"""The feeds: what they are called, and where each of them stands."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from taisai.protocol.views import View

LOBBY: Final = "lobby"
PIT: Final = "pit"
CAGE: Final = "cage"


def table_feed(table: str) -> str:
    """The feed of a table, for everyone."""
    return f"table:{table}"


def console_feed(table: str) -> str:
    """The feed of a table, for its staff."""
    return f"console:{table}"


def seat_feed(table: str, seat: str) -> str:
    """The feed of a seat, for its own player."""
    return f"seat:{table}/{seat}"


class Shown(NamedTuple):
    """A feed as it stands."""

    number: int
    view: View


class Numbers:
    """Where each feed stands that somebody follows, or followed until lately."""

    def __init__(self) -> None:
        self._at: dict[str, int] = {}
        self._alone: set[str] = set()
        """Feeds that nobody followed when it was last looked."""
        self._start = 0
        """Where feeds begin: after every number of those that were forgotten, so that none is told twice."""

    def follow(self, feed: str) -> int:
        """From here on the feed counts."""
        self._alone.discard(feed)
        return self._at.setdefault(feed, self._start)

    def forget(self, followed: AbstractSet[str]) -> list[str]:
        """Feeds that nobody follows now, nor did when this was last asked: from here on they do not count."""
        forgotten = [feed for feed in self._alone if feed not in followed]
        for feed in forgotten:
            self._start = max(self._start, self._at.pop(feed) + 1)
        self._alone = self._at.keys() - followed
        return forgotten

    def next(self, feed: str) -> int | None:
        """The next number; None where nobody follows."""
        number = self._at.get(feed)
        if number is None:
            return None
        self._at[feed] = number = number + 1
        return number

    def __contains__(self, feed: str) -> bool:
        return feed in self._at

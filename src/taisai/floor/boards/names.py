"""The feeds: what they are called, and where each of them stands."""

from __future__ import annotations

from typing import Final, NamedTuple

from taisai.wire.views import View

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
    """Where each feed stands that somebody follows or followed."""

    def __init__(self) -> None:
        self._at: dict[str, int] = {}

    def follow(self, feed: str) -> int:
        """From here on the feed counts."""
        return self._at.setdefault(feed, 0)

    def next(self, feed: str) -> int | None:
        """The next number; None where nobody has ever followed."""
        number = self._at.get(feed)
        if number is None:
            return None
        self._at[feed] = number = number + 1
        return number

    def __contains__(self, feed: str) -> bool:
        return feed in self._at

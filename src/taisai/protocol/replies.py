"""Tells: everything that the floor can say to a client."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from taisai.protocol.message import Tell
from taisai.protocol.requests import Laid
from taisai.protocol.views import AnyChanges, AnyView, BooksView, FeltView, PreviewView, ReportView, RoundView

# Coming in


class TellChallenge(Tell, frozen=True, kw_only=True):
    """The first tell: what a device signs, and where feeds stand."""

    wire: int
    program: str
    nonce: str
    epoch: str
    """Feeds count anew in each; a client returns with it."""
    demonstration: bool
    now: int
    """The floor's clock, in milliseconds since 1970: what it says of times is by this one."""
    pages: str
    """Which pages the floor serves: a page that was made from other sources is loaded anew. Empty: none."""


class TellWelcome(Tell, frozen=True, kw_only=True):
    """Who the floor takes the client for."""

    re: str
    role: str
    name: str
    table: str | None = None
    seat: str | None = None
    currency: str = ""
    """The house's one currency: money is told in its minor units."""


class TellBeat(Tell, frozen=True, kw_only=True):
    """The floor is there."""

    re: str
    now: int
    """Its clock, as in the challenge."""


# Answers


class TellDone(Tell, frozen=True, kw_only=True):
    """It is done, and durable."""

    re: str
    ticket: str | None = None
    """The ticket that it made."""
    amount: int | None = None
    transfer: str | None = None
    """Under which something went between a table and the cage."""
    again: bool = False
    """Whether it had been done before, and this was a retry."""


class TellRefused(Tell, frozen=True, kw_only=True):
    """It is not done: why, and by which clause."""

    reason: str
    message: str
    """What was expected, and what came."""
    re: str | None = None
    clause: str | None = None
    bet: str | None = None
    sums: tuple[int, ...] = ()
    """What was expected and what came, where both are money: for a page, which says it in its reader's
    language, by `reason` and `clause`; `message` is for programs and logs."""


# Feeds


class TellSnapshot(Tell, frozen=True, kw_only=True):
    """A feed as it stands after so many changes."""

    feed: str
    number: int
    view: AnyView
    re: str | None = None


class TellChange(Tell, frozen=True, kw_only=True):
    """The next change of a feed: the parts of its view that are different now."""

    feed: str
    number: int
    changes: AnyChanges
    what: tuple[str, ...] = ()
    """The events behind it."""
    re: str | None = None
    """The ask of this client that it answers, if it is one: it is done, and durable."""


class TellFollowing(Tell, frozen=True, kw_only=True):
    """The changes since the client's last number have been told, and the next will be."""

    re: str
    feed: str
    number: int


# What was asked for


class Favourite(Struct, frozen=True, kw_only=True):
    """A set of bets under a name."""

    name: str
    bets: tuple[Laid, ...]


class TellFavourites(Tell, frozen=True, kw_only=True):
    """The seat's favourites."""

    re: str
    favourites: tuple[Favourite, ...]


class TicketLine(Struct, frozen=True, kw_only=True):
    """A ticket that a terminal gave out."""

    ticket: str
    """Its number."""
    amount: int
    at: int
    """When it was issued, in milliseconds since 1970."""


class TellTickets(Tell, frozen=True, kw_only=True):
    """The seat's tickets, the latest first."""

    re: str
    house: str
    """What the House is called, as it stands on a ticket."""
    tickets: tuple[TicketLine, ...]


class TellFelt(Tell, frozen=True, kw_only=True):
    """A layout."""

    re: str
    felt: FeltView


class TellRounds(Tell, frozen=True, kw_only=True):
    """Rounds retold, the latest first."""

    re: str
    rounds: tuple[RoundView, ...]


class TellPreview(Tell, frozen=True, kw_only=True):
    """What a result would do."""

    re: str
    preview: PreviewView


class TellBooks(Tell, frozen=True, kw_only=True):
    """Every account."""

    re: str
    books: BooksView


class TellReport(Tell, frozen=True, kw_only=True):
    """Drop, win and hold."""

    re: str
    report: ReportView


# Going


class TellEnd(Tell, frozen=True, kw_only=True):
    """The floor closes the connection, and says why."""

    why: str
    message: str


TELLS: Final[tuple[type[Tell], ...]] = (
    TellChallenge, TellWelcome, TellBeat, TellDone, TellRefused, TellSnapshot, TellChange, TellFollowing,
    TellFavourites, TellTickets, TellFelt, TellRounds, TellPreview, TellBooks, TellReport, TellEnd,
)  # fmt: skip
"""Every tell there is."""

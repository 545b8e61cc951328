"""One table: what everyone is shown, what its staff are shown, and its seats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from taisai.game import Table
from taisai.game import events as happened
from taisai.game.commands import Slip
from taisai.journal.codec import AnyEvent
from taisai.protocol.replies import ChangeNotice
from taisai.protocol.views import (
    ConsoleView,
    CountdownView,
    Flight,
    RoundView,
    TableView,
    View,
    WatchView,
    difference,
)
from taisai.server.connections.feeds import Frame
from taisai.server.projections import (
    BySeat,
    History,
    Stories,
    after_bets,
    console_view,
    countdown_view,
    round_view,
    table_view,
)
from taisai.server.projections.betting_time import BettingTime
from taisai.server.projections.feed_names import Numbers, Shown, console_feed, seat_feed, table_feed
from taisai.server.projections.seat_feeds import Seats
from taisai.server.projections.takings import Takings
from taisai.server.replies import encoded
from taisai.study.dice.watch import DiceWatch


class TableBoard:
    """The board of a table, as long as the floor is open."""

    def __init__(
        self, table: Table, numbers: Numbers, takings: Takings, stories: Stories, *, window: int | None
    ) -> None:
        """`window`: milliseconds that bets are open for, None where no clock runs."""
        name = table.name
        self.history = History.of(table)
        self.takings = takings
        self._stories = stories
        self._by_seat = BySeat()
        self.flights: tuple[Flight, ...] = ()
        """What is under way between the table and the cage."""
        self.watch: DiceWatch | None = None
        self.is_stale = False
        """Whether something has come or gone, bets above all, that the console has not been shown."""
        self._name = name
        self._numbers = numbers
        self._time = None if window is None else BettingTime.of(table, window)
        self._since: int | None = None
        self._seats = Seats(name, numbers, self._by_seat)
        self._table_feed, self._console_feed = table_feed(name), console_feed(name)
        self._shown: dict[str, View] = {}
        self._what: list[str] = []

    def take(self, table: Table, events: Iterable[AnyEvent], re: str | None, frames: list[Frame]) -> bool:
        """What a command came to; says whether more than one seat's bets is different."""
        is_more = False
        placed: list[Slip] = []
        seat = ""
        for event in events:
            if type(event) is happened.BetRegistered:
                placed.append(Slip(event.id, event.area, event.stake))
                seat = event.seat
            else:
                is_more = True
                self._heard(table, event)
        if placed:
            self.is_stale = True
            self._seats.placed(table, seat, placed, re, frames)
        return is_more

    def _heard(self, table: Table, event: Any) -> None:
        self._what.append(str(event.__struct_config__.tag))
        self.history.take(event, table)
        self.takings.take(event)
        self._stories.take(event)
        self._seats.heard(event)
        if self._time is not None:
            self._time.take(event)
        if hasattr(event, "phase") or isinstance(event, happened.RoundConcluded):
            self._since = event.at

    def finish(self, table: Table, frames: list[Frame]) -> None:
        """The frames of everything that is different after a group of commands."""
        what, self._what = tuple(dict.fromkeys(self._what)), []
        for feed in (self._table_feed, self._console_feed):
            if feed in self._numbers:
                self._change(feed, self._view(table, feed), what, frames)
        self._seats.finish(table, what, frames)

    def ring(self, table: Table, until: int, frames: list[Frame]) -> None:
        """The time for bets until then is up, and the Dealer is prompted."""
        if self._time is None or not self._time.ring(until):
            return
        for feed in (self._table_feed, self._console_feed):
            before = self._shown.get(feed)
            if isinstance(before, TableView | ConsoleView) and feed in self._numbers:
                self._change(feed, replace(before, countdown=self._countdown(table)), (), frames)

    def refresh(self, table: Table, frames: list[Frame]) -> None:
        """Shows the console the bets that have come meanwhile, and what the watch on the dice says."""
        self.is_stale = False
        before = self._shown.get(self._console_feed)
        if isinstance(before, ConsoleView) and self._console_feed in self._numbers:
            view = after_bets(before, table) or self._view(table, self._console_feed)
            self._change(self._console_feed, replace(view, watch=self._watched()), (), frames)

    def _change(self, feed: str, view: View, what: tuple[str, ...], frames: list[Frame]) -> None:
        before, self._shown[feed] = self._shown[feed], view
        changes = difference(before, view)
        number = self._numbers.next(feed) if changes is not None else None
        if changes is not None and number is not None:
            tell = ChangeNotice(feed=feed, number=number, changes=changes, what=what)
            frames.append(Frame(feed, number, encoded(tell)))

    def _view(self, table: Table, feed: str) -> View:
        if feed == self._console_feed:
            return console_view(
                table,
                now=table.latest,
                countdown=self._countdown(table),
                flights=self.flights,
                watch=self._watched(),
            )
        story = None if table.round is not None else self._stories.of_round(len(table.rounds))
        countdown = self._countdown(table)
        return table_view(table, self.history, countdown=countdown, since=self._since, story=story)

    def _countdown(self, table: Table) -> CountdownView:
        time = self._time
        if time is None:
            return countdown_view(table)
        return countdown_view(table, time.up_at, window=time.window, is_up=time.is_up)

    def _watched(self) -> WatchView | None:
        if self.watch is None:
            return None
        return WatchView(
            results=self.watch.results, e_value=f"{self.watch.e_value:.3g}", alarm=self.watch.alarm
        )

    def snapshot(self, table: Table, feed: str) -> Shown:
        """The feed as it stands, which counts from here on."""
        if feed not in (self._table_feed, self._console_feed):
            return self._seats.snapshot(table, self._seat_of(feed))
        known = self._shown.get(feed)
        if known is None:  # else it is what the followers have; anything newer comes with its own number
            known = self._shown[feed] = self._view(table, feed)
        return Shown(self._numbers.follow(feed), known)

    def forget(self, feed: str) -> None:
        """Nobody follows a feed any more."""
        if feed in (self._table_feed, self._console_feed):
            self._shown.pop(feed, None)
        else:
            self._seats.forget(self._seat_of(feed))

    def _seat_of(self, feed: str) -> str:
        return feed.removeprefix(seat_feed(self._name, ""))

    def retold(
        self, table: Table, numbers: Iterable[int], seat: str | None, session: int | None
    ) -> Iterator[RoundView]:
        """Rounds in full; with a session, those in which the player at the seat bet."""
        for number in numbers:
            story = self._stories.of_round(number)
            view = round_view(table, number, seat, session=session, story=story, by_seat=self._by_seat)
            if view is not None:
                yield view

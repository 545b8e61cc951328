"""The feeds of one table: the public one, that of its staff, and those of its seats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from taisai.game import Table
from taisai.game.commands import Slip
from taisai.game.events import BetRegistered, RoundConcluded
from taisai.journal.codec import AnyEvent
from taisai.protocol.views import (
    ConsoleView,
    CountdownView,
    RoundView,
    TableView,
    TransferInTransit,
    View,
    WatchView,
)
from taisai.server.projections.betting_time import BettingTime, countdown_view
from taisai.server.projections.console import after_bets, console_view
from taisai.server.projections.feed_writer import (
    FeedName,
    FeedSnapshot,
    FeedWriter,
    console_feed,
    table_feed,
)
from taisai.server.projections.history import History
from taisai.server.projections.round_log import RoundLogs
from taisai.server.projections.rounds import round_view
from taisai.server.projections.seats import SeatFeeds, SeatIndex
from taisai.server.projections.table import table_view
from taisai.server.projections.takings import Takings
from taisai.study.dice.watch import DiceWatch


class TableFeeds:
    """Turns the events of one table into frames for its followers."""

    def __init__(
        self, table: Table, writer: FeedWriter, takings: Takings, logs: RoundLogs, *, window: int | None
    ) -> None:
        """`window`: how long bets are open, in milliseconds; None without a betting clock."""
        self.history = History.of(table)
        self.takings = takings
        self.in_transit: tuple[TransferInTransit, ...] = ()
        """The table's transfers that only one side has booked."""
        self.watch: DiceWatch | None = None
        self.is_stale = False
        """Whether there are bets that the console does not show yet."""
        self._logs = logs
        self._index = SeatIndex()
        self._writer = writer
        self._time = None if window is None else BettingTime.of(table, window)
        self._phase_since: int | None = None
        self._seats = SeatFeeds(table.name, writer, self._index)
        self._table_feed, self._console_feed = table_feed(table.name), console_feed(table.name)
        self._tags: list[str] = []
        """The tags of the events since the last call of `show`."""

    def apply(self, table: Table, events: Iterable[AnyEvent]) -> bool:
        """Applies the events of a command; returns whether they were more than bets."""
        has_more = False
        placed: list[Slip] = []
        seat = ""
        for event in events:
            if type(event) is BetRegistered:
                placed.append(Slip(event.id, event.area, event.stake))
                seat = event.seat
            else:
                has_more = True
                self._apply(table, event)
        if placed:
            self.is_stale = True
            self._seats.send_bets(table, seat, placed)
        return has_more

    def _apply(self, table: Table, event: Any) -> None:
        self._tags.append(str(event.__struct_config__.tag))
        self.history.apply(event, table)
        self.takings.apply(event)
        self._logs.apply(event)
        self._seats.apply(event)
        if self._time is not None:
            self._time.apply(event)
        if hasattr(event, "phase") or isinstance(event, RoundConcluded):
            self._phase_since = event.at

    def show(self, table: Table) -> None:
        """Sends what the events since the last call changed."""
        what, self._tags = tuple(dict.fromkeys(self._tags)), []
        for feed in (self._table_feed, self._console_feed):
            if feed in self._writer:
                self._writer.show(feed, self.view(table, feed), what)
        self._seats.show(table, what)

    def ring(self, table: Table, until: int) -> None:
        """Shows that the time for bets is up, which prompts the Dealer."""
        if self._time is None or not self._time.ring(until):
            return
        for feed in (self._table_feed, self._console_feed):
            before = self._writer.views.get(feed)
            if isinstance(before, TableView | ConsoleView) and feed in self._writer:
                self._writer.show(feed, replace(before, countdown=self._countdown(table)))

    def refresh(self, table: Table) -> None:
        """Shows the console the bets since the last call, and the test of the dice."""
        self.is_stale = False
        before = self._writer.views.get(self._console_feed)
        if isinstance(before, ConsoleView) and self._console_feed in self._writer:
            view = after_bets(before, table) or self._console(table)
            self._writer.show(self._console_feed, replace(view, watch=self._watch_view()))

    def view(self, table: Table, feed: str) -> View:
        """The view of the public feed, or of the feed for staff."""
        if feed == self._console_feed:
            return self._console(table)
        log = None if table.round is not None else self._logs.of_round(len(table.rounds))
        countdown = self._countdown(table)
        return table_view(table, self.history, countdown=countdown, since=self._phase_since, log=log)

    def _console(self, table: Table) -> ConsoleView:
        return console_view(
            table,
            now=table.latest,
            countdown=self._countdown(table),
            transfers=self.in_transit,
            watch=self._watch_view(),
        )

    def _countdown(self, table: Table) -> CountdownView:
        time = self._time
        if time is None:
            return countdown_view(table)
        return countdown_view(table, time.up_at, window=time.window, is_up=time.is_up)

    def _watch_view(self) -> WatchView | None:
        if self.watch is None:
            return None
        return WatchView(
            results=self.watch.results, e_value=f"{self.watch.e_value:.3g}", alarm=self.watch.alarm
        )

    def snapshot(self, table: Table, feed: str) -> FeedSnapshot:
        """A feed as its followers have it; its frames are numbered from now on."""
        seat = FeedName.parse(feed).seat
        if seat:
            return self._seats.snapshot(table, seat)
        return self._writer.snapshot(feed, lambda: self.view(table, feed))

    def forget(self, feed: str) -> None:
        """Drops the state of a feed without followers."""
        self._seats.forget(FeedName.parse(feed).seat)

    def rounds(
        self, table: Table, numbers: Iterable[int], seat: str | None, session: int | None
    ) -> Iterator[RoundView]:
        """Views of rounds; with a session, only rounds in which the seat's player bet."""
        for number in numbers:
            log = self._logs.of_round(number)
            view = round_view(table, number, seat, session=session, log=log, index=self._index)
            if view is not None:
                yield view

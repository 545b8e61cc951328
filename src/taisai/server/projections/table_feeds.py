"""The feeds of one table: the public one, that of its staff, those of its seats; and its time for bets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from taisai.game import Table, events
from taisai.game.commands import Slip
from taisai.game.events import BetRegistered, RoundConcluded
from taisai.game.table import HeldReport
from taisai.game.vocabulary import Hold
from taisai.journal.codec import AnyEvent
from taisai.protocol import views
from taisai.protocol.views import View
from taisai.rules.procedure import Recovery
from taisai.server.projections.console import after_bets, console_view
from taisai.server.projections.feed_writer import FeedName, FeedSnapshot, FeedWriter, console_feed, table_feed
from taisai.server.projections.history import History, RoundLogs
from taisai.server.projections.rounds import round_view
from taisai.server.projections.seats import SeatFeeds, SeatIndex
from taisai.server.projections.table import countdown_view, table_view
from taisai.server.projections.takings import Takings
from taisai.study.dice.watch import DiceWatch


class BettingTime:
    """The time for bets of one table, from its events."""

    def __init__(self, window: int) -> None:
        """`window`: how long bets are open, in milliseconds."""
        self.window = window
        self._up_at: int | None = None
        self.round = 0
        """The round that it is for."""
        self._held_since = 0
        self._expired_at: int | None = None
        """The end of the time for bets that a clock has announced as up."""
        self._holds: set[str] = set()
        """Why the round is held: holds, and names of referrals."""

    @classmethod
    def of(cls, table: Table, window: int) -> BettingTime:
        """The time for bets of a table as it is now; a hold counts from the table's latest time."""
        time = cls(window)
        if table.round is not None and table.phase.bets_open:
            time._up_at, time.round = table.round.opened_at + window, table.round.number
        time._held_since = table.latest
        named = (Hold.REFERRAL, Hold.CONFIRMATION)
        time._holds = {str(hold) for hold in table.holds if hold not in named}
        if time.round is not None:
            time._holds |= {name for name, one in table.reports.items() if time._is_about(one)}
        time._holds |= {
            name
            for name, referral in table.referrals.items()
            if referral.holds and referral.decided_by is None
        }
        return time

    @property
    def up_at(self) -> int | None:
        """When the time is up; None if bets are not open or the round is held."""
        return None if self._holds else self._up_at

    @property
    def is_up(self) -> bool:
        """Whether a clock has announced that the time is up. Bets may still be open."""
        return self.up_at is not None and self.up_at == self._expired_at

    def ring(self, until: int) -> bool:
        """A clock announces that the time until then is up; returns whether that is new."""
        was_up = self.is_up
        # Otherwise bets were opened again, or closed, in the meantime.
        if self.up_at is not None and self.up_at <= until:
            self._expired_at = self.up_at
        return self.is_up and not was_up

    def apply(self, event: object) -> None:
        match event:
            case events.BetsOpened() | events.BetsReopened():
                self._up_at, self.round = event.at + self.window, event.round
            case events.BetsClosed() | events.UnrecordedDeclared(called=True):
                self._up_at = None
            case events.RoundVoided() | events.RoundConcluded() if event.round == self.round:
                self._up_at = None  # voiding an earlier round does not stop this one's time
                self._holds.clear()
            case _:
                pass
        self._apply_hold(event)

    def _apply_hold(self, event: object) -> None:
        """The time stands still from what holds the round until what lets it go on."""
        match event:
            case events.WithdrawalOffered():
                self._hold(Hold.WITHDRAWAL, event.at)
            case events.WithdrawalClosed():
                self._release(Hold.WITHDRAWAL, event.at)
            case events.Interrupted(action=Recovery.DECLARE):
                self._hold(Hold.DECLARATION, event.at)
            case events.SightDeclared() | events.UnrecordedDeclared():
                self._release(Hold.DECLARATION, event.at)
            case events.ReportHeld() if self._is_about(event):
                self._hold(event.report, event.at)
            case events.ReportConfirmed() | events.ReportContested():
                self._release(event.report, event.at)
            case events.Referred(holds=True):
                self._hold(event.referral, event.at)
            case events.ReferralDecided():
                self._release(event.referral, event.at)
            case _:
                pass

    def _is_about(self, report: events.ReportHeld | HeldReport) -> bool:
        """Whether a report that waits for a second person holds the round whose time this is."""
        if report.round is None or self.round is None:
            return False
        return report.round <= self.round <= (report.through or report.round)

    def _hold(self, what: str, at: int) -> None:
        if not self._holds:
            self._held_since = at
        self._holds.add(what)

    def _release(self, what: str, at: int) -> None:
        if what not in self._holds:
            return
        self._holds.remove(what)
        if not self._holds and self._up_at is not None:
            self._up_at += max(0, at - self._held_since)


class TableFeeds:
    """Turns the events of one table into frames for its followers."""

    def __init__(
        self, table: Table, writer: FeedWriter, takings: Takings, logs: RoundLogs, *, window: int | None
    ) -> None:
        """`window`: how long bets are open, in milliseconds; None without a betting clock."""
        self.history = History.of(table)
        self.takings = takings
        self.in_transit: tuple[views.TransferInTransit, ...] = ()
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
            if isinstance(before, views.TableView | views.ConsoleView) and feed in self._writer:
                self._writer.show(feed, replace(before, countdown=self._countdown(table)))

    def refresh(self, table: Table) -> None:
        """Shows the console the bets since the last call, and the test of the dice."""
        self.is_stale = False
        before = self._writer.views.get(self._console_feed)
        if isinstance(before, views.ConsoleView) and self._console_feed in self._writer:
            view = after_bets(before, table) or self._console(table)
            self._writer.show(self._console_feed, replace(view, watch=self._watch_view()))

    def view(self, table: Table, feed: str) -> View:
        """The view of the public feed, or of the feed for staff."""
        if feed == self._console_feed:
            return self._console(table)
        log = None if table.round is not None else self._logs.of_round(len(table.rounds))
        countdown = self._countdown(table)
        return table_view(table, self.history, countdown=countdown, since=self._phase_since, log=log)

    def _console(self, table: Table) -> views.ConsoleView:
        countdown, watch = self._countdown(table), self._watch_view()
        return console_view(
            table, now=table.latest, countdown=countdown, transfers=self.in_transit, watch=watch
        )

    def _countdown(self, table: Table) -> views.CountdownView:
        time = self._time
        if time is None:
            return countdown_view(table)
        return countdown_view(table, time.up_at, window=time.window, is_up=time.is_up)

    def _watch_view(self) -> views.WatchView | None:
        if self.watch is None:
            return None
        return views.WatchView(
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
    ) -> Iterator[views.RoundView]:
        """Views of rounds; with a session, only rounds in which the seat's player bet."""
        for number in numbers:
            log = self._logs.of_round(number)
            view = round_view(table, number, seat, session=session, log=log, index=self._index)
            if view is not None:
                yield view

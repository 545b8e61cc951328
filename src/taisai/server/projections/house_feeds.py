"""Every feed of the house. It runs in the writer's thread, which owns the tables.

The command queue calls `frames` after each group of commands. Lobby, pit and cage are made here; each table
has its own `TableFeeds`. A table that cannot be read is left out, and the others continue.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar, cast

import structlog
from msgspec.structs import replace

from taisai.cage.messages import DeviceDismissed, DeviceEnrolled, SignInFailed
from taisai.game import Refusal, Table
from taisai.journal import Answer, Engine, JournalError, stream_of, table_of
from taisai.protocol.views import Alarm, BooksView, ReportView, RoundView, View, Words
from taisai.server.projections import house_views
from taisai.server.projections.feed_writer import (
    HOUSE_FEEDS,
    LOBBY,
    PIT,
    FeedName,
    FeedSnapshot,
    FeedWriter,
    Frame,
)
from taisai.server.projections.history import REMEMBERED, RoundLogs
from taisai.server.projections.house_limits import house_limits
from taisai.server.projections.house_views import TransferTracker
from taisai.server.projections.latest_alarms import (
    StartsWatch,
    alarms_of_house,
    is_shown,
    noting_alarms,
)
from taisai.server.projections.sign_in_watch import SignInWatch
from taisai.server.projections.table_feeds import TableFeeds
from taisai.server.projections.takings import load_takings, report_view, save_takings

if TYPE_CHECKING:
    from taisai.journal.streams import TableStream

T = TypeVar("T")
MOST_ALARMS: Final = 50  # in the view of the pit
READ_AGAIN: Final = 60_000  # ms until an unreadable table is tried again: a try may read all its entries
LATEST_ENTRIES: Final = 50_000
"""Entries of a table that a start reads for the logs of its last rounds; takes about half a second."""
_TABLE_KINDS: Final = frozenset({"table", "console", "seat"})
_log = structlog.get_logger(__name__)


class ReadFailure(NamedTuple):
    """Why a table could not be read, and when that was last tried."""

    error: str
    at: int


class TableReader:
    def __init__(
        self, engine: Engine, now: Callable[[], int], on_failure: Callable[[str, ReadFailure], None]
    ) -> None:
        """`on_failure` is called once for each table that can no longer be read."""
        self._engine = engine
        self._now = now
        self._on_failure = on_failure
        self.failures: dict[str, ReadFailure] = {}
        """Tables that cannot be read now."""

    def table(self, name: str) -> Table | None:
        """A table; None if it cannot be read."""
        return self.read(name, self._engine.table)

    def read(self, name: str, function: Callable[[str], T]) -> T | None:
        """The result of a function of a table's name; None if the table cannot be read."""
        before = self.failures.get(name)
        if before is not None and 0 <= self._now() - before.at < READ_AGAIN:
            return None
        try:
            value = function(name)
        except Exception as error:  # noqa: BLE001  any error: the other tables continue
            failure = ReadFailure(str(error) or type(error).__name__, self._now())
            self.failures[name] = failure
            if before is None:
                _log.exception("a table cannot be read and is left out", table=name)
                self._on_failure(name, failure)
            return None
        if before is not None:
            del self.failures[name]
            _log.info("a table can be read again", table=name)
        return value


def latest_events(engine: Engine, name: str) -> Iterator[object]:
    """The latest events of a table."""
    stream = stream_of(name)
    after = max(0, engine.journal.version(stream) - LATEST_ENTRIES)
    return (event for _, event in engine.journal.events(stream, after=after))


class HouseFeeds:
    """Turns the events of commands into frames for all followers."""

    def __init__(self, engine: Engine, windows: Mapping[str, int | None], *, now: Callable[[], int]) -> None:
        """`windows`: each table of the settings → how long bets are open, in milliseconds."""
        self._engine = engine
        self._windows = windows
        self._now = now
        self._reader = TableReader(engine, now, self._on_failure)
        self._near: frozenset[tuple[str, str]] = frozenset()
        """What is near its limit, and has its alarm."""
        self._alarms: deque[Alarm] = deque(maxlen=MOST_ALARMS)
        self._of_tables: dict[str, list[Alarm]] = {}
        """Table → the alarms that its latest events tell, until a start has shown them."""
        self._of_before: list[Alarm] = []
        """The alarms that the start found in the journal."""
        house = engine.house()
        self._starts = StartsWatch(house.settings, has_place=house.file != "")
        self._sign_ins = SignInWatch()
        self.warnings: list[str] = []
        """What is wrong with what is stored, in English, for the health of the server."""
        self._no_money: Words | None = None
        """Why no money leaves the house."""
        self._expired: dict[str, int] = {}
        """Table → the end of its latest expired time for bets."""
        self.begin_again()
        self._remember_alarms()

    def begin_again(self) -> None:
        """Rebuilds everything from the tables as they are now, without followers."""
        self.tables: dict[str, TableFeeds] = {}
        self._by_stream: dict[str, TableFeeds] = {}
        self._writer = FeedWriter()
        self._transfers = TransferTracker()
        self._terminal_places: frozenset[tuple[str, str]] | None = None
        """Table and seat of every terminal; None until they are needed."""
        for name in self._engine.tables():
            self._add_table(name)

    def _remember_alarms(self) -> None:
        """Shows the alarms of the last day again: else a restart would hide them."""
        now = self._now()
        alarms = alarms_of_house(self._engine, now=now)
        alarms += (alarm for found in self._of_tables.values() for alarm in found if is_shown(alarm, now))
        self._of_tables.clear()
        self._of_before = sorted(alarms, key=lambda alarm: alarm.at)[-MOST_ALARMS:]
        self._alarms.extend(self._of_before)

    def _add_table(self, name: str) -> bool:
        """Adds a table's feeds; returns whether the table could be read."""
        feeds = self._reader.read(name, self._make_table)
        if feeds is not None:
            self.tables[name] = self._by_stream[stream_of(name)] = feeds
        return feeds is not None

    def _make_table(self, name: str) -> TableFeeds:
        engine, window = self._engine, self._windows.get(name)
        table, takings = engine.table(name), load_takings(engine, name)
        alarms = self._of_tables[name] = []
        logs = RoundLogs.of(noting_alarms(name, latest_events(engine, name), alarms))
        feeds = TableFeeds(table, self._writer, takings, logs, window=window)
        if name in self._expired:
            feeds.ring(table, self._expired[name])
        return feeds

    def _on_failure(self, name: str, failure: ReadFailure) -> None:
        en, zh = f"Table {name} cannot be read: {failure.error}", f"无法读取赌台 {name}：{failure.error}"
        self._alarms.append(Alarm(at=failure.at, about=name, says=Words(en, zh)))

    @property
    def unreadable(self) -> dict[str, str]:
        """Table that cannot be read → the error."""
        return {name: failure.error for name, failure in self._reader.failures.items()}

    def readable(self) -> dict[str, Table]:
        tables = ((name, self._reader.table(name)) for name in self.tables)
        return {name: table for name, table in tables if table is not None}

    # From events to frames

    def frames(self, answered: Iterable[tuple[str, Answer | BaseException]]) -> list[Frame]:
        """The frames of what the commands of one write changed: each with its stream and its answer."""
        changed: dict[str, TableFeeds] = {}
        is_house_changed = False
        added: set[str] = set()
        loaded, failures = self._engine.loaded, self._reader.failures
        for stream, events in answered:
            if not isinstance(events, tuple) or isinstance(events, Refusal) or not events:
                continue
            feeds = self._by_stream.get(stream)
            if feeds is None:
                name = table_of(stream)
                if name is None:
                    is_house_changed = True
                    self._apply_house(events)
                elif name not in added:
                    added.add(name)
                    failures.pop(name, None)  # something was decided there, so that it can be read
                    self._add_table(name)
                continue
            table = cast("TableStream", loaded[stream]).table
            if table.name in added:
                continue  # its feeds were made in this call, and include all events of this group
            if failures:
                failures.pop(table.name, None)
            if feeds.apply(table, events):
                changed[table.name] = feeds
                alarms = (house_views.table_alarm(table.name, event) for event in events)
                self._alarms.extend(filter(None, alarms))
        if changed or added or is_house_changed:
            changed |= {name: self.tables[name] for name in added if name in self.tables}
            self._show(changed | self._update_transfers())
        return self._writer.take_frames()

    def _show(self, changed: Mapping[str, TableFeeds]) -> None:
        for name, feeds in changed.items():
            if (table := self._reader.table(name)) is not None:
                feeds.show(table)
        self._show_house()

    def _look_at_limits(self) -> None:
        """An alarm for each limit that has come near; again after it was far away."""
        limits = house_limits(self._engine.house(), self.readable())
        near = {(limit.about, limit.what.en): limit for limit in limits if limit.is_near}
        for key, limit in near.items():
            if key not in self._near:
                self._alarms.append(Alarm(at=self._now(), about=limit.about, says=limit.says))
        self._near = frozenset(near)

    def _apply_house(self, events: Iterable[object]) -> None:
        for event in events:
            attack = self._sign_ins.take(event) if isinstance(event, SignInFailed) else None
            for alarm in filter(None, (house_views.alarm_of(event), attack, self._starts.take(event))):
                self._say_again(alarm)
            if isinstance(event, DeviceEnrolled | DeviceDismissed):
                self._terminal_places = None
        self._look_at_limits()

    def _say_again(self, alarm: Alarm) -> None:
        """Adds an alarm; one of before the start that says the same gives way."""
        for old in self._of_before:
            if (old.about, old.says) == (alarm.about, alarm.says):
                self._of_before.remove(old)
                self._alarms = deque((other for other in self._alarms if other is not old), MOST_ALARMS)
                break
        self._alarms.append(alarm)

    def hold_money(self, why: Words | None) -> list[Frame]:
        """Shows the pit why no money leaves the house; None when it may leave."""
        self._no_money = why
        self._show_house()
        return self._writer.take_frames()

    def _update_transfers(self) -> dict[str, TableFeeds]:
        """The feeds of tables whose transfers in transit have changed."""
        self._transfers.catch_up(self._engine.house(), self.readable())
        changed = {}
        for name, feeds in self.tables.items():
            in_transit = self._transfers.in_transit(name)
            if in_transit != feeds.in_transit:
                feeds.in_transit = in_transit
                changed[name] = feeds
        return changed

    def warn(self, alarms: Sequence[Alarm]) -> list[Frame]:
        """Shows the pit alarms that no event of the journal tells."""
        self._alarms.extend(alarms)
        self.warnings += (alarm.says.en for alarm in alarms)
        self._show_house()
        return self._writer.take_frames()

    def ring(self, name: str, until: int) -> list[Frame]:
        """Shows that the time for bets at a table is up, which prompts the Dealer."""
        self._expired[name] = until
        feeds = self.tables.get(name)
        if feeds is not None and (table := self._reader.table(name)) is not None:
            feeds.ring(table, until)
        return self._writer.take_frames()

    def notify(self, alarm: Alarm) -> list[Frame]:
        """Shows the pit an alarm that says nothing of the server's health."""
        self._alarms.append(alarm)
        self._show_house()
        return self._writer.take_frames()

    def refresh(self) -> list[Frame]:
        """Shows consoles and the pit the bets since the last call."""
        stale = [(name, feeds) for name, feeds in self.tables.items() if feeds.is_stale]
        for name, feeds in stale:
            if (table := self._reader.table(name)) is not None:
                feeds.refresh(table)
        recovered = [name for name in self.unreadable if name not in self.tables and self._add_table(name)]
        if stale or recovered:
            self._show_house()
        return self._writer.take_frames()

    def _show_house(self) -> None:
        for feed in HOUSE_FEEDS:
            if feed in self._writer:
                self._writer.show(feed, self._house_view(feed))

    def _house_view(self, feed: str) -> View:
        tables = self.readable()
        if feed == LOBBY:
            histories = {name: (table, self.tables[name].history) for name, table in tables.items()}
            return house_views.lobby_view(histories)
        house = self._engine.house()
        if feed == PIT:
            unopened = tuple(name for name in self._windows if name not in {*self.tables, *self.unreadable})
            return house_views.pit_view(house, tables, tuple(self._alarms), self._no_money, unopened)
        return house_views.cage_view(house, tables, self._transfers)

    # Followers

    def snapshot(self, feed: str) -> FeedSnapshot | None:
        """A feed as its followers have it; None if there is no such feed."""
        if feed in HOUSE_FEEDS:
            return self._writer.snapshot(feed, lambda: self._house_view(feed))
        kind, name, seat = FeedName.parse(feed)
        if name not in self.tables or kind not in _TABLE_KINDS or (kind == "seat") != bool(seat):
            return None
        table = self._reader.table(name)
        if table is None or (seat and seat not in table.seats and (name, seat) not in self._terminals()):
            return None  # otherwise clients could create feeds of seats that do not exist
        return self.tables[name].snapshot(table, feed)

    def _terminals(self) -> frozenset[tuple[str, str]]:
        if self._terminal_places is None:
            places = {device.place for device in self._engine.house().devices.values()}
            self._terminal_places = frozenset(place for place in places if place is not None)
        return self._terminal_places

    def forget(self, followed: AbstractSet[str]) -> list[str]:
        """Stops the feeds without followers; returns their names."""
        forgotten = self._writer.forget(followed)
        for feed in forgotten:
            feeds = self.tables.get(FeedName.parse(feed).table)
            if feeds is not None:
                feeds.forget(feed)
        return forgotten

    # Queries

    def rounds(
        self, name: str, *, most: int, number: int | None = None, seat: str | None = None, own: bool
    ) -> tuple[RoundView, ...]:
        """The last rounds of a table, or one; with `own`, only rounds in which the seat's player bet."""
        feeds = self.tables.get(name)
        table = self._reader.table(name) if feeds is not None else None
        if feeds is None or table is None:
            raise JournalError(f"table {name!r} does not exist or cannot be read")
        latest = len(table.rounds) + (table.round is not None)
        if number is None:
            numbers = range(latest, max(0, latest - most), -1)
        else:
            first = max(1, len(table.rounds) - REMEMBERED + 1) if own else 1
            numbers = range(number, number + (first <= number <= latest))
        here = table.seats.get(seat or "")
        session = None if not own else here.session if here is not None and here.taken else 0
        return tuple(feeds.rounds(table, numbers, seat, session))

    def report(self, day: str | None = None) -> ReportView:
        return report_view({name: feeds.takings for name, feeds in self.tables.items()}, day)

    def books(self) -> BooksView:
        """Every account. A table that cannot be read is reported as a disagreement."""
        books = house_views.books_view(self._engine.house(), self.readable())
        if not self.unreadable:
            return books
        off = (f"the books of {name} cannot be read: {error}" for name, error in self.unreadable.items())
        return replace(books, balanced=False, off=(*books.off, *off))

    def save(self) -> None:
        """Saves the takings, so that the next start need not count them again."""
        for name, feeds in self.tables.items():
            save_takings(self._engine, name, feeds.takings)

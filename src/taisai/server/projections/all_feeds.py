"""Every board of the floor, and what the lobby, the pit and the cage are shown of all of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from taisai.cage.messages import DeviceDismissed, DeviceEnrolled
from taisai.game import Refusal, Table
from taisai.journal import Engine, JournalError, table_of
from taisai.protocol.replies import ChangeNotice
from taisai.protocol.views import Alarm, BooksView, ReportView, RoundView, View, Words, difference
from taisai.server.connections.feeds import Frame
from taisai.server.projections import REMEMBERED, Transit, cage_view, lobby_view, pit_view
from taisai.server.projections.alarms import alarm_of
from taisai.server.projections.books import books_view
from taisai.server.projections.feed_names import CAGE, LOBBY, PIT, Numbers, Shown
from taisai.server.projections.saved_takings import keep_takings, takings_of
from taisai.server.projections.table_feeds import TableBoard
from taisai.server.projections.table_reader import Fault, Reader, stories_of
from taisai.server.projections.takings import report_view
from taisai.server.replies import encoded

if TYPE_CHECKING:
    from taisai.server.runtime.host import Asked

MOST_ALARMS: Final = 50  # that the pit is shown
_OF_TABLES: Final = frozenset({"table", "console", "seat"})


class Boards:
    """Every board of the floor."""

    def __init__(self, engine: Engine, windows: Mapping[str, int | None], *, now: Callable[[], int]) -> None:
        """`windows`: table → how long its bets are open for."""
        self._engine = engine
        self._windows = windows
        self._reader = Reader(engine, now, self._faulty)
        self._alarms: deque[Alarm] = deque(maxlen=MOST_ALARMS)
        self._rung: dict[str, int] = {}
        """Table → until when the latest time for bets was that is up."""
        self.begin_again()

    def begin_again(self) -> None:
        """Every board as the tables are now; nobody follows any of them."""
        self.tables: dict[str, TableBoard] = {}
        self._numbers = Numbers()
        self._shown: dict[str, View] = {}
        self._transit = Transit()
        self._places: frozenset[tuple[str, str]] | None = None
        """Table and seat of every terminal, once somebody asked for them."""
        for name in self._engine.tables():
            self._board(name)

    def _board(self, name: str) -> TableBoard | None:
        """A new board for a table; None where the table cannot be read."""
        board = self._reader.read(name, self._made)
        if board is not None:
            self.tables[name] = board
        return board

    def _made(self, name: str) -> TableBoard:
        engine, window = self._engine, self._windows.get(name)
        table, takings, stories = engine.table(name), takings_of(engine, name), stories_of(engine, name)
        board = TableBoard(table, self._numbers, takings, stories, window=window)
        if name in self._rung:
            board.ring(table, self._rung[name], [])
        return board

    def _faulty(self, name: str, fault: Fault) -> None:
        says = Words(en=f"Table {name} cannot be read: {fault.says}", zh=f"无法读取赌台 {name}：{fault.says}")
        self._alarms.append(Alarm(at=fault.at, about=name, says=says))

    @property
    def unreadable(self) -> dict[str, str]:
        """Tables that are left out because they cannot be read, and why."""
        return {name: fault.says for name, fault in self._reader.faults.items()}

    def frames(self, answered: Iterable[Asked]) -> list[Frame]:
        """What a group of commands changed, as frames for the feeds."""
        frames: list[Frame] = []
        touched: dict[str, TableBoard] = {}
        is_house_touched = False
        known: dict[str, tuple[TableBoard, Table]] = {}
        made: set[str] = set()
        for one in answered:
            events = one.answer
            if not isinstance(events, tuple) or isinstance(events, Refusal) or not events:
                continue
            stream = one.ask.stream
            found = known.get(stream)
            if found is None:
                name = table_of(stream)
                if name is None:
                    is_house_touched = True
                    self._take_house(events)
                    continue
                found = self._found(name, made)
                if found is None:
                    continue
                known[stream] = found
            if found[0].take(found[1], events, one.re, frames):
                touched[found[1].name] = found[0]
        if touched or made or is_house_touched:
            touched |= {name: self.tables[name] for name in made if name in self.tables}
            touched |= self._look_at_transfers()
            for name, board in touched.items():
                if (table := self._reader.table(name)) is not None:
                    board.finish(table, frames)
            self._whole_floor(frames)
        return frames

    def _found(self, name: str, made: set[str]) -> tuple[TableBoard, Table] | None:
        """A table and its board; None where the board is made now, from all that this group did there."""
        if name in made:
            return None
        self._reader.is_back(name)
        if name in self.tables:
            return self.tables[name], self._engine.table(name)
        made.add(name)
        self._board(name)
        return None

    def _take_house(self, events: Iterable[object]) -> None:
        for event in events:
            alarm = alarm_of(event)
            if alarm is not None:
                self._alarms.append(alarm)
            elif isinstance(event, DeviceEnrolled | DeviceDismissed):
                self._places = None

    def ring(self, name: str, until: int) -> list[Frame]:
        """The time for bets at a table, which was until then, is up: the Dealer is prompted."""
        frames: list[Frame] = []
        self._rung[name] = until
        board = self.tables.get(name)
        if board is not None and (table := self._reader.table(name)) is not None:
            board.ring(table, until, frames)
        return frames

    def forget(self, followed: AbstractSet[str]) -> list[str]:
        """What nobody has followed for a while is no longer worked out; the feeds that this concerns."""
        forgotten = self._numbers.forget(followed)
        for feed in forgotten:
            board = self.tables.get(_table_of(feed))
            if board is None:
                self._shown.pop(feed, None)
            else:
                board.forget(feed)
        return forgotten

    def refresh(self) -> list[Frame]:
        """Shows consoles and pit the bets that have come meanwhile."""
        frames: list[Frame] = []
        stale = [(name, board) for name, board in self.tables.items() if board.is_stale]
        for name, board in stale:
            if (table := self._reader.table(name)) is not None:
                board.refresh(table, frames)
        back = [name for name in self.unreadable if name not in self.tables and self._board(name)]
        if stale or back:
            self._whole_floor(frames)
        return frames

    def _look_at_transfers(self) -> dict[str, TableBoard]:
        """The boards of the tables between which and the cage something else is under way now."""
        self._transit.catch_up(self._engine.house(), self.readable())
        others = {}
        for name, board in self.tables.items():
            flights = self._transit.flights(name)
            if flights != board.flights:
                board.flights = flights
                others[name] = board
        return others

    def readable(self) -> dict[str, Table]:
        """Those that can be read."""
        found = ((name, self._reader.table(name)) for name in self.tables)
        return {name: table for name, table in found if table is not None}

    # The whole floor

    def _whole_floor(self, frames: list[Frame]) -> None:
        for feed in (LOBBY, PIT, CAGE):
            if feed not in self._numbers:
                continue
            view = self._floor_view(feed)
            changes = difference(self._shown[feed], view)
            self._shown[feed] = view
            if changes is not None and (number := self._numbers.next(feed)) is not None:
                tell = ChangeNotice(feed=feed, number=number, changes=changes)
                frames.append(Frame(feed, number, encoded(tell)))

    def _floor_view(self, feed: str) -> View:
        tables = self.readable()
        if feed == LOBBY:
            return lobby_view({name: (table, self.tables[name].history) for name, table in tables.items()})
        house = self._engine.house()
        if feed == PIT:
            return pit_view(house, tables, tuple(self._alarms))
        return cage_view(house, tables, self._transit)

    def snapshot(self, feed: str) -> Shown | None:
        """A feed as it stands; None where there is none of this name."""
        if feed in (LOBBY, PIT, CAGE):
            if feed not in self._shown:  # else it is what its followers have
                self._shown[feed] = self._floor_view(feed)
            return Shown(self._numbers.follow(feed), self._shown[feed])
        kind, _, rest = feed.partition(":")
        name, _, seat = rest.partition("/") if kind == "seat" else (rest, "", "")
        if name not in self.tables or kind not in _OF_TABLES or (kind == "seat") != bool(seat):
            return None
        table = self._reader.table(name)
        if table is None or (seat and seat not in table.seats and (name, seat) not in self._terminals()):
            return None  # else anyone could have feeds counted that nobody will ever be shown
        return self.tables[name].snapshot(table, feed)

    def _terminals(self) -> frozenset[tuple[str, str]]:
        if self._places is None:
            devices = self._engine.house().devices.values()
            self._places = frozenset(one.place for one in devices if one.place is not None)
        return self._places

    # What is asked of them

    def rounds(
        self, name: str, *, most: int, number: int | None = None, seat: str | None = None, own: bool
    ) -> tuple[RoundView, ...]:
        """The last rounds of a table, or one; a player's `own` are those that he bet in, of the last few."""
        board = self.tables.get(name)
        table = self._reader.table(name) if board is not None else None
        if board is None or table is None:
            raise JournalError(f"expected a table that can be read, got {name!r}")
        latest = len(table.rounds) + (table.round is not None)
        if number is None:
            numbers = range(latest, max(0, latest - most), -1)
        else:
            first = max(1, len(table.rounds) - REMEMBERED + 1) if own else 1
            numbers = range(number, number + (first <= number <= latest))
        here = table.seats.get(seat or "")
        session = None if not own else here.session if here is not None and here.taken else 0
        return tuple(board.retold(table, numbers, seat, session))

    def report(self, day: str | None = None) -> ReportView:
        """Drop, win and hold per table."""
        return report_view({name: board.takings for name, board in self.tables.items()}, day)

    def books(self) -> BooksView:
        """Every account; a table that cannot be read is said to be missing."""
        books = books_view(self._engine.house(), self.readable())
        if not self.unreadable:
            return books
        off = (f"expected the books of {name}, got none: {says}" for name, says in self.unreadable.items())
        return replace(books, balanced=False, off=(*books.off, *off))

    def keep(self) -> None:
        """Writes down what the next start would have to count again."""
        for name, board in self.tables.items():
            keep_takings(self._engine, name, board.takings)


def _table_of(feed: str) -> str:
    """The table that a feed shows, or a seat of; '' where it shows them all."""
    kind, _, rest = feed.partition(":")
    return rest.partition("/")[0] if kind == "seat" else rest

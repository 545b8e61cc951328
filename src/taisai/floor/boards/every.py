"""Every board of the floor, and what the lobby, the pit and the cage are shown of all of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from taisai.floor.alarms import alarm_of
from taisai.floor.boards.names import CAGE, LOBBY, PIT, Numbers, Shown
from taisai.floor.boards.table import TableBoard
from taisai.floor.cage.books import books_view
from taisai.floor.cage.keeping import keep_takings, takings_of
from taisai.floor.cage.report import report_view
from taisai.floor.feeds import Frame
from taisai.floor.telling import encoded
from taisai.floor.views import Transit, cage_view, lobby_view, pit_view
from taisai.game import Refusal, Table
from taisai.house import Keeper, table_of
from taisai.wire.tells import TellChange
from taisai.wire.views import Alarm, BooksView, ReportView, View, difference

if TYPE_CHECKING:
    from taisai.floor.host import Answered

MOST_ALARMS: Final = 50  # that the pit is shown
_OF_TABLES: Final = frozenset({"table", "console", "seat"})


class Boards:
    """Every board of the floor."""

    def __init__(self, keeper: Keeper, windows: Mapping[str, int | None]) -> None:
        """`windows`: table → how long its bets are open for."""
        self._keeper = keeper
        self._windows = windows
        self._alarms: deque[Alarm] = deque(maxlen=MOST_ALARMS)
        self.begin_again()

    def begin_again(self) -> None:
        """Every board as the tables are now; nobody follows any of them."""
        self.tables: dict[str, TableBoard] = {}
        self._numbers = Numbers()
        self._shown: dict[str, View] = {}
        self._transit = Transit()
        for name in self._keeper.tables():
            self._board(name)

    def _board(self, name: str) -> TableBoard:
        table, takings = self._keeper.table(name), takings_of(self._keeper, name)
        board = TableBoard(name, table, self._numbers, takings, window=self._windows.get(name))
        self.tables[name] = board
        return board

    def frames(self, answered: Iterable[Answered]) -> list[Frame]:
        """What a group of commands changed, as frames for the feeds."""
        frames: list[Frame] = []
        touched: dict[str, TableBoard] = {}
        is_house_touched = False
        known: dict[str, tuple[TableBoard, Table]] = {}
        for one in answered:
            events = one.answer
            if not isinstance(events, tuple) or isinstance(events, Refusal) or not events:
                continue
            found = known.get(one.stream)
            if found is None:
                name = table_of(one.stream)
                if name is None:
                    is_house_touched = True
                    self._alarms += filter(None, map(alarm_of, events))
                    continue
                if name not in self.tables:  # it has just been opened, and its board is made from all of that
                    touched[name] = self._board(name)
                    continue
                found = known[one.stream] = (self.tables[name], self._keeper.table(name))
            if found[0].take(found[1], events, one.re, frames):
                touched[found[1].name] = found[0]
        if touched or is_house_touched:
            touched |= self._look_at_transfers()
            for name, board in touched.items():
                board.finish(self._keeper.table(name), frames)
            self._whole_floor(frames)
        return frames

    def refresh(self) -> list[Frame]:
        """Shows consoles and pit the bets that have come meanwhile."""
        frames: list[Frame] = []
        stale = [(name, board) for name, board in self.tables.items() if board.is_stale]
        for name, board in stale:
            board.refresh(self._keeper.table(name), frames)
        if stale:
            self._whole_floor(frames)
        return frames

    def _look_at_transfers(self) -> dict[str, TableBoard]:
        """The boards of the tables between which and the cage something else is under way now."""
        self._transit.catch_up(self._keeper.house(), self._tables())
        others = {}
        for name, board in self.tables.items():
            flights = self._transit.flights(name)
            if flights != board.flights:
                board.flights = flights
                others[name] = board
        return others

    def _tables(self) -> dict[str, Table]:
        return {name: self._keeper.table(name) for name in self.tables}

    # The whole floor

    def _whole_floor(self, frames: list[Frame]) -> None:
        for feed in (LOBBY, PIT, CAGE):
            if feed not in self._numbers:
                continue
            view = self._floor_view(feed)
            changes = difference(self._shown[feed], view)
            self._shown[feed] = view
            if changes is not None and (number := self._numbers.next(feed)) is not None:
                tell = TellChange(feed=feed, number=number, changes=changes)
                frames.append(Frame(feed, number, encoded(tell)))

    def _floor_view(self, feed: str) -> View:
        tables = self._tables()
        if feed == LOBBY:
            return lobby_view({name: (table, self.tables[name].history) for name, table in tables.items()})
        house = self._keeper.house()
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
        return self.tables[name].snapshot(self._keeper.table(name), feed)

    # What is asked of all of them

    def report(self, day: str | None = None) -> ReportView:
        """Drop, win and hold per table."""
        return report_view({name: board.takings for name, board in self.tables.items()}, day)

    def books(self) -> BooksView:
        """Every account."""
        return books_view(self._keeper.house(), self._tables())

    def keep(self) -> None:
        """Writes down what the next start would have to count again."""
        for name, board in self.tables.items():
            keep_takings(self._keeper, name, board.takings)

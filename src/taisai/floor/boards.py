"""Boards: what each feed shows now, and the frames that bring its followers there.

They live in the writer's thread, where tables may be looked at, and are asked after every group of commands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from taisai.floor.alarms import alarm_of
from taisai.floor.cage.books import books_view
from taisai.floor.cage.keeping import keep_takings, takings_of
from taisai.floor.cage.report import Takings, report_view
from taisai.floor.feeds import Frame
from taisai.floor.telling import encoded
from taisai.floor.views import (
    BySeat,
    History,
    Transit,
    after_bets,
    cage_view,
    console_view,
    lobby_view,
    pit_view,
    seat_view,
    table_view,
)
from taisai.game import Table
from taisai.game import events as happened
from taisai.game.commands import Slip
from taisai.house import Keeper, stream_of, table_of
from taisai.house.codec import HOUSE, AnyEvent
from taisai.study.dice_watch import DiceWatch
from taisai.wire.tells import TellChange
from taisai.wire.views import (
    CHANGES,
    Alarm,
    BooksView,
    ConsoleView,
    Flight,
    ReportView,
    SeatView,
    View,
    WatchView,
    difference,
)

if TYPE_CHECKING:
    from taisai.floor.host import Answered

LOBBY: Final = "lobby"
PIT: Final = "pit"
CAGE: Final = "cage"
MOST_ALARMS: Final = 50  # that the pit is shown
_SeatChanges: Final[Any] = CHANGES[SeatView]
_OPENING: Final = frozenset({happened.BetsOpened, happened.BetsReopened})
_FOR_ALL_SEATS: Final = frozenset(
    {
        happened.RoundSettled,
        happened.WinnersPaid,
        happened.RoundConcluded,
        happened.RoundVoided,
        happened.RoundResettled,
        happened.SettlementUndone,
        happened.WithdrawalOffered,
        happened.WithdrawalClosed,
        happened.BetsReopened,
        happened.BetMoved,
        happened.BetReturned,
        happened.ClaimSettled,
    }
)
"""Events after which any seat may be another."""


_BETS_GO: Final = frozenset(
    {
        happened.BetTakenBack,
        happened.BetMoved,
        happened.BetReturned,
        happened.WithdrawalChosen,
        happened.RoundVoided,
        happened.RoundConcluded,
        happened.SeatLeft,
    }
)


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


class TableBoard:
    """One table: its view, its console and its seats."""

    def __init__(self, name: str, table: Table, numbers: Numbers, *, window: int | None) -> None:
        self.name = name
        self.window = window
        """Milliseconds that bets are open for; None where no clock runs."""
        self.closes_at: int | None = None
        self.flights: tuple[Flight, ...] = ()
        """What is under way between the table and the cage."""
        self.since: int | None = None
        self.watch: DiceWatch | None = None
        self.history = History.of(table)
        self.takings = Takings()
        """What the table took in, for reports; whoever makes the board brings it up to date."""
        self.is_stale = False
        """Whether bets have come or gone that the console has not been shown."""
        self._numbers = numbers
        self._table_feed, self._console_feed = table_feed(name), console_feed(name)
        self._seat_feeds: dict[str, str] = {}
        self._shown: dict[str, View] = {}
        self._seats: dict[str, SeatView] = {}
        """What followers of a seat were shown, without its bets: those are told as they come and go."""
        self._are_bets_others = False
        """Whether bets have gone, or lie elsewhere."""
        self._touched: dict[str, str | None] = {}
        """Seat → the ask that touched it last."""
        self._all_seats = False
        self._what: list[str] = []
        if table.round is not None and table.phase.bets_open and window is not None:
            self.closes_at = table.round.opened_at + window

    def take(self, table: Table, events: Iterable[AnyEvent], re: str | None, frames: list[Frame]) -> bool:
        """What a command came to; says whether more than one seat's bets is different."""
        is_more = False
        placed: list[Slip] = []
        seat = ""
        for event in events:
            kind = type(event)
            if kind is happened.BetRegistered:
                placed.append(Slip(event.id, event.area, event.stake))  # type: ignore[union-attr]
                seat = event.seat  # type: ignore[union-attr]
                continue
            is_more = True
            self._heard(table, event, re)
        if placed:
            self.is_stale = True
            self._placed(table, seat, placed, re, frames)
        return is_more

    def _placed(
        self, table: Table, name: str, placed: list[Slip], re: str | None, frames: list[Frame]
    ) -> None:
        """Every bet comes here, so it is told by itself, without a look at anything else."""
        feed = self._seat_feeds.get(name) or self._named(name)
        number = self._numbers.next(feed)
        if number is None:
            return
        seat = table.seats[name]
        changes = _SeatChanges(
            credits=seat.purse.credits if seat.purse is not None else 0,
            at_risk=seat.at_risk,
            placed=tuple(placed),
        )
        frames.append(
            Frame(feed, number, encoded(TellChange(feed=feed, number=number, changes=changes, re=re)))
        )

    def _named(self, seat: str) -> str:
        return self._seat_feeds.setdefault(seat, seat_feed(self.name, seat))

    def _heard(self, table: Table, event: Any, re: str | None) -> None:
        kind = type(event)
        self._what.append(event.__struct_config__.tag)
        self.history.take(event, table)
        self.takings.take(event)
        if kind in _OPENING and self.window is not None:
            self.closes_at = event.at + self.window
        elif not table.phase.bets_open:
            self.closes_at = None
        if hasattr(event, "phase") or kind is happened.RoundConcluded:
            self.since = event.at
        if kind in _BETS_GO:
            self._are_bets_others = True
        if kind in _FOR_ALL_SEATS:
            self._all_seats = True
        elif isinstance(seat := getattr(event, "seat", None), str):
            self._touched[seat] = re

    def finish(self, table: Table, frames: list[Frame]) -> None:
        """The frames of everything that is different after a group of commands."""
        what, self._what = tuple(dict.fromkeys(self._what)), []
        for feed in (self._table_feed, self._console_feed):
            if feed in self._numbers:
                self._change(feed, self._view(table, feed), what, None, frames)
        touched, self._touched = self._touched, {}
        if self._all_seats:
            touched = dict.fromkeys(table.seats, None) | touched
        if touched:
            by_seat = BySeat(table)
            for name, re in touched.items():
                if (feed := self._seat_feeds.get(name) or self._named(name)) in self._numbers:
                    self._seat(feed, seat_view(table, name, by_seat), what, re, frames)
        self._all_seats = self._are_bets_others = False

    def _seat(
        self, feed: str, view: SeatView, what: tuple[str, ...], re: str | None, frames: list[Frame]
    ) -> None:
        bets, view = view.bets, replace(view, bets=())
        before, self._seats[feed] = self._seats.get(feed), view
        changes = difference(before, view) if before is not None else None
        if self._are_bets_others:
            changes = replace(changes or _SeatChanges(), cleared=True, placed=bets)
        if changes is None and re is None:
            return
        number = self._numbers.next(feed)
        if number is not None:
            tell = TellChange(
                feed=feed, number=number, changes=changes or _SeatChanges(), what=what, re=re
            )
            frames.append(Frame(feed, number, encoded(tell)))

    def refresh(self, table: Table, frames: list[Frame]) -> None:
        """Shows the console the bets that have come meanwhile."""
        self.is_stale = False
        before = self._shown.get(self._console_feed)
        if isinstance(before, ConsoleView) and self._console_feed in self._numbers:
            view = after_bets(before, table) or self._view(table, self._console_feed)
            self._change(self._console_feed, view, (), None, frames)

    def _change(
        self, feed: str, view: View, what: tuple[str, ...], re: str | None, frames: list[Frame]
    ) -> None:
        before = self._shown.get(feed)
        changes = difference(before, view) if before is not None else None
        if changes is None and re is None:
            self._shown[feed] = view
            return
        self._shown[feed] = view
        number = self._numbers.next(feed)
        if number is not None:
            tell = TellChange(
                feed=feed, number=number, changes=changes or CHANGES[type(view)](), what=what, re=re
            )
            frames.append(Frame(feed, number, encoded(tell)))

    def _view(self, table: Table, feed: str) -> View:
        if feed == self._console_feed:
            return console_view(table, now=table.latest, flights=self.flights, watch=self._watched())
        return table_view(
            table,
            self.history,
            closes_at=self.closes_at,
            since=self.since,
        )

    def _watched(self) -> WatchView | None:
        if self.watch is None:
            return None
        return WatchView(
            results=self.watch.results, e_value=f"{self.watch.e_value:.3g}", alarm=self.watch.alarm
        )

    def snapshot(self, table: Table, feed: str) -> Shown:
        """The feed as it stands, which counts from here on."""
        number = self._numbers.follow(feed)
        if feed in (self._table_feed, self._console_feed):
            view = self._view(table, feed)
        else:
            seat = feed.removeprefix(seat_feed(self.name, ""))
            self._named(seat)
            whole = seat_view(table, seat)
            self._seats[feed] = replace(whole, bets=())
            return Shown(number, whole)
        self._shown[feed] = view
        return Shown(number, view)


class Boards:
    """Every board of the floor."""

    def __init__(self, keeper: Keeper, windows: Mapping[str, int | None]) -> None:
        """`windows`: table → how long its bets are open for."""
        self._keeper = keeper
        self._windows = windows
        self.numbers = Numbers()
        self.tables: dict[str, TableBoard] = {}
        self._shown: dict[str, View] = {}
        self._transit = Transit()
        self._alarms: deque[Alarm] = deque(maxlen=MOST_ALARMS)
        for name in keeper.tables():
            self._board(name)

    def _board(self, name: str) -> TableBoard:
        board = self.tables.get(name)
        if board is None:
            table = self._keeper.table(name)
            board = TableBoard(name, table, self.numbers, window=self._windows.get(name))
            board.takings = takings_of(self._keeper, name)
            self.tables[name] = board
        return board

    def frames(self, answered: Iterable[Answered]) -> list[Frame]:
        """What a group of commands changed, as frames for the feeds."""
        frames: list[Frame] = []
        touched: dict[str, TableBoard] = {}
        is_house_touched = False
        for one in answered:
            events = one.answer
            if type(events) is not tuple or not events:
                continue
            name = table_of(one.stream)
            if name is None:
                is_house_touched = True
                self._alarms += filter(None, map(alarm_of, events))
                continue
            board = self.tables.get(name)
            if board is None:  # it has just been opened, and its board is made from all of that
                touched[name] = self._board(name)
                continue
            if board.take(self._keeper.table(name), events, one.re, frames):
                touched[name] = board
        if touched or is_house_touched:
            self._look_at_transfers()
        for name, board in touched.items():
            board.finish(self._keeper.table(name), frames)
        if touched or is_house_touched:
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

    def _whole_floor(self, frames: list[Frame]) -> None:
        for feed in (LOBBY, PIT, CAGE):
            if feed not in self.numbers:
                continue
            view = self._floor_view(feed)
            changes = difference(self._shown[feed], view)
            self._shown[feed] = view
            if changes is not None and (number := self.numbers.next(feed)) is not None:
                tell = TellChange(feed=feed, number=number, changes=changes)
                frames.append(Frame(feed, number, encoded(tell)))

    def _look_at_transfers(self) -> None:
        self._transit.catch_up(self._keeper.house(), self._tables())
        for name, board in self.tables.items():
            board.flights = self._transit.flights(name)

    def _tables(self) -> dict[str, Table]:
        return {name: self._keeper.table(name) for name in self.tables}

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
            self._shown[feed] = view = self._floor_view(feed)
            return Shown(self.numbers.follow(feed), view)
        kind, _, rest = feed.partition(":")
        name, _, seat = rest.partition("/") if kind == "seat" else (rest, "", "")
        if name not in self.tables or kind not in ("table", "console", "seat") or (kind == "seat") != bool(seat):
            return None
        return self.tables[name].snapshot(self._keeper.table(name), feed)


__all__ = ["HOUSE", "Boards", "Shown", "TableBoard", "console_feed", "seat_feed", "stream_of", "table_feed"]

"""Reports: what each table took in a gaming day, and in each shift of it.

What is booked belongs to the day on which it is booked: a correction next week leaves last week's report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import NamedTuple

from taisai.game import events as happened
from taisai.game.words import Means
from taisai.protocol.views import ReportView, TakingsLine

Period = tuple[str, str]
"""Gaming day and shift."""


@dataclass(slots=True)
class Sums:
    """What came and went."""

    drop: int = 0
    tickets_in: int = 0
    tickets_out: int = 0
    fills: int = 0
    credits: int = 0
    handle: int = 0
    collected: int = 0
    won: int = 0
    rounds: int = 0
    void: int = 0

    def __add__(self, other: Sums) -> Sums:
        return Sums(**{one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(Sums)})


class Settled(NamedTuple):
    """What the settlement of a round came to, as it stands."""

    staked: int
    collected: int
    won: int


class Takings:
    """One table: everything that its events brought in and paid out, by gaming day and shift."""

    def __init__(self) -> None:
        """Of a table without events."""
        self.table = ""
        self.currency = ""
        self.day = ""
        self.shift = ""
        self.periods: dict[Period, Sums] = {}
        self.settled: dict[int, Settled] = {}
        """Round → its settlement as it stands, so that a correction books the difference."""
        self.touched: set[int] = set()
        """Rounds whose settlement is another since someone last wrote them down."""
        self.pages: dict[int, bytes] = {}
        """Sums of so many periods as someone last wrote them down."""
        self.round = 0
        """The latest round."""
        self.over = 0
        """The latest round that is over."""

    @classmethod
    def of(cls, events: Iterable[object]) -> Takings:
        """Made again from a table's events."""
        made = cls()
        for event in events:
            made.take(event)
        return made

    @property
    def _now(self) -> Sums:
        return self.periods.setdefault((self.day, self.shift), Sums())

    def take(self, event: object) -> None:
        """What an event brought or cost."""
        match event:
            case happened.TableOpened():
                self.table, self.currency, self.day = event.table, event.currency, event.day
            case happened.DayBegun():
                self.day = event.day
            case happened.ShiftBegun():
                self.shift = event.shift
            case _:
                self._moved(event)
                self._played(event)

    def _moved(self, event: object) -> None:
        match event:
            case happened.CreditsBought():
                self._now.drop += event.amount
            case happened.ColourBought(paid_with=Means.CASH):
                self._now.drop += event.value * event.pieces
            case happened.TicketReceived():
                self._now.tickets_in += event.amount
            case happened.CreditsDispensed():
                self._now.tickets_out += event.amount
            case happened.FillReceived():
                self._now.fills += event.amount
            case happened.CreditSent():
                self._now.credits += event.amount
            case _:
                pass

    def _played(self, event: object) -> None:
        match event:
            case happened.BetsOpened():
                self.round = event.round
            case happened.RoundSettled():
                self._book(self.round, Settled(event.staked, event.collected, event.won))
            case happened.RoundResettled():
                self._book(event.round, Settled(event.staked, event.collected, event.won))
            case happened.SettlementUndone():
                self._book(event.round, None)
            case happened.RoundVoided():
                self._book(event.round, None)
                self._now.void += 1
                self._end(event.round)
            case happened.RoundConcluded():
                self._end(event.round)
            case _:
                pass

    def _end(self, number: int) -> None:
        if number > self.over:
            self.over = number
            self._now.rounds += 1

    def _book(self, number: int, settled: Settled | None) -> None:
        """The difference between a settlement and what was booked of it before."""
        self.touched.add(number)
        was = self.settled.pop(number, Settled(0, 0, 0))
        now = settled or Settled(0, 0, 0)
        if settled is not None:
            self.settled[number] = settled
        if was != now:
            sums = self._now
            sums.handle += now.staked - was.staked
            sums.collected += now.collected - was.collected
            sums.won += now.won - was.won

    def total(self, day: str | None = None) -> Sums:
        """A gaming day, or all of them."""
        return sum((one for (of, _), one in self.periods.items() if day in (None, of)), Sums())

    def lines(self, day: str) -> list[TakingsLine]:
        """The day as a whole, and each shift of it where it has several."""
        shifts = {shift: sums for (of, shift), sums in self.periods.items() if of == day}
        lines = [_line(self.table, self.currency, day, "", self.total(day))]
        if set(shifts) - {""}:
            lines += [_line(self.table, self.currency, day, name, sums) for name, sums in shifts.items()]
        return lines


def report_view(takings: Mapping[str, Takings], day: str | None = None) -> ReportView:
    """A gaming day over all tables; the latest that some table has begun unless said."""
    day = day or max((one.day for one in takings.values()), default="")
    totals: dict[str, Sums] = {}
    for one in takings.values():
        totals[one.currency] = totals.get(one.currency, Sums()) + one.total(day)
    return ReportView(
        day=day,
        tables=tuple(line for one in takings.values() for line in one.lines(day)),
        totals=tuple(_line("", currency, day, "", sums) for currency, sums in totals.items()),
    )


def _line(table: str, currency: str, day: str, shift: str, sums: Sums) -> TakingsLine:
    win = sums.collected - sums.won
    return TakingsLine(
        table=table, currency=currency, day=day, shift=shift, drop=sums.drop, tickets_in=sums.tickets_in,
        tickets_out=sums.tickets_out, fills=sums.fills, credits=sums.credits, handle=sums.handle,
        collected=sums.collected, won=sums.won, win=win,
        hold=str(Fraction(win, sums.drop)) if sums.drop else None,
        hold_percent=percent(win, sums.drop) if sums.drop else None,
        rounds=sums.rounds, void=sums.void,
    )  # fmt: skip


def percent(part: int, whole: int) -> str:
    """A share in percent to two places, halves to the even one; no float comes near it.

    >>> percent(1, 8), percent(-1, 3), percent(2, 3)
    ('12.50', '-33.33', '66.67')
    """
    hundredths = round(Fraction(10_000 * part, whole))
    sign, size = "-" if hundredths < 0 else "", abs(hundredths)
    return f"{sign}{size // 100}.{size % 100:02}"

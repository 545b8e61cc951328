"""Takings: what each table took in a gaming day, and in each shift of it.

What is booked belongs to the day on which it is booked: a correction next week leaves last week's report.
Takings are saved in pieces, so that a start need not read every entry again. Each piece has the number of
entries after which it is true. After a crash some may be newer than the rest: then all is counted again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Final, NamedTuple

import msgspec

from taisai.game import events
from taisai.game.vocabulary import Means
from taisai.journal import Engine, JournalError, stream_of
from taisai.protocol.views import ReportView, TakingsLine

Period = tuple[str, str]
"""Gaming day and shift."""


@dataclass(slots=True)
class PeriodSums:
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

    def __add__(self, other: PeriodSums) -> PeriodSums:
        return PeriodSums(
            **{one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(PeriodSums)}
        )


class SettlementSums(NamedTuple):
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
        self.periods: dict[Period, PeriodSums] = {}
        self.settled: dict[int, SettlementSums] = {}
        """Round → its settlement as it stands, so that a correction books the difference."""
        self.touched: set[int] = set()
        """Rounds whose settlement is another since someone last wrote them down."""
        self.pages: dict[int, bytes] = {}
        """PeriodSums of so many periods as someone last wrote them down."""
        self.round = 0
        """The latest round."""
        self.over = 0
        """The latest round that is over."""

    @classmethod
    def of(cls, events: Iterable[object]) -> Takings:
        """Made again from a table's events."""
        made = cls()
        for event in events:
            made.apply(event)
        return made

    @property
    def _now(self) -> PeriodSums:
        return self.periods.setdefault((self.day, self.shift), PeriodSums())

    def apply(self, event: object) -> None:
        """What an event brought or cost."""
        match event:
            case events.TableOpened():
                self.table, self.currency, self.day = event.table, event.currency, event.day
            case events.DayBegun():
                self.day = event.day
            case events.ShiftBegun():
                self.shift = event.shift
            case _:
                self._moved(event)
                self._played(event)

    def _moved(self, event: object) -> None:
        match event:
            case events.CreditsBought():
                self._now.drop += event.amount
            case events.ColourBought(paid_with=Means.CASH):
                self._now.drop += event.value * event.pieces
            case events.TicketReceived():
                self._now.tickets_in += event.amount
            case events.CreditsDispensed():
                self._now.tickets_out += event.amount
            case events.FillReceived():
                self._now.fills += event.amount
            case events.CreditSent():
                self._now.credits += event.amount
            case _:
                pass

    def _played(self, event: object) -> None:
        match event:
            case events.BetsOpened():
                self.round = event.round
            case events.RoundSettled():
                self._book(self.round, SettlementSums(event.staked, event.collected, event.won))
            case events.RoundResettled():
                self._book(event.round, SettlementSums(event.staked, event.collected, event.won))
            case events.SettlementUndone():
                self._book(event.round, None)
            case events.RoundVoided():
                self._book(event.round, None)
                self._now.void += 1
                self._end(event.round)
            case events.RoundConcluded():
                self._end(event.round)
            case _:
                pass

    def _end(self, number: int) -> None:
        if number > self.over:
            self.over = number
            self._now.rounds += 1

    def _book(self, number: int, settled: SettlementSums | None) -> None:
        """The difference between a settlement and what was booked of it before."""
        self.touched.add(number)
        was = self.settled.pop(number, SettlementSums(0, 0, 0))
        now = settled or SettlementSums(0, 0, 0)
        if settled is not None:
            self.settled[number] = settled
        if was != now:
            sums = self._now
            sums.handle += now.staked - was.staked
            sums.collected += now.collected - was.collected
            sums.won += now.won - was.won

    def total(self, day: str | None = None) -> PeriodSums:
        """A gaming day, or all of them."""
        return sum((one for (of, _), one in self.periods.items() if day in (None, of)), PeriodSums())

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
    totals: dict[str, PeriodSums] = {}
    for one in takings.values():
        totals[one.currency] = totals.get(one.currency, PeriodSums()) + one.total(day)
    return ReportView(
        day=day,
        tables=tuple(line for one in takings.values() for line in one.lines(day)),
        totals=tuple(_line("", currency, day, "", sums) for currency, sums in totals.items()),
    )


def _line(table: str, currency: str, day: str, shift: str, sums: PeriodSums) -> TakingsLine:
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


CHUNK: Final = 1_000
"""Rounds whose settlements are kept together: a correction, whenever it comes, books the difference."""
PAGE: Final = 100
"""Shifts whose sums are kept together: a secret is short, and a table may be open for years."""
Periods = list[tuple[str, str, PeriodSums]]


class _SavedTakings(msgspec.Struct, frozen=True):
    """A table's takings after so many entries of its stream."""

    version: int
    table: str
    currency: str
    day: str
    shift: str
    periods: int
    """How many periods there are; their sums are in pages."""
    round: int
    over: int


class _Page(msgspec.Struct, frozen=True):
    version: int
    periods: Periods


class _Chunk(msgspec.Struct, frozen=True):
    version: int
    settled: list[tuple[int, SettlementSums]]


class _NewerError(Exception):
    """A piece is of later than the whole."""


def _vault(table: str, piece: str = "") -> str:
    return f"takings/{table}/{piece}" if piece else f"takings/{table}"


def load_takings(engine: Engine, table: str) -> Takings:
    """A table's takings: as they were kept, and what came since; all of it anew where nothing was."""
    takings, after = Takings(), 0
    written = engine.journal.store.secret(_vault(table))
    if written is not None:
        with suppress(msgspec.DecodeError, _NewerError):
            kept = msgspec.json.decode(written, type=_SavedTakings)
            if kept.version <= engine.journal.version(stream_of(table)):
                takings, after = _restored(engine, table, kept), kept.version
    for _, event in engine.journal.events(stream_of(table), after=after):
        takings.apply(event)
    return takings


def save_takings(engine: Engine, table: str, takings: Takings) -> None:
    """Writes them down; that may fail, and costs the next start some time."""
    store, version = engine.journal.store, engine.journal.version(stream_of(table))
    kept = _SavedTakings(
        version=version,
        table=takings.table,
        currency=takings.currency,
        day=takings.day,
        shift=takings.shift,
        periods=len(takings.periods),
        round=takings.round,
        over=takings.over,
    )
    with suppress(JournalError):
        for chunk in sorted({number // CHUNK for number in takings.touched}):
            rounds = range(chunk * CHUNK, (chunk + 1) * CHUNK)
            settled = [(number, takings.settled[number]) for number in rounds if number in takings.settled]
            store.keep_secret(_vault(table, str(chunk)), msgspec.json.encode(_Chunk(version, settled)))
        for page, periods in enumerate(_pages(takings)):
            if takings.pages.get(page) != (told := msgspec.json.encode(periods)):
                store.keep_secret(_vault(table, f"page {page}"), msgspec.json.encode(_Page(version, periods)))
                takings.pages[page] = told
        store.keep_secret(_vault(table), msgspec.json.encode(kept))
        takings.touched.clear()


def _pages(takings: Takings) -> Iterator[Periods]:
    periods = [(day, shift, sums) for (day, shift), sums in takings.periods.items()]
    return (periods[start : start + PAGE] for start in range(0, len(periods), PAGE))


def _restored(engine: Engine, table: str, kept: _SavedTakings) -> Takings:
    store, takings = engine.journal.store, Takings()
    takings.table, takings.currency, takings.day = kept.table, kept.currency, kept.day
    takings.shift, takings.round, takings.over = kept.shift, kept.round, kept.over
    for page in range(-(-kept.periods // PAGE)):
        told = msgspec.json.decode(store.secret(_vault(table, f"page {page}")) or b"", type=_Page)
        _check(told.version, kept)
        takings.periods |= {(day, shift): sums for day, shift, sums in told.periods}
        takings.pages[page] = msgspec.json.encode(told.periods)
    for chunk in range(kept.round // CHUNK + 1):
        written = store.secret(_vault(table, str(chunk)))
        if written is not None:
            found = msgspec.json.decode(written, type=_Chunk)
            _check(found.version, kept)
            takings.settled |= dict(found.settled)
    return takings


def _check(version: int, kept: _SavedTakings) -> None:
    if version > kept.version:
        raise _NewerError

"""Takings of each table, by gaming day and shift.

An amount belongs to the day on which it is booked: a correction next week does not change last week's report.
Takings are saved in parts, so that a start need not read every entry again. The main part has the digest of
each other part. If one is another, after a crash or because someone replaced it, all entries are read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass
from fractions import Fraction
from hashlib import sha256
from operator import add
from typing import Final, NamedTuple

import msgspec

from taisai.game import events
from taisai.game.vocabulary import Means
from taisai.journal import Engine, JournalError, stream_of
from taisai.journal.reading import has_entry, hash_of
from taisai.protocol.views import ReportView, TakingsLine

Period = tuple[str, str]
"""Gaming day and shift."""


@dataclass(slots=True)
class PeriodSums:
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
    record_corrections: int = 0
    by_hand: int = 0

    def __add__(self, other: PeriodSums) -> PeriodSums:
        return PeriodSums(*map(add, astuple(self), astuple(other)))


class SettlementSums(NamedTuple):
    """The sums of a round's current settlement."""

    staked: int
    collected: int
    won: int


class Takings:
    """The takings of one table, by gaming day and shift, from its events."""

    def __init__(self) -> None:
        self.table = ""
        self.currency = ""
        self.day = ""
        self.shift = ""
        self.periods: dict[Period, PeriodSums] = {}
        self.settled: dict[int, SettlementSums] = {}
        """Round → its current settlement, so that a correction books the difference."""
        self.touched: set[int] = set()
        """Rounds whose settlement has changed since the last save."""
        self.saved: dict[str, str] = {}
        """Part → the digest of its bytes at the last save."""
        self.round = 0
        """The latest round."""
        self.over = 0
        """The latest ended round."""

    @classmethod
    def of(cls, events: Iterable[object]) -> Takings:
        takings = cls()
        for event in events:
            takings.apply(event)
        return takings

    @property
    def _now(self) -> PeriodSums:
        return self.periods.setdefault((self.day, self.shift), PeriodSums())

    def apply(self, event: object) -> None:
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
            case events.RoundSettled() | events.RoundResettled():
                number = event.round if isinstance(event, events.RoundResettled) else self.round
                self._book(number, SettlementSums(event.staked, event.collected, event.won))
            case events.RecordCorrected():
                self._now.record_corrections += 1
            case events.SettlementEntered():
                self._now.by_hand += 1
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
        """Books the difference between a settlement and the one before."""
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
        """The sums of a gaming day, or of all days."""
        return sum((sums for (of, _), sums in self.periods.items() if day in (None, of)), PeriodSums())

    def lines(self, day: str) -> list[TakingsLine]:
        """A line for the day, and one for each shift if it has shifts."""
        shifts = {shift: sums for (of, shift), sums in self.periods.items() if of == day}
        lines = [_line(self.table, self.currency, day, "", self.total(day))]
        if set(shifts) - {""}:
            lines += [_line(self.table, self.currency, day, name, sums) for name, sums in shifts.items()]
        return lines


def report_view(takings: Mapping[str, Takings], day: str | None = None) -> ReportView:
    """The report of a gaming day; by default of the latest day of any table."""
    day = day or max((table.day for table in takings.values()), default="")
    totals: dict[str, PeriodSums] = {}
    for table in takings.values():
        totals[table.currency] = totals.get(table.currency, PeriodSums()) + table.total(day)
    return ReportView(
        day=day,
        tables=tuple(line for table in takings.values() for line in table.lines(day)),
        totals=tuple(_line("", currency, day, "", sums) for currency, sums in totals.items()),
    )


def _line(table: str, currency: str, day: str, shift: str, sums: PeriodSums) -> TakingsLine:
    win = sums.collected - sums.won
    return TakingsLine(
        table=table, currency=currency, day=day, shift=shift, win=win, **asdict(sums),
        hold=str(Fraction(win, sums.drop)) if sums.drop else None,
        hold_percent=percent(win, sums.drop) if sums.drop else None,
    )  # fmt: skip


def percent(part: int, whole: int) -> str:
    """A share in percent with two decimal places, halves rounded to even. No float is used.

    >>> percent(1, 8), percent(-1, 3), percent(2, 3)
    ('12.50', '-33.33', '66.67')
    """
    hundredths = round(Fraction(10_000 * part, whole))
    sign, size = "-" if hundredths < 0 else "", abs(hundredths)
    return f"{sign}{size // 100}.{size % 100:02}"


CHUNK: Final = 1_000
"""Rounds whose settlements are saved in one part."""
PAGE: Final = 100
"""Shifts whose sums are saved in one part: the size of a part is limited."""
DIGEST: Final = 32
"""Digits of a part's digest: a part, whose size is limited, has space for 1,400 of them."""
INDEX: Final = 1_000
"""Chunks whose digests are in one part: with 10,000,000 rounds there are ten such parts."""
_PAGE: Final = "page "
"""The beginning of the name of a part with sums."""
_INDEX: Final = "index "
"""Likewise with digests of chunks of rounds, whose names are their numbers."""
Periods = list[tuple[str, str, PeriodSums]]


class _SavedTakings(msgspec.Struct, frozen=True):
    """The main part of a table's saved takings."""

    version: int
    table: str
    currency: str
    day: str
    shift: str
    periods: int
    """The number of periods; their sums are in pages."""
    round: int
    over: int
    parts: dict[str, str] = {}
    """Part → the digest of its bytes; those of chunks are in the index, since release 0.3."""
    last: str = ""
    """The hash of the table's entry at this version: in a copy that was continued it is another one."""


class _OtherPartError(Exception):
    """A part is not the one that was saved with the main part."""


def _name(table: str, part: str = "") -> str:
    return f"takings/{table}/{part}" if part else f"takings/{table}"


def load_takings(engine: Engine, table: str) -> Takings:
    """A table's takings: as saved, and the events since; from all events if nothing is saved."""
    takings, after = Takings(), 0
    body = engine.journal.store.secret(_name(table))
    if body is not None:
        with suppress(msgspec.DecodeError, _OtherPartError):
            saved = msgspec.json.decode(body, type=_SavedTakings)
            stream = stream_of(table)
            if has_entry(engine.journal.store, stream, saved.version, saved.last):
                takings, after = _restored(engine, table, saved), saved.version
    for _, event in engine.journal.events(stream_of(table), after=after):
        takings.apply(event)
    return takings


def save_takings(engine: Engine, table: str, takings: Takings) -> None:
    """Saves a table's takings. If that fails, the next start takes longer."""
    store, version = engine.journal.store, engine.journal.version(stream_of(table))

    def save(part: str, body: bytes) -> None:
        digest = _digest(body)
        if takings.saved.get(part) != digest:
            store.keep_secret(_name(table, part), body)
            takings.saved[part] = digest

    with suppress(JournalError):
        for chunk in sorted({number // CHUNK for number in takings.touched}):
            rounds = range(chunk * CHUNK, (chunk + 1) * CHUNK)
            settled = [(number, takings.settled[number]) for number in rounds if number in takings.settled]
            save(str(chunk), msgspec.json.encode(settled))
        for page, periods in enumerate(_pages(takings)):
            save(f"{_PAGE}{page}", msgspec.json.encode(periods))
        for index, digests in _indexed(takings.saved).items():
            save(f"{_INDEX}{index}", msgspec.json.encode(digests))
        saved = _SavedTakings(
            version=version, table=takings.table, currency=takings.currency, day=takings.day,
            shift=takings.shift, periods=len(takings.periods), round=takings.round, over=takings.over,
            parts={part: digest for part, digest in takings.saved.items() if not part.isdecimal()},
            last=hash_of(engine.journal.store, stream_of(table), version),
        )  # fmt: skip
        store.keep_secret(_name(table), msgspec.json.encode(saved))
        takings.touched.clear()


def _indexed(saved: Mapping[str, str]) -> dict[int, dict[str, str]]:
    """Number of an index → the digests of its chunks."""
    found: dict[int, dict[str, str]] = {}
    for part, digest in saved.items():
        if part.isdecimal():
            found.setdefault(int(part) // INDEX, {})[part] = digest
    return found


def _pages(takings: Takings) -> Iterator[Periods]:
    periods = [(day, shift, sums) for (day, shift), sums in takings.periods.items()]
    return (periods[start : start + PAGE] for start in range(0, len(periods), PAGE))


def _restored(engine: Engine, table: str, saved: _SavedTakings) -> Takings:
    store, takings = engine.journal.store, Takings()
    takings.table, takings.currency, takings.day = saved.table, saved.currency, saved.day
    takings.shift, takings.round, takings.over = saved.shift, saved.round, saved.over
    parts = list(saved.parts.items())
    for part, digest in parts:
        body = store.secret(_name(table, part)) or b""
        _check(body, digest)
        takings.saved[part] = digest
        if part.startswith(_INDEX):
            parts += msgspec.json.decode(body, type=dict[str, str]).items()  # which come next in this loop
        elif part.startswith(_PAGE):
            periods = msgspec.json.decode(body, type=Periods)
            takings.periods |= {(day, shift): sums for day, shift, sums in periods}
        else:
            takings.settled |= dict(msgspec.json.decode(body, type=list[tuple[int, SettlementSums]]))
    if len(takings.periods) != saved.periods:
        raise _OtherPartError
    return takings


def _digest(body: bytes) -> str:
    return sha256(body).hexdigest()[:DIGEST]


def _check(body: bytes, digest: str) -> None:
    if _digest(body) != digest:
        raise _OtherPartError

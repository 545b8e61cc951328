"""What a report counts, kept from one start to the next, so that a start need not read every entry again.

It is kept in pieces, each with the number of entries that it is true after. A crash may leave some of them
newer than the whole: then everything is counted anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import msgspec

from taisai.journal import Engine, JournalError, stream_of
from taisai.server.projections.takings import Settled, Sums, Takings

CHUNK: Final = 1_000
"""Rounds whose settlements are kept together: a correction, whenever it comes, books the difference."""
PAGE: Final = 100
"""Shifts whose sums are kept together: a secret is short, and a table may be open for years."""
Periods = list[tuple[str, str, Sums]]


class _Kept(msgspec.Struct, frozen=True):
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
    settled: list[tuple[int, Settled]]


class _NewerError(Exception):
    """A piece is of later than the whole."""


def _vault(table: str, piece: str = "") -> str:
    return f"takings/{table}/{piece}" if piece else f"takings/{table}"


def takings_of(engine: Engine, table: str) -> Takings:
    """A table's takings: as they were kept, and what came since; all of it anew where nothing was."""
    takings, after = Takings(), 0
    written = engine.journal.store.secret(_vault(table))
    if written is not None:
        with suppress(msgspec.DecodeError, _NewerError):
            kept = msgspec.json.decode(written, type=_Kept)
            if kept.version <= engine.journal.version(stream_of(table)):
                takings, after = _restored(engine, table, kept), kept.version
    for _, event in engine.journal.events(stream_of(table), after=after):
        takings.take(event)
    return takings


def keep_takings(engine: Engine, table: str, takings: Takings) -> None:
    """Writes them down; that may fail, and costs the next start some time."""
    store, version = engine.journal.store, engine.journal.version(stream_of(table))
    kept = _Kept(
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


def _restored(engine: Engine, table: str, kept: _Kept) -> Takings:
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


def _check(version: int, kept: _Kept) -> None:
    if version > kept.version:
        raise _NewerError

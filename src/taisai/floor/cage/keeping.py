"""What a report counts, kept from one start to the next, so that a start need not read every entry again."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import msgspec

from taisai.floor.cage.report import Settled, Sums, Takings
from taisai.house import JournalError, Keeper, stream_of


class _Kept(msgspec.Struct, frozen=True):
    """A table's takings after so many entries of its stream."""

    version: int
    table: str
    currency: str
    day: str
    shift: str
    periods: list[tuple[str, str, Sums]]
    round: int
    over: int


CHUNK: Final = 1_000
"""Rounds whose settlements are kept together: a correction, whenever it comes, books the difference."""


def _vault(table: str, chunk: int | None = None) -> str:
    return f"takings/{table}" if chunk is None else f"takings/{table}/{chunk}"


def takings_of(keeper: Keeper, table: str) -> Takings:
    """A table's takings: as they were kept, and what came since; all of it anew where nothing was."""
    takings, after = Takings(), 0
    written = keeper.journal.store.secret(_vault(table))
    if written is not None:
        with suppress(msgspec.DecodeError):
            kept = msgspec.json.decode(written, type=_Kept)
            if kept.version <= keeper.journal.version(stream_of(table)):
                takings, after = _restored(keeper, kept), kept.version
    for _, event in keeper.journal.events(stream_of(table), after=after):
        takings.take(event)
    return takings


def keep_takings(keeper: Keeper, table: str, takings: Takings) -> None:
    """Writes them down; that may fail, and costs the next start some time."""
    kept = _Kept(
        version=keeper.journal.version(stream_of(table)),
        table=takings.table,
        currency=takings.currency,
        day=takings.day,
        shift=takings.shift,
        periods=[(day, shift, sums) for (day, shift), sums in takings.periods.items()],
        round=takings.round,
        over=takings.over,
    )
    with suppress(JournalError):
        for chunk in sorted({number // CHUNK for number in takings.touched}):
            rounds = range(chunk * CHUNK, (chunk + 1) * CHUNK)
            settled = [(number, takings.settled[number]) for number in rounds if number in takings.settled]
            keeper.journal.store.keep_secret(_vault(table, chunk), msgspec.json.encode(settled))
        keeper.journal.store.keep_secret(_vault(table), msgspec.json.encode(kept))
        takings.touched.clear()


def _restored(keeper: Keeper, kept: _Kept) -> Takings:
    takings = Takings()
    takings.table, takings.currency, takings.day = kept.table, kept.currency, kept.day
    takings.shift, takings.round, takings.over = kept.shift, kept.round, kept.over
    takings.periods = {(day, shift): sums for day, shift, sums in kept.periods}
    for chunk in range(kept.round // CHUNK + 1):
        written = keeper.journal.store.secret(_vault(kept.table, chunk))
        if written is not None:
            takings.settled |= dict(msgspec.json.decode(written, type=list[tuple[int, Settled]]))
    return takings

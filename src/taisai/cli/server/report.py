"""`taisai report`: what each table took in a gaming day: drop, win and hold."""

from __future__ import annotations

import datetime
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import closing

import msgspec

from taisai.audit.sources import PROGRESS_EVERY, Body, Export, JournalFile, Progress
from taisai.cli.audit.reading import flawed, opened, progress
from taisai.cli.printing import as_json, line, show, table
from taisai.journal.codec import Codec, Entry, table_of
from taisai.journal.errors import DamagedError
from taisai.protocol.views import ReportView, TakingsLine
from taisai.rules.errors import RulesError, printable
from taisai.server.projections.takings import Takings, report_view


def run(arguments: Namespace) -> int:
    """Prints the report of a journal or an export; the file may be in use."""
    if arguments.day is not None:
        _check_day(arguments.day)
    try:
        with closing(opened(arguments.file)) as source, progress(source, "reading") as told:
            takings = _takings(_entries(source, told))
    except DamagedError as error:
        return flawed(error, arguments.file, json=arguments.json)
    report = report_view(takings, arguments.day)
    if arguments.json:
        as_json(msgspec.to_builtins(report))
    else:
        _tell(report)
    return 0


def _check_day(text: str) -> None:
    """A day in the one form that journals have; Python would also take 20261116, which none of them has."""
    try:
        is_day = datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        is_day = False
    if not is_day:
        raise RulesError(f"expected a gaming day such as 2026-11-16, got {printable(text)!r}")


def _entries(source: JournalFile | Export, told: Progress | None) -> Iterator[Entry]:
    codec, position = Codec(), 0
    for piece in source.pieces():
        if isinstance(piece, Body):
            position += 1
            yield codec.decode(piece.body, position)
            if told is not None and position % PROGRESS_EVERY == 0:
                told(source.done, source.total)


def _takings(entries: Iterable[Entry]) -> dict[str, Takings]:
    found: dict[str, Takings] = {}
    for entry in entries:
        name = table_of(entry.stream)
        if name is not None:
            found.setdefault(name, Takings()).apply(entry.event)
    return found


def _tell(report: ReportView) -> None:
    if not report.day:
        line("no table has been opened")
        return
    figures = ("rounds", "void", "drop", "handle", "win", "hold", "tickets in", "tickets out")
    title = f"Gaming day {report.day}; money in minor units of its currency"
    shown = table(title, ("table", "shift", *figures), right=figures)
    for one in report.tables:
        shown.add_row(*_cells(one))
    for one in report.totals:
        shown.add_row(*_cells(one, name=f"all ({printable(one.currency)})"))
    show(shown)


def _cells(one: TakingsLine, name: str | None = None) -> list[str]:
    figures = (one.rounds, one.void, one.drop, one.handle, one.win)
    return [
        name or printable(one.table), printable(one.shift), *(f"{figure:,}" for figure in figures),
        f"{one.hold_percent} %" if one.hold_percent else "–", f"{one.tickets_in:,}", f"{one.tickets_out:,}",
    ]  # fmt: skip

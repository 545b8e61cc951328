"""`taisai report`: drop, win and hold of each table in a gaming day."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import closing

import msgspec

from taisai.audit.sources import PROGRESS_EVERY, Body, Export, JournalFile, Progress
from taisai.cli.audit.reading import flawed, opened, progress
from taisai.cli.printing import as_json, line, show_table
from taisai.journal.codec import Codec, Entry, table_of
from taisai.journal.errors import DamagedError
from taisai.protocol.views import ReportView, TakingsLine
from taisai.rules.errors import printable
from taisai.server.projections.takings import Takings, report_view
from taisai.validation import DAY_TEXT


def run(arguments: Namespace) -> int:
    """Prints the report of a journal, which may be in use, or of an export."""
    if arguments.day is not None:
        DAY_TEXT.check(arguments.day, "--day")
    try:
        with closing(opened(arguments.file)) as source, progress(source, "reading") as show_progress:
            takings = _takings(_entries(source, show_progress))
    except DamagedError as error:
        return flawed(error, arguments.file, json=arguments.json)
    report = report_view(takings, arguments.day)
    if arguments.json:
        as_json(msgspec.to_builtins(report))
    else:
        _print_report(report)
    return 0


def _entries(source: JournalFile | Export, show_progress: Progress | None) -> Iterator[Entry]:
    codec, position = Codec(), 0
    for piece in source.pieces():
        if isinstance(piece, Body):
            position += 1
            yield codec.decode(piece.body, position)
            if show_progress is not None and position % PROGRESS_EVERY == 0:
                show_progress(source.done, source.total)


def _takings(entries: Iterable[Entry]) -> dict[str, Takings]:
    takings: dict[str, Takings] = {}
    for entry in entries:
        name = table_of(entry.stream)
        if name is not None:
            takings.setdefault(name, Takings()).apply(entry.event)
    return takings


def _print_report(report: ReportView) -> None:
    if not report.day:
        line("No table has been opened.")
        return
    figures = ("rounds", "void", "drop", "handle", "win", "hold", "tickets in", "tickets out")
    title = f"Gaming day {report.day}; money in minor units of its currency"
    rows = [_cells(takings) for takings in report.tables]
    rows += [_cells(takings, name=f"all ({printable(takings.currency)})") for takings in report.totals]
    show_table(title, ("table", "shift", *figures), rows, right=figures)


def _cells(takings: TakingsLine, name: str | None = None) -> list[str]:
    figures = (takings.rounds, takings.void, takings.drop, takings.handle, takings.win)
    return [
        name or printable(takings.table),
        printable(takings.shift),
        *(f"{figure:,}" for figure in figures),
        f"{takings.hold_percent} %" if takings.hold_percent else "–",
        f"{takings.tickets_in:,}",
        f"{takings.tickets_out:,}",
    ]

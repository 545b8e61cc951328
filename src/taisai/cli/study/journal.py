"""`taisai study journal` and `study resettle`: recorded play compared with the mathematics."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing
from typing import IO

from taisai.audit.rows import PlayedPayTable, RoundRecord, round_records
from taisai.cli import CHECK_FAILED, DONE, values
from taisai.cli.audit.reading import flawed, opened, progress
from taisai.cli.printing import check_picture, print_and_save, print_result, progress_bar
from taisai.journal.errors import DamagedError
from taisai.rules import Matrix, RulesError, rulebook, rulebook_ids
from taisai.study.journal import Observed, PlayedRound, observed


def run_journal(arguments: Namespace) -> int:
    """Prints observed and exact figures of a journal, or of an export of one, side by side."""
    check_picture(arguments.plot)
    try:
        print_and_save(arguments, lambda: _observed(arguments), (arguments.plot, _draw))
    except DamagedError as error:
        return flawed(error, arguments.file, json=arguments.json)
    return DONE


def _observed(arguments: Namespace) -> Observed:
    pay_tables: dict[str, PlayedPayTable] = {}
    with closing(opened(arguments.file)) as source, progress(source, "reading") as told:
        rounds = round_records(source, told, pay_tables)
        of = "" if arguments.table is None else f", table {arguments.table}"
        return observed(_settled(rounds, arguments.table), pay_tables, f"{arguments.file}{of}")


def _draw(result: Observed, path: str, file: IO[bytes]) -> None:
    from taisai.study.pictures import observed_picture
    from taisai.study.plotting import save

    save(observed_picture(result), path, file)


def _settled(rounds: Iterator[RoundRecord], table: str | None) -> Iterator[PlayedRound]:
    """The settled bets of one table or of all tables."""
    for round_ in rounds:
        if round_.outcome is not None and table in (None, round_.table):
            bets = [
                (round_.pay_tables[record.bet.layout], record)
                for record in round_.bets
                if record.state.is_settled
            ]
            yield PlayedRound(round_.table, round_.number, round_.outcome, bets)


def run_resettle(arguments: Namespace) -> int:
    """Settles every bet again; exit code 1 if a bet did not get what was due."""
    if arguments.book is None and (arguments.settings or arguments.offer):
        raise RulesError("--set and --offer need --book")
    from taisai.study.journal.resettle import ColumnFile, resettle  # it needs NumPy and PyArrow

    with progress_bar("bets", ColumnFile(arguments.file, {}).bets) as advance:
        result = resettle(arguments.file, _known(arguments), advance)
    print_result(result, arguments)
    return DONE if result.is_right else CHECK_FAILED


def _known(arguments: Namespace) -> dict[str, Matrix]:
    """Digest → pay table: those of the package, and the operator's own."""
    books = [rulebook(name) for name in rulebook_ids()]
    matrices = [book.matrix(layout) for book in books for layout in book.pay_by_layout]
    if arguments.book is not None:
        book, layout = values.book_and_layout(arguments.book)
        settings, offers = values.settings(arguments), values.offers(arguments)
        layouts = [layout] if layout else [*book.pay_by_layout]
        matrices += [book.matrix(name, settings=settings, offered=offers) for name in layouts]
    return {matrix.digest: matrix for matrix in matrices}

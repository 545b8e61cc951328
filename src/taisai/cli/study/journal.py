"""`taisai study journal`: play as it was, against what the mathematics says.

`taisai study resettle`: an export of bets settled anew and balanced.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing
from typing import IO

from taisai.audit.rows import PlayedPayTable, RoundRecord, round_records
from taisai.cli import CHECK_FAILED, DONE, asked
from taisai.cli.audit.reading import flawed, opened, progress
from taisai.cli.study.output import shown_progress, tell, told_and_kept
from taisai.journal.errors import DamagedError
from taisai.rules import Matrix, RulesError, rulebook, rulebook_ids
from taisai.study.journal import Observed, PlayedRound, observed
from taisai.study.journal.resettle import resettle


def run_journal(arguments: Namespace) -> int:
    """Reads a journal, or an export of one, and prints observed and exact side by side."""
    if arguments.plot is not None:
        from taisai.study.plotting import picture_path

        picture_path(arguments.plot)  # a wrong name is told before the work begins
    try:
        told_and_kept(arguments, lambda: _observed(arguments), (arguments.plot, _draw))
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
    from taisai.study.journal.results import drawn
    from taisai.study.plotting import save

    save(drawn(result), path, file)


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
    """Checks every bet; exit code 1 where one did not get what was due."""
    if arguments.book is None and (arguments.settings or arguments.offer):
        raise RulesError("expected --book with --set and --offer, got no book that they are of")
    with shown_progress("bets", _bets(arguments.file)) as advance:
        found = resettle(arguments.file, _known(arguments), advance)
    tell(found, arguments)
    return DONE if found.is_right else CHECK_FAILED


def _known(arguments: Namespace) -> dict[str, Matrix]:
    """The pay tables of the package as the documents have them, and one of the operator's own."""
    books = [rulebook(name) for name in rulebook_ids()]
    found = {m.digest: m for book in books for m in (book.matrix(layout) for layout in book.pay_by_layout)}
    if arguments.book is not None:
        book, layout = asked.book_and_layout(arguments.book)
        offers = asked.named_once(arguments.offer, 'an offer such as "triple-1=160 to 1"')
        for name in [layout] if layout else book.pay_by_layout:
            own = book.matrix(name, settings=asked.settings(arguments), offered=offers)
            found[own.digest] = own
    return found


def _bets(file: str) -> int:
    from taisai.study import needed

    with needed("NumPy and PyArrow", "study"):
        from taisai.study.journal.resettle import ColumnFile
    return ColumnFile(file, {}).bets

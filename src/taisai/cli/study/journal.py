"""`taisai study journal`: play as it was, against what the mathematics says."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing
from typing import IO, Any

from taisai.audit.exports.columns import BETS, Row
from taisai.audit.exports.rows import PlayedPayTable, bet_rows
from taisai.cli import DONE
from taisai.cli.audit.reading import flawed, opened, progress
from taisai.cli.study.telling import told_and_kept
from taisai.journal.errors import DamagedError
from taisai.rules import Outcome
from taisai.study.journal import Observed, PlayedBet, observed


def run(arguments: Namespace) -> int:
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
        rows = bet_rows(source, told, pay_tables)
        of = "" if arguments.table is None else f", table {arguments.table}"
        return observed(_settled(rows, arguments.table), pay_tables, f"{arguments.file}{of}")


def _draw(result: Observed, path: str, file: IO[bytes]) -> None:
    from taisai.study.journal.drawing import drawn
    from taisai.study.plotting import save

    save(drawn(result), path, file)


def _settled(rows: Iterator[Row], table: str | None) -> Iterator[PlayedBet]:
    """The bets that were settled, of one table or of all."""
    names = [column.name for column in BETS]
    for row in rows:
        bet: dict[str, Any] = dict(zip(names, row, strict=True))
        if bet["state"] != "settled" or (table is not None and bet["table"] != table):
            continue
        yield PlayedBet(
            table=bet["table"],
            round=bet["round"],
            pay_table=bet["pay_table"],
            area=bet["area"],
            stake=bet["stake"] - bet["kept_out"],
            returned=bet["returned"] - bet["kept_out"],
            outcome=Outcome.of(*map(int, bet["faces"].split())),
        )

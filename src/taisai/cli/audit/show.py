"""`taisai audit show` and `taisai report`: rounds and takings of a journal, as they are written."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing
from itertools import groupby
from typing import Any, Final

from taisai.audit.replay import entries_of, tables_of
from taisai.audit.retell import RoundEntry, RoundHistory, TableSummary, overview, round_history
from taisai.audit.sources import Export, JournalFile
from taisai.cli import values
from taisai.cli.audit.reading import count, flawed, moment, opened, progress
from taisai.cli.printing import as_json, line, show, show_table, table, wrapped
from taisai.cli.table.narrator import Narrator, explained
from taisai.game.commands import Perform
from taisai.game.events import BetRegistered, BetsClosed
from taisai.journal.codec import table_of
from taisai.journal.errors import DamagedError
from taisai.protocol.views import ReportView, TakingsLine
from taisai.rules import Outcome, RulesError
from taisai.rules.errors import printable
from taisai.rules.settlement import BetRecord, BetState
from taisai.validation import DAY_TEXT

MOST_LAST: Final = 100_000  # rounds; a table has no more
MOST_BETS: Final = 200
"""Bets in the table of a settlement: a thousand terminals may place five thousand."""


def run(arguments: Namespace) -> int:
    """Prints the rounds, or one of them; exit code 1 if the file is damaged."""
    most = _number(arguments.last, "--last", most=MOST_LAST)
    number = None if arguments.round is None else _number(arguments.round, "--round")
    if arguments.seat is not None and number is None:
        raise RulesError("--seat needs --round")
    try:
        with closing(opened(arguments.file)) as source:
            if number is None:
                _rounds(arguments, source, most)
            else:
                _round(arguments, source, number)
    except DamagedError as error:
        return flawed(error, arguments.file, json=arguments.json)
    return 0


def _number(text: str, option: str, *, most: int | None = None) -> int:
    number = values.whole(text, option, such_as="3")
    if number < 1 or (most is not None and number > most):
        raise RulesError(f"expected {option} from 1{f' to {most}' if most else ''}, got {number}")
    return number


def _written(file: str) -> None:
    wrapped(f"This is what the journal says; `taisai audit verify {printable(file)}` checks it.")


# All rounds


def _rounds(arguments: Namespace, source: JournalFile | Export, most: int) -> None:
    with progress(source, "reading") as advance:
        tables = overview(source, table=arguments.table, most=most, progress=advance)
    if arguments.json:
        as_json({"file": arguments.file, "tables": [_plain_table(summary) for summary in tables]})
        return
    if not tables:
        line(f"{printable(arguments.file)}: no table was opened")
        _written(arguments.file)
        return
    rounds = [(summary, round_) for summary in tables for round_ in summary.latest]
    rounds.sort(key=lambda pair: pair[1].position)
    total, shown = sum(summary.rounds for summary in tables), rounds[-most:]
    books = printable(", ".join(dict.fromkeys(summary.rulebook for summary in tables)))
    title = f"{count(total, 'round')} at {count(len(tables), 'table')}, by {books}"
    numbers = ("round", "entry", "bets", "staked", "returned")
    columns = ("table", "round", "entry", "opened", "bets", "staked", "result", "returned", "")
    printed = table(title, columns, right=numbers)
    for summary, round_ in shown:
        returned = "" if round_.returned is None else f"{round_.returned:,}"
        opened_at = moment(round_.opened_at)[:19].replace("T", " ")
        remarks = ", ".join([*round_.marks, *(["open"] if round_.returned is None else [])])
        printed.add_row(
            printable(summary.name), str(round_.number), str(round_.position), opened_at,
            f"{round_.bets:,}", f"{round_.staked:,}", " ".join(map(str, round_.faces)), returned, remarks,
        )  # fmt: skip
    show(printed)
    if len(shown) < total:
        latest = f"The latest {len(shown):,} of {total:,} rounds"
        wrapped(f"{latest}: --last {total} shows all, --table those of one.")
    wrapped(
        "Money in the smallest unit of each table's currency. --table and --round show one round in detail."
    )
    _written(arguments.file)


def _plain_table(summary: TableSummary) -> dict[str, Any]:
    latest = [
        {
            "round": round_.number, "position": round_.position, "opened_at": round_.opened_at,
            "bets": round_.bets, "staked": round_.staked, "faces": list(round_.faces),
            "returned": round_.returned, "marks": round_.marks,
        }
        for round_ in summary.latest
    ]  # fmt: skip
    return {
        "table": summary.name, "rulebook": summary.rulebook, "currency": summary.currency,
        "opened_at": summary.opened_at, "rounds": summary.rounds, "latest": latest,
    }  # fmt: skip


# One round


def _round(arguments: Namespace, source: JournalFile | Export, number: int) -> None:
    name = arguments.table if arguments.table is not None else _only_table(source)
    with progress(source, "reading") as advance:
        history = round_history(source, name, number, seat=arguments.seat, progress=advance)
    if arguments.json:
        as_json({"file": arguments.file, **_plain_history(history)})
        return
    _HistoryPrinter(history).tell()
    _written(arguments.file)


def _only_table(source: JournalFile | Export) -> str:
    names = tables_of(source)
    if not names:
        raise RulesError(f"no table was opened in this journal ({printable(source.name)})")
    if len(names) > 1:
        known = ", ".join(map(printable, names[:20])) + (", …" if len(names) > 20 else "")
        raise RulesError(f"--table is needed: the journal has {len(names)} tables ({known})")
    return names[0]


class _HistoryPrinter(Narrator):
    """Prints a round, decision by decision."""

    def __init__(self, history: RoundHistory) -> None:
        super().__init__(history.book)
        self.history = history

    def tell(self) -> None:
        history = self.history
        self.say(f"Round {history.number} of table {history.table} · {history.book.title}", style="bold")
        self.say(f"By {history.book.id}; money in the smallest unit of {history.currency}; #12 is entry 12.")
        is_apart = False
        for _, entries in groupby(history.entries, key=lambda entry: id(entry.asked)):
            first, *others = entries
            if not is_apart:
                line()
            who, what = first.event.by, _asked(first.asked)
            self.say(f"{moment(first.event.at)} · {who}: {what}", style="bold cyan")
            for entry in (first, *others):
                self.event(entry.event, f"#{entry.position}")
                is_apart = bool(entry.bets)
                if is_apart:
                    self._bets(entry)  # which leaves an empty line below
        if not is_apart:
            line()
        if not history.is_over:
            self.say("The round is not over.", style="yellow")

    def _bets(self, entry: RoundEntry) -> None:
        is_close = isinstance(entry.event, BetsClosed)
        staked = sum(record.stake for record in entry.bets)
        numbers = ("entry", "stake", *(() if is_close else ("returned",)))
        others = () if is_close else ("returned", "clause", "why")
        title = f"At the close: {count(len(entry.bets), 'bet')}, {staked}" if is_close else "The bets"
        printed = table(title, ("bet", "entry", "seat", "area", "stake", *others), right=numbers)
        for record in entry.bets[:MOST_BETS]:
            bet = record.bet
            cells = (bet.id, str(self.history.positions[bet.id]), bet.seat, bet.area, str(bet.stake))
            printed.add_row(*map(printable, cells), *(() if is_close else self._result(record, entry.faces)))
        show(printed)
        if len(entry.bets) > MOST_BETS:
            more = f"{len(entry.bets) - MOST_BETS:,} more"
            self.say(f"{more}: --seat shows those of one seat, --json all of them.", style="italic")
            line()

    def _result(self, record: BetRecord[BetRegistered], faces: tuple[int, ...]) -> tuple[str, str, str]:
        """What came back of a bet, by which clause, and why."""
        returned, clause = str(record.returned), str(record.clause)
        if record.state.left_early:
            return returned, clause, "went back before the end"
        if record.state is BetState.VOID:
            return returned, clause, "the round is void: every stake goes back"
        if record.state is BetState.KEPT_OUT:
            return returned, str(record.kept_out_by), "kept out by the limits: returned"
        why = explained(self.history.terms[record.bet.layout], record.area, Outcome.of(*faces))
        if record.kept_out:
            why = f"{why}; {record.kept_out} kept out by the limits ({record.kept_out_by})"
        return returned, clause, why


def _plain_history(history: RoundHistory) -> dict[str, Any]:
    from msgspec import to_builtins

    entries = [
        {"position": entry.position, "asked": to_builtins(entry.asked), "event": to_builtins(entry.event)}
        for entry in history.entries
    ]
    return {
        "table": history.table, "round": history.number, "rulebook": history.book.id,
        "currency": history.currency, "over": history.is_over, "moments": entries,
        "bets": [_plain_bet(record, history) for record in history.bets],
    }  # fmt: skip


def _plain_bet(record: BetRecord[BetRegistered], history: RoundHistory) -> dict[str, Any]:
    bet, is_open = record.bet, record.state is BetState.OPEN
    return {
        "position": history.positions[bet.id], "bet": bet.id, "seat": bet.seat, "means": bet.means,
        "layout": bet.layout, "laid_on": history.laid_on.get(bet.id, bet.area), "area": bet.area,
        "stake": bet.stake, "returned": None if is_open else record.returned,
        "won": None if is_open else record.won, "kept_out": None if is_open else record.kept_out,
        "clause": record.clause, "back": record.state.left_early,
    }  # fmt: skip


def _asked(command: Any) -> str:
    what = command.act if isinstance(command, Perform) else type(command).__struct_config__.tag
    return str(what).replace("-", " ")


# Takings


def report(arguments: Namespace) -> int:
    """Prints drop, win and hold of each table in a gaming day; exit code 1 if the file is damaged."""
    from msgspec import to_builtins

    from taisai.server.projections.takings import Takings, report_view

    if arguments.day is not None:
        DAY_TEXT.check(arguments.day, "--day")
    takings: dict[str, Takings] = {}
    try:
        with closing(opened(arguments.file)) as source, progress(source, "reading") as advance:
            for entry in entries_of(source, advance):
                name = table_of(entry.stream)
                if name is not None:
                    takings.setdefault(name, Takings()).apply(entry.event)
    except DamagedError as error:
        return flawed(error, arguments.file, json=arguments.json)
    view = report_view(takings, arguments.day)
    if arguments.json:
        as_json(to_builtins(view))
    else:
        _print_report(view)
    return 0


def _print_report(view: ReportView) -> None:
    if not view.day:
        line("No table has been opened.")
        return
    figures = ("rounds", "void", "drop", "handle", "win", "hold", "tickets in", "tickets out")
    title = f"Gaming day {view.day}; money in minor units of its currency"
    rows = [_figures(takings) for takings in view.tables]
    rows += [_figures(takings, name=f"all ({printable(takings.currency)})") for takings in view.totals]
    show_table(title, ("table", "shift", *figures), rows, right=figures)
    for takings in view.tables:  # further columns would not fit a page
        of_day = "" if takings.shift else printable(takings.table)
        if of_day and takings.record_corrections:
            line(f"{of_day}: {count(takings.record_corrections, 'correction')} of the record of the chips")
        if of_day and takings.by_hand:
            line(f"{of_day}: {count(takings.by_hand, 'round')} by hand")


def _figures(takings: TakingsLine, name: str | None = None) -> list[str]:
    figures = (takings.rounds, takings.void, takings.drop, takings.handle, takings.win)
    hold = f"{takings.hold_percent} %" if takings.hold_percent else "–"
    others = (takings.tickets_in, takings.tickets_out)
    shown = (f"{figure:,}" for figure in figures)
    return [
        name or printable(takings.table),
        printable(takings.shift),
        *shown,
        hold,
        *(f"{figure:,}" for figure in others),
    ]

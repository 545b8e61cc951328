"""`taisai audit show`: what a journal tells, as it is written: its rounds, or one of them retold."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing
from itertools import groupby
from typing import Any, Final

from taisai.audit.retell.rounds import RoundLine, TableLine, overview
from taisai.audit.retell.story import Moment, RoundStory, round_story
from taisai.audit.retell.tables import tables_of
from taisai.audit.sources import Export, JournalFile
from taisai.cli import asked
from taisai.cli.audit.reading import count, flawed, moment, opened, progress, said
from taisai.cli.printing import as_json, line, show, table
from taisai.cli.telling import Narrator, explained
from taisai.game.commands import Perform
from taisai.game.events import BetRegistered, BetsClosed
from taisai.journal.errors import DamagedError
from taisai.rules import Outcome, RulesError
from taisai.rules.errors import printable
from taisai.rules.settlement import BetRecord, BetState

MOST_LAST: Final = 100_000  # rounds; a table has no more
MOST_BETS: Final = 200
"""Bets that are told of a settlement: a thousand terminals lay five thousand, which nobody would read."""


def run(arguments: Namespace) -> int:
    """Prints the rounds, or one of them; 1 where the file is damaged so that it cannot be read."""
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
    number = asked.whole(text, option, such_as="3")
    if number < 1 or (most is not None and number > most):
        raise RulesError(f"expected {option} from 1{f' to {most}' if most else ''}, got {number}")
    return number


def _written(file: str) -> None:
    said(f"Shown as written; `taisai audit verify {printable(file)}` proves it.")


# All rounds


def _rounds(arguments: Namespace, source: JournalFile | Export, most: int) -> None:
    with progress(source, "reading") as told:
        tables = overview(source, table=arguments.table, most=most, progress=told)
    if arguments.json:
        as_json({"file": arguments.file, "tables": [_plain_table(one) for one in tables]})
        return
    if not tables:
        line(f"{printable(arguments.file)}: no table was opened")
        _written(arguments.file)
        return
    rounds = [(of, one) for of in tables for one in of.latest]
    rounds.sort(key=lambda each: each[1].position)
    total, shown = sum(of.rounds for of in tables), rounds[-most:]
    books = printable(", ".join(dict.fromkeys(of.rulebook for of in tables)))
    title = f"{count(total, 'round')} at {count(len(tables), 'table')}, by {books}"
    numbers = ("round", "entry", "bets", "staked", "returned")
    columns = ("table", "round", "entry", "opened", "bets", "staked", "result", "returned", "")
    made = table(title, columns, right=numbers)
    for of, one in shown:
        returned = "" if one.returned is None else f"{one.returned:,}"
        opened_at = moment(one.opened_at)[:19].replace("T", " ")
        made.add_row(
            printable(of.name), str(one.number), str(one.position), opened_at, f"{one.bets:,}",
            f"{one.staked:,}", " ".join(map(str, one.faces)), returned, _remarks(one),
        )  # fmt: skip
    show(made)
    if len(shown) < total:
        said(
            f"The latest {len(shown):,} of {total:,} rounds: --last {total} shows all, --table those of one."
        )
    said("Money in the smallest unit of each table's currency. --table and --round retell a round.")
    _written(arguments.file)


def _remarks(one: RoundLine) -> str:
    return ", ".join([*one.marks, *(["open"] if one.returned is None else [])])


def _plain_table(of: TableLine) -> dict[str, Any]:
    latest = [
        {
            "round": one.number, "position": one.position, "opened_at": one.opened_at, "bets": one.bets,
            "staked": one.staked, "faces": list(one.faces), "returned": one.returned, "marks": one.marks,
        }
        for one in of.latest
    ]  # fmt: skip
    return {
        "table": of.name, "rulebook": of.rulebook, "currency": of.currency, "opened_at": of.opened_at,
        "rounds": of.rounds, "latest": latest,
    }  # fmt: skip


# One round


def _round(arguments: Namespace, source: JournalFile | Export, number: int) -> None:
    name = arguments.table if arguments.table is not None else _only_table(source)
    with progress(source, "reading") as told:
        story = round_story(source, name, number, seat=arguments.seat, progress=told)
    if arguments.json:
        as_json({"file": arguments.file, **_plain_story(story)})
        return
    _Retold(story).tell()
    _written(arguments.file)


def _only_table(source: JournalFile | Export) -> str:
    names = tables_of(source)
    if not names:
        raise RulesError(f"expected a table in this journal, got none ({printable(source.name)})")
    if len(names) > 1:
        some = ", ".join(map(printable, names[:20])) + (", …" if len(names) > 20 else "")
        raise RulesError(f"expected --table and one of {len(names)} ({some}), got none")
    return names[0]


class _Retold(Narrator):
    """Tells a round, decision by decision."""

    def __init__(self, story: RoundStory) -> None:
        super().__init__(story.book)
        self.story = story

    def tell(self) -> None:
        """All of it."""
        story = self.story
        self.say(f"Round {story.number} of table {story.table} · {story.book.title}", style="bold")
        self.say(f"By {story.book.id}; money in the smallest unit of {story.currency}; #12 is entry 12.")
        is_apart = False
        for _, moments in groupby(story.moments, key=lambda one: id(one.asked)):
            first, *others = moments
            if not is_apart:
                line()
            who, what = first.event.by, _asked(first.asked)
            self.say(f"{moment(first.event.at)} · {who}: {what}", style="bold cyan")
            for one in (first, *others):
                self.event(one.event, f"#{one.position}")
                is_apart = bool(one.bets)
                if is_apart:
                    self._bets(one)  # which leaves a line free below it
        if not is_apart:
            line()
        if not story.is_over:
            self.say("The round is not over.", style="yellow")

    def _bets(self, one: Moment) -> None:
        is_close = isinstance(one.event, BetsClosed)
        staked = sum(record.stake for record in one.bets)
        numbers = ("entry", "stake", *(() if is_close else ("returned",)))
        others = () if is_close else ("returned", "clause", "why")
        title = f"At the close: {count(len(one.bets), 'bet')}, {staked}" if is_close else "The bets"
        made = table(title, ("bet", "entry", "seat", "area", "stake", *others), right=numbers)
        for record in one.bets[:MOST_BETS]:
            bet = record.bet
            cells = (bet.id, str(self.story.positions[bet.id]), bet.seat, bet.area, str(bet.stake))
            made.add_row(*map(printable, cells), *(() if is_close else self._result(record, one.faces)))
        show(made)
        if len(one.bets) > MOST_BETS:
            more = f"{len(one.bets) - MOST_BETS:,} more: --seat shows those of one seat, --json all of them."
            self.say(more, style="italic")
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
        why = explained(self.story.terms[record.bet.layout], record.area, Outcome.of(*faces))
        if record.kept_out:
            why = f"{why}; {record.kept_out} kept out by the limits ({record.kept_out_by})"
        return returned, clause, why


def _plain_story(story: RoundStory) -> dict[str, Any]:
    from msgspec import to_builtins

    moments = [
        {"position": one.position, "asked": to_builtins(one.asked), "event": to_builtins(one.event)}
        for one in story.moments
    ]
    return {
        "table": story.table, "round": story.number, "rulebook": story.book.id, "currency": story.currency,
        "over": story.is_over, "moments": moments,
        "bets": [_plain_bet(record, story) for record in story.bets],
    }  # fmt: skip


def _plain_bet(record: BetRecord[BetRegistered], story: RoundStory) -> dict[str, Any]:
    bet, is_open = record.bet, record.state is BetState.OPEN
    return {
        "position": story.positions[bet.id], "bet": bet.id, "seat": bet.seat, "means": bet.means,
        "layout": bet.layout, "laid_on": story.laid_on.get(bet.id, bet.area), "area": bet.area,
        "stake": bet.stake, "returned": None if is_open else record.returned,
        "won": None if is_open else record.won, "kept_out": None if is_open else record.kept_out,
        "clause": record.clause, "back": record.state.left_early,
    }  # fmt: skip


def _asked(command: Any) -> str:
    """What someone asked for, in words."""
    what = command.act if isinstance(command, Perform) else type(command).__struct_config__.tag
    return str(what).replace("-", " ")

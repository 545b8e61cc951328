"""`taisai tour`: one example of each part."""

from __future__ import annotations

import secrets
import sys
from argparse import Namespace
from pathlib import Path
from tempfile import TemporaryDirectory

from taisai.cli.printing import dice, line, wrapped
from taisai.cli.rules import books, payoffs
from taisai.cli.table import play as table_play
from taisai.game.playbook import Play, Playbook, playbook
from taisai.rules import Bet, BetRefusal, Outcome, RulesError, rulebook

_BOOK = "rws-sic-bo-etg-v8"
_BETS = (
    ("small", 1000), ("double-2", 200), ("total-10", 200), ("pair-23", 300), ("four-2345", 400),
    ("triple-6", 100),
)  # fmt: skip


def run(_arguments: Namespace) -> int:
    """Prints the rulebooks, a pay table, a settlement, a roll, a table in play and its journal."""
    line("1 · The rulebooks: approved documents as data\n")
    books.list_books(Namespace(json=False))
    book = rulebook(_BOOK)
    matrix = book.matrix("A")
    line("2 · A pay table, with the exact house edge of every line\n")
    books.show_pay(book, matrix)
    line("3 · One round, settled bet by bet, each by its clause\n")
    settled = matrix.settle(Outcome.of(2, 2, 6), [Bet.on(area, stake) for area, stake in _BETS])
    if isinstance(settled, BetRefusal):
        raise RulesError(str(settled))
    payoffs.print_settlement(matrix, settled)
    line("4 · One roll of three dice, and the areas that it lights\n")
    outcome = Outcome.of(*(1 + secrets.randbelow(6) for _ in range(3)))
    line(dice(outcome))
    lit = matrix.illuminated(outcome)
    wrapped(f"{outcome}, total {outcome.total}: {len(lit)} areas lit: {', '.join(lit)}")
    line()
    line("5 · A table in play: who may act when, and what follows when something goes wrong\n")
    file = str(Path(__file__).with_name("tour.round"))
    story = playbook(table_play.text_of(file), file)
    played = table_play.retell(Play(story, table_play.book_of(story)))
    line()
    line("6 · The journal of that evening: recorded, proved, and then one digit changed\n")
    _journal(story)
    line()
    command = sys.argv[0] if sys.argv[0].endswith("taisai") else "taisai"
    line(f"Next: `{command} --help`, `{command} rules show us-sic-bo` or `{command} odds us-sic-bo`.")
    return played


def _journal(story: Playbook) -> None:
    """Records the evening, proves it, and forges it like somebody with write access to the file."""
    import apsw

    from taisai.audit import verified
    from taisai.cli.audit import verify as audit_verify
    from taisai.cli.table.recording import recording
    from taisai.journal.errors import DamagedError

    with TemporaryDirectory() as folder:
        file = str(Path(folder, "evening.db"))
        with recording(
            story, table_play.book_of(story), file, key_file=f"{file}.key", passphrase_file=None
        ) as record:
            for _ in record.play().steps():
                pass
            record.seal()
        audit_verify.verify(
            Namespace(file=file, key=f"{file}.key.pub", checkpoint=[], witness_key=[], json=False)
        )
        stake, forged = b'"stake":200', b'"stake":900'
        connection = apsw.Connection(file)
        sql = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'entry_is_not_changed'").get
        connection.execute("DROP TRIGGER entry_is_not_changed")
        for position, body in connection.execute("SELECT position, body FROM entry").fetchall():
            if isinstance(body, bytes) and stake in body:
                changed = (body.replace(stake, forged), position)
                connection.execute("UPDATE entry SET body = ?1 WHERE position = ?2", changed)
        connection.execute(str(sql))
        connection.close()
        line("\nNow somebody changes a stake from 200 to 900 in the file with SQL. The audit says:\n")
        try:
            verified(file)
        except DamagedError as flaw:
            wrapped(f"✗ {flaw}")

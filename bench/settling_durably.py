"""A round with a million bets settled and paid in a journal on disk, until every balance can be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.harness import Bench, Line, Target, in_turns
from bench.journals import BareFile, answer, database, directory, opened
from bench.mix import mixed, returned_per_unit, rolls
from bench.terminals import TABLE, close, perform
from bench.whole_round import Turn, lay
from taisai.game.table import MOST_BETS, MOST_SEATS
from taisai.journal.stores.sqlite import SqliteStore
from taisai.rules.vocabulary import Act

FEW: Final = 1_000
"""Bets of a small round: a large one shall hardly write more."""
_TABLES: Final = """
CREATE TABLE balance (seat INTEGER PRIMARY KEY, credits INTEGER NOT NULL);
CREATE TABLE bet (id INTEGER PRIMARY KEY, seat INTEGER NOT NULL, area INTEGER NOT NULL,
stake INTEGER NOT NULL, returned INTEGER);
CREATE TABLE pays (area INTEGER PRIMARY KEY, per_unit INTEGER NOT NULL);
"""


def run(*, quick: bool) -> Iterator[Line]:
    """Against a database with a row for each bet: updated one by one, or all by one statement."""
    with directory() as folder:
        small = _Round(Path(folder) / "small", bets=FEW)
        small.turn.begin(0)
        small.settle()
        few = small.written()
        small.close()

        ours = _Round(Path(folder) / "ours", bets=MOST_BETS, turns=3 if quick else 5)
        rows = _Rows(Path(folder) / "rows", ours)

        def ready(number: int) -> None:
            ours.turn.begin(number)
            rows.begin()

        ready(0)
        balances = ours.settle()
        many = ours.written()
        for update in (rows.one_by_one, rows.all_by_one_statement):
            rows.begin()
            assert update() == balances

        bare = BareFile(Path(folder) / "bare")
        ways = {
            "ours": ours.settle,
            "rows": rows.one_by_one,
            "statement": rows.all_by_one_statement,
            "bare limit": lambda: bare.write_each([bytes(many // 2)] * 2),
        }
        times = in_turns(ways, turns=ours.turn.turns, before=ready)
        for one in (ours, rows, bare):
            one.close()
    name = f"{MOST_BETS:,} bets settled durably, until {MOST_SEATS:,} balances can be read"
    bench, most = Bench(name, times), Target(1.05, at_most=True)
    yield bench.line("SQLite, a row updated for each bet / ours", of="rows", over="ours", target=Target(20))
    yield bench.line("SQLite, all rows by one statement / ours", of="statement", over="ours")
    yield bench.line("bare limit: ours / as many bytes by fdatasync, twice", of="ours", over="bare limit")
    what, ratio = f"bytes of the settlement, of {MOST_BETS:,} / of {FEW:,} bets", many / few
    yield Line(name, what, ratio, ratio, ratio, most)


class _Round:
    """A round at a table that a journal keeps, at the moment before its result.

    The bets lie at the table and are not in the file, which would take a minute to fill: what a settlement
    takes does not depend on it.
    """

    def __init__(self, path: Path, *, bets: int, turns: int = 1) -> None:
        self._engine = opened(SqliteStore(path), seats=MOST_SEATS)
        self.table = self._engine.table(TABLE)
        terms = self.table.seats["0"].terms
        assert terms is not None
        self.mix = mixed(terms.matrix, bets=bets, players=MOST_SEATS)
        lay(self.table, self.mix)
        close(self.table)
        self.turn = Turn(self.table, rolls(turns))
        self._begun = self._engine.journal.size

    def settle(self) -> list[int]:
        """The balances, once settlement and payment are durable."""
        answer(self._engine, [perform(Act.SETTLE)])
        answer(self._engine, [perform(Act.COLLECT_AND_PAY)])
        return self.table.credits.tolist()

    def written(self) -> int:
        """The bytes of everything appended since the bets were closed."""
        return sum(len(row.body) for row in self._engine.journal.store.rows(after=self._begun))

    def close(self) -> None:
        """Lets go of the journal."""
        self._engine.journal.close()


class _Rows:
    """The same bets in a database with a row for each and one for each balance, as safe as ours."""

    def __init__(self, path: Path, round_: _Round) -> None:
        self._turn, matrix = round_.turn, round_.mix.matrix
        self._one, self._per_unit = matrix.denominator, returned_per_unit(matrix)
        self._bets = round_.mix.plain()
        self._balances = list(enumerate(round_.table.credits.tolist()))
        self._connection = database(path)
        with self._connection as connection:
            connection.execute(_TABLES)
            connection.executemany("INSERT INTO bet (seat, area, stake) VALUES (?1, ?2, ?3)", self._bets)

    def begin(self) -> None:
        """The balances as they were before the result, and what the outcome of the turn pays."""
        column = self._per_unit[self._turn.outcome.index]
        with self._connection as connection:
            connection.executemany("INSERT OR REPLACE INTO balance VALUES (?1, ?2)", self._balances)
            connection.executemany("INSERT OR REPLACE INTO pays VALUES (?1, ?2)", enumerate(column))

    def one_by_one(self) -> list[int]:
        """Each bet's row, then each balance, in one transaction."""
        column, one = self._per_unit[self._turn.outcome.index], self._one
        returned = [stake * column[row] // one for _, row, stake in self._bets]
        totals = Counter[int]()
        for (seat, _, _), amount in zip(self._bets, returned, strict=True):
            totals[seat] += amount
        with self._connection as connection:
            connection.executemany("UPDATE bet SET returned = ?2 WHERE id = ?1", enumerate(returned, 1))
            connection.executemany(
                "UPDATE balance SET credits = credits + ?2 WHERE seat = ?1", totals.items()
            )
        return self._read()

    def all_by_one_statement(self) -> list[int]:
        """All rows by one statement that looks up what an area pays, and all balances by another."""
        with self._connection as connection:
            connection.execute(
                "UPDATE bet SET returned = stake * pays.per_unit / ?1 FROM pays WHERE pays.area = bet.area",
                (self._one,),
            )
            connection.execute(
                "UPDATE balance SET credits = credits + total.returned FROM"
                " (SELECT seat, sum(returned) AS returned FROM bet GROUP BY seat) AS total"
                " WHERE total.seat = balance.seat"
            )
        return self._read()

    def _read(self) -> list[int]:
        return [
            credits_ for (credits_,) in self._connection.execute("SELECT credits FROM balance ORDER BY seat")
        ]

    def close(self) -> None:
        """Lets go of the database."""
        self._connection.close()

"""Snapshots of a table and of its rounds, from which it continues without a replay of its journal.

A table's snapshot has the number of finished rounds, not the rounds: those are separate snapshots, loaded
on request. Terms are compiled again from what they depend on. So the time of a start does not grow with
the time that the table was played.

>>> from taisai.game import Table
>>> from taisai.game.snapshot import read_table, write_table
>>> from taisai.rules import rulebook
>>> book = rulebook("mbs-sic-bo-v6")
>>> data = write_table(Table(book))
>>> write_table(read_table(book, data)) == data
True
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from taisai.game.money.ledger import Account
from taisai.game.rounds.round import Load, PastRounds, Round
from taisai.game.snapshot_codec import SnapshotCodec, SnapshotError, check_equal, fill
from taisai.game.table import Purse, Table
from taisai.game.terms.terms import digest_of
from taisai.game.vocabulary import Means
from taisai.rules.book import Rulebook


@cache
def _tables() -> SnapshotCodec[Table]:
    return SnapshotCodec(Table, rulebook=str, rulebook_digest=str, rounds=int, purses=list[tuple[str, Means]])


@cache
def _rounds() -> SnapshotCodec[Round]:
    return SnapshotCodec(Round)


def write_round(round_: Round) -> bytes:
    """The snapshot of a round."""
    return _rounds().write(round_)


def read_round(data: bytes) -> Round:
    """The round of a snapshot."""
    return _rounds().read(data)


def check_round(data: bytes) -> None:
    """Raises SnapshotError where the bytes are no snapshot of a round."""
    _rounds().parse(data)


def loading(read: Callable[[int], bytes]) -> Load:
    """A function that loads a finished round, from one that reads its bytes."""
    return lambda number: read_round(read(number))


def write_table(table: Table) -> bytes:
    """The snapshot of a table, without its finished rounds."""
    return _tables().write(
        table,
        rulebook=table.book.id,
        rulebook_digest=table.book.digest,
        rounds=len(table.rounds),
        purses=[(purse.seat.name, purse.means) for purse in table.purses],
    )


def check_table(data: bytes) -> None:
    """Raises SnapshotError where the bytes are no snapshot of a table."""
    _tables().parse(data)


def read_table(book: Rulebook, data: bytes, load: Load | None = None) -> Table:
    """The table of a snapshot; `load` is for its finished rounds."""
    snapshot = _tables().parse(data)
    check_equal("rulebook", f"{book.id} {book.digest}", f"{snapshot.rulebook} {snapshot.rulebook_digest}")
    try:
        table = Table(book, PastRounds(snapshot.rounds, load))
        fill(table, snapshot.state)
        _restore_terms(table)
        _restore_purses(table, snapshot.purses)
    except (KeyError, ValueError, OverflowError) as error:
        raise SnapshotError(f"not a snapshot of one table of {book.id}: {error!r}") from error
    return table


def _restore_terms(table: Table) -> None:
    """Compiles the terms in force; earlier terms are compiled when a round under them is needed."""
    for digest, basis in table.in_force.bases.items():
        check_equal("digest of what was in force", digest_of(table.book, *basis), digest)
    if not table.digest:
        return  # a table that was not opened yet
    in_force = digest_of(table.book, table.settings, table.offers, table.limits)
    check_equal("digest of what is in force", in_force, table.digest)
    table.terms = table.in_force[table.digest]
    for seat in table.seats.values():
        seat.terms = table.terms.get(seat.layout)


def _restore_purses(table: Table, purses: list[tuple[str, Any]]) -> None:
    for index, (name, means) in enumerate(purses):
        seat = table.seats[name]
        purse = seat.purses[means] = Purse(seat, means, table.columns, index)
        table.purses.append(purse)
    for seat in table.seats.values():
        seat.purse = None if seat.terminal is None else seat.purses[Means.CREDITS]
    table.ledger.check()
    accounts = Account.CREDITS, Account.AT_RISK, Account.PAYABLE, None
    for account, column in zip(accounts, table.columns, strict=True):
        check_equal("number of purses", len(purses), len(column))
        if account is not None:
            check_equal(f"{account} of all purses together", table.ledger.balances[account], sum(column))

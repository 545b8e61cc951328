"""The books: every account of House and tables, and whether they agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from taisai.cage import House, finishing, unfinished
from taisai.cage.transfers import Missing
from taisai.game import Account, Ledger, Table
from taisai.protocol.views import Books, BooksView
from taisai.server.projections.in_transit import Transit


def books_view(house: House, tables: Mapping[str, Table]) -> BooksView:
    """Every account, what is in transit, and what does not agree."""
    books = [_books("", house.ledger), *(_books(name, table.ledger) for name, table in tables.items())]
    off = tuple(_off(house, tables))
    total = sum(one.held - one.owed for one in books)
    return BooksView(
        currency=house.currency,
        books=tuple(books),
        in_transit=Transit.of(house, tables).flights(),
        sum=total,
        balanced=not off and total == 0,
        off=off,
    )


def _books(of: str, ledger: Ledger) -> Books:
    balances = ledger.balances
    return Books(
        of=of,
        accounts={str(account): balance for account, balance in balances.items() if balance},
        held=sum(balance for account, balance in balances.items() if account.held),
        owed=sum(balance for account, balance in balances.items() if not account.held),
    )


def _off(house: House, tables: Mapping[str, Table]) -> Iterator[str]:
    """Ledgers that do not sum to zero, accounts that are not what their parts are, contradicted transfers."""
    if house.ledger.difference:
        yield f"expected the House's accounts to sum to zero, got {house.ledger.difference}"
    tickets = house.ledger.balances[Account.TICKETS]
    if tickets != house.outstanding:
        yield f"expected {house.outstanding} owed to the holders of tickets, got {tickets}"
    yield from _in_transit("the House", house.ledger, [one.signed for one in house.transfers.values()])
    for name, table in tables.items():
        yield from _off_at(name, table)
    for one in unfinished(house, {name: table.in_transit() for name, table in tables.items()}):
        if one.missing is Missing.AGREEMENT:
            yield finishing(one)


def _off_at(name: str, table: Table) -> Iterator[str]:
    ledger = table.ledger
    if ledger.difference:
        yield f"expected the accounts of {name} to sum to zero, got {ledger.difference}"
    owed = [claim.amount for claim in table.claims.values() if claim.of_player]
    due = [claim.amount for claim in table.claims.values() if not claim.of_player]
    for account, parts in (
        (Account.CREDITS, sum(table.credits)),
        (Account.AT_RISK, sum(table.at_risk)),
        (Account.PAYABLE, sum(table.payable)),
        (Account.CLAIMS_OF_PLAYERS, sum(owed)),
        (Account.CLAIMS_ON_PLAYERS, sum(due)),
    ):
        if ledger.balances[account] != parts:
            yield f"expected {parts} as {account} of {name}, got {ledger.balances[account]}"
    yield from _in_transit(name, ledger, list(table.in_transit().values()))


def _in_transit(name: str, ledger: Ledger, amounts: list[int]) -> Iterator[str]:
    due = sum(amount for amount in amounts if amount > 0)
    owed = -sum(amount for amount in amounts if amount < 0)
    for account, parts in ((Account.TRANSIT_DUE, due), (Account.TRANSIT_OWED, owed)):
        if ledger.balances[account] != parts:
            yield f"expected {parts} as {account} of {name}, got {ledger.balances[account]}"

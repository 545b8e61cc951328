"""The books of House and tables: every account, transfers in transit, and whether all of it agrees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from taisai.cage import House, how_to_finish, unfinished
from taisai.cage.transfers import MissingSide
from taisai.game import Account, Ledger, Table
from taisai.protocol.views import Books, BooksView, Flight


class _Booked(NamedTuple):
    """A side's record of a transfer."""

    kind: str
    amount: int
    subject: str


class TransfersInTransit:
    """Follows the transfers of both sides, of which there are ever more, looking at new ones only."""

    def __init__(self) -> None:
        """Nothing seen yet."""
        self._ours: dict[tuple[str, str], _Booked] = {}
        self._theirs: dict[tuple[str, str], _Booked] = {}
        self._seen: dict[str, int] = {}
        """Table → how many of its transfers have been looked at; '' is the House."""

    @classmethod
    def of(cls, house: House, tables: Mapping[str, Table]) -> TransfersInTransit:
        """As things stand."""
        made = cls()
        made.catch_up(house, tables)
        return made

    def catch_up(self, house: House, tables: Mapping[str, Table]) -> None:
        """What has been booked since the last time."""
        new = len(house.transfers) - self._seen.get("", 0)
        self._seen[""] = len(house.transfers)
        for kept in islice(reversed(house.transfers.values()), new):
            subject = kept.claim or kept.ticket or kept.seat or ""
            self._book(
                self._ours, self._theirs, (kept.table, kept.id), _Booked(kept.kind, kept.signed, subject)
            )
        for name, table in tables.items():
            new = len(table.transfers) - self._seen.get(name, 0)
            self._seen[name] = len(table.transfers)
            for id_, moved in islice(reversed(table.transfers.items()), new):
                booked = _Booked(moved.kind, moved.amount, moved.subject)
                self._book(self._theirs, self._ours, (name, id_), booked)

    @staticmethod
    def _book(
        mine: dict[tuple[str, str], _Booked],
        other: dict[tuple[str, str], _Booked],
        key: tuple[str, str],
        booked: _Booked,
    ) -> None:
        answer = other.get(key)
        if answer is not None and answer.amount + booked.amount == 0:
            del other[key]
        else:
            mine[key] = booked

    def flights(self, table: str | None = None) -> tuple[Flight, ...]:
        """Everything that is under way, or what concerns one table."""
        keys = sorted(self._ours.keys() | self._theirs.keys())
        return tuple(self._flight(key) for key in keys if table in (None, key[0]))

    def _flight(self, key: tuple[str, str]) -> Flight:
        ours, theirs = self._ours.get(key), self._theirs.get(key)
        told = self._theirs[key] if ours is None else ours
        by = "both" if ours and theirs else "table" if theirs else "house"
        table, name = key
        return Flight(
            id=name, table=table, kind=str(told.kind), amount=abs(told.amount), booked_by=by,
            subject=told.subject,
        )  # fmt: skip


def books_view(house: House, tables: Mapping[str, Table]) -> BooksView:
    """Every account, what is in transit, and what does not agree."""
    books = [_books("", house.ledger), *(_books(name, table.ledger) for name, table in tables.items())]
    off = tuple(_off(house, tables))
    total = sum(one.held - one.owed for one in books)
    return BooksView(
        currency=house.currency,
        books=tuple(books),
        in_transit=TransfersInTransit.of(house, tables).flights(),
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
        if one.missing is MissingSide.AGREEMENT:
            yield how_to_finish(one)


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

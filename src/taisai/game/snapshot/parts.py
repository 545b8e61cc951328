"""What a table is made of beside its rounds, as plain data: ledger, equipment, shoe, seats and purses."""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec import Struct

from taisai.game.equipment.items import Equipment, PlacedItem
from taisai.game.equipment.shoe import Shoe
from taisai.game.money.ledger import Account, Ledger, LedgerEntry
from taisai.game.seating.seats import Purse, Seat
from taisai.game.snapshot.codec import check
from taisai.game.table import Table
from taisai.game.vocabulary import Means
from taisai.rules.clauses import Clause
from taisai.rules.equipment import InspectedBefore


class EntryMade(NamedTuple):
    """An entry of the latest event."""

    account: Account
    amount: int
    clause: Clause


class LedgerSnapshot(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Balances, and the entries of the latest event."""

    balances: dict[Account, int]
    latest: tuple[EntryMade, ...]


class EquipmentSnapshot(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What lies on the table."""

    placed: tuple[tuple[str, PlacedItem], ...]
    retired: tuple[tuple[str, str], ...]
    inspected: tuple[tuple[str, InspectedBefore], ...]


class ShoeSnapshot(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The cards of a table."""

    decks: int
    left: int
    fresh: bool
    shuffles: int
    rounds: int
    burnt: int
    seen: tuple[int, ...]
    shuffled: bool
    spoilt: bool


class SeatSnapshot(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A place at the table. Its terms follow from its layout, its purse of credits from its terminal."""

    name: str
    player: str
    terminal: str | None
    layout: str
    taken: bool
    session: int
    since: int
    dispensed: tuple[str, ...]
    colour: str | None
    colour_value: int


class PurseSnapshot(NamedTuple):
    """A purse; its place among the others is its index."""

    seat: str
    means: Means
    credits: int
    at_risk: int
    payable: int
    net: int


_SHOE: Final = tuple(name for name in ShoeSnapshot.__struct_fields__ if name != "seen")
_SEAT: Final = SeatSnapshot.__struct_fields__


def ledger_snapshot_of(ledger: Ledger) -> LedgerSnapshot:
    """Balances, and the entries of the latest event."""
    latest = tuple(EntryMade(one.account, one.amount, one.clause) for one in ledger.latest)
    return LedgerSnapshot(balances=dict(ledger.balances), latest=latest)


def restored_ledger(snapshot: LedgerSnapshot) -> Ledger:
    """The ledger of a snapshot, which must balance."""
    ledger = Ledger()
    ledger.balances.update(snapshot.balances)
    ledger.latest = [LedgerEntry(*one) for one in snapshot.latest]
    check("difference between held and owed", 0, ledger.difference)
    return ledger


def equipment_snapshot_of(equipment: Equipment) -> EquipmentSnapshot:
    """What lies on the table."""
    return EquipmentSnapshot(
        placed=tuple(equipment.placed.items()),
        retired=tuple(sorted(equipment.retired)),
        inspected=tuple(sorted(equipment.inspected)),
    )


def restore_equipment(equipment: Equipment, snapshot: EquipmentSnapshot) -> None:
    """Puts on the table what lay there."""
    equipment.placed = dict(snapshot.placed)
    equipment.retired, equipment.inspected = set(snapshot.retired), set(snapshot.inspected)


def shoe_snapshot_of(shoe: Shoe) -> ShoeSnapshot:
    """The cards."""
    return ShoeSnapshot(seen=tuple(shoe.seen), **{name: getattr(shoe, name) for name in _SHOE})


def restore_shoe(shoe: Shoe, snapshot: ShoeSnapshot) -> None:
    """Puts the cards back as they were."""
    for name in _SHOE:
        setattr(shoe, name, getattr(snapshot, name))
    shoe.seen = list(snapshot.seen)


def seat_snapshots_of(table: Table) -> tuple[SeatSnapshot, ...]:
    """Every seat that anyone ever took, in that order."""
    return tuple(
        SeatSnapshot(**{name: getattr(seat, name) for name in _SEAT}) for seat in table.seats.values()
    )


def purse_snapshots_of(table: Table) -> tuple[PurseSnapshot, ...]:
    """Every purse, in the order of their indices."""
    return tuple(
        PurseSnapshot(purse.seat.name, purse.means, purse.credits, purse.at_risk, purse.payable, purse.net)
        for purse in table.purses
    )


def restore_seats(table: Table, seats: tuple[SeatSnapshot, ...], purses: tuple[PurseSnapshot, ...]) -> None:
    """Seats and purses as they were, under the terms in force."""
    for one in seats:
        seat = table.seats[one.name] = Seat(one.name)
        for name in _SEAT:
            setattr(seat, name, getattr(one, name))
        seat.terms = table.terms.get(seat.layout)
    for kept in purses:
        seat = table.seats[kept.seat]
        purse = seat.purses[kept.means] = Purse(seat, kept.means, table.columns)
        table.purses.append(purse)
        amounts = kept.credits, kept.at_risk, kept.payable, kept.net
        for column, amount in zip(table.columns, amounts, strict=True):
            column[purse.index] = amount
    for seat in table.seats.values():
        seat.purse = None if seat.terminal is None else seat.purses[Means.CREDITS]
    accounts = Account.CREDITS, Account.AT_RISK, Account.PAYABLE
    for account, column in zip(accounts, table.columns, strict=False):
        check(f"{account} of all purses together", table.ledger.balances[account], sum(column))

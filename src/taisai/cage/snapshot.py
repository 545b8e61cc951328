"""The House as plain data, and back."""

from __future__ import annotations

from typing import Final

from taisai.cage.house import CapitalMovement, House, HouseTransfer, Ticket
from taisai.cage.presence import EnrolledDevice
from taisai.game.snapshot.codec import Snapshot
from taisai.game.snapshot.parts import LedgerSnapshot, ledger_snapshot_of, restored_ledger
from taisai.game.vocabulary import folded


class HouseSnapshot(Snapshot, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The House. Who has which folded name follows from the roll, which claim was met from the transfers.

    A field that comes later has no default: an audit compares bytes, so what an older program wrote
    down is not read, and the entries make the House again.
    """

    name: str
    currency: str
    ladder: tuple[str, ...]
    second_rank: str
    opened_by: str
    people: tuple[tuple[str, str], ...]
    """(person, rank)."""
    staffed: bool
    movements: tuple[CapitalMovement, ...]
    tickets: tuple[Ticket, ...]
    transfers: tuple[HouseTransfer, ...]
    ledger: LedgerSnapshot
    devices: tuple[EnrolledDevice, ...]
    failures: tuple[tuple[str, int], ...]
    locked: tuple[str, ...]
    sessions: tuple[tuple[str, str], ...]
    """(session, person)."""
    credentials: tuple[str, ...]
    settings: dict[str, str]
    wins: tuple[tuple[str, int, str, int], ...]
    """(table, round, seat, amount), the oldest first."""


_AS_IT_IS: Final = ("name", "currency", "ladder", "second_rank", "opened_by", "staffed")


def house_snapshot_of(house: House) -> HouseSnapshot:
    """The House as plain data, which shares nothing with it that changes."""
    return HouseSnapshot(
        **{name: getattr(house, name) for name in _AS_IT_IS},
        people=tuple(house.people.items()),
        movements=tuple(house.movements.values()),
        tickets=tuple(house.tickets.values()),
        transfers=tuple(house.transfers.values()),
        ledger=ledger_snapshot_of(house.ledger),
        devices=tuple(house.devices.values()),
        failures=tuple(house.failures.items()),
        locked=tuple(sorted(house.locked)),
        sessions=tuple(house.sessions.items()),
        credentials=tuple(sorted(house.credentials)),
        settings=dict(house.settings),
        wins=tuple((*win, amount) for win, amount in house.wins.items()),
    )


def restored_house(snapshot: HouseSnapshot) -> House:
    """The House of a snapshot, which shares nothing with it that changes."""
    house = House()
    for name in _AS_IT_IS:
        setattr(house, name, getattr(snapshot, name))
    house.people = dict(snapshot.people)
    house.names = {folded(person): person for person in house.people}
    house.movements = {one.id: one for one in snapshot.movements}
    house.tickets = {one.id: one for one in snapshot.tickets}
    house.transfers = {one.id: one for one in snapshot.transfers}
    house.claims = {(one.table, one.claim): one.id for one in snapshot.transfers if one.claim is not None}
    house.ledger = restored_ledger(snapshot.ledger)
    house.devices = {one.name: one for one in snapshot.devices}
    house.device_names = {folded(name): name for name in house.devices}
    house.terminals = {one.place: one.name for one in snapshot.devices if one.place}
    house.failures = dict(snapshot.failures)
    house.locked = set(snapshot.locked)
    house.sessions = dict(snapshot.sessions)
    house.credentials = set(snapshot.credentials)
    house.settings = dict(sorted(snapshot.settings.items()))
    house.wins = {(table, number, seat): amount for table, number, seat, amount in snapshot.wins}
    return house

"""Transfers that only one side has booked, or that the two sides booked differently, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from taisai.cage.house import House, HouseTransfer, HouseTransferKind


class MissingSide(StrEnum):
    """Whose side of a transfer is missing."""

    TABLE = "table"
    HOUSE = "house"
    AGREEMENT = "agreement"
    """Neither: both booked it, and not as opposites."""


class UnfinishedTransfer(NamedTuple):
    """A transfer that the House and a table have booked differently, or only one of them."""

    id: str
    table: str
    missing: MissingSide
    booked_by_house: int | None
    """Positive where booked as due, negative where as owed; None where it is not booked."""
    booked_by_table: int | None
    transfer: HouseTransfer | None
    """The House's record of that id, which may be of another table."""


def unfinished(house: House, tables: Mapping[str, Mapping[str, int]]) -> list[UnfinishedTransfer]:
    """Every transfer that is not booked as opposites by both; `tables`: table → transfer → signed amount."""
    ours = {(transfer.table, transfer.id): transfer.signed for transfer in house.transfers.values()}
    theirs = {(table, name): sum_ for table, booked in tables.items() for name, sum_ in booked.items()}
    transfers = []
    for table, name in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get((table, name)), theirs.get((table, name))
        if mine is None:
            missing = MissingSide.HOUSE
        elif other is None:
            missing = MissingSide.TABLE
        elif mine + other:
            missing = MissingSide.AGREEMENT
        else:
            continue
        transfers.append(UnfinishedTransfer(name, table, missing, mine, other, house.transfers.get(name)))
    return transfers


_AT_TABLE: Final[Mapping[HouseTransferKind, str]] = {
    HouseTransferKind.TICKET_ISSUED: (
        "a terminal of table {table!r} must record that it dispensed {amount} in credits"
    ),
    HouseTransferKind.TICKET_ACCEPTED: (
        "{amount} in credits, the value of ticket {ticket!r}, must arrive at seat {seat!r} "
        "of table {table!r} in its session {session}"
    ),
    HouseTransferKind.FILL: "table {table!r} must record the arrival of a fill of {amount}",
    HouseTransferKind.CREDIT: "table {table!r} must record that a credit of {amount} left its tray",
    HouseTransferKind.DROP: "table {table!r} must record that its drop box left with {amount}",
    HouseTransferKind.CLAIM_PAID: (
        "table {table!r} must record that the cage paid {amount} on its claim {claim!r}"
    ),
    HouseTransferKind.CLAIM_COLLECTED: (
        "table {table!r} must record that the cage collected {amount} on its claim {claim!r}"
    ),
}
"""What the table has to do, once the House has done its part."""


def how_to_finish(transfer: UnfinishedTransfer) -> str:
    """What has to be done to finish a transfer, in one sentence."""
    at_house = transfer.transfer
    if transfer.missing is MissingSide.TABLE and at_house is not None:
        return f"Transfer {transfer.id!r}: {_AT_TABLE[at_house.kind].format_map(at_house._asdict())}."
    booked = _booked(transfer.booked_by_table, "the House")
    if transfer.missing is MissingSide.AGREEMENT:
        ours = _booked(transfer.booked_by_house, "the table")
        return (
            f"Transfer {transfer.id!r}: the House booked {ours} and table {transfer.table!r} {booked}, "
            "so a supervisor must find which of the two is wrong and record the difference."
        )
    if at_house is not None:
        return (
            f"Transfer {transfer.id!r}: table {transfer.table!r} booked {booked}, but the House knows the id "
            f"from table {at_house.table!r}, so a supervisor must find which table it belongs to."
        )
    owed = transfer.booked_by_table is not None and transfer.booked_by_table < 0
    act = "record the ticket, credit, drop or collected claim"
    if owed:
        act = "issue the ticket, or record the fill or the paid claim"
    return f"Transfer {transfer.id!r}: table {transfer.table!r} booked {booked}, and the cage must {act}."


def _booked(signed: int | None, other: str) -> str:
    if not signed:
        return "nothing"
    return f"{signed} as due from {other}" if signed > 0 else f"{-signed} as owed to {other}"

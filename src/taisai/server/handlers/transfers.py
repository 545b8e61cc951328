"""Transfers: what the House and a table book, one after the other, under one id.

The second side can be booked again and counts once. So a retry, or the next start (`reconciliation.finish`),
completes a transfer that a stop has interrupted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from taisai.cage import HouseTransfer, HouseTransferKind
from taisai.cage.messages import IssueTicket
from taisai.game.commands import Command, ReceiveFill, ReceiveTicket, SettleClaim
from taisai.game.refusals import Reason, Refusal
from taisai.game.vocabulary import CAGE, TABLE, ClaimEnd
from taisai.journal import Answer, Engine, stream_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.rules.clauses import Clause
from taisai.server.handlers.ticket_numbers import ticket_number

if TYPE_CHECKING:
    from taisai.game.table import Table

_SIGNED: Final = frozenset(
    {HouseTransferKind.FILL, HouseTransferKind.CLAIM_PAID, HouseTransferKind.CLAIM_COLLECTED}
)
"""What a second person signed for at the House, who has to be at the table too."""


def table_at(engine: Engine, name: str) -> Table | Refusal:
    """A table, or why there is none."""
    if not engine.journal.version(stream_of(name)):
        problem = f"the journal has no table {name!r}: open it first"
        return Refusal(Reason.TABLE_NOT_OPEN, Clause("house:table"), problem)
    return engine.table(name)


def issuing(transfer: str, table: str, amount: int, *, at: int, key: bytes) -> IssueTicket:
    """The House's side of credits that a terminal dispensed: a ticket."""
    number = ticket_number(key, "issued", transfer)
    return IssueTicket(at=at, by=TABLE, transfer=transfer, table=table, ticket=number, amount=amount)


def arriving(moved: HouseTransfer, *, at: int, second: str | None = None) -> Command | None:
    """The table's side of what the House has booked; none where the table has to be first."""
    match moved.kind:
        case HouseTransferKind.TICKET_ACCEPTED if moved.seat is not None and moved.session is not None:
            return ReceiveTicket(
                at=at, by=CAGE, transfer=moved.id, seat=moved.seat, amount=moved.amount,
                session=moved.session,
            )  # fmt: skip
        case HouseTransferKind.FILL:
            return ReceiveFill(at=at, by=CAGE, transfer=moved.id, amount=moved.amount, second=second)
        case HouseTransferKind.CLAIM_PAID | HouseTransferKind.CLAIM_COLLECTED if moved.claim is not None:
            return SettleClaim(
                at=at, by=CAGE, claim=moved.claim, how=ClaimEnd.CAGE, transfer=moved.id, second=second
            )
        case _:
            return None


def second_of(engine: Engine, moved: HouseTransfer) -> str | None:
    """Who signed for a transfer at the House as the second person, as the journal tells."""
    if moved.kind not in _SIGNED:
        return None
    for _version, event in engine.journal.events(HOUSE_STREAM):
        if getattr(event, "transfer", None) == moved.id:
            second: str | None = getattr(event, "second", None)
            return second
    return None


def arrival(
    engine: Engine, transfer: HouseTransfer | None, *, at: int, second: str | None = None
) -> Command | Answer:
    """The table's side of a transfer that the House has booked; no command if the table has booked it."""
    if transfer is None:
        return ()
    table = table_at(engine, transfer.table)
    if not isinstance(table, Refusal) and transfer.id in table.transfers:
        return ()
    command = arriving(transfer, at=at, second=second or second_of(engine, transfer))
    return () if command is None else command


def kept(engine: Engine, transfer: str) -> HouseTransfer | None:
    """What the House has booked under a transfer."""
    return engine.house().transfers.get(transfer)

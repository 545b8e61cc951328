"""Tickets and transfers that are over leave the state of the House, so that its limits hold for what is open.

Everything about them stays in the journal's entries. The server archives a transfer, and a ticket with its
transfers, together with the table's side, in one write: what only one side knew would be taken for
unfinished.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from taisai.cage.house import House, Ticket
from taisai.cage.messages import ArchiveTickets, HouseCommand
from taisai.cage.values import clock, lookup
from taisai.game.money.archive import MOST_ARCHIVED, are_names
from taisai.game.refusals import Reason, Refusal
from taisai.rules.clauses import Clause
from taisai.validation import quoted

KEPT_FOR: Final = 7 * 24 * 3_600_000
"""Milliseconds for which a redeemed ticket stays: when it comes again, a cashier sees how it was redeemed.
Other transfers stay as long."""
_TICKETS: Final = Clause("house:tickets")


def is_over(ticket: Ticket, now: int) -> bool:
    """Whether a ticket was redeemed long enough ago."""
    return ticket.redeemed is not None and now - ticket.redeemed.at >= KEPT_FOR


def is_old(house: House, transfer: str, now: int) -> bool:
    """Whether a transfer that is of no ticket was booked long enough ago."""
    booked_at = lookup(house.booked_at, transfer)
    return booked_at is not None and now - booked_at >= KEPT_FOR


def archive_refusals(house: House, command: HouseCommand) -> Iterator[Refusal]:
    """Why something may not leave the state: it is unknown, open, or happened lately."""
    if not isinstance(command, ArchiveTickets):
        return
    for what, names in (("tickets", command.tickets), ("transfers", command.transfers)):
        if names != () and not are_names(names):
            message = f"expected at most {MOST_ARCHIVED} {what}, each once, got {quoted(names)}"
            yield Refusal(Reason.BAD_VALUE, _TICKETS, message)
            return
    if not command.tickets and not command.transfers:
        yield Refusal(
            Reason.BAD_VALUE, _TICKETS, "expected at least one ticket or transfer that is over, got 0"
        )
        return
    yield from _not_over(house, command)


def _not_over(house: House, command: ArchiveTickets) -> Iterator[Refusal]:
    if type(command.at) is not int:
        return  # and its value is refused
    before = clock(max(0, command.at - KEPT_FOR))
    for name in command.tickets:
        ticket = lookup(house.tickets, name)
        if ticket is None or not is_over(ticket, command.at):
            message = f"expected a ticket that was redeemed before {before}, got {name!r}"
            yield Refusal(Reason.BAD_VALUE, _TICKETS, message)
            return
    for name in command.transfers:
        if not is_old(house, name, command.at):
            message = f"expected a transfer that is of no ticket and was booked before {before}, got {name!r}"
            yield Refusal(Reason.BAD_VALUE, _TICKETS, message)
            return

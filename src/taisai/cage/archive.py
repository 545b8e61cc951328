"""Tickets that are over leave the state of the House, so that its limits hold for what is open.

Everything about them stays in the journal's entries. The server archives a ticket together with its transfers
at the tables, in one write: a transfer that only one side knew would be taken for unfinished.
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
"""Milliseconds for which a redeemed ticket stays: when it comes again, a cashier sees how it was redeemed."""
_TICKETS: Final = Clause("house:tickets")


def is_over(ticket: Ticket, now: int) -> bool:
    """Whether a ticket was redeemed long enough ago."""
    return ticket.redeemed is not None and now - ticket.redeemed.at >= KEPT_FOR


def archive_refusals(house: House, command: HouseCommand) -> Iterator[Refusal]:
    """Why tickets may not leave the state: they are unknown, open, or were redeemed lately."""
    if not isinstance(command, ArchiveTickets):
        return
    if not are_names(command.tickets):
        message = f"expected 1 to {MOST_ARCHIVED} tickets, each once, got {quoted(command.tickets)}"
        yield Refusal(Reason.BAD_VALUE, _TICKETS, message)
        return
    for name in command.tickets if type(command.at) is int else ():
        ticket = lookup(house.tickets, name)
        if ticket is None or not is_over(ticket, command.at):
            since = f"a ticket that was redeemed before {clock(max(0, command.at - KEPT_FOR))}"
            yield Refusal(Reason.BAD_VALUE, _TICKETS, f"expected {since}, got {name!r}")
            return

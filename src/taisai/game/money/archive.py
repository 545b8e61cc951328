"""Transfers that are over leave the state of a table; the journal's entries keep all of them."""

from __future__ import annotations

from typing import Final

from taisai.game.checks import at_table, refused
from taisai.game.messages import Events
from taisai.game.money import messages
from taisai.game.money.cashier import TRANSFERS
from taisai.game.refusals import Reason, Refusal
from taisai.game.table import Deciders, Effects, Table
from taisai.game.vocabulary import CAGE, is_name

MOST_ARCHIVED: Final = 500  # transfers or tickets of one command: an entry stays small


def are_names(names: object) -> bool:
    """Whether a value is a list of names that one command may archive, each once."""
    if not isinstance(names, tuple) or not 0 < len(names) <= MOST_ARCHIVED:
        return False
    return all(map(is_name, names)) and len(set(names)) == len(names)


def archive_transfers(table: Table, command: messages.ArchiveTransfers) -> Events | Refusal:
    """The House, which knows that both sides have booked them, lets the table forget transfers."""
    if command.by != CAGE:
        message = f"only the House ({CAGE}) may archive transfers, not {command.by}"
        return at_table(table, command.by) or refused(Reason.NOT_PERMITTED, TRANSFERS, message)
    names = command.transfers
    if not are_names(names):
        message = f"expected 1 to {MOST_ARCHIVED} transfers, each once, got {names!r}"
        return refused(Reason.BAD_VALUE, TRANSFERS, message)
    for name in names:
        if name not in table.transfers:
            return refused(Reason.BAD_VALUE, TRANSFERS, f"the table has no transfer {name!r}")
    return (messages.TransfersArchived(at=command.at, by=command.by, clause=TRANSFERS, transfers=names),)


def on_archived(table: Table, event: messages.TransfersArchived) -> None:
    amounts = [table.transfers.pop(name).amount for name in event.transfers]
    table.archived = table.archived.plus(amounts)


DECIDERS: Final[Deciders] = {messages.ArchiveTransfers: archive_transfers}

EFFECTS: Final[Effects] = {messages.TransfersArchived: on_archived}

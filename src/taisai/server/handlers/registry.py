"""Which handler answers which ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from taisai.protocol import requests
from taisai.protocol.message import Ask
from taisai.server.dice import entry as dice
from taisai.server.handlers import bet_shortcuts, cage, favourites, queries, table_opening
from taisai.server.handlers import tickets as money
from taisai.server.handlers.context import Handler

HANDLERS: Final[Mapping[type[Ask], Handler]] = {
    requests.AskOpenTable: table_opening.open_table,
    requests.AskTakePosition: queries.take_position,
    requests.AskUndo: bet_shortcuts.undo,
    requests.AskClear: bet_shortcuts.clear,
    requests.AskDouble: bet_shortcuts.double,
    requests.AskRepeat: bet_shortcuts.repeat,
    requests.AskKeepFavourite: favourites.keep_favourite,
    requests.AskFavourites: favourites.favourites,
    requests.AskTicketIn: money.ticket_in,
    requests.AskTicketOut: money.ticket_out,
    requests.AskTickets: money.tickets,
    requests.AskFelt: queries.felt,
    requests.AskRounds: queries.rounds,
    requests.AskPreview: queries.look_before,
    requests.AskSellTicket: cage.sell_ticket,
    requests.AskFill: cage.fill,
    requests.AskTakeCredit: cage.take_credit,
    requests.AskTakeDrop: cage.take_drop,
    requests.AskCountDrop: cage.count_drop,
    requests.AskSettleClaim: cage.settle_claim,
    requests.AskBooks: queries.books,
    requests.AskReport: queries.report,
    requests.AskReading: dice.reading,
    requests.AskVirtual: queries.virtual,
}
"""Asks that take their time; hello, follow, unfollow and do are the floor's own."""

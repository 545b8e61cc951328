"""Which handler answers which ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from taisai.floor.asking import cage, favourites, looking, money, opening, seats
from taisai.floor.asking.context import Handler
from taisai.floor.dice import door as dice
from taisai.protocol import requests
from taisai.protocol.message import Ask

HANDLERS: Final[Mapping[type[Ask], Handler]] = {
    requests.AskOpenTable: opening.open_table,
    requests.AskTakePosition: looking.take_position,
    requests.AskUndo: seats.undo,
    requests.AskClear: seats.clear,
    requests.AskDouble: seats.double,
    requests.AskRepeat: seats.repeat,
    requests.AskKeepFavourite: favourites.keep_favourite,
    requests.AskFavourites: favourites.favourites,
    requests.AskTicketIn: money.ticket_in,
    requests.AskTicketOut: money.ticket_out,
    requests.AskTickets: money.tickets,
    requests.AskFelt: looking.felt,
    requests.AskRounds: looking.rounds,
    requests.AskPreview: looking.look_before,
    requests.AskSellTicket: cage.sell_ticket,
    requests.AskFill: cage.fill,
    requests.AskTakeCredit: cage.take_credit,
    requests.AskTakeDrop: cage.take_drop,
    requests.AskCountDrop: cage.count_drop,
    requests.AskSettleClaim: cage.settle_claim,
    requests.AskBooks: looking.books,
    requests.AskReport: looking.report,
    requests.AskReading: dice.reading,
    requests.AskVirtual: looking.virtual,
}
"""Asks that take their time; hello, follow, unfollow and do are the floor's own."""

"""Which handler answers which ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from taisai.floor.asking import cage, favourites, looking, money, opening, seats
from taisai.floor.asking.context import Handler
from taisai.floor.dice import door as dice
from taisai.wire import asks
from taisai.wire.message import Ask

HANDLERS: Final[Mapping[type[Ask], Handler]] = {
    asks.AskOpenTable: opening.open_table,
    asks.AskTakePosition: looking.take_position,
    asks.AskUndo: seats.undo,
    asks.AskClear: seats.clear,
    asks.AskDouble: seats.double,
    asks.AskRepeat: seats.repeat,
    asks.AskKeepFavourite: favourites.keep_favourite,
    asks.AskFavourites: favourites.favourites,
    asks.AskTicketIn: money.ticket_in,
    asks.AskTicketOut: money.ticket_out,
    asks.AskTickets: money.tickets,
    asks.AskFelt: looking.felt,
    asks.AskRounds: looking.rounds,
    asks.AskPreview: looking.look_before,
    asks.AskSellTicket: cage.sell_ticket,
    asks.AskFill: cage.fill,
    asks.AskTakeCredit: cage.take_credit,
    asks.AskTakeDrop: cage.take_drop,
    asks.AskCountDrop: cage.count_drop,
    asks.AskSettleClaim: cage.settle_claim,
    asks.AskBooks: looking.books,
    asks.AskReport: looking.report,
    asks.AskReading: dice.reading,
    asks.AskVirtual: looking.virtual,
}
"""Asks that take their time; hello, follow, unfollow and do are the floor's own."""

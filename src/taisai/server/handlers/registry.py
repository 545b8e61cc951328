"""Which handler answers which request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from taisai.protocol import requests
from taisai.protocol.message import Request
from taisai.server.dice import entry as dice
from taisai.server.handlers import bet_shortcuts, cage, commands, favourites, queries, table_opening
from taisai.server.handlers import tickets as money
from taisai.server.handlers.context import Handler

HANDLERS: Final[Mapping[type[Request], Handler]] = {
    requests.DoRequest: commands.do,
    requests.OpenTableRequest: table_opening.open_table,
    requests.TakePositionRequest: queries.take_position,
    requests.UndoRequest: bet_shortcuts.undo,
    requests.ClearRequest: bet_shortcuts.clear,
    requests.DoubleRequest: bet_shortcuts.double,
    requests.RepeatRequest: bet_shortcuts.repeat,
    requests.KeepFavouriteRequest: favourites.keep_favourite,
    requests.FavouritesRequest: favourites.favourites,
    requests.TicketInRequest: money.ticket_in,
    requests.TicketOutRequest: money.ticket_out,
    requests.TicketsRequest: money.tickets,
    requests.FeltRequest: queries.felt,
    requests.RoundsRequest: queries.rounds,
    requests.PreviewRequest: queries.look_before,
    requests.SellTicketRequest: cage.sell_ticket,
    requests.FillRequest: cage.fill,
    requests.TakeCreditRequest: cage.take_credit,
    requests.TakeDropRequest: cage.take_drop,
    requests.CountDropRequest: cage.count_drop,
    requests.SettleClaimRequest: cage.settle_claim,
    requests.BooksRequest: queries.books,
    requests.ReportRequest: queries.report,
    requests.ReadingRequest: dice.reading,
    requests.VirtualDealerRequest: queries.virtual,
}
"""Requests that take time; hello, ping, follow, unfollow and a terminal's bets the dispatcher answers."""

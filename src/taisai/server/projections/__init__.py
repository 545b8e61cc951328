"""What is shown: tables, seats and the floor as they stand, made from the game alone."""

from taisai.server.projections.by_seat import BySeat
from taisai.server.projections.console import after_bets, console_view
from taisai.server.projections.felt import felt_view
from taisai.server.projections.history import History
from taisai.server.projections.in_transit import Transit
from taisai.server.projections.incidents import REMEMBERED, Stories
from taisai.server.projections.irregularities import irregularities
from taisai.server.projections.offers import offers
from taisai.server.projections.overview import cage_view, lobby_view, pit_view
from taisai.server.projections.rounds import preview, round_view
from taisai.server.projections.seat import seat_view
from taisai.server.projections.table import clock_closes, countdown_view, table_view

__all__ = [
    "REMEMBERED",
    "BySeat",
    "History",
    "Stories",
    "Transit",
    "after_bets",
    "cage_view",
    "clock_closes",
    "console_view",
    "countdown_view",
    "felt_view",
    "irregularities",
    "lobby_view",
    "offers",
    "pit_view",
    "preview",
    "round_view",
    "seat_view",
    "table_view",
]

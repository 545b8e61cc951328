"""What is shown: tables, seats and the floor as they stand, made from the game alone."""

from taisai.floor.views.by_seat import BySeat
from taisai.floor.views.console import after_bets, console_view
from taisai.floor.views.felt import felt_view
from taisai.floor.views.floor import cage_view, lobby_view, pit_view
from taisai.floor.views.history import History
from taisai.floor.views.irregularities import irregularities
from taisai.floor.views.offers import offers
from taisai.floor.views.rounds import preview, round_view
from taisai.floor.views.seats import seat_view
from taisai.floor.views.stories import REMEMBERED, Stories
from taisai.floor.views.table import clock_closes, countdown_view, table_view
from taisai.floor.views.transit import Transit

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

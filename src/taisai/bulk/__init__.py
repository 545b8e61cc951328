"""Settles many bets and many rounds at once, on arrays. Needs NumPy, and is faster with numba."""

from importlib.util import find_spec

if find_spec("numpy") is None:
    raise ModuleNotFoundError(
        "taisai.bulk needs NumPy: install taisai[bulk], or taisai[fast] with numba", name="numpy"
    )

from taisai.bulk.bets import (
    MOST_BETS,
    MOST_CELLS,
    MOST_PLAYERS,
    PLAIN_UP_TO,
    BetsByArea,
    ByBet,
    house_nets,
    nets_by_bet,
    nets_by_player,
)
from taisai.bulk.entry import BetRefusedError, BulkError, HouseTotal, ReturnMultiples

Multiples = ReturnMultiples  # the public name of the first release

__all__ = [
    "MOST_BETS",
    "MOST_CELLS",
    "MOST_PLAYERS",
    "PLAIN_UP_TO",
    "BetRefusedError",
    "BetsByArea",
    "BulkError",
    "ByBet",
    "HouseTotal",
    "Multiples",
    "ReturnMultiples",
    "house_nets",
    "nets_by_bet",
    "nets_by_player",
]

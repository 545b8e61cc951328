"""The House's own stream: the cage, tickets, counts and the staff roll."""

from taisai.game.cage.deciding import decide_house
from taisai.game.cage.house import (
    Direction,
    House,
    Kind,
    Movement,
    Redemption,
    StreamError,
    Ticket,
    Transfer,
    evolve_house,
)
from taisai.game.cage.transfers import Missing, Unfinished, finishing, unfinished

__all__ = [
    "Direction",
    "House",
    "Kind",
    "Missing",
    "Movement",
    "Redemption",
    "StreamError",
    "Ticket",
    "Transfer",
    "Unfinished",
    "decide_house",
    "evolve_house",
    "finishing",
    "unfinished",
]

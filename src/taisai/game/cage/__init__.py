"""The House's own stream: the cage, tickets, counts, the staff roll, devices, sign-ins and notes."""

from taisai.game.cage.deciding import decide_house
from taisai.game.cage.errors import StreamError
from taisai.game.cage.house import (
    Direction,
    House,
    Kind,
    Movement,
    Redemption,
    Ticket,
    Transfer,
    evolve_house,
)
from taisai.game.cage.ladder import FLOOR_LADDER, FLOOR_SECOND
from taisai.game.cage.messages import DeviceKind, SignOutCause
from taisai.game.cage.presence import MOST_FAILURES, Device
from taisai.game.cage.transfers import Missing, Unfinished, finishing, unfinished

__all__ = [
    "FLOOR_LADDER",
    "FLOOR_SECOND",
    "MOST_FAILURES",
    "Device",
    "DeviceKind",
    "Direction",
    "House",
    "Kind",
    "Missing",
    "Movement",
    "Redemption",
    "SignOutCause",
    "StreamError",
    "Ticket",
    "Transfer",
    "Unfinished",
    "decide_house",
    "evolve_house",
    "finishing",
    "unfinished",
]

"""The House's own stream: the cage, tickets, counts, the staff roll, devices, sign-ins and notes."""

from taisai.cage.decide import decide_house
from taisai.cage.errors import StreamError
from taisai.cage.house import (
    Direction,
    House,
    Kind,
    Movement,
    Redemption,
    Ticket,
    Transfer,
    evolve_house,
)
from taisai.cage.messages import DeviceKind, SignOutCause
from taisai.cage.presence import MOST_FAILURES, EnrolledDevice
from taisai.cage.ranks import FLOOR_LADDER, FLOOR_SECOND
from taisai.cage.transfers import Missing, Unfinished, finishing, unfinished

__all__ = [
    "FLOOR_LADDER",
    "FLOOR_SECOND",
    "MOST_FAILURES",
    "DeviceKind",
    "Direction",
    "EnrolledDevice",
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

"""The House's own stream: the cage, tickets, counts, the staff list, devices, sign-ins and notes."""

from taisai.cage.access import FLOOR_LADDER, FLOOR_SECOND, MOST_FAILURES, EnrolledDevice, StreamError
from taisai.cage.credentials import can_sign_in
from taisai.cage.decide import decide_house
from taisai.cage.house import (
    AmountLimits,
    CapitalMovement,
    Direction,
    House,
    HouseTransfer,
    HouseTransferKind,
    Redemption,
    Ticket,
    evolve_house,
)
from taisai.cage.messages import DeviceKind, SignOutCause
from taisai.cage.transfers import MissingSide, UnfinishedTransfer, how_to_finish, unfinished

__all__ = [
    "FLOOR_LADDER",
    "FLOOR_SECOND",
    "MOST_FAILURES",
    "AmountLimits",
    "CapitalMovement",
    "DeviceKind",
    "Direction",
    "EnrolledDevice",
    "House",
    "HouseTransfer",
    "HouseTransferKind",
    "MissingSide",
    "Redemption",
    "SignOutCause",
    "StreamError",
    "Ticket",
    "UnfinishedTransfer",
    "can_sign_in",
    "decide_house",
    "evolve_house",
    "how_to_finish",
    "unfinished",
]

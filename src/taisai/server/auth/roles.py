"""Roles: as what someone or something is connected, a rank of the House or something that is no person."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from taisai.cage import FLOOR_LADDER, FLOOR_SECOND
from taisai.game.names import folded


class Role(StrEnum):
    """As what someone or something is connected; a person's role is his rank."""

    AUDITOR = "auditor"
    CASHIER = "cashier"
    DEALER = "dealer"
    FLOORPERSON = "floorperson"
    PIT_SUPERVISOR = "pit-supervisor"
    PIT_MANAGER = "pit-manager"
    CASINO_SUPERVISOR = "casino-supervisor"
    SHIFT_MANAGER = "shift-manager"
    ADMINISTRATOR = "administrator"
    TERMINAL = "terminal"
    """A Player Terminal, whoever sits at it."""
    DISPLAY = "display"
    SHAKER = "shaker"
    """A shaker that reads its own dice."""
    VISITOR = "visitor"
    """Nobody has signed in."""


STAFF: Final = frozenset(Role(rank) for rank in FLOOR_LADDER)
"""Every rank of the House's ladder."""
AT_TABLE: Final = frozenset(
    Role(rank)
    for rank in FLOOR_LADDER[FLOOR_LADDER.index(Role.DEALER) : FLOOR_LADDER.index(Role.SHIFT_MANAGER) + 1]
)
"""Those who work at a table, from the Dealer to the Shift Manager."""
SUPERVISING: Final = frozenset(Role(rank) for rank in FLOOR_LADDER[FLOOR_LADDER.index(FLOOR_SECOND) :])
"""Those whom the House takes as a second person."""
DEVICES: Final = frozenset({Role.TERMINAL, Role.DISPLAY, Role.SHAKER})

_SHARED: Final = frozenset(
    {"admin", "anyone", "boss", "casino", "demo", "employee", "guest", "house", "manager", "nobody"}
    | {"operator", "owner", "person", "pit", "root", "shift", "staff", "supervisor", "system", "temp"}
    | {"test", "tester", "training", "user"}
)
_NUMBERED: Final = re.compile(r"[\s\d._#-]+")


def role_of(rank: str) -> Role:
    """The role of someone of a rank; whoever has a rank that the floor does not know may do nothing."""
    return Role(rank) if rank in STAFF else Role.VISITOR


def is_elsewhere(name: str) -> bool:
    """Whether a name would be another place where it stands in an address, as '..' and 'Ann / Bo' are."""
    return "/" in name or name in (".", "..")


def is_generic(name: str) -> bool:
    """Whether a name is that of a post and not of a person: 'Dealer 2' signs for nobody."""
    plain = _NUMBERED.sub("", folded(name))
    return not plain or plain in _SHARED or any(plain == role.replace("-", "") for role in Role)

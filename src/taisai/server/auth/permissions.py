"""Roles, principals, and the one table of who may do what. What it does not name, nobody may do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from taisai.cage import FLOOR_LADDER, FLOOR_SECOND
from taisai.game.vocabulary import folded


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


class Principal(NamedTuple):
    """Who is at the other end."""

    role: Role
    name: str
    """The person, or the device."""
    table: str | None = None
    """A device's own table."""
    seat: str | None = None
    """A terminal's own seat."""
    session: str | None = None
    """The public id of a staff session, whose token was shown once and is kept nowhere."""

    def __repr__(self) -> str:
        return f"<{self.role} {self.name!r}>"

    @property
    def own(self) -> tuple[str | None, str | None]:
        """The table and seat that are the party's own."""
        return self.table, self.seat


VISITOR: Final = Principal(Role.VISITOR, "")


class Reach(StrEnum):
    """Of which objects a role may do it."""

    ANY = "any"
    TABLE = "own table"
    SEAT = "own seat"
    PLAY = "own seat, for play money"
    """In a demonstration alone."""
    DEMONSTRATION = "any, in a demonstration"


class Permission(NamedTuple):
    """The roles that may do something, each to its reach."""

    roles: Mapping[Role, Reach]

    def reach(self, role: Role) -> Reach | None:
        """How far a role reaches; None where it may not do it at all."""
        return self.roles.get(role)

    def in_house(self, *, demonstration: bool) -> Permission:
        """The same, without the roles that may only in a demonstration where it is none."""
        if demonstration or Reach.DEMONSTRATION not in self.roles.values():
            return self
        kept = {role: reach for role, reach in self.roles.items() if reach is not Reach.DEMONSTRATION}
        return Permission(kept)


def _to(*roles: Role | frozenset[Role], reach: Reach = Reach.ANY) -> dict[Role, Reach]:
    found: dict[Role, Reach] = {}
    for one in roles:
        found |= dict.fromkeys(one if isinstance(one, frozenset) else (one,), reach)
    return found


_TERMINAL: Final = _to(Role.TERMINAL, reach=Reach.SEAT)
_DEVICES: Final = _to(Role.TERMINAL, Role.DISPLAY, Role.SHAKER, reach=Reach.TABLE)
_EVERYONE: Final = _to(frozenset(Role))
_CAGE: Final = _to(Role.CASHIER)
_BOOKS: Final = _to(Role.CASHIER, Role.AUDITOR, Role.SHIFT_MANAGER)
_TABLE: Final = _to(AT_TABLE)
_SUPERVISORS: Final = _to(SUPERVISING & AT_TABLE)
_ADMINISTRATION: Final = _to(Role.ADMINISTRATOR)
_WATCHING: Final = _to(AT_TABLE, Role.AUDITOR)
_SCHOOL: Final = _to(frozenset(Role), reach=Reach.DEMONSTRATION) | _TABLE

REQUESTS: Final[Mapping[str, Permission]] = {
    kind: Permission(roles)
    for kind, roles in {
        "hello": _EVERYONE,
        "ping": _EVERYONE,
        "unfollow": _EVERYONE,
        "follow": _EVERYONE,  # and the feed itself, below
        "do": _EVERYONE,  # and the command itself, below
        "open-table": _SUPERVISORS,
        "take-position": _TABLE,
        "undo": _TERMINAL,
        "clear": _TERMINAL,
        "double": _TERMINAL,
        "repeat": _TERMINAL,
        "keep-favourite": _TERMINAL,
        "favourites": _TERMINAL,
        "ticket-in": _TERMINAL,
        "ticket-out": _TERMINAL,
        "tickets": _TERMINAL,
        "felt": _DEVICES | _WATCHING | _to(Role.CASHIER),
        "rounds": _TERMINAL | _WATCHING,
        "preview": _TABLE,
        "sell-ticket": _CAGE,
        "fill": _CAGE,
        "take-credit": _TABLE,
        "take-drop": _SUPERVISORS,
        "count-drop": _CAGE,
        "settle-claim": _CAGE,
        "books": _BOOKS,
        "report": _BOOKS | _SUPERVISORS,
        "reading": _to(Role.SHAKER, reach=Reach.TABLE),
        "virtual-dealer": _TABLE,  # of a demonstration: elsewhere there is no virtual dealer to pause
    }.items()
}
"""Asks of the socket."""

COMMANDS: Final[Mapping[str, Permission]] = {
    kind: Permission(roles)
    for kind, roles in {
        # a terminal's, for its own seat; staff do the same for a player who asks them
        "take-seat": _TERMINAL | _TABLE,
        "leave-seat": _TERMINAL | _TABLE,
        "show-layout": _TERMINAL,
        "buy-credits": _to(Role.TERMINAL, reach=Reach.PLAY) | _SUPERVISORS,  # a terminal's word is no cash
        "place-bets": _TERMINAL,
        "take-back": _TERMINAL | _TABLE,
        "choose-withdrawal": _TERMINAL | _TABLE,
        "call-attendant": _TERMINAL,
        # the layout of a live table
        "record-bets": _TABLE,
        "move-bet": _TABLE,
        "buy-colour": _TABLE,
        "cash-colour": _TABLE,
        # the round
        "perform": _TABLE,
        "report": _TABLE,
        "declare": _TABLE,
        "close-withdrawal": _TABLE,
        "decide-referral": _SUPERVISORS,
        # the table
        "shut": _TABLE,
        "reopen": _SUPERVISORS,
        "begin-day": _SUPERVISORS,
        "begin-shift": _SUPERVISORS,
        "close-table": _SUPERVISORS,
        "set-limits": _SUPERVISORS,
        "offer-odds": _SUPERVISORS,
        "assign": _SUPERVISORS,
        "leave": _TABLE,
        "settle-claim": _SUPERVISORS,
        # equipment
        "place-item": _TABLE,
        "remove-item": _TABLE,
        "repair-item": _TABLE,
        "inspect": _TABLE,
        "load-shoe": _TABLE,
        "shuffle-shoe": _TABLE,
        "count-cards": _TABLE,
        # the House
        "redeem-ticket": _CAGE,
        "bring-in": _CAGE,
        "take-out": _CAGE,
    }.items()
}
"""Commands, inside the ask `do`."""

FEEDS: Final[Mapping[str, Permission]] = {
    kind: Permission(roles)
    for kind, roles in {
        "lobby": _DEVICES | _to(STAFF),
        "table": _DEVICES | _to(STAFF),
        "seat": _TERMINAL | _WATCHING,
        "console": _WATCHING,
        "pit": _SUPERVISORS | _to(Role.AUDITOR),
        "cage": _BOOKS,
    }.items()
}
"""Feeds, by what stands before the colon."""

ENDPOINTS: Final[Mapping[str, Permission]] = {
    kind: Permission(roles)
    for kind, roles in {
        "GET /health": _EVERYONE,
        "GET /metrics": _EVERYONE,  # a matter of the listening address; it tells no secret and no money
        "GET /": _EVERYONE,
        "GET /terminal": _EVERYONE,  # a page by itself shows nothing of anyone
        "GET /console": _EVERYONE,
        "GET /display": _EVERYONE,
        "GET /recorder": _EVERYONE,
        "GET /round": _EVERYONE,
        "GET /pit": _EVERYONE,
        "GET /cage": _EVERYONE,
        "GET /school": _EVERYONE,
        "GET /office": _EVERYONE,
        "GET /assets/{name}": _EVERYONE,
        "GET /schema/openapi.json": _EVERYONE,
        "GET /schema/socket.json": _EVERYONE,
        "POST /api/sign-in": _EVERYONE,
        "POST /api/sign-out": _to(STAFF),
        "GET /api/session": _to(STAFF),
        "POST /api/approvals": _to(AT_TABLE, Role.CASHIER, Role.ADMINISTRATOR),
        "GET /api/staff": _ADMINISTRATION | _to(Role.AUDITOR, Role.SHIFT_MANAGER),
        "POST /api/staff": _ADMINISTRATION,
        "DELETE /api/staff": _ADMINISTRATION,
        "POST /api/staff/{person}/unlock": _ADMINISTRATION | _to(Role.SHIFT_MANAGER),
        "POST /api/staff/{person}/revoke": _ADMINISTRATION | _to(Role.SHIFT_MANAGER),
        "POST /api/password": _to(STAFF),
        "GET /api/devices": _ADMINISTRATION | _to(Role.AUDITOR, Role.SHIFT_MANAGER),
        "POST /api/devices": _ADMINISTRATION,
        "DELETE /api/devices": _ADMINISTRATION,
        "GET /api/report": _BOOKS | _SUPERVISORS,
        "GET /api/books": _BOOKS,
        "GET /api/school": _SCHOOL,
        "GET /api/school/felt": _SCHOOL,
        "GET /api/school/exercise": _SCHOOL,
        "POST /api/school/answer": _SCHOOL,
    }.items()
}
"""Endpoints over HTTP."""

SECOND_PERSONS: Final = SUPERVISING & AT_TABLE
"""Who may be the second person to anything asked on the socket: whoever keeps the roll moves no money."""

DEMONSTRATION: Final[Mapping[str, Permission]] = {
    kind: Permission(roles)
    for kind, roles in {
        "POST /api/demo/enter": _EVERYONE,
        "POST /api/demo/agree": _to(AT_TABLE, Role.CASHIER, Role.ADMINISTRATOR),
        "GET /api/demo": _EVERYONE,
    }.items()
}
"""What is there in a demonstration alone."""
VISITORS_FOLLOW: Final = frozenset({"lobby", "table"})
"""Feeds that a visitor may follow in a demonstration."""


def refusal(
    permit: Permission | None,
    role: Role,
    *,
    own: tuple[str | None, str | None],
    table: str | None,
    seat: str | None,
    demonstration: bool = False,
) -> str | None:
    """Why someone may not do something to a table's seat, in words; `own` is the table and seat he is of."""
    reach = permit.reach(role) if permit is not None else None
    if permit is None or reach is None:
        may = ", ".join(sorted(permit.roles)) if permit is not None else ""
        return f"expected {may or 'something that somebody may do'}, got {role}"
    if reach is Reach.TABLE and table is not None and table != own[0]:
        return f"expected the {role}'s own table {own[0]}, got {table}"
    if reach in (Reach.PLAY, Reach.DEMONSTRATION) and not demonstration:
        return f"expected play money, got a {role} of a house that plays for more"
    if reach in (Reach.SEAT, Reach.PLAY) and (table, seat) != own:
        return f"expected the {role}'s own seat {own[0]}/{own[1]}, got {table}/{seat}"
    return None

"""Roles, the permissions of each role, and rate limits. What is not listed is not permitted."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from enum import StrEnum
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final, NamedTuple

from taisai.cage import FLOOR_LADDER, FLOOR_SECOND
from taisai.game.vocabulary import folded


class Role(StrEnum):
    """The role of a person or device. A person's role is their rank."""

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
    """A Player Terminal."""
    DISPLAY = "display"
    SHAKER = "shaker"
    """A shaker that reads its dice."""
    VISITOR = "visitor"
    """A connection without a session or device."""


STAFF: Final = frozenset(Role(rank) for rank in FLOOR_LADDER)
"""Every rank of the House."""
AT_TABLE: Final = frozenset(
    Role(rank)
    for rank in FLOOR_LADDER[FLOOR_LADDER.index(Role.DEALER) : FLOOR_LADDER.index(Role.SHIFT_MANAGER) + 1]
)
"""Staff who work at a table, from the Dealer to the Shift Manager."""
SUPERVISING: Final = frozenset(Role(rank) for rank in FLOOR_LADDER[FLOOR_LADDER.index(FLOOR_SECOND) :])
"""Staff whom the House accepts as a second person."""
DEVICES: Final = frozenset({Role.TERMINAL, Role.DISPLAY, Role.SHAKER})

_SHARED: Final = frozenset(
    {"admin", "anyone", "boss", "casino", "demo", "employee", "guest", "house", "manager", "nobody"}
    | {"operator", "owner", "person", "pit", "root", "shift", "staff", "supervisor", "system", "temp"}
    | {"test", "tester", "training", "user"}
)
_NUMBERED: Final = re.compile(r"[\s\d._#-]+")


def role_of(rank: str) -> Role:
    """The role of a rank. An unknown rank has the role of a visitor."""
    return Role(rank) if rank in STAFF else Role.VISITOR


def is_path(name: str) -> bool:
    """Whether a name would change the path of an address that contains it, such as '..' or 'Ann / Bo'."""
    return "/" in name or name in (".", "..")


def is_generic(name: str) -> bool:
    """Whether a name is that of a post, such as 'Dealer 2', and not of a person."""
    plain = _NUMBERED.sub("", folded(name))
    return not plain or plain in _SHARED or any(plain == role.replace("-", "") for role in Role)


class Principal(NamedTuple):
    """The person or device of a connection."""

    role: Role
    name: str
    """The person, or the device."""
    table: str | None = None
    """A device's own table."""
    seat: str | None = None
    """A terminal's own seat."""
    session: str | None = None
    """The public id of a staff session."""

    def __repr__(self) -> str:
        return f"<{self.role} {self.name!r}>"

    @property
    def own(self) -> tuple[str | None, str | None]:
        """The device's own table and seat."""
        return self.table, self.seat


VISITOR: Final = Principal(Role.VISITOR, "")


class Reach(StrEnum):
    """The tables and seats that a permission covers."""

    ANY = "any"
    TABLE = "own table"
    SEAT = "own seat"
    PLAY = "own seat, for play money"
    """Only in a demonstration."""
    DEMONSTRATION = "any, in a demonstration"


class Permission(NamedTuple):
    """The roles that may do something, and the reach of each."""

    roles: Mapping[Role, Reach]

    def reach(self, role: Role) -> Reach | None:
        """The reach of a role; None if it has no permission."""
        return self.roles.get(role)

    def in_house(self, *, demonstration: bool) -> Permission:
        """The permission in this house: without roles that have it only in a demonstration."""
        if demonstration or Reach.DEMONSTRATION not in self.roles.values():
            return self
        return Permission(
            {role: reach for role, reach in self.roles.items() if reach is not Reach.DEMONSTRATION}
        )

    @property
    def role_names(self) -> str:
        """The roles, for messages."""
        return ", ".join(sorted(self.roles)) or "nobody"


def _to(*roles: Role | frozenset[Role], reach: Reach = Reach.ANY) -> dict[Role, Reach]:
    granted: dict[Role, Reach] = {}
    for group in roles:
        granted |= dict.fromkeys(group if isinstance(group, frozenset) else (group,), reach)
    return granted


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
        "follow": _EVERYONE,  # each feed has its own permission below
        "do": _EVERYONE,  # each command has its own permission below
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
        "virtual-dealer": _TABLE,  # only a demonstration has virtual dealers
    }.items()
}
"""Requests on the socket."""

COMMANDS: Final[Mapping[str, Permission]] = {
    kind: Permission(roles)
    for kind, roles in {
        # a terminal for its own seat; staff for a player who asks them
        "take-seat": _TERMINAL | _TABLE,
        "leave-seat": _TERMINAL | _TABLE,
        "show-layout": _TERMINAL,
        "buy-credits": _to(Role.TERMINAL, reach=Reach.PLAY) | _SUPERVISORS,  # a terminal cannot receive cash
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
"""Commands, inside the request `do`."""

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
"""Feeds, by the part of their name before the colon."""

ENDPOINTS: Final[Mapping[str, Permission]] = {
    kind: Permission(roles)
    for kind, roles in {
        "GET /health": _EVERYONE,
        "GET /metrics": _EVERYONE,  # it shows no secret and no money
        "GET /": _EVERYONE,
        "GET /terminal": _EVERYONE,  # a page itself contains no data
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
"""HTTP endpoints."""

SECOND_PERSONS: Final = SUPERVISING & AT_TABLE
"""Roles that may approve requests on the socket. Administrators keep the staff list and move no money."""

DEMONSTRATION: Final[Mapping[str, Permission]] = {
    kind: Permission(roles)
    for kind, roles in {
        "POST /api/demo/enter": _EVERYONE,
        "POST /api/demo/agree": _to(AT_TABLE, Role.CASHIER, Role.ADMINISTRATOR),
        "GET /api/demo": _EVERYONE,
    }.items()
}
"""HTTP endpoints of a demonstration."""
VISITORS_FOLLOW: Final = frozenset({"lobby", "table"})
"""Feeds that a visitor may follow in a demonstration."""


def refusal(
    permission: Permission | None,
    role: Role,
    *,
    own: tuple[str | None, str | None],
    table: str | None,
    seat: str | None,
    demonstration: bool = False,
) -> str | None:
    """Why a role may not act on a table's seat; None if it may. `own`: the device's own table and seat."""
    if permission is None:
        return "not permitted to any role"
    reach = permission.reach(role)
    if reach is None:
        return f"not permitted to the role {role}; permitted: {permission.role_names}"
    if reach is Reach.TABLE and table is not None and table != own[0]:
        return f"a {role} may act only at its own table: expected {own[0]}, got {table}"
    if reach in (Reach.PLAY, Reach.DEMONSTRATION) and not demonstration:
        return f"permitted to a {role} only in a demonstration"
    if reach in (Reach.SEAT, Reach.PLAY) and (table, seat) != own:
        return f"a {role} may act only at its own seat: expected {own[0]}/{own[1]}, got {table}/{seat}"
    return None


# Rate limits, by token buckets

MOST_KEYS: Final = 20_000  # addresses, people or sockets at a time: a megabyte or two


class RateLimit(NamedTuple):
    """`burst` at once, then one every `every` milliseconds."""

    burst: int
    every: int


class RateLimiter:
    """A bucket for each key. The least recently used are dropped first."""

    def __init__(self, rule: RateLimit, most: int = MOST_KEYS) -> None:
        if rule.burst < 1 or rule.every < 1 or most < 1:
            raise ValueError(f"burst, interval and keys must be at least 1, got {rule}, {most} keys")
        self._rule = rule
        self._most = most
        self._full_at: OrderedDict[str, int] = OrderedDict()
        """Key → when its bucket is full again. This determines how much it holds now."""

    def takes(self, key: str, now: int) -> bool:
        """Takes a token from a bucket; returns whether there was one."""
        full_at = self._full(key, now)
        allowed = full_at + self._rule.every - now <= self._rule.burst * self._rule.every
        self._full_at[key] = full_at + self._rule.every if allowed else full_at
        self._full_at.move_to_end(key)
        if len(self._full_at) > self._most:
            self._full_at.popitem(last=False)
        return allowed

    def wait(self, key: str, now: int) -> int:
        """Milliseconds until the bucket has a token."""
        return max(0, self._full(key, now) - now - (self._rule.burst - 1) * self._rule.every)

    def __len__(self) -> int:
        return len(self._full_at)

    def _full(self, key: str, now: int) -> int:
        full_at = max(self._full_at.get(key, now), now)
        latest = now + self._rule.burst * self._rule.every
        if full_at > latest:  # a clock that was set back must not block a key for longer than an empty bucket
            full_at = self._full_at[key] = latest
        return full_at


def network_of(address: str) -> str:
    """An address as the key of rate limits. For IPv6 its /64 network: one household has all of it."""
    try:
        known = ip_address(address)
    except ValueError:
        return address
    if isinstance(known, IPv6Address):
        if known.ipv4_mapped:
            return str(known.ipv4_mapped)
        return str(ip_network((int(known) >> 64 << 64, 64)))
    return str(known)

"""Roles, the permissions of each role, and rate limits. What is not listed is not permitted."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from enum import StrEnum
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
    """Whether a name is that of a role, such as 'Dealer 2', and not of a person."""
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
        return ", ".join(sorted(self.roles)) or "nobody"


def _to(*roles: Role | frozenset[Role], reach: Reach = Reach.ANY) -> dict[Role, Reach]:
    granted: dict[Role, Reach] = {}
    for group in roles:
        granted |= dict.fromkeys(group if isinstance(group, frozenset) else (group,), reach)
    return granted


_TERMINAL: Final = _to(Role.TERMINAL, reach=Reach.SEAT)
_DEVICES: Final = _to(Role.TERMINAL, Role.DISPLAY, Role.SHAKER, reach=Reach.TABLE)
_EVERYONE: Final = _to(frozenset(Role))
_STAFF: Final = _to(STAFF)
_CAGE: Final = _to(Role.CASHIER)
_BOOKS: Final = _to(Role.CASHIER, Role.AUDITOR, Role.SHIFT_MANAGER)
_TABLE: Final = _to(AT_TABLE)
_SUPERVISORS: Final = _to(SUPERVISING & AT_TABLE)
_ADMINISTRATION: Final = _to(Role.ADMINISTRATOR)
_NEED_APPROVALS: Final = _to(AT_TABLE, Role.CASHIER, Role.ADMINISTRATOR)
_WATCHING: Final = _to(AT_TABLE, Role.AUDITOR)
_SCHOOL: Final = _to(frozenset(Role), reach=Reach.DEMONSTRATION) | _TABLE


def _permissions(*grants: tuple[dict[Role, Reach], str]) -> dict[str, Permission]:
    """Each grant has roles, and the names of what they may do."""
    return {name: Permission(roles) for roles, names in grants for name in names.split(", ")}


REQUESTS: Final[Mapping[str, Permission]] = _permissions(
    (
        _EVERYONE,
        "hello, ping, unfollow, follow, do",
    ),  # feeds and commands have their own permissions
    (_TERMINAL, "undo, clear, double, repeat, keep-favourite, favourites, ticket-in, ticket-out, tickets"),
    (
        _TABLE,
        "take-position, preview, take-credit, virtual-dealer",
    ),  # the last only in a demonstration
    (_SUPERVISORS, "open-table, take-drop"),
    (_CAGE, "sell-ticket, fill, count-drop, settle-claim"),
    (_BOOKS, "books"),
    (_BOOKS | _SUPERVISORS, "report"),
    (_TERMINAL | _WATCHING, "rounds"),
    (_DEVICES | _WATCHING | _CAGE, "felt"),
    (_to(Role.SHAKER, reach=Reach.TABLE), "reading"),
)
"""Requests on the socket."""

COMMANDS: Final[Mapping[str, Permission]] = _permissions(
    (_TERMINAL, "show-layout, place-bets, call-attendant"),
    (
        _TERMINAL | _TABLE,
        "take-seat, leave-seat, take-back, choose-withdrawal",
    ),  # staff for a player
    (_to(Role.TERMINAL, reach=Reach.PLAY) | _SUPERVISORS, "buy-credits"),  # a terminal cannot receive cash
    (_TABLE, "record-bets, move-bet, buy-colour, cash-colour"),  # the layout of a live table
    (_TABLE, "perform, report, declare, declare-unrecorded, close-withdrawal, shut, leave"),
    (_TABLE, "enter-settlement, enter-round"),  # by hand, with a second person
    (_TABLE, "place-item, remove-item, repair-item, inspect, load-shoe, shuffle-shoe, count-cards"),
    (_SUPERVISORS, "confirm-report, contest-report, correct-record"),
    (_SUPERVISORS, "decide-referral, settle-claim, assign, reopen, begin-day, begin-shift, close-table"),
    (_SUPERVISORS, "set-limits, offer-odds"),
    (_to(Role.SHIFT_MANAGER), "adopt-interpretations"),
    (_SUPERVISORS, "override-witness"),
    (_CAGE, "redeem-ticket, bring-in, take-out"),
)
"""Commands, inside the request `do`."""

FEEDS: Final[Mapping[str, Permission]] = _permissions(
    (_DEVICES | _STAFF, "lobby, table"),
    (_TERMINAL | _WATCHING, "seat"),
    (_WATCHING, "console"),
    (_SUPERVISORS | _to(Role.AUDITOR), "pit"),
    (_SUPERVISORS | _ADMINISTRATION | _to(Role.AUDITOR), "alarms"),
    (_BOOKS, "cage"),
    (_NEED_APPROVALS, "approvals"),
)
"""Feeds, by the part of their name before the colon."""

ENDPOINTS: Final[Mapping[str, Permission]] = _permissions(
    (_EVERYONE, "GET /health"),  # strangers get the status only
    (_STAFF, "GET /metrics"),  # and monitors: this machine, and programs with the metrics token
    # a page itself contains no data
    (_EVERYONE, "GET /, GET /terminal, GET /console, GET /display, GET /recorder, GET /round, GET /pit"),
    (_EVERYONE, "GET /cage, GET /school, GET /office, GET /first-sign-in, GET /account, GET /assets/{name}"),
    (_EVERYONE, "GET /schema/openapi.json, GET /schema/socket.json, POST /api/sign-in"),
    # a code, a token or a passkey proves who it is
    (_EVERYONE, "POST /api/first-sign-in, POST /api/credentials"),
    (_EVERYONE, "POST /api/passkeys/challenge, POST /api/passkeys/sign-in"),
    (
        _STAFF,
        "POST /api/sign-out, GET /api/session, POST /api/account, GET /api/sessions, POST /api/sessions/end",
    ),
    (_NEED_APPROVALS, "POST /api/approvals, GET /api/approvals, DELETE /api/approvals/{approval}"),
    (
        _NEED_APPROVALS,
        "POST /api/approvals/{approval}/challenge, POST /api/approvals/{approval}/approve-here",
    ),  # by the second person's own passkey
    (
        _to(SUPERVISING),
        "POST /api/approvals/{approval}/approve, POST /api/approvals/{approval}/decline",
    ),  # who may approve which request is checked too
    (_ADMINISTRATION, "POST /api/staff, DELETE /api/staff, POST /api/devices, DELETE /api/devices"),
    (
        _ADMINISTRATION | _to(Role.AUDITOR, Role.SHIFT_MANAGER),
        "GET /api/staff, GET /api/devices, GET /api/interpretations",
    ),
    (
        _ADMINISTRATION | _to(Role.SHIFT_MANAGER),
        "POST /api/staff/{person}/unlock, POST /api/staff/{person}/revoke",
    ),
    (_to(Role.SHIFT_MANAGER), "POST /api/staff/{person}/acknowledge"),  # administrators may have the key
    (_BOOKS | _SUPERVISORS, "GET /api/report"),
    (_BOOKS, "GET /api/books"),
    (_SCHOOL, "GET /api/school, GET /api/school/felt, GET /api/school/exercise, POST /api/school/answer"),
)
"""HTTP endpoints."""

DEMONSTRATION: Final[Mapping[str, Permission]] = _permissions(
    (_EVERYONE, "POST /api/demo/enter, GET /api/demo"), (_NEED_APPROVALS, "POST /api/demo/agree")
)
"""HTTP endpoints of a demonstration."""

SECOND_PERSONS: Final = SUPERVISING & AT_TABLE
"""Roles that may approve requests on the socket. Administrators keep the staff list and move no money."""

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
        return max(0, self._full(key, now) - now - (self._rule.burst - 1) * self._rule.every)

    def __len__(self) -> int:
        return len(self._full_at)

    def _full(self, key: str, now: int) -> int:
        full_at = max(self._full_at.get(key, now), now)
        latest = now + self._rule.burst * self._rule.every
        if full_at > latest:  # a clock that was set back must not block a key for longer than an empty bucket
            full_at = self._full_at[key] = latest
        return full_at

"""The matrix of access: cases/access/matrix.txt as it is read, and every request that the server takes."""

from __future__ import annotations

import enum
import typing
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Final, NamedTuple, get_args, get_origin

import msgspec

from taisai.demo.sign_in import Demonstration, endpoints
from taisai.protocol.commands import AT_HOUSE, BY_TAG
from taisai.protocol.message import PROTOCOL_VERSION
from taisai.protocol.requests import REQUESTS
from taisai.server.auth.permissions import DEVICES, Role
from taisai.server.http.public import PAGES, BuiltPages
from tests.server.sim.virtual import VirtualLoop
from tests.server.virtual_server import BY_ROLE, Connected, Line, Response, Tell

CASES: Final = Path(__file__).parents[2] / "cases" / "access" / "matrix.txt"
PLACES: Final = ("anywhere", "own-table", "own-seat", "own-seat-demonstration", "demonstration")
OWN: Final = ("T1", "1")
"""Where the devices that ask are enrolled."""
SPOTS: Final = (OWN, ("T1", "2"), ("T2", "1"), ("T9", "1"))
"""An own seat, another of the same table, one of the same name elsewhere, and one that is nowhere."""
Permits = dict[tuple[str, str], dict[Role, str]]
"""(kind, name) → role → where."""


# What is written


def read(text: str) -> Permits:
    """The matrix, as a person wrote it."""
    groups: dict[str, list[Role]] = {role: [role] for role in Role}
    permits: Permits = {}
    for line in filter(None, (line.partition("#")[0].strip() for line in text.splitlines())):
        kind, rest = line.split(maxsplit=1)
        if kind == "group":
            name, *members = rest.split()
            groups[name] = [Role(member) for member in members]
            continue
        assert kind in ("request", "do", "feed", "http"), line
        words = rest.split(maxsplit=2 if kind == "http" else 1)
        name, who = " ".join(words[:-1]), words[-1]
        assert (kind, name) not in permits, f"expected one line a kind, got another: {line}"
        permits[kind, name] = {}
        for part in who.split(","):
            group, place = part.split()
            assert place in PLACES, line
            permits[kind, name] |= dict.fromkeys(groups[group], place)
    return permits


@cache
def written() -> Permits:
    """The matrix of the case file."""
    return read(CASES.read_text("utf-8"))


# What can be asked


class Case(NamedTuple):
    """Something that is asked, and the object that it is about."""

    kind: str
    name: str
    fields: Mapping[str, Any]
    table: str | None = None
    seat: str | None = None
    is_whole: bool = True
    """False where nobody may, since it is about nothing: a command without its table."""

    def may(self, role: Role, *, demonstration: bool) -> bool:
        """Whether the case file lets a role ask this."""
        place = written().get((self.kind, self.name), {}).get(role)
        if not self.is_whole or place is None:
            return False
        if place == "own-table":
            return self.table == OWN[0]
        if place.startswith("own-seat"):
            is_own = role is Role.TERMINAL and (self.table, self.seat) == OWN
            return is_own and (demonstration or place == "own-seat")
        return place == "anywhere" or demonstration

    def __str__(self) -> str:
        about = "" if self.table is None else f" at {self.table}" + (f"/{self.seat}" if self.seat else "")
        return f"{self.kind} {self.name}{about}"


def ask_kinds() -> dict[str, type[msgspec.Struct]]:
    """Every request of the protocol."""
    return {str(kind.__struct_config__.tag): kind for kind in REQUESTS}


def asked_of(kind: str) -> Iterator[Case]:
    """An ask, about every kind of object that it can be about; its id is whoever's who sends it."""
    struct = ask_kinds()[kind]
    if kind in ("follow", "do"):
        return  # what they are about decides
    known = {field.name for field in msgspec.structs.fields(struct)}
    for table, seat in dict.fromkeys(
        (table if "table" in known else None, seat if "seat" in known else None) for table, seat in SPOTS
    ):
        about = {"table": table} if table else {}
        about |= {"seat": seat} if seat else {}
        yield Case("request", kind, {**sample(struct), "id": None} | about, table, seat)
    if kind == "rounds":
        yield Case("request", kind, {"table": OWN[0]}, OWN[0])


def commands_of(tag: str) -> Iterator[Case]:
    """A command, at every kind of object that it can be about."""
    struct = BY_TAG[tag]
    at_house = struct.__name__ in {kind.__name__ for kind in AT_HOUSE}
    has_seat = any(field.name == "seat" for field in msgspec.structs.fields(struct))
    for table, seat in dict.fromkeys(
        (table, seat if has_seat else None) for table, seat in (*SPOTS, (None, "1"))
    ):
        whole = (table is None) == at_house
        names: tuple[Any, ...] = ("P1", "P2", None) if tag == "take-seat" else (None,)
        for name in names:
            do = {"command": tag} | sample(struct) | ({"seat": seat} if seat else {})
            do |= {"terminal": name} if name else {}
            yield Case("do", tag, {"table": table, "do": do}, table, seat, whole)


def feeds_of(kind: str) -> Iterator[Case]:
    """A feed, of every kind of object that it can be of."""
    if kind == "seat":
        for table, seat in SPOTS:
            yield Case("feed", kind, {"feed": f"seat:{table}/{seat}"}, table, seat)
    elif kind in ("table", "console"):
        for table in dict.fromkeys(table for table, _ in SPOTS):
            yield Case("feed", kind, {"feed": f"{kind}:{table}"}, table)
    else:
        yield Case("feed", kind, {"feed": kind})


BODIES: Final[dict[str, dict[str, Any]]] = {
    "POST /api/sign-in": {"person": "nobody", "password": "not a password", "code": "000000"},
    "POST /api/sign-out": {},
    "POST /api/first-sign-in": {"person": "nobody", "activation": "0000-0000-0000"},
    "POST /api/credentials": {"setup": "no such setup"},
    "POST /api/passkeys/sign-in": {"person": "nobody", "challenge": "none", "assertion": {}},
    "POST /api/sessions/end": {"code": "000000"},
    "POST /api/account": {"password": "not this password", "code": "000000"},
    "POST /api/approvals": {"request": {"type": "nothing"}},
    "POST /api/approvals/{approval}/approve": {"code": "000000"},
    "POST /api/approvals/{approval}/challenge": {},
    "POST /api/approvals/{approval}/approve-here": {"person": "nobody", "challenge": "none", "assertion": {}},
    "POST /api/approvals/{approval}/decline": {"reason": "not now"},
    "POST /api/staff": {"person": "Zoe Lim", "rank": "dealer"},
    "DELETE /api/staff": {"person": "Zoe Lim"},
    "POST /api/staff/{person}/unlock": {"reason": "he knows it again"},
    "POST /api/staff/{person}/revoke": {"reason": "his console was left open"},
    "POST /api/devices": {"device": "P9", "kind": "terminal", "key": "0" * 64, "table": "T1", "seat": "9"},
    "DELETE /api/devices": {"device": "P9", "reason": "broken"},
    "POST /api/school/answer": {
        "kind": "ruling", "book": "us-sic-bo", "layout": "A", "level": 1, "seed": 1, "took": 1, "choice": "-"
    },
    "POST /api/demo/enter": {"role": "dealer"},
    "POST /api/demo/agree": {"approval": "none"},
}  # fmt: skip
"""A body for every endpoint that takes one."""


def request_of(endpoint: str) -> Case:
    """A request to an endpoint."""
    return Case("http", endpoint, BODIES.get(endpoint, {}))


def sample(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """A value for every field that must be there."""
    return {
        field.name: _value(field.name, field.type)
        for field in msgspec.structs.fields(struct)
        if field.required
    }


def _value(name: str, kind: Any) -> Any:
    if get_origin(kind) is typing.Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in (typing.Union, UnionType):
        kind = next(one for one in get_args(kind) if one is not type(None))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return next(iter(kind)).value
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return sample(kind)
    if get_origin(kind) is tuple:
        inner = get_args(kind)
        return [_value(name, one) for one in inner if one is not Ellipsis]
    number = PROTOCOL_VERSION if name == "protocol" else 1
    plain: dict[Any, Any] = {str: _TEXTS.get(name, "none"), int: number, bool: True}
    return {} if get_origin(kind) is dict else plain[kind]


_TEXTS: Final = {"table": "T1", "seat": "1", "day": "2026-11-16", "layout": "A", "position": "dealer"}


# Asking it


class Verdict(NamedTuple):
    """What came of a case, and what should have."""

    case: Case
    role: Role
    may: bool
    was_let: bool
    grew: int
    """Entries that the journal has more."""
    is_broken: bool
    is_rewritten: bool
    """Whether what stood in the journal before is another now."""

    @property
    def wrong(self) -> str | None:
        """What is wrong with it."""
        if self.was_let and not self.may:
            return f"{self.role} may not, and was let: {self.case}"
        if self.may and not self.was_let:
            return f"{self.role} may, and was not let: {self.case}"
        if not self.may and self.grew:
            return f"{self.role} may not, and the journal has {self.grew} entries of it: {self.case}"
        if self.is_broken:
            return f"a fault, or an ask that cannot be read, for {self.role}: {self.case}"
        return f"history is another for {self.role}: {self.case}" if self.is_rewritten else None


def is_access_refusal(tell: Tell) -> bool:
    """Whether the server said that it is not the asker's to do; the game says so by another clause."""
    return (tell["type"], tell.get("reason"), tell.get("clause")) == (
        "refused",
        "not-permitted",
        "house:access",
    )


def is_broken(tell: Tell) -> bool:
    """Whether the case says nothing: nobody could read it, or something broke over it."""
    is_second_hello = "hello was already sent" in tell.get("message", "")
    return tell.get("reason") in ("fault", "bad-message") and not is_second_hello


async def socket_verdict(house: Connected, line: Line, role: Role, case: Case) -> Verdict:
    """What a case comes to over a socket."""
    before = house.rows()
    kind = {"request": case.name, "do": "do", "feed": "follow"}[case.kind]
    tell = await line.answer(kind, **case.fields)
    after = house.rows()
    may = case.may(role, demonstration=house.dispatcher.demonstration)
    if case.name == "take-seat" and role is Role.TERMINAL:
        may = may and case.fields["do"].get("terminal") == BY_ROLE[role]
    return Verdict(
        case, role, may=may, was_let=not is_access_refusal(tell), grew=len(after) - len(before),
        is_broken=is_broken(tell), is_rewritten=after[: len(before)] != before,
    )  # fmt: skip


def is_kept_out(response: Response) -> bool:
    """Whether the server said so over HTTP, or that there is no such endpoint; the House says 409."""
    return response.status == 404 or (response.status in (401, 403) and response.reason == "not-permitted")


SOME_PAGES: Final = BuiltPages("0", dict.fromkeys(PAGES.values(), b"a page"), {"lobby.html": b"a part"})
"""So that who may see them has nothing to do with what is built."""


async def http_verdict(house: Connected, role: Role, case: Case) -> Verdict:
    """What a case comes to over HTTP."""
    method, path = case.name.split()
    for parameter, value in {"person": "nobody at all", "approval": "none", "name": "lobby.html"}.items():
        path = path.replace(f"{{{parameter}}}", value)
    session = None if role is Role.VISITOR or role in DEVICES else house.session(role)
    before = house.rows()
    response = await house.request(method, path, case.fields or None, session=session)
    after = house.rows()
    return Verdict(
        case, role, may=case.may(role, demonstration=house.dispatcher.demonstration),
        was_let=not is_kept_out(response),
        grew=len(after) - len(before), is_broken=response.status == 500,
        is_rewritten=after[: len(before)] != before,
    )  # fmt: skip


def a_house(loop: VirtualLoop, *, demonstration: bool) -> Connected:
    """A house that nobody has come to yet."""
    if demonstration:
        house = Connected(loop, demonstration=True, extra=lambda casino: endpoints(Demonstration(casino)))
    else:
        house = Connected(loop)
    house.dispatcher.pages = SOME_PAGES
    return house


async def socket_verdicts(
    loop: VirtualLoop, role: Role, cases: Sequence[Case], *, demonstration: bool
) -> list[Verdict]:
    """What every case comes to for a role."""
    house = a_house(loop, demonstration=demonstration)
    line = await house.came_as(role)
    return [await socket_verdict(house, line, role, case) for case in cases]


async def http_verdicts(loop: VirtualLoop, roles: Sequence[Role], *, demonstration: bool) -> list[Verdict]:
    """What a request to every endpoint comes to for every role."""
    house = a_house(loop, demonstration=demonstration)
    names = sorted(name for kind, name in written() if kind == "http")
    return [await http_verdict(house, role, request_of(name)) for role in roles for name in names]


def wrong(verdicts: Sequence[Verdict]) -> list[str]:
    """All that is wrong."""
    return [verdict.wrong for verdict in verdicts if verdict.wrong is not None]


def every_socket_case() -> list[Case]:
    """Everything that can be asked over a socket."""
    return [
        *(case for kind in ask_kinds() for case in asked_of(kind)),
        *(case for tag in BY_TAG for case in commands_of(tag)),
        *(case for (kind, name) in written() if kind == "feed" for case in feeds_of(name)),
    ]


def endpoints_of(house: Connected) -> set[str]:
    """Every endpoint that is really there, as the case file names it."""
    return {
        f"{method} {route.path_format}"
        for route in house.web.routes
        for method in getattr(route, "methods", ())
        if method != "OPTIONS"
    }

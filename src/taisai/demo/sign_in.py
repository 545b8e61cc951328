"""Signing in to the demonstration: a visitor takes any role, and a virtual supervisor approves."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from litestar import Request, get, post
from litestar.datastructures import State
from litestar.params import JSONBody

from taisai.cage.messages import DeviceKind, DismissDevice, EnrolDevice, HouseCommand
from taisai.demo import house
from taisai.game.commands import LeaveSeat
from taisai.game.refusals import Refusal
from taisai.journal import Engine, stream_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.journal.errors import JournalError
from taisai.protocol import bodies
from taisai.protocol.bodies import EnterResponse
from taisai.protocol.views import Words
from taisai.rules import rulebook
from taisai.server.auth.approvals import Approval, RequestToApprove, digest_of
from taisai.server.auth.permissions import SECOND_PERSONS, role_of
from taisai.server.auth.sessions import Session
from taisai.server.auth.sign_in_refusals import SignInRefused
from taisai.server.http.guard import refused

if TYPE_CHECKING:
    from taisai.server.runtime.house_server import HouseServer

PLAYER: Final = "player"
DISPLAY: Final = "display"
ROLES: Final = (PLAYER, *house.GUESTS, DISPLAY)
"""The roles that a visitor may take."""
GONE_FOR: Final = 120_000  # ms without a connection, after which an empty seat is freed
MOST_DISPLAYS: Final = 20  # at a table; then a new one replaces one that is not connected


VIRTUAL_STEP: Final = Words("A step of a virtual person", "虚拟人员的步骤")


class Dealers(Protocol):
    """The virtual dealers."""

    @property
    def tables(self) -> dict[str, bool]:
        """Table → whether its virtual dealer deals."""

    def relieved(self, rank: str, table: str, session: str) -> None:
        """Pauses a virtual person while the visitor's session has a connection."""


class Demonstration:
    """Signing in and approvals of a demonstration. The journal must be marked as one."""

    def __init__(self, house_server: HouseServer) -> None:
        if not house_server.demonstration:
            raise JournalError("this is a journal of play for money, not of a demonstration")
        self.house_server = house_server
        self.dealers: Dealers | None = None
        self._gone: dict[str, int] = {}
        """Terminal of a visitor → when its connection was lost."""
        self._seating = asyncio.Lock()  # two visitors at the same time get two seats

    # Signing in

    async def enter(
        self, role: str, table: str | None, key: str | None, *, address: str
    ) -> EnterResponse | SignInRefused | Refusal | str:
        """Gives a visitor a session or enrols their device; or returns why not."""
        if role not in ROLES:
            return f"unknown role {role!r}; roles: {', '.join(ROLES)}"
        if table is not None and table not in house.TABLES:
            return f"unknown table {table!r}; tables: {', '.join(house.TABLES)}"
        if role in (PLAYER, DISPLAY):
            if table is None or key is None:
                return f"a {role} needs a table and the key of a device"
            async with self._seating:
                return await self._device(role, table, key)
        return await self._staff(role, table, address=address)

    async def _staff(self, rank: str, table: str | None, *, address: str) -> EnterResponse | SignInRefused:
        now = self.house_server.clock.now()
        signed = await self.house_server.authentication.admitted(house.GUESTS[rank], address=address, now=now)
        if isinstance(signed, SignInRefused):
            return signed
        if table is not None and self.dealers is not None:
            self.dealers.relieved(rank, table, signed.session.id)
        return EnterResponse(role=rank, name=signed.session.person, token=signed.token, table=table)

    async def _device(self, role: str, table: str, key: str) -> EnterResponse | Refusal | str:
        kind = DeviceKind.TERMINAL if role == PLAYER else DeviceKind.DISPLAY
        connected = {socket.principal.name for socket in self.house_server.dispatcher.sockets}
        place = await self.house_server.queue.run(lambda engine: _place(engine, kind, table, key, connected))
        if place is None:
            return f"table {table} has no free place; try later, or another table"
        name, seat, is_known, instead_of = place
        if instead_of is not None:
            why = "not connected, and another device needs its place"
            refusal = await self._refusal(DismissDevice, device=instead_of, reason=why)
            if refusal is not None:
                return refusal
        if not is_known:
            fields = {"device": name, "kind": kind, "key": key, "table": table, "seat": seat}
            refusal = await self._refusal(EnrolDevice, **fields)
            if refusal is not None:
                return refusal
        return EnterResponse(role=role, name=name, device=name, table=table, seat=seat)

    async def _refusal(self, kind: type[HouseCommand], /, **fields: object) -> Refusal | None:
        named: dict[str, Any] = {"at": self.house_server.clock.now(), "by": house.ADMINISTRATOR, **fields}
        answer = await self.house_server.queue.execute(HOUSE_STREAM, kind(**named))
        return answer if isinstance(answer, Refusal) else None

    # Leaving

    async def tidy(self) -> None:
        """Frees empty seats whose terminals have had no connection for a while."""
        now = self.house_server.clock.now()
        connected = {socket.principal.name for socket in self.house_server.dispatcher.sockets}
        left = await self.house_server.queue.run(lambda engine: _left(engine, connected))
        self._gone = {place.terminal: self._gone.get(place.terminal, now) for place in left}
        for place in left:
            if now - self._gone[place.terminal] >= GONE_FOR:
                # This is refused if the player is back.
                command = LeaveSeat(at=now, by=place.terminal, seat=place.seat)
                await self.house_server.queue.execute(stream_of(place.table), command)

    # Approving

    def approved(self, id_: str, *, asker: Session) -> Approval | str:
        """A virtual supervisor approves what a session asked for; returns why not."""
        approvals, now = self.house_server.authentication.approvals, self.house_server.clock.now()
        asked = approvals.of_session(id_, asker=asker.id)
        if asked is None:
            return "this session asked for no such approval"
        table = asked.request.table
        head = house.TABLES[table].head if table in house.TABLES else house.SHIFT_MANAGER
        rank = house.VIRTUAL[head]
        person = house.GUESTS[rank] if head == asker.person else head
        return approvals.approved(id_, person=person, role=role_of(rank), now=now)

    def asked_and_approved(self, asker: Session, form: bytes, table: str) -> Approval | str:
        """The approval of what a virtual person does at a table."""
        request = RequestToApprove(digest_of(form), SECOND_PERSONS, VIRTUAL_STEP, table=table)
        now = self.house_server.clock.now()
        asked = self.house_server.authentication.approvals.asked(request, asker=asker, now=now)
        return asked if isinstance(asked, str) else self.approved(asked.id, asker=asker)


class _Left(NamedTuple):
    table: str
    seat: str
    terminal: str


def _left(engine: Engine, connected: set[str]) -> list[_Left]:
    """Empty seats of visitors whose terminals are not connected; runs in the writer's thread."""
    places: list[_Left] = []
    for name, setup in house.TABLES.items():
        virtual = {house.terminal_of(name, str(seat)) for seat in range(1, len(setup.players) + 1)}
        for seat in engine.table(name).seats.values():
            terminal = seat.terminal
            if not seat.taken or terminal is None or terminal in virtual or terminal in connected:
                continue
            if not seat.held and not seat.at_risk:
                places.append(_Left(name, seat.name, terminal))
    return places


class _Place(NamedTuple):
    device: str
    seat: str | None
    is_known: bool
    """Whether the device with this key already has the place."""
    instead_of: str | None
    """The device to remove first."""


def _place(engine: Engine, kind: DeviceKind, table: str, key: str, connected: set[str]) -> _Place | None:
    """A place for a visitor's device; None if all are taken. Runs in the writer's thread."""
    devices = engine.house().devices
    for name, device in devices.items():
        if (device.key, device.table, device.kind) == (key, table, kind):
            return _Place(name, device.seat, is_known=True, instead_of=None)
    seats = engine.table(table).seats
    virtual = len(house.TABLES[table].players)
    idle: _Place | None = None
    most = house.SEATS if kind is DeviceKind.TERMINAL else MOST_DISPLAYS
    for number in range(virtual + 1 if kind is DeviceKind.TERMINAL else 1, most + 1):
        seat = str(number) if kind is DeviceKind.TERMINAL else None
        name = house.terminal_of(table, str(number)) if seat else f"{table}-display-{number}"
        is_taken = seat is not None and seat in seats and seats[seat].taken
        if name not in devices and not is_taken:
            return _Place(name, seat, is_known=False, instead_of=None)
        if idle is None and name in devices and name not in connected and not is_taken:
            idle = _Place(name, seat, is_known=False, instead_of=name)
    return idle


@cache
def _ranks(book: str) -> tuple[str, ...]:
    return rulebook(book).people.ranks()


def endpoints(demonstration: Demonstration) -> list[Any]:

    @get("/api/demo", summary="The tables, roles and virtual people of the demonstration")
    async def overview() -> bodies.DemoResponse:
        """What the lobby shows."""
        dealing = demonstration.dealers.tables if demonstration.dealers else {}
        return bodies.DemoResponse(
            currency=house.CURRENCY,
            roles=ROLES,
            tables=tuple(
                bodies.DemoTable(
                    table=setup.name, rulebook=setup.book, dealer=setup.dealer,
                    dealing=dealing.get(setup.name, False), head=setup.head, players=setup.players,
                    ranks=_ranks(setup.book),
                )
                for setup in house.TABLES.values()
            ),
        )  # fmt: skip

    @post("/api/demo/enter", status_code=200, summary="Sign in as any role")
    async def enter(
        request: Request[Any, Any, State], data: JSONBody[bodies.EnterBody]
    ) -> bodies.EnterResponse:
        """Opens a session for staff, or enrols the key of a terminal or display."""
        address = request.client.host if request.client else "unknown"
        answer = await demonstration.enter(data.role, data.table, data.key, address=address)
        if isinstance(answer, str):
            raise refused(400, "bad-value", answer)
        if isinstance(answer, SignInRefused):
            raise refused(503, answer.reason, answer.message)
        if isinstance(answer, Refusal):
            raise refused(409, answer.reason, f"{answer.message} ({answer.clause})", answer.clause)
        return answer

    @post("/api/demo/agree", status_code=200, summary="A virtual supervisor approves a request")
    async def approve(
        request: Request[Any, Any, State], data: JSONBody[bodies.AgreeBody]
    ) -> bodies.DoneResponse:
        """The second person of the demonstration. They always approve, and the journal has their name."""
        answer = demonstration.approved(data.approval, asker=request.state.session)
        if isinstance(answer, str):
            raise refused(403, "second-person", answer)
        return bodies.DoneResponse()

    return [overview, enter, approve]

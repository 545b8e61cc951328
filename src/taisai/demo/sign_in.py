"""Signing in to the demonstration: any visitor takes any role, and a virtual supervisor approves."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from litestar import Request, get, post
from litestar.datastructures import State
from litestar.params import JSONBody

from taisai.cage.messages import DeviceKind, DismissDevice, EnrolDevice
from taisai.demo import cast
from taisai.game.commands import LeaveSeat
from taisai.game.refusals import Refusal
from taisai.journal import Engine, stream_of
from taisai.journal.codec import HOUSE, AnyCommand
from taisai.journal.errors import JournalError
from taisai.protocol import bodies
from taisai.rules import rulebook
from taisai.server.auth.sessions import NewApproval, Session, digest_of
from taisai.server.auth.verification import SignInRefused
from taisai.server.http.guard import refused
from taisai.server.http.staff import form_of

if TYPE_CHECKING:
    from taisai.server.runtime.house_server import HouseServer

PLAYER: Final = "player"
DISPLAY: Final = "display"
ROLES: Final = (PLAYER, *cast.GUESTS, DISPLAY)
"""What a visitor may be."""
GONE_FOR: Final = 120_000  # ms after which a visitor does not come back to an empty seat
MOST_DISPLAYS: Final = 20  # at a table; then one that is not connected makes room


class Dealers(Protocol):
    """The virtual dealers."""

    @property
    def tables(self) -> dict[str, bool]:
        """Table → whether its virtual dealer deals."""

    def pause(self, table: str, *, dealing: bool) -> None:
        """Lets one deal, or not."""

    def relieved(self, rank: str, table: str, session: str) -> None:
        """A visitor takes a virtual person's part for as long as his session has a connection."""


class Entered(NamedTuple):
    """How a visitor comes in: by a session's token, or by the key of his own device."""

    role: str
    name: str
    token: str | None = None
    device: str | None = None
    table: str | None = None
    seat: str | None = None

    def __repr__(self) -> str:  # never the token
        return f"<Entered {self.role} {self.name!r}>"


class Demonstration:
    """What there is in a demonstration alone, over a casino whose journal says that it is one."""

    def __init__(self, house_server: HouseServer) -> None:
        if not house_server.demonstration:
            raise JournalError("expected a journal of demonstration, got one of play for money")
        self.house_server = house_server
        self.dealers: Dealers | None = None
        self._gone: dict[str, int] = {}
        """Terminal of a visitor → since when it has not been connected."""
        self._seating = asyncio.Lock()  # two who come at once get two places

    # Coming in

    async def enter(
        self, role: str, table: str | None, key: str | None, *, address: str
    ) -> Entered | SignInRefused | Refusal | str:
        """A place for a visitor, in a role and where the role has one at a table; or why there is none."""
        if role not in ROLES:
            return f"expected a role of {', '.join(ROLES)}, got {role!r}"
        if table is not None and table not in cast.TABLES:
            return f"expected a table of {', '.join(cast.TABLES)}, got {table!r}"
        if role in (PLAYER, DISPLAY):
            if table is None or key is None:
                return f"expected a table and a device's key for a {role}, got none"
            async with self._seating:
                return await self._device(role, table, key)
        return await self._staff(role, table, address=address)

    async def _staff(self, rank: str, table: str | None, *, address: str) -> Entered | SignInRefused:
        now = self.house_server.clock.now()
        signed = await self.house_server.authentication.admitted(cast.GUESTS[rank], address=address, now=now)
        if isinstance(signed, SignInRefused):
            return signed
        if table is not None and self.dealers is not None:
            self.dealers.relieved(rank, table, signed.session.id)
        return Entered(rank, signed.session.person, token=signed.token, table=table)

    async def _device(self, role: str, table: str, key: str) -> Entered | Refusal | str:
        kind = DeviceKind.TERMINAL if role == PLAYER else DeviceKind.DISPLAY
        connected = {socket.principal.name for socket in self.house_server.dispatcher.sockets}
        place = await self.house_server.queue.run(lambda engine: _place(engine, kind, table, key, connected))
        if place is None:
            return f"expected a place at {table} that is free, got none: come back later, or go to another"
        name, seat, is_known, instead_of = place
        if instead_of is not None:
            why = "its place is wanted, and nobody is connected with it"
            dismissed = await self._asked(
                DismissDevice(
                    at=self.house_server.clock.now(), by=cast.ADMINISTRATOR, device=instead_of, reason=why
                )
            )
            if dismissed is not None:
                return dismissed
        if not is_known:
            command = EnrolDevice(
                at=self.house_server.clock.now(), by=cast.ADMINISTRATOR, device=name, kind=kind, key=key,
                table=table, seat=seat,
            )  # fmt: skip
            enrolled = await self._asked(command)
            if enrolled is not None:
                return enrolled
        return Entered(role, name, device=name, table=table, seat=seat)

    async def _asked(self, command: AnyCommand) -> Refusal | None:
        answer = await self.house_server.queue.execute(HOUSE, command)
        return answer if isinstance(answer, Refusal) else None

    # Going

    async def tidy(self) -> None:
        """Frees the seats of visitors whose terminals have been gone for a while and who left nothing."""
        now = self.house_server.clock.now()
        connected = {socket.principal.name for socket in self.house_server.dispatcher.sockets}
        left = await self.house_server.queue.run(lambda engine: _left(engine, connected))
        self._gone = {one.terminal: self._gone.get(one.terminal, now) for one in left}
        for one in left:
            if now - self._gone[one.terminal] >= GONE_FOR:
                command = LeaveSeat(at=now, by=one.terminal, seat=one.seat)  # refused where he is back
                await self.house_server.queue.execute(stream_of(one.table), command)

    # Agreeing

    def agreed(self, asker: Session, form: bytes, table: str | None) -> NewApproval | str:
        """A virtual supervisor agrees to what someone asks, as a second person would who looked at it."""
        head = cast.TABLES[table].head if table in cast.TABLES else cast.SHIFT_MANAGER
        if head == asker.person:
            head = cast.GUESTS[cast.VIRTUAL[head]]
        now = self.house_server.clock.now()
        return self.house_server.authentication.approvals.granted(
            digest_of(form), asker=asker, approver=head, now=now
        )


class _Left(NamedTuple):
    table: str
    seat: str
    terminal: str


def _left(engine: Engine, connected: set[str]) -> list[_Left]:
    """Seats of visitors with nothing on them whose terminals are not connected; in the writer's thread."""
    found: list[_Left] = []
    for name, spot in cast.TABLES.items():
        virtual = {cast.terminal_of(name, str(seat)) for seat in range(1, len(spot.players) + 1)}
        for seat in engine.table(name).seats.values():
            terminal = seat.terminal
            if not seat.taken or terminal is None or terminal in virtual or terminal in connected:
                continue
            if not seat.held and not seat.at_risk:
                found.append(_Left(name, seat.name, terminal))
    return found


class _Place(NamedTuple):
    device: str
    seat: str | None
    is_known: bool
    """Whether the key has this place already: someone comes back."""
    instead_of: str | None
    """The device that has to go first."""


def _place(engine: Engine, kind: DeviceKind, table: str, key: str, connected: set[str]) -> _Place | None:
    """Where a visitor's device goes, looked for in the writer's thread."""
    devices = engine.house().devices
    for name, one in devices.items():
        if (one.key, one.table, one.kind) == (key, table, kind):
            return _Place(name, one.seat, is_known=True, instead_of=None)
    seats = engine.table(table).seats
    virtual = len(cast.TABLES[table].players)
    idle: _Place | None = None
    most = cast.SEATS if kind is DeviceKind.TERMINAL else MOST_DISPLAYS
    for number in range(virtual + 1 if kind is DeviceKind.TERMINAL else 1, most + 1):
        seat = str(number) if kind is DeviceKind.TERMINAL else None
        name = cast.terminal_of(table, str(number)) if seat else f"{table}-display-{number}"
        is_taken = seat is not None and seat in seats and seats[seat].taken
        if name not in devices and not is_taken:
            return _Place(name, seat, is_known=False, instead_of=None)
        if idle is None and name in devices and name not in connected and not is_taken:
            idle = _Place(name, seat, is_known=False, instead_of=name)
    return idle


@cache
def _ranks(book: str) -> tuple[str, ...]:
    """The ranks that a document knows; a book is read once."""
    return rulebook(book).people.ranks()


def endpoints(demonstration: Demonstration) -> list[Any]:
    """The endpoints, over a casino whose journal says that it is a demonstration."""

    @get("/api/demo", summary="What the demonstration has: tables, roles, and who is virtual")
    async def told() -> bodies.DemoResponse:
        """For the lobby."""
        dealing = demonstration.dealers.tables if demonstration.dealers else {}
        return bodies.DemoResponse(
            currency=cast.CURRENCY,
            roles=ROLES,
            tables=tuple(
                bodies.DemoTable(
                    table=spot.name, rulebook=spot.book, dealer=spot.dealer,
                    dealing=dealing.get(spot.name, False), head=spot.head, players=spot.players,
                    ranks=_ranks(spot.book),
                )
                for spot in cast.SPOTS
            ),
        )  # fmt: skip

    @post("/api/demo/enter", status_code=200, summary="Come in, in any role")
    async def enter(
        request: Request[Any, Any, State], data: JSONBody[bodies.EnterBody]
    ) -> bodies.EnterResponse:
        """A session for staff, a place for a terminal's or display's own key."""
        address = request.client.host if request.client else "unknown"
        entered = await demonstration.enter(data.role, data.table, data.key, address=address)
        if isinstance(entered, str):
            raise refused(400, "bad-value", entered)
        if isinstance(entered, SignInRefused):
            raise refused(503, entered.reason, entered.message)
        if isinstance(entered, Refusal):
            raise refused(409, entered.reason, f"{entered.message} ({entered.clause})", entered.clause)
        return bodies.EnterResponse(**entered._asdict())

    @post("/api/demo/agree", status_code=200, summary="A virtual supervisor agrees to one ask")
    async def agree(
        request: Request[Any, Any, State], data: JSONBody[bodies.AgreeBody]
    ) -> bodies.ApprovalResponse:
        """The second person of a demonstration: he always agrees, and his name stands in the journal."""
        form, table = form_of(data.request), data.request.get("table")
        answer = demonstration.agreed(request.state.session, form, table if isinstance(table, str) else None)
        if isinstance(answer, str):
            raise refused(403, "second-person", answer)
        return bodies.ApprovalResponse(approval=answer.token, until=answer.approval.until)

    return [told, enter, agree]

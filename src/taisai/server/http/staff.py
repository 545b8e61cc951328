"""Endpoints for staff: sessions, approvals, the staff list, devices, books and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
from litestar import Request, delete, get, post
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery, JSONBody

from taisai.cage.messages import (
    DeviceKind,
    DismissDevice,
    DismissPerson,
    EnrolDevice,
    EnrolPerson,
    NoteOverride,
    RevokeSessions,
    UnlockPerson,
)
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import FLOOR
from taisai.journal import Engine
from taisai.journal.codec import HOUSE, AnyCommand
from taisai.protocol.views import BooksView, ReportView
from taisai.server.auth.permissions import SECOND_PERSONS, Role, is_elsewhere, is_generic, role_of
from taisai.server.auth.sessions import Session, digest_of
from taisai.server.auth.verification import SignInRefusalReason, SignInRefused
from taisai.server.connections.dispatcher import approved_form, canonical
from taisai.server.connections.sockets import decode_request
from taisai.server.handlers.transfers import table_at
from taisai.server.http import bodies
from taisai.server.http.guard import refused

if TYPE_CHECKING:
    from taisai.server.connections.dispatcher import Dispatcher
    from taisai.server.http.bodies import RequestBody

_STATUS = {
    SignInRefusalReason.TOO_OFTEN: 429,
    SignInRefusalReason.BUSY: 503,
    SignInRefusalReason.UNRECORDED: 503,
    SignInRefusalReason.UNFIT: 400,
}


def _dispatcher(request: Request[Any, Any, Any]) -> Dispatcher:
    dispatcher: Dispatcher = request.app.state.dispatcher
    return dispatcher


def _session(request: Request[Any, Any, Any]) -> Session:
    session: Session = request.state.session
    return session


def _address(request: Request[Any, Any, Any]) -> str:
    return request.client.host if request.client else "unknown"


def _not_in(answer: SignInRefused) -> NoReturn:
    raise refused(_STATUS.get(answer.reason, 401), answer.reason, answer.message)


def _told(session: Session) -> bodies.SessionTold:
    return bodies.SessionTold(
        person=session.person, role=role_of(session.rank), session=session.id, opened=session.opened
    )


async def _asked(dispatcher: Dispatcher, command: AnyCommand) -> None:
    answer = await dispatcher.queue.execute(HOUSE, command)
    if isinstance(answer, Refusal):
        raise refused(409, answer.reason, f"{answer.message} ({answer.clause})", answer.clause)


@post("/api/sign-in", status_code=200, summary="Sign in: password and code become a session")
async def sign_in(
    request: Request[Any, Any, State], data: JSONBody[bodies.SignInBody]
) -> bodies.SignedInTold:
    """A token for whoever proves who he is; three failures lock."""
    dispatcher = _dispatcher(request)
    answer = await dispatcher.authentication.sign_in(
        data.person, data.password, data.code, address=_address(request), now=dispatcher.clock.now()
    )
    if isinstance(answer, SignInRefused):
        dispatcher.metrics.sign_ins[answer.reason] += 1
        _not_in(answer)
    dispatcher.metrics.sign_ins["in"] += 1
    return bodies.SignedInTold(token=answer.token, session=_told(answer.session))


@post("/api/sign-out", status_code=200, summary="Sign out")
async def sign_out(request: Request[Any, Any, State]) -> bodies.DoneTold:
    """The session is over, and its sockets close."""
    dispatcher = _dispatcher(request)
    await dispatcher.authentication.sign_out(_session(request).id, now=dispatcher.clock.now())
    return bodies.DoneTold()


@get("/api/session", summary="Who is signed in")
async def session(request: Request[Any, Any, State]) -> bodies.SessionTold:
    """Whose token it is."""
    return _told(_session(request))


@post("/api/approvals", status_code=200, summary="A second person agrees to one ask of the first")
async def approve(
    request: Request[Any, Any, State], data: JSONBody[bodies.ApprovalBody]
) -> bodies.ApprovalTold:
    """A token that is good once, for a minute, for exactly what was approved."""
    dispatcher = _dispatcher(request)
    answer = await dispatcher.authentication.approve(
        data.person, data.password, data.code, digest=digest_of(form_of(data.request)),
        asker=_session(request), address=_address(request), now=dispatcher.clock.now(),
    )  # fmt: skip
    if isinstance(answer, SignInRefused):
        _not_in(answer)
    return bodies.ApprovalTold(approval=answer.token, until=answer.approval.until)


@post("/api/password", status_code=200, summary="A new password, by the person himself")
async def password(request: Request[Any, Any, State], data: JSONBody[bodies.PasswordBody]) -> bodies.DoneTold:
    """A new password and second factor; every session of the person ends."""
    dispatcher = _dispatcher(request)
    answer = await dispatcher.authentication.renew_credentials(
        _session(request),
        data.password,
        data.code,
        data.new,
        address=_address(request),
        now=dispatcher.clock.now(),
    )
    return _set(answer)


def _set(answer: Any) -> bodies.DoneTold:
    if isinstance(answer, SignInRefused):
        _not_in(answer)
    if isinstance(answer, Refusal):
        raise refused(409, answer.reason, f"{answer.message} ({answer.clause})", answer.clause)
    return bodies.DoneTold(uri=answer.uri)


# Administration


@get("/api/staff", summary="The staff roll")
async def staff(request: Request[Any, Any, State]) -> list[bodies.PersonTold]:
    """Everyone on the roll, and whether he can come in."""

    def found(engine: Engine) -> list[bodies.PersonTold]:
        house = engine.house()
        held = list(house.sessions.values())
        return [
            bodies.PersonTold(
                person=person, rank=rank, locked=person in house.locked,
                has_credentials=person in house.credentials, sessions=held.count(person),
            )
            for person, rank in house.people.items()
        ]  # fmt: skip

    return await _dispatcher(request).queue.run(found)


def _in_an_address(name: str) -> None:
    """Refuses a name that cannot be said in an address."""
    if is_elsewhere(name):
        raise refused(400, "bad-value", f"expected a name without '/' that is not '.' or '..', got {name!r}")


def _is_staffed(engine: Engine) -> bool:
    """Whether there are two who can be second persons: until then whoever opened the House enrols alone."""
    return engine.house().staffed


@post("/api/staff", status_code=200, summary="Enrol someone, change a rank, set credentials")
async def enrol(request: Request[Any, Any, State], data: JSONBody[bodies.StaffBody]) -> bodies.DoneTold:
    """On the roll; with a password, also with credentials, whose second factor is told once."""
    dispatcher, who = _dispatcher(request), _session(request)
    _in_an_address(data.person)
    if is_generic(data.person) and not dispatcher.demonstration:
        raise refused(400, "bad-value", f"expected the name of a person, got {data.person!r}, that of a post")
    second = second_for(dispatcher, who, "POST /api/staff", data)
    if second is None and data.rank == Role.CASHIER and await dispatcher.queue.run(_is_staffed):
        says = "expected a second person who agrees to someone at the cage, got nobody"
        raise refused(403, "second-person", says)
    now = dispatcher.clock.now()
    await _asked(
        dispatcher, EnrolPerson(at=now, by=who.person, person=data.person, rank=data.rank, second=second)
    )
    if data.password is None:
        return bodies.DoneTold()
    return _set(
        await dispatcher.authentication.set_credentials(
            data.person, data.password, by=who.person, now=now, second=second
        )
    )


@delete("/api/staff", status_code=200, summary="Take someone off the roll")
async def dismiss(request: Request[Any, Any, State], data: JSONBody[bodies.DismissBody]) -> bodies.DoneTold:
    """Off the roll; his sessions end at once."""
    dispatcher, who = _dispatcher(request), _session(request)
    await _asked(dispatcher, DismissPerson(at=dispatcher.clock.now(), by=who.person, person=data.person))
    return bodies.DoneTold()


@post("/api/staff/{person:str}/unlock", status_code=200, summary="Unlock someone, with a second person")
async def unlock(
    request: Request[Any, Any, State], person: FromPath[str], data: JSONBody[bodies.UnlockBody]
) -> bodies.DoneTold:
    """He may sign in again."""
    dispatcher, who = _dispatcher(request), _session(request)
    second = second_for(dispatcher, who, f"POST /api/staff/{person}/unlock", data)
    command = UnlockPerson(
        at=dispatcher.clock.now(), by=who.person, person=person, reason=data.reason, second=second
    )
    await _asked(dispatcher, command)
    return bodies.DoneTold()


@post("/api/staff/{person:str}/revoke", status_code=200, summary="End all sessions of someone")
async def revoke(
    request: Request[Any, Any, State], person: FromPath[str], data: JSONBody[bodies.ReasonBody]
) -> bodies.DoneTold:
    """His sockets close within a second."""
    dispatcher, who = _dispatcher(request), _session(request)
    command = RevokeSessions(at=dispatcher.clock.now(), by=who.person, person=person, reason=data.reason)
    await _asked(dispatcher, command)
    return bodies.DoneTold()


@get("/api/devices", summary="Enrolled devices")
async def devices(request: Request[Any, Any, State]) -> list[bodies.DeviceTold]:
    """Every device and its place."""

    def found(engine: Engine) -> list[bodies.DeviceTold]:
        return [
            bodies.DeviceTold(device=name, kind=one.kind, table=one.table, seat=one.seat, key=one.key)
            for name, one in engine.house().devices.items()
        ]

    return await _dispatcher(request).queue.run(found)


@post("/api/devices", status_code=200, summary="Enrol a terminal, a display or a shaker by its key")
async def enrol_device(
    request: Request[Any, Any, State], data: JSONBody[bodies.DeviceBody]
) -> bodies.DoneTold:
    """It may connect from now on, for its own table and seat alone; where somebody sits it takes two."""
    dispatcher, who = _dispatcher(request), _session(request)
    _in_an_address(data.device)
    second = second_for(dispatcher, who, "POST /api/devices", data)
    if data.kind is DeviceKind.TERMINAL:
        await _agreed_where_taken(dispatcher, who, data, second)
    await _asked(
        dispatcher,
        EnrolDevice(
            at=dispatcher.clock.now(), by=who.person, device=data.device, kind=data.kind, key=data.key,
            table=data.table, seat=data.seat,
        ),
    )  # fmt: skip
    return bodies.DoneTold()


async def _agreed_where_taken(
    dispatcher: Dispatcher, who: Session, data: bodies.DeviceBody, second: str | None
) -> None:
    """Whoever has a terminal's key has the credits that lie there: nobody alone puts another in its place."""

    def found(engine: Engine) -> tuple[bool, str]:
        table = table_at(engine, data.table)
        seat = None if isinstance(table, Refusal) else table.seats.get(data.seat or "")
        return seat is not None and seat.taken, engine.house().people.get(second or "", "")

    is_taken, rank = await dispatcher.queue.run(found)
    if not is_taken:
        return
    if second is None or role_of(rank) not in SECOND_PERSONS:
        says = f"expected a second person for a seat that is taken, got {second or 'nobody'}"
        raise refused(403, "second-person", says)
    detail = f"a new key for the terminal of seat {data.seat}, where somebody sits; {second} agreed"
    note = NoteOverride(
        at=dispatcher.clock.now(),
        by=FLOOR,
        table=data.table,
        person=who.person,
        what="terminal",
        detail=detail,
    )
    await _asked(dispatcher, note)


@delete("/api/devices", status_code=200, summary="Dismiss a device")
async def dismiss_device(
    request: Request[Any, Any, State], data: JSONBody[bodies.DismissDeviceBody]
) -> bodies.DoneTold:
    """Its connections close at once."""
    dispatcher, who = _dispatcher(request), _session(request)
    command = DismissDevice(at=dispatcher.clock.now(), by=who.person, device=data.device, reason=data.reason)
    await _asked(dispatcher, command)
    return bodies.DoneTold()


def form_of(what: dict[str, Any]) -> bytes:
    """The canonical form of an ask, or of an endpoint with its body."""
    if set(what) == {"endpoint", "body"} and isinstance(what["body"], dict):
        return _request(str(what["endpoint"]), what["body"])
    try:
        return approved_form(decode_request(msgspec.json.encode(what | {"id": "approved"})))
    except (msgspec.DecodeError, TypeError, UnicodeEncodeError, RecursionError) as error:
        raise refused(
            400, "bad-message", f"expected an ask to approve, got something else: {error}"
        ) from None


def _request(endpoint: str, body: dict[str, Any]) -> bytes:
    return canonical({"endpoint": endpoint, "body": {k: v for k, v in body.items() if k != "approval"}})


def second_for(dispatcher: Dispatcher, session: Session, endpoint: str, body: RequestBody) -> str | None:
    """Who approved exactly this request; None where no approval came with it."""
    approval: str | None = getattr(body, "approval", None)
    if approval is None:
        return None
    plain = {k: v for k, v in msgspec.to_builtins(body).items() if v is not None}
    digest = digest_of(_request(endpoint, plain))
    by = dispatcher.authentication.approvals.used(
        approval, digest, asker=session.id, now=dispatcher.clock.now()
    )
    if by is None:
        raise refused(403, "second-person", "expected an approval of exactly this, not yet used, got another")
    return by


@get("/api/books", summary="Every account of House and tables, and whether they balance")
async def books(request: Request[Any, Any, State]) -> BooksView:
    """The books of this moment."""
    dispatcher: Dispatcher = request.app.state.dispatcher
    return await dispatcher.queue.run(lambda _engine: dispatcher.queue.projections.books())


@get("/api/report", summary="Drop, win and hold per table")
async def report(request: Request[Any, Any, State], day: FromQuery[str | None] = None) -> ReportView:
    """Of a gaming day, or of the day in hand."""
    dispatcher: Dispatcher = request.app.state.dispatcher
    return await dispatcher.queue.run(lambda _engine: dispatcher.queue.projections.report(day))


ENDPOINTS = [
    sign_in, sign_out, session, approve, password, staff, enrol, dismiss, unlock, revoke, devices,
    enrol_device, dismiss_device, books, report,
]  # fmt: skip

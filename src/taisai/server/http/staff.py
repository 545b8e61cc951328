"""Endpoints for staff: sessions, the staff list, devices, books and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from litestar import delete, get, post
from litestar.params import FromPath, FromQuery, JSONBody

from taisai.cage import messages
from taisai.cage.messages import SignOutCause
from taisai.game.refusals import Refusal
from taisai.game.vocabulary import FLOOR
from taisai.journal import Engine
from taisai.journal.codec import HOUSE_STREAM
from taisai.protocol import bodies
from taisai.protocol.views import BooksView, ReportView
from taisai.server.auth.enrolment import NewActivation
from taisai.server.auth.permissions import SECOND_PERSONS, Role, is_generic, is_path, role_of
from taisai.server.auth.sessions import NewSession, Session
from taisai.server.auth.sign_in_refusals import SignInRefused
from taisai.server.handlers.transfers import table_at
from taisai.server.http.approvals import (
    StaffRequest,
    address_of,
    dispatcher_of,
    refuse,
    second_for,
    session_in,
)
from taisai.server.http.guard import refused
from taisai.server.projections.texts import title_of

if TYPE_CHECKING:
    from taisai.rules.book import Rulebook
    from taisai.rules.clauses import Adoption
    from taisai.server.connections.dispatcher import Dispatcher
    from taisai.server.runtime.plan import HousePlan


def _response(session: Session) -> bodies.SessionResponse:
    return bodies.SessionResponse(
        person=session.person, role=role_of(session.rank), session=session.id, opened=session.opened
    )


async def _carry_out(
    request: StaffRequest, kind: type[messages.HouseCommand], /, **fields: Any
) -> bodies.DoneResponse:
    """Carries out a command of the person who is signed in."""
    command = kind(at=dispatcher_of(request).clock.now(), by=session_in(request).person, **fields)
    return await _execute(request, command)


async def _execute(request: StaffRequest, command: messages.HouseCommand) -> bodies.DoneResponse:
    answer = await dispatcher_of(request).queue.execute(HOUSE_STREAM, command)
    if isinstance(answer, Refusal):
        refuse(answer)
    return bodies.DoneResponse()


@post("/api/sign-in", status_code=200, summary="Sign in with a password and a code")
async def sign_in(request: StaffRequest, data: JSONBody[bodies.SignInBody]) -> bodies.SignInResponse:
    """Opens a session. Three tries in a row with the right password and a wrong code lock the person."""
    dispatcher = dispatcher_of(request)
    answer = await dispatcher.authentication.sign_in(
        data.person, data.password, data.code, address=address_of(request), now=dispatcher.clock.now()
    )
    return signed_in(dispatcher, answer, before=request.state.session)


def signed_in(
    dispatcher: Dispatcher, answer: NewSession | SignInRefused, *, before: Session | None
) -> bodies.SignInResponse:
    """The new session, which is counted; a refusal too. The session of the request before it ends."""
    if isinstance(answer, SignInRefused):
        dispatcher.metrics.sign_ins[answer.reason] += 1
        refuse(answer)
    dispatcher.metrics.sign_ins["in"] += 1
    if before is not None:
        dispatcher.authentication.sessions.end(before.id, SignOutCause.SIGNED_OUT)
    return bodies.SignInResponse(token=answer.token, session=_response(answer.session))


@post("/api/sign-out", status_code=200, summary="Sign out")
async def sign_out(request: StaffRequest) -> bodies.DoneResponse:
    """Ends the session and closes its sockets."""
    dispatcher = dispatcher_of(request)
    await dispatcher.authentication.sign_out(session_in(request).id, now=dispatcher.clock.now())
    return bodies.DoneResponse()


@get("/api/session", summary="Who is signed in")
async def session(request: StaffRequest) -> bodies.SessionResponse:
    """The session that the token belongs to."""
    return _response(session_in(request))


# Administration


@get("/api/staff", summary="The staff list")
async def staff(request: StaffRequest) -> list[bodies.StaffMember]:
    """Everyone on the staff list, and whether they can sign in."""

    def read(engine: Engine) -> list[bodies.StaffMember]:
        house = engine.house()
        sessions = list(house.sessions.values())
        return [
            bodies.StaffMember(
                person=person, rank=rank, locked=person in house.locked,
                has_credentials=person in house.credentials, sessions=sessions.count(person),
                activation=house.activations[person].until if person in house.activations else None,
                recovered=person in house.recovered,
            )
            for person, rank in house.people.items()
        ]  # fmt: skip

    return await dispatcher_of(request).queue.run(read)


def _check_name(name: str) -> None:
    """Refuses a name that cannot be a part of an address."""
    if is_path(name):
        raise refused(400, "bad-value", f"invalid name {name!r}: '/', '.' and '..' are not allowed")


@post("/api/staff", status_code=200, summary="Enrol a person, change a rank, give an activation code")
async def enrol(request: StaffRequest, data: JSONBody[bodies.StaffBody]) -> bodies.DoneResponse:
    """Enrols a person. With `activate` they get a code for a first sign-in, which is shown only once."""
    dispatcher = dispatcher_of(request)
    _check_name(data.person)
    if is_generic(data.person) and not dispatcher.demonstration:
        raise refused(400, "bad-value", f"{data.person!r} is the name of a post; give the name of a person")
    second = second_for(request, "POST /api/staff", data)
    if second is None:
        await _check_alone(dispatcher, data, by=session_in(request).person)
    done = await _carry_out(request, messages.EnrolPerson, person=data.person, rank=data.rank, second=second)
    if not data.activate:
        return done
    new = await dispatcher.authentication.enrolment.issue(
        data.person, by=session_in(request).person, now=dispatcher.clock.now(), second=second
    )
    if not isinstance(new, NewActivation):
        refuse(new)
    return bodies.DoneResponse(activation=new.code, until=new.until)


async def _check_alone(dispatcher: Dispatcher, data: bodies.StaffBody, *, by: str) -> None:
    """Nobody hands out a sign-in alone, and nobody enrols a cashier alone, once there are two people."""

    def read(engine: Engine) -> tuple[bool, bool]:
        house = engine.house()
        return house.staffed, house.guarded or by != house.opened_by

    is_staffed, takes_two = await dispatcher.queue.run(read)
    if data.rank == Role.CASHIER and is_staffed:
        raise refused(403, "second-person", "enrolling a cashier needs the approval of a second person")
    if data.activate and takes_two:
        raise refused(403, "second-person", "an activation code needs the approval of a second person")


@delete("/api/staff", status_code=200, summary="Remove a person from the staff list")
async def dismiss(request: StaffRequest, data: JSONBody[bodies.DismissBody]) -> bodies.DoneResponse:
    """Removes the person and ends their sessions at once. Someone of supervising rank needs an approval."""
    second = second_for(request, "DELETE /api/staff", data)
    return await _carry_out(request, messages.DismissPerson, person=data.person, second=second)


@post(
    "/api/staff/{person:str}/acknowledge",
    status_code=200,
    summary="Acknowledge that access was recovered for a person",
)
async def acknowledge(request: StaffRequest, person: FromPath[str]) -> bodies.DoneResponse:
    """Ends the alarm. The person concerned cannot do it."""
    return await _carry_out(request, messages.AcknowledgeRecovery, person=person)


@post(
    "/api/staff/{person:str}/unlock",
    status_code=200,
    summary="Unlock a person, with the approval of a second person",
)
async def unlock(
    request: StaffRequest, person: FromPath[str], data: JSONBody[bodies.UnlockBody]
) -> bodies.DoneResponse:
    """Lets a locked person sign in again."""
    second = second_for(request, f"POST /api/staff/{person}/unlock", data)
    return await _carry_out(request, messages.UnlockPerson, person=person, reason=data.reason, second=second)


@post("/api/staff/{person:str}/revoke", status_code=200, summary="End all sessions of a person")
async def revoke(
    request: StaffRequest, person: FromPath[str], data: JSONBody[bodies.ReasonBody]
) -> bodies.DoneResponse:
    """Ends the sessions. Their sockets close within a second."""
    return await _carry_out(request, messages.RevokeSessions, person=person, reason=data.reason)


@get("/api/devices", summary="Enrolled devices")
async def devices(request: StaffRequest) -> list[bodies.DeviceResponse]:
    """Every device with its table and seat."""

    def read(engine: Engine) -> list[bodies.DeviceResponse]:
        return [
            bodies.DeviceResponse(
                device=name, kind=device.kind, table=device.table, seat=device.seat, key=device.key
            )
            for name, device in engine.house().devices.items()
        ]

    return await dispatcher_of(request).queue.run(read)


@get("/api/interpretations", summary="Interpretations of rulebooks, and who adopted them")
async def interpretations(request: StaffRequest) -> bodies.InterpretationsResponse:
    """The editions of this house whose interpretations a person adopts by name, and every adoption."""
    dispatcher = dispatcher_of(request)
    editions = {
        book.digest: book for table in dispatcher.plan.tables for book in table.editions or (table.book,)
    }

    def read(engine: Engine) -> bodies.InterpretationsResponse:
        return bodies.InterpretationsResponse(
            editions=tuple(
                _edition(book, book.adoption, dispatcher.plan)
                for book in editions.values()
                if book.adoption is not None
            ),
            adopted=tuple(
                bodies.AdoptedResponse(
                    rulebook=one.rulebook, edition=one.edition, digest=digest, by=one.by, at=one.at
                )
                for digest, one in engine.house().adopted.items()
            ),
        )

    return await dispatcher.queue.run(read)


def _edition(book: Rulebook, adoption: Adoption, plan: HousePlan) -> bodies.EditionResponse:
    tables = (
        table.name
        for table in plan.tables
        if any(book.digest == other.digest for other in table.editions or (table.book,))
    )
    return bodies.EditionResponse(
        rulebook=book.id, edition=book.edition, title=title_of(book), digest=book.digest,
        rank=adoption.by, asked_by=str(adoption.clause), tables=tuple(tables),
        interpretations=tuple(
            bodies.ReadingResponse(
                clauses=tuple(
                    bodies.ClauseResponse(clause=str(clause), says=book.clauses[clause].says)
                    for clause in one.clauses
                ),
                reading=one.reading, reason=one.reason,
            )
            for one in book.interpretations
        ),
    )  # fmt: skip


@post("/api/devices", status_code=200, summary="Enrol a terminal, a display or a shaker by its key")
async def enrol_device(request: StaffRequest, data: JSONBody[bodies.DeviceBody]) -> bodies.DoneResponse:
    """Lets the device connect. A terminal at a taken seat and a shaker at an open table need an approval."""
    _check_name(data.device)
    second = second_for(request, "POST /api/devices", data)
    if data.kind is not messages.DeviceKind.DISPLAY:
        await _check_in_play(request, data, second)
    fields = msgspec.structs.asdict(data)
    del fields["approval"]
    return await _carry_out(request, messages.EnrolDevice, **fields)


async def _check_in_play(request: StaffRequest, data: bodies.DeviceBody, second: str | None) -> None:
    """A new key for what is in play takes two: it gives access to credits, or says what the dice show."""
    is_shaker = data.kind is messages.DeviceKind.SHAKER

    def read(engine: Engine) -> tuple[bool, str]:
        table, rank = table_at(engine, data.table), engine.house().people.get(second or "", "")
        if isinstance(table, Refusal) or data.device in engine.house().devices:
            return False, rank  # enrolled again with the same key, which changes nothing, or refused
        seat = table.seats.get(data.seat or "")
        return table.open if is_shaker else seat is not None and seat.taken, rank

    is_in_play, rank = await dispatcher_of(request).queue.run(read)
    if not is_in_play:
        return
    what = f"table {data.table} is open" if is_shaker else f"seat {data.seat} is taken"
    if second is None or role_of(rank) not in SECOND_PERSONS:
        problem = f"{what}; a new {data.kind} there needs the approval of a supervisor"
        raise refused(403, "second-person", problem)
    detail = f"a new key for the {data.kind} {data.device}: {what}; {second} agreed"
    note = messages.NoteOverride(
        at=dispatcher_of(request).clock.now(), by=FLOOR, table=data.table, person=session_in(request).person,
        what="terminal", detail=detail,
    )  # fmt: skip
    note = msgspec.structs.replace(note, what="reading") if is_shaker else note
    await _execute(request, note)


@delete("/api/devices", status_code=200, summary="Remove a device")
async def dismiss_device(
    request: StaffRequest, data: JSONBody[bodies.DismissDeviceBody]
) -> bodies.DoneResponse:
    """Removes the device and closes its connections at once."""
    return await _carry_out(request, messages.DismissDevice, device=data.device, reason=data.reason)


@get("/api/books", summary="Every account of the House and the tables, and whether they balance")
async def books(request: StaffRequest) -> BooksView:
    """The books as they are now."""
    queue = dispatcher_of(request).queue
    return await queue.run(lambda _engine: queue.projections.books())


@get("/api/report", summary="Drop, win and hold per table")
async def report(request: StaffRequest, day: FromQuery[str | None] = None) -> ReportView:
    """The report of a gaming day; by default of the current day."""
    queue = dispatcher_of(request).queue
    return await queue.run(lambda _engine: queue.projections.report(day))


ENDPOINTS = [
    sign_in, sign_out, session, staff, enrol, dismiss, acknowledge, unlock, revoke, devices,
    enrol_device, dismiss_device, interpretations, books, report,
]  # fmt: skip

"""A terminal's money: a ticket goes in and becomes credits, all credits go out and become a ticket."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taisai.cage import HouseTransfer, decide_house
from taisai.cage.messages import IssueTicket, SendTicket
from taisai.game.checks import no_seat
from taisai.game.checks import refused as refusal
from taisai.game.commands import Command, DispenseCredits
from taisai.game.events import TicketReceived
from taisai.game.play import decide
from taisai.game.refusals import Reason, Refusal
from taisai.game.seating import TERMINALS, seat_refusal
from taisai.game.vocabulary import TABLE
from taisai.journal import Answer, Engine, stream_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.protocol.replies import DoneReply, TicketLine, TicketsReply
from taisai.server.handlers.context import answer_to, refused, witnessed
from taisai.server.handlers.transfers import (
    KEY_BYTES,
    RETRIED_WITHIN,
    arrival,
    asked_id,
    issuing,
    kept,
    short_id,
    table_at,
    ticket_numbers,
)

if TYPE_CHECKING:
    from taisai.protocol.message import ServerMessage
    from taisai.protocol.requests import TicketInRequest, TicketOutRequest, TicketsRequest
    from taisai.server.auth.permissions import Principal
    from taisai.server.handlers.context import Context


# A ticket goes in


async def ticket_in(context: Context, principal: Principal, request: TicketInRequest) -> ServerMessage:
    """Moves a ticket's value to the terminal's credits; the ticket is worth nothing from then on."""
    queue, now, transfer, fresh = context.queue, context.clock.now(), "", context.entropy(KEY_BYTES)
    moved: HouseTransfer | None = None

    def send(engine: Engine) -> SendTicket | Refusal:
        nonlocal transfer
        session = _session(engine, request.table, request.seat, principal.name)
        if isinstance(session, Refusal):
            return session
        ticket = ticket_numbers(engine, fresh).held(engine.house(), request.ticket)
        transfer = short_id("in", ticket, request.table, request.seat, str(session))
        return SendTicket(
            at=now, by=TABLE, ticket=ticket, transfer=transfer, table=request.table, seat=request.seat,
            session=session,
        )  # fmt: skip

    def receive(engine: Engine) -> Command | Answer:
        nonlocal moved
        moved = kept(engine, transfer)
        return arrival(engine, moved, at=now)

    sent = await queue.execute(HOUSE_STREAM, send)
    if isinstance(sent, Refusal):
        return answer_to(request.id, sent)
    received = await queue.execute(stream_of(request.table), receive)
    if isinstance(received, Refusal) or moved is None:
        return answer_to(request.id, received)
    if any(isinstance(event, TicketReceived) and event.claimed for event in received):
        problem = "the player has left the seat: the ticket's value is their claim"
        return refused(request.id, Reason.RULED_OUT, problem, "house:transfers")
    return answer_to(request.id, received, amount=moved.amount, transfer=transfer)


def _session(engine: Engine, table_name: str, name: str, by: str) -> int | Refusal:
    """The session that will own the credits; or why the seat cannot have them."""
    table = table_at(engine, table_name)
    if isinstance(table, Refusal):
        return table
    problem = seat_refusal(table, name, by) if table.open else no_seat(table, name)
    if problem is not None:
        return problem
    seat = table.seats[name]
    if seat.purse is None:
        return refusal(Reason.WRONG_MEANS, TERMINALS, f"seat {name} has no terminal")
    return seat.session


# Credits go out


async def ticket_out(context: Context, principal: Principal, request: TicketOutRequest) -> ServerMessage:
    """Turns all credits of the terminal into a ticket; the same request again returns the same ticket."""
    queue, now, fresh = context.queue, context.clock.now(), context.entropy(KEY_BYTES)
    transfer, number, known, issue = "", "", None, None

    def dispense(engine: Engine) -> DispenseCredits | Answer:
        nonlocal transfer, number, known
        # With the session in it, so that no later player of the seat receives the ticket.
        session = str(_latest_session(engine, request.table, request.seat))
        table = table_at(engine, request.table)
        booked = () if isinstance(table, Refusal) else table.transfers
        transfer = asked_id(booked, "out", principal.name, request.id, session, at=now)
        house, numbers = engine.house(), ticket_numbers(engine, fresh)
        issued = house.transfers.get(transfer)
        if issued is not None and issued.ticket is not None:
            known = issued, numbers.of(house.tickets[issued.ticket]), house.tickets[issued.ticket].at
            return ()
        number = numbers.issued(transfer)
        command = DispenseCredits(at=now, by=principal.name, transfer=transfer, seat=request.seat)
        leaving = table if isinstance(table, Refusal) else decide(table, command)
        if isinstance(leaving, Refusal):
            return leaving
        for event in leaving:
            # Only the House knows whether it can issue a ticket of this value: checked before credits leave.
            amount: int = getattr(event, "amount", 0)
            issues = issuing(transfer, request.table, amount, at=now, numbers=numbers)
            answer = decide_house(house, issues)
            if isinstance(answer, Refusal):
                return answer
        return command

    def issue_ticket(engine: Engine) -> IssueTicket:
        nonlocal issue
        amount = -engine.table(request.table).transfers[transfer].amount
        numbers = ticket_numbers(engine, fresh)
        issue = issuing(transfer, request.table, amount, at=now, numbers=numbers)
        return issue

    dispensed = await queue.execute(stream_of(request.table), dispense)
    if isinstance(dispensed, Refusal):
        return answer_to(request.id, dispensed)
    if known is not None:
        issued, printed, at = known
        return _issued_before(request, issued, printed, now - at)
    answer = await queue.execute(HOUSE_STREAM, issue_ticket)
    if isinstance(answer, Refusal) or issue is None:
        return answer_to(request.id, answer)
    return DoneReply(
        to=request.id, ticket=number, amount=issue.amount, transfer=transfer, again=not dispensed
    )


async def tickets(context: Context, _principal: Principal, request: TicketsRequest) -> ServerMessage:
    """The open tickets of the seat's player: mostly for one whose reply was lost."""
    fresh = context.entropy(KEY_BYTES)
    found = await context.queue.run(lambda engine: _open_tickets(engine, request.table, request.seat, fresh))
    if isinstance(found, Refusal):
        return answer_to(request.id, found)
    house, lines = found
    reply = TicketsReply(to=request.id, house=house, tickets=tuple(lines))
    return await witnessed(context, request.id, reply) if lines else reply


def _open_tickets(
    engine: Engine, table_name: str, name: str, fresh: bytes
) -> tuple[str, list[TicketLine]] | Refusal:
    table, house = table_at(engine, table_name), engine.house()
    if isinstance(table, Refusal):
        return table
    seat = table.seats.get(name)
    # A player who has left holds their ticket; the next player must not see its number.
    dispensed = reversed(seat.dispensed if seat and seat.taken else ())
    numbers, lines = ticket_numbers(engine, fresh), []
    for issued in map(house.transfers.get, dispensed):
        ticket = (
            house.tickets.get(issued.ticket) if issued is not None and issued.ticket is not None else None
        )
        if ticket is not None and ticket.redeemed is None:
            lines.append(TicketLine(ticket=numbers.of(ticket), amount=ticket.amount, at=ticket.at))
    return house.name, lines


def _latest_session(engine: Engine, table_name: str, name: str) -> int:
    table = table_at(engine, table_name)
    seat = None if isinstance(table, Refusal) else table.seats.get(name)
    return 0 if seat is None else seat.session


def _issued_before(request: TicketOutRequest, issued: HouseTransfer, number: str, age: int) -> ServerMessage:
    """The reply to a retry."""
    if age <= RETRIED_WITHIN and issued.table == request.table:
        return DoneReply(to=request.id, ticket=number, amount=issued.amount, transfer=issued.id, again=True)
    # Someone else may have an old ticket by now: its number stays unknown.
    problem = f"the id of this ticket was used before, for transfer {issued.id!r}"
    return refused(request.id, Reason.DIFFERENT_CONTENT, problem, "house:tickets")

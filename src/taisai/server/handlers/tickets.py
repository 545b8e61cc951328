"""A terminal's money: a ticket goes in and becomes credits, all credits go out and become a ticket."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from taisai.cage import HouseTransfer, decide_house
from taisai.cage.messages import SendTicket
from taisai.game.checks import no_seat
from taisai.game.checks import refused as refusal
from taisai.game.commands import DispenseCredits
from taisai.game.events import TicketReceived
from taisai.game.refusals import Reason, Refusal
from taisai.game.seating import TERMINALS, seat_refusal
from taisai.game.vocabulary import TABLE
from taisai.journal import Engine, stream_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.protocol.replies import DoneReply, TicketLine, TicketsReply
from taisai.server.handlers.ticket_numbers import KEY_BYTES, as_printed, short_id, tickets_key
from taisai.server.handlers.transfers import arrive, issuing, kept, table_at
from taisai.server.replies import answer_to, refused

if TYPE_CHECKING:
    from taisai.protocol.message import ServerMessage
    from taisai.protocol.requests import TicketInRequest, TicketOutRequest, TicketsRequest
    from taisai.server.auth.permissions import Principal
    from taisai.server.handlers.context import Context

RETRIED_WITHIN: Final = 3_600_000  # ms: an id that comes back later is no retry, and its ticket another's


# A ticket goes in


async def ticket_in(context: Context, principal: Principal, ask: TicketInRequest) -> ServerMessage:
    """A ticket's value goes to the terminal's credits; the ticket is worth nothing from there on."""
    queue, clock, ticket = context.queue, context.clock, as_printed(ask.ticket)
    session = await queue.run(lambda engine: _session(engine, ask.table, ask.seat, principal.name))
    if isinstance(session, Refusal):
        return answer_to(ask.id, session)
    transfer = short_id("in", ticket, ask.table, ask.seat, str(session))
    command = SendTicket(
        at=clock.now(), by=TABLE, ticket=ticket, transfer=transfer, table=ask.table, seat=ask.seat,
        session=session,
    )  # fmt: skip
    sent = await queue.execute(HOUSE_STREAM, command)
    moved = await queue.run(lambda engine: kept(engine, transfer))
    if isinstance(sent, Refusal) or moved is None:
        return answer_to(ask.id, sent)
    received = await arrive(queue, clock, moved)
    if isinstance(received, Refusal):
        return answer_to(ask.id, received)
    if any(isinstance(event, TicketReceived) and event.claimed for event in received):
        says = "expected the player to stay, got a seat that was left: the ticket's value is their claim"
        return refused(ask.id, Reason.RULED_OUT, says, "house:transfers")
    return DoneReply(to=ask.id, amount=moved.amount, transfer=transfer, again=not received)


def _session(engine: Engine, table_name: str, name: str, by: str) -> int | Refusal:
    """Whose credits they will be; or why nobody sits there who could have them."""
    table = table_at(engine, table_name)
    if isinstance(table, Refusal):
        return table
    wrong = seat_refusal(table, name, by) if table.open else no_seat(table, name)
    if wrong is not None:
        return wrong
    seat = table.seats[name]
    if seat.purse is None:
        return refusal(Reason.WRONG_MEANS, TERMINALS, f"seat {name} has no terminal")
    return seat.session


# Credits go out


class _Out(NamedTuple):
    """What is known of a ticket that a terminal asks for."""

    issued: HouseTransfer | None
    """The House's side, where the ticket is there already."""
    at: int
    key: bytes
    wrong: Refusal | None
    """Why the House would not issue it."""


async def ticket_out(context: Context, principal: Principal, ask: TicketOutRequest) -> ServerMessage:
    """All credits of the terminal become a ticket; the same ask again tells the same one."""
    queue, clock = context.queue, context.clock
    now, fresh = clock.now(), context.entropy(KEY_BYTES)
    # With the session in it: a ticket is told again to the player whose it is, and to nobody after them.
    session = await queue.run(lambda engine: _latest_session(engine, ask.table, ask.seat))
    transfer = short_id("out", principal.name, ask.id, str(session))
    out = await queue.run(lambda engine: _out(engine, ask, transfer, at=now, fresh=fresh))
    if out.issued is not None:
        return _told_again(ask, out.issued, now - out.at)
    if out.wrong is not None:
        return answer_to(ask.id, out.wrong)
    command = DispenseCredits(at=now, by=principal.name, transfer=transfer, seat=ask.seat)
    dispensed = await queue.execute(stream_of(ask.table), command)
    if isinstance(dispensed, Refusal):
        return answer_to(ask.id, dispensed)
    amount = await queue.run(lambda engine: -engine.table(ask.table).transfers[transfer].amount)
    issue = issuing(transfer, ask.table, amount, at=now, key=out.key)
    issued = await queue.execute(HOUSE_STREAM, issue)
    if isinstance(issued, Refusal):
        return answer_to(ask.id, issued)
    return DoneReply(to=ask.id, ticket=issue.ticket, amount=amount, transfer=transfer, again=not dispensed)


async def tickets(context: Context, _principal: Principal, ask: TicketsRequest) -> ServerMessage:
    """The tickets of whoever sits there that are still good: one whose answer was lost, above all."""
    found = await context.queue.run(lambda engine: _open_tickets(engine, ask.table, ask.seat))
    if isinstance(found, Refusal):
        return answer_to(ask.id, found)
    house, lines = found
    return TicketsReply(to=ask.id, house=house, tickets=tuple(lines))


def _open_tickets(engine: Engine, table_name: str, name: str) -> tuple[str, list[TicketLine]] | Refusal:
    table, house = table_at(engine, table_name), engine.house()
    if isinstance(table, Refusal):
        return table
    seat = table.seats.get(name)
    # Whoever has left has their ticket in their hand; nobody after them is told its number.
    issued = (house.transfers.get(one) for one in reversed(seat.dispensed if seat and seat.taken else ()))
    numbers = (one.ticket for one in issued if one is not None and one.ticket is not None)
    return house.name, [
        TicketLine(ticket=one.id, amount=one.amount, at=one.at)
        for one in map(house.tickets.__getitem__, numbers)
        if one.redeemed is None
    ]


def _latest_session(engine: Engine, table_name: str, name: str) -> int:
    table = table_at(engine, table_name)
    seat = None if isinstance(table, Refusal) else table.seats.get(name)
    return 0 if seat is None else seat.session


def _out(engine: Engine, ask: TicketOutRequest, transfer: str, *, at: int, fresh: bytes) -> _Out:
    house, key = engine.house(), tickets_key(engine, fresh)
    known = house.transfers.get(transfer)
    if known is not None and known.ticket is not None:
        return _Out(known, house.tickets[known.ticket].at, key, None)
    # Whether there is room for one more ticket is known only to the House: asked before credits leave.
    tried = decide_house(house, issuing(transfer, ask.table, 1, at=at, key=key))
    return _Out(None, at, key, tried if isinstance(tried, Refusal) else None)


def _told_again(ask: TicketOutRequest, issued: HouseTransfer, age: int) -> ServerMessage:
    if age <= RETRIED_WITHIN and issued.table == ask.table:
        return DoneReply(
            to=ask.id, ticket=issued.ticket, amount=issued.amount, transfer=issued.id, again=True
        )
    # An old ticket may be in other hands by now, so that its number is not told.
    says = f"expected an id of its own for every ticket, got that of transfer {issued.id!r}"
    return refused(ask.id, Reason.DIFFERENT_CONTENT, says, "house:tickets")

"""Requests of the cage: sales of tickets, fills, credits and drop boxes of tables, claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from taisai.cage import Direction, HouseTransfer, HouseTransferKind, Ticket, decide_house, messages
from taisai.game.checks import refused as refusal
from taisai.game.commands import SendCredit, SendDrop
from taisai.game.money.cashier import DROP, FLOAT
from taisai.game.money.claims import CLAIMS
from taisai.game.play import decide
from taisai.game.refusals import Reason, Refusal
from taisai.game.table import Claim
from taisai.game.vocabulary import TransferKind
from taisai.journal import Engine, stream_of
from taisai.journal.codec import HOUSE_STREAM
from taisai.protocol.commands import tag_of
from taisai.protocol.replies import DoneReply, RefusedReply
from taisai.rules.clauses import Clause
from taisai.server.handlers.context import answer_to
from taisai.server.handlers.transfers import (
    KEY_BYTES,
    RETRIED_WITHIN,
    arrival,
    arriving,
    as_printed,
    asked_id,
    kept,
    short_id,
    table_at,
    ticket_numbers,
)

if TYPE_CHECKING:
    from taisai.protocol import requests
    from taisai.protocol.message import ServerMessage
    from taisai.server.auth.permissions import Principal
    from taisai.server.handlers.context import Context


async def sell_ticket(
    context: Context, principal: Principal, request: requests.SellTicketRequest
) -> ServerMessage:
    """Sells a ticket for cash; the same request of the same cashier again returns the same ticket."""
    now, fresh, number, ticket = context.clock.now(), context.entropy(KEY_BYTES), "", ""

    def known(engine: Engine) -> Ticket | None:
        nonlocal number, ticket
        numbers = ticket_numbers(engine, fresh)
        number = numbers.sold(engine.house(), principal.name, request.id, now)
        ticket = numbers.held(engine.house(), number)
        return engine.house().tickets.get(ticket)

    # A retry needs no approval again, and that of the first time is used.
    second = None if await context.queue.run(known) else await context.second(principal, request)
    if isinstance(second, RefusedReply):
        return second

    def sell(engine: Engine) -> messages.SellTicket | Refusal:
        sold = known(engine)
        if sold is not None and now - sold.at > RETRIED_WITHIN:
            return _used_id("sale", ticket)
        return messages.SellTicket(
            at=now, by=principal.name, ticket=ticket, amount=request.amount, second=second
        )

    answer = await context.queue.execute(HOUSE_STREAM, sell)
    return answer_to(request.id, answer, ticket=number, amount=request.amount)


async def redeemed(context: Context, principal: Principal, request: requests.DoRequest) -> bool:
    """Whether a request has cashed its ticket already: a retry needs no new approval."""
    sent: Any = request.do
    ask, fresh = short_id("redeem", principal.name, request.id), context.entropy(KEY_BYTES)

    def is_redeemed(engine: Engine) -> bool:
        house = engine.house()
        ticket = house.tickets.get(ticket_numbers(engine, fresh).held(house, sent.ticket))
        return ticket is not None and ticket.redeemed is not None and ticket.redeemed.ask == ask

    return await context.queue.run(is_redeemed)


def ticket_worth(engine: Engine, request: requests.DoRequest, fresh: bytes) -> int | Refusal | None:
    """What is paid for the ticket of a request that redeems one, or why nothing is; else None."""
    sent: Any = request.do
    if tag_of(sent) != "redeem-ticket":
        return None
    ticket = engine.house().tickets.get(ticket_numbers(engine, fresh).held(engine.house(), sent.ticket))
    if ticket is None or ticket.redeemed is not None:
        problem = "the House has no ticket of this number" if ticket is None else "the ticket was redeemed"
        return Refusal(Reason.BAD_VALUE, Clause("house:tickets"), f"{problem}: there is nothing to approve")
    return ticket.amount


async def redeem(context: Context, command: messages.RedeemTicket, request_id: str) -> ServerMessage:
    """Pays cash for a ticket; the same request of the same cashier again returns the amount again.

    The command comes with the number of the ticket as it was typed.
    """
    id_, fresh, paid = short_id("redeem", command.by, request_id), context.entropy(KEY_BYTES), None

    def pay(engine: Engine) -> messages.RedeemTicket:
        nonlocal paid
        ticket = ticket_numbers(engine, fresh).held(engine.house(), command.ticket)
        paid = engine.house().tickets.get(ticket)
        return replace(command, ticket=ticket, ask=id_)

    answer = await context.queue.execute(HOUSE_STREAM, pay)
    if isinstance(answer, Refusal) or paid is None:
        return answer_to(request_id, answer)
    if not answer and paid.redeemed is not None and command.at - paid.redeemed.at > RETRIED_WITHIN:
        return answer_to(request_id, _used_id("ticket that is redeemed", paid.id))
    number = as_printed(command.ticket)
    return DoneReply(to=request_id, ticket=number, amount=paid.amount, again=not answer)


def _used_id(what: str, ticket: str) -> Refusal:
    problem = f"the id of this {what} was used before, for ticket {ticket!r}"
    return Refusal(Reason.DIFFERENT_CONTENT, Clause("house:tickets"), problem)


async def owners_moved(
    context: Context, principal: Principal, request: requests.DoRequest
) -> ServerMessage | None:
    """The reply to a retry: the owners' money that moved under this id needs no new approval."""
    sent: Any = request.do
    known = await context.queue.run(lambda engine: engine.house().movements.get(sent.id))
    meant = (sent.amount, tag_of(sent) == "bring-in", principal.name)
    if known is None or (known.amount, known.brought, known.by) != meant:
        return None
    return DoneReply(to=request.id, amount=known.amount, again=True)


# The tray


async def fill(context: Context, principal: Principal, request: requests.FillRequest) -> ServerMessage:
    """Chips leave the cage and arrive in the tray, where the second person sees them come."""
    queue, now = context.queue, context.clock.now()

    def read(engine: Engine) -> tuple[str, HouseTransfer | None]:
        known = engine.house().transfers
        transfer = asked_id(known, "fill", principal.name, request.id, at=now)
        return transfer, known.get(transfer)

    transfer, booked = await queue.run(read)
    moved = HouseTransfer(transfer, HouseTransferKind.FILL, request.table, request.amount, Direction.DUE)
    if booked == moved:
        return await _arrived(context, request.id, moved, again=True)
    second = await context.second(principal, request)
    if isinstance(second, RefusedReply):
        return second
    command = messages.SendFill(
        at=context.clock.now(), by=principal.name, transfer=transfer, table=request.table,
        amount=request.amount, second=second,
    )  # fmt: skip
    return await _carried(context, request.id, moved, command, second)


async def take_credit(
    context: Context, principal: Principal, request: requests.TakeCreditRequest
) -> ServerMessage:
    """Chips leave the tray and arrive at the cage."""
    queue, now = context.queue, context.clock.now()

    def read(engine: Engine) -> tuple[str, int | None]:
        asked = ("credit", principal.name, request.id)
        transfer = request.transfer or _asked_at_table(engine, request.table, *asked, at=now)
        return transfer, _booked(engine, request.table, transfer, TransferKind.CREDIT)

    transfer, known = await queue.run(read)
    receive = messages.ReceiveCredit(
        at=now, by=principal.name, transfer=transfer, table=request.table, amount=request.amount
    )
    if known is None and request.transfer is not None:
        message = f"no credit {request.transfer!r} left table {request.table}"
        return answer_to(request.id, refusal(Reason.BAD_VALUE, FLOAT, message))
    if known is None:
        second = await context.second(principal, request)
        if isinstance(second, RefusedReply):
            return second
        send = SendCredit(at=now, by=principal.name, transfer=transfer, amount=request.amount, second=second)

        def send_if_received(engine: Engine) -> SendCredit | Refusal:
            """Nothing leaves the table that the House would not receive."""
            answer = decide_house(engine.house(), receive)
            return answer if isinstance(answer, Refusal) else send

        sent = await queue.execute(stream_of(request.table), send_if_received)
        if isinstance(sent, Refusal):
            return answer_to(request.id, sent)
    elif known != request.amount:
        message = f"transfer {transfer} was booked with {known}: repeat that amount, or use a new id"
        return answer_to(request.id, refusal(Reason.DIFFERENT_CONTENT, "house:transfers", message))
    received = await queue.execute(HOUSE_STREAM, receive)
    is_again = known is not None
    return answer_to(request.id, received, amount=request.amount, transfer=transfer, again=is_again)


# The drop box


async def take_drop(
    context: Context, principal: Principal, request: requests.TakeDropRequest
) -> ServerMessage:
    """A drop box leaves its table; it is on its way until it has been counted."""
    queue, now = context.queue, context.clock.now()

    def read(engine: Engine) -> tuple[str, int | None]:
        transfer = _asked_at_table(engine, request.table, "drop", principal.name, request.id, at=now)
        return transfer, _booked(engine, request.table, transfer, TransferKind.DROP)

    transfer, known = await queue.run(read)
    if known is not None:
        return DoneReply(to=request.id, amount=known, transfer=transfer, again=True)
    second = await context.second(principal, request)
    if isinstance(second, RefusedReply):
        return second
    send = SendDrop(at=context.clock.now(), by=principal.name, transfer=transfer, second=second)
    sent = await queue.execute(stream_of(request.table), send)
    if isinstance(sent, Refusal):
        return answer_to(request.id, sent)
    amount = await queue.run(lambda engine: _booked(engine, request.table, transfer, TransferKind.DROP))
    return DoneReply(to=request.id, amount=amount, transfer=transfer, again=not sent)


async def count_drop(
    context: Context, principal: Principal, request: requests.CountDropRequest
) -> ServerMessage:
    """What was found in a drop box, against what its table booked when it left."""

    def read(engine: Engine) -> tuple[int, HouseTransfer | None] | Refusal:
        table = table_at(engine, request.table)
        if isinstance(table, Refusal):
            return table
        booked = table.transfers.get(request.transfer)
        if booked is None or booked.kind is not TransferKind.DROP:
            message = f"no drop box left table {request.table} under the transfer {request.transfer!r}"
            return refusal(Reason.BAD_VALUE, DROP, message)
        return booked.amount, kept(engine, request.transfer)

    box = await context.queue.run(read)
    if isinstance(box, Refusal):
        return answer_to(request.id, box)
    declared, counted = box
    if counted is not None and (counted.table, counted.counted) == (request.table, request.counted):
        return DoneReply(to=request.id, amount=request.counted, transfer=request.transfer, again=True)
    second = await context.second(principal, request)
    if isinstance(second, RefusedReply):
        return second
    count = messages.CountDrop(
        at=context.clock.now(), by=principal.name, transfer=request.transfer, table=request.table,
        declared=declared, counted=request.counted, second=second,
    )  # fmt: skip
    answer = await context.queue.execute(HOUSE_STREAM, count)
    return answer_to(request.id, answer, amount=request.counted, transfer=request.transfer)


# Claims


async def settle_claim(
    context: Context, principal: Principal, request: requests.SettleClaimRequest
) -> ServerMessage:
    """The cage pays what is a player's, or collects what they owe, and the table's claim is over."""
    queue, now, transfer = context.queue, context.clock.now(), ""

    def read(engine: Engine) -> tuple[Claim | None, HouseTransfer | None] | Refusal:
        """The table's record of an open claim, the House's of a settled one."""
        nonlocal transfer
        transfer = asked_id(engine.house().transfers, "claim", principal.name, request.id, at=now)
        table = table_at(engine, request.table)
        if isinstance(table, Refusal):
            return table
        return table.claims.get(request.claim), kept(engine, transfer)

    known = await queue.run(read)
    if isinstance(known, Refusal):
        return answer_to(request.id, known)
    claim, settled = known
    if settled is not None and (settled.table, settled.claim) == (request.table, request.claim):
        return await _arrived(context, request.id, settled, again=True)
    if claim is None:
        return answer_to(request.id, refusal(Reason.BAD_VALUE, CLAIMS, f"no open claim {request.claim!r}"))
    second = await context.second(principal, request)
    if isinstance(second, RefusedReply):
        return second
    of_player, amount = claim.of_player, claim.amount
    kind = HouseTransferKind.CLAIM_PAID if of_player else HouseTransferKind.CLAIM_COLLECTED
    direction = Direction.DUE if of_player else Direction.OWED
    moved = HouseTransfer(transfer, kind, request.table, amount, direction, claim=request.claim)
    command = (messages.PayClaim if of_player else messages.CollectClaim)(
        at=context.clock.now(), by=principal.name, transfer=transfer, table=request.table,
        claim=request.claim, amount=amount, second=second,
    )  # fmt: skip
    return await _carried(context, request.id, moved, command, second)


# Both sides


async def _carried(
    context: Context,
    request_id: str,
    moved: HouseTransfer,
    command: messages.HouseCommand,
    second: str | None,
) -> ServerMessage:
    """Books the House's side, then the table's; neither if the table would refuse its own."""
    at = context.clock.now()

    def book(engine: Engine) -> messages.HouseCommand | Refusal:
        table = table_at(engine, moved.table)
        if isinstance(table, Refusal):
            return table
        claim = None if moved.claim is None else table.claims.get(moved.claim)
        if claim is not None and claim.amount != moved.amount:  # set off against another one meanwhile
            message = f"claim {claim.id} has changed from {moved.amount} to {claim.amount}: ask again"
            return refusal(Reason.DIFFERENT_CONTENT, CLAIMS, message)
        arrives = arriving(moved, at=at, second=second)
        answer = () if arrives is None else decide(table, arrives)
        return answer if isinstance(answer, Refusal) else command

    answer = await context.queue.execute(HOUSE_STREAM, book)
    if isinstance(answer, Refusal):
        return answer_to(request_id, answer)
    return await _arrived(context, request_id, moved, second)


async def _arrived(
    context: Context, request_id: str, moved: HouseTransfer, second: str | None = None, *, again: bool = False
) -> ServerMessage:
    at = context.clock.now()
    answer = await context.queue.execute(
        stream_of(moved.table), lambda engine: arrival(engine, moved, at=at, second=second)
    )
    return answer_to(request_id, answer, amount=moved.amount, transfer=moved.id, again=again)


def _asked_at_table(engine: Engine, table_name: str, kind: str, *parts: str, at: int) -> str:
    """The id of a transfer that the table books first."""
    table = table_at(engine, table_name)
    return asked_id(() if isinstance(table, Refusal) else table.transfers, kind, *parts, at=at)


def _booked(engine: Engine, table_name: str, transfer: str, kind: TransferKind) -> int | None:
    """What a table booked as due under a transfer of a kind: a drop box, which is counted, is no credit."""
    table = table_at(engine, table_name)
    booked = None if isinstance(table, Refusal) else table.transfers.get(transfer)
    return None if booked is None or booked.kind is not kind else booked.amount

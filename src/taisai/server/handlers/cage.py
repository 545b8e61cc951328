"""The cage's asks: tickets sold, fills, credits and drop boxes of tables, claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from taisai.cage import Direction, HouseTransfer, HouseTransferKind, decide_house
from taisai.cage.messages import (
    CollectClaim,
    CountDrop,
    HouseCommand,
    PayClaim,
    ReceiveCredit,
    RedeemTicket,
    SellTicket,
    SendFill,
)
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
from taisai.server.handlers.ticket_numbers import KEY_BYTES, short_id, ticket_number, tickets_key
from taisai.server.handlers.tickets import RETRIED_WITHIN
from taisai.server.handlers.transfers import arrive, arriving, kept, table_at
from taisai.server.replies import answer_to, refused

if TYPE_CHECKING:
    from taisai.protocol.message import ServerMessage
    from taisai.protocol.requests import (
        CountDropRequest,
        DoRequest,
        FillRequest,
        SellTicketRequest,
        SettleClaimRequest,
        TakeCreditRequest,
        TakeDropRequest,
    )
    from taisai.server.auth.permissions import Principal
    from taisai.server.handlers.context import Context

    Signed = CountDropRequest | FillRequest | SettleClaimRequest | TakeCreditRequest | TakeDropRequest


async def sell_ticket(context: Context, principal: Principal, ask: SellTicketRequest) -> ServerMessage:
    """A ticket for cash; the same ask of the same cashier again tells the same ticket."""
    now, fresh = context.clock.now(), context.entropy(KEY_BYTES)

    def found(engine: Engine) -> tuple[str, int]:
        number = ticket_number(tickets_key(engine, fresh), "sold", principal.name, ask.id)
        sold = engine.house().tickets.get(number)
        return number, now if sold is None else sold.at

    number, at = await context.queue.run(found)
    if now - at > RETRIED_WITHIN:
        says = f"expected an id of its own for every sale, got that of ticket {number!r}"
        return refused(ask.id, Reason.DIFFERENT_CONTENT, says, "house:tickets")
    sold = await context.queue.execute(
        HOUSE_STREAM, SellTicket(at=now, by=principal.name, ticket=number, amount=ask.amount)
    )
    if isinstance(sold, Refusal):
        return answer_to(ask.id, sold)
    return DoneReply(to=ask.id, ticket=number, amount=ask.amount, again=not sold)


async def redeem(context: Context, command: RedeemTicket, ask_id: str) -> ServerMessage:
    """Cash for a ticket; the same ask of the same cashier again tells again what is to be paid, once."""
    under = short_id("redeem", command.by, ask_id)
    answer = await context.queue.execute(HOUSE_STREAM, replace(command, ask=under))
    if isinstance(answer, Refusal) or answer:
        return answer_to(ask_id, answer)
    paid = await context.queue.run(lambda engine: engine.house().tickets[command.ticket])
    if paid.redeemed is not None and command.at - paid.redeemed.at > RETRIED_WITHIN:
        says = f"expected an id of its own for every ticket that is cashed, got that of {paid.id!r}"
        return refused(ask_id, Reason.DIFFERENT_CONTENT, says, "house:tickets")
    return DoneReply(to=ask_id, ticket=paid.id, amount=paid.amount, again=True)


async def owners_moved(context: Context, principal: Principal, ask: DoRequest) -> ServerMessage | None:
    """The owners' money that came or went under this id before: told again, nobody has to agree again."""
    sent: Any = ask.do
    known = await context.queue.run(lambda engine: engine.house().movements.get(sent.id))
    meant = (sent.amount, tag_of(sent) == "bring-in", principal.name)
    if known is None or (known.amount, known.brought, known.by) != meant:
        return None
    return DoneReply(to=ask.id, amount=known.amount, again=True)


# The tray


async def fill(context: Context, principal: Principal, ask: FillRequest) -> ServerMessage:
    """Chips leave the cage and arrive in the tray, where the second person sees them come."""
    queue, transfer = context.queue, short_id("fill", principal.name, ask.id)
    moved = HouseTransfer(transfer, HouseTransferKind.FILL, ask.table, ask.amount, Direction.DUE)
    if await queue.run(lambda engine: kept(engine, transfer)) == moved:
        return await _arrived(context, ask, moved, again=True)
    second = await context.second(principal, ask)
    if isinstance(second, RefusedReply):
        return second
    command = SendFill(
        at=context.clock.now(), by=principal.name, transfer=transfer, table=ask.table, amount=ask.amount,
        second=second,
    )  # fmt: skip
    return await _carried(context, ask, moved, command, second)


async def take_credit(  # noqa: PLR0911  each half may be refused
    context: Context, principal: Principal, ask: TakeCreditRequest
) -> ServerMessage:
    """Chips leave the tray and arrive at the cage."""
    queue, now = context.queue, context.clock.now()
    transfer = ask.transfer or short_id("credit", principal.name, ask.id)
    receive = ReceiveCredit(at=now, by=principal.name, transfer=transfer, table=ask.table, amount=ask.amount)
    known = await queue.run(lambda engine: _booked(engine, ask.table, transfer))
    if known is None and ask.transfer is not None:
        message = f"no transfer {ask.transfer!r} left table {ask.table}"
        return answer_to(ask.id, refusal(Reason.BAD_VALUE, FLOAT, message))
    if known is None:
        second = await context.second(principal, ask)
        if isinstance(second, RefusedReply):
            return second
        tried = await queue.run(lambda engine: decide_house(engine.house(), receive))
        if isinstance(tried, Refusal):
            return answer_to(ask.id, tried)
        send = SendCredit(at=now, by=principal.name, transfer=transfer, amount=ask.amount, second=second)
        sent = await queue.execute(stream_of(ask.table), send)
        if isinstance(sent, Refusal):
            return answer_to(ask.id, sent)
    elif known != ask.amount:
        return answer_to(ask.id, _other(transfer, known))
    received = await queue.execute(HOUSE_STREAM, receive)
    if isinstance(received, Refusal):
        return answer_to(ask.id, received)
    return DoneReply(to=ask.id, amount=ask.amount, transfer=transfer, again=known is not None)


# The drop box


async def take_drop(context: Context, principal: Principal, ask: TakeDropRequest) -> ServerMessage:
    """A drop box leaves its table; it is on its way until it has been counted."""
    queue, transfer = context.queue, short_id("drop", principal.name, ask.id)
    known = await queue.run(lambda engine: _booked(engine, ask.table, transfer))
    if known is not None:
        return DoneReply(to=ask.id, amount=known, transfer=transfer, again=True)
    second = await context.second(principal, ask)
    if isinstance(second, RefusedReply):
        return second
    send = SendDrop(at=context.clock.now(), by=principal.name, transfer=transfer, second=second)
    sent = await queue.execute(stream_of(ask.table), send)
    if isinstance(sent, Refusal):
        return answer_to(ask.id, sent)
    amount = await queue.run(lambda engine: _booked(engine, ask.table, transfer))
    return DoneReply(to=ask.id, amount=amount, transfer=transfer, again=not sent)


async def count_drop(context: Context, principal: Principal, ask: CountDropRequest) -> ServerMessage:
    """What was found in a drop box, against what its table booked when it left."""

    def found(engine: Engine) -> tuple[int, HouseTransfer | None] | Refusal:
        table = table_at(engine, ask.table)
        if isinstance(table, Refusal):
            return table
        booked = table.transfers.get(ask.transfer)
        if booked is None or booked.kind is not TransferKind.DROP:
            message = f"no drop box left table {ask.table} under the transfer {ask.transfer!r}"
            return refusal(Reason.BAD_VALUE, DROP, message)
        return booked.amount, kept(engine, ask.transfer)

    box = await context.queue.run(found)
    if isinstance(box, Refusal):
        return answer_to(ask.id, box)
    declared, counted = box
    if counted is not None and (counted.table, counted.counted) == (ask.table, ask.counted):
        return DoneReply(to=ask.id, amount=ask.counted, transfer=ask.transfer, again=True)
    second = await context.second(principal, ask)
    if isinstance(second, RefusedReply):
        return second
    count = CountDrop(
        at=context.clock.now(), by=principal.name, transfer=ask.transfer, table=ask.table, declared=declared,
        counted=ask.counted, second=second,
    )  # fmt: skip
    answer = await context.queue.execute(HOUSE_STREAM, count)
    if isinstance(answer, Refusal):
        return answer_to(ask.id, answer)
    return DoneReply(to=ask.id, amount=ask.counted, transfer=ask.transfer, again=not answer)


# Claims


class _OnClaim(NamedTuple):
    """What is known of a claim: the table's record while it is open, the House's once it was settled."""

    open: Claim | None
    settled: HouseTransfer | None


async def settle_claim(context: Context, principal: Principal, ask: SettleClaimRequest) -> ServerMessage:
    """The cage pays what is a player's, or collects what they owe, and the table's claim is over."""
    queue, transfer = context.queue, short_id("claim", principal.name, ask.id)

    def found(engine: Engine) -> _OnClaim | Refusal:
        table = table_at(engine, ask.table)
        if isinstance(table, Refusal):
            return table
        return _OnClaim(table.claims.get(ask.claim), kept(engine, transfer))

    known = await queue.run(found)
    if isinstance(known, Refusal):
        return answer_to(ask.id, known)
    settled = known.settled
    if settled is not None and (settled.table, settled.claim) == (ask.table, ask.claim):
        return await _arrived(context, ask, settled, again=True)
    if known.open is None:
        return answer_to(ask.id, refusal(Reason.BAD_VALUE, CLAIMS, f"no open claim {ask.claim!r}"))
    second = await context.second(principal, ask)
    if isinstance(second, RefusedReply):
        return second
    of_player, amount = known.open.of_player, known.open.amount
    kind = HouseTransferKind.CLAIM_PAID if of_player else HouseTransferKind.CLAIM_COLLECTED
    direction = Direction.DUE if of_player else Direction.OWED
    moved = HouseTransfer(transfer, kind, ask.table, amount, direction, claim=ask.claim)
    command = (PayClaim if of_player else CollectClaim)(
        at=context.clock.now(), by=principal.name, transfer=transfer, table=ask.table, claim=ask.claim,
        amount=amount, second=second,
    )  # fmt: skip
    return await _carried(context, ask, moved, command, second)


# Both sides


async def _carried(
    context: Context, ask: Signed, moved: HouseTransfer, command: HouseCommand, second: str | None
) -> ServerMessage:
    """The House's side, then the table's; neither where the table would not book its own."""
    answer = await _table_refuses(context, moved, second) or await context.queue.execute(
        HOUSE_STREAM, command
    )
    if isinstance(answer, Refusal):
        return answer_to(ask.id, answer)
    return await _arrived(context, ask, moved, second)


async def _table_refuses(context: Context, moved: HouseTransfer, second: str | None) -> Refusal | None:
    """Why the table would not book its side: asked before the House books its own."""
    at = context.clock.now()

    def tried(engine: Engine) -> Refusal | None:
        table, command = table_at(engine, moved.table), arriving(moved, at=at, second=second)
        if isinstance(table, Refusal) or command is None:
            return table if isinstance(table, Refusal) else None
        answer = decide(table, command)
        return answer if isinstance(answer, Refusal) else None

    return await context.queue.run(tried)


async def _arrived(
    context: Context, ask: Signed, moved: HouseTransfer, second: str | None = None, *, again: bool = False
) -> ServerMessage:
    answer = await arrive(context.queue, context.clock, moved, second)
    if isinstance(answer, Refusal):
        return answer_to(ask.id, answer)
    return DoneReply(to=ask.id, amount=moved.amount, transfer=moved.id, again=again)


def _booked(engine: Engine, table_name: str, transfer: str) -> int | None:
    """What a table booked as due under a transfer."""
    table = table_at(engine, table_name)
    booked = None if isinstance(table, Refusal) else table.transfers.get(transfer)
    return None if booked is None else booked.amount


def _other(transfer: str, booked: int) -> Refusal:
    message = f"transfer {transfer} was booked with {booked}: repeat that amount, or use a new id"
    return refusal(Reason.DIFFERENT_CONTENT, "house:transfers", message)

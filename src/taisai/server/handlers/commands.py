"""Commands of people and terminals: the permission, the checks of the House, then the game's decision."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from taisai.cage.messages import RedeemTicket
from taisai.game.commands import Assign, BeginDay, PlaceBets
from taisai.game.refusals import Refusal
from taisai.journal import Answer, Engine, Submission, stream_of
from taisai.journal.codec import HOUSE_STREAM, AnyCommand
from taisai.protocol.commands import BY_TAG, tag_of
from taisai.protocol.commands import completed as meant_by
from taisai.protocol.replies import RefusedReply
from taisai.server.auth.permissions import Role
from taisai.server.dice import entry as dice
from taisai.server.handlers import positions, table_opening
from taisai.server.handlers.cage import owners_moved, redeem
from taisai.server.handlers.ticket_numbers import as_printed
from taisai.server.replies import answer_to

if TYPE_CHECKING:
    from taisai.protocol.message import ServerMessage
    from taisai.protocol.requests import DoRequest
    from taisai.server.auth.permissions import Principal
    from taisai.server.connections.sockets import Socket
    from taisai.server.handlers.context import Context

_PLACE_BETS: Final = BY_TAG["place-bets"]
_OWNERS: Final = frozenset({"bring-in", "take-out"})
_OF_HOUSE: Final = frozenset({"bring-in", "take-out", "redeem-ticket"})


def place_bets(context: Context, socket: Socket, request: DoRequest) -> bool:
    """Submits bets of a terminal at its own seat; says whether the request is that. Most requests are."""
    principal, bets = socket.principal, request.do
    if type(bets) is not _PLACE_BETS or principal.role is not Role.TERMINAL:
        return False
    sent: Any = bets
    if request.table != principal.table or sent.seat != principal.seat or principal.table is None:
        return False
    command = PlaceBets(
        at=context.clock.now(), by=principal.name, round=sent.round, seat=sent.seat, bets=sent.bets,
        means=sent.means,
    )  # fmt: skip
    context.queue.submit(Submission(socket.stream, command), partial(socket.reply, request.id))
    return True


def misplaced(principal: Principal, request: DoRequest) -> str | None:
    """Why a command may not be sent by this principal to this table, or without one."""
    sent: Any = request.do
    tag = tag_of(sent)
    if (tag in _OF_HOUSE) != (request.table is None):
        return f"expected {'no table' if tag in _OF_HOUSE else 'a table'} with {tag}, got {request.table}"
    if tag == "take-seat" and principal.role is Role.TERMINAL and sent.terminal != principal.name:
        return f"expected the terminal {principal.name}, got {sent.terminal}"
    return None


async def do(context: Context, principal: Principal, request: DoRequest) -> ServerMessage:
    """Executes a command, after the checks of the House in the same turn of the engine."""
    if tag_of(request.do) in _OWNERS:
        earlier = await owners_moved(context, principal, request)
        if earlier is not None:
            return earlier
    second = await context.second(principal, request)
    if isinstance(second, RefusedReply):
        return second
    command = command_of(request, at=context.clock.now(), by=principal.name, second=second)
    if isinstance(command, RedeemTicket):
        return await redeem(context, command, request.id)
    overrides = False

    def checked(engine: Engine) -> AnyCommand | Answer:
        nonlocal overrides
        refusal = _refusal(context, engine, principal, request.table, command)
        if refusal is None and request.table is not None:
            overrides = dice.overrides_reading(engine, request.table, command)
        return command if refusal is None else refusal

    stream = HOUSE_STREAM if request.table is None else stream_of(request.table)
    answer = await context.queue.execute(stream, checked)
    if overrides and answer and not isinstance(answer, Refusal):
        dice.note_override(context, principal, request.table or "", command)
    return answer_to(request.id, answer)


def _refusal(
    context: Context, engine: Engine, principal: Principal, table: str | None, command: AnyCommand
) -> Refusal | None:
    """Why the House refuses a command that the table alone would decide."""
    refusal = None
    if principal.session is not None and table is not None:
        refusal = positions.out_of_place(engine, table, principal.name)
    if refusal is None and isinstance(command, Assign):
        refusal = positions.not_on_list(engine, command.person, command.rank)
    if refusal is None and isinstance(command, BeginDay) and table is not None:
        refusal = table_opening.not_approved(context, engine, table, command.at)
    return refusal


def command_of(request: DoRequest, *, at: int, by: str, second: str | None) -> AnyCommand:
    """The game's own command; a result is made by the one module that may make results."""
    if dice.is_result(request.do):
        return dice.keyed(request.do, at=at, by=by, second=second)
    command = meant_by(request.do, at=at, by=by, second=second)
    if isinstance(command, RedeemTicket):
        return replace(command, ticket=as_printed(command.ticket))
    return command

"""Commands of people and terminals: who may, by whom, with whom; then the game decides."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from taisai.cage.messages import RedeemTicket
from taisai.game.commands import Assign, BeginDay, PlaceBets
from taisai.journal import Submission, stream_of
from taisai.journal.codec import HOUSE_STREAM, AnyCommand
from taisai.protocol.commands import BY_TAG, tag_of
from taisai.protocol.commands import completed as meant_by
from taisai.server.auth import permissions
from taisai.server.auth.permissions import Role
from taisai.server.dice import entry as dice
from taisai.server.handlers import positions, table_opening
from taisai.server.handlers.cage import owners_moved, redeem
from taisai.server.handlers.ticket_numbers import as_printed
from taisai.server.replies import answer_to, refused

if TYPE_CHECKING:
    from taisai.protocol.requests import DoRequest
    from taisai.server.auth.permissions import Principal
    from taisai.server.connections.dispatcher import Dispatcher
    from taisai.server.connections.sockets import Socket

_PLACE_BETS: Final = BY_TAG["place-bets"]
_OWNERS: Final = frozenset({"bring-in", "take-out"})
_AT_HOUSE: Final = frozenset({"bring-in", "take-out", "redeem-ticket"})


def do(dispatcher: Dispatcher, socket: Socket, ask: DoRequest) -> None:
    """Asks the queue for a command, if the party may; answered when it is durable and published."""
    principal, sent = socket.principal, ask.do
    table: str | None = ask.table
    if type(sent) is _PLACE_BETS and principal.role is Role.TERMINAL:  # nearly every ask is one of these
        bets: Any = sent
        if table == principal.table and bets.seat == principal.seat and table is not None:
            command = PlaceBets(
                at=dispatcher.clock.now(), by=principal.name, round=bets.round, seat=bets.seat,
                bets=bets.bets, means=bets.means,
            )  # fmt: skip
            dispatcher.queue.submit(Submission(socket.stream, command), partial(socket.reply, ask.id))
            return
    wrong = _wrong(dispatcher, principal, ask)
    if wrong is not None:
        socket.say(refused(ask.id, "not-permitted", wrong, "house:access"))
    elif dispatcher.is_overworked(socket):
        dispatcher.refuse_more(socket, ask.id)
    else:
        socket.spawn(dispatcher.answered(socket, ask, _carefully(dispatcher, socket, ask)))


def _wrong(dispatcher: Dispatcher, principal: Principal, ask: DoRequest) -> str | None:
    """Why the party may not ask for it at all."""
    sent: Any = ask.do
    tag = tag_of(sent)
    wrong = dispatcher.may_not(
        principal, permissions.COMMANDS.get(tag), ask.table, getattr(sent, "seat", None)
    )
    if wrong is not None:
        return wrong
    if (tag in _AT_HOUSE) != (ask.table is None):
        return f"expected {'no table' if tag in _AT_HOUSE else 'a table'} with {tag}, got {ask.table}"
    if tag == "take-seat" and principal.role is Role.TERMINAL and sent.terminal != principal.name:
        return f"expected the terminal {principal.name}, got {sent.terminal}"
    return None


async def _carefully(dispatcher: Dispatcher, socket: Socket, ask: DoRequest) -> None:
    principal = socket.principal
    known = await owners_moved(dispatcher, principal, ask) if tag_of(ask.do) in _OWNERS else None
    if known is not None:
        socket.say(known)
        return
    second = await dispatcher.second(principal, ask)
    if second is not None and not isinstance(second, str):
        socket.say(second)
        return
    wrong = None
    if principal.session is not None and ask.table is not None:
        wrong = await positions.out_of_place(dispatcher, ask.table, principal.name)
    command = command_of(ask, at=dispatcher.clock.now(), by=principal.name, second=second)
    if wrong is None and isinstance(command, Assign):
        wrong = await positions.on_roll(dispatcher, command.person, command.rank)
    if wrong is None and isinstance(command, BeginDay) and ask.table is not None:
        wrong = await table_opening.not_approved(dispatcher, ask.table)
    if wrong is not None:
        socket.say(answer_to(ask.id, wrong))
        return
    if isinstance(command, RedeemTicket):
        socket.say(await redeem(dispatcher, command, ask.id))
        return
    stream = HOUSE_STREAM if ask.table is None else stream_of(ask.table)
    told = dice.noting_override(dispatcher, principal, ask.table, command, partial(socket.reply, ask.id))
    dispatcher.queue.submit(Submission(stream, command), told)


def command_of(ask: DoRequest, *, at: int, by: str, second: str | None) -> AnyCommand:
    """The game's own command; a result passes the one door."""
    if dice.is_result(ask.do):
        return dice.keyed(ask.do, at=at, by=by, second=second)
    command = meant_by(ask.do, at=at, by=by, second=second)
    if isinstance(command, RedeemTicket):
        return replace(command, ticket=as_printed(command.ticket))
    return command

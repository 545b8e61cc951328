"""Commands of people and terminals: who may, by whom, with whom; then the game decides."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from taisai.cage.messages import RedeemTicket
from taisai.game.commands import Assign, BeginDay, PlaceBets
from taisai.journal import Ask, stream_of
from taisai.journal.codec import HOUSE, AnyCommand
from taisai.protocol.commands import BY_TAG, tag_of
from taisai.protocol.commands import meant as meant_by
from taisai.server.auth import permissions
from taisai.server.auth.permissions import Role
from taisai.server.dice import entry as dice
from taisai.server.handlers import positions, table_opening
from taisai.server.handlers.cage import owners_moved, redeem
from taisai.server.handlers.ticket_numbers import as_printed
from taisai.server.replies import answer_to, refused

if TYPE_CHECKING:
    from taisai.protocol.requests import DoRequest
    from taisai.server.auth.permissions import Party
    from taisai.server.connections.dispatcher import Floor
    from taisai.server.connections.sockets import Socket

_PLACE_BETS: Final = BY_TAG["place-bets"]
_OWNERS: Final = frozenset({"bring-in", "take-out"})
_AT_HOUSE: Final = frozenset({"bring-in", "take-out", "redeem-ticket"})


def do(floor: Floor, socket: Socket, ask: DoRequest) -> None:
    """Asks the host for a command, if the party may; answered when it is durable and published."""
    party, sent = socket.party, ask.do
    table: str | None = ask.table
    if type(sent) is _PLACE_BETS and party.role is Role.TERMINAL:  # nearly every ask is one of these
        bets: Any = sent
        if table == party.table and bets.seat == party.seat and table is not None:
            command = PlaceBets(
                at=floor.clock.now(), by=party.name, round=bets.round, seat=bets.seat, bets=bets.bets,
                means=bets.means,
            )  # fmt: skip
            floor.host.bet(Ask(socket.stream, command), socket, ask.id)
            return
    wrong = _wrong(floor, party, ask)
    if wrong is not None:
        socket.say(refused(ask.id, "not-permitted", wrong, "house:access"))
    elif floor.is_overworked(socket):
        floor.refuse_more(socket, ask.id)
    else:
        socket.spawn(floor.answered(socket, ask, _carefully(floor, socket, ask)))


def _wrong(floor: Floor, party: Party, ask: DoRequest) -> str | None:
    """Why the party may not ask for it at all."""
    sent: Any = ask.do
    tag = tag_of(sent)
    wrong = floor.may_not(party, permissions.COMMANDS.get(tag), ask.table, getattr(sent, "seat", None))
    if wrong is not None:
        return wrong
    if (tag in _AT_HOUSE) != (ask.table is None):
        return f"expected {'no table' if tag in _AT_HOUSE else 'a table'} with {tag}, got {ask.table}"
    if tag == "take-seat" and party.role is Role.TERMINAL and sent.terminal != party.name:
        return f"expected the terminal {party.name}, got {sent.terminal}"
    return None


async def _carefully(floor: Floor, socket: Socket, ask: DoRequest) -> None:
    party = socket.party
    known = await owners_moved(floor, party, ask) if tag_of(ask.do) in _OWNERS else None
    if known is not None:
        socket.say(known)
        return
    second = await floor.second(party, ask)
    if second is not None and not isinstance(second, str):
        socket.say(second)
        return
    wrong = None
    if party.session is not None and ask.table is not None:
        wrong = await positions.out_of_place(floor, ask.table, party.name)
    command = command_of(ask, at=floor.clock.now(), by=party.name, second=second)
    if wrong is None and isinstance(command, Assign):
        wrong = await positions.on_roll(floor, command.person, command.rank)
    if wrong is None and isinstance(command, BeginDay) and ask.table is not None:
        wrong = await table_opening.not_approved(floor, ask.table)
    if wrong is not None:
        socket.say(answer_to(ask.id, wrong))
        return
    if isinstance(command, RedeemTicket):
        socket.say(await redeem(floor, command, ask.id))
        return
    stream = HOUSE if ask.table is None else stream_of(ask.table)
    told = dice.noting_override(floor, party, ask.table, command, partial(socket.told, ask.id))
    floor.host.submit(Ask(stream, command), told)


def command_of(ask: DoRequest, *, at: int, by: str, second: str | None) -> AnyCommand:
    """The game's own command; a result passes the one door."""
    if dice.is_result(ask.do):
        return dice.keyed(ask.do, at=at, by=by, second=second)
    command = meant_by(ask.do, at=at, by=by, second=second)
    if isinstance(command, RedeemTicket):
        return replace(command, ticket=as_printed(command.ticket))
    return command

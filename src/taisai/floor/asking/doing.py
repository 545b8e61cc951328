"""Commands of people and terminals: who may, by whom, with whom; then the game decides."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from taisai.floor.access import permits
from taisai.floor.access.roles import Role
from taisai.floor.dice import door as dice
from taisai.floor.telling import answer_to, encoded, refused
from taisai.game.commands import Assign, PlaceBets
from taisai.game.refusals import Refusal
from taisai.house import Answer, Ask, stream_of
from taisai.house.codec import HOUSE, AnyCommand
from taisai.wire.commands import BY_TAG, tag_of
from taisai.wire.commands import meant as meant_by

if TYPE_CHECKING:
    from taisai.floor.floor import Floor
    from taisai.floor.parties import Party
    from taisai.floor.sockets import Socket
    from taisai.wire.asks import AskDo

_PLACE_BETS: Final = BY_TAG["place-bets"]
_AT_HOUSE: Final = frozenset({"bring-in", "take-out", "redeem-ticket"})


def do(floor: Floor, socket: Socket, ask: AskDo) -> None:
    """Asks the host for a command, if the party may; answered when it is durable and published."""
    party, sent = socket.party, ask.do
    table: str | None = ask.table
    if type(sent) is _PLACE_BETS and party.role is Role.TERMINAL:  # nearly every ask is one of these
        bets: Any = sent
        if table == party.table and bets.seat == party.seat and table is not None:
            command = PlaceBets(
                at=floor.clock.now(), by=party.name, round=bets.round, seat=bets.seat, bets=bets.bets
            )
            floor.host.submit(
                Ask(socket.stream, command), partial(_told, floor, socket, ask.id), re=ask.id,
                bettor=socket,
            )  # fmt: skip
            return
    wrong = _wrong(floor, party, ask)
    if wrong is not None:
        socket.say(refused(ask.id, "not-his-to-do", wrong, "house:access"))
    else:
        socket.spawn(floor.answered(socket, ask, _carefully(floor, socket, ask)))


def _wrong(floor: Floor, party: Party, ask: AskDo) -> str | None:
    """Why the party may not ask for it at all."""
    sent: Any = ask.do
    tag = tag_of(sent)
    wrong = floor.may_not(party, permits.COMMANDS.get(tag), ask.table, getattr(sent, "seat", None))
    if wrong is not None:
        return wrong
    if (tag in _AT_HOUSE) != (ask.table is None):
        return f"expected {'no table' if tag in _AT_HOUSE else 'a table'} with {tag}, got {ask.table}"
    if tag == "take-seat" and party.role is Role.TERMINAL and sent.terminal != party.name:
        return f"expected the terminal {party.name}, got {sent.terminal}"
    return None


async def _carefully(floor: Floor, socket: Socket, ask: AskDo) -> None:
    party = socket.party
    second = await floor.second(party, ask)
    if second is not None and not isinstance(second, str):
        socket.say(second)
        return
    command = command_of(ask, at=floor.clock.now(), by=party.name, second=second)
    wrong = await _beforehand(floor, command, ask.table, second)
    if wrong is not None:
        socket.say(answer_to(ask.id, wrong))
        return
    stream = HOUSE if ask.table is None else stream_of(ask.table)
    dice.note_override(floor, party, ask.table, command)
    told = partial(_told, floor, socket, ask.id)
    floor.host.submit(Ask(stream, command), told)


def command_of(ask: AskDo, *, at: int, by: str, second: str | None) -> AnyCommand:
    """The game's own command; a result passes the one door."""
    if dice.is_result(ask.do):
        return dice.keyed(ask.do, at=at, by=by, second=second)
    return meant_by(ask.do, at=at, by=by, second=second)


async def _beforehand(
    floor: Floor, command: AnyCommand, table: str | None, second: str | None
) -> Refusal | None:
    """What the House says before the table decides: who someone is, and that a second person is here."""
    if table is None:
        return None
    if isinstance(command, Assign):
        person, rank = command.person, command.rank
        on_roll = await floor.host.look(lambda keeper: keeper.house().people.get(person))
        if on_roll != rank:
            return positions_refused(f"{person} as {rank}", f"{on_roll or 'nobody'} on the staff roll")
    if second is not None:
        answer = await bring(floor, table, second, None)
        return answer if isinstance(answer, Refusal) else None
    return None


def positions_refused(expected: str, got: str) -> Refusal:
    """A refusal about someone's rank."""
    from taisai.game.refusals import Reason
    from taisai.rules.clauses import Clause

    return Refusal(Reason.NOT_HIS_TO_DO, Clause("house:people"), f"expected {expected}, got {got}")


async def bring(floor: Any, table: str, person: str, position: str | None) -> Answer:
    """The House's word at a table on who someone is, in the position of his rank unless another is named."""
    from taisai.game.words import HOUSE as BY_THE_HOUSE

    def found(keeper: Any) -> tuple[str | None, tuple[str, ...], str | None]:
        at = keeper.table(table)
        here = at.people.get(person)
        return keeper.house().people.get(person), at.ranks.ranks(), here.position if here else None

    rank, ladder, here = await floor.host.look(found)
    if here is not None and position in (None, here):
        return ()
    wanted = position or rank
    if rank is None or rank not in ladder or wanted not in ladder:
        return positions_refused(f"a rank of {', '.join(ladder)}", f"{person}, {rank or 'not on the roll'}")
    if ladder.index(wanted) > ladder.index(rank):
        return positions_refused(f"a position up to {rank}", wanted)
    command = Assign(at=floor.clock.now(), by=BY_THE_HOUSE, person=person, rank=rank, position=wanted)
    answer: Answer = await floor.host.ask(stream_of(table), command)
    return answer


def _told(floor: Floor, socket: Socket, re: str, answer: Answer | BaseException) -> None:
    socket.tell(encoded(answer_to(re, answer)))
    floor.host.feeds.note(socket)
    if isinstance(answer, Refusal):
        floor.metrics.refusals.labels(answer.reason).inc()

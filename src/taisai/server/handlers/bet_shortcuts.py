"""A terminal's conveniences: the last bets back, all of them back, once more, as last time."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

from taisai.game.betting.placing import RETRIES
from taisai.game.checks import refused as refusal
from taisai.game.commands import PlaceBets, Slip, TakeBack
from taisai.game.events import BetRegistered
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds.round import Round
from taisai.game.table import Table
from taisai.journal import Engine, stream_of
from taisai.protocol.replies import DoneReply
from taisai.server.handlers.ticket_numbers import short_id
from taisai.server.handlers.transfers import table_at
from taisai.server.replies import answer_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from taisai.protocol.message import ServerMessage
    from taisai.protocol.requests import ClearRequest, DoubleRequest, RepeatRequest, UndoRequest
    from taisai.server.auth.permissions import Principal
    from taisai.server.handlers.context import Context

    Back = ClearRequest | UndoRequest
    More = DoubleRequest | RepeatRequest

LOOK_BACK: Final = 10  # rounds in which a seat's last bets are looked for: those that stay in memory
MOST_REMEMBERED: Final = 8  # asks of one terminal that took bets back: what it may send again, reconnected
Stakes = dict[str, int]
"""Area → what lies there."""


class _Back(NamedTuple):
    """Which bets an ask took back."""

    ask: str
    round: int
    ids: tuple[str, ...]


class _Memory:
    """What the journal does not say and a retry must find again; a stop ends the rounds that it is about."""

    def __init__(self) -> None:
        self.back: dict[tuple[str, str], deque[_Back]] = {}
        """(table, terminal) → its latest asks that took bets back."""
        self.laid: dict[tuple[str, int], dict[str, Stakes]] = {}
        """(table, round that is over) → seat → what stood there: each round is gone through once."""


_MEMORY: Final[WeakKeyDictionary[Engine, _Memory]] = WeakKeyDictionary()
"""The writer's thread alone comes here, as it does to the engine."""


# Back


async def undo(context: Context, principal: Principal, ask: UndoRequest) -> ServerMessage:
    """Takes back the bets that stand and came with the seat's latest command of which any still stands."""
    return await _taken_back(context, principal, ask, _latest)


async def clear(context: Context, principal: Principal, ask: ClearRequest) -> ServerMessage:
    """Takes back every bet of the seat."""
    return await _taken_back(context, principal, ask, _standing)


async def _taken_back(
    context: Context,
    principal: Principal,
    ask: Back,
    choose: Callable[[Table, Round, str], list[BetRegistered]],
) -> ServerMessage:
    def chosen(engine: Engine) -> _Back | Refusal:
        table = table_at(engine, ask.table)
        if isinstance(table, Refusal):
            return table
        memory = _MEMORY.setdefault(engine, _Memory())
        asked = memory.back.setdefault((ask.table, principal.name), deque(maxlen=MOST_REMEMBERED))
        known = next((one for one in asked if one.ask == ask.id), None)
        if known is not None:
            return known
        round_ = table.round
        if round_ is None:
            return _Back(ask.id, 0, ())  # and the game says why there is nothing to take back
        back = _Back(ask.id, round_.number, tuple(bet.id for bet in choose(table, round_, ask.seat)))
        if back.ids:
            asked.append(back)
        return back

    back = await context.queue.run(chosen)
    if isinstance(back, Refusal):
        return answer_to(ask.id, back)
    command = TakeBack(
        at=context.clock.now(), by=principal.name, round=back.round, seat=ask.seat, ids=back.ids
    )
    return answer_to(ask.id, await context.queue.execute(stream_of(ask.table), command))


def _standing(table: Table, round_: Round, seat: str) -> list[BetRegistered]:
    """The bets of a seat that stand, the latest first."""
    left = table.seats[seat].at_risk if seat in table.seats else 0
    found = []
    for bet in reversed(round_.bets.values()):
        if not left:
            break  # the seat's others are gone: no need to look through everybody's
        if bet.seat == seat and bet.id not in round_.gone:
            found.append(bet)
            left -= bet.stake
    return found


def _latest(table: Table, round_: Round, seat: str) -> list[BetRegistered]:
    """Those of them that came together: the bets of one command have one moment, and no two share it here.

    Should a terminal send two commands within a millisecond, they are taken back as one.
    """
    standing = _standing(table, round_, seat)
    return [bet for bet in standing if (bet.at, bet.by) == (standing[0].at, standing[0].by)]


# Once more


async def double(context: Context, principal: Principal, ask: DoubleRequest) -> ServerMessage:
    """Lays on every area once more what the seat has there, all or none."""
    return await _laid(context, principal, ask, _stakes_now, "bet of the seat in this round")


async def repeat(context: Context, principal: Principal, ask: RepeatRequest) -> ServerMessage:
    """Lays what the seat's player had in the last round that they bet in, all or none."""
    return await _laid(
        context, principal, ask, _stakes_before, f"bet of the player in the last {LOOK_BACK} rounds"
    )


class _Found(NamedTuple):
    """What is to be laid, in which round, in whose session."""

    round: int
    session: int
    stakes: Stakes


async def _laid(
    context: Context,
    principal: Principal,
    ask: More,
    stakes: Callable[[Engine, Table, Round, str], Stakes],
    bets: str,
) -> ServerMessage:
    def found(engine: Engine) -> _Found | Refusal | None:
        table = table_at(engine, ask.table)
        if isinstance(table, Refusal):
            return table
        if not _sits(table, ask.seat):
            return _Found(0, 0, {})
        session = table.seats[ask.seat].session
        if _is_there(table, bet_id(principal.name, session, ask.id, 0), ask.seat):
            return None
        if table.round is None:
            return _Found(0, session, {})
        laid = stakes(engine, table, table.round, ask.seat)
        if not laid and table.round.phase.bets_open:
            return refusal(Reason.UNKNOWN_BET, RETRIES, f"there is no {bets}")
        return _Found(table.round.number, session, laid)

    again = await context.queue.run(found)
    if again is None:
        return DoneReply(to=ask.id, again=True)
    if isinstance(again, Refusal):
        return answer_to(ask.id, again)
    number, session, laid = again
    slips = tuple(
        Slip(bet_id(principal.name, session, ask.id, place), area, stake)
        for place, (area, stake) in enumerate(laid.items())
    )
    command = PlaceBets(at=context.clock.now(), by=principal.name, round=number, seat=ask.seat, bets=slips)
    return answer_to(ask.id, await context.queue.execute(stream_of(ask.table), command))


def bet_id(device: str, session: int, ask: str, place: int) -> str:
    """The id of a bet that the floor lays for a player at a terminal: the same ask has the same ones."""
    return short_id("b", device, str(session), ask, str(place))


def _is_there(table: Table, name: str, seat: str) -> bool:
    """Whether a seat has a bet of this id, in the round in hand or in the one before."""
    before = table.rounds.glance(len(table.rounds)) if len(table.rounds) else None
    for round_ in (table.round, before):
        bet = round_.bets.get(name) if round_ is not None else None
        if bet is not None and bet.seat == seat:
            return True
    return False


def _sits(table: Table, name: str) -> bool:
    return name in table.seats and table.seats[name].taken


def _stakes_now(_engine: Engine, table: Table, round_: Round, name: str) -> Stakes:
    """What a seat has on each area of its layout."""
    seat = table.seats[name]
    columns = round_.columns.get(seat.layout)
    if columns is None or seat.terms is None or seat.purse is None:
        return {}
    index, found = seat.purse.index, Stakes()
    for area, row in seat.terms.rows.items():
        column = columns[row]
        if column is not None and index < len(column) and column[index]:
            found[area] = column[index]
    return found


def _stakes_before(engine: Engine, table: Table, _round: Round, name: str) -> Stakes:
    """What a seat had in the last round that its player bet in; a void one too, since they meant it."""
    session, count = table.seats[name].session, len(table.rounds)
    laid = _MEMORY.setdefault(engine, _Memory()).laid
    for number in range(count, max(0, count - LOOK_BACK), -1):
        past = table.rounds.glance(number)
        if past.sessions.get(name) != session:
            continue
        if (table.name, number) not in laid:
            laid[table.name, number] = _by_seat(past)
            laid.pop((table.name, number - LOOK_BACK), None)
        if found := laid[table.name, number].get(name):
            return found
    return {}


def _by_seat(past: Round) -> dict[str, Stakes]:
    found: dict[str, Stakes] = {}
    for bet in past.live():
        stakes = found.setdefault(bet.seat, {})
        stakes[bet.area] = stakes.get(bet.area, 0) + bet.stake
    return found

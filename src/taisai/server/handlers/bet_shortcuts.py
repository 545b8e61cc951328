"""Shortcuts of a terminal: take bets back, double them, repeat them, keep sets of them as favourites."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

import msgspec

from taisai.game.betting.placing import RETRIES
from taisai.game.checks import bad_name
from taisai.game.checks import refused as refusal
from taisai.game.commands import PlaceBets, Slip, TakeBack
from taisai.game.events import BetRegistered
from taisai.game.refusals import Reason, Refusal
from taisai.game.rounds.round import Round
from taisai.game.table import Table
from taisai.journal import Answer, Engine, stream_of
from taisai.protocol.replies import DoneReply, Favourite, FavouritesReply
from taisai.protocol.requests import PlacedStake
from taisai.server.connections.parties import too_many_bets
from taisai.server.handlers.context import answer_to, refused
from taisai.server.handlers.transfers import short_id, table_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from taisai.protocol import requests
    from taisai.protocol.message import ServerMessage
    from taisai.server.auth.permissions import Principal
    from taisai.server.handlers.context import Context

    Back = requests.ClearRequest | requests.UndoRequest
    More = requests.DoubleRequest | requests.RepeatRequest

LOOK_BACK: Final = 10  # rounds in which a seat's last bets are looked for: those that stay in memory
MOST_REMEMBERED: Final = 8  # requests of one terminal that took bets back, which it may repeat
MOST_FAVOURITES: Final = 20  # of one terminal; all of them, at their longest, are within what a vault keeps
MOST_BETS: Final = 104  # of one favourite: the largest layout has as many areas
Stakes = dict[str, int]
"""Area → stake."""


class _Back(NamedTuple):
    """The bets that a request took back."""

    request: str
    round: int
    ids: tuple[str, ...]


class _Memory:
    """What the journal does not have and a retry must find again; a stop ends the rounds that it is about."""

    def __init__(self) -> None:
        self.back: dict[tuple[str, str], deque[_Back]] = {}
        """(table, terminal) → its latest requests that took bets back."""
        self.laid: dict[tuple[str, int], dict[str, Stakes]] = {}
        """(table, round that is over) → seat → its stakes: each round is read once."""


_MEMORY: Final[WeakKeyDictionary[Engine, _Memory]] = WeakKeyDictionary()
"""Only the writer's thread uses it, like the engine."""


# Back


async def undo(context: Context, principal: Principal, request: requests.UndoRequest) -> ServerMessage:
    """Takes back the bets that stand and came with the seat's latest command of which any still stands."""
    return await _taken_back(context, principal, request, _latest)


async def clear(context: Context, principal: Principal, request: requests.ClearRequest) -> ServerMessage:
    """Takes back every bet of the seat."""
    return await _taken_back(context, principal, request, _standing)


async def _taken_back(
    context: Context,
    principal: Principal,
    request: Back,
    choose: Callable[[Table, Round, str], list[BetRegistered]],
) -> ServerMessage:
    now = context.clock.now()

    def chosen(engine: Engine, table: Table) -> _Back:
        memory = _MEMORY.setdefault(engine, _Memory())
        earlier = memory.back.setdefault((request.table, principal.name), deque(maxlen=MOST_REMEMBERED))
        known = next((back for back in earlier if back.request == request.id), None)
        if known is not None:
            return known
        round_ = table.round
        if round_ is None:
            return _Back(request.id, 0, ())  # the game refuses it and gives the reason
        back = _Back(request.id, round_.number, tuple(bet.id for bet in choose(table, round_, request.seat)))
        if back.ids:
            earlier.append(back)
        return back

    def take_back(engine: Engine) -> TakeBack | Refusal:
        table = table_at(engine, request.table)
        if isinstance(table, Refusal):
            return table
        back = chosen(engine, table)
        return TakeBack(at=now, by=principal.name, round=back.round, seat=request.seat, ids=back.ids)

    return answer_to(request.id, await context.queue.execute(stream_of(request.table), take_back))


def _standing(table: Table, round_: Round, seat: str) -> list[BetRegistered]:
    """The bets of a seat that stand, the latest first."""
    left = table.seats[seat].at_risk if seat in table.seats else 0
    found = []
    for bet in reversed(round_.bets.values()):
        if not left:
            break  # the seat has no other bets: the rest are of other seats
        if bet.seat == seat and bet.id not in round_.gone:
            found.append(bet)
            left -= bet.stake
    return found


def _latest(table: Table, round_: Round, seat: str) -> list[BetRegistered]:
    """The bets of the latest command, which have the same time; two within a millisecond count as one."""
    standing = _standing(table, round_, seat)
    return [bet for bet in standing if (bet.at, bet.by) == (standing[0].at, standing[0].by)]


# Once more


async def double(context: Context, principal: Principal, request: requests.DoubleRequest) -> ServerMessage:
    """Lays on every area once more what the seat has there, all or none."""
    return await _laid(context, principal, request, _stakes_now, "bet of the seat in this round")


async def repeat(context: Context, principal: Principal, request: requests.RepeatRequest) -> ServerMessage:
    """Lays what the seat's player had in the last round that they bet in, all or none."""
    return await _laid(
        context, principal, request, _stakes_before, f"bet of the player in the last {LOOK_BACK} rounds"
    )


async def _laid(
    context: Context,
    principal: Principal,
    request: More,
    stakes: Callable[[Engine, Table, Round, str], Stakes],
    bets: str,
) -> ServerMessage:
    now, name, most = context.clock.now(), principal.name, context.plan.bounds.bets_a_round
    if (placed := context.placed[request.table][name]) >= most:
        return refused(request.id, "too-many", too_many_bets(1, placed, most), "house:most")

    def place(engine: Engine) -> PlaceBets | Answer:
        table = table_at(engine, request.table)
        if isinstance(table, Refusal):
            return table
        number, session, laid = 0, 0, Stakes()
        if _sits(table, request.seat):
            session = table.seats[request.seat].session
            if _is_there(table, bet_id(principal.name, session, request.id, 0), request.seat):
                return ()
            if table.round is not None:
                number, laid = table.round.number, stakes(engine, table, table.round, request.seat)
                if not laid and table.round.phase.bets_open:
                    return refusal(Reason.UNKNOWN_BET, RETRIES, f"there is no {bets}")
        slips = tuple(
            Slip(bet_id(principal.name, session, request.id, place), area, stake)
            for place, (area, stake) in enumerate(laid.items())
        )
        return PlaceBets(at=now, by=principal.name, round=number, seat=request.seat, bets=slips)

    answer = await context.queue.execute(stream_of(request.table), place)
    if not isinstance(answer, Refusal):
        context.placed[request.table][name] += len(answer)
    return answer_to(request.id, answer)


def bet_id(device: str, session: int, request: str, place: int) -> str:
    """The id of a bet that the server places for a player: the same for the same request."""
    return short_id("b", device, str(session), request, str(place))


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
    """What a seat had in the last round that its player bet in; void or not."""
    session, count = table.seats[name].session, len(table.rounds)
    laid = _MEMORY.setdefault(engine, _Memory()).laid
    for number in range(count, max(0, count - LOOK_BACK), -1):
        past = table.rounds.glance(number)
        if past.sessions.get(name) != session:
            continue
        if (table.name, number) not in laid:
            laid[table.name, number] = _by_seat(past)
            for old in [key for key in laid if key[0] == table.name and key[1] <= count - LOOK_BACK]:
                del laid[old]
        if found := laid[table.name, number].get(name):
            return found
    return {}


def _by_seat(past: Round) -> dict[str, Stakes]:
    found: dict[str, Stakes] = {}
    for bet in past.live():
        stakes = found.setdefault(bet.seat, {})
        stakes[bet.area] = stakes.get(bet.area, 0) + bet.stake
    return found


# Favourites

_Sets = dict[str, list[tuple[str, int]]]
"""Name → (area, stake)."""


class _Kept(msgspec.Struct, frozen=True):
    """What the vault has: of one session, since the next session is of another player."""

    session: int
    sets: _Sets


async def keep_favourite(
    context: Context, principal: Principal, request: requests.KeepFavouriteRequest
) -> ServerMessage:
    """Keeps a set of bets under a name, in place of what was there; an empty set is forgotten."""

    def keep(engine: Engine) -> bool | Refusal:
        session = _session(engine, request.table, request.seat)
        kept = _kept(engine, request.table, principal.name, session)
        problem = _favourite_refusal(table_at(engine, request.table), request, kept)
        if problem is not None:
            return problem
        before = dict(kept)
        if request.bets:
            kept[request.name] = [(bet.area, bet.stake) for bet in request.bets]
        else:
            kept.pop(request.name, None)
        if kept == before:
            return False
        name = _vault_name(request.table, principal.name)
        written = msgspec.msgpack.encode(_Kept(session, kept)) if kept else None
        engine.journal.store.keep_secret(name, written)
        return True

    changed = await context.queue.run(keep)
    if isinstance(changed, Refusal):
        return answer_to(request.id, changed)
    return DoneReply(to=request.id, again=not changed)


async def favourites(
    context: Context, principal: Principal, request: requests.FavouritesRequest
) -> ServerMessage:
    """The terminal's favourites, in the order in which they were first kept."""

    def look(engine: Engine) -> _Sets:
        return _kept(engine, request.table, principal.name, _session(engine, request.table, request.seat))

    kept = await context.queue.run(look)
    sets = (
        Favourite(name=name, bets=tuple(PlacedStake(area, stake) for area, stake in bets))
        for name, bets in kept.items()
    )
    return FavouritesReply(to=request.id, favourites=tuple(sets))


def _session(engine: Engine, table_name: str, name: str) -> int:
    """The number of a seat's session; 0 for a free seat."""
    table = table_at(engine, table_name)
    seat = None if isinstance(table, Refusal) else table.seats.get(name)
    return seat.session if seat is not None and seat.taken else 0


def _kept(engine: Engine, table: str, device: str, session: int) -> _Sets:
    written = engine.journal.store.secret(_vault_name(table, device))
    if written is None:
        return {}
    with suppress(msgspec.ValidationError):  # an older program kept the sets without a session
        kept = msgspec.msgpack.decode(written, type=_Kept)
        return kept.sets if kept.session == session else {}
    return {}


def _vault_name(table: str, device: str) -> str:
    """'favourites/<table>/<device>', with '/' in names escaped: 'a/b' of 'c' is not 'a' of 'b/c'."""
    plain = (name.replace("~", "~0").replace("/", "~1") for name in (table, device))
    return "/".join(("favourites", *plain))


def _favourite_refusal(
    table: Table | Refusal, request: requests.KeepFavouriteRequest, kept: _Sets
) -> Refusal | None:
    """Why a set of bets cannot be kept; whether it can be placed is decided when it is placed."""
    if isinstance(table, Refusal):
        return table
    if len(request.bets) > MOST_BETS:
        return _too_many(f"{MOST_BETS} bets of a favourite", len(request.bets))
    if request.bets and request.name not in kept and len(kept) >= MOST_FAVOURITES:
        return _too_many(f"{MOST_FAVOURITES} favourites of a terminal", len(kept) + 1)
    for bet in request.bets:
        if not any(bet.area in terms.rows for terms in table.terms.values()):
            message = f"no layout of the table has the area {bet.area!r}"
            return refusal(Reason.NOT_ON_LAYOUT, "house:terms", message)
    return bad_name("a favourite's name", request.name)


def _too_many(most: str, got: int) -> Refusal:
    return refusal(Reason.TOO_MANY, "house:most", f"expected at most {most}, got {got}")

"""Favourites: sets of bets that a terminal keeps under names, for as long as its player sits there."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec

from taisai.game.checks import bad_name
from taisai.game.checks import refused as refusal
from taisai.game.refusals import Reason, Refusal
from taisai.game.table import Table
from taisai.journal import Engine
from taisai.protocol.replies import DoneReply, Favourite, FavouritesReply
from taisai.protocol.requests import PlacedStake
from taisai.server.handlers.transfers import table_at
from taisai.server.replies import answer_to

if TYPE_CHECKING:
    from taisai.protocol.message import ServerMessage
    from taisai.protocol.requests import FavouritesRequest, KeepFavouriteRequest
    from taisai.server.auth.permissions import Principal
    from taisai.server.handlers.context import Context

MOST_FAVOURITES: Final = 20  # of one terminal; all of them, at their longest, are within what a vault keeps
MOST_BETS: Final = 104  # of one favourite: the largest layout has as many areas

_Sets = dict[str, list[tuple[str, int]]]
"""Name → (area, stake)."""


class _Kept(msgspec.Struct, frozen=True):
    """What the vault has: of one session, since whoever comes next is another player."""

    session: int
    sets: _Sets


async def keep_favourite(
    context: Context, principal: Principal, request: KeepFavouriteRequest
) -> ServerMessage:
    """Keeps a set of bets under a name, in place of what was there; an empty set is forgotten."""

    def keep(engine: Engine) -> bool | Refusal:
        session = _session(engine, request.table, request.seat)
        kept = _kept(engine, request.table, principal.name, session)
        wrong = _wrong(table_at(engine, request.table), request, kept)
        if wrong is not None:
            return wrong
        before = dict(kept)
        if request.bets:
            kept[request.name] = [(one.area, one.stake) for one in request.bets]
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


async def favourites(context: Context, principal: Principal, request: FavouritesRequest) -> ServerMessage:
    """The terminal's favourites, in the order in which they were first kept."""

    def look(engine: Engine) -> _Sets:
        return _kept(engine, request.table, principal.name, _session(engine, request.table, request.seat))

    kept = await context.queue.run(look)
    told = (
        Favourite(name=name, bets=tuple(PlacedStake(area, stake) for area, stake in bets))
        for name, bets in kept.items()
    )
    return FavouritesReply(to=request.id, favourites=tuple(told))


def _session(engine: Engine, table_name: str, name: str) -> int:
    """Which session of a seat this is; 0 where nobody sits there."""
    table = table_at(engine, table_name)
    seat = None if isinstance(table, Refusal) else table.seats.get(name)
    return seat.session if seat is not None and seat.taken else 0


def _kept(engine: Engine, table: str, device: str, session: int) -> _Sets:
    written = engine.journal.store.secret(_vault_name(table, device))
    if written is None:
        return {}
    with suppress(msgspec.ValidationError):  # an older program kept the sets alone, whosever they were
        kept = msgspec.msgpack.decode(written, type=_Kept)
        return kept.sets if kept.session == session else {}
    return {}


def _vault_name(table: str, device: str) -> str:
    """'favourites/<table>/<device>', whatever signs a name has: 'a/b' of 'c' is not 'a' of 'b/c'."""
    plain = (one.replace("~", "~0").replace("/", "~1") for one in (table, device))
    return "/".join(("favourites", *plain))


def _wrong(table: Table | Refusal, request: KeepFavouriteRequest, kept: _Sets) -> Refusal | None:
    """Why a set of bets cannot be kept; whether it can be laid is asked when it is."""
    if isinstance(table, Refusal):
        return table
    if len(request.bets) > MOST_BETS:
        return _too_many(f"{MOST_BETS} bets of a favourite", len(request.bets))
    if request.bets and request.name not in kept and len(kept) >= MOST_FAVOURITES:
        return _too_many(f"{MOST_FAVOURITES} favourites of a terminal", len(kept) + 1)
    for one in request.bets:
        if not any(one.area in terms.rows for terms in table.terms.values()):
            message = f"no layout of the table has the area {one.area!r}"
            return refusal(Reason.NOT_ON_LAYOUT, "house:terms", message)
    return bad_name("a favourite's name", request.name)


def _too_many(most: str, got: int) -> Refusal:
    return refusal(Reason.TOO_MANY, "house:most", f"expected at most {most}, got {got}")

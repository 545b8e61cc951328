"""Requests that only read: layouts, rounds, books, reports; and staff who come to a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from taisai.journal import Engine, stream_of
from taisai.protocol import requests
from taisai.protocol.message import ServerMessage
from taisai.protocol.replies import BooksReply, DoneReply, FeltReply, PreviewReply, ReportReply, RoundsReply
from taisai.protocol.views import FeltView
from taisai.rules.errors import RulesError
from taisai.server.auth.permissions import Principal, Role
from taisai.server.handlers import positions
from taisai.server.handlers.context import Context, answer_to, refused
from taisai.server.projections.rounds import preview
from taisai.server.projections.table import encoded_felt


async def _read(context: Context, request_id: str, make: Callable[[Engine], ServerMessage]) -> ServerMessage:
    """The reply that a function makes in the engine's turn; a table that does not exist is refused."""
    try:
        return await context.queue.run(make)
    except RulesError as error:
        return refused(request_id, "not-known", str(error))


async def felt(context: Context, _principal: Principal, request: requests.FeltRequest) -> ServerMessage:
    """A layout of a table."""
    plan = context.plan.table(request.table)
    with_edges = plan is not None and plan.edges

    def make(engine: Engine) -> FeltReply:
        felt = encoded_felt(engine.table(request.table), request.layout, with_edges=with_edges)
        return FeltReply(to=request.id, felt=cast("FeltView", felt))

    return await _read(context, request.id, make)


async def rounds(context: Context, principal: Principal, request: requests.RoundsRequest) -> ServerMessage:
    """The last rounds, or one; a terminal sees those in which its own player bet, and their bets alone."""
    own = principal.role is Role.TERMINAL
    seat, projections = principal.seat if own else request.seat, context.queue.projections

    def make(_engine: Engine) -> RoundsReply:
        views = projections.rounds(request.table, most=request.most, number=request.round, seat=seat, own=own)
        return RoundsReply(to=request.id, rounds=views)

    return await _read(context, request.id, make)


async def look_before(
    context: Context, _principal: Principal, request: requests.PreviewRequest
) -> ServerMessage:
    """What a result would do, before it is committed."""
    try:
        view = await context.queue.run(lambda engine: preview(engine.table(request.table), request.faces))
    except RulesError as error:
        return refused(request.id, "bad-value", str(error), "house:order")
    return PreviewReply(to=request.id, preview=view)


async def take_position(
    context: Context, principal: Principal, request: requests.TakePositionRequest
) -> ServerMessage:
    """A member of staff takes a position at a table."""
    now = context.clock.now()
    try:
        answer = await context.queue.execute(
            stream_of(request.table),
            lambda engine: positions.take(engine, request.table, principal.name, request.position, at=now),
        )
    except RulesError as error:
        return refused(request.id, "not-known", str(error))
    return answer_to(request.id, answer)


async def virtual(
    context: Context, _principal: Principal, request: requests.VirtualDealerRequest
) -> ServerMessage:
    """Pauses a table's virtual dealer, or lets it go on."""
    deals = context.dealers.get(request.table)
    if deals is None:
        return refused(request.id, "not-known", f"table {request.table!r} has no virtual dealer")
    if request.dealing:
        deals.set()
    else:
        deals.clear()
    return DoneReply(to=request.id)


async def books(context: Context, _principal: Principal, request: requests.BooksRequest) -> ServerMessage:
    """Every account as it is now."""
    projections = context.queue.projections
    return BooksReply(to=request.id, books=await context.queue.run(lambda _engine: projections.books()))


async def report(context: Context, _principal: Principal, request: requests.ReportRequest) -> ServerMessage:
    """Drop, win and hold per table."""
    view = await context.queue.run(lambda _engine: context.queue.projections.report(request.day))
    return ReportReply(to=request.id, report=view)

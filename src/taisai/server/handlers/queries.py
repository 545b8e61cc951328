"""Asks that only look: layouts, rounds retold, what a result would do; and staff who come to a table."""

from __future__ import annotations

from taisai.game.commands import Assign
from taisai.journal import Answer, Engine, stream_of
from taisai.protocol import requests
from taisai.protocol.message import ServerMessage
from taisai.protocol.replies import BooksReply, DoneReply, FeltReply, PreviewReply, ReportReply, RoundsReply
from taisai.rules.errors import RulesError
from taisai.server.auth.permissions import Principal, Role
from taisai.server.handlers import positions
from taisai.server.handlers.context import Context
from taisai.server.projections.rounds import preview
from taisai.server.projections.table import felt_view
from taisai.server.replies import answer_to, refused


async def felt(context: Context, _principal: Principal, request: requests.FeltRequest) -> ServerMessage:
    """A layout of a table."""
    plan = context.plan.table(request.table)
    with_edges = plan is not None and plan.edges
    try:
        found = await context.queue.run(
            lambda engine: felt_view(engine.table(request.table), request.layout, with_edges=with_edges)
        )
    except RulesError as error:
        return refused(request.id, "not-known", str(error))
    return FeltReply(to=request.id, felt=found)


async def rounds(context: Context, principal: Principal, request: requests.RoundsRequest) -> ServerMessage:
    """The last rounds, or one; a terminal sees those in which its own player bet, and their bets alone."""
    own = principal.role is Role.TERMINAL
    seat, projections = principal.seat if own else request.seat, context.queue.projections
    try:
        told = await context.queue.run(
            lambda _engine: projections.rounds(
                request.table, most=request.most, number=request.round, seat=seat, own=own
            )
        )
    except RulesError as error:
        return refused(request.id, "not-known", str(error))
    return RoundsReply(to=request.id, rounds=told)


async def look_before(
    context: Context, _principal: Principal, request: requests.PreviewRequest
) -> ServerMessage:
    """What a result would do, before it is committed."""
    try:
        found = await context.queue.run(lambda engine: preview(engine.table(request.table), request.faces))
    except RulesError as error:
        return refused(request.id, "bad-value", str(error), "house:order")
    return PreviewReply(to=request.id, preview=found)


async def take_position(
    context: Context, principal: Principal, request: requests.TakePositionRequest
) -> ServerMessage:
    """A member of staff takes a position at a table."""
    now = context.clock.now()

    def take(engine: Engine) -> Assign | Answer:
        return positions.take(engine, request.table, principal.name, request.position, at=now)

    try:
        return answer_to(request.id, await context.queue.execute(stream_of(request.table), take))
    except RulesError as error:
        return refused(request.id, "not-known", str(error))


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
    """Every account of this moment."""
    return BooksReply(
        to=request.id, books=await context.queue.run(lambda _engine: context.queue.projections.books())
    )


async def report(context: Context, _principal: Principal, request: requests.ReportRequest) -> ServerMessage:
    """Drop, win and hold per table."""
    return ReportReply(
        to=request.id,
        report=await context.queue.run(lambda _engine: context.queue.projections.report(request.day)),
    )

"""Asks that only look: layouts, rounds retold, what a result would do; and staff who come to a table."""

from __future__ import annotations

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


async def felt(context: Context, _principal: Principal, ask: requests.FeltRequest) -> ServerMessage:
    """A layout of a table."""
    plan = context.plan.table(ask.table)
    with_edges = plan is not None and plan.edges
    try:
        found = await context.queue.run(
            lambda engine: felt_view(engine.table(ask.table), ask.layout, with_edges=with_edges)
        )
    except RulesError as error:
        return refused(ask.id, "not-known", str(error))
    return FeltReply(to=ask.id, felt=found)


async def rounds(context: Context, principal: Principal, ask: requests.RoundsRequest) -> ServerMessage:
    """The last rounds, or one; a terminal sees those in which its own player bet, and their bets alone."""
    own = principal.role is Role.TERMINAL
    seat, projections = principal.seat if own else ask.seat, context.queue.projections
    try:
        told = await context.queue.run(
            lambda _engine: projections.rounds(ask.table, most=ask.most, number=ask.round, seat=seat, own=own)
        )
    except RulesError as error:
        return refused(ask.id, "not-known", str(error))
    return RoundsReply(to=ask.id, rounds=told)


async def look_before(context: Context, _principal: Principal, ask: requests.PreviewRequest) -> ServerMessage:
    """What a result would do, before it is committed."""
    try:
        found = await context.queue.run(lambda engine: preview(engine.table(ask.table), ask.faces))
    except RulesError as error:
        return refused(ask.id, "bad-value", str(error), "house:order")
    return PreviewReply(to=ask.id, preview=found)


async def take_position(
    context: Context, principal: Principal, ask: requests.TakePositionRequest
) -> ServerMessage:
    """A member of staff comes to a table: the House says who they are."""
    try:
        return answer_to(ask.id, await positions.take(context, ask.table, principal.name, ask.position))
    except RulesError as error:
        return refused(ask.id, "not-known", str(error))


async def virtual(
    context: Context, _principal: Principal, ask: requests.VirtualDealerRequest
) -> ServerMessage:
    """Pauses a table's virtual dealer, or lets it go on."""
    deals = context.dealers.get(ask.table)
    if deals is None:
        return refused(ask.id, "not-known", f"table {ask.table!r} has no virtual dealer")
    if ask.dealing:
        deals.set()
    else:
        deals.clear()
    return DoneReply(to=ask.id)


async def books(context: Context, _principal: Principal, ask: requests.BooksRequest) -> ServerMessage:
    """Every account of this moment."""
    return BooksReply(
        to=ask.id, books=await context.queue.run(lambda _engine: context.queue.projections.books())
    )


async def report(context: Context, _principal: Principal, ask: requests.ReportRequest) -> ServerMessage:
    """Drop, win and hold per table."""
    return ReportReply(
        to=ask.id, report=await context.queue.run(lambda _engine: context.queue.projections.report(ask.day))
    )

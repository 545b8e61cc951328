"""Opening a table that the house has planned: by a person of supervising rank, under the plan's terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from taisai.game.commands import OpenTable
from taisai.game.refusals import Reason, Refusal
from taisai.journal import stream_of
from taisai.protocol.message import ServerMessage
from taisai.protocol.requests import OpenTableRequest
from taisai.rules.clauses import Clause
from taisai.rules.errors import RulesError
from taisai.server.auth.permissions import Principal
from taisai.server.replies import answer_to, refused

if TYPE_CHECKING:
    from taisai.rules.book import Rulebook
    from taisai.server.handlers.context import Context

APPROVALS: Final = Clause("house:approvals")


async def open_table(context: Context, principal: Principal, ask: OpenTableRequest) -> ServerMessage:
    """The first command of a table's stream; its rulebook, whole, comes into the journal before it."""
    plan = context.plan
    table = plan.table(ask.table)
    if table is None:
        return refused(ask.id, "not-known", f"expected a table of the configuration, got {ask.table!r}")
    now = context.clock.now()
    wrong = _refusal(context, table.book, now)
    if wrong is not None:
        return answer_to(ask.id, wrong)
    rank = await context.queue.run(lambda engine: engine.house().people.get(principal.name, ""))
    command = OpenTable(
        at=now, by=principal.name, rank=rank, table=table.name, limits=table.limits, currency=plan.currency,
        day=plan.day(now) if plan.day else "1970-01-01", zone=plan.zone, settings=dict(table.settings),
        offers=dict(table.offers), layout=table.layout, demonstration=table.demonstration,
    )  # fmt: skip
    return answer_to(ask.id, await context.queue.execute(stream_of(table.name), command, table.book))


async def not_approved(context: Context, table: str) -> Refusal | None:
    """Why no new gaming day begins at a table: its rulebook may be played for money no more."""
    try:
        book = await context.queue.run(lambda engine: engine.table(table).book)
    except RulesError:
        return None  # there is no such table, which the queue says better
    return _refusal(context, book, context.clock.now())


def _refusal(context: Context, book: Rulebook, now: int) -> Refusal | None:
    plan = context.plan
    says = plan.approved(book, now) if plan.approved is not None else None
    return None if says is None else Refusal(Reason.RULED_OUT, APPROVALS, says)

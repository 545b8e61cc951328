"""Opens a table of the house's plan, and checks that its rulebook is approved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from taisai.game.commands import OpenTable
from taisai.game.refusals import Reason, Refusal
from taisai.journal import Engine, stream_of
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


async def open_table(context: Context, principal: Principal, request: OpenTableRequest) -> ServerMessage:
    """The first command of a table's stream; its rulebook, whole, comes into the journal before it."""
    plan = context.plan
    table = plan.table(request.table)
    if table is None:
        return refused(request.id, "not-known", f"the configuration has no table {request.table!r}")
    now = context.clock.now()
    refusal = _refusal(context, table.book, now)
    if refusal is not None:
        return answer_to(request.id, refusal)
    command = OpenTable(
        at=now, by=principal.name, rank="", table=table.name, limits=table.limits, currency=plan.currency,
        day=plan.day(now) if plan.day else "1970-01-01", zone=plan.zone, settings=dict(table.settings),
        offers=dict(table.offers), layout=table.layout, demonstration=table.demonstration,
    )  # fmt: skip

    def open_with_rank(engine: Engine) -> OpenTable:
        return replace(command, rank=engine.house().people.get(principal.name, ""))

    answer = await context.queue.execute(stream_of(table.name), open_with_rank, table.book)
    return answer_to(request.id, answer)


def not_approved(context: Context, engine: Engine, table: str, now: int) -> Refusal | None:
    """Why no new gaming day begins at a table: its rulebook is no longer approved for money."""
    try:
        book = engine.table(table).book
    except RulesError:
        return None  # the engine's own refusal of an unknown table is better
    return _refusal(context, book, now)


def _refusal(context: Context, book: Rulebook, now: int) -> Refusal | None:
    plan = context.plan
    problem = plan.approved(book, now) if plan.approved is not None else None
    return None if problem is None else Refusal(Reason.RULED_OUT, APPROVALS, problem)

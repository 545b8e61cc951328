"""Opening a table that the house has planned: by a person of supervising rank, under the plan's terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taisai.floor.parties import Party
from taisai.floor.telling import answer_to, refused
from taisai.game.commands import OpenTable
from taisai.house import stream_of
from taisai.wire.asks import AskOpenTable
from taisai.wire.message import Tell

if TYPE_CHECKING:
    from taisai.floor.casino import Plan


async def open_table(context: Any, party: Party, ask: AskOpenTable) -> Tell:
    """The first command of a table's stream; its rulebook, whole, comes into the journal before it."""
    plan: Plan | None = context.plan
    table = next((one for one in plan.tables if one.name == ask.table), None) if plan else None
    if plan is None or table is None:
        return refused(ask.id, "not-known", f"expected a table of the configuration, got {ask.table!r}")
    now = context.clock.now()
    rank = await context.host.look(lambda keeper: keeper.house().people.get(party.name, ""))
    command = OpenTable(
        at=now, by=party.name, rank=rank, table=table.name, limits=table.limits, currency=plan.currency,
        day=plan.day(now) if plan.day else "1970-01-01", zone=plan.zone, settings=dict(table.settings),
        offers=dict(table.offers), layout=table.layout, demonstration=table.demonstration,
    )  # fmt: skip
    return answer_to(ask.id, await context.host.ask(stream_of(table.name), command, table.book))

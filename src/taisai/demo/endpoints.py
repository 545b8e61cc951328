"""Endpoints of a demonstration: which roles there are, and the door that lets anyone into any of them."""

from __future__ import annotations

from functools import cache
from typing import Any

from litestar import Request, get, post
from litestar.datastructures import State
from litestar.params import JSONBody

from taisai.demo import cast
from taisai.demo.sign_in import ROLES, Demonstration
from taisai.game.refusals import Refusal
from taisai.rules import rulebook
from taisai.server.auth.refusals import SignInRefused
from taisai.server.http import bodies
from taisai.server.http.approvals import form_of
from taisai.server.http.guard import refused


@cache
def _ranks(book: str) -> tuple[str, ...]:
    """The ranks that a document knows; a book is read once."""
    return rulebook(book).people.ranks()


def endpoints(demonstration: Demonstration) -> list[Any]:
    """The endpoints, over a casino whose journal says that it is a demonstration."""

    @get("/api/demo", summary="What the demonstration has: tables, roles, and who is virtual")
    async def told() -> bodies.DemoTold:
        """For the lobby."""
        dealing = demonstration.dealers.tables if demonstration.dealers else {}
        return bodies.DemoTold(
            currency=cast.CURRENCY,
            roles=ROLES,
            tables=tuple(
                bodies.DemoTableTold(
                    table=spot.name, rulebook=spot.book, dealer=spot.dealer,
                    dealing=dealing.get(spot.name, False), head=spot.head, players=spot.players,
                    ranks=_ranks(spot.book),
                )
                for spot in cast.SPOTS
            ),
        )  # fmt: skip

    @post("/api/demo/enter", status_code=200, summary="Come in, in any role")
    async def enter(
        request: Request[Any, Any, State], data: JSONBody[bodies.EnterBody]
    ) -> bodies.EnteredTold:
        """A session for staff, a place for a terminal's or display's own key."""
        address = request.client.host if request.client else "unknown"
        entered = await demonstration.enter(data.role, data.table, data.key, address=address)
        if isinstance(entered, str):
            raise refused(400, "bad-value", entered)
        if isinstance(entered, SignInRefused):
            raise refused(503, entered.reason, entered.message)
        if isinstance(entered, Refusal):
            raise refused(409, entered.reason, f"{entered.message} ({entered.clause})", entered.clause)
        return bodies.EnteredTold(**entered._asdict())

    @post("/api/demo/agree", status_code=200, summary="A virtual supervisor agrees to one ask")
    async def agree(
        request: Request[Any, Any, State], data: JSONBody[bodies.AgreeBody]
    ) -> bodies.ApprovalTold:
        """The second person of a demonstration: he always agrees, and his name stands in the journal."""
        form, table = form_of(data.ask), data.ask.get("table")
        answer = demonstration.agreed(request.state.session, form, table if isinstance(table, str) else None)
        if isinstance(answer, str):
            raise refused(403, "second-person", answer)
        return bodies.ApprovalTold(approval=answer.token, until=answer.approval.until)

    return [told, enter, agree]

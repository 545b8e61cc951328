"""Endpoints for the books: every account, and what each table took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from litestar import Request, get
from litestar.datastructures import State
from litestar.params import FromQuery

from taisai.protocol.views import BooksView, ReportView

if TYPE_CHECKING:
    from taisai.server.connections.dispatcher import Floor


@get("/api/books", summary="Every account of House and tables, and whether they balance")
async def books(request: Request[Any, Any, State]) -> BooksView:
    """The books of this moment."""
    floor: Floor = request.app.state.floor
    return await floor.host.look(lambda _keeper: floor.host.boards.books())


@get("/api/report", summary="Drop, win and hold per table")
async def report(request: Request[Any, Any, State], day: FromQuery[str | None] = None) -> ReportView:
    """Of a gaming day, or of the day in hand."""
    floor: Floor = request.app.state.floor
    return await floor.host.look(lambda _keeper: floor.host.boards.report(day))


ENDPOINTS = [books, report]

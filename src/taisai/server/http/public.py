"""Endpoints for everyone: health, metrics, schemas, and the pages."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from litestar import MediaType, Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath

from taisai.game import Table
from taisai.journal import Engine
from taisai.protocol.schema import socket_schema
from taisai.server.http import bodies
from taisai.server.http.built_pages import PAGES
from taisai.server.http.guard import refused

if TYPE_CHECKING:
    from taisai.server.connections.dispatcher import Dispatcher

SECOND: Final = 1_000  # ms that a look at the floor is good for: strangers do not keep its writer busy


class _Look(NamedTuple):
    """What the writer's thread knows of how the floor is."""

    at: int
    tables: tuple[bodies.TableHealth, ...]
    journal: int
    trouble: str | None
    left_out: tuple[str, ...]
    """Tables that cannot be read, and why."""


async def _look(request: Request[Any, Any, State]) -> _Look:
    dispatcher: Dispatcher = request.app.state.dispatcher
    now = dispatcher.clock.steady()
    known: _Look | None = getattr(request.app.state, "look", None)
    if known is not None and 0 <= now - known.at < SECOND:
        return known

    def found(engine: Engine) -> _Look:
        projections = dispatcher.queue.projections
        tables = tuple(map(_table, projections.readable().values()))
        left_out = tuple(f"table {name}: {says}" for name, says in projections.unreadable.items())
        return _Look(now, tables, engine.journal.size, engine.trouble, left_out)

    looking: asyncio.Future[_Look] | None = getattr(request.app.state, "looking", None)
    if looking is None or looking.done():  # many ask at once when a hall loads again: one look is enough
        request.app.state.looking = looking = asyncio.ensure_future(dispatcher.queue.run(found))
    request.app.state.look = looked = await asyncio.shield(looking)
    return looked


@get("/health", summary="How the floor is")
async def health(request: Request[Any, Any, State]) -> Response[bodies.HealthTold]:
    """503 when the journal cannot be written, else 200; 'trouble' also where a table cannot be read."""
    dispatcher: Dispatcher = request.app.state.dispatcher
    look = await _look(request)
    trouble = look.trouble or "; ".join(look.left_out) or None
    told = bodies.HealthTold(
        status="trouble" if trouble else "ok", program=dispatcher.program,
        demonstration=dispatcher.demonstration, tables=look.tables, sockets=len(dispatcher.sockets),
        journal=look.journal, trouble=trouble,
        checks=tuple(getattr(request.app.state, "checks", ())),
    )  # fmt: skip
    return Response(told, status_code=503 if look.trouble else 200)


def _table(table: Table) -> bodies.TableHealth:
    held = table.held
    return bodies.TableHealth(
        name=table.name, rulebook=table.book.id, phase=table.phase,
        number=table.round.number if table.round else len(table.rounds),
        hold=held.hold if held else None, shut=table.shut,
    )  # fmt: skip


@get("/metrics", summary="Figures for Prometheus", media_type=MediaType.TEXT, include_in_schema=False)
async def metrics(request: Request[Any, Any, State]) -> Response[bytes]:
    """What the floor counts about itself."""
    dispatcher: Dispatcher = request.app.state.dispatcher
    dispatcher.metrics.journal = (await _look(request)).journal
    return Response(dispatcher.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@get("/schema/openapi.json", include_in_schema=False)
async def openapi(request: Request[Any, Any, State]) -> Response[bytes]:
    """The endpoints, as OpenAPI."""
    body = msgspec.json.encode(request.app.state.described())
    return Response(body, media_type="application/json")


@cache
def _socket_schema() -> bytes:
    return msgspec.json.encode(socket_schema())


@get("/schema/socket.json", include_in_schema=False)
async def socket_json() -> Response[bytes]:
    """The socket, as JSON Schema."""
    return Response(_socket_schema(), media_type="application/json")


KINDS: Final = {
    "css": "text/css",
    "html": "text/html",
    "js": "text/javascript",
    "json": "application/json",
    "png": "image/png",
    "svg": "image/svg+xml",
    "webp": "image/webp",
    "woff2": "font/woff2",
}
"""What a file is, by how its name ends; nothing else is served."""
FOR_EVER: Final = "public, max-age=31536000, immutable"
"""A part's name changes with what is in it, so that whoever has it need not ask again."""
_NOT_BUILT: Final = b"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Taisai</title></head>
<body>
<p>Expected the pages of this floor to be built, got none: <code>make demo</code> builds them.</p>
</body>
</html>
"""


@get([*PAGES], include_in_schema=False)
async def page(request: Request[Any, Any, State]) -> Response[bytes]:
    """The page that is shown at a path."""
    dispatcher: Dispatcher = request.app.state.dispatcher
    path = str(request.scope["path_template"])
    if not dispatcher.pages.digest:
        return _html(_NOT_BUILT, status=503)
    found = dispatcher.pages.pages.get(PAGES[path])
    if found is None:
        raise refused(404, "not-known", "expected a page that is built, got another")
    return _html(found)


def _html(body: bytes, *, status: int = 200) -> Response[bytes]:
    return Response(body, status_code=status, media_type=KINDS["html"])


@get("/assets/{name:str}", include_in_schema=False)
async def asset(request: Request[Any, Any, State], name: FromPath[str]) -> Response[bytes]:
    """What belongs to a page: scripts, styles and pictures."""
    dispatcher: Dispatcher = request.app.state.dispatcher
    found = dispatcher.pages.assets.get(name)
    kind = KINDS.get(name.rpartition(".")[2])
    if found is None or kind is None:
        raise refused(404, "not-known", "expected what belongs to a page of this floor, got another")
    return Response(found, media_type=kind, headers={"Cache-Control": FOR_EVER})


ENDPOINTS = [health, metrics, openapi, socket_json, page, asset]

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
from taisai.protocol import bodies
from taisai.protocol.replies import socket_schema
from taisai.server.auth import permissions
from taisai.server.auth.permissions import role_of
from taisai.server.auth.sessions import Session
from taisai.server.http.guard import MONITORED, UNLIMITED, refused
from taisai.server.runtime.alarms import ALARMS

if TYPE_CHECKING:
    from taisai.server.connections.dispatcher import Dispatcher

from collections.abc import Mapping
from pathlib import Path

STATE_VALID_FOR: Final = 1_000  # ms: visitors must not keep the writer's thread busy
STATE_WAITS: Final = 2.0  # seconds; then the answer says that the writer stands still


class _ServerState(NamedTuple):
    """The state of the server, read in the writer's thread."""

    at: int
    tables: tuple[bodies.TableHealth, ...]
    journal: int
    trouble: str | None
    left_out: tuple[str, ...]
    """Tables that cannot be read, each with the reason; what is wrong with what is stored."""


async def _server_state(request: Request[Any, Any, State]) -> _ServerState:
    dispatcher: Dispatcher = request.app.state.dispatcher
    now = dispatcher.clock.steady()
    latest: _ServerState | None = getattr(request.app.state, "latest", None)
    if latest is not None and 0 <= now - latest.at < STATE_VALID_FOR:
        return latest

    def read(engine: Engine) -> _ServerState:
        projections = dispatcher.queue.projections
        tables = tuple(map(_table, projections.readable().values()))
        left_out = tuple(f"table {name}: {error}" for name, error in projections.unreadable.items())
        left_out += tuple(projections.warnings)
        return _ServerState(now, tables, engine.journal.size, engine.trouble, left_out)

    reading: asyncio.Future[_ServerState] | None = getattr(request.app.state, "reading", None)
    if reading is None or reading.done():  # many pages may ask at once: one answer serves all
        request.app.state.reading = reading = asyncio.ensure_future(dispatcher.queue.run(read))
    try:
        state = await asyncio.wait_for(asyncio.shield(reading), STATE_WAITS)
    except TimeoutError:
        stale = latest or _ServerState(now, (), dispatcher.metrics.journal, None, ())
        return stale._replace(trouble="the journal's writer stands still")
    request.app.state.latest = state
    return state


@get("/health", summary="The state of the server", opt={UNLIMITED: True, MONITORED: True})
async def health(request: Request[Any, Any, State]) -> Response[bodies.HealthResponse]:
    """503 if the journal cannot be written, else 200. 'trouble': a table or stored bytes are bad, too.

    Strangers get the status and the names of the tables. Everything is for staff with a session, for this
    machine, and for the metrics token. People who may follow the feed of alarms also get those that go on.
    """
    dispatcher: Dispatcher = request.app.state.dispatcher
    state = await _server_state(request)
    trouble = state.trouble or "; ".join(state.left_out) or None
    response = bodies.HealthResponse(
        status="trouble" if trouble else "ok", demonstration=dispatcher.demonstration,
        tables=tuple(bodies.TableHealth(name=table.name, rulebook=table.rulebook) for table in state.tables),
        alarms=dispatcher.alarms.standing() if _sees_alarms(request.state.session) else (),
    )  # fmt: skip
    if getattr(request.state, "sees_inside", False):
        response = msgspec.structs.replace(
            response, program=dispatcher.plan.program, tables=state.tables, sockets=len(dispatcher.sockets),
            journal=state.journal, trouble=trouble, checks=tuple(getattr(request.app.state, "checks", ())),
        )  # fmt: skip
    return Response(response, status_code=503 if state.trouble else 200)


def _sees_alarms(session: Session | None) -> bool:
    return session is not None and permissions.FEEDS[ALARMS].reach(role_of(session.rank)) is not None


def _table(table: Table) -> bodies.TableHealth:
    held = table.held
    return bodies.TableHealth(
        name=table.name, rulebook=table.book.id, phase=table.phase,
        number=table.round.number if table.round else len(table.rounds),
        hold=held.hold if held else None, shut=table.shut,
    )  # fmt: skip


@get(
    "/metrics", summary="Figures for Prometheus", media_type=MediaType.TEXT, include_in_schema=False,
    opt={MONITORED: True},
)  # fmt: skip
async def metrics(request: Request[Any, Any, State]) -> Response[bytes]:
    """Counters of the server, for staff with a session, for this machine, and for the metrics token."""
    dispatcher: Dispatcher = request.app.state.dispatcher
    dispatcher.metrics.journal = (await _server_state(request)).journal
    return Response(dispatcher.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@get("/schema/openapi.json", include_in_schema=False)
async def openapi(request: Request[Any, Any, State]) -> Response[bytes]:
    """The HTTP endpoints as an OpenAPI schema."""
    body = msgspec.json.encode(request.app.state.schema())
    return Response(body, media_type="application/json")


@cache
def _socket_schema() -> bytes:
    return msgspec.json.encode(socket_schema())


@get("/schema/socket.json", include_in_schema=False)
async def socket_json() -> Response[bytes]:
    """The messages of the socket as a JSON Schema."""
    return Response(_socket_schema(), media_type="application/json")


# The pages

FOLDER: Final = Path(__file__).parent / "built"
"""`npm run build` writes the pages here; a wheel contains them here."""
DIGEST: Final = "pages.txt"
"""The build writes this file last. Without it the pages are incomplete."""
PAGES: Final = {
    "/": "index.html",
    "/terminal": "terminal.html",
    "/console": "console.html",
    "/display": "display.html",
    "/recorder": "recorder.html",
    "/round": "round.html",
    "/pit": "pit.html",
    "/cage": "cage.html",
    "/school": "school.html",
    "/office": "office.html",
    "/first-sign-in": "first-sign-in.html",
    "/account": "account.html",
}
"""Path → file of the page."""


class BuiltPages(NamedTuple):
    """The pages and their assets, by file name."""

    digest: str = ""
    """The digest of the sources; empty if nothing is built."""
    pages: Mapping[str, bytes] = {}
    assets: Mapping[str, bytes] = {}
    """Scripts, styles and pictures. A name changes with the content."""


NO_PAGES: Final = BuiltPages()


def read_built(folder: Path) -> BuiltPages:
    """The pages in a folder; none if the build is incomplete."""
    digest = folder / DIGEST
    if not digest.is_file():
        return NO_PAGES
    return BuiltPages(
        digest=digest.read_text("ascii").strip(),
        pages={path.name: path.read_bytes() for path in sorted(folder.glob("*.html"))},
        assets={path.name: path.read_bytes() for path in sorted((folder / "assets").glob("*.*"))},
    )


@cache
def our_pages() -> BuiltPages:
    return read_built(FOLDER)


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
"""File name extension → media type. Other files are not served."""
FOR_EVER: Final = "public, max-age=31536000, immutable"
"""An asset's name changes with its content, so a browser may keep it for ever."""
_NOT_BUILT: Final = b"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Taisai</title></head>
<body>
<p>The pages of this server are not built. <code>make demo</code> builds them.</p>
</body>
</html>
"""


@get([*PAGES], include_in_schema=False, opt={UNLIMITED: True})
async def page(request: Request[Any, Any, State]) -> Response[bytes]:
    """A page."""
    dispatcher: Dispatcher = request.app.state.dispatcher
    path = str(request.scope["path_template"])
    if not dispatcher.pages.digest:
        return _html(_NOT_BUILT, status=503)
    content = dispatcher.pages.pages.get(PAGES[path])
    if content is None:
        raise refused(404, "not-known", f"the page {path} is not built")
    return _html(content)


def _html(body: bytes, *, status: int = 200) -> Response[bytes]:
    return Response(body, status_code=status, media_type=KINDS["html"])


@get("/assets/{name:str}", include_in_schema=False, opt={UNLIMITED: True})
async def asset(request: Request[Any, Any, State], name: FromPath[str]) -> Response[bytes]:
    """A script, style or picture of a page."""
    dispatcher: Dispatcher = request.app.state.dispatcher
    content = dispatcher.pages.assets.get(name)
    kind = KINDS.get(name.rpartition(".")[2])
    if content is None or kind is None:
        raise refused(404, "not-known", f"unknown asset: {name!r}")
    return Response(content, media_type=kind, headers={"Cache-Control": FOR_EVER})


ENDPOINTS = [health, metrics, openapi, socket_json, page, asset]

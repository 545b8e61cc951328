"""Pages: one a place to work or play at, the lobby before them all, and what belongs to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath

from taisai.server.http.built_pages import PAGES
from taisai.server.http.guard import refused

if TYPE_CHECKING:
    from taisai.server.connections.dispatcher import Floor

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
    floor: Floor = request.app.state.floor
    path = str(request.scope["path_template"])
    if not floor.pages.digest:
        return _html(_NOT_BUILT, status=503)
    found = floor.pages.pages.get(PAGES[path])
    if found is None:
        raise refused(404, "not-known", "expected a page that is built, got another")
    return _html(found)


def _html(body: bytes, *, status: int = 200) -> Response[bytes]:
    return Response(body, status_code=status, media_type=KINDS["html"])


@get("/assets/{name:str}", include_in_schema=False)
async def asset(request: Request[Any, Any, State], name: FromPath[str]) -> Response[bytes]:
    """What belongs to a page: scripts, styles and pictures."""
    floor: Floor = request.app.state.floor
    found = floor.pages.assets.get(name)
    kind = KINDS.get(name.rpartition(".")[2])
    if found is None or kind is None:
        raise refused(404, "not-known", "expected what belongs to a page of this floor, got another")
    return Response(found, media_type=kind, headers={"Cache-Control": FOR_EVER})


ENDPOINTS = [page, asset]

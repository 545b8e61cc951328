"""Pages: the lobby of a demonstration, the plain page of a house at work, and what belongs to them."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath

from taisai.floor.web.guarding import refused

if TYPE_CHECKING:
    from taisai.floor.floor import Floor

_KINDS: Final = {
    "html": "text/html",
    "js": "text/javascript",
    "css": "text/css",
    "svg": "image/svg+xml",
}
_LOBBY: Final = "lobby.html"
_AT_WORK: Final = "at-work.html"


def _page(floor: Floor, name: str) -> Response[bytes]:
    if name == _LOBBY and not floor.demonstration:
        name = _AT_WORK  # the lobby speaks of play money, and nobody may read that where money is played for
    stem, _, kind = name.rpartition(".")
    known = files("taisai.floor.web") / "static" / name
    if not stem.replace("-", "").isalnum() or kind not in _KINDS or not known.is_file():
        raise refused(404, "not-known", "expected a page of this floor, got another")
    return Response(known.read_bytes(), media_type=_KINDS[kind])


@get("/", include_in_schema=False)
async def lobby(request: Request[Any, Any, State]) -> Response[bytes]:
    """The lobby of a demonstration; elsewhere, that the floor is at work."""
    return _page(request.app.state.floor, _LOBBY)


@get("/page/{name:str}", include_in_schema=False)
async def page(request: Request[Any, Any, State], name: FromPath[str]) -> Response[bytes]:
    """A page, or what belongs to one."""
    return _page(request.app.state.floor, name)


ENDPOINTS = [lobby, page]

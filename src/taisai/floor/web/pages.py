"""Pages: the lobby and what belongs to it, from files of the package."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from litestar import Response, get
from litestar.params import FromPath

from taisai.floor.web.guarding import refused

_KINDS: Final = {
    "html": "text/html",
    "js": "text/javascript",
    "css": "text/css",
    "svg": "image/svg+xml",
}


def _page(name: str) -> Response[bytes]:
    stem, _, kind = name.rpartition(".")
    known = files("taisai.floor.web") / "static" / name
    if not stem.replace("-", "").isalnum() or kind not in _KINDS or not known.is_file():
        raise refused(404, "not-known", "expected a page of this floor, got another")
    return Response(known.read_bytes(), media_type=_KINDS[kind])


@get("/", include_in_schema=False)
async def lobby() -> Response[bytes]:
    """The lobby."""
    return _page("lobby.html")


@get("/page/{name:str}", include_in_schema=False)
async def page(name: FromPath[str]) -> Response[bytes]:
    """A page, or what belongs to one."""
    return _page(name)


ENDPOINTS = [lobby, page]

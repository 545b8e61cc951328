"""The application: HTTP by Litestar, sockets straight to the floor."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

import structlog
from litestar import Litestar, MediaType, Request, Response
from litestar.datastructures import State
from litestar.exceptions import (
    HTTPException,
    MethodNotAllowedException,
    NotFoundException,
    ValidationException,
)
from litestar.openapi import OpenAPIConfig

from taisai.server.http import bodies, pages, public, reports, school, staff
from taisai.server.http.guard import HEADERS, guard
from taisai.server.http.openapi import true_schema
from taisai.server.http.socket import serve_socket

if TYPE_CHECKING:
    from taisai.server.connections.dispatcher import Floor

Scope = MutableMapping[str, Any]
Application = Callable[
    [Scope, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]
]
MOST_BODY: Final = 64 * 1024
_HUNG_UP: Final = "client disconnected prematurely"
"""The framework's words for a client that goes in the middle: no fault of ours, and nothing to log."""
_log = structlog.get_logger(__name__)


def _refused(request: Request[Any, Any, Any], error: HTTPException) -> Response[bodies.RefusalTold]:
    extra = error.extra if isinstance(error.extra, dict) else {}
    if error.status_code >= 500 and "reason" not in extra:
        if error.detail != _HUNG_UP:
            return _broken(request, error)  # the framework's own, whose words are not for everyone
        extra = {"reason": "gone"}
    if isinstance(error, NotFoundException):
        extra = {"reason": "not-known"}
    told = bodies.RefusalTold(
        reason=str(extra.get("reason", "bad-message")), message=_says(error), clause=extra.get("clause")
    )
    return Response(told, status_code=error.status_code, media_type=MediaType.JSON)


def _says(error: HTTPException) -> str:
    if isinstance(error, NotFoundException):
        return "expected an endpoint or a page of this floor, got another"
    if isinstance(error, MethodNotAllowedException):
        return "expected another method for this endpoint"
    if isinstance(error, ValidationException) and isinstance(error.extra, list) and error.extra:
        found = "; ".join(
            f"{one.get('key', 'body')}: {one.get('message', 'wrong')}"
            for one in error.extra
            if isinstance(one, dict)
        )
        return f"expected a body as the schema says, got another: {found}"
    if error.status_code == 413:
        return f"expected a body of at most {MOST_BODY} bytes, got a longer one"
    if not error.detail.startswith("expected "):  # the framework's own words
        return f"expected a body as the schema says, got another: {error.detail}"
    return error.detail


def _too_deep(_request: Request[Any, Any, Any], _error: RecursionError) -> Response[bodies.RefusalTold]:
    says = "expected a body as the schema says, got one that is nested too deep"
    return Response(
        bodies.RefusalTold(reason="bad-message", message=says), status_code=400, media_type=MediaType.JSON
    )


def _broken(request: Request[Any, Any, Any], error: Exception) -> Response[bodies.RefusalTold]:
    _log.error("a request failed", path=request.url.path, exc_info=error)
    told = bodies.RefusalTold(reason="fault", message="expected an answer, got a fault: the log says more")
    return Response(told, status_code=500, media_type=MediaType.JSON)


_HEADERS: Final = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


async def _with_headers(send: Any, message: Any) -> None:
    """Every answer has them, refusals and faults too."""
    if message["type"] == "http.response.start":
        known = {name for name, _ in message.get("headers", ())}
        more = [(name, value) for name, value in _HEADERS if name not in known]
        message = {**message, "headers": [*message.get("headers", ()), *more]}
    await send(message)


def web_of(floor: Floor, *, checks: Sequence[str] = (), extra: Sequence[Any] = ()) -> Litestar:
    """The endpoints of one floor; `extra` are those that a demonstration has besides."""
    endpoints = [
        *public.ENDPOINTS,
        *staff.ENDPOINTS,
        *reports.ENDPOINTS,
        *school.ENDPOINTS,
        *pages.ENDPOINTS,
        *extra,
    ]
    described = cache(partial(_described, endpoints, floor.program))
    return Litestar(
        route_handlers=endpoints,
        state=State({"floor": floor, "checks": tuple(checks), "described": described}),
        guards=[guard],
        exception_handlers={HTTPException: _refused, RecursionError: _too_deep, Exception: _broken},
        request_max_body_size=MOST_BODY,
        openapi_config=None,  # it would bring endpoints of its own, which no permit knows
        debug=False,
        logging_config=None,
    )


def _described(endpoints: Sequence[Any], program: str) -> dict[str, Any]:
    """The schema of the endpoints, by an application that is never served."""
    config = OpenAPIConfig(
        title="Taisai", version=program, use_handler_docstrings=True, path="/not-served", render_plugins=[]
    )
    made = Litestar(route_handlers=endpoints, openapi_config=config, logging_config=None)
    return true_schema(made.openapi_schema.to_schema())


def application(floor: Floor, *, checks: Sequence[str] = (), extra: Sequence[Any] = ()) -> Application:
    """HTTP and sockets of one floor."""
    web = web_of(floor, checks=checks, extra=extra)

    async def app(scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await serve_socket(floor, scope, receive, send)
        else:
            await web(scope, receive, partial(_with_headers, send))  # type: ignore[arg-type]

    return app

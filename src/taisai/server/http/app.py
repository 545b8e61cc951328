"""The application: every endpoint, its OpenAPI description, and the socket."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Iterator, MutableMapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

import msgspec
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

from taisai.server.auth import permissions
from taisai.server.auth.permissions import Reach, Role
from taisai.server.connections.outbox import DIRECT_TRANSPORT, Send
from taisai.server.connections.sockets import Receive, Socket
from taisai.server.http import bodies, public, school, school_bodies, staff
from taisai.server.http.guard import HEADERS, guard, is_ours

if TYPE_CHECKING:
    from taisai.server.connections.dispatcher import Dispatcher

_REFUSALS: Final = {
    "400": "What came is not what was expected",
    "401": "Nobody is signed in, or the proof is wrong",
    "403": "Not this role, not this page, or no second person",
    "404": "There is no such thing",
    "409": "Refused by the House, with its clause",
    "413": "Too long",
    "429": "Too often",
    "503": "Busy, or the journal cannot be written",
}
_MORE: Final = {
    "POST /api/sign-in": ("429", "503"),
    "POST /api/approvals": ("429", "503"),
    "POST /api/password": ("409", "429", "503"),
    "POST /api/staff": ("409", "503"),
    "DELETE /api/staff": ("409",),
    "POST /api/staff/{person}/unlock": ("409",),
    "POST /api/staff/{person}/revoke": ("409",),
    "POST /api/devices": ("409",),
    "DELETE /api/devices": ("409",),
    "POST /api/demo/enter": ("409", "503"),
}
"""Refusals that have to do with what an endpoint does, and not with what it is given."""
_STRICT: Final = {
    kind.__name__
    for kind in (*vars(bodies).values(), *vars(school_bodies).values())
    if isinstance(kind, type)
    and issubclass(kind, msgspec.Struct)
    and kind.__struct_config__.forbid_unknown_fields
}


def true_schema(made: dict[str, Any]) -> dict[str, Any]:
    """The schema with nothing left out: bodies take no other fields, and every refusal is there."""
    schema = copy.deepcopy(made)
    components = schema.setdefault("components", {})
    parts = components.setdefault("schemas", {})
    for name, part in parts.items():
        if name in _STRICT:
            part["additionalProperties"] = False
    parts["Refusal"] = msgspec.json.schema(bodies.RefusalTold)["$defs"]["RefusalTold"]
    components["securitySchemes"] = {
        "session": {"type": "http", "scheme": "bearer", "description": "The token that a sign-in told"}
    }
    for endpoint, operation in _operations(schema):
        told = operation["responses"]
        for status in sorted(_refusals(endpoint, operation)):
            told[status] = _told(_REFUSALS[status], "Refusal")
        if endpoint == "GET /health":
            told["503"] = _told("The journal cannot be written", "HealthTold")
        reach = _visitors_reach(endpoint)
        if reach is not Reach.ANY:
            operation["security"] = [{"session": []}]
        if reach is Reach.DEMONSTRATION:
            operation["security"].append({})  # nobody need sign in there
    return schema


def _operations(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, operations in schema.get("paths", {}).items():
        for method, operation in operations.items():
            if isinstance(operation, dict) and "responses" in operation:
                yield f"{method.upper()} {path}", operation


def _refusals(endpoint: str, operation: dict[str, Any]) -> set[str]:
    """Anyone may come from elsewhere or with an old token; the rest follows from what it takes and does."""
    found = {"401", "403", *_MORE.get(endpoint, ())}
    if "requestBody" in operation:
        found |= {"400", "413"}
    for parameter in operation.get("parameters", ()):
        found.add("404" if parameter["in"] == "path" else "400")
    return found


def _told(says: str, part: str) -> dict[str, Any]:
    reference = {"$ref": f"#/components/schemas/{part}"}
    return {"description": says, "content": {"application/json": {"schema": reference}}}


def _visitors_reach(endpoint: str) -> Reach | None:
    permit = permissions.ENDPOINTS.get(endpoint) or permissions.DEMONSTRATION.get(endpoint)
    return permit.reach(Role.VISITOR) if permit is not None else None


PATH: Final = "/socket"


async def serve_socket(
    dispatcher: Dispatcher, scope: MutableMapping[str, Any], receive: Receive, send: Send
) -> None:
    """One connection over WebSocket; a stranger's is refused before it is open."""
    message = await receive()
    if message["type"] != "websocket.connect":
        return
    if scope["path"] != PATH or not is_ours(dispatcher, scope["headers"], origin_needed=True):
        await send({"type": "websocket.close", "code": 1008, "reason": "origin"})
        return
    await send({"type": "websocket.accept"})
    client = scope.get("client")
    line = (scope.get("extensions") or {}).get(DIRECT_TRANSPORT, {}).get("line")
    socket = Socket(dispatcher, receive, send, client[0] if client else "unknown", line)
    dispatcher.came(socket)
    await socket.run()


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


def web_of(dispatcher: Dispatcher, *, checks: Sequence[str] = (), extra: Sequence[Any] = ()) -> Litestar:
    """The endpoints of one floor; `extra` are those that a demonstration has besides."""
    endpoints = [
        *staff.ENDPOINTS,
        *school.ENDPOINTS,
        *public.ENDPOINTS,
        *extra,
    ]
    described = cache(partial(_described, endpoints, dispatcher.program))
    return Litestar(
        route_handlers=endpoints,
        state=State({"dispatcher": dispatcher, "checks": tuple(checks), "described": described}),
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


def application(
    dispatcher: Dispatcher, *, checks: Sequence[str] = (), extra: Sequence[Any] = ()
) -> Application:
    """HTTP and sockets of one floor."""
    web = web_of(dispatcher, checks=checks, extra=extra)

    async def app(scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await serve_socket(dispatcher, scope, receive, send)
        else:
            await web(scope, receive, partial(_with_headers, send))  # type: ignore[arg-type]

    return app

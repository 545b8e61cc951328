"""The application: every endpoint, its OpenAPI description, and the socket."""

from __future__ import annotations

import asyncio
import copy
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
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

from taisai.listening.accepting import network_of
from taisai.protocol import bodies
from taisai.server.auth import permissions
from taisai.server.auth.permissions import Reach, Role
from taisai.server.connections.feeds import DIRECT_TRANSPORT, Send
from taisai.server.connections.sockets import Receive, Socket
from taisai.server.http import account, approvals, public, school, school_bodies, staff
from taisai.server.http.guard import HEADERS, HSTS, SAFE, check_body, guard, is_https, is_ours

if TYPE_CHECKING:
    from taisai.server.connections.dispatcher import Dispatcher

_REFUSALS: Final = {
    "400": "The request is invalid",
    "401": "Nobody is signed in, or name, password and code do not match",
    "403": "The role may not do this, the request is from another site, or a second person is missing",
    "404": "Not found",
    "409": "Refused by a rule of the House",
    "413": "The body is too long",
    "415": "The body is not declared as JSON",
    "429": "Too many requests",
    "503": "The server is busy, or the journal cannot be written",
}
_MORE: Final = {
    "POST /api/sign-in": ("429", "503"),
    "POST /api/approvals": ("429",),
    "DELETE /api/approvals/{approval}": ("409",),
    "POST /api/approvals/{approval}/approve": ("429", "503"),
    "POST /api/approvals/{approval}/challenge": ("400", "409"),
    "POST /api/approvals/{approval}/approve-here": ("429", "503"),
    "POST /api/first-sign-in": ("429", "503"),
    "POST /api/account": ("429", "503"),
    "POST /api/passkeys/challenge": ("400", "429"),
    "POST /api/passkeys/sign-in": ("429", "503"),
    "POST /api/credentials": ("409", "503"),
    "POST /api/sessions/end": ("409", "503"),
    "POST /api/staff": ("409", "503"),
    "DELETE /api/staff": ("409",),
    "POST /api/staff/{person}/acknowledge": ("409",),
    "POST /api/staff/{person}/unlock": ("409",),
    "POST /api/staff/{person}/revoke": ("409",),
    "POST /api/devices": ("409",),
    "DELETE /api/devices": ("409",),
    "POST /api/demo/enter": ("409", "503"),
}
"""Endpoint → refusals that follow from what it does, and not from its parameters."""
_STRICT: Final = {
    kind.__name__
    for kind in (*vars(bodies).values(), *vars(school_bodies).values())
    if isinstance(kind, type)
    and issubclass(kind, msgspec.Struct)
    and kind.__struct_config__.forbid_unknown_fields
}


def complete_schema(generated: dict[str, Any]) -> dict[str, Any]:
    """The schema with every refusal, and with bodies that allow no unknown fields."""
    schema = copy.deepcopy(generated)
    components = schema.setdefault("components", {})
    parts = components.setdefault("schemas", {})
    for name, part in parts.items():
        if name in _STRICT:
            part["additionalProperties"] = False
    parts["Refusal"] = msgspec.json.schema(bodies.RefusalResponse)["$defs"]["RefusalResponse"]
    components["securitySchemes"] = {
        "session": {"type": "http", "scheme": "bearer", "description": "The token of a session"}
    }
    for endpoint, operation in _operations(schema):
        responses = operation["responses"]
        for status in sorted(_refusals(endpoint, operation)):
            responses[status] = _response(_REFUSALS[status], "Refusal")
        if endpoint == "GET /health":
            responses.pop("429")  # it has no limit: monitoring asks it
            responses["503"] = _response("The journal cannot be written", "HealthResponse")
        reach = _reach_of_visitors(endpoint)
        if reach is not Reach.ANY:
            operation["security"] = [{"session": []}]
        if reach is Reach.DEMONSTRATION:
            operation["security"].append({})  # a demonstration needs no session
    return schema


def _operations(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, operations in schema.get("paths", {}).items():
        for method, operation in operations.items():
            if isinstance(operation, dict) and "responses" in operation:
                yield f"{method.upper()} {path}", operation


def _refusals(endpoint: str, operation: dict[str, Any]) -> set[str]:
    """Any request may have a foreign origin or an old token, or be one too many for its address.

    The rest follows from parameters and effects.
    """
    statuses = {"401", "403", "429", *_MORE.get(endpoint, ())}
    if "requestBody" in operation:
        statuses |= {"400", "413", "415"}
    for parameter in operation.get("parameters", ()):
        statuses.add("404" if parameter["in"] == "path" else "400")
    return statuses


def _response(description: str, part: str) -> dict[str, Any]:
    reference = {"$ref": f"#/components/schemas/{part}"}
    return {"description": description, "content": {"application/json": {"schema": reference}}}


def _reach_of_visitors(endpoint: str) -> Reach | None:
    permission = permissions.ENDPOINTS.get(endpoint) or permissions.DEMONSTRATION.get(endpoint)
    return permission.reach(Role.VISITOR) if permission is not None else None


PATH: Final = "/socket"


async def serve_socket(
    dispatcher: Dispatcher, scope: MutableMapping[str, Any], receive: Receive, send: Send
) -> None:
    """Serves one WebSocket connection; one from another site is refused before it opens."""
    message = await receive()
    if message["type"] != "websocket.connect":
        return
    if scope["path"] != PATH or not is_ours(dispatcher, scope["headers"], origin_needed=True):
        address = str((scope.get("client") or ("unknown",))[0])
        dispatcher.security.refused("origin", what="socket", address=address)
        await send({"type": "websocket.close", "code": 1008, "reason": "origin"})
        return
    await send({"type": "websocket.accept"})
    client = scope.get("client")
    line = (scope.get("extensions") or {}).get(DIRECT_TRANSPORT, {}).get("line")
    socket = Socket(dispatcher, receive, send, client[0] if client else "unknown", line)
    dispatcher.connect(socket)
    if dispatcher.queue.in_doubt.is_set():
        socket.end("stopped", "the server stops: connect again later", 1012)
    await socket.run()


Scope = MutableMapping[str, Any]
Application = Callable[
    [Scope, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]
]
MOST_BODY: Final = 64 * 1024
_CLIENT_GONE: Final = "client disconnected prematurely"
"""The framework's message if a client disconnects during a request. It is no fault and is not logged."""
_log = structlog.get_logger(__name__)


def _refused(request: Request[Any, Any, Any], error: HTTPException) -> Response[bodies.RefusalResponse]:
    extra = error.extra if isinstance(error.extra, dict) else {}
    if error.status_code >= 500 and "reason" not in extra:
        if error.detail != _CLIENT_GONE:
            return _broken(request, error)  # the framework's own message may show internals
        extra = {"reason": "gone"}
    if isinstance(error, NotFoundException):
        extra = {"reason": "not-known"}
    reason = str(extra.get("reason", "bad-message"))
    session = getattr(request.state, "session", None)
    request.app.state.dispatcher.security.refused(
        reason, what=f"{request.method} {request.scope.get('path_template', '')}",
        address=request.client.host if request.client else "", who=session.person if session else "",
        clause=extra.get("clause"),
    )  # fmt: skip
    return _refusal(error.status_code, reason, _message(error), extra.get("clause"))


def _refusal(
    status: int, reason: str, message: str, clause: str | None = None
) -> Response[bodies.RefusalResponse]:
    body = bodies.RefusalResponse(reason=reason, message=message, clause=clause)
    return Response(body, status_code=status, media_type=MediaType.JSON)


def _message(error: HTTPException) -> str:
    if isinstance(error, NotFoundException):
        return "not found: this server has no such page or endpoint"
    if isinstance(error, MethodNotAllowedException):
        return "the endpoint does not allow this method"
    if isinstance(error, ValidationException) and isinstance(error.extra, list) and error.extra:
        problems = "; ".join(
            f"{problem.get('key', 'body')}: {problem.get('message', 'invalid')}"
            for problem in error.extra
            if isinstance(problem, dict)
        )
        return f"invalid request: {problems}"
    if error.status_code == 413:
        return f"the body is longer than {MOST_BODY} bytes"
    is_ours = isinstance(error.extra, dict) and "reason" in error.extra
    return error.detail if is_ours else f"invalid request: {error.detail}"


def _too_deep(_request: Request[Any, Any, Any], _error: RecursionError) -> Response[bodies.RefusalResponse]:
    return _refusal(400, "bad-message", "invalid request: the body is nested too deeply")


def _broken(request: Request[Any, Any, Any], error: Exception) -> Response[bodies.RefusalResponse]:
    _log.error("a request failed", path=request.url.path, exc_info=error)
    return _refusal(500, "fault", "the server failed; its log has the details")


_HEADERS: Final = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


_SECURE: Final = (HSTS[0].lower().encode(), HSTS[1].encode())


async def _with_headers(send: Any, is_secure: bool, message: Any) -> None:  # noqa: FBT001  the server calls it
    """Adds the security headers to every response, also to refusals and failures."""
    if message["type"] == "http.response.start":
        present = {name for name, _ in message.get("headers", ())}
        missing = [(name, value) for name, value in _HEADERS if name not in present]
        if is_secure:
            missing.append(_SECURE)
        message = {**message, "headers": [*message.get("headers", ()), *missing]}
    await send(message)


def web_of(dispatcher: Dispatcher, *, checks: Sequence[str] = (), extra: Sequence[Any] = ()) -> Litestar:
    """The HTTP application; `extra` are the endpoints of a demonstration."""
    endpoints = [
        *staff.ENDPOINTS, *account.ENDPOINTS, *approvals.ENDPOINTS, *school.ENDPOINTS, *public.ENDPOINTS,
        *extra,
    ]  # fmt: skip
    schema = cache(partial(_schema, endpoints, dispatcher.plan.program))
    return Litestar(
        route_handlers=endpoints,
        state=State({"dispatcher": dispatcher, "checks": tuple(checks), "schema": schema}),
        guards=[guard],
        before_request=check_body,
        exception_handlers={HTTPException: _refused, RecursionError: _too_deep, Exception: _broken},
        request_max_body_size=MOST_BODY,
        openapi_config=None,  # it would add endpoints without permissions
        debug=False,
        pdb_on_exception=False,
        logging_config=None,
    )


def _schema(endpoints: Sequence[Any], program: str) -> dict[str, Any]:
    """The schema of the endpoints, generated by an application that is never served."""
    config = OpenAPIConfig(
        title="Taisai", version=program, use_handler_docstrings=True, path="/not-served", render_plugins=[]
    )
    described = Litestar(route_handlers=endpoints, openapi_config=config, logging_config=None)
    return complete_schema(described.openapi_schema.to_schema())


AT_ONCE: Final = 4  # requests of one network that only read, in one turn of the loop: a millisecond or two


class _Turns:
    """Answers a few requests of each network in a turn of the loop: a flood of one delays no other."""

    def __init__(self) -> None:
        self._free: dict[str, asyncio.Semaphore] = {}
        self._wanted: Counter[str] = Counter()
        """Network → its requests that are answered, or wait."""

    @asynccontextmanager
    async def of(self, scope: Scope, send: Send) -> AsyncIterator[Send]:
        """Waits until it is the turn of a request, which ends when its answer is made.

        A client that does not read its answer keeps nobody else waiting.
        """
        network = network_of(str((scope.get("client") or ("",))[0]))
        self._wanted[network] += 1
        try:
            free = self._free.setdefault(network, asyncio.Semaphore(AT_ONCE))
            async with AsyncExitStack() as turn:
                await turn.enter_async_context(free)
                await asyncio.sleep(0)  # most are answered without a wait: those behind it have the next turn

                async def sending(message: Any) -> None:
                    await turn.aclose()
                    await send(message)

                yield sending
        finally:
            self._wanted[network] -= 1
            if not self._wanted[network]:
                del self._wanted[network], self._free[network]


def application(
    dispatcher: Dispatcher, *, checks: Sequence[str] = (), extra: Sequence[Any] = ()
) -> Application:
    web = web_of(dispatcher, checks=checks, extra=extra)
    is_secure_house = is_https(dispatcher.plan.origins)

    turns = _Turns()

    async def app(scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await serve_socket(dispatcher, scope, receive, send)
            return
        is_secure = is_secure_house or scope.get("scheme") == "https"
        with_headers = partial(_with_headers, send, is_secure)
        if scope["method"] in SAFE:
            async with turns.of(scope, with_headers) as sending:
                await web(scope, receive, sending)  # type: ignore[arg-type]
        else:  # what changes something may wait for a disk or a password, and has limits of its own
            await web(scope, receive, with_headers)  # type: ignore[arg-type]

    return app

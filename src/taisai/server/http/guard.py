"""Checks before every HTTP request: its origin, its rate, its session and its permission."""

from __future__ import annotations

from collections.abc import Iterable
from hmac import compare_digest
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from litestar.connection import ASGIConnection, Request
from litestar.exceptions import HTTPException
from litestar.handlers import BaseRouteHandler

from taisai.listening.accepting import network_of
from taisai.protocol.message import repeated_key
from taisai.server.auth import permissions
from taisai.server.auth.permissions import Role, role_of
from taisai.server.auth.sessions import EndedSession, Session
from taisai.server.config.settings import is_loopback
from taisai.validation import quoted

if TYPE_CHECKING:
    from taisai.server.connections.dispatcher import Dispatcher

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
UNLIMITED: Final = "unlimited"
"""The option of endpoints without a rate limit: they read from memory, and a page loads a dozen at once."""
MONITORED: Final = "monitored"
"""The option of endpoints that show how the server does: to staff, this machine, and the metrics token."""
HSTS: Final = ("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
"""Sent where pages are served over HTTPS: for a year a browser uses nothing else for this host and below."""
_FORWARDED: Final = ("forwarded", "via", "x-forwarded-for", "x-real-ip")
"""Headers that a proxy adds."""
_ALWAYS: Final = frozenset({"GET /health", "GET /metrics"})
"""What a server that is about to stop still answers."""
CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=()",
    "Cache-Control": "no-store",
}


def is_https(origins: Iterable[str]) -> bool:
    """Whether all pages are served over HTTPS. Where a proxy does the TLS, only their addresses say so."""
    origins = tuple(origins)
    return bool(origins) and all(origin.startswith("https://") for origin in origins)


def security_headers(*, is_secure: bool) -> list[tuple[str, str]]:
    """The headers of every response; `is_secure`: over HTTPS."""
    return [*HEADERS.items(), *([HSTS] if is_secure else ())]


def refused(status: int, reason: str, message: str, clause: str | None = None) -> HTTPException:
    """An HTTP error with a refusal's reason, message and clause."""
    return HTTPException(detail=message, status_code=status, extra={"reason": reason, "clause": clause})


def _values(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key == name]


def is_ours(dispatcher: Dispatcher, headers: Iterable[tuple[bytes, bytes]], *, origin_needed: bool) -> bool:
    """Whether a request is for this server and, if a browser sent it, from one of its pages.

    A browser always sends the origin with a socket and with any request that changes something. Other
    programs send no origin.
    """
    headers = list(headers)
    origins, hosts = _values(headers, b"origin"), _values(headers, b"host")
    if len(hosts) != 1 or hosts[0] not in {origin.partition("://")[2] for origin in dispatcher.plan.origins}:
        return False
    if not origins:
        return not origin_needed or not _values(headers, b"sec-fetch-mode")
    return len(origins) == 1 and origins[0] in dispatcher.plan.origins


async def check_body(request: Request[Any, Any, Any]) -> None:
    """Refuses a body that is not declared as JSON, and one in which a key stands twice."""
    body = await request.body()
    if not body:
        return
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower()
    if kind.strip().lower() != "application/json" or charset not in ("", "charset=utf-8", 'charset="utf-8"'):
        got = quoted(request.headers.get("content-type", "none"))
        raise refused(415, "bad-message", f"expected a body with Content-Type: application/json, got {got}")
    try:
        key = repeated_key(body.decode())
    except ValueError:  # no JSON, which the endpoint says
        return
    if key is not None:
        raise refused(400, "bad-message", f"invalid request: the key {key!r} stands twice in an object")


def session_of(dispatcher: Dispatcher, connection: ASGIConnection[Any, Any, Any, Any]) -> Session | None:
    """The session of the token in a request; None without a token."""
    header = connection.headers.get("authorization", "")
    if not header:
        return None
    kind, _, token = header.partition(" ")
    if kind.lower() != "bearer" or not token:
        raise refused(401, "signed-out", "invalid Authorization header; expected 'Authorization: Bearer …'")
    now = dispatcher.clock.now()
    session = dispatcher.authentication.sessions.of(token, now)
    if isinstance(session, EndedSession):
        raise refused(401, "signed-out", session.message)
    dispatcher.authentication.sessions.touch(session.id, now)
    return session


def _is_monitor(dispatcher: Dispatcher, connection: ASGIConnection[Any, Any, Any, Any]) -> bool:
    """Whether a request comes from this machine, or carries the metrics token."""
    plan, header = dispatcher.plan, connection.headers.get("authorization", "")
    token = plan.metrics_token() if header else None
    if token is not None and compare_digest(
        header.encode("utf-8", "replace"), f"Bearer {token}".encode("utf-8", "replace")
    ):
        return True
    # Behind a proxy that does not forward addresses, or that casino.toml does not name, everyone seems to be
    # on this machine.
    is_forwarded = any(name in connection.headers for name in _FORWARDED)
    return not (plan.behind_proxy or is_forwarded) and is_loopback(
        connection.client.host if connection.client else ""
    )


def guard(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Refuses every request that the table of permissions does not allow."""
    dispatcher: Dispatcher = connection.app.state.dispatcher
    method = str(connection.scope.get("method", "GET"))
    if not is_ours(dispatcher, connection.scope["headers"], origin_needed=method not in SAFE):
        raise refused(403, "origin", "the request comes from a page of another site, or is for another host")
    query = bytes(connection.scope["query_string"]).decode("latin-1")
    names = [name for name, _ in parse_qsl(query, keep_blank_values=True)]
    if len(set(names)) < len(names) or len(_values(connection.scope["headers"], b"authorization")) > 1:
        raise refused(400, "bad-message", "invalid request: a parameter, or Authorization, stands twice")
    endpoint = f"{method} {connection.scope['path_template']}"
    if dispatcher.queue.in_doubt.is_set() and endpoint not in _ALWAYS:
        raise refused(503, "journal-in-doubt", f"the server stops: {dispatcher.queue.trouble}")
    address = network_of(connection.client.host if connection.client else "")
    if not handler.opt.get(UNLIMITED) and not dispatcher.requests.takes(address, dispatcher.clock.steady()):
        most = dispatcher.bounds.requests_a_second
        raise refused(
            429, "too-often", f"too many requests from this address; at most {most} a second are allowed"
        )
    is_monitor = bool(handler.opt.get(MONITORED)) and _is_monitor(dispatcher, connection)
    session = None if is_monitor else session_of(dispatcher, connection)
    connection.state.session = session
    connection.state.sees_inside = is_monitor or session is not None
    role = Role.VISITOR if session is None else role_of(session.rank)
    permission = permissions.ENDPOINTS.get(endpoint)
    if permission is None and dispatcher.demonstration:
        permission = permissions.DEMONSTRATION.get(endpoint)
    if permission is None:
        raise refused(404, "not-known", f"unknown endpoint: {endpoint}")
    permission = permission.in_house(demonstration=dispatcher.demonstration)
    if permission.reach(role) is None and not is_monitor:
        status = 401 if session is None else 403
        message = f"{endpoint} is not permitted to the role {role}; permitted: {permission.role_names}"
        raise refused(status, "not-permitted", message)

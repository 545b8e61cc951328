"""Checks before every HTTP request: its origin, its rate, its session and its permission."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from litestar.connection import ASGIConnection
from litestar.exceptions import HTTPException
from litestar.handlers import BaseRouteHandler

from taisai.server.auth import permissions
from taisai.server.auth.permissions import Role, network_of, role_of
from taisai.server.auth.sessions import EndedSession, Session

if TYPE_CHECKING:
    from taisai.server.connections.dispatcher import Dispatcher

_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
UNLIMITED: Final = "unlimited"
"""The option of endpoints without a rate limit: they read from memory, and a page loads a dozen at once."""
_ALWAYS: Final = frozenset({"GET /health", "GET /metrics"})
"""What a server that is about to stop still answers."""
CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
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


def guard(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Refuses every request that the table of permissions does not allow."""
    dispatcher: Dispatcher = connection.app.state.dispatcher
    method = str(connection.scope.get("method", "GET"))
    if not is_ours(dispatcher, connection.scope["headers"], origin_needed=method not in _SAFE):
        raise refused(403, "origin", "the request comes from a page of another site, or is for another host")
    endpoint = f"{method} {connection.scope['path_template']}"
    if dispatcher.queue.in_doubt.is_set() and endpoint not in _ALWAYS:
        raise refused(503, "journal-in-doubt", f"the server stops: {dispatcher.queue.trouble}")
    address = network_of(connection.client.host if connection.client else "")
    if not handler.opt.get(UNLIMITED) and not dispatcher.requests.takes(address, dispatcher.clock.steady()):
        most = dispatcher.bounds.requests_a_second
        raise refused(
            429, "too-often", f"too many requests from this address; at most {most} a second are allowed"
        )
    session = session_of(dispatcher, connection)
    connection.state.session = session
    role = Role.VISITOR if session is None else role_of(session.rank)
    permission = permissions.ENDPOINTS.get(endpoint)
    if permission is None and dispatcher.demonstration:
        permission = permissions.DEMONSTRATION.get(endpoint)
    if permission is None:
        raise refused(404, "not-known", f"unknown endpoint: {endpoint}")
    permission = permission.in_house(demonstration=dispatcher.demonstration)
    if permission.reach(role) is None:
        status = 401 if session is None else 403
        message = f"{endpoint} is not permitted to the role {role}; permitted: {permission.role_names}"
        raise refused(status, "not-permitted", message)

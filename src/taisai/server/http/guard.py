"""What stands before every request: where it comes from, who it is, and whether he may."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from litestar.connection import ASGIConnection
from litestar.exceptions import HTTPException
from litestar.handlers import BaseRouteHandler

from taisai.server.auth import permissions
from taisai.server.auth.permissions import Role, role_of
from taisai.server.auth.rate_limits import network_of
from taisai.server.auth.sessions import EndedSession, Session
from taisai.server.http.built_pages import PAGES

if TYPE_CHECKING:
    from taisai.server.connections.dispatcher import Dispatcher

_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_UNCOUNTED: Final = frozenset({"GET /assets/{name}", "GET /health", *(f"GET {path}" for path in PAGES)})
"""Read from memory, a dozen to a page: when a hall's terminals all load again, none may be turned away."""
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
    """A refusal over HTTP, in the same words as on the socket."""
    return HTTPException(detail=message, status_code=status, extra={"reason": reason, "clause": clause})


def _given(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key == name]


def is_ours(dispatcher: Dispatcher, headers: Iterable[tuple[bytes, bytes]], *, origin_needed: bool) -> bool:
    """Whether a request is for this floor, and from a page of it where it is from a page at all.

    A browser always names the origin of a socket and of whatever changes something; a program names none.
    """
    headers = list(headers)
    origins, hosts = _given(headers, b"origin"), _given(headers, b"host")
    if len(hosts) != 1 or hosts[0] not in {one.partition("://")[2] for one in dispatcher.origins}:
        return False
    if not origins:
        return not origin_needed or not _given(headers, b"sec-fetch-mode")
    return len(origins) == 1 and origins[0] in dispatcher.origins


def session_of(dispatcher: Dispatcher, connection: ASGIConnection[Any, Any, Any, Any]) -> Session | None:
    """Whose request it is, by the token that it bears; nobody's without one."""
    given = connection.headers.get("authorization", "")
    if not given:
        return None
    kind, _, token = given.partition(" ")
    if kind.lower() != "bearer" or not token:
        raise refused(401, "signed-out", "expected the header 'Authorization: Bearer …', got another")
    now = dispatcher.clock.now()
    session = dispatcher.authentication.sessions.of(token, now)
    if isinstance(session, EndedSession):
        raise refused(401, "signed-out", session.message)
    dispatcher.authentication.sessions.touch(session.id, now)
    return session


def guard(connection: ASGIConnection[Any, Any, Any, Any], _handler: BaseRouteHandler) -> None:
    """Refuses whatever the table of permits does not allow."""
    dispatcher: Dispatcher = connection.app.state.dispatcher
    method = str(connection.scope.get("method", "GET"))
    if not is_ours(dispatcher, connection.scope["headers"], origin_needed=method not in _SAFE):
        raise refused(403, "origin", "expected a request from a page of this floor, got one from elsewhere")
    endpoint = f"{method} {connection.scope['path_template']}"
    address = network_of(connection.client.host if connection.client else "")
    if endpoint not in _UNCOUNTED and not dispatcher.requests.takes(address, dispatcher.clock.steady()):
        most = dispatcher.bounds.requests_a_second
        raise refused(429, "too-often", f"expected at most {most} requests a second, got more")
    session = session_of(dispatcher, connection)
    connection.state.session = session
    role = Role.VISITOR if session is None else role_of(session.rank)
    permit = permissions.ENDPOINTS.get(endpoint)
    if permit is None and dispatcher.demonstration:
        permit = permissions.DEMONSTRATION.get(endpoint)
    if permit is None:
        raise refused(404, "not-known", "expected an endpoint of this floor, got another")
    permit = permit.in_house(demonstration=dispatcher.demonstration)
    if permit.reach(role) is None:
        status = 401 if session is None else 403
        may = ", ".join(sorted(permit.roles))
        raise refused(status, "not-permitted", f"expected {may}, got {role}")

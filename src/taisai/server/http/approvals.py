"""What a second person agrees to, in one form, whether it is asked over the socket or over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from taisai.server.auth.approvals import digest_of
from taisai.server.auth.sessions import Session
from taisai.server.connections.dispatcher import approved_form, canonical
from taisai.server.connections.sockets import decode_ask
from taisai.server.http.guard import refused

if TYPE_CHECKING:
    from taisai.server.connections.dispatcher import Floor
    from taisai.server.http.bodies import Body


def form_of(what: dict[str, Any]) -> bytes:
    """The canonical form of an ask, or of an endpoint with its body."""
    if set(what) == {"endpoint", "body"} and isinstance(what["body"], dict):
        return _request(str(what["endpoint"]), what["body"])
    try:
        return approved_form(decode_ask(msgspec.json.encode(what | {"id": "approved"})))
    except (msgspec.DecodeError, TypeError, UnicodeEncodeError, RecursionError) as error:
        raise refused(
            400, "bad-message", f"expected an ask to approve, got something else: {error}"
        ) from None


def _request(endpoint: str, body: dict[str, Any]) -> bytes:
    return canonical({"endpoint": endpoint, "body": {k: v for k, v in body.items() if k != "approval"}})


def second_for(floor: Floor, session: Session, endpoint: str, body: Body) -> str | None:
    """Who approved exactly this request; None where no approval came with it."""
    approval: str | None = getattr(body, "approval", None)
    if approval is None:
        return None
    plain = {k: v for k, v in msgspec.to_builtins(body).items() if v is not None}
    digest = digest_of(_request(endpoint, plain))
    by = floor.door.approvals.used(approval, digest, asker=session.id, now=floor.clock.now())
    if by is None:
        raise refused(403, "second-person", "expected an approval of exactly this, not yet used, got another")
    return by

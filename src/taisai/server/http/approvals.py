"""Endpoints of approvals: one person asks, and a second person decides in their own session."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

import msgspec
from litestar import Request, delete, get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody

from taisai.game.refusals import Refusal
from taisai.journal import Engine
from taisai.protocol import bodies
from taisai.protocol.commands import NEEDS_SECOND, tag_of
from taisai.protocol.message import Request as SocketRequest
from taisai.protocol.requests import DoRequest
from taisai.protocol.views import ApprovalsView
from taisai.server.auth import permissions
from taisai.server.auth.approvals import NOT_ASKED, Approval, RequestToApprove, digest_of
from taisai.server.auth.authentication import PasskeyProof
from taisai.server.auth.passkeys import PasskeyOrigin, passkey_origin
from taisai.server.auth.permissions import SECOND_PERSONS, SUPERVISING, Principal, Role, role_of
from taisai.server.auth.sessions import Session
from taisai.server.auth.sign_in_refusals import NO_PASSKEYS, SignInRefusalReason, SignInRefused
from taisai.server.connections.sockets import decode_request
from taisai.server.handlers.cage import ticket_worth
from taisai.server.handlers.context import approved_form, canonical
from taisai.server.handlers.transfers import KEY_BYTES, table_at
from taisai.server.http.guard import refused
from taisai.server.projections.approvals import RequestInWords, endpoint_in_words, request_in_words

if TYPE_CHECKING:
    from taisai.server.connections.dispatcher import Dispatcher

StaffRequest = Request[Any, Any, State]
_STATUS: Final = {
    SignInRefusalReason.TOO_OFTEN: 429,
    SignInRefusalReason.BUSY: 503,
    SignInRefusalReason.UNRECORDED: 503,
    SignInRefusalReason.UNFIT: 400,
    SignInRefusalReason.WRONG_CONFIRMATION: 400,
    SignInRefusalReason.NO_PASSKEYS: 400,
    SignInRefusalReason.NOT_SECOND: 403,
    SignInRefusalReason.CODE_NEEDED: 403,
    SignInRefusalReason.NO_SUCH_SESSION: 409,
}
_UNREADABLE: Final = (
    msgspec.DecodeError,
    msgspec.ValidationError,
    TypeError,
    UnicodeEncodeError,
    RecursionError,
)


class EndpointToApprove(NamedTuple):
    """An endpoint that takes an approval: its body, and the roles that may give one."""

    body: type[bodies.RequestBody]
    roles: frozenset[Role]


ENDPOINTS_TO_APPROVE: Final = {
    "POST /api/staff": EndpointToApprove(bodies.StaffBody, SUPERVISING),
    "DELETE /api/staff": EndpointToApprove(bodies.DismissBody, SUPERVISING),
    "POST /api/staff/{person}/unlock": EndpointToApprove(bodies.UnlockBody, SUPERVISING),
    "POST /api/devices": EndpointToApprove(bodies.DeviceBody, SECOND_PERSONS),
}


def dispatcher_of(request: StaffRequest) -> Dispatcher:
    dispatcher: Dispatcher = request.app.state.dispatcher
    return dispatcher


def session_in(request: StaffRequest) -> Session:
    session: Session = request.state.session
    return session


def address_of(request: StaffRequest) -> str:
    return request.client.host if request.client else "unknown"


def refuse(refusal: SignInRefused | Refusal) -> NoReturn:
    if isinstance(refusal, Refusal):
        raise refused(409, refusal.reason, f"{refusal.message} ({refusal.clause})", refusal.clause)
    raise refused(_STATUS.get(refusal.reason, 401), refusal.reason, refusal.message)


def passkey_origin_of(request: StaffRequest) -> PasskeyOrigin | None:
    """Where the page may use passkeys; None where browsers allow none."""
    return passkey_origin(dispatcher_of(request).plan.origins, request.headers.get("host", ""))


def place_of_passkeys(request: StaffRequest) -> PasskeyOrigin:
    """The origin for passkeys; refuses where there can be none."""
    origin = passkey_origin_of(request)
    return refuse(NO_PASSKEYS) if origin is None else origin


def passkey_proof(
    request: StaffRequest, data: bodies.ApproveBody | bodies.EndSessionsBody
) -> PasskeyProof | None:
    """The answer of a passkey in a body; None without one."""
    if data.challenge is None or data.assertion is None:
        return None
    return PasskeyProof(data.assertion, data.challenge, place_of_passkeys(request))


# The first person


@post("/api/approvals", status_code=200, summary="Ask a second person to approve one request")
async def ask(request: StaffRequest, data: JSONBody[bodies.ApprovalBody]) -> bodies.ApprovalResponse:
    """Shows the request to everybody who may approve it, for five minutes. Its own id does not count."""
    dispatcher, session = dispatcher_of(request), session_in(request)
    if not dispatcher.approval_requests.takes(session.id, dispatcher.clock.steady()):
        raise refused(429, "too-often", "too many requests for approval: wait three seconds")
    asked = await _request_to_approve(dispatcher, session, data.request)
    now = dispatcher.clock.now()
    if dispatcher.authentication.sessions.get(session.id) is None:
        raise refused(401, "signed-out", "the session has ended")
    approval = dispatcher.authentication.approvals.asked(asked, asker=session, now=now)
    if isinstance(approval, str):
        raise refused(429, "too-many", approval)
    return _response(approval)


@delete("/api/approvals/{approval:str}", status_code=200, summary="Withdraw a request for an approval")
async def cancel(request: StaffRequest, approval: FromPath[str]) -> bodies.DoneResponse:
    """Nobody can approve it any more."""
    approvals = dispatcher_of(request).authentication.approvals
    if not approvals.cancelled(approval, asker=session_in(request).id):
        raise refused(409, "not-known", NOT_ASKED)
    return bodies.DoneResponse()


# The second person


@get("/api/approvals", summary="What waits for approval, and what became of one's own requests")
async def approvals(request: StaffRequest) -> ApprovalsView:
    """The same as the feed `approvals`."""
    session = session_in(request)
    dispatcher = dispatcher_of(request)
    dispatcher.authentication.approvals.due(dispatcher.clock.now())
    return dispatcher.approvals_feed.view(
        Principal(role_of(session.rank), session.person, session=session.id)
    )


@post(
    "/api/approvals/{approval:str}/approve", status_code=200, summary="Approve a request as the second person"
)
async def approve(
    request: StaffRequest, approval: FromPath[str], data: JSONBody[bodies.ApproveBody]
) -> bodies.DoneResponse:
    """Lets the session that asked make the request once, within a minute.

    Some minutes after the person's last code they give another, or use a passkey: without one the reason is
    `code-needed`. The reply to a proof has a new token.
    """
    dispatcher = dispatcher_of(request)
    answer = await dispatcher.authentication.approve(
        approval, session=session_in(request), code=data.code, passkey=passkey_proof(request, data),
        address=address_of(request), now=dispatcher.clock.now(),
    )  # fmt: skip
    if isinstance(answer, SignInRefused):
        refuse(answer)
    return bodies.DoneResponse(token=answer.token)


@post(
    "/api/approvals/{approval:str}/decline", status_code=200, summary="Decline a request as the second person"
)
async def decline(
    request: StaffRequest, approval: FromPath[str], data: JSONBody[bodies.ReasonBody]
) -> bodies.DoneResponse:
    """Nobody can approve it any more; the person who asked reads the reason."""
    dispatcher, session = dispatcher_of(request), session_in(request)
    answer = dispatcher.authentication.approvals.declined(
        approval, person=session.person, role=role_of(session.rank), reason=data.reason,
        now=dispatcher.clock.now(),
    )  # fmt: skip
    if isinstance(answer, str):
        refuse(SignInRefused(SignInRefusalReason.NOT_SECOND, answer))
    return bodies.DoneResponse()


# The second person at the page of the first


@post(
    "/api/approvals/{approval:str}/challenge", status_code=200,
    summary="A challenge for the passkey of a second person who is here",
)  # fmt: skip
async def challenge_here(request: StaffRequest, approval: FromPath[str]) -> bodies.PasskeyChallengeResponse:
    """Good for this one request of this session alone, not for a sign-in."""
    host, dispatcher = place_of_passkeys(request).host, dispatcher_of(request)
    authentication = dispatcher.authentication
    if authentication.approvals.of_session(approval, asker=session_in(request).id) is None:
        raise refused(409, "not-known", NOT_ASKED)
    text = authentication.challenges.new(dispatcher.clock.now(), approval)
    return bodies.PasskeyChallengeResponse(challenge=text, host=host)


@post(
    "/api/approvals/{approval:str}/approve-here", status_code=200,
    summary="Approve a request at the page of the person who asked, with the second person's own passkey",
)  # fmt: skip
async def approve_here(
    request: StaffRequest, approval: FromPath[str], data: JSONBody[bodies.PasskeyBody]
) -> bodies.DoneResponse:
    """The passkey must be unlocked, and sign a challenge of this approval. It opens no session."""
    dispatcher = dispatcher_of(request)
    answer = await dispatcher.authentication.approve_here(
        approval, asker=session_in(request), person=data.person,
        passkey=PasskeyProof(data.assertion, data.challenge, place_of_passkeys(request)),
        address=address_of(request), now=dispatcher.clock.now(),
    )  # fmt: skip
    if isinstance(answer, SignInRefused):
        refuse(answer)
    return bodies.DoneResponse()


def _response(approval: Approval) -> bodies.ApprovalResponse:
    return bodies.ApprovalResponse(approval=approval.id, until=approval.until)


# The request that is to be approved


async def _request_to_approve(
    dispatcher: Dispatcher, session: Session, request: dict[str, Any]
) -> RequestToApprove:
    """What a session asks for: only what it may do itself, and what takes a second person."""
    if set(request) == {"endpoint", "body"} and isinstance(request["body"], dict):
        return await _endpoint_to_approve(dispatcher, session, str(request["endpoint"]), request["body"])
    try:
        decoded = decode_request(msgspec.json.encode(request | {"id": "approved"}))
    except _UNREADABLE as error:
        raise refused(400, "bad-message", f"invalid request to approve: {error}") from None
    sent: Any = decoded
    if isinstance(decoded, DoRequest):
        sent, name = decoded.do, tag_of(decoded.do)
        permission, takes_second = permissions.COMMANDS.get(name), name in NEEDS_SECOND
    else:
        name = str(decoded.__struct_config__.tag)
        permission, takes_second = permissions.REQUESTS.get(name), "approval" in decoded.__struct_fields__
    table: str | None = getattr(decoded, "table", None)
    principal = Principal(role_of(session.rank), session.person, session=session.id)
    problem = dispatcher.not_permitted(principal, permission, table, getattr(sent, "seat", None))
    if problem is not None:
        raise refused(403, "not-permitted", problem, "house:access")
    if not takes_second:
        raise refused(400, "bad-value", f"{name} takes no second person: send it without an approval")
    now, fresh = dispatcher.clock.now(), dispatcher.entropy(KEY_BYTES)
    words = await dispatcher.queue.run(partial(_in_words, decoded, table, now, fresh))
    if isinstance(words, Refusal):
        refuse(words)
    roles = SECOND_PERSONS & {role_of(rank) for rank in words.seconds} if words.seconds else SECOND_PERSONS
    return _to_approve(approved_form(decoded), words, roles, table)


def _in_words(
    request: SocketRequest, name: str | None, now: int, fresh: bytes, engine: Engine
) -> RequestInWords | Refusal:
    table = None if name is None else table_at(engine, name)
    table = None if isinstance(table, Refusal) else table
    amount = ticket_worth(engine, request, fresh) if isinstance(request, DoRequest) else None
    if isinstance(amount, Refusal):
        return amount
    return request_in_words(request, table, now, amount)


async def _endpoint_to_approve(
    dispatcher: Dispatcher, session: Session, endpoint: str, body: dict[str, Any]
) -> RequestToApprove:
    template, person = _template_of(endpoint)
    known = ENDPOINTS_TO_APPROVE.get(template)
    if known is None:
        names = ", ".join(ENDPOINTS_TO_APPROVE)
        raise refused(
            400, "bad-value", f"expected an endpoint that takes an approval ({names}), got {endpoint!r}"
        )
    permission = permissions.ENDPOINTS[template]
    role = role_of(session.rank)
    if permission.reach(role) is None:
        message = f"{template} is not permitted to the role {role}; permitted: {permission.role_names}"
        raise refused(403, "not-permitted", message, "house:access")
    try:
        decoded = msgspec.json.decode(msgspec.json.encode(body), type=known.body)
    except _UNREADABLE as error:
        raise refused(400, "bad-message", f"invalid request to approve: {error}") from None
    subject = person or getattr(decoded, "person", None)
    rank = await dispatcher.queue.run(lambda engine: engine.house().people.get(subject or ""))
    words = endpoint_in_words(template, person, decoded, rank)
    return _to_approve(_http_form(endpoint, decoded), words, known.roles, getattr(decoded, "table", None))


def _to_approve(
    form: bytes, words: RequestInWords, roles: frozenset[Role], table: str | None
) -> RequestToApprove:
    return RequestToApprove(digest_of(form), roles, words.what, words.then, table, words.seat, words.fields)


def _template_of(endpoint: str) -> tuple[str, str | None]:
    """The path of an endpoint as it is in the table of permissions, and the person in it."""
    for template in ENDPOINTS_TO_APPROVE:
        before, braces, after = template.partition("{person}")
        person = endpoint[len(before) : len(endpoint) - len(after)]
        if braces and person and endpoint == before + person + after:
            return template, person
    return endpoint, None


def _http_form(endpoint: str, body: bodies.RequestBody) -> bytes:
    fields = msgspec.to_builtins(body)
    said = {name: value for name, value in fields.items() if name != "approval" and value is not None}
    return canonical({"endpoint": endpoint, "body": said})


def second_for(request: StaffRequest, endpoint: str, body: bodies.RequestBody) -> str | None:
    """Who approved exactly this request; None without an approval."""
    approval: str | None = getattr(body, "approval", None)
    if approval is None:
        return None
    dispatcher = dispatcher_of(request)
    approver = dispatcher.authentication.approvals.used(
        approval, digest_of(_http_form(endpoint, body)), asker=session_in(request).id,
        now=dispatcher.clock.now(),
    )  # fmt: skip
    if approver is None:
        problem = "invalid approval: it is used, expired, or for another request"
        raise refused(403, "second-person", problem)
    return approver


ENDPOINTS: Final = [ask, cancel, approvals, approve, decline, challenge_here, approve_here]

"""Endpoints with which people set their own credentials."""

from __future__ import annotations

from litestar import get, post
from litestar.params import JSONBody

from taisai.protocol import bodies
from taisai.server.auth.enrolment import NewSetup
from taisai.server.auth.sign_in_refusals import SignInRefused
from taisai.server.http.approvals import (
    StaffRequest,
    address_of,
    dispatcher_of,
    passkey_origin_of,
    passkey_proof,
    place_of_passkeys,
    refuse,
    session_in,
)
from taisai.server.http.guard import refused
from taisai.server.http.staff import signed_in


@post("/api/first-sign-in", status_code=200, summary="Begin a first sign-in with an activation code")
async def first_sign_in(
    request: StaffRequest, data: JSONBody[bodies.FirstSignInBody]
) -> bodies.SetupResponse:
    """A new secret for the person's authenticator. After five wrong codes that begin right, it has ended."""
    dispatcher = dispatcher_of(request)
    answer = await dispatcher.authentication.begin_setup(
        data.person, data.activation, at=passkey_origin_of(request), address=address_of(request),
        now=dispatcher.clock.now(),
    )  # fmt: skip
    return _setup(answer)


@post("/api/account", status_code=200, summary="Begin to change one's own credentials")
async def account(request: StaffRequest, data: JSONBody[bodies.ProofBody]) -> bodies.SetupResponse:
    """A new secret for the person's authenticator, a challenge for a new passkey, and a new token.

    With a passkey the password is needed only to change it.
    """
    door, session = dispatcher_of(request).authentication, session_in(request)
    address, now = address_of(request), dispatcher_of(request).clock.now()
    if data.challenge is not None and data.assertion is not None:
        begun = await door.begin_setup_by_passkey(
            session, data.assertion, data.challenge, at=place_of_passkeys(request), address=address, now=now,
            password=data.password,
        )  # fmt: skip
    elif data.password is not None and data.code is not None:
        begun = await door.begin_setup_again(
            session, data.password, data.code, at=passkey_origin_of(request), address=address, now=now
        )
    else:
        raise refused(400, "bad-message", "expected password and code, or challenge and assertion")
    if isinstance(begun, SignInRefused):
        refuse(begun)
    return _setup(begun, token=door.sessions.prove(session.id, now))


@get("/api/sessions", summary="One's own open sessions")
async def own_sessions(request: StaffRequest) -> list[bodies.OwnSession]:
    """Every open session of the person, latest first."""
    this = session_in(request)
    own = dispatcher_of(request).authentication.sessions.of_person(this.person)
    return [
        bodies.OwnSession(
            session=one.id, opened=one.opened, seen=one.seen, address=one.address, is_this=one.id == this.id
        )
        for one in sorted(own, key=lambda one: one.opened, reverse=True)
    ]


@post("/api/sessions/end", status_code=200, summary="End one's own sessions")
async def end_sessions(request: StaffRequest, data: JSONBody[bodies.EndSessionsBody]) -> bodies.DoneResponse:
    """Ends one session, or all others. Needs a code or a passkey; the reply has a new token."""
    dispatcher = dispatcher_of(request)
    ended = await dispatcher.authentication.end_own(
        data.session, session=session_in(request), code=data.code, passkey=passkey_proof(request, data),
        address=address_of(request), now=dispatcher.clock.now(),
    )  # fmt: skip
    if isinstance(ended, SignInRefused):
        refuse(ended)
    return bodies.DoneResponse(token=ended)


@post("/api/passkeys/challenge", status_code=200, summary="A challenge for a passkey")
async def challenge(request: StaffRequest) -> bodies.PasskeyChallengeResponse:
    """What a passkey signs. It is the same for everyone, and shows nothing of anybody."""
    host, dispatcher = place_of_passkeys(request).host, dispatcher_of(request)
    text = dispatcher.authentication.challenges.new(dispatcher.clock.now())
    return bodies.PasskeyChallengeResponse(challenge=text, host=host)


@post("/api/passkeys/sign-in", status_code=200, summary="Sign in with a passkey")
async def passkey_sign_in(request: StaffRequest, data: JSONBody[bodies.PasskeyBody]) -> bodies.SignInResponse:
    """Opens a session for a person whose passkey signed a challenge, unlocked by them."""
    dispatcher = dispatcher_of(request)
    answer = await dispatcher.authentication.sign_in_by_passkey(
        data.person, data.assertion, data.challenge, at=place_of_passkeys(request),
        address=address_of(request), now=dispatcher.clock.now(),
    )  # fmt: skip
    return signed_in(dispatcher, answer, before=request.state.session)


def _setup(answer: NewSetup | SignInRefused, *, token: str | None = None) -> bodies.SetupResponse:
    if isinstance(answer, SignInRefused):
        refuse(answer)
    return bodies.SetupResponse(
        setup=answer.token, person=answer.person, uri=answer.uri, until=answer.until, passkey=answer.passkey,
        may_set_password=answer.may_set_password, token=token,
    )  # fmt: skip


@post("/api/credentials", status_code=200, summary="Set one's own password and second factor")
async def set_credentials(
    request: StaffRequest, data: JSONBody[bodies.CredentialsBody]
) -> bodies.DoneResponse:
    """Sets what is given, and ends every session of the person."""
    dispatcher = dispatcher_of(request)
    answer = await dispatcher.authentication.finish_setup(
        data.setup, password=data.password, code=data.code, passkey=data.passkey, now=dispatcher.clock.now()
    )
    if not isinstance(answer, str):
        refuse(answer)
    return bodies.DoneResponse()


ENDPOINTS = [
    first_sign_in, account, set_credentials, challenge, passkey_sign_in, own_sessions, end_sessions
]  # fmt: skip

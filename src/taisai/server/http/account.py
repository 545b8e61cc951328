"""Endpoints with which people set their own credentials."""

from __future__ import annotations

from litestar import post
from litestar.params import JSONBody

from taisai.protocol import bodies
from taisai.server.auth.enrolment import NewSetup
from taisai.server.auth.sign_in_refusals import SignInRefused
from taisai.server.http.approvals import (
    StaffRequest,
    address_of,
    dispatcher_of,
    passkey_origin_of,
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
    """A new secret for the person's authenticator. After five wrong codes the activation has ended."""
    dispatcher = dispatcher_of(request)
    answer = await dispatcher.authentication.begin_setup(
        data.person, data.activation, at=passkey_origin_of(request), address=address_of(request),
        now=dispatcher.clock.now(),
    )  # fmt: skip
    return _setup(answer)


@post("/api/account", status_code=200, summary="Begin to change one's own credentials")
async def account(request: StaffRequest, data: JSONBody[bodies.ProofBody]) -> bodies.SetupResponse:
    """A new secret for the person's authenticator, and a challenge for a new passkey."""
    door, session = dispatcher_of(request).authentication, session_in(request)
    address, now = address_of(request), dispatcher_of(request).clock.now()
    if data.challenge is not None and data.assertion is not None:
        return _setup(
            await door.begin_setup_by_passkey(
                session,
                data.assertion,
                data.challenge,
                at=place_of_passkeys(request),
                address=address,
                now=now,
            )
        )
    if data.password is None or data.code is None:
        raise refused(400, "bad-message", "expected password and code, or challenge and assertion")
    return _setup(
        await door.begin_setup_again(
            session, data.password, data.code, at=passkey_origin_of(request), address=address, now=now
        )
    )


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
    return signed_in(dispatcher, answer)


def _setup(answer: NewSetup | SignInRefused) -> bodies.SetupResponse:
    if isinstance(answer, SignInRefused):
        refuse(answer)
    return bodies.SetupResponse(
        setup=answer.token, person=answer.person, uri=answer.uri, until=answer.until, passkey=answer.passkey
    )


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


ENDPOINTS = [first_sign_in, account, set_credentials, challenge, passkey_sign_in]

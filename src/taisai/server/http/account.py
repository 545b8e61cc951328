"""Endpoints with which people set their own credentials."""

from __future__ import annotations

from litestar import post
from litestar.params import JSONBody

from taisai.protocol import bodies
from taisai.server.auth.enrolment import NewSetup
from taisai.server.auth.verification import SignInRefused
from taisai.server.http.staff import StaffRequest, address_of, dispatcher_of, own_session, refuse


@post("/api/first-sign-in", status_code=200, summary="Begin a first sign-in with an activation code")
async def first_sign_in(
    request: StaffRequest, data: JSONBody[bodies.FirstSignInBody]
) -> bodies.SetupResponse:
    """A new secret for the person's authenticator. After five wrong codes the activation has ended."""
    dispatcher = dispatcher_of(request)
    answer = await dispatcher.authentication.begin_setup(
        data.person, data.activation, address=address_of(request), now=dispatcher.clock.now()
    )
    return _setup(answer)


@post("/api/account", status_code=200, summary="Begin to change one's own credentials")
async def account(request: StaffRequest, data: JSONBody[bodies.ProofBody]) -> bodies.SetupResponse:
    """A new secret for the person's authenticator, which they may leave out."""
    dispatcher = dispatcher_of(request)
    answer = await dispatcher.authentication.begin_setup_again(
        own_session(request),
        data.password,
        data.code,
        address=address_of(request),
        now=dispatcher.clock.now(),
    )
    return _setup(answer)


def _setup(answer: NewSetup | SignInRefused) -> bodies.SetupResponse:
    if isinstance(answer, SignInRefused):
        refuse(answer)
    return bodies.SetupResponse(setup=answer.token, person=answer.person, uri=answer.uri, until=answer.until)


@post("/api/credentials", status_code=200, summary="Set one's own password and second factor")
async def set_credentials(
    request: StaffRequest, data: JSONBody[bodies.CredentialsBody]
) -> bodies.DoneResponse:
    """Sets what is given, and ends every session of the person."""
    dispatcher = dispatcher_of(request)
    answer = await dispatcher.authentication.finish_setup(
        data.setup, password=data.password, code=data.code, now=dispatcher.clock.now()
    )
    if not isinstance(answer, str):
        refuse(answer)
    return bodies.DoneResponse()


ENDPOINTS = [first_sign_in, account, set_credentials]

"""People who get an activation code and set their own credentials, as in a real house."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from taisai.server.auth.authentication import Authentication
from taisai.server.auth.credentials import STEP, OtpSecret, from_base32, step_of
from taisai.server.auth.enrolment import NewActivation, NewSetup

EARLIER = 3 * STEP * 1_000
"""Milliseconds: whoever set their credentials so long ago has not used the code of now."""


def secret_of(uri: str) -> bytes:
    """The secret that an authenticator keeps."""
    return from_base32(parse_qs(urlsplit(uri).query)["secret"][0])


def code_at(key: bytes, step: int) -> str:
    """What an authenticator with a key shows in a half minute."""
    return OtpSecret(key).code(step)


async def activated(
    door: Authentication, person: str, code: str, password: str, *, now: int
) -> tuple[NewSetup, bytes]:
    """A first sign-in: the person's setup, and the secret in their authenticator."""
    setup = await door.begin_setup(person, code, address=f"desk of {person}", now=now)
    assert isinstance(setup, NewSetup), setup
    secret = secret_of(setup.uri)
    done = await door.finish_setup(
        setup.token, password=password, code=code_at(secret, step_of(now)), now=now
    )
    assert done == setup.person, done
    return setup, secret


async def issued(door: Authentication, person: str, *, by: str, now: int, second: str | None = None) -> str:
    """A person's activation code."""
    new = await door.enrolment.issue(person, by=by, now=now, second=second)
    assert isinstance(new, NewActivation), new
    return new.code


async def with_credentials(
    door: Authentication, person: str, password: str, *, by: str, now: int, second: str | None = None
) -> bytes:
    """The secret in the authenticator of a person who has just set their credentials."""
    code = await issued(door, person, by=by, now=now - EARLIER, second=second)
    return (await activated(door, person, code, password, now=now - EARLIER))[1]

"""One's own sessions over HTTP: the list, their end, and new tokens."""

from __future__ import annotations

from typing import Any

from taisai.server.auth.credentials import step_of
from tests.server.enrolling import code_at, with_credentials
from tests.server.virtual_server import Connected, Response, connected

DAN, WORDS = "dealer Tan", "seven red lanterns by the river"


class _Desk:
    """Dan, who has credentials, at a desk."""

    def __init__(self, house: Connected, key: bytes) -> None:
        self.house, self.key = house, key

    async def code(self) -> str:
        """A code that was not used yet."""
        await self.house.pass_(30)
        return code_at(self.key, step_of(self.house.clock.now()))

    async def signs_in(self, token: str | None = None) -> str:
        """The token of a new session."""
        body = {"person": DAN, "password": WORDS, "code": await self.code()}
        signed = await self.asks("POST", "/api/sign-in", body, token=token)
        assert signed.status == 200, signed.body
        made: str = signed.said["token"]
        return made

    async def asks(
        self, method: str, path: str, body: dict[str, Any] | None = None, *, token: str | None
    ) -> Response:
        """A request with a token."""
        bearer = "" if token is None else f"Bearer {token}"
        return await self.house.request(method, path, body, authorization=bearer)

    async def status(self, token: str) -> int:
        """Whether a token is good."""
        return (await self.asks("GET", "/api/session", token=token)).status


async def _desk(house: Connected) -> _Desk:
    key = await with_credentials(house.door, DAN, WORDS, by="olga", now=house.clock.now())
    return _Desk(house, key)


@connected()
async def test_a_person_sees_their_sessions_and_ends_the_others_with_a_code(house: Connected) -> None:
    desk = await _desk(house)
    first, second = await desk.signs_in(), await desk.signs_in()
    third = house.session("dealer").token
    listed = (await desk.asks("GET", "/api/sessions", token=second)).said
    assert [one["opened"] for one in listed] == sorted((one["opened"] for one in listed), reverse=True)
    assert sum(one["is_this"] for one in listed) == 1
    assert {frozenset(one) for one in listed} == {
        frozenset({"session", "opened", "seen", "address", "is_this"})
    }, "no token, and nothing of anybody else"
    assert len(listed) == 3
    refused = await desk.asks("POST", "/api/sessions/end", {}, token=second)
    assert (refused.status, refused.reason) == (403, "code-needed")
    ended = await desk.asks("POST", "/api/sessions/end", {"code": await desk.code()}, token=second)
    assert ended.status == 200, ended.body
    assert [await desk.status(one) for one in (first, second, third, ended.said["token"])] == [
        401,
        401,
        401,
        200,
    ]
    assert len((await desk.asks("GET", "/api/sessions", token=ended.said["token"])).said) == 1


@connected()
async def test_nobody_ends_the_session_of_another(house: Connected) -> None:
    desk = await _desk(house)
    token, other = await desk.signs_in(), house.session("auditor")
    body = {"session": other.session.id, "code": await desk.code()}
    refused = await desk.asks("POST", "/api/sessions/end", body, token=token)
    assert (refused.status, refused.reason) == (409, "not-known")
    assert await desk.status(other.token) == 200


@connected()
async def test_a_new_sign_in_ends_the_session_that_it_was_sent_with(house: Connected) -> None:
    desk = await _desk(house)
    first, elsewhere = await desk.signs_in(), await desk.signs_in()
    second = await desk.signs_in(first)
    assert [await desk.status(one) for one in (first, elsewhere, second)] == [401, 200, 200]


@connected()
async def test_who_proves_again_who_they_are_has_a_new_token(house: Connected) -> None:
    desk = await _desk(house)
    token = await desk.signs_in()
    body = {"password": WORDS, "code": await desk.code()}
    begun = await desk.asks("POST", "/api/account", body, token=token)
    assert begun.status == 200, begun.body
    assert begun.said["may_set_password"] is True
    assert [await desk.status(one) for one in (token, begun.said["token"])] == [401, 200]

"""What HTTP tells strangers, and bodies that two programs may read in two ways."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from taisai.server.auth.permissions import Role
from taisai.server.http import app as app_module
from taisai.server.http import guard
from tests.server.virtual_server import AWAY, HERE, Connected, connected

TOKEN = "0123456789abcdef0123456789abcdef"
BODY = {"person": "nobody", "password": "not a password", "code": "000000"}
STRANGERS = {"status", "demonstration", "tables"}
"""The fields of the health that strangers get."""


def told(said: dict[str, Any]) -> set[str]:
    """The fields that say something."""
    return {name for name, value in said.items() if value not in (None, [], ())}


# Answers that nobody reads


@connected()
async def test_who_reads_no_answer_keeps_nobody_of_the_same_network_waiting(house: Connected) -> None:
    """The attack: a player asks for pages at one connection after another, and reads none of them."""
    scope: dict[str, Any] = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": "/health", "raw_path": b"/health", "query_string": b"", "root_path": "", "headers": [],
        "client": (AWAY, 1), "server": ("house", 80), "state": {}, "extensions": {},
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_message: Any) -> None:
        await asyncio.Event().wait()

    unread = [
        asyncio.ensure_future(house.app(dict(scope), receive, send)) for _ in range(app_module.AT_ONCE + 1)
    ]
    await asyncio.sleep(0.1)
    answered = await asyncio.wait_for(house.request("GET", "/health", client=AWAY), 5)
    assert answered.status == 200
    for task in unread:
        task.cancel()
    await asyncio.gather(*unread, return_exceptions=True)


# Health and metrics


@connected()
async def test_a_stranger_learns_from_the_health_that_the_server_is_there_and_no_more(
    house: Connected,
) -> None:
    away = await house.request("GET", "/health", client=AWAY)
    assert told(away.said) == STRANGERS
    assert [told(table) for table in away.said["tables"]] == [{"name", "rulebook"}] * 2
    house.engine.trouble = "disk full: 3 MB left"
    await house.pass_(2)
    in_trouble = await house.request("GET", "/health", client=AWAY)
    assert (in_trouble.status, in_trouble.said["status"]) == (503, "trouble")
    assert told(in_trouble.said) == STRANGERS
    assert b"disk" not in in_trouble.body


@connected()
async def test_staff_and_this_machine_see_all_of_the_health(house: Connected) -> None:
    inside = {"program", "sockets", "journal"} | STRANGERS
    for given in (
        {"client": HERE},
        {"client": "::1"},
        {"session": house.session(Role.DEALER)},
        {"session": house.session(Role.AUDITOR)},
    ):
        got = await house.request("GET", "/health", **given)
        assert told(got.said) >= inside, given


@connected()
async def test_metrics_are_for_staff_this_machine_and_the_token(house: Connected) -> None:
    house.dispatcher.plan = replace(house.dispatcher.plan, metrics_token=lambda: TOKEN)
    for path in ("/metrics", "/health"):
        allowed = await house.request("GET", path, authorization=f"Bearer {TOKEN}")
        assert allowed.status == 200
        for wrong in (TOKEN[:-1], TOKEN + "0", "", "Ω"):
            refused = await house.request(
                "GET", path, authorization=f"Bearer {wrong}".encode().decode("latin-1")
            )
            assert refused.status == 401, wrong
    assert b"taisai_sockets" in (await house.request("GET", "/metrics", authorization=f"Bearer {TOKEN}")).body
    assert (await house.request("GET", "/metrics")).status == 401
    assert (await house.request("GET", "/metrics", client=HERE)).status == 200
    assert (await house.request("GET", "/metrics", session=house.session(Role.DEALER))).status == 200


@connected()
async def test_the_metrics_token_opens_nothing_else(house: Connected) -> None:
    house.dispatcher.plan = replace(house.dispatcher.plan, metrics_token=lambda: TOKEN)
    for path in ("/api/staff", "/api/books", "/api/session"):
        assert (await house.request("GET", path, authorization=f"Bearer {TOKEN}")).status == 401
        assert (await house.request("GET", path, client=HERE)).status == 401


@connected()
async def test_behind_a_proxy_nobody_is_on_this_machine(house: Connected) -> None:
    """A proxy that forwards no addresses makes everyone seem so."""
    house.dispatcher.plan = replace(house.dispatcher.plan, behind_proxy=True)
    assert told((await house.request("GET", "/health", client=HERE)).said) == STRANGERS
    assert (await house.request("GET", "/metrics", client=HERE)).status == 401


# HTTPS


@connected()
async def test_browsers_are_told_to_use_nothing_but_https(house: Connected) -> None:
    name, value = guard.HSTS
    for method, path in (("GET", "/"), ("GET", "/health"), ("GET", "/nowhere"), ("POST", "/api/sign-in")):
        assert (await house.request(method, path)).headers[name.lower()] == value


@connected()
async def test_a_server_without_https_does_not_say_so(house: Connected) -> None:
    house.dispatcher.plan = replace(house.dispatcher.plan, origins=frozenset({"http://floor.test"}))
    house._app = None
    got = await house.request("GET", "/health", scheme="http")
    assert guard.HSTS[0].lower() not in got.headers


@connected()
async def test_behind_a_proxy_the_addresses_of_the_pages_decide(house: Connected) -> None:
    assert guard.HSTS[0].lower() in (await house.request("GET", "/health", scheme="http")).headers


# Bodies


@pytest.mark.parametrize(
    "kind", ["text/plain", "", "application/x-www-form-urlencoded", "multipart/form-data", "text/json",
             "application/json; charset=utf-16", "application/jsonp"],
)  # fmt: skip
@connected()
async def test_a_body_that_is_not_declared_as_json_is_refused(house: Connected, kind: str) -> None:
    before = house.rows()
    got = await house.request("POST", "/api/sign-in", BODY, content_type=kind)
    assert (got.status, got.reason) == (415, "bad-message")
    assert "expected a body with Content-Type: application/json" in got.said["message"]
    assert house.rows() == before, "nothing was tried"


@pytest.mark.parametrize(
    "kind", ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"]
)
@connected()
async def test_a_body_that_is_declared_as_json_is_read(house: Connected, kind: str) -> None:
    assert (await house.request("POST", "/api/sign-in", BODY, content_type=kind)).reason == "wrong"


@connected()
async def test_a_body_with_a_key_twice_is_refused(house: Connected) -> None:
    """Whoever looks at the first rank and whoever acts by the last must not be two."""
    before, administrator = house.rows(), house.session(Role.ADMINISTRATOR)
    raw = b'{"person":"Zoe Lim","rank":"dealer","rank":"cashier"}'
    got = await house.request("POST", "/api/staff", raw=raw, session=administrator)
    assert (got.status, got.reason) == (400, "bad-message")
    assert got.said["message"] == "invalid request: the key 'rank' stands twice in an object"
    deep = b'{"person":"a","password":"b","code":"c","request":{"do":{"amount":1,"amount":2}}}'
    got = await house.request("POST", "/api/approvals", raw=deep, session=administrator)
    assert (got.status, got.said["message"]) == (
        400,
        "invalid request: the key 'amount' stands twice in an object",
    )
    assert house.rows() == before


@pytest.mark.parametrize("raw", [b"{", b"\xff\xfe{}", b'{"person":}', b"[" * 5_000, b'{"a":' * 5_000])
@connected()
async def test_a_body_that_is_no_json_is_still_refused_as_such(house: Connected, raw: bytes) -> None:
    got = await house.request("POST", "/api/sign-in", raw=raw)
    assert (got.status, got.reason) == (400, "bad-message")


def test_sabotage_bodies_that_nobody_looks_at_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    async def blind(_request: object) -> None:
        """Looks at nothing."""

    monkeypatch.setattr("taisai.server.http.app.check_body", blind)
    with pytest.raises(AssertionError):
        test_a_body_with_a_key_twice_is_refused()


def test_what_is_sent_twice_was_taken_by_its_last_value_before() -> None:
    """Why it matters: the decoder takes the last, others take the first."""
    assert msgspec.json.decode(b'{"rank":"dealer","rank":"cashier"}') == {"rank": "cashier"}


@connected()
async def test_whoever_comes_through_a_proxy_that_nobody_named_is_not_this_machine(house: Connected) -> None:
    for name in ("forwarded", "via", "x-forwarded-for", "x-real-ip"):
        given: dict[str, Any] = {name: "192.0.2.9"}
        assert (await house.request("GET", "/metrics", client=HERE, **given)).status == 401
        away = await house.request("GET", "/health", client=HERE, **given)
        assert told(away.said) == STRANGERS


# Floods


@connected()
async def test_a_flood_of_one_network_delays_nobody_elsewhere(house: Connected) -> None:
    """Pages and health have no rate limit: a page loads a dozen things at once."""
    order: list[str] = []

    async def asks(client: str) -> None:
        assert (await house.request("GET", "/assets/none", client=client)).status == 404
        order.append(client)

    await asks(HERE)
    flood = [asyncio.create_task(asks(AWAY)) for _ in range(200)]
    other = asyncio.create_task(asks("192.0.2.200"))
    await asyncio.gather(*flood, other)
    assert order.index("192.0.2.200") < 50
    assert len(order) == 202

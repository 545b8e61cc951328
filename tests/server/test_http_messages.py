"""Messages of HTTP as bytes: where a request ends, which methods exist, and the headers of every answer."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from litestar import Litestar

from taisai.server.auth import permissions
from taisai.server.auth.permissions import Role
from taisai.server.connections.transport import protocol_within
from taisai.server.http.app import web_of
from taisai.server.http.guard import HSTS, is_https, security_headers
from tests.server.sim.virtual import VirtualLoop
from tests.server.test_attacks_stopping import ASKED, BOUNDS, UPGRADE, Wire, dialled
from tests.server.virtual_server import AWAY, HOST, Connected, connected, run

SECURE = security_headers(is_secure=True)


def answered(came: bytes) -> Wire:
    """The connection after some bytes came to a server that sends the headers of HTTPS."""

    async def main(loop: VirtualLoop) -> Wire:
        wire = await dialled(loop, protocol_within(BOUNDS, SECURE))
        wire.protocol.own_headers = SECURE
        wire.protocol.data_received(came)
        await asyncio.sleep(0.1)
        wire.abort()
        return wire

    return run(main)


def head_of(sent: bytes) -> tuple[bytes, dict[str, str]]:
    """The first line of an answer, and its headers."""
    head, _, _ = sent.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    pairs = [line.decode().partition(": ") for line in lines]
    assert len({name.lower() for name, _, _ in pairs}) == len(pairs), "a header stands twice"
    return first, {name.lower(): value for name, _, value in pairs}


SMUGGLED = {
    "a length and chunks": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG",
    "chunks and a length": b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nG",
    "two lengths": b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
    "a length with a sign": b"Content-Length: +2\r\n\r\n{}",
    "a list of lengths": b"Content-Length: 2, 2\r\n\r\n{}",
    "chunks that are not the last coding": b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "a blank before the colon": b"Content-Length : 2\r\n\r\n{}",
    "a folded header": b"X-A: 1\r\n folded: 2\r\n\r\n",
    "a line feed alone in a value": b"X-A: 1\nX-B: 2\r\r\n\r\n",
}


@pytest.mark.parametrize("rest", SMUGGLED.values(), ids=SMUGGLED.keys())
def test_a_request_whose_end_two_programs_may_see_differently_is_refused(rest: bytes) -> None:
    wire = answered(b"POST /api/sign-in HTTP/1.1\r\nHost: floor.test\r\n" + rest)
    assert wire.sent.startswith(b"HTTP/1.1 400 "), wire.sent
    assert wire.sent.count(b"HTTP/1.1 ") == 1, "nothing after it was read as a request"
    assert wire.is_shut


def test_sabotage_the_same_request_with_one_end_is_answered() -> None:
    wire = answered(b"POST /api/sign-in HTTP/1.1\r\nHost: floor.test\r\nContent-Length: 2\r\n\r\n{}")
    assert b"200 OK" in wire.sent


@pytest.mark.parametrize(
    ("came", "status"),
    [
        (b"rubbish\r\n\r\n", 400),
        (UPGRADE, 101),
        (UPGRADE.replace(b"Sec-WebSocket-Version: 13", b"Sec-WebSocket-Version: 7"), 400),
        (UPGRADE.replace(b"Sec-WebSocket-Key", b"X-Key"), 400),
    ],
    ids=["no HTTP", "a socket", "a socket of another version", "a socket without a key"],
)
def test_what_no_endpoint_answers_has_the_security_headers_too(came: bytes, status: int) -> None:
    first, headers = head_of(answered(came).sent)
    assert first.split()[1] in (b"%d" % status, b"426")
    for name, value in SECURE:
        assert headers[name.lower()] == value
    if status != 101:
        assert headers["content-type"] == "text/plain; charset=utf-8"


def test_hsts_is_for_subdomains_too_and_only_over_https() -> None:
    assert HSTS in SECURE
    assert "includeSubDomains" in HSTS[1]
    assert HSTS not in security_headers(is_secure=False)
    assert is_https({"https://floor.test"})
    assert not is_https({"https://floor.test", "http://floor.test"})
    assert not is_https(())


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "PUT", "PATCH", "OPTIONS"])
@connected()
async def test_methods_that_no_endpoint_has_are_refused_and_echo_nothing(
    house: Connected, method: str
) -> None:
    for path in ("/", "/health", "/api/sign-in", "/nowhere"):
        got = await house.request(method, path, x_secret="hunter2")
        assert got.status in (403, 404, 405), (path, got)
        assert b"hunter2" not in got.body


@connected()
async def test_every_answer_with_a_body_says_what_it_is_and_texts_say_their_characters(
    house: Connected,
) -> None:
    kinds = {}
    for path in ("/", "/health", "/metrics", "/schema/openapi.json", "/nowhere", "/api/staff"):
        got = await house.request("GET", path, client="127.0.0.1")
        assert got.body
        kinds[path] = got.headers["content-type"]
        assert got.headers["content-length"] == str(len(got.body))
    assert kinds["/health"] == kinds["/nowhere"] == kinds["/api/staff"] == "application/json"
    assert kinds["/"] == "text/html; charset=utf-8"
    assert kinds["/metrics"].startswith("text/plain")
    assert "charset=utf-8" in kinds["/metrics"]


@connected()
async def test_a_parameter_or_a_session_that_stands_twice_is_refused(house: Connected) -> None:
    auditor = house.session(Role.AUDITOR)
    assert (await house.request("GET", "/api/report?day=2026-11-16", session=auditor)).status == 200
    for query in ("day=2026-11-16&day=2026-11-17", "day=2026-11-16&%64ay=", "other=1&day=2026-11-16&other=1"):
        got = await house.request("GET", f"/api/report?{query}", session=auditor)
        assert (got.status, got.reason) == (400, "bad-message"), query
        assert "stands twice" in got.said["message"]
    header = (b"authorization", f"Bearer {auditor.token}".encode())
    statuses = []
    for headers in ([header], [header, (b"authorization", b"Bearer nothing")]):
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
            "scheme": "https", "path": "/api/session", "raw_path": b"/api/session", "query_string": b"",
            "root_path": "", "headers": [(b"host", HOST.encode()), *headers], "client": (AWAY, 1),
            "server": (HOST, 443), "state": {}, "extensions": {},
        }  # fmt: skip

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        await house.app(scope, receive, send)
    assert statuses == [200, 400]


@connected()
async def test_what_reads_changes_nothing_and_nothing_leads_elsewhere(house: Connected) -> None:
    """GET is never an act, and no answer is a redirection."""
    administrator, before = house.session(Role.ADMINISTRATOR), house.rows()
    reading = [endpoint for endpoint in permissions.ENDPOINTS if endpoint.startswith("GET ")]
    assert len(reading) > 20
    for endpoint in reading:
        path = re.sub(r"\{.*?\}", "x", endpoint.partition(" ")[2])
        for method in ("GET", "HEAD"):
            got = await house.request(method, path, session=administrator)
            assert not 300 <= got.status < 400, endpoint
            assert "location" not in got.headers
            assert "set-cookie" not in got.headers
            assert "access-control-allow-origin" not in got.headers
    assert house.rows() == before


@connected()
async def test_no_variable_of_the_environment_turns_debugging_on(house: Connected) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LITESTAR_DEBUG", "LITESTAR_PDB"):
            patch.setenv(name, "1")
        web = web_of(house.dispatcher)
        assert not web.debug
        assert not web.pdb_on_exception
        patch.delenv("LITESTAR_PDB")
        assert Litestar(openapi_config=None).debug, "the framework itself would turn it on"


def test_a_plain_request_is_answered() -> None:
    assert b"200 OK" in answered(ASKED).sent

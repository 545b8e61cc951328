"""Requests: where they come from, who asks, how long they are, and what every answer carries."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from taisai.cage.messages import DeviceDismissed, DeviceKind, EnrolDevice, EnrolPerson
from taisai.server.auth.permissions import RateLimit, Role
from taisai.server.auth.sessions import SessionPolicy
from taisai.server.http import guard
from taisai.server.http.app import MOST_BODY
from taisai.server.http.guard import HEADERS
from tests.server.sim.virtual import VirtualLoop
from tests.server.virtual_server import HERE, HOST, ORIGIN, Connected, Response, connected, run
from tests.server.virtual_server import device as device_of

KEY = device_of("P9").public
SIGN_IN = {"person": "nobody", "password": "not a password", "code": "000000"}


# Headers


async def answers(house: Connected) -> dict[int, list[Response]]:
    """An answer of every kind: pages, JSON, refusals of the server and of the framework, faults."""
    auditor = house.session("auditor")
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "/", {}),
        ("GET", "/health", {}),
        ("GET", "/metrics", {}),
        ("GET", "/schema/openapi.json", {}),
        ("GET", "/schema/socket.json", {}),
        ("GET", "/api/books", {"session": auditor}),
        ("GET", "/api/books", {}),
        ("POST", "/api/staff", {"session": auditor}),
        ("GET", "/nowhere", {}),
        ("GET", "/assets/nowhere.js", {}),
        ("PUT", "/api/books", {}),
        ("OPTIONS", "/api/books", {}),
        ("HEAD", "/health", {}),
        ("POST", "/api/sign-in", {"raw": b"{"}),
        ("POST", "/api/sign-in", {"raw": b" " * (MOST_BODY + 1)}),
        ("POST", "/api/sign-in", {"origin": "https://evil.test", "body": SIGN_IN}),
        ("GET", "/health", {"host": "evil.test"}),
    ]
    found: dict[int, list[Response]] = {}
    for method, path, given in asked:
        response = await house.request(method, path, **given)
        found.setdefault(response.status, []).append(response)
    with pytest.MonkeyPatch.context() as patch, capture_logs():
        patch.setattr(house.dispatcher.queue.projections, "books", None)
        broken = await house.request("GET", "/api/books", session=auditor)
    found.setdefault(broken.status, []).append(broken)
    return found


@connected()
async def test_every_answer_has_the_headers_that_keep_a_page_to_itself(house: Connected) -> None:
    found = await answers(house)
    assert found.keys() >= {200, 400, 401, 403, 404, 405, 413, 500}
    for responses in found.values():
        for response in responses:
            for name, value in HEADERS.items():
                assert response.headers[name.lower()] == value


@connected()
async def test_every_refusal_is_shown_in_the_same_form(house: Connected) -> None:
    for status, responses in (await answers(house)).items():
        for response in responses if status >= 400 else ():
            assert response.said.keys() == {"reason", "message", "clause"}, response
            assert response.said["message"][:1].isprintable(), response
            assert "Error" not in response.said["message"], response


@connected()
async def test_a_fault_tells_nothing_of_itself(house: Connected) -> None:
    (broken,) = (await answers(house))[500]
    assert broken.said["message"] == "the server failed; its log has the details"


def test_the_policy_lets_a_page_load_and_reach_nothing_but_its_own_server() -> None:
    policy = dict(part.strip().split(" ", 1) for part in guard.CONTENT_POLICY.split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["object-src"] == "'none'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert "unsafe" not in guard.CONTENT_POLICY


@connected()
async def test_nothing_is_ambient_so_that_nothing_can_be_ridden_on(house: Connected) -> None:
    for responses in (await answers(house)).values():
        for response in responses:
            assert "set-cookie" not in response.headers
            assert "access-control-allow-origin" not in response.headers
    token = house.session("auditor").token
    smuggled: tuple[dict[str, Any], ...] = ({"cookie": f"session={token}"}, {"x_session": token})
    for given in smuggled:
        assert (await house.request("GET", "/api/books", **given)).status == 401
    assert (await house.request("GET", f"/api/books?token={token}&access_token={token}")).status == 401


# Where it comes from

FROM: list[tuple[str, dict[str, str], bool, bool]] = [
    ("a program", {}, True, True),
    ("a page of this floor", {"origin": ORIGIN, "sec_fetch_mode": "cors"}, True, True),
    ("a page of this floor that only reads", {"sec_fetch_mode": "cors"}, True, False),
    ("another page", {"origin": "https://evil.test", "sec_fetch_mode": "cors"}, False, False),
    ("another port", {"origin": f"{ORIGIN}:8443"}, False, False),
    ("another scheme", {"origin": f"http://{HOST}"}, False, False),
    ("a name that only begins alike", {"origin": f"{ORIGIN}.evil.test"}, False, False),
    ("a name that only ends alike", {"origin": f"https://evil{HOST}"}, False, False),
    ("a frame without an origin", {"origin": "null"}, False, False),
    ("another name for this machine", {"host": "evil.test"}, False, False),
    ("another name, and its origin", {"host": "evil.test", "origin": "https://evil.test"}, False, False),
    ("another name, from a page of this floor", {"host": "evil.test", "origin": ORIGIN}, False, False),
    ("no name at all", {"host": ""}, False, False),
    ("another port of this machine", {"host": f"{HOST}:8443"}, False, False),
]  # fmt: skip


@pytest.mark.parametrize(("who", "headers", "reads", "changes"), FROM, ids=lambda value: str(value)[:40])
@connected()
async def test_who_comes_from_elsewhere_neither_reads_nor_changes_anything(
    house: Connected, who: str, headers: dict[str, Any], *, reads: bool, changes: bool
) -> None:
    del who
    session: Any = house.session("administrator")
    got = await house.request("GET", "/api/devices", session=session, **headers)
    assert (got.status, got.reason) == ((200, None) if reads else (403, "origin"))
    before = house.rows()
    body = {"device": "P9", "kind": "terminal", "key": "0" * 64, "table": "T1", "seat": "9"}
    got = await house.request("POST", "/api/devices", body, session=session, **headers)
    assert (got.status, got.reason) == ((200, None) if changes else (403, "origin"))
    assert (house.rows() != before) == changes
    gone = {"device": "P2", "reason": "broken"}
    deleted = await house.request("DELETE", "/api/devices", gone, session=session, **headers)
    assert deleted.status == (200 if changes else 403)


@pytest.mark.parametrize(("who", "headers", "reads", "changes"), FROM, ids=lambda value: str(value)[:40])
@connected()
async def test_a_socket_from_elsewhere_is_closed_before_it_is_open(
    house: Connected, who: str, headers: dict[str, str], *, reads: bool, changes: bool
) -> None:
    del who, reads
    line = house.dials(**headers)
    await house.settle()
    assert line.is_open == changes
    assert [tell["type"] for tell in line.told] == (["challenge"] if changes else [])
    assert line.closed == (None if changes else (1008, "origin"))
    assert len(house.dispatcher.sockets) == changes


@connected()
async def test_a_socket_elsewhere_than_at_its_path_is_closed(house: Connected) -> None:
    line = house.dials(path="/api/books")
    await house.settle()
    assert line.closed == (1008, "origin")


@connected()
async def test_the_application_serves_sockets_and_requests(house: Connected) -> None:
    sent: list[Any] = []
    incoming = [{"type": "websocket.connect"}, {"type": "websocket.disconnect", "code": 1000}]

    async def receive() -> Any:
        return incoming.pop(0)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    scope = {"type": "websocket", "path": "/socket", "headers": [(b"host", HOST.encode())]}
    await house.app(scope, receive, send)
    assert sent == ["websocket.accept", "websocket.send"]


@pytest.mark.parametrize("name", [b"host", b"origin"])
def test_a_header_that_comes_twice_is_not_believed(name: bytes) -> None:
    async def main(loop: VirtualLoop) -> list[bool]:
        server = Connected(loop).dispatcher
        right = {b"host": HOST.encode(), b"origin": ORIGIN.encode()}
        twice = [*right.items(), (name, b"evil.test")]
        return [
            guard.is_ours(server, headers, origin_needed=True)
            for headers in (right.items(), twice, list(reversed(twice)))
        ]

    assert run(main) == [True, False, False]


# How long


@connected()
async def test_a_body_that_is_too_long_is_refused_and_the_longest_is_read(house: Connected) -> None:
    body = b'{"person":"nobody","password":"not a password","code":"000000"}'
    longest = await house.request("POST", "/api/sign-in", raw=body + b" " * (MOST_BODY - len(body)))
    assert (longest.status, longest.reason) == (401, "wrong")
    too_long = await house.request("POST", "/api/sign-in", raw=body + b" " * (MOST_BODY + 1 - len(body)))
    assert too_long.status == 413
    lying = await house.request("POST", "/api/sign-in", raw=b" " * (MOST_BODY + 1), content_length="10")
    assert lying.status in (400, 413)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "invalid"),
        (b"{", "invalid"),
        (b"[]", "invalid"),
        (b'{"person":"a","password":"b"}', "code"),
        (b'{"person":"a","password":"b","code":"c","more":1}', "more"),
        (b'{"person":"a","password":"b","code":1}', "code"),
        (b'{"person":"","password":"b","code":"c"}', "person"),
        (b'{"person":"a\\nb","password":"b","code":"c"}', "person"),
        (b'{"person":"%s","password":"b","code":"c"}' % (b"a" * 65), "person"),
        (b'{"person":"a","password":"%s","code":"c"}' % (b"b" * 257), "password"),
        (b"\xff\xfe", "invalid"),
        (b'{"a":' * 9_000, "nested too deeply"),
    ],
    ids=lambda value: repr(value)[:40],
)
@connected()
async def test_a_body_that_is_not_as_the_schema_says_is_refused_in_words(
    house: Connected, raw: bytes, says: str
) -> None:
    with capture_logs() as logs:
        got = await house.request("POST", "/api/sign-in", raw=raw)
    assert (got.status, got.reason) == (400, "bad-message")
    assert got.said["message"].startswith("invalid request: ")
    assert says in got.said["message"]
    assert {line["event"] for line in logs} <= {"request refused"}, "nothing broke"


@connected()
async def test_something_deep_that_is_to_be_approved_is_refused_in_words(house: Connected) -> None:
    deep = '{"a":' * 5_000 + "1" + "}" * 5_000
    raw = f'{{"request":{deep}}}'.encode()
    with capture_logs():
        got = await house.request("POST", "/api/approvals", raw=raw, session=house.session("dealer"))
    assert got.status == 400


# Who asks


@pytest.mark.parametrize(
    "given",
    ["Bearer", "Bearer ", "Bearer none", "Basic bm9uZTpub25l", "none", "Bearer  two  blanks", "Bearer \xe9"],
)
@connected()
async def test_a_token_that_opens_nothing_is_refused_everywhere(house: Connected, given: str) -> None:
    for method, path in (("GET", "/api/session"), ("GET", "/health"), ("POST", "/api/sign-out")):
        got = await house.request(method, path, authorization=given)
        assert (got.status, got.reason) == (401, "signed-out")
        assert got.said["message"].startswith(("invalid Authorization header", "no open session"))


@connected(policy=SessionPolicy(idle_ms=60_000, absolute_ms=200_000))
async def test_a_token_is_good_until_its_session_ends(house: Connected) -> None:
    opened = house.session("dealer")
    assert (await house.request("GET", "/api/session", session=opened)).said["person"] == "dealer Tan"
    await house.pass_(59)
    assert (await house.request("GET", "/api/session", session=opened)).status == 200
    await house.pass_(61)
    late = await house.request("GET", "/api/session", session=opened)
    assert (late.status, late.said["message"]) == (401, "the session has ended (idle)")
    another = await house.signed_in("dealer")
    assert (await house.request("POST", "/api/sign-out", session=another)).said["done"] is True
    assert (await house.request("GET", "/api/session", session=another)).status == 401


@connected()
async def test_a_rank_that_the_server_does_not_know_may_do_nothing(house: Connected) -> None:
    opened = house.door.sessions.opened("Eve", "emperor", house.clock.now())
    assert (await house.request("GET", "/api/session", session=opened)).reason == "not-permitted"
    line = await house.line()
    assert (await line.hello(opened))["role"] == Role.VISITOR


@connected(sign_ins=RateLimit(burst=2, every=30_000))
async def test_anyone_who_tries_to_sign_in_too_often_waits(house: Connected) -> None:
    told = [await house.request("POST", "/api/sign-in", SIGN_IN) for _ in range(3)]
    assert [(one.status, one.reason) for one in told] == [(401, "wrong"), (401, "wrong"), (429, "too-often")]
    assert "try again in 30 s" in told[-1].said["message"]
    before = house.rows()
    assert house.rows() == before
    await house.pass_(30)
    assert (await house.request("POST", "/api/sign-in", SIGN_IN)).status == 401


@pytest.mark.parametrize("name", ["Ann / Bo", "/", ".", ".."])
@connected()
async def test_nobody_is_enrolled_under_a_name_that_is_a_place_and_anyone_who_is_can_be_put_out(
    house: Connected, name: str
) -> None:
    session: Any = house.session("administrator")
    person = {"person": name, "rank": "dealer"}
    device = {"device": name, "kind": "display", "key": KEY, "table": "T1"}
    for path, body in (("/api/staff", person), ("/api/devices", device)):
        got = await house.request("POST", path, body, session=session)
        assert (got.status, got.reason) == (400, "bad-value")
        assert got.said["message"] == f"invalid name {name!r}: '/', '.' and '..' are not allowed"
    at: Any = {"at": house.clock.now(), "by": "administrator Tan"}  # as a server of before let them in
    await house.do(EnrolPerson(person=name, rank="dealer", **at))
    assert (await house.request("DELETE", "/api/staff", {"person": name}, session=session)).status == 200
    await house.do(EnrolDevice(device=name, kind=DeviceKind.DISPLAY, key=KEY, table="T1", **at))
    gone = {"device": name, "reason": "its name is a place"}
    told = await house.request("DELETE", "/api/devices", {"device": name}, session=session)
    assert told.status == 400, "a device goes for a reason"
    assert (await house.request("DELETE", "/api/devices", gone, session=session)).status == 200
    assert name not in house.engine.house().people
    assert name not in house.engine.house().devices
    dismissed = [event for event in house.events() if isinstance(event, DeviceDismissed)]
    assert [event.reason for event in dismissed] == ["its name is a place"]


@connected()
async def test_trouble_with_the_journal_shows_in_the_health(house: Connected) -> None:
    assert (await house.request("GET", "/health")).said["status"] == "ok"
    house.engine.trouble = "disk full"
    await house.pass_(1)  # a look is good for a second
    got = await house.request("GET", "/health", client=HERE)
    assert (got.status, got.said["status"], got.said["trouble"]) == (503, "trouble", house.engine.trouble)


# Sabotages


@connected()
async def test_sabotage_a_server_that_does_not_look_where_one_comes_from_is_seen(
    house: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "is_ours", lambda *_given, **_named: True)
    got = await house.request("POST", "/api/sign-in", SIGN_IN, origin="https://evil.test")
    assert got.reason != "origin", "which is what the test above would have seen"


@connected()
async def test_sabotage_headers_that_are_left_out_are_seen(
    house: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taisai.server.http.app._HEADERS", [])
    found = await answers(house)
    assert all("content-security-policy" not in one.headers for one in found[404])

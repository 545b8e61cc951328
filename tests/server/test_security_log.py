"""What is refused is in the log: who, what, where from; bounded, and without what a request contains."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from taisai.server.auth.permissions import Role
from taisai.server.auth.security_log import OF_ALL, OF_NETWORK, SecurityLog
from tests.server.virtual_server import AWAY, Connected, connected


class StandingClock:
    """A clock that somebody moves."""

    def __init__(self) -> None:
        self.at = 0

    def now(self) -> int:
        return self.at

    def steady(self) -> int:
        return self.at


def refusals(logs: list[Any]) -> list[tuple[str, str, str]]:
    """Reason, kind and person of every refusal in the log."""
    return [
        (line["reason"], line["what"], line["who"]) for line in logs if line["event"] == "request refused"
    ]


@connected()
async def test_a_refusal_over_http_is_in_the_log_with_who_what_and_where_from(house: Connected) -> None:
    dealer = house.session(Role.DEALER)
    with capture_logs() as logs:
        await house.request("GET", "/api/staff", session=dealer)
        await house.request("GET", "/api/staff")
        await house.request(
            "POST", "/api/sign-in", raw=b'{"person":"Ann","password":"hunter2-and-more","code":7}'
        )
        await house.request("GET", "/health", host="evil.test")
        await house.request("GET", "/nowhere")
    assert refusals(logs) == [
        ("not-permitted", "GET /api/staff", "dealer Tan"),
        ("not-permitted", "GET /api/staff", ""),
        ("bad-message", "POST /api/sign-in", ""),
        ("origin", "GET /health", ""),
        ("not-known", "GET ", ""),
    ]
    assert {line["address"] for line in logs} == {AWAY}
    assert {line["log_level"] for line in logs} == {"warning"}
    assert "hunter2" not in repr(logs)


@connected()
async def test_a_refusal_on_a_socket_is_in_the_log_too(house: Connected) -> None:
    line = await house.came("P1")
    with capture_logs() as logs:
        await line.answer("books")
        await line.answer("follow", feed="pit")
        await line.reply("hunter2 is no request")
        await (await house.line()).answer("hello", protocol=2, device="P1", signature="00")
        house.dials(origin="https://evil.test")
        await house.settle()
    assert refusals(logs) == [
        ("not-permitted", "books", "P1"),
        ("not-permitted", "follow pit", "P1"),
        ("bad-message", "socket", "P1"),
        ("not-known", "hello P1", ""),
        ("origin", "socket", ""),
    ]
    assert "hunter2" not in repr(logs)


@connected()
async def test_what_the_rules_of_the_house_refuse_to_staff_is_in_the_log(house: Connected) -> None:
    line = await house.came(house.session(Role.CASHIER))
    with capture_logs() as logs:
        await line.answer("do", do={"command": "redeem-ticket", "ticket": "17 0000 4711 2233"})
    ((reason, what, who),) = refusals(logs)
    assert (what, who) == ("do", "cashier Tan")
    assert reason not in ("fault", "not-permitted")
    assert "4711" not in repr(logs)


@connected()
async def test_everyone_who_comes_in_on_a_socket_is_in_the_log(house: Connected) -> None:
    with capture_logs() as logs:
        await house.came("P1")
        await house.came(house.session(Role.DEALER))
        await (await house.line()).hello()
    assert [(line["event"], line["who"], line["role"], line["address"]) for line in logs] == [
        ("connected", "P1", "terminal", AWAY),
        ("connected", "dealer Tan", "dealer", AWAY),
    ]


def test_a_flood_is_counted_and_not_written() -> None:
    clock = StandingClock()
    log = SecurityLog(clock)
    with capture_logs() as logs:
        for _ in range(OF_NETWORK.burst + 500):
            log.refused("too-often", what="socket", address=AWAY)
        assert len(logs) == OF_NETWORK.burst
        log.refused("origin", what="socket", address="192.0.2.8")
        assert (len(logs), logs[-1]["unwritten"]) == (OF_NETWORK.burst + 1, 500), "others are still written"
        clock.at += OF_NETWORK.every
        log.refused("too-often", what="socket", address=AWAY)
    assert (len(logs), logs[-1]["unwritten"], log.unwritten) == (OF_NETWORK.burst + 2, 0, 0)


def test_a_line_is_short_whatever_a_client_sends() -> None:
    with capture_logs() as logs:
        SecurityLog(StandingClock()).refused("not-known", what="hello " + "x" * 60_000, address="y" * 9_000)
    assert len(repr(logs)) < 1_000


def test_so_are_refusals_of_many_networks() -> None:
    log = SecurityLog(StandingClock())
    with capture_logs() as logs:
        for network in range(OF_ALL.burst + 50):
            log.refused("origin", what="socket", address=f"198.51.{network // 250}.{network % 250}")
    assert (len(logs), log.unwritten) == (OF_ALL.burst, 50)


@connected()
async def test_sabotage_a_server_that_writes_no_refusals_is_seen(
    house: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SecurityLog, "refused", lambda *_given, **_named: None)
    with capture_logs() as logs:
        await house.request("GET", "/api/staff")
    assert refusals(logs) == []

"""Ends of sockets: whoever loses his session, or his place, is told why and is out at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from unittest.mock import ANY

import pytest

from taisai.cage.messages import (
    DismissDevice,
    DismissPerson,
    EnrolPerson,
    NoteFailure,
    RevokeSessions,
)
from taisai.game.vocabulary import FLOOR
from taisai.server.auth.permissions import Role
from taisai.server.auth.sessions import SessionPolicy
from taisai.server.connections.sockets import LAST_WORD
from tests.server.enrolling import issued, with_credentials
from tests.server.virtual_server import PEOPLE, Connected, connected

ADA, MAX, DAN = PEOPLE[Role.ADMINISTRATOR], PEOPLE[Role.SHIFT_MANAGER], PEOPLE[Role.DEALER]
SHORT = SessionPolicy(idle_ms=60_000, absolute_ms=200_000, most_per_person=10, most=100)


async def signs_out(house: Connected, opened: Any) -> None:
    """By the person himself."""
    assert (await house.request("POST", "/api/sign-out", session=opened)).status == 200


async def is_revoked(house: Connected, _opened: Any) -> None:
    """By a supervisor, over HTTP."""
    path, body = f"/api/staff/{DAN}/revoke", {"reason": "his console was left open"}
    assert (await house.request("POST", path, body, session=house.session("shift-manager"))).status == 200


async def is_revoked_in_the_journal(house: Connected, _opened: Any) -> None:
    """By whatever else writes to the journal."""
    await house.do(RevokeSessions(at=house.clock.now(), by=MAX, person=DAN, reason="to be sure"))


async def is_dismissed(house: Connected, _opened: Any) -> None:
    """He is off the roll."""
    await house.do(DismissPerson(at=house.clock.now(), by=ADA, person=DAN))


async def is_promoted(house: Connected, _opened: Any) -> None:
    """He has another rank, and must come in with it."""
    await house.do(EnrolPerson(at=house.clock.now(), by=ADA, person=DAN, rank="pit-supervisor", second=MAX))


async def has_new_credentials(house: Connected, _opened: Any) -> None:
    """Whoever had the old ones is out."""
    await issued(house.door, DAN, by=ADA, now=house.clock.now(), second=MAX)


ENDS = [
    (signs_out, "signed-out"),
    (is_revoked, "revoked"),
    (is_revoked_in_the_journal, "revoked"),
    (is_dismissed, "revoked"),
    (is_promoted, "revoked"),
    (has_new_credentials, "revoked"),
]


@connected()
async def test_anyone_who_is_locked_goes_on_with_what_they_do(house: Connected) -> None:
    await with_credentials(house.door, DAN, "nine slow rivers turn", by="olga", now=house.clock.now())
    opened = await house.signed_in("dealer")
    line = await house.came(opened)
    for _ in range(3):
        await house.do(
            NoteFailure(at=house.clock.now(), by=FLOOR, person=DAN, address="desk", why="password")
        )
    assert house.engine.house().locked == {DAN}
    perform = {"command": "perform", "act": "open-bets"}
    assert (await line.answer("do", table="T1", do=perform))["type"] == "done"
    assert line.is_open


@pytest.mark.parametrize(("ends", "why"), ENDS, ids=lambda one: getattr(one, "__name__", one))
@connected()
async def test_who_loses_their_session_is_shown_why_and_is_out_at_once(
    house: Connected, ends: Callable[[Connected, Any], Awaitable[None]], why: str
) -> None:
    opened = await house.signed_in("dealer")
    lines = [await house.came(opened), await house.came(opened)]
    other = await house.came(house.session("pit-supervisor"))
    await ends(house, opened)
    await house.settle()
    for line in lines:
        tell = line.told[-1]
        assert (tell["type"], tell["why"]) == ("end", why)
        assert tell["message"].startswith("the session has ended")
        assert line.closed == (1008, why)
        assert line.serving.done()
    assert other.is_open
    assert list(house.dispatcher.sockets) == [
        socket for socket in house.dispatcher.sockets if socket.principal.name != DAN
    ]
    again = await house.line()
    assert (await again.hello(opened))["reason"] == "not-known", "the token opens nothing any more"


@connected(policy=SHORT)
async def test_a_chair_that_is_empty_for_too_long_is_nobodys(house: Connected) -> None:
    line = await house.came(house.session("dealer"))
    await house.pass_(59)
    await line.answer("books")  # refused, but he is there
    await house.pass_(59)
    await house.door.tick(house.clock.now())
    assert line.is_open
    await house.pass_(2)
    await house.door.tick(house.clock.now())
    await house.settle()
    assert (line.told[-1]["why"], line.closed) == ("idle", (1008, "idle"))


@connected(policy=SHORT)
async def test_a_page_that_asks_whether_the_server_is_there_keeps_no_session_open(house: Connected) -> None:
    line = await house.came(house.session("dealer"))
    for _ in range(6):
        await house.pass_(10)
        asked = house.clock.now()
        told = await line.answer("ping")
        assert told == {"type": "pong", "to": ANY, "now": ANY}
        assert asked <= told["now"] <= house.clock.now()
    await house.pass_(2)
    await house.door.tick(house.clock.now())
    await house.settle()
    assert (line.told[-1]["why"], line.closed) == ("idle", (1008, "idle"))


@connected(policy=SHORT)
async def test_a_session_is_over_after_a_shift_whatever_its_person_does(house: Connected) -> None:
    line = await house.came(house.session("dealer"))
    for _ in range(5):
        await house.pass_(39)
        await line.answer("books")
    assert line.is_open
    await house.pass_(6)
    await house.door.tick(house.clock.now())
    await house.settle()
    assert (line.told[-1]["why"], line.closed) == ("expired", (1008, "expired"))


@connected(policy=SHORT)
async def test_nothing_is_done_for_a_session_whose_time_is_up_though_nobody_has_looked(
    house: Connected,
) -> None:
    line = await house.came(house.session("dealer"))
    await house.pass_(61)
    before = house.rows()
    line.asks("take-position", table="T2", position="dealer")
    await house.settle()
    assert (line.told[-1]["type"], line.told[-1]["why"]) == ("end", "idle")
    assert line.serving.done()
    assert house.rows() == before


@connected()
async def test_what_comes_after_the_end_is_not_heard(house: Connected) -> None:
    line = await house.came("P1")
    line.stalls()
    await line_fills(house, line)
    await house.do(DismissDevice(at=house.clock.now(), by=ADA, device="P1", reason="stolen"))
    before = house.rows()
    line.asks("do", table="T1", do={"command": "call-attendant", "seat": "1", "subject": "call"})
    await house.settle()
    assert house.rows() == before


async def line_fills(house: Connected, line: Any) -> None:
    """Something waits in a line that takes nothing."""
    line.asks("books")
    await house.settle()


@connected()
async def test_a_client_that_takes_nothing_is_out_within_a_second_too(house: Connected) -> None:
    line = await house.came(house.session("dealer"))
    line.stalls()
    await line_fills(house, line)
    house.door.revoke(DAN)
    await house.settle()
    assert not line.serving.done(), "it may still hear why"
    assert LAST_WORD < 1
    await house.pass_(LAST_WORD)
    assert line.serving.done()
    assert not house.dispatcher.sockets


@connected()
async def test_a_client_that_takes_its_post_in_time_hears_why(house: Connected) -> None:
    line = await house.came(house.session("dealer"))
    line.stalls()
    await line_fills(house, line)
    house.door.revoke(DAN)
    line.goes_on()
    await house.settle()
    assert (line.told[-1]["type"], line.closed) == ("end", (1008, "revoked"))
    await house.pass_(LAST_WORD)
    assert line.serving.done()


@connected()
async def test_a_stop_tells_everyone_and_waits_for_what_is_being_done(house: Connected) -> None:
    await house.casino.start()
    terminal, dealer = await house.came("P1"), await house.came(house.session("dealer"))
    terminal.asks("ticket-out", table="T1", seat="1")
    await house.pass_(0)
    await house.pass_(0)
    await house.casino.stop()
    for line in (terminal, dealer):
        assert (line.told[-1]["type"], line.told[-1]["why"], line.closed) == (
            "end",
            "stopped",
            (1012, "stopped"),
        )
    kinds = [type(event).__name__ for event in house.events()]
    assert kinds.count("CreditsDispensed") == kinds.count("TicketIssued")
    assert kinds[-1] == "SystemStopped"

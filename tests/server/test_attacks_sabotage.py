"""Sabotages: what stands against an attack is taken away, and the attack succeeds."""

from __future__ import annotations

from typing import Any

import pytest

from taisai.game.betting import placing
from taisai.game.commands import Perform, TakeReading
from taisai.game.refusals import Refusal
from taisai.game.rounds.round import PastRounds
from taisai.game.table import Table
from taisai.game.vocabulary import RECOGNISER
from taisai.protocol.message import PROTOCOL_VERSION
from taisai.protocol.requests import device_text
from taisai.rules import Act
from taisai.server.auth.permissions import Role
from taisai.server.http import staff
from taisai.server.projections import console
from tests.server.virtual_server import CREDITS, PEOPLE, Connected, connected, device

DEALER = PEOPLE[Role.DEALER]


@connected()
async def test_sabotage_an_administrator_who_needs_nobody_has_the_players_credits(house: Connected) -> None:
    async def nobody_asks(*_given: object) -> None:
        pass

    ada, thief = house.session("administrator"), device("P2")
    body = {"device": "P1", "kind": "terminal", "table": "T1", "seat": "1", "key": thief.public}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(staff, "_check_in_play", nobody_asks)
        await house.request("DELETE", "/api/devices", {"device": "P1", "reason": "broken"}, session=ada)
        assert (await house.request("POST", "/api/devices", body, session=ada)).status == 200
    line = await house.line()
    signed = thief.key.sign(device_text("P1", bytes.fromhex(line.nonce))).hex()
    assert (await line.answer("hello", protocol=PROTOCOL_VERSION, device="P1", signature=signed))[
        "type"
    ] == "welcome"
    stolen = await line.answer("ticket-out", table="T1", seat="1")
    assert (stolen["type"], stolen["amount"]) == ("done", CREDITS)


@connected()
async def test_sabotage_a_console_that_shows_readings_at_once_tells_what_is_under_the_cover(
    house: Connected,
) -> None:
    def at_once(table: Table) -> tuple[int, ...]:
        return table.round.reading.faces if table.round and table.round.reading else ()

    now = house.clock.now()
    await house.opens_bets()
    for command in (
        Perform(at=now, by="clock", act=Act.CLOSE_BETS),
        Perform(at=now, by=DEALER, act=Act.TUMBLE, tumbles=3),
        TakeReading(at=now, by=RECOGNISER, device="S1", reading="r", round=1, shake=1, faces=(2, 5, 6)),
    ):
        assert not isinstance(await house.do(command, "T1"), Refusal)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(console, "faces_read", at_once)
        shown = await (await house.came_as(Role.DEALER)).answer("follow", feed="console:T1")
    assert shown["view"]["reading"]["faces"] == [2, 5, 6]


@connected()
async def test_sabotage_retries_without_end_have_old_rounds_loaded(house: Connected) -> None:
    loaded: list[int] = []

    def load(number: int) -> Any:
        loaded.append(number)
        raise ValueError(number)

    house.engine.table("T1").rounds = PastRounds(1_000, load)
    line = await house.came("P1")
    slips = [{"id": "old", "area": "small", "stake": 100}]
    placed = {"command": "place-bets", "round": 1, "seat": "1", "bets": slips}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(placing, "RETRIED_WITHIN", 10**6)
        await line.answer("do", table="T1", do=placed)
    assert loaded == [1]

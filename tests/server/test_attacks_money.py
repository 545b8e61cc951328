"""Attacks on money: credits out of nothing, and tickets that are someone else's."""

from __future__ import annotations

from taisai.cage.messages import OverrideNoted
from taisai.game.commands import BuyCredits, LeaveSeat, TakeSeat
from taisai.game.refusals import Refusal
from taisai.server.auth.permissions import Role
from tests.server.virtual_server import PEOPLE, Connected, Response, connected, device

ENROLLED = {"device": "P1", "kind": "terminal", "table": "T1", "seat": "1"}
BROKEN = {"device": "P1", "reason": "its screen is dark"}
OUT = {"table": "T1", "seat": "1"}


def bought(amount: int) -> dict[str, object]:
    """What a terminal says when it was given cash."""
    return {"table": "T1", "do": {"command": "buy-credits", "seat": "1", "amount": amount}}


@connected()
async def test_where_play_is_for_money_no_terminal_makes_credits_out_of_its_own_word(
    house: Connected,
) -> None:
    before = house.engine.table("T1").seats["1"].held
    line = await house.came("P1")
    answer = await line.answer("do", **bought(5_000_000))
    assert (answer["type"], answer["reason"]) == ("refused", "not-permitted"), answer
    assert house.engine.table("T1").seats["1"].held == before


@connected(demonstration=True)
async def test_in_a_demonstration_play_cash_is_free(house: Connected) -> None:
    line = await house.came("P1")
    assert (await line.answer("do", **bought(5_000_000)))["type"] == "done"


@connected()
async def test_the_next_player_is_not_told_the_ticket_of_the_one_before(house: Connected) -> None:
    line = await house.came("P1")
    first = await line.answer("ticket-out", id="out-1", **OUT)
    assert first["type"] == "done", first
    assert (await line.answer("ticket-out", id="out-1b", **OUT))["type"] == "refused"
    now = house.clock.now()
    for command in (
        LeaveSeat(at=now, by="P1", seat="1"),
        TakeSeat(at=now, by="P1", seat="1", player="someone else", terminal="P1"),
        BuyCredits(at=now, by="P1", seat="1", amount=700),
    ):
        assert not isinstance(await house.do(command, "T1"), Refusal)
    again = await house.came("P1")
    second = await again.answer("ticket-out", id="out-1", **OUT)
    assert (second["type"], second["amount"]) == ("done", 700), second
    assert second["ticket"] != first["ticket"]


@connected()
async def test_the_same_player_who_asks_again_is_shown_the_same_ticket_also_after_they_got_up(
    house: Connected,
) -> None:
    first = await (await house.came("P1")).answer("ticket-out", id="out-1", **OUT)
    again = await (await house.came("P1")).answer("ticket-out", id="out-1", **OUT)
    assert not isinstance(await house.do(LeaveSeat(at=house.clock.now(), by="P1", seat="1"), "T1"), Refusal)
    third = await (await house.came("P1")).answer("ticket-out", id="out-1", **OUT)
    assert first["ticket"] == again["ticket"] == third["ticket"]
    assert again["again"]
    assert third["again"]


async def replaced(house: Connected, **more: object) -> Response:
    """The administrator dismisses a terminal, and has a key of his own take its name and place."""
    ada = house.session("administrator")
    assert (await house.request("DELETE", "/api/devices", BROKEN, session=ada)).status == 200
    return await house.request(
        "POST", "/api/devices", {**ENROLLED, "key": device("P2").public, **more}, session=ada
    )


@connected()
async def test_an_administrator_alone_does_not_come_by_the_credits_of_anyone_who_sits_there(
    house: Connected,
) -> None:
    answer = await replaced(house)
    assert (answer.status, answer.reason) == (403, "second-person"), answer.said
    assert "P1" not in house.engine.house().devices


@connected()
async def test_with_a_second_person_a_broken_terminal_is_replaced_and_the_pit_hears_of_it(
    house: Connected,
) -> None:
    ada, body = house.session("administrator"), {**ENROLLED, "key": device("P2").public}
    asking = {"request": {"endpoint": "POST /api/devices", "body": body}}
    for approver, status in (("cashier", 403), ("pit-supervisor", 200)):
        asked = await house.request("POST", "/api/approvals", asking, session=ada)
        path = f"/api/approvals/{asked.said['approval']}/approve"
        given = await house.request("POST", path, {}, session=house.session(approver))
        assert given.status == status, given.said
        await house.request("DELETE", "/api/devices", BROKEN, session=ada)
        more = {**body, "approval": asked.said["approval"]}
        answer = await house.request("POST", "/api/devices", more, session=ada)
        assert answer.status == status, answer.said
    noted = [event for event in house.events() if isinstance(event, OverrideNoted)]
    assert [PEOPLE[Role.PIT_SUPERVISOR] in event.detail for event in noted] == [True]


@connected()
async def test_an_administrator_alone_brings_no_shaker_to_an_open_table(house: Connected) -> None:
    """Its reading would be the latest: a result that a dealer keys to match it raises no alarm."""
    ada = house.session("administrator")
    body = {"device": "S9", "kind": "shaker", "table": "T1", "key": device("S9").public}
    alone = await house.request("POST", "/api/devices", body, session=ada)
    assert (alone.status, alone.reason) == (403, "second-person"), alone.said
    asking = {"request": {"endpoint": "POST /api/devices", "body": body}}
    asked = await house.request("POST", "/api/approvals", asking, session=ada)
    path = f"/api/approvals/{asked.said['approval']}/approve"
    await house.request("POST", path, {}, session=house.session("pit-supervisor"))
    agreed = {**body, "approval": asked.said["approval"]}
    assert (await house.request("POST", "/api/devices", agreed, session=ada)).status == 200
    (noted,) = [event for event in house.events() if isinstance(event, OverrideNoted)]
    assert "shaker S9: table T1 is open" in noted.detail
    display = {"device": "D9", "kind": "display", "table": "T1", "key": device("D9").public}
    assert (await house.request("POST", "/api/devices", display, session=ada)).status == 200


@connected()
async def test_where_nobody_sits_an_administrator_enrols_alone(house: Connected) -> None:
    body = {"device": "P9", "kind": "terminal", "table": "T1", "seat": "9", "key": device("P9").public}
    ada = house.session("administrator")
    assert (await house.request("POST", "/api/devices", body, session=ada)).status == 200

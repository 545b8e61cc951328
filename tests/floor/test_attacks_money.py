"""Attacks on money: credits out of nothing, and tickets that are someone else's."""

from __future__ import annotations

from taisai.game.commands import BuyCredits, LeaveSeat, TakeSeat
from taisai.game.refusals import Refusal
from tests.floor.connected import Connected, connected

OUT = {"table": "T1", "seat": "1"}


def bought(amount: int) -> dict[str, object]:
    """What a terminal says when it was given cash."""
    return {"table": "T1", "do": {"command": "buy-credits", "seat": "1", "amount": amount}}


@connected()
async def test_where_play_is_for_money_no_terminal_makes_credits_out_of_its_own_word(
    house: Connected,
) -> None:
    before = house.keeper.table("T1").seats["1"].held
    line = await house.came("P1")
    answer = await line.answer("do", **bought(5_000_000))
    assert (answer["tell"], answer["reason"]) == ("refused", "not-his-to-do"), answer
    assert house.keeper.table("T1").seats["1"].held == before


@connected(demonstration=True)
async def test_in_a_demonstration_play_cash_is_free(house: Connected) -> None:
    line = await house.came("P1")
    assert (await line.answer("do", **bought(5_000_000)))["tell"] == "done"


@connected()
async def test_the_next_player_is_not_told_the_ticket_of_the_one_before(house: Connected) -> None:
    line = await house.came("P1")
    first = await line.answer("ticket-out", id="out-1", **OUT)
    assert first["tell"] == "done", first
    assert (await line.answer("ticket-out", id="out-1b", **OUT))["tell"] == "refused"
    now = house.clock.now()
    for command in (
        LeaveSeat(at=now, by="P1", seat="1"),
        TakeSeat(at=now, by="P1", seat="1", player="someone else", terminal="P1"),
        BuyCredits(at=now, by="P1", seat="1", amount=700),
    ):
        assert not isinstance(await house.do(command, "T1"), Refusal)
    again = await house.came("P1")
    second = await again.answer("ticket-out", id="out-1", **OUT)
    assert (second["tell"], second["amount"]) == ("done", 700), second
    assert second["ticket"] != first["ticket"]


@connected()
async def test_the_same_player_who_asks_again_is_told_the_same_ticket_also_after_he_got_up(
    house: Connected,
) -> None:
    first = await (await house.came("P1")).answer("ticket-out", id="out-1", **OUT)
    again = await (await house.came("P1")).answer("ticket-out", id="out-1", **OUT)
    assert not isinstance(await house.do(LeaveSeat(at=house.clock.now(), by="P1", seat="1"), "T1"), Refusal)
    third = await (await house.came("P1")).answer("ticket-out", id="out-1", **OUT)
    assert first["ticket"] == again["ticket"] == third["ticket"]
    assert again["again"]
    assert third["again"]
